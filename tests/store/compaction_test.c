/* compaction_test.c -- where the dead go: compaction buries what has expired and forgets it after grace, and no read can tell.
 *
 * The engine's own keys are counted, which the contract cannot see. */
#include "datadir.h"

#include "store/rocksdb/rocks.h"
#include "world.h"

static const Slice ROW = {"row", 3};
static TestWorld own;
static Store *store;
static Arena *arena;

static void begin(void)
{
    RocksdbOptions options = datadir_options(datadir_new(), true);
    Reason reason;
    options.world = test_world(&own, 1);
    arena = arena_new();
    EXPECT_STATUS(store_rocksdb_open(&options, &store, &reason), STATUS_OK);
}

static void end(void)
{
    store_close(store);
    arena_free(arena);
}

static void pass_s(int64_t seconds)
{
    test_world_pass(&own, seconds * US_PER_S);
}

static int64_t now_us(void)
{
    return clock_now_us(store->clock);
}

static Status write_plain(Change change)
{
    RowChange row = {&CONTRACT_PLAIN, ROW, change};
    return store_write(store, &(Batch){&row, 1, false});
}

/* Everything goes through the filter. */
static void compact(void)
{
    rocksdb_compactoptions_t *options = rocksdb_compactoptions_create();
    rocksdb_compactoptions_set_bottommost_level_compaction(options, 2 /* force */);
    rocksdb_compact_range_opt(rocks_of(store)->db, options, NULL, 0, NULL, 0);
    rocksdb_compactoptions_destroy(options);
}

/* Keys of a table, dead or alive. */
static int stored_keys(const Table *table)
{
    rocksdb_iterator_t *iterator =
        rocksdb_create_iterator(rocks_of(store)->db, rocks_of(store)->read_table);
    char prefix[2];
    int count = 0;
    bytes_put_u16(prefix, table->number);
    for (rocksdb_iter_seek(iterator, prefix, 2); rocksdb_iter_valid(iterator);
         rocksdb_iter_next(iterator)) {
        Slice key;
        key.data = rocksdb_iter_key(iterator, &key.size);
        if (!slice_starts_with(key, slice_of(prefix, 2)))
            break;
        count++;
    }
    rocksdb_iter_destroy(iterator);
    return count;
}

static size_t seen_cells(const Table *table)
{
    ScanPage page;
    EXPECT_STATUS(store_scan(store, table, SLICE_EMPTY, 100, arena, &page), STATUS_OK);
    return page.count;
}

TEST(the_living_are_kept)
{
    begin();
    EXPECT_STATUS(write_plain(put(SLICE("a"), SLICE("v"), now_us())), STATUS_OK);
    EXPECT_STATUS(write_plain(put_for(SLICE("b"), SLICE("v"), now_us(), 1000)), STATUS_OK);
    pass_s(500);
    compact();
    EXPECT_I64(seen_cells(&CONTRACT_PLAIN), 2);
    EXPECT_I64(stored_keys(&CONTRACT_PLAIN), 2);
    end();
}

TEST(the_dead_are_remembered_for_grace_and_then_forgotten)
{
    begin();
    int64_t start = now_us();
    EXPECT_STATUS(write_plain(put_for(SLICE("expires"), SLICE("v"), start, 10)), STATUS_OK);
    EXPECT_STATUS(write_plain(put(SLICE("deleted"), SLICE("v"), start)), STATUS_OK);
    EXPECT_STATUS(write_plain(erase(SLICE("deleted"), start)), STATUS_OK);
    pass_s(20);
    compact();
    EXPECT_I64(seen_cells(&CONTRACT_PLAIN), 0);
    EXPECT_I64(stored_keys(&CONTRACT_PLAIN), 2);
    pass_s(CONTRACT_GRACE_S - 30);
    compact();
    EXPECT_I64(stored_keys(&CONTRACT_PLAIN), 2);
    EXPECT_STATUS(write_plain(put(SLICE("expires"), SLICE("zombie"), start)), STATUS_OK);
    EXPECT_STATUS(write_plain(put(SLICE("deleted"), SLICE("zombie"), start)), STATUS_OK);
    EXPECT_I64(seen_cells(&CONTRACT_PLAIN), 0);
    pass_s(S_PER_DAY + 60); /* a day more: a caller may have stalled, a clock may have stepped */
    compact();
    EXPECT_I64(stored_keys(&CONTRACT_PLAIN), 0);
    EXPECT_STATUS(write_plain(put(SLICE("deleted"), SLICE("zombie"), start)), STATUS_INVALID);
    end();
}

