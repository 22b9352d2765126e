/* ledger_main.c -- the ledger's benchmark program: opens a site without a server and obeys.
 *
 *     bench_ledger DIRECTORY VOTERS POLICIES CLIENTS CACHE_MIB
 * The directory may be a cluster's address (cassandra://…), which then is filled by `preload`.
 * The commands stand in the table at the end; the number is milliseconds for `saves`, a count for `backlog`, a policy for `recount`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ledger_bench.h"
#include "settle.h"
#include "votes/ledger.h"

enum { LOADERS = 32, BULK_LOADERS = 3 };

typedef uint64_t Step(void *state);

static double seconds_since(int64_t began_ns)
{
    return (double)(bench_now_ns() - began_ns) / 1e9;
}

static void run(LedgerBench *bench, const BenchLoad *wanted, Step *step, BenchResult *ret_result)
{
    BenchLoad load = *wanted;
    load.context = bench;
    load.begin = ledger_client_begin;
    load.step = step;
    load.end = ledger_client_end;
    bench->runs++;
    bench_run(&load, ret_result);
}

/* The same with the projector beside it, to the end of its work: time and costs are of both. */
static void run_projected(LedgerBench *bench, const BenchLoad *load, Step *step,
                          BenchResult *ret_result)
{
    BenchUsage before, after;
    bench_usage_self(NULL, &before);
    int64_t began = bench_now_ns();
    ledger_projector_start(bench);
    run(bench, load, step, ret_result);
    ledger_projector_finish(bench);
    bench_usage_self(NULL, &after);
    ret_result->seconds = seconds_since(began);
    ret_result->self = (BenchUsage){.cpu_us = after.cpu_us - before.cpu_us,
                                    .written_bytes = after.written_bytes - before.written_bytes,
                                    .syncs = after.syncs - before.syncs};
}

/* Everything through the operations, without syncs; then the site is opened as it runs. */
static void load(LedgerBench *bench, void (*voters)(LedgerBench *bench))
{
    BenchResult result;
    int64_t began = bench_now_ns();
    ledger_open(bench, true);
    atomic_store(&bench->next, 0);
    run(bench, &(BenchLoad){.clients = LOADERS, .steps = bench->policy_count}, ledger_add_policy,
        &result);
    atomic_store(&bench->next, 0);
    int64_t voters_began = bench_now_ns();
    voters(bench);
    double voters_s = seconds_since(voters_began);
    ledger_close(bench);
    ledger_open(bench, false);
    printf("{\"seconds\": %.3f, \"voters_s\": %.3f}\n", seconds_since(began), voters_s);
}

static void by_operations(LedgerBench *bench)
{
    BenchResult result;
    run_projected(bench, &(BenchLoad){.clients = LOADERS, .steps = bench->voter_count},
                  ledger_add_voter, &result);
}

static void by_rows(LedgerBench *bench)
{
    BenchResult result;
    bench->sums = calloc((bench->policy_count + 1) * COUNT_BUCKETS, sizeof *bench->sums);
    CHECK(bench->sums != NULL);
    run(bench, &(BenchLoad){.clients = BULK_LOADERS, .steps = ledger_bulk_steps(bench)},
        ledger_bulk_step, &result);
    ledger_bulk_sums(bench);
    free(bench->sums);
}

static void preload(void *context, int64_t unused)
{
    (void)unused;
    load(context, by_operations);
}

static void bulk(void *context, int64_t unused)
{
    (void)unused;
    load(context, by_rows);
}

static void saves(void *context, int64_t duration_ms)
{
    LedgerBench *bench = context;
    BenchResult result;
    run_projected(bench, &(BenchLoad){.clients = bench->clients, .duration_ms = duration_ms},
                  ledger_save, &result);
    bench_print(&result);
}

/* Saves alone, then their projection alone: what each of the two costs. */
static void backlog(void *context, int64_t count)
{
    LedgerBench *bench = context;
    BenchResult result;
    BenchUsage before, after;
    run(bench, &(BenchLoad){.clients = bench->clients, .steps = (uint64_t)count}, ledger_save,
        &result);
    bench_usage_self(NULL, &before);
    int64_t began = bench_now_ns();
    ledger_projector_start(bench);
    ledger_projector_finish(bench);
    double seconds = seconds_since(began);
    bench_usage_self(NULL, &after);
    printf("{\"units\": %" PRIu64 ", \"save_s\": %.6f, \"save_cpu_us\": %" PRId64
           ", \"project_s\": %.6f, \"project_cpu_us\": %" PRId64 "}\n",
           result.units, result.seconds, result.self.cpu_us, seconds, after.cpu_us - before.cpu_us);
}

static void settle(void *context, int64_t unused)
{
    const LedgerBench *bench = context;
    (void)unused;
    bench_settle(bench->store);
    printf("{}\n");
}

