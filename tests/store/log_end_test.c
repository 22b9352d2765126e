/* log_end_test.c -- what a power cut leaves of the log: holes in what no sync has saved are cut off, damage to what was acknowledged is
 * refused (log_end.h). */
#include "datadir.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rocks/log_end.h"

enum { PAGE = 4096, VALUE = 2000, ACKNOWLEDGED = 20, LOGS = 4 };

/* ---- A directory as a crash leaves it ------------------------------------------------------------------------ */

static int64_t now_us(void *self)
{
    (void)self;
    return clock_now_us(world_real().clock);
}

/* It stands still, so that no lazy write ever becomes old enough for a sync. */
static int64_t steady_us(void *self)
{
    (void)self;
    return US_PER_S;
}

static void sleep_us(void *self, int64_t us)
{
    (void)self;
    clock_sleep_us(world_real().clock, us);
}

static Slice row_of(int number, Arena *arena)
{
    return arena_print(arena, "row %03d", number);
}

static void write_row(Store *store, int number, bool lazy)
{
    ARENA_SCOPE Arena *arena = arena_new();
    char *value = arena_bytes(arena, VALUE);
    uint64_t state = (uint64_t)number + 1;
    for (int i = 0; i < VALUE; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        value[i] = (char)(state >> 56);
    }
    RowChange change = {&CONTRACT_KEEP, row_of(number, arena),
                        put(SLICE("c"), slice_of(value, VALUE), number + 1)};
    EXPECT_STATUS(store_write(store, &(Batch){&change, 1, lazy}), STATUS_OK);
}

typedef struct Crashed {
    const char *directory;
    off_t synced; /* bytes of the first log that are */
    int lazy;     /* rows behind those that were acknowledged */
} Crashed;

static off_t size_of(const char *path)
{
    struct stat about;
    EXPECT(path != NULL && stat(path, &about) == 0);
    return about.st_size;
}

static Crashed crash(int lazy)
{
    RocksdbOptions options = datadir_options(datadir_new(), true);
    Store *store;
    Reason reason;
    options.world.clock = (Clock){now_us, steady_us, sleep_us, NULL, NULL};
    EXPECT_STATUS(store_rocksdb_open(&options, &store, &reason), STATUS_OK);
    for (int i = 0; i < ACKNOWLEDGED; i++)
        write_row(store, i, false);
    Crashed crashed = {.synced = size_of(datadir_find(options.directory, "db", ".log")),
                       .lazy = lazy};
    for (int i = 0; i < lazy; i++)
        write_row(store, ACKNOWLEDGED + i, true);
    crashed.directory = datadir_copy(options.directory);
    store_close(store);
    return crashed;
}

/* The same once more, with the logs in the order of their numbers. */
static Crashed again(const Crashed *crashed, const char *ret_logs[LOGS])
{
    ARENA_SCOPE Arena *arena = arena_new();
    Crashed copy = *crashed;
    Slice *names;
    size_t count, found = 0;
    Reason reason;
    copy.directory = datadir_copy(crashed->directory);
    EXPECT_STATUS(disk_list(world_real().disk, datadir_path(copy.directory, "db"), arena, &names,
                            &count, &reason),
                  STATUS_OK);
    memset(ret_logs, 0, LOGS * sizeof *ret_logs);
    for (size_t i = 0; i < count && found < LOGS; i++)
        if (strstr(arena_text(arena, names[i]), ".log") != NULL)
            ret_logs[found++] =
                datadir_path(datadir_path(copy.directory, "db"), arena_text(arena, names[i]));
    EXPECT(found >= 1);
    return copy;
}

static void lose(const char *path, off_t from, off_t to)
{
    static const char zeros[PAGE];
    int fd = open(path, O_WRONLY);
    EXPECT(fd >= 0 && to - from <= PAGE);
    EXPECT(pwrite(fd, zeros, (size_t)(to - from), from) == to - from);
    close(fd);
}

/* ---- What must come of it -------------------------------------------------------------------------------------- */

