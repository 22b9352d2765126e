/* threads_test.c -- promises 2, 3 and 4 while many threads are at it: no half batches, no lost updates, one winner. */
#include "contract.h"

#include <stdatomic.h>

static const Slice ROW = {"row", 3};
static const Slice HEAD = {"head", 4};

enum { CELLS = 8, WRITERS = 4, READERS = 5, ROUNDS = 150 };

typedef struct Shared {
    const Table *table;
    atomic_int writing; /* writers that have not finished */
    atomic_int failures, torn, reads;
} Shared;

/* What a thread saw that it must not see; the test itself fails in the main thread. */
static void count_if(bool wrong, atomic_int *counter)
{
    if (wrong)
        atomic_fetch_add(counter, 1);
}

/* ---- The first call -------------------------------------------------------------------------------------------- */

static void reverse_once(int index, void *context)
{
    Shared *shared = context;
    ARENA_SCOPE Arena *arena = arena_new();
    Query query = {.table = shared->table, .row = ROW, .limit = 10, .reverse = true};
    Page page;
    (void)index;
    query.from = query.to = query.after = SLICE_EMPTY;
    Status status = store_slice(contract_store(), &query, arena, &page);
    count_if(status != STATUS_OK || page.count != 1, &shared->failures);
}

/* Whatever a reader prepares once must be ready for all; this test is the first in its program for that reason. */
TEST(the_first_calls_come_from_many_threads_at_once)
{
    contract_fresh();
    Shared shared = {.table = &CONTRACT_KEEP};
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, ROW, put(HEAD, SLICE("v"), 1)), STATUS_OK);
    contract_threads(16, reverse_once, &shared);
    EXPECT_I64(shared.failures, 0);
    contract_end();
}

static Slice cell_name(int i)
{
    static const char names[] = "abcdefgh";
    return slice_of(&names[i], 1);
}

/* ---- No half batches --------------------------------------------------------------------------------------- */

static void write_whole_rows(int index, Shared *shared)
{
    ARENA_SCOPE Arena *arena = arena_new();
    for (int round = 0; round < ROUNDS; round++) {
        RowChange changes[CELLS];
        int64_t timestamp = (int64_t)round * WRITERS + index;
        Slice value = arena_print(arena, "%d", (int)timestamp);
        for (int i = 0; i < CELLS; i++)
            changes[i] = (RowChange){shared->table, ROW, put(cell_name(i), value, timestamp)};
        Status status = store_write(contract_store(), &(Batch){changes, CELLS, round % 2 == 0});
        count_if(status != STATUS_OK, &shared->failures);
    }
    atomic_fetch_sub(&shared->writing, 1);
}

static bool is_torn(const Page *page)
{
    if (page->count == 0)
        return false;
    for (size_t i = 1; i < page->count; i++)
        if (!slice_equal(page->cells[i].value, page->cells[0].value))
            return true;
    return page->count != CELLS;
}

static void read_whole_rows(Shared *shared, bool reverse)
{
    ARENA_SCOPE Arena *arena = arena_new();
    while (atomic_load(&shared->writing) > 0) {
        Query query = {.table = shared->table, .row = ROW, .limit = 100, .reverse = reverse};
        Page page;
        query.from = query.to = query.after = SLICE_EMPTY;
        Status status = store_slice(contract_store(), &query, arena, &page);
        count_if(status != STATUS_OK, &shared->failures);
        count_if(status == STATUS_OK && is_torn(&page), &shared->torn);
        atomic_fetch_add(&shared->reads, 1);
        arena_reset(arena);
    }
}

static void scan_whole_table(Shared *shared)
{
    ARENA_SCOPE Arena *arena = arena_new();
    while (atomic_load(&shared->writing) > 0) {
        ScanPage scan;
        Status status = store_scan(contract_store(), shared->table, SLICE_EMPTY, 100, arena, &scan);
        count_if(status != STATUS_OK, &shared->failures);
        for (size_t i = 1; status == STATUS_OK && i < scan.count; i++)
            count_if(!slice_equal(scan.cells[i].cell.value, scan.cells[0].cell.value),
                     &shared->torn);
        count_if(status == STATUS_OK && scan.count != 0 && scan.count != CELLS, &shared->torn);
        atomic_fetch_add(&shared->reads, 1);
        arena_reset(arena);
    }
}

static void plain_mix(int index, void *context)
{
    if (index < WRITERS)
        write_whole_rows(index, context);
    else if (index == WRITERS)
        scan_whole_table(context);
    else
        read_whole_rows(context, index % 2 == 0);
}

TEST(readers_never_see_half_a_batch)
{
    contract_fresh();
    Shared shared = {.table = &CONTRACT_KEEP, .writing = WRITERS};
    contract_threads(WRITERS + READERS, plain_mix, &shared);
    EXPECT_I64(shared.failures, 0);
    EXPECT_I64(shared.torn, 0);
    EXPECT(shared.reads > 0);
    Page page;
    EXPECT_STATUS(contract_slice(&CONTRACT_KEEP, ROW, 100, &page), STATUS_OK);
    EXPECT_I64(page.count, CELLS);
    EXPECT_SLICE(page.cells[0].value, arena_print(contract_arena(), "%d", ROUNDS * WRITERS - 1));
    contract_end();
}

