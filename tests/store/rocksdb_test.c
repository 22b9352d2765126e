/* rocksdb_test.c -- the data directory: made, owned by one process, and refused with words when it is not whole or not ours. */
#include "datadir.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A refusal says which directory, in one line for a person, and changes nothing in it. */
static void expect_refused(const char *directory, bool create, Status expected)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Store *store = NULL;
    Reason reason = {.rule = ""};
    Slice before = datadir_picture(directory, arena);
    Status status = datadir_open(directory, create, &store, &reason);
    if (status == STATUS_OK)
        store_close(store);
    printf("# %s: %s\n", status_name(status), reason.rule);
    EXPECT_STATUS(status, expected);
    EXPECT(store == NULL);
    EXPECT(strstr(reason.rule, directory) != NULL);
    EXPECT(strchr(reason.rule, '\n') == NULL);
    EXPECT_SLICE(datadir_picture(directory, arena), before);
}

/* ---- Making ------------------------------------------------------------------------------------------------ */

TEST(a_directory_that_is_not_there_is_made_only_when_asked_for)
{
    const char *directory = datadir_new();
    Store *store = NULL;
    Reason reason = {.rule = ""};
    EXPECT_STATUS(datadir_open(directory, false, &store, &reason), STATUS_NOT_FOUND);
    EXPECT(strstr(reason.rule, directory) != NULL);
    EXPECT(access(directory, F_OK) != 0);
    EXPECT_STATUS(datadir_open(directory, true, &store, &reason), STATUS_OK);
    store_close(store);
    struct stat about;
    EXPECT(stat(directory, &about) == 0);
    EXPECT_I64(about.st_mode & 0777, 0700);
    EXPECT(access(datadir_path(directory, "OSTRAKA"), F_OK) == 0);
}

TEST(an_empty_directory_holds_no_data)
{
    const char *directory = datadir_new();
    Store *store;
    Reason reason;
    EXPECT(mkdir(directory, 0700) == 0);
    expect_refused(directory, false, STATUS_NOT_FOUND);
    EXPECT_STATUS(datadir_open(directory, true, &store, &reason), STATUS_OK);
    store_close(store);
    EXPECT_STATUS(datadir_open(directory, false, &store, &reason), STATUS_OK);
    store_close(store);
}

TEST(parents_are_made_too)
{
    const char *directory = datadir_path(datadir_new(), "a/b");
    Store *store;
    Reason reason;
    EXPECT_STATUS(datadir_open(directory, true, &store, &reason), STATUS_OK);
    store_close(store);
}

/* A crash while the directory was made: nothing was acknowledged, so it is made again, but only when asked. */
TEST(a_directory_that_was_never_finished_is_made_again)
{
    const char *directory = datadir_filled();
    Store *store;
    Reason reason;
    EXPECT(rename(datadir_path(directory, "OSTRAKA"), datadir_path(directory, "OSTRAKA.making")) ==
           0);
    expect_refused(directory, false, STATUS_NOT_FOUND);
    EXPECT_STATUS(datadir_open(directory, true, &store, &reason), STATUS_OK);
    ARENA_SCOPE Arena *arena = arena_new();
    ScanPage page;
    EXPECT_STATUS(store_scan(store, &CONTRACT_KEEP, SLICE_EMPTY, 10, arena, &page), STATUS_OK);
    EXPECT_I64(page.count, 0);
    store_close(store);
}

TEST(a_file_is_not_a_directory)
{
    const char *path = datadir_new();
    Store *store = NULL;
    Reason reason = {.rule = ""};
    datadir_write_file(path, SLICE("a file"));
    EXPECT(datadir_open(path, true, &store, &reason) != STATUS_OK);
    EXPECT(store == NULL);
    EXPECT(strstr(reason.rule, path) != NULL);
}

/* ---- Owned, foreign, newer --------------------------------------------------------------------------------- */