/* A timestamp ahead of the clock is refused a day later than one of now, and is remembered as long. */
TEST(a_delete_that_is_ahead_is_remembered_longer)
{
    begin();
    int64_t ahead = now_us() + S_PER_DAY * US_PER_S;
    EXPECT_STATUS(write_plain(erase(SLICE("deleted"), ahead)), STATUS_OK);
    EXPECT_STATUS(write_plain(put_for(SLICE("expired"), SLICE("v"), ahead, 10)), STATUS_OK);
    pass_s(CONTRACT_GRACE_S + S_PER_DAY / 2);
    compact();
    EXPECT_I64(stored_keys(&CONTRACT_PLAIN), 2);
    EXPECT_STATUS(write_plain(put(SLICE("deleted"), SLICE("zombie"), ahead - 1)), STATUS_OK);
    EXPECT_STATUS(write_plain(put(SLICE("expired"), SLICE("zombie"), ahead - 1)), STATUS_OK);
    EXPECT_I64(seen_cells(&CONTRACT_PLAIN), 0);
    pass_s(2 * S_PER_DAY);
    compact();
    EXPECT_I64(stored_keys(&CONTRACT_PLAIN), 0);
    end();
}

TEST(expired_cells_of_conditional_tables_go_at_once)
{
    begin();
    Condition condition = when_absent(SLICE("lease"));
    Change changes[] = {put_for(SLICE("lease"), SLICE("v"), 0, 10),
                        put(SLICE("log"), SLICE("v"), 0)};
    Update update = {.table = &CONTRACT_COND,
                     .row = ROW,
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = 2,
                     .proof = SLICE("log")};
    EXPECT_STATUS(store_update_if(store, &update, arena, NULL), STATUS_OK);
    compact();
    EXPECT_I64(stored_keys(&CONTRACT_COND), 2);
    pass_s(20);
    compact();
    EXPECT_I64(stored_keys(&CONTRACT_COND), 1);
    EXPECT_STATUS(store_update_if(store, &update, arena, NULL), STATUS_OK);
    end();
}

TEST(a_conditional_delete_leaves_nothing_behind)
{
    begin();
    Condition absent = when_absent(SLICE("cell")), there = when_equal(SLICE("cell"), SLICE("v"));
    Change made = put(SLICE("cell"), SLICE("v"), 0);
    Change gone[] = {put(SLICE("log"), SLICE("v"), 0), erase(SLICE("cell"), 0)};
    Update update = {.table = &CONTRACT_COND_D,
                     .row = ROW,
                     .conditions = &absent,
                     .condition_count = 1,
                     .changes = &made,
                     .change_count = 1,
                     .proof = SLICE("cell")};
    EXPECT_STATUS(store_update_if(store, &update, arena, NULL), STATUS_OK);
    update.conditions = &there, update.changes = gone, update.change_count = 2;
    update.proof = SLICE("log");
    EXPECT_STATUS(store_update_if(store, &update, arena, NULL), STATUS_OK);
    EXPECT_I64(stored_keys(&CONTRACT_COND_D), 1);
    end();
}

/* An older version of the cell lies deeper; when the newer one is forgotten the older must not show through. */
TEST(what_lies_below_does_not_come_up)
{
    begin();
    int64_t start = now_us();
    EXPECT_STATUS(write_plain(put(SLICE("c"), SLICE("old"), start)), STATUS_OK);
    compact();
    EXPECT_STATUS(write_plain(put_for(SLICE("c"), SLICE("brief"), start + 1, 10)), STATUS_OK);
    pass_s(20);
    EXPECT_I64(seen_cells(&CONTRACT_PLAIN), 0);
    compact();
    EXPECT_I64(seen_cells(&CONTRACT_PLAIN), 0);
    pass_s(CONTRACT_GRACE_S + S_PER_DAY + 60);
    compact();
    EXPECT_I64(seen_cells(&CONTRACT_PLAIN), 0);
    EXPECT_I64(stored_keys(&CONTRACT_PLAIN), 0);
    end();
}

TEST(the_buried_stay_dead_when_the_clock_steps_back)
{
    begin();
    EXPECT_STATUS(write_plain(put_for(SLICE("c"), SLICE("v"), now_us(), 10)), STATUS_OK);
    pass_s(20);
    compact();
    test_world_step(&own, -15 * US_PER_S);
    EXPECT_I64(seen_cells(&CONTRACT_PLAIN), 0);
    end();
}

/* The writer remembers cells, and must not go by one that compaction has buried. */
TEST(the_writer_takes_the_buried_for_dead_when_the_clock_steps_back)
{
    begin();
    Condition absent = when_absent(SLICE("cell"));
    Change made = put_for(SLICE("cell"), SLICE("v"), 0, 10);
    Update update = {.table = &CONTRACT_COND,
                     .row = ROW,
                     .conditions = &absent,
                     .condition_count = 1,
                     .changes = &made,
                     .change_count = 1,
                     .proof = SLICE("cell")};
    EXPECT_STATUS(store_update_if(store, &update, arena, NULL), STATUS_OK);
    EXPECT_STATUS(store_update_if(store, &update, arena, NULL), STATUS_CONFLICT);
    pass_s(20);
    compact();
    test_world_step(&own, -15 * US_PER_S);
    EXPECT_I64(seen_cells(&CONTRACT_COND), 0);
    EXPECT_STATUS(store_update_if(store, &update, arena, NULL), STATUS_OK);
    end();
}
