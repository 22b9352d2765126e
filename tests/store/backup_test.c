/* backup_test.c -- a copy taken while the store is in use, and restored whole or not at all. */
#include "datadir.h"

#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

static Status restore(const char *backup, const char *directory, Reason *reason)
{
    return store_rocksdb_restore(backup, directory, world_real().disk, reason);
}

static const char *backup_of(const char *directory)
{
    const char *backup = datadir_new();
    Store *store;
    Reason reason;
    CHECK(datadir_open(directory, false, &store, &reason) == STATUS_OK);
    CHECK(store_backup(store, backup, &reason) == STATUS_OK);
    store_close(store);
    return backup;
}

/* Refused: the reason names what is wrong, and nothing is left where the data was to go. */
static void expect_refused(const char *backup, Status expected, const char *named)
{
    const char *target = datadir_new();
    Reason reason = {.rule = ""};
    Status status = restore(backup, target, &reason);
    printf("# %s: %s\n", status_name(status), reason.rule);
    EXPECT_STATUS(status, expected);
    EXPECT(strstr(reason.rule, named) != NULL);
    EXPECT(access(target, F_OK) != 0);
}

TEST(a_backup_is_restored_as_it_was)
{
    const char *backup = backup_of(datadir_filled()), *directory = datadir_new();
    Reason reason = {.rule = ""};
    EXPECT_STATUS(restore(backup, directory, &reason), STATUS_OK);
    datadir_expect_filled(directory);
}

TEST(an_empty_directory_may_be_there_for_both)
{
    const char *backup = datadir_new(), *directory = datadir_new();
    Store *store;
    Reason reason = {.rule = ""};
    EXPECT(mkdir(backup, 0700) == 0 && mkdir(directory, 0700) == 0);
    EXPECT_STATUS(datadir_open(datadir_filled(), false, &store, &reason), STATUS_OK);
    Status status = store_backup(store, backup, &reason);
    store_close(store);
    EXPECT_STATUS(status, STATUS_OK);
    EXPECT_STATUS(restore(backup, directory, &reason), STATUS_OK);
    datadir_expect_filled(directory);
}

TEST(somebodys_files_are_not_written_over)
{
    const char *full = datadir_filled(), *backup = backup_of(full), *there = datadir_new();
    ARENA_SCOPE Arena *arena = arena_new();
    Store *store;
    Reason reason = {.rule = ""};
    EXPECT(mkdir(there, 0700) == 0);
    datadir_write_file(datadir_path(there, "holiday.txt"), SLICE("sun"));
    Slice before = datadir_picture(there, arena);
    EXPECT_STATUS(restore(backup, there, &reason), STATUS_INVALID);
    EXPECT(strstr(reason.rule, there) != NULL);
    EXPECT_STATUS(restore(backup, full, &reason), STATUS_INVALID);
    EXPECT_STATUS(datadir_open(full, false, &store, &reason), STATUS_OK);
    Status status = store_backup(store, there, &reason);
    store_close(store);
    EXPECT_STATUS(status, STATUS_INVALID);
    EXPECT(strstr(reason.rule, there) != NULL);
    EXPECT_SLICE(datadir_picture(there, arena), before);
    datadir_expect_filled(full);
}

TEST(a_backup_inside_the_data_directory_is_refused)
{
    static const char *const NAMES[] = {"checkpoint", "sub", "not/there/yet", "db/../x"};
    const char *directory = datadir_filled();
    Store *store;
    Reason reason;
    EXPECT_STATUS(datadir_open(directory, false, &store, &reason), STATUS_OK);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        EXPECT_STATUS(store_backup(store, datadir_path(directory, NAMES[i]), &reason),
                      STATUS_INVALID);
        EXPECT(strstr(reason.rule, "inside the data directory") != NULL);
        EXPECT(access(datadir_path(directory, NAMES[i]), F_OK) != 0);
    }
    EXPECT_STATUS(store_backup(store, datadir_new(), &reason), STATUS_OK);
    store_close(store);
}

TEST(every_damaged_file_of_a_backup_is_named)
{
    const char *whole = backup_of(datadir_filled());
    static const char *const PARTS[] = {"CURRENT", "MANIFEST", ".sst", "OPTIONS"};
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++)
        for (Damage damage = DAMAGE_REMOVE; damage < DAMAGE_COUNT; damage++) {
            const char *backup = datadir_copy(whole);
            const char *file = datadir_find(backup, "db", PARTS[i]);
            EXPECT(file != NULL);
            damage_file(file, damage);
            expect_refused(backup, STATUS_CORRUPT, file);
        }
}