/* Another process that holds the directory until it is told to go. */
static pid_t hold_open(const char *directory, int *ret_go)
{
    int ready[2], go[2];
    char byte = 0;
    CHECK(pipe(ready) == 0 && pipe(go) == 0);
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        Store *store;
        Reason reason;
        if (datadir_open(directory, false, &store, &reason) != STATUS_OK ||
            write(ready[1], "r", 1) != 1 || read(go[0], &byte, 1) != 1)
            _exit(1);
        store_close(store);
        _exit(0);
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    *ret_go = go[1];
    close(ready[0]), close(ready[1]), close(go[0]);
    return child;
}

TEST(a_directory_in_use_is_refused_with_the_number_of_its_owner)
{
    const char *directory = datadir_filled();
    int go, result;
    char owner[16];
    pid_t child = hold_open(directory, &go);
    Store *store = NULL;
    Reason reason = {.rule = ""};
    snprintf(owner, sizeof owner, "%d", (int)child);
    Status status = datadir_open(directory, true, &store, &reason);
    CHECK(write(go, "g", 1) == 1);
    close(go);
    CHECK(waitpid(child, &result, 0) == child);
    EXPECT_I64(result, 0);
    EXPECT_STATUS(status, STATUS_CONFLICT);
    EXPECT(store == NULL);
    EXPECT(strstr(reason.rule, directory) != NULL);
    EXPECT(strstr(reason.rule, owner) != NULL);
    datadir_expect_filled(directory);
}

TEST(the_directory_of_a_killed_process_is_free)
{
    const char *directory = datadir_filled();
    int go, result;
    pid_t child = hold_open(directory, &go);
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, &result, 0) == child);
    close(go);
    datadir_expect_filled(directory);
}

TEST(one_process_opens_a_directory_once)
{
    const char *directory = datadir_filled();
    Store *store, *second = NULL;
    Reason reason;
    EXPECT_STATUS(datadir_open(directory, false, &store, &reason), STATUS_OK);
    EXPECT_STATUS(datadir_open(directory, false, &second, &reason), STATUS_CONFLICT);
    EXPECT(second == NULL);
    store_close(store);
    datadir_expect_filled(directory);
}

TEST(a_foreign_directory_is_refused)
{
    const char *directory = datadir_new();
    EXPECT(mkdir(directory, 0700) == 0);
    datadir_write_file(datadir_path(directory, "holiday.txt"), SLICE("sun"));
    expect_refused(directory, true, STATUS_INVALID);
    expect_refused(directory, false, STATUS_INVALID);
    EXPECT(access(datadir_path(directory, "lock"), F_OK) != 0);
}

TEST(a_newer_format_is_refused_with_both_numbers)
{
    const char *directory = datadir_filled(), *marker = datadir_path(directory, "OSTRAKA");
    Store *store = NULL;
    Reason reason = {.rule = ""};
    datadir_write_file(marker, SLICE("ostraka data directory\nformat 2\nengine rocksdb\n"));
    expect_refused(directory, true, STATUS_INVALID);
    EXPECT_STATUS(datadir_open(directory, false, &store, &reason), STATUS_INVALID);
    EXPECT(strstr(reason.rule, "2") != NULL && strstr(reason.rule, "1") != NULL);
    datadir_write_file(marker, SLICE("ostraka data directory\nformat 1\nengine rocksdb\n"));
    datadir_expect_filled(directory);
}

TEST(another_engine_is_refused)
{
    const char *directory = datadir_filled();
    datadir_write_file(datadir_path(directory, "OSTRAKA"),
                       SLICE("ostraka data directory\nformat 1\nengine other\n"));
    expect_refused(directory, true, STATUS_INVALID);
}

/* ---- Damage ------------------------------------------------------------------------------------------------ */