/* ---- One winner, no lost update ------------------------------------------------------------------------------ */

enum { RACERS = 64, RACES = 10 };

typedef struct Race {
    Slice row;
    atomic_int won, lost, other;
    atomic_int winner;
    Slice told[RACERS];
    Arena *arenas[RACERS];
} Race;

static void race(int index, void *context)
{
    Race *r = context;
    Condition condition = when_absent(HEAD);
    Change change = put(HEAD, arena_print(r->arenas[index], "%d", index), 0);
    Found found = {false, SLICE_EMPTY};
    Update update = {.table = &CONTRACT_COND,
                     .row = r->row,
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = &change,
                     .change_count = 1,
                     .proof = HEAD};
    Status status = store_update_if(contract_store(), &update, r->arenas[index], &found);
    if (status == STATUS_OK) {
        atomic_store(&r->winner, index);
        atomic_fetch_add(&r->won, 1);
    } else if (status == STATUS_CONFLICT && found.present) {
        atomic_fetch_add(&r->lost, 1);
        r->told[index] = found.value;
    } else {
        atomic_fetch_add(&r->other, 1);
    }
}

static void expect_one_winner(Race *r)
{
    EXPECT_I64(r->other, 0);
    EXPECT_I64(r->won, 1);
    EXPECT_I64(r->lost, RACERS - 1);
    Slice winner = arena_print(contract_arena(), "%d", r->winner);
    EXPECT_CELL(&CONTRACT_COND, r->row, HEAD, winner);
    for (int i = 0; i < RACERS; i++)
        if (i != r->winner)
            EXPECT_SLICE(r->told[i], winner);
}

TEST(of_64_updates_on_one_condition_exactly_one_stands)
{
    contract_fresh();
    for (int i = 0; i < RACES; i++) {
        Race r = {.row = arena_print(contract_arena(), "race %d", i)};
        for (int k = 0; k < RACERS; k++)
            r.arenas[k] = arena_new();
        contract_threads(RACERS, race, &r);
        expect_one_winner(&r);
        for (int k = 0; k < RACERS; k++)
            arena_free(r.arenas[k]);
    }
    contract_end();
}

enum { COUNTERS = 8, INCREMENTS = 40 };

static bool increment(Arena *arena, int index, int step, Shared *shared)
{
    Read read = {&CONTRACT_COND, ROW, HEAD, STORE_SERIAL};
    Cell cell;
    Status status = store_read(contract_store(), &read, arena, &cell);
    bool first = status == STATUS_NOT_FOUND;
    count_if(status != STATUS_OK && !first, &shared->failures);
    uint64_t number = 0;
    if (status == STATUS_OK && slice_to_u64(cell.value, &number) != STATUS_OK)
        atomic_fetch_add(&shared->torn, 1);
    Condition condition = first ? when_absent(HEAD) : when_equal(HEAD, cell.value);
    Slice next = arena_print(arena, "%d", (int)number + 1);
    Change changes[] = {put(arena_print(arena, "log %d %d", index, step), next, 0),
                        put(HEAD, next, 0)};
    Update update = {.table = &CONTRACT_COND,
                     .row = ROW,
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = 2,
                     .proof = changes[0].column};
    status = store_update(contract_store(), &update, 3, arena, NULL);
    count_if(status != STATUS_OK && status != STATUS_CONFLICT, &shared->failures);
    return status == STATUS_OK;
}

static void count_up(int index, void *context)
{
    ARENA_SCOPE Arena *arena = arena_new();
    for (int step = 0; step < INCREMENTS;) {
        if (increment(arena, index, step, context))
            step++;
        arena_reset(arena);
    }
}

TEST(no_increment_is_lost)
{
    contract_fresh();
    Shared shared = {.writing = 0};
    Page page;
    contract_threads(COUNTERS, count_up, &shared);
    EXPECT_I64(shared.failures, 0);
    EXPECT_I64(shared.torn, 0);
    EXPECT_CELL(&CONTRACT_COND, ROW, HEAD,
                arena_print(contract_arena(), "%d", COUNTERS * INCREMENTS));
    EXPECT_STATUS(contract_slice(&CONTRACT_COND, ROW, 10000, &page), STATUS_OK);
    EXPECT_I64(page.count, COUNTERS * INCREMENTS + 1);
    contract_end();
}

/* A serial reader beside the writers: head and log entry come together, and the number never goes back. */
static void watch(Shared *shared)
{
    ARENA_SCOPE Arena *arena = arena_new();
    uint64_t last = 0;
    while (atomic_load(&shared->writing) > 0) {
        Query query = {.table = &CONTRACT_COND, .row = ROW, .limit = 10000, .mode = STORE_SERIAL};
        Page page;
        uint64_t number = 0;
        query.from = query.to = query.after = SLICE_EMPTY;
        Status status = store_slice(contract_store(), &query, arena, &page);
        count_if(status != STATUS_OK, &shared->failures);
        if (status == STATUS_OK && page.count > 0) {
            Status parsed = slice_to_u64(page.cells[0].value, &number);
            count_if(parsed != STATUS_OK || page.count != number + 1, &shared->torn);
        }
        count_if(number < last, &shared->torn);
        last = number;
        arena_reset(arena);
    }
}