TEST(a_backup_without_its_list_did_not_end)
{
    const char *backup = backup_of(datadir_filled());
    damage_file(datadir_path(backup, "BACKUP"), DAMAGE_REMOVE);
    expect_refused(backup, STATUS_CORRUPT, "BACKUP");
}

TEST(a_list_that_is_cut_anywhere_is_refused)
{
    const char *backup = backup_of(datadir_filled()), *list = datadir_path(backup, "BACKUP");
    ARENA_SCOPE Arena *arena = arena_new();
    Slice text;
    Reason reason;
    EXPECT_STATUS(disk_read(world_real().disk, list, 1024 * 1024, arena, &text, &reason),
                  STATUS_OK);
    text = slice_from(arena_text(arena, text));
    for (size_t size = 0; size < text.size; size += 1 + size / 16) {
        datadir_write_file(list, slice_of(text.data, size));
        expect_refused(backup, STATUS_CORRUPT, backup);
    }
    /* A whole line taken out: every line that is left is fine, but the count is not. */
    const char *line = strstr(text.data, "engine rocksdb\n") + strlen("engine rocksdb\n");
    const char *rest = strchr(line, '\n') + 1;
    Slice shorter =
        arena_print(arena, "%.*s%s", (int)(line - text.data), text.data,
                    arena_text(arena, slice_of(rest, text.size - (size_t)(rest - text.data))));
    datadir_write_file(list, shorter);
    expect_refused(backup, STATUS_CORRUPT, "BACKUP");
}

/* A list is input from outside: its names must not lead anywhere else. */
TEST(a_list_with_names_that_lead_out_is_refused)
{
    static const char *const NAMES[] = {"../OSTRAKA", "/etc/passwd", ".", "..", ""};
    const char *backup = backup_of(datadir_filled()), *list = datadir_path(backup, "BACKUP");
    ARENA_SCOPE Arena *arena = arena_new();
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        Slice text = arena_print(arena,
                                 "ostraka backup\nformat 1\nengine rocksdb\n"
                                 "%064d 5 %s\nfiles 1\n",
                                 0, NAMES[i]);
        datadir_write_file(list, text);
        expect_refused(backup, STATUS_CORRUPT, backup);
    }
}

TEST(what_is_not_a_backup_is_refused)
{
    const char *nothing = datadir_new(), *empty = datadir_new();
    EXPECT(mkdir(empty, 0700) == 0);
    expect_refused(nothing, STATUS_CORRUPT, nothing);
    expect_refused(empty, STATUS_CORRUPT, empty);
    expect_refused(datadir_filled(), STATUS_CORRUPT, "BACKUP");
}

/* As a crash leaves it: the database in place or not, the marker not written yet. */
TEST(a_restore_that_was_interrupted_is_said_and_can_be_run_again)
{
    const char *backup = backup_of(datadir_filled());
    for (int in_place = 0; in_place < 2; in_place++) {
        const char *directory = datadir_new(), *aside;
        Store *store;
        Reason reason = {.rule = ""};
        EXPECT(mkdir(directory, 0700) == 0);
        aside = datadir_path(directory, "restoring");
        EXPECT(mkdir(aside, 0700) == 0);
        datadir_write_file(datadir_path(aside, "left"), SLICE("half"));
        if (in_place)
            EXPECT(mkdir(datadir_path(directory, "db"), 0700) == 0);
        EXPECT_STATUS(datadir_open(directory, true, &store, &reason), STATUS_INVALID);
        EXPECT(strstr(reason.rule, "did not end") != NULL);
        EXPECT_STATUS(restore(backup, directory, &reason), STATUS_OK);
        EXPECT(access(aside, F_OK) != 0);
        datadir_expect_filled(directory);
    }
}

TEST(a_restore_goes_where_a_link_leads_and_touches_nothing_beside_it)
{
    const char *backup = backup_of(datadir_filled()), *directory = datadir_new();
    ARENA_SCOPE Arena *arena = arena_new();
    Reason reason = {.rule = ""};
    const char *link = arena_text(arena, arena_print(arena, "%s-link", directory));
    const char *beside = arena_text(arena, arena_print(arena, "%s-link.restoring", directory));
    EXPECT(mkdir(directory, 0700) == 0 && symlink(directory, link) == 0 &&
           mkdir(beside, 0700) == 0);
    EXPECT_STATUS(restore(backup, link, &reason), STATUS_OK);
    EXPECT(access(beside, F_OK) == 0);
    datadir_expect_filled(directory);
}

