/* rank_main.c -- questions to a ranking of very many policies.
 *
 *     bench_rank DIRECTORY POLICIES CACHE_MIB
 * `preload` creates the policies and writes their totals as the projection leaves them; `load` reads them into the ranking; the others ask,
 * from one thread, for as many milliseconds as they are told. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ledger_bench.h"
#include "ranking/ranking.h"
#include "votes/ledger.h"

enum { LOADERS = 16, BATCH = 1000, TOP = 50, WINDOW_DAYS = 3 };

typedef struct RankBench {
    LedgerBench ledger;
    Ranking *ranking;
    RankQuery query;
} RankBench;

static void expect(Status status, const char *what)
{
    if (status != STATUS_OK)
        bench_fail("%s: %s", what, status_name(status));
}

/* ---- Loading ------------------------------------------------------------------------------------------------ */

static Slice sum_of(BenchRandom *random, int64_t now_us, Arena *arena)
{
    BUFFER_SCOPE Buffer buffer = {0};
    Sum sum = {.ver = 1, .count = {.day = count_day(now_us)}};
    for (int day = 0; day < WINDOW_DAYS; day++)
        sum.count.days[day] = (int64_t)bench_random_below(random, 1000);
    sum.count.total = 3000 + (int64_t)bench_random_below(random, 1000000);
    ledger_put_sum(&buffer, &sum);
    return arena_copy(arena, buffer_slice(&buffer));
}

static void write_totals(RankBench *bench)
{
    ARENA_SCOPE Arena *arena = arena_new();
    BenchRandom random = bench_random(1);
    int64_t now_us = clock_now_us(world_real().clock);
    uint64_t policies = bench->ledger.policy_count;
    for (uint64_t policy = 1; policy <= policies;) {
        RowChange *changes = ARENA_ARRAY(arena, BATCH, RowChange);
        size_t count = 0;
        for (; count < BATCH && policy <= policies; policy++)
            changes[count++] = (RowChange){&TABLE_POLICY_TOTALS,
                                           ledger_totals_row(arena, 0, policy),
                                           {.column = slice_of("\0", 1),
                                            .value = sum_of(&random, now_us, arena),
                                            .timestamp = 1}};
        expect(store_write(bench->ledger.store, &(Batch){changes, count, true}), "totals");
        arena_reset(arena);
    }
}

static void preload(void *context, int64_t unused)
{
    RankBench *bench = context;
    BenchResult result;
    (void)unused;
    ledger_open(&bench->ledger, true);
    BenchLoad load = {.clients = LOADERS,
                      .steps = bench->ledger.policy_count,
                      .context = &bench->ledger,
                      .begin = ledger_client_begin,
                      .step = ledger_add_policy,
                      .end = ledger_client_end};
    bench_run(&load, &result);
    write_totals(bench);
    ledger_close(&bench->ledger);
    ledger_open(&bench->ledger, false);
    bench->ranking = ranking_new(&(RankingOptions){.store = bench->ledger.store,
                                                   .world = world_real(),
                                                   .policies = bench->ledger.policies,
                                                   .window_days = WINDOW_DAYS});
    bench_print(&result);
}

static void load(void *context, int64_t unused)
{
    RankBench *bench = context;
    (void)unused;
    int64_t began = bench_now_ns();
    expect(ranking_load(bench->ranking, bench->ledger.votes), "loading the ranking");
    printf("{\"seconds\": %.3f}\n", (double)(bench_now_ns() - began) / 1e9);
}

/* ---- Questions ---------------------------------------------------------------------------------------------- */

typedef struct Asker {
    RankBench *bench;
    Arena *arena;
    BenchRandom random;
} Asker;

static void *asker_begin(void *context, int client)
{
    Asker *asker = calloc(1, sizeof *asker);
    CHECK(asker != NULL);
    *asker = (Asker){context, arena_new(), bench_random((uint64_t)client + 99)};
    return asker;
}

static void asker_end(void *state)
{
    Asker *asker = state;
    arena_free(asker->arena);
    free(asker);
}

static uint64_t ask_place(void *state)
{
    Asker *asker = state;
    RankPlace place;
    uint64_t policy = 1 + bench_random_below(&asker->random, asker->bench->ledger.policy_count);
    expect(ranking_place(asker->bench->ranking, &asker->bench->query, policy, &place), "a place");
    return 1;
}

static uint64_t ask_page(Asker *asker, uint64_t offset)
{
    RankPage page;
    arena_reset(asker->arena);
    expect(
        ranking_page(asker->bench->ranking, &asker->bench->query, offset, TOP, asker->arena, &page),
        "a page");
    if (page.count != TOP || page.rows[0].rank != offset + 1)
        bench_fail("a page is not what was asked for");
    return 1;
}

static uint64_t ask_top(void *state)
{
    return ask_page(state, 0);
}

static uint64_t ask_anywhere(void *state)
{
    Asker *asker = state;
    return ask_page(asker,
                    bench_random_below(&asker->random, asker->bench->ledger.policy_count - TOP));
}

static void ask(RankBench *bench, uint32_t days, int64_t duration_ms, uint64_t (*step)(void *))
{
    BenchResult result;
    bench->query = (RankQuery){.days = days};
    BenchLoad load = {.clients = 1,
                      .duration_ms = duration_ms,
                      .context = bench,
                      .begin = asker_begin,
                      .step = step,
                      .end = asker_end};
    bench_run(&load, &result);
    bench_print(&result);
}

static void place(void *context, int64_t ms)
{
    ask(context, 0, ms, ask_place);
}

static void place_window(void *context, int64_t ms)
{
    ask(context, WINDOW_DAYS, ms, ask_place);
}

static void top(void *context, int64_t ms)
{
    ask(context, WINDOW_DAYS, ms, ask_top);
}

static void anywhere(void *context, int64_t ms)
{
    ask(context, 0, ms, ask_anywhere);
}

static const BenchCommand COMMANDS[] = {
    {"preload", preload}, {"load", load},         {"place", place}, {"place_window", place_window},
    {"top", top},         {"anywhere", anywhere}, {NULL, NULL}};

int main(int count, char **words)
{
    if (count != 4)
        bench_fail("usage: bench_rank DIRECTORY POLICIES CACHE_MIB");
    RankBench bench = {.ledger = {.directory = words[1],
                                  .policy_count = strtoull(words[2], NULL, 10),
                                  .cache_bytes = strtoull(words[3], NULL, 10) << 20}};
    bench_obey(COMMANDS, &bench);
    if (bench.ranking != NULL) {
        ranking_free(bench.ranking);
        ledger_close(&bench.ledger);
    }
    return 0;
}
