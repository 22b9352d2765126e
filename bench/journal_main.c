/* journal_main.c -- our side of the journal's benchmark: the C functions, in this process (bench/journal.py).
 *
 *     bench_journal DIRECTORY CLIENTS
 * Commands: puts MS, work MS (claim and done), cycle MS (put, claim, done), claims N (claim alone, by one client), later N (entries an hour
 * ahead), empty, wakes N (timed entries and one waiter: how late they come), reopen, memory. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "journal/engine.h"

enum { DATA = 100, MANY = 500 };

typedef struct JournalBench {
    const char *directory;
    int clients;
    Journals *journals;
    JournalOwner *owner;
} JournalBench;

typedef struct JournalClient {
    JournalBench *bench;
    Arena *arena;
} JournalClient;

static const Slice NAME = {"j", 1};
static char data[DATA];

static void expect(Status status, const Reason *reason)
{
    if (status != STATUS_OK)
        bench_fail("%s: %s", status_name(status), reason->rule);
}

static void open_journals(JournalBench *bench)
{
    Reason reason = {0};
    JournalsOptions options = {.directory = bench->directory,
                               .declaration =
                                   SLICE("[journal j]\nmax_entries = 10000000\nlease_s = 3600\n"),
                               .world = world_real(),
                               .cache_bytes = 16 << 20,
                               .reopen_s = 5};
    expect(journals_open(&options, &bench->journals, &reason), &reason);
}

static void *client_begin(void *context, int client)
{
    JournalClient *self = calloc(1, sizeof *self);
    (void)client;
    if (self == NULL)
        bench_fail("no memory");
    *self = (JournalClient){context, arena_new()};
    return self;
}

static void client_end(void *state)
{
    JournalClient *self = state;
    arena_free(self->arena);
    free(self);
}

static uint64_t put(void *state)
{
    JournalClient *self = state;
    JournalPut request = {.journal = NAME, .data = slice_of(data, sizeof data)};
    JournalAnswer answer;
    Reason reason;
    expect(journal_put(self->bench->journals, &request, &answer, &reason), &reason);
    return 1;
}

static bool claim_one(JournalClient *self, JournalToken *ret_token)
{
    JournalClaim claim = {.journals = &NAME,
                          .journal_count = 1,
                          .max_priority = UINT32_MAX,
                          .owner = self->bench->owner};
    JournalClaims claims;
    Reason reason;
    arena_reset(self->arena);
    expect(journal_claim(self->bench->journals, &claim, self->arena, &claims, &reason), &reason);
    if (claims.count == 0)
        return false;
    *ret_token = claims.entries[0].token;
    return true;
}

static uint64_t claim_alone(void *state)
{
    JournalToken token;
    return claim_one(state, &token);
}

static uint64_t work(void *state)
{
    JournalClient *self = state;
    JournalStep step = {0};
    Reason reason;
    if (!claim_one(self, &step.token))
        return 0;
    expect(journal_done(self->bench->journals, &step, 1, &reason), &reason);
    return 1;
}

static uint64_t cycle(void *state)
{
    return put(state) & work(state);
}

static void run(JournalBench *bench, uint64_t (*step)(void *), int clients, int64_t ms,
                uint64_t steps)
{
    BenchLoad load = {.clients = clients,
                      .duration_ms = ms,
                      .steps = steps,
                      .context = bench,
                      .begin = client_begin,
                      .step = step,
                      .end = client_end};
    BenchResult result;
    bench_run(&load, &result);
    bench_print(&result);
}

static void command_puts(void *context, int64_t ms)
{
    run(context, put, ((JournalBench *)context)->clients, ms, 0);
}

static void command_work(void *context, int64_t ms)
{
    run(context, work, ((JournalBench *)context)->clients, ms, 0);
}

static void command_cycle(void *context, int64_t ms)
{
    run(context, cycle, ((JournalBench *)context)->clients, ms, 0);
}

static void put_many(JournalBench *bench, int64_t count, int64_t wanted_ms, int64_t apart_ms)
{
    static JournalPut puts[MANY];
    static JournalAnswer answers[MANY];
    Reason reason;
    for (int64_t done = 0; done < count; done += MANY) {
        for (size_t i = 0; i < MANY; i++)
            puts[i] = (JournalPut){
                .journal = NAME,
                .data = slice_of(data, sizeof data),
                .wanted_ms = wanted_ms == 0 ? 0 : wanted_ms + (done + (int64_t)i) * apart_ms,
                .lazy = true};
        size_t many = count - done < MANY ? (size_t)(count - done) : MANY;
        expect(journal_put_many(bench->journals, puts, many, answers, &reason), &reason);
    }
}

static int64_t wall_ms(void)
{
    return clock_now_us(world_real().clock) / US_PER_MS;
}

/* Claims are given back by their owner's end, so that the next turn finds the same. */
static void command_claims(void *context, int64_t count)
{
    JournalBench *bench = context;
    put_many(bench, count, 0, 0);
    bench->owner = journal_owner_new(bench->journals);
    run(bench, claim_alone, 1, 0, (uint64_t)count);
    journal_owner_end(bench->owner);
    bench->owner = NULL;
}