TEST(a_damaged_marker_is_refused)
{
    static const char *const MARKERS[] = {
        "",
        "ostraka",
        "ostraka data directory\nformat \nengine rocksdb\n",
        "ostraka data directory\nformat 0\nengine rocksdb\n",
        "ostraka data directory\nformat -1\nengine rocksdb\n",
        "ostraka data directory\nformat 1x\nengine rocksdb\n",
        "ostraka data directory\nformat 99999999999999999999\nengine rocksdb\n",
        "ostraka data directory\rformat 1\rengine rocksdb\r",
    };
    const char *directory = datadir_filled(), *marker = datadir_path(directory, "OSTRAKA");
    for (size_t i = 0; i < sizeof MARKERS / sizeof MARKERS[0]; i++) {
        datadir_write_file(marker, slice_from(MARKERS[i]));
        expect_refused(directory, true, STATUS_CORRUPT);
    }
    ARENA_SCOPE Arena *arena = arena_new();
    char *much = arena_bytes(arena, 1024 * 1024);
    memset(much, 'x', 1024 * 1024);
    datadir_write_file(marker, slice_of(much, 1024 * 1024));
    expect_refused(directory, true, STATUS_CORRUPT);
}

TEST(a_directory_whose_marker_is_gone_is_not_written_over)
{
    const char *directory = datadir_filled();
    damage_file(datadir_path(directory, "OSTRAKA"), DAMAGE_REMOVE);
    expect_refused(directory, true, STATUS_INVALID);
}

TEST(a_directory_whose_database_is_gone_is_damaged_and_not_new)
{
    const char *directory = datadir_filled();
    Reason reason;
    EXPECT_STATUS(disk_remove_tree(world_real().disk, datadir_path(directory, "db"), &reason),
                  STATUS_OK);
    expect_refused(directory, true, STATUS_CORRUPT);
}

/* What the open itself must notice, whatever the damage. */
static void expect_noticed_at_open(const char *part)
{
    const char *whole = datadir_filled();
    for (Damage damage = DAMAGE_REMOVE; damage < DAMAGE_COUNT; damage++) {
        const char *directory = datadir_copy(whole), *file = datadir_find(directory, "db", part);
        EXPECT(file != NULL);
        damage_file(file, damage);
        printf("# %s %s\n", part, damage_name(damage));
        expect_refused(directory, true, STATUS_CORRUPT);
    }
    datadir_expect_filled(datadir_copy(whole));
}

TEST(a_damaged_current_file_is_noticed)
{
    expect_noticed_at_open("CURRENT");
}

TEST(a_damaged_manifest_is_noticed)
{
    expect_noticed_at_open("MANIFEST");
}

/* RocksDB takes a cut log or manifest for the torn end of a power cut. After a clean close there is none. */
TEST(a_file_that_was_cut_by_a_single_byte_is_noticed)
{
    static const char *const PARTS[] = {"CURRENT", "MANIFEST", "IDENTITY",
                                        "OPTIONS", ".log",     ".sst"};
    const char *whole = datadir_filled();
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++) {
        const char *directory = datadir_copy(whole),
                   *file = datadir_find(directory, "db", PARTS[i]);
        struct stat found;
        EXPECT(file != NULL && stat(file, &found) == 0);
        if (found.st_size == 0)
            continue;
        EXPECT(truncate(file, found.st_size - 1) == 0);
        expect_refused(directory, true, STATUS_CORRUPT);
    }
}

TEST(after_a_crash_a_torn_end_is_not_damage)
{
    const char *directory = datadir_filled();
    Store *store;
    Reason reason;
    pid_t child = fork();
    if (child == 0) {
        _exit(datadir_open(directory, false, &store, &reason) == STATUS_OK ? 0 : 1);
    }
    int code;
    EXPECT(waitpid(child, &code, 0) == child && code == 0); /* ended without closing */
    const char *file = datadir_find(directory, "db", ".log");
    EXPECT(file != NULL && truncate(file, 0) == 0);
    EXPECT_STATUS(datadir_open(directory, false, &store, &reason), STATUS_OK);
    store_close(store);
    datadir_expect_filled(directory);
}