TEST(a_backup_left_half_done_by_a_crash_is_cleared_away)
{
    static const char *const NAMES[] = {"checkpoint", "checkpoint.tmp"};
    const char *directory = datadir_filled();
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const char *checkpoint = datadir_path(directory, NAMES[i]);
        EXPECT(mkdir(checkpoint, 0700) == 0);
        datadir_write_file(datadir_path(checkpoint, "left"), SLICE("half"));
        datadir_expect_filled(directory);
        EXPECT(access(checkpoint, F_OK) != 0);
    }
}

/* ---- While others write ------------------------------------------------------------------------------------ */

enum { WRITERS = 4, BACKUPS = 3 };

typedef struct Traffic {
    Store *store;
    atomic_int acknowledged[WRITERS];
    atomic_int failures;
    atomic_bool stop;
    const char *backups[BACKUPS];
    int before[BACKUPS][WRITERS]; /* acknowledged when the backup began */
} Traffic;

static void write_steadily(Traffic *traffic, int index)
{
    ARENA_SCOPE Arena *arena = arena_new();
    for (int i = 0; !atomic_load(&traffic->stop); i++) {
        Slice row = arena_print(arena, "writer %d", index), column = arena_print(arena, "%08d", i);
        RowChange changes[] = {{&CONTRACT_KEEP, row, put(column, column, 1)},
                               {&CONTRACT_KEEP, row, put(SLICE("last"), column, i)}};
        if (store_write(traffic->store, &(Batch){changes, 2, false}) == STATUS_OK)
            atomic_store(&traffic->acknowledged[index], i + 1);
        else
            atomic_fetch_add(&traffic->failures, 1);
        arena_reset(arena);
    }
}

static void back_up(Traffic *traffic)
{
    for (int i = 0; i < BACKUPS; i++) {
        Reason reason;
        clock_sleep_us(world_real().clock, 100 * US_PER_MS);
        for (int w = 0; w < WRITERS; w++)
            traffic->before[i][w] = atomic_load(&traffic->acknowledged[w]);
        if (store_backup(traffic->store, traffic->backups[i], &reason) != STATUS_OK)
            atomic_fetch_add(&traffic->failures, 1);
    }
    atomic_store(&traffic->stop, true);
}

static void one_of_all(int index, void *context)
{
    if (index == WRITERS)
        back_up(context);
    else
        write_steadily(context, index);
}

/* Cells 0 … n-1 and `last` = n-1, with n no smaller than what was acknowledged: whole batches, and none missing. */
static void expect_prefix(Store *store, int writer, int at_least)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice row = arena_print(arena, "writer %d", writer);
    Query query = {.table = &CONTRACT_KEEP, .row = row, .limit = STORE_PAGE_MAX};
    Page page = {.more = true};
    int count = 0;
    Slice last = SLICE_EMPTY, newest = SLICE_EMPTY;
    query.from = query.to = query.after = SLICE_EMPTY;
    for (; page.more; query.resume = true) {
        EXPECT_STATUS(store_slice(store, &query, arena, &page), STATUS_OK);
        for (size_t i = 0; i < page.count; i++) {
            query.after = page.cells[i].column;
            if (slice_equal(query.after, SLICE("last"))) {
                last = page.cells[i].value;
                continue;
            }
            newest = arena_print(arena, "%08d", count++);
            EXPECT_SLICE(page.cells[i].column, newest);
        }
    }
    EXPECT(count >= at_least);
    EXPECT_SLICE(last, newest);
}

TEST(a_backup_under_traffic_has_all_that_was_acknowledged_before_it)
{
    const char *directory = datadir_new();
    Traffic *traffic = calloc(1, sizeof *traffic);
    Reason reason = {.rule = ""};
    contract_fresh(); /* its arena holds the threads */
    EXPECT_STATUS(datadir_open(directory, true, &traffic->store, &reason), STATUS_OK);
    for (int i = 0; i < BACKUPS; i++)
        traffic->backups[i] = datadir_new();
    contract_threads(WRITERS + 1, one_of_all, traffic);
    store_close(traffic->store);
    contract_end();
    EXPECT_I64(traffic->failures, 0);
    for (int i = 0; i < BACKUPS; i++) {
        const char *restored = datadir_new();
        Store *store;
        EXPECT_STATUS(restore(traffic->backups[i], restored, &reason), STATUS_OK);
        EXPECT_STATUS(datadir_open(restored, false, &store, &reason), STATUS_OK);
        for (int w = 0; w < WRITERS; w++) {
            EXPECT(traffic->before[i][w] > 0);
            expect_prefix(store, w, traffic->before[i][w]);
        }
        store_close(store);
    }
    free(traffic);
}