static void command_later(void *context, int64_t count)
{
    int64_t began_ns = bench_now_ns();
    put_many(context, count, wall_ms() + 3600 * 1000, 0);
    printf("{\"units\": %lld, \"seconds\": %.3f}\n", (long long)count,
           (double)(bench_now_ns() - began_ns) / 1e9);
}

static void command_empty(void *context, int64_t unused)
{
    JournalBench *bench = context;
    JournalClaim claim = {
        .journals = &NAME, .journal_count = 1, .count = MANY, .max_priority = UINT32_MAX};
    (void)unused;
    for (;;) {
        ARENA_SCOPE Arena *arena = arena_new();
        JournalClaims claims;
        JournalStep steps[MANY] = {0};
        Reason reason;
        expect(journal_claim(bench->journals, &claim, arena, &claims, &reason), &reason);
        if (claims.count == 0)
            break;
        for (size_t i = 0; i < claims.count; i++)
            steps[i].token = claims.entries[i].token;
        expect(journal_done(bench->journals, steps, claims.count, &reason), &reason);
    }
    printf("{}\n");
}

/* One waiter; it ends them all afterwards, so that no sync of its own keeps it from the next. */
static void command_wakes(void *context, int64_t count)
{
    static JournalStep steps[JOURNAL_MANY_MAX];
    JournalBench *bench = context;
    BenchHistogram late = {.total = 0};
    ARENA_SCOPE Arena *arena = arena_new();
    Reason reason;
    if (count > JOURNAL_MANY_MAX)
        bench_fail("at most %d", JOURNAL_MANY_MAX);
    put_many(bench, count, wall_ms() + 1000, 7);
    for (int64_t i = 0; i < count; i++) {
        JournalClaim claim = {
            .journals = &NAME, .journal_count = 1, .max_priority = UINT32_MAX, .wait_ms = 30000};
        JournalClaims claims;
        expect(journal_claim(bench->journals, &claim, arena, &claims, &reason), &reason);
        if (claims.count != 1)
            bench_fail("a timed entry did not come");
        int64_t now_us = clock_now_us(world_real().clock);
        int64_t late_us = now_us - claims.entries[0].process_ms * US_PER_MS;
        if (late_us < 0)
            bench_fail("an entry came early");
        bench_histogram_add(&late, (uint64_t)late_us * 1000);
        steps[i] = (JournalStep){.token = claims.entries[0].token};
    }
    expect(journal_done(bench->journals, steps, (size_t)count, &reason), &reason);
    printf("{\"units\": %lld, \"p50_us\": %.1f, \"p99_us\": %.1f}\n", (long long)count,
           bench_histogram_us(&late, 0.5), bench_histogram_us(&late, 0.99));
}

static void command_reopen(void *context, int64_t unused)
{
    JournalBench *bench = context;
    JournalsHealth health;
    (void)unused;
    journals_close(bench->journals);
    int64_t began_ns = bench_now_ns();
    open_journals(bench);
    double seconds = (double)(bench_now_ns() - began_ns) / 1e9;
    journals_health(bench->journals, &health);
    printf("{\"units\": %llu, \"seconds\": %.3f}\n", (unsigned long long)health.entries, seconds);
}

static void command_memory(void *context, int64_t unused)
{
    JournalsHealth health;
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    (void)unused;
    if (file == NULL || fscanf(file, "%ld %ld", &pages, &resident) != 2)
        bench_fail("/proc/self/statm cannot be read");
    fclose(file);
    journals_health(((JournalBench *)context)->journals, &health);
    printf("{\"resident\": %ld, \"entries\": %llu, \"files\": %llu}\n",
           resident * sysconf(_SC_PAGESIZE), (unsigned long long)health.entries,
           (unsigned long long)health.file_bytes);
}

int main(int count, char **words)
{
    static const BenchCommand COMMANDS[] = {{"puts", command_puts},     {"work", command_work},
                                            {"cycle", command_cycle},   {"claims", command_claims},
                                            {"later", command_later},   {"empty", command_empty},
                                            {"wakes", command_wakes},   {"reopen", command_reopen},
                                            {"memory", command_memory}, {NULL, NULL}};
    if (count != 3)
        bench_fail("usage: bench_journal DIRECTORY CLIENTS");
    JournalBench bench = {.directory = words[1], .clients = atoi(words[2])};
    memset(data, 'x', sizeof data);
    open_journals(&bench);
    bench_obey(COMMANDS, &bench);
    journals_close(bench.journals);
    return 0;
}