/* A sorted file is checked at its ends when it is opened, and block by block when it is read: never wrong bytes. */
TEST(a_damaged_sorted_file_is_noticed_at_the_latest_when_it_is_read)
{
    const char *whole = datadir_filled();
    for (Damage damage = DAMAGE_REMOVE; damage < DAMAGE_COUNT; damage++) {
        const char *directory = datadir_copy(whole), *file = datadir_find(directory, "db", ".sst");
        Reason reason = {.rule = ""};
        EXPECT(file != NULL);
        damage_file(file, damage);
        if (damage != DAMAGE_GARBLE)
            expect_refused(directory, true, STATUS_CORRUPT);
        EXPECT_STATUS(datadir_read_all(directory, &reason), STATUS_CORRUPT);
    }
}

/* ---- The catalogue ----------------------------------------------------------------------------------------- */

static Status open_with(const char *directory, const Table *table, Reason *reason)
{
    const Table *const pointers[] = {table};
    RocksdbOptions options = datadir_options(directory, false);
    Store *store;
    options.tables = (TableSet){pointers, 1};
    TRY(store_rocksdb_open(&options, &store, reason));
    store_close(store);
    return STATUS_OK;
}

TEST(a_table_number_that_changed_its_meaning_is_refused)
{
    const char *directory = datadir_filled();
    Reason reason = {.rule = ""};
    Table renamed = CONTRACT_KEEP, converted = CONTRACT_KEEP;
    renamed.name = "something_else";
    converted.kind = TABLE_CONDITIONAL;
    EXPECT_STATUS(open_with(directory, &renamed, &reason), STATUS_INVALID);
    EXPECT(strstr(reason.rule, directory) != NULL && strstr(reason.rule, "something_else") != NULL);
    EXPECT_STATUS(open_with(directory, &converted, &reason), STATUS_INVALID);
    datadir_expect_filled(directory);
}

TEST(tables_may_be_added_and_may_be_missing)
{
    const char *directory = datadir_filled();
    Reason reason = {.rule = ""};
    Table added = CONTRACT_KEEP;
    added.number = TABLE_FIRST_FOR_TESTS + 100;
    added.name = "added";
    EXPECT_STATUS(open_with(directory, &added, &reason), STATUS_OK);
    EXPECT_STATUS(open_with(directory, &CONTRACT_KEEP, &reason), STATUS_OK);
    datadir_expect_filled(directory);
}

/* ---- Running ----------------------------------------------------------------------------------------------- */

typedef struct Wanted {
    const char *name;
    double value;
    int times;
} Wanted;

static void find_metric(void *context, const char *name, const char *help, bool counter,
                        double value)
{
    Wanted *wanted = context;
    (void)help, (void)counter;
    if (strcmp(name, wanted->name) == 0) {
        wanted->value = value;
        wanted->times++;
    }
}

static double metric(Store *store, const char *name)
{
    Wanted wanted = {.name = name};
    store_metrics(store, find_metric, &wanted);
    EXPECT_I64(wanted.times, 1);
    return wanted.value;
}

static int64_t frozen_steady_us(void *self)
{
    (void)self;
    return US_PER_S;
}

TEST(metrics_count_what_happens)
{
    Store *store;
    Reason reason;
    EXPECT_STATUS(datadir_open(datadir_new(), true, &store, &reason), STATUS_OK);
    EXPECT(metric(store, "writable") > 0);
    EXPECT(metric(store, "requests_total") < 1);
    for (int i = 0; i < 10; i++) {
        RowChange change = {&CONTRACT_KEEP, SLICE("row"), put(SLICE("c"), SLICE("v"), i % 5)};
        EXPECT_STATUS(store_write(store, &(Batch){&change, 1, false}), STATUS_OK);
    }
    EXPECT_I64(metric(store, "requests_total"), 10);
    EXPECT_I64(metric(store, "cells_written_total"), 5);
    EXPECT_I64(metric(store, "cells_dropped_total"), 5);
    EXPECT(metric(store, "syncs_total") >= 5);
    EXPECT_I64(metric(store, "failures_total"), 0);
    store_close(store);
}