/* Everything that was acknowledged, and of the rest a beginning. Returns how much of that. */
static int expect_a_beginning(const Crashed *crashed)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Store *store;
    Reason reason = {.rule = ""};
    int there = 0;
    Status status = datadir_open(crashed->directory, false, &store, &reason);
    if (status != STATUS_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", status_name(status), reason.rule);
    for (int i = 0; i < ACKNOWLEDGED + crashed->lazy; i++) {
        Cell cell;
        Read read = {&CONTRACT_KEEP, row_of(i, arena), SLICE("c"), STORE_NORMAL};
        status = store_read(store, &read, arena, &cell);
        if (status == STATUS_OK)
            EXPECT_I64(there++, i); /* nothing behind what is missing */
        else
            EXPECT_STATUS(status, STATUS_NOT_FOUND);
    }
    EXPECT(there >= ACKNOWLEDGED);
    write_row(store, 999, false);
    store_close(store);
    EXPECT_STATUS(datadir_open(crashed->directory, false, &store, &reason), STATUS_OK);
    store_close(store);
    return there - ACKNOWLEDGED;
}

static void expect_refused(const Crashed *crashed)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Store *store = NULL;
    Reason reason = {.rule = ""};
    Slice before = datadir_picture(crashed->directory, arena);
    EXPECT_STATUS(datadir_open(crashed->directory, false, &store, &reason), STATUS_CORRUPT);
    if (store != NULL)
        store_close(store);
    EXPECT(strstr(reason.rule, crashed->directory) != NULL);
    EXPECT(strstr(reason.rule, "is damaged: ") != NULL && strchr(reason.rule, '\n') == NULL);
    EXPECT_SLICE(datadir_picture(crashed->directory, arena), before);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

TEST(a_hole_in_what_no_sync_has_saved_ends_the_log)
{
    const char *logs[LOGS];
    Crashed crashed = crash(30), copy = again(&crashed, logs);
    off_t size = size_of(logs[0]);
    EXPECT(size > crashed.synced + 10 * PAGE);
    EXPECT_I64(expect_a_beginning(&copy), crashed.lazy);
    int least = crashed.lazy, most = 0;
    for (off_t at = crashed.synced; at < size; at = (at / PAGE + 1) * PAGE) {
        off_t to = (at / PAGE + 1) * PAGE;
        copy = again(&crashed, logs);
        lose(logs[0], at, to < size ? to : size);
        int there = expect_a_beginning(&copy);
        EXPECT(there < crashed.lazy);
        least = there < least ? there : least;
        most = there > most ? there : most;
    }
    EXPECT_I64(least, 0);
    EXPECT(most >= crashed.lazy - 3);
}

TEST(a_hole_in_what_was_acknowledged_is_refused)
{
    const char *logs[LOGS];
    Crashed crashed = crash(10);
    for (int with = 0; with < 2; with++) /* the file `synced`; what survived behind says it, too */
        for (off_t at = 0; at < crashed.synced; at += PAGE) {
            Crashed copy = again(&crashed, logs);
            off_t to = at + PAGE < crashed.synced ? at + PAGE : crashed.synced;
            if (with == 0)
                EXPECT(unlink(datadir_path(copy.directory, "synced")) == 0);
            lose(logs[0], at, to);
            expect_refused(&copy);
        }
}

/* Nothing is behind it that could tell: the file `synced` does. */
TEST(a_log_that_ends_before_what_was_acknowledged_is_refused)
{
    const char *logs[LOGS];
    Crashed crashed = crash(0), copy = again(&crashed, logs);
    lose(logs[0], crashed.synced - 10, crashed.synced);
    expect_refused(&copy);
    for (off_t size = 0; size < crashed.synced; size += crashed.synced / 7 + 1) {
        copy = again(&crashed, logs);
        EXPECT(truncate(logs[0], size) == 0);
        expect_refused(&copy);
    }
    copy = again(&crashed, logs);
    EXPECT(unlink(logs[0]) == 0);
    expect_refused(&copy);
    copy = again(&crashed, logs);
    EXPECT_I64(expect_a_beginning(&copy), 0);
}