static void recount(void *context, int64_t policy)
{
    LedgerBench *bench = context;
    Recount recount;
    int64_t began = bench_now_ns();
    if (votes_recount(bench->votes, (uint64_t)policy, &recount) != STATUS_OK)
        bench_fail("the recount failed");
    if (recount.cells != recount.sums)
        bench_fail("policy %" PRId64 " has %" PRId64 " in cells and %" PRId64 " in sums", policy,
                   recount.cells, recount.sums);
    printf("{\"voters\": %" PRId64 ", \"seconds\": %.6f}\n", recount.voters, seconds_since(began));
}

/* ---- The check ---------------------------------------------------------------------------------------------- */

/* Walks over a table, page by page. */
typedef struct Walk {
    Arena *arena;
    Slice position;
    bool more;
    char kept[STORE_POSITION_MAX];
} Walk;

static void walk_on(Walk *walk, Slice position, bool more)
{
    memcpy(walk->kept, position.data, position.size);
    walk->position = slice_of(walk->kept, position.size);
    walk->more = more;
    arena_reset(walk->arena);
}

static uint64_t entries(LedgerBench *bench)
{
    Walk walk = {.arena = arena_new(), .position = SLICE_EMPTY, .more = true};
    uint64_t seq = 0;
    while (walk.more) {
        ScanPage page;
        if (store_scan(bench->store, &TABLE_VOTERS, walk.position, STORE_PAGE_MAX, walk.arena,
                       &page) != STATUS_OK)
            bench_fail("the check could not scan");
        for (size_t i = 0; i < page.count; i++) {
            LedgerHead head = {0};
            if (slice_equal(page.cells[i].cell.column, SLICE("head")) &&
                ledger_get_head(page.cells[i].cell.value, &head) != STATUS_OK)
                bench_fail("a head cannot be read");
            seq += head.seq;
        }
        walk_on(&walk, page.position, page.more);
    }
    arena_free(walk.arena);
    return seq;
}

static int64_t totals(LedgerBench *bench)
{
    Walk walk = {.arena = arena_new(), .position = SLICE_EMPTY, .more = true};
    int64_t sum = 0;
    while (walk.more) {
        PolicyCount *counts;
        size_t count;
        Slice position;
        bool more;
        if (votes_scan_counts(bench->votes, walk.position, walk.arena, &counts, &count, &position,
                              &more) != STATUS_OK)
            bench_fail("the check could not scan");
        for (size_t i = 0; i < count; i++)
            sum += counts[i].count.total;
        walk_on(&walk, position, more);
    }
    arena_free(walk.arena);
    return sum;
}

/* Every save raised one head by one, and totals are what voters hold. */
static void check(void *context, int64_t unused)
{
    LedgerBench *bench = context;
    (void)unused;
    printf("{\"seq\": %" PRIu64 ", \"totals\": %" PRId64 ", \"held\": %" PRId64 "}\n",
           entries(bench), totals(bench), electorate_held(bench->electorate));
}

static void print_metric(void *context, const char *name, const char *help, bool counter,
                         double value)
{
    bool *first = context;
    (void)help;
    (void)counter;
    printf("%s\"%s\": %.0f", *first ? "{" : ", ", name, value);
    *first = false;
}

/* What the store has counted so far. */
static void metrics(void *context, int64_t unused)
{
    const LedgerBench *bench = context;
    bool first = true;
    (void)unused;
    store_metrics(bench->store, print_metric, &first);
    printf("%s\n", first ? "{}" : "}");
}

static const BenchCommand COMMANDS[] = {
    {"preload", preload}, {"bulk", bulk},       {"saves", saves},
    {"backlog", backlog}, {"settle", settle},   {"recount", recount},
    {"check", check},     {"metrics", metrics}, {NULL, NULL}};

int main(int count, char **words)
{
    if (count != 6)
        bench_fail("usage: bench_ledger DIRECTORY VOTERS POLICIES CLIENTS CACHE_MIB");
    LedgerBench bench = {.directory = words[1],
                         .voter_count = strtoull(words[2], NULL, 10),
                         .policy_count = strtoull(words[3], NULL, 10),
                         .clients = (int)strtol(words[4], NULL, 10),
                         .cache_bytes = strtoull(words[5], NULL, 10) << 20};
    bench.electorate = electorate_new(bench.voter_count, bench.policy_count);
    bench.ids = calloc(bench.voter_count, sizeof *bench.ids);
    CHECK(bench.ids != NULL);
    bench_obey(COMMANDS, &bench);
    if (bench.store != NULL)
        ledger_close(&bench);
    free(bench.ids);
    electorate_free(bench.electorate);
    return 0;
}