/* Callers that never pause, and never ask for durability, must not put it off for ever. */
TEST(lazy_writes_are_synced_within_a_second_under_steady_traffic)
{
    Store *store;
    Reason reason;
    Clock clock = world_real().clock;
    EXPECT_STATUS(datadir_open(datadir_new(), true, &store, &reason), STATUS_OK);
    double before = metric(store, "syncs_total");
    int64_t until_us = clock_steady_us(clock) + US_PER_S;
    for (int64_t i = 1; clock_steady_us(clock) < until_us; i++) {
        RowChange change = {&CONTRACT_KEEP, SLICE("row"), put(SLICE("c"), SLICE("v"), i)};
        EXPECT_STATUS(store_write(store, &(Batch){&change, 1, true}), STATUS_OK);
        clock_sleep_us(clock, 20 * US_PER_MS);
    }
    double synced = metric(store, "syncs_total") - before;
    printf("# %.0f syncs in a second of lazy writes\n", synced);
    EXPECT(synced >= 1 && synced <= 10);
    store_close(store);
}

TEST(a_bulk_load_is_synced_at_its_end_and_not_before)
{
    const char *directory = datadir_new();
    RocksdbOptions options = datadir_options(directory, true);
    Store *store;
    Reason reason;
    options.bulk = true;
    EXPECT_STATUS(store_rocksdb_open(&options, &store, &reason), STATUS_OK);
    double before = metric(store, "syncs_total");
    RowChange change = {&CONTRACT_KEEP, SLICE("row"), put(SLICE("c"), SLICE("v"), 1)};
    for (int i = 0; i < 20; i++) {
        change.change.timestamp = i;
        EXPECT_STATUS(store_write(store, &(Batch){&change, 1, false}), STATUS_OK);
        clock_sleep_us(world_real().clock, 20 * US_PER_MS);
    }
    EXPECT_I64(metric(store, "syncs_total") - before, 0);
    store_close(store);
    ARENA_SCOPE Arena *arena = arena_new();
    Cell cell;
    EXPECT_STATUS(datadir_open(directory, false, &store, &reason), STATUS_OK);
    Read read = {&CONTRACT_KEEP, change.row, change.change.column, STORE_NORMAL};
    EXPECT_STATUS(store_read(store, &read, arena, &cell), STATUS_OK);
    EXPECT_I64(cell.timestamp, 19);
    store_close(store);
}

TEST(opening_again_what_is_writable_is_nothing)
{
    Store *store;
    Reason reason;
    StoreHealth health;
    EXPECT_STATUS(datadir_open(datadir_new(), true, &store, &reason), STATUS_OK);
    EXPECT_STATUS(store_reopen(store, &reason), STATUS_OK);
    store_health(store, &health);
    EXPECT(health.writable);
    EXPECT_SLICE(slice_from(health.engine), SLICE("rocksdb"));
    store_close(store);
}

TEST(lazy_writes_get_their_sync_also_after_a_reopen_that_was_nothing)
{
    Store *store;
    Reason reason;
    EXPECT_STATUS(datadir_open(datadir_new(), true, &store, &reason), STATUS_OK);
    RowChange change = {&CONTRACT_KEEP, SLICE("row"), put(SLICE("c"), SLICE("v"), 1)};
    EXPECT_STATUS(store_write(store, &(Batch){&change, 1, true}), STATUS_OK);
    double before = metric(store, "syncs_total");
    EXPECT_STATUS(store_reopen(store, &reason), STATUS_OK);
    for (int i = 0; i < 500 && metric(store, "syncs_total") == before; i++)
        clock_sleep_us(world_real().clock, 10 * US_PER_MS);
    EXPECT_I64(metric(store, "syncs_total") - before, 1);
    store_close(store);
}