TEST(a_single_wrong_bit_in_what_was_acknowledged_is_refused)
{
    const char *logs[LOGS];
    Crashed crashed = crash(0);
    for (off_t at = 3; at < crashed.synced; at += crashed.synced / 40) {
        Crashed copy = again(&crashed, logs);
        char byte;
        int fd = open(logs[0], O_RDWR);
        EXPECT(fd >= 0 && pread(fd, &byte, 1, at) == 1);
        byte ^= 4;
        EXPECT(pwrite(fd, &byte, 1, at) == 1);
        close(fd);
        expect_refused(&copy);
    }
}

/* The log goes on in a second file when a memtable is full. */
TEST(behind_a_hole_later_files_are_cut_off_too)
{
    enum { LAZY = 160 };
    const char *logs[LOGS];
    Crashed crashed = crash(LAZY), copy = again(&crashed, logs);
    EXPECT(logs[1] != NULL);
    off_t first = size_of(logs[0]), second = size_of(logs[1]);
    EXPECT(second > 4 * PAGE);
    EXPECT_I64(expect_a_beginning(&copy), LAZY);
    copy = again(&crashed, logs);
    lose(logs[0], first / PAGE / 2 * PAGE, first / PAGE / 2 * PAGE + PAGE);
    int there = expect_a_beginning(&copy);
    EXPECT(there > 0 && there < LAZY / 2 + 10);
    copy = again(&crashed, logs);
    lose(logs[1], 0, PAGE); /* its very beginning: which change it was, only a mark says */
    int beginning = expect_a_beginning(&copy);
    EXPECT(beginning > there && beginning < LAZY);
    copy = again(&crashed, logs);
    EXPECT(truncate(logs[0], first - 100) == 0); /* torn, and yet not the end */
    EXPECT(expect_a_beginning(&copy) < beginning);
    copy = again(&crashed, logs);
    lose(logs[0], first / PAGE / 2 * PAGE, first / PAGE / 2 * PAGE + PAGE);
    EXPECT(truncate(logs[1], 0) == 0); /* the power failed while it was cut */
    EXPECT_I64(expect_a_beginning(&copy), there);
    copy = again(&crashed, logs);
    lose(logs[0], crashed.synced / 2, crashed.synced / 2 + 10);
    expect_refused(&copy);
}

/* RocksDB removes what it does not need any more in any order, and may be killed in between. */
TEST(files_that_are_not_needed_any_more_may_be_there_in_part)
{
    enum { LAZY = 320 };
    const char *logs[LOGS];
    Crashed crashed = crash(LAZY), copy = again(&crashed, logs);
    EXPECT(logs[2] != NULL);
    EXPECT_I64(expect_a_beginning(&copy), LAZY);
    copy = again(&crashed, logs);
    EXPECT(unlink(logs[1]) == 0);
    Store *store;
    Reason reason;
    EXPECT_STATUS(datadir_open(copy.directory, false, &store, &reason), STATUS_OK);
    store_close(store);
}

/* The first write after a start, with nothing synced behind it. */
TEST(a_log_of_which_nothing_was_synced_may_be_lost)
{
    const char *logs[LOGS];
    Crashed crashed = crash(0), copy = again(&crashed, logs);
    RocksdbOptions options = datadir_options(copy.directory, false);
    Store *store;
    Reason reason;
    options.world.clock = (Clock){now_us, steady_us, sleep_us, NULL, NULL};
    EXPECT_STATUS(store_rocksdb_open(&options, &store, &reason), STATUS_OK);
    for (int i = 0; i < 10; i++)
        write_row(store, ACKNOWLEDGED + i, true);
    Crashed twice = {.directory = datadir_copy(copy.directory), .lazy = 10};
    store_close(store);
    for (off_t at = 0; at < 4 * PAGE; at += PAGE) {
        Crashed lost = again(&twice, logs);
        lose(logs[0], at, at + PAGE);
        EXPECT(expect_a_beginning(&lost) < 10);
    }
    Crashed lost = again(&twice, logs);
    EXPECT(truncate(logs[0], 0) == 0);
    EXPECT_I64(expect_a_beginning(&lost), 0);
}