static void count_or_watch(int index, void *context)
{
    Shared *shared = context;
    if (index < COUNTERS) {
        count_up(index, context);
        atomic_fetch_sub(&shared->writing, 1);
    } else {
        watch(shared);
    }
}

TEST(an_update_is_seen_whole_and_never_goes_back)
{
    contract_fresh();
    Shared shared = {.writing = COUNTERS};
    contract_threads(COUNTERS + 2, count_or_watch, &shared);
    EXPECT_I64(shared.failures, 0);
    EXPECT_I64(shared.torn, 0);
    contract_end();
}

/* ---- Everything at once ---------------------------------------------------------------------------------------- */

enum { MIXERS = 8, MIX_MS = 1500 };

typedef struct Mix {
    int64_t until_us;
    atomic_int wrong, done;
} Mix;

static void mix_write(Arena *arena, int index, int step, Mix *mix)
{
    int64_t now = contract_now_us();
    Slice row = arena_print(arena, "%d", step % 5);
    RowChange changes[] = {
        {&CONTRACT_PLAIN, row, put(arena_print(arena, "%d", index), row, now + step)},
        {&CONTRACT_PLAIN, row, put_for(SLICE("brief"), row, now + step, 60)},
        {&CONTRACT_PLAIN, row, erase(SLICE("gone"), now + step)},
        {&CONTRACT_KEEP, row, put(arena_print(arena, "%d", index), row, step)}};
    Batch batches[] = {{changes, 2, true}, {changes + 2, 2, step % 4 == 0}};
    Status statuses[2];
    Status status = store_write_many(contract_store(), batches, 2, statuses);
    count_if(status != STATUS_OK || statuses[0] != STATUS_OK || statuses[1] != STATUS_OK,
             &mix->wrong);
    Read read = {&CONTRACT_KEEP, row, arena_print(arena, "%d", index), STORE_NORMAL};
    Cell cell;
    status = store_read(contract_store(), &read, arena, &cell);
    count_if(status != STATUS_OK || cell.timestamp != step, &mix->wrong); /* promise 2 */
}

static void mix_read(Arena *arena, int step, Mix *mix)
{
    Slice row = arena_print(arena, "%d", step % 5);
    Read reads[] = {{&CONTRACT_PLAIN, row, SLICE("brief"), STORE_NORMAL},
                    {&CONTRACT_COND, row, HEAD, STORE_SERIAL}};
    ReadAnswer answers[2];
    count_if(store_read_many(contract_store(), reads, 2, arena, answers) != STATUS_OK, &mix->wrong);
    ScanPage scan = {.position = SLICE_EMPTY, .more = true};
    while (scan.more) {
        Status status =
            store_scan(contract_store(), &CONTRACT_PLAIN, scan.position, 7, arena, &scan);
        count_if(status != STATUS_OK, &mix->wrong);
        if (status != STATUS_OK)
            break;
    }
    StoreHealth health;
    store_health(contract_store(), &health);
    count_if(!health.writable, &mix->wrong);
}

static void mix_update(Arena *arena, int index, int step, Mix *mix)
{
    Slice row = arena_print(arena, "%d", step % 5);
    Condition condition = when_absent(arena_print(arena, "%d %d", index, step));
    Change change = put_for(condition.column, row, 0, 60);
    RowChange mark = {&CONTRACT_KEEP, row, put(SLICE("mark"), row, step)};
    Update update = {.table = &CONTRACT_COND,
                     .row = row,
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = &change,
                     .change_count = 1,
                     .proof = change.column,
                     .marks = {&mark, 1, false}};
    count_if(store_update(contract_store(), &update, 2, arena, NULL) != STATUS_OK, &mix->wrong);
}

static void everything(int index, void *context)
{
    Mix *mix = context;
    Clock clock = world_real().clock;
    ARENA_SCOPE Arena *arena = arena_new();
    for (int step = 1; clock_steady_us(clock) < mix->until_us; step++) {
        switch ((index + step) % 4) {
        case 0:
            mix_read(arena, step, mix);
            break;
        case 1:
            mix_update(arena, index, step, mix);
            break;
        default:
            mix_write(arena, index, step, mix);
            break;
        }
        atomic_fetch_add(&mix->done, 1);
        arena_reset(arena);
    }
}

TEST(eight_threads_doing_everything_at_once)
{
    contract_fresh();
    Mix mix = {.until_us = clock_steady_us(world_real().clock) + MIX_MS * US_PER_MS};
    contract_threads(MIXERS, everything, &mix);
    EXPECT_I64(mix.wrong, 0);
    EXPECT(mix.done > MIXERS);
    printf("# %d operations\n", mix.done);
    contract_end();
}