/* RocksDB's calls come here first. */
static atomic_int data_syncs;

int fdatasync(int fd)
{
    data_syncs++;
    return (int)syscall(SYS_fdatasync, fd);
}

/* A write that changes nothing says OK because of what is there: that must be durable by then. */
TEST(an_ok_that_rests_on_a_lazy_write_comes_after_its_sync)
{
    RocksdbOptions options = datadir_options(datadir_new(), true);
    Store *store;
    Reason reason;
    options.world.clock.steady_us = frozen_steady_us; /* nothing is synced because of its age */
    EXPECT_STATUS(store_rocksdb_open(&options, &store, &reason), STATUS_OK);
    RowChange change = {&CONTRACT_KEEP, SLICE("row"), put(SLICE("c"), SLICE("v"), 5)};
    EXPECT_STATUS(store_write(store, &(Batch){&change, 1, true}), STATUS_OK);
    int before = data_syncs;
    EXPECT_STATUS(store_write(store, &(Batch){&change, 1, false}), STATUS_OK);
    EXPECT_I64(data_syncs - before, 1);
    EXPECT_STATUS(store_write(store, &(Batch){&change, 1, false}), STATUS_OK);
    EXPECT_I64(data_syncs - before, 1);
    store_close(store);
}

/* ---- What readers leave for the writer ----------------------------------------------------------------------- */

/* Something that happens when a reader asks for the time: it has read, and not left the cell yet. */
static void (*at_the_clock)(void);
static Store *hinted;

static int64_t telling_now_us(void *self)
{
    void (*happen)(void) = at_the_clock;
    (void)self;
    at_the_clock = NULL;
    if (happen != NULL)
        happen();
    return clock_now_us(world_real().clock);
}

static Status change_cell(const char *from, const char *to)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Condition condition = {SLICE("c"), slice_from(from), from[0] == '\0'};
    Change change = {.column = SLICE("c"), .value = slice_from(to)};
    return store_update_if(hinted,
                           &(Update){.table = &CONTRACT_COND,
                                     .row = SLICE("row"),
                                     .conditions = &condition,
                                     .condition_count = 1,
                                     .changes = &change,
                                     .change_count = 1},
                           arena, NULL);
}

static void change_to_second(void)
{
    EXPECT_STATUS(change_cell("first", "second"), STATUS_OK);
}

static void read_as(bool slice)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Cell cell;
    Page page;
    Read read = {&CONTRACT_COND, SLICE("row"), SLICE("c"), STORE_SERIAL};
    Query query = {.table = &CONTRACT_COND, .row = SLICE("row"), .limit = 10, .mode = STORE_SERIAL};
    if (slice)
        EXPECT_STATUS(store_slice(hinted, &query, arena, &page), STATUS_OK);
    else
        EXPECT_STATUS(store_read(hinted, &read, arena, &cell), STATUS_OK);
}

/* The stamp is from before the read: a cell that has changed since is not taken for what is stored. The writer itself must not remember the
 * cell, so the directory is opened again, and what it needs for the first change was left by an earlier read. */
TEST(a_cell_that_changes_while_it_is_read_is_not_taken_for_what_is_stored)
{
    for (int slice = 0; slice < 2; slice++) {
        RocksdbOptions options = datadir_options(datadir_new(), true);
        Reason reason;
        options.world.clock.now_us = telling_now_us;
        EXPECT_STATUS(store_rocksdb_open(&options, &hinted, &reason), STATUS_OK);
        EXPECT_STATUS(change_cell("", "first"), STATUS_OK);
        store_close(hinted);
        EXPECT_STATUS(store_rocksdb_open(&options, &hinted, &reason), STATUS_OK);
        read_as(slice == 1);
        at_the_clock = change_to_second;
        read_as(slice == 1);
        EXPECT(at_the_clock == NULL);
        EXPECT_STATUS(change_cell("second", "third"), STATUS_OK);
        store_close(hinted);
    }
}