/* ---- The manifest --------------------------------------------------------------------------------------------------- */

/* With tables in its manifest. It was closed, so that RocksDB does nothing any more while it is copied; with the seal broken that looks like a crash. */
static Crashed crash_flushed(void)
{
    enum { ROWS = 3000 };
    const char *directory = datadir_new();
    Store *store;
    Reason reason;
    EXPECT_STATUS(datadir_open(directory, true, &store, &reason), STATUS_OK);
    for (int i = 0; i < ROWS; i++)
        write_row(store, i, i + 1 < ROWS);
    store_close(store);
    datadir_write_file(datadir_path(directory, "sealed"), SLICE("open\n"));
    return (Crashed){.directory = directory, .lazy = ROWS - ACKNOWLEDGED};
}

/* What a cut leaves of a change that goes over two pages: its header, a hole, and the page behind it. */
static void tear_manifest(const char *directory)
{
    enum { RECORD = 200, KEPT = 20, SIZE = 300 };
    static const char HEADER[7] = {1, 2, 3, 4, (char)RECORD, 0, 1};
    char bytes[SIZE] = {0};
    memcpy(bytes, HEADER, sizeof HEADER);
    memset(bytes + sizeof HEADER, 'k', KEPT);
    memset(bytes + RECORD / 2, 'p', SIZE - RECORD / 2);
    int fd = open(datadir_find(directory, "db", "MANIFEST"), O_WRONLY | O_APPEND);
    EXPECT(fd >= 0 && write(fd, bytes, SIZE) == SIZE);
    close(fd);
}

TEST(a_hole_at_the_end_of_the_manifest_is_cut_off)
{
    const char *logs[LOGS];
    Crashed few = crash(30), many = crash_flushed();
    EXPECT(datadir_find(many.directory, "db", ".sst") != NULL);
    Crashed copy = again(&few, logs);
    tear_manifest(copy.directory);
    EXPECT_I64(expect_a_beginning(&copy), few.lazy);
    copy = again(&many, logs);
    tear_manifest(copy.directory);
    EXPECT_I64(expect_a_beginning(&copy), many.lazy);
}

/* A change of the manifest that was synced and is damaged: RocksDB relied on it, and removed logs that are in tables. */
TEST(a_damaged_change_of_the_manifest_is_refused_when_files_before_it_are_gone)
{
    enum { LAZY = 160, LOST = 16 };
    const char *logs[LOGS];
    Crashed flushed = crash_flushed(), full = crash(LAZY), copy = again(&flushed, logs);
    const char *manifest = datadir_find(copy.directory, "db", "MANIFEST");
    off_t middle = size_of(manifest) / 2;
    lose(manifest, middle, middle + LOST);
    expect_refused(&copy);
    copy = again(&flushed, logs);
    tear_manifest(copy.directory);
    EXPECT(unlink(datadir_find(copy.directory, "db", ".sst")) == 0);
    expect_refused(&copy);
    copy = again(&full, logs);
    tear_manifest(copy.directory);
    EXPECT(logs[1] != NULL && unlink(logs[0]) == 0);
    expect_refused(&copy);
}

/* Written by an older version: there is not one mark, and RocksDB alone decides. */
TEST(a_log_without_marks_is_left_as_it_is)
{
    ARENA_SCOPE Arena *arena = arena_new();
    const char *directory = datadir_new(), *db = datadir_path(directory, "db");
    Reason reason;
    EXPECT_STATUS(disk_make_directory(world_real().disk, db, 0700, &reason), STATUS_OK);
    datadir_write_file(datadir_path(db, "000004.log"), SLICE("no batch at all, and it stays"));
    Slice before = datadir_picture(directory, arena);
    EXPECT_STATUS(log_end_settle(world_real().disk, directory, &reason), STATUS_OK);
    EXPECT_SLICE(datadir_picture(directory, arena), before);
}
