/* store_main.c -- the store's benchmark program: opens a store and obeys.
 *
 *     bench_store DIRECTORY VOTERS CLIENTS CACHE_MIB
 * The commands stand in the table at the end; the number is milliseconds for loads, a count for `age`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "settle.h"
#include "store/rocksdb/rocksdb.h"
#include "store_bench.h"

const Table BENCH_VOTERS = {.number = TABLE_FIRST_FOR_TESTS + 100,
                            .name = "bench_voters",
                            .kind = TABLE_CONDITIONAL,
                            .row = "voter",
                            .columns = "head, s/policy, z/seq",
                            .writer = "the benchmark"};
const Table BENCH_TALLY = {.number = TABLE_FIRST_FOR_TESTS + 101,
                           .name = "bench_tally",
                           .kind = TABLE_PLAIN,
                           .row = "policy",
                           .columns = "voter",
                           .writer = "the benchmark"};
const Table BENCH_MARKS = {.number = TABLE_FIRST_FOR_TESTS + 102,
                           .name = "bench_marks",
                           .kind = TABLE_PLAIN,
                           .row = "voter",
                           .columns = "m/number",
                           .writer = "the benchmark"};
static const Table *const ALL_TABLES[] = {&BENCH_VOTERS, &BENCH_TALLY, &BENCH_MARKS};
const TableSet BENCH_TABLES = {ALL_TABLES, 3};

typedef uint64_t Step(void *state);

static void run(StoreBench *bench, const BenchLoad *wanted, Step *step)
{
    BenchLoad load = *wanted;
    load.context = bench;
    load.begin = store_client_begin;
    load.step = step;
    load.end = store_client_end;
    bench->runs++;
    BenchResult result;
    bench_run(&load, &result);
    bench_print(&result);
}

static void timed(void *context, int clients, int64_t duration_ms, Step *step)
{
    run(context, &(BenchLoad){.clients = clients, .duration_ms = duration_ms}, step);
}

/* Many clients, so that many voters share one sync. */
static void preload(void *context, int64_t unused)
{
    StoreBench *bench = context;
    (void)unused;
    atomic_store(&bench->next, 0);
    run(bench, &(BenchLoad){.clients = 4 * bench->clients, .steps = bench->voters},
        store_preload_voter);
}

static void preload_tally(void *context, int64_t count)
{
    StoreBench *bench = context;
    atomic_store(&bench->next, 0);
    bench->tally = (uint64_t)count;
    run(bench, &(BenchLoad){.clients = 2, .steps = (uint64_t)count / 1000}, store_preload_tally);
}

static void age(void *context, int64_t count)
{
    StoreBench *bench = context;
    run(bench, &(BenchLoad){.clients = bench->clients, .steps = (uint64_t)count}, store_save);
}

static void settle(void *context, int64_t unused)
{
    const StoreBench *bench = context;
    (void)unused;
    bench_settle(bench->store);
    printf("{}\n");
}

static void describe(void *context, int64_t unused)
{
    (void)unused;
    bare_describe(context);
    printf("{}\n");
}

/* Every save left one log entry and raised one head by one: nothing was acknowledged and not done. */
static void check(void *context, int64_t unused)
{
    StoreBench *bench = context;
    ARENA_SCOPE Arena *arena = arena_new();
    char kept[64];
    Slice position = SLICE_EMPTY;
    uint64_t entries = 0, seq = 0;
    (void)unused;
    for (ScanPage page = {.more = true}; page.more;) {
        arena_reset(arena);
        if (store_scan(bench->store, &BENCH_VOTERS, position, 1000, arena, &page) != STATUS_OK)
            bench_fail("the check could not scan");
        for (size_t i = 0; i < page.count; i++) {
            const Cell *cell = &page.cells[i].cell;
            entries += slice_starts_with(cell->column, BENCH_LOG);
            seq += slice_equal(cell->column, BENCH_HEAD) ? bytes_get_u64(cell->value.data) : 0;
        }
        CHECK(page.position.size <= sizeof kept);
        memcpy(kept, page.position.data, page.position.size);
        position = slice_of(kept, page.position.size);
    }
    printf("{\"entries\": %" PRIu64 ", \"seq\": %" PRIu64 "}\n", entries, seq);
}

#define BY_CLIENTS(name, step)                                      \
    static void name(void *context, int64_t ms)                     \
    {                                                               \
        timed(context, ((StoreBench *)context)->clients, ms, step); \
    }
#define BY_READERS(name)                              \
    static void run_##name(void *context, int64_t ms) \
    {                                                 \
        timed(context, BENCH_READERS, ms, name);      \
    }

BY_CLIENTS(saves, store_save)
BY_CLIENTS(plain, store_write_plain)
BY_CLIENTS(lazy, store_write_lazy)
BY_READERS(store_read_cell)
BY_READERS(store_read_row)
BY_READERS(store_read_page)
BY_READERS(store_read_scan)
BY_READERS(bare_read_cell)
BY_READERS(bare_read_row)
BY_READERS(bare_read_page)
BY_READERS(bare_read_scan)

static const BenchCommand COMMANDS[] = {
    {"preload", preload},
    {"preload_tally", preload_tally},
    {"age", age},
    {"settle", settle},
    {"describe", describe},
    {"check", check},
    {"saves", saves},
    {"plain", plain},
    {"lazy", lazy},
    {"cell", run_store_read_cell},
    {"row", run_store_read_row},
    {"page", run_store_read_page},
    {"scan", run_store_read_scan},
    {"bare_cell", run_bare_read_cell},
    {"bare_row", run_bare_read_row},
    {"bare_page", run_bare_read_page},
    {"bare_scan", run_bare_read_scan},
    {NULL, NULL},
};

int main(int count, char **words)
{
    if (count != 5)
        bench_fail("usage: bench_store DIRECTORY VOTERS CLIENTS CACHE_MIB");
    StoreBench bench = {.voters = strtoull(words[2], NULL, 10),
                        .clients = (int)strtol(words[3], NULL, 10)};
    RocksdbOptions options = {.directory = words[1],
                              .create = true,
                              .cache_bytes = strtoull(words[4], NULL, 10) << 20,
                              .write_buffer_bytes = 64 << 20,
                              .grace_s = 10 * S_PER_DAY,
                              .reopen_s = 5,
                              .world = world_real(),
                              .tables = BENCH_TABLES};
    Reason reason = {0};
    if (store_rocksdb_open(&options, &bench.store, &reason) != STATUS_OK)
        bench_fail("the store does not open: %s", reason.rule);
    bench_obey(COMMANDS, &bench);
    store_close(bench.store);
    return 0;
}
