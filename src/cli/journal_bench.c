/* journal_bench.c -- `journal bench`: a bounded load on a listener that runs. See journal_commands.h.
 *
 * A thread for each client, each with a connection of the client library, three parts one after the other: puts, claim + done of what was put, and full cycles.
 * All of it happens in a tube of its own with a random name, so that nobody's work is disturbed; what is left in it is removed at the end. */
#include <ostraka-journal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/threads.h"
#include "cli/journal_commands.h"
#include "net/address.h"
#include "net/listen.h"

enum {
    CLIENTS_MAX = 64,
    SECONDS_MAX = 60,
    BYTES_MAX = 65535,
    STEPS_MAX = 1000000, /* of all clients in a part */
    EMPTY_S = 60,
    LEASE_MS = 60000,
};

typedef struct Bench {
    Context *context;
    const char *address;
    char tube[40];
    int64_t clients, seconds, bytes;
    char *data;
} Bench;

typedef struct BenchClient BenchClient;
/* One unit; false: there is none left, or it failed. */
typedef bool BenchStep(BenchClient *client);

struct BenchClient {
    const Bench *bench;
    OstrakaJournal *journal;
    pthread_t thread;
    BenchStep *step;
    int64_t until_us;
    uint32_t *spans_us; /* of each unit */
    size_t count, most;
    char failure[400]; /* empty: none */
};

typedef struct BenchResult {
    uint64_t units;
    int64_t rate, p50_us, p99_us;
} BenchResult;

/* ---- Units ------------------------------------------------------------------------------------------------------- */

static bool failed(BenchClient *client, const char *what, OstrakaJournalStatus status)
{
    snprintf(client->failure, sizeof client->failure, "%s: %s: %s", what,
             ostraka_journal_status_name(status), ostraka_journal_error(client->journal));
    return false;
}

static bool step_put(BenchClient *client)
{
    const Bench *bench = client->bench;
    const OstrakaJournalPut put = {
        .journal = bench->tube, .data = bench->data, .data_bytes = (size_t)bench->bytes};
    OstrakaJournalStatus status = ostraka_journal_put(client->journal, &put, NULL);
    return status == OSTRAKA_JOURNAL_OK || failed(client, "put", status);
}

/* Claims and ends up to so many; false when there was none. */
static bool work(BenchClient *client, uint32_t count)
{
    OstrakaJournalStep steps[OSTRAKA_JOURNAL_CLAIM_MAX];
    const char *name = client->bench->tube;
    const OstrakaJournalClaim claim = {
        .journals = &name, .journal_count = 1, .count = count, .lease_ms = LEASE_MS};
    OstrakaJournalClaims claims;
    OstrakaJournalStatus status = ostraka_journal_claim(client->journal, &claim, &claims);
    if (status != OSTRAKA_JOURNAL_OK)
        return failed(client, "claim", status);
    for (size_t i = 0; i < claims.count; i++)
        steps[i] = (OstrakaJournalStep){.token = claims.entries[i].token};
    if (claims.count == 0)
        return false;
    status = ostraka_journal_done(client->journal, steps, claims.count);
    return status == OSTRAKA_JOURNAL_OK || failed(client, "done", status);
}

static bool step_work(BenchClient *client)
{
    return work(client, 1);
}

/* Another client may work off what this one put; then there is another's. */
static bool step_cycle(BenchClient *client)
{
    return step_put(client) && (work(client, 1) || client->failure[0] == '\0');
}

static bool step_empty(BenchClient *client)
{
    return work(client, OSTRAKA_JOURNAL_CLAIM_MAX);
}

/* ---- A part ------------------------------------------------------------------------------------------------------ */

static void *run_client(void *argument)
{
    BenchClient *client = argument;
    Clock clock = client->bench->context->world.clock;
    for (int64_t now_us = clock_steady_us(clock); client->count < client->most;) {
        int64_t began_us = now_us;
        if (now_us >= client->until_us || !client->step(client))
            break;
        now_us = clock_steady_us(clock);
        int64_t span_us = now_us - began_us;
        client->spans_us[client->count++] = span_us < UINT32_MAX ? (uint32_t)span_us : UINT32_MAX;
    }
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static void sum_up(const BenchClient *clients, size_t count, int64_t took_us,
                   BenchResult *ret_result)
{
    BenchResult result = {0};
    for (size_t i = 0; i < count; i++)
        result.units += clients[i].count;
    uint32_t *all = malloc((result.units + 1) * sizeof *all);
    CHECK(all != NULL);
    for (size_t i = 0, at = 0; i < count; at += clients[i++].count)
        memcpy(all + at, clients[i].spans_us, clients[i].count * sizeof *all);
    qsort(all, result.units, sizeof *all, by_size);
    result.rate = took_us > 0 ? (int64_t)result.units * US_PER_S / took_us : 0;
    result.p50_us = result.units > 0 ? all[(result.units - 1) / 2] : 0;
    result.p99_us = result.units > 0 ? all[(result.units - 1) * 99 / 100] : 0;
    free(all);
    *ret_result = result;
}

static Status run_part(const Bench *bench, BenchStep *step, size_t count, int64_t seconds,
                       BenchResult *ret_result, Reason *reason)
{
    static BenchClient clients[CLIENTS_MAX];
    Clock clock = bench->context->world.clock;
    Status status = STATUS_OK;
    int64_t began_us = clock_steady_us(clock);
    const OstrakaJournalOptions options = {.address = bench->address};
    for (size_t i = 0; i < count; i++) {
        clients[i] = (BenchClient){.bench = bench,
                                   .step = step,
                                   .until_us = began_us + seconds * US_PER_S,
                                   .most = STEPS_MAX / count};
        clients[i].spans_us = malloc(clients[i].most * sizeof *clients[i].spans_us);
        CHECK(clients[i].spans_us != NULL);
        CHECK(ostraka_journal_open(&options, &clients[i].journal) == OSTRAKA_JOURNAL_OK);
        clients[i].thread = thread_start(THREAD_JOURNAL_BENCH, run_client, &clients[i]);
    }
    for (size_t i = 0; i < count; i++)
        pthread_join(clients[i].thread, NULL);
    sum_up(clients, count, clock_steady_us(clock) - began_us, ret_result);
    for (size_t i = 0; i < count; i++) {
        if (clients[i].failure[0] != '\0' && status == STATUS_OK)
            status = reason_set(reason, STATUS_UNAVAILABLE, "", "%s", clients[i].failure);
        ostraka_journal_close(clients[i].journal);
        free(clients[i].spans_us);
    }
    return status;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static Status number_of(const Context *context, const char *flag, int64_t usual, int64_t least,
                        int64_t most, int64_t *ret_number, Reason *reason)
{
    Slice text = command_flag(context, flag);
    uint64_t number = (uint64_t)usual;
    if (text.data != NULL && (slice_to_u64(text, &number) != STATUS_OK ||
                              number < (uint64_t)least || number > (uint64_t)most))
        return reason_set(reason, STATUS_INVALID, "", "--%s takes a number from %lld to %lld", flag,
                          (long long)least, (long long)most);
    *ret_number = (int64_t)number;
    return STATUS_OK;
}

/* A load is for one's own machine, unless it is said. */
static Status check_address(const Context *context, Slice address, Reason *reason)
{
    NetPlace place;
    OstrakaJournal *journal;
    if (!slice_starts_with(address, SLICE("unix:"))) {
        TRY(net_parse_place(address, &place, reason));
        if (!address_names_loopback(slice_from(place.host)) &&
            command_flag(context, "open").data == NULL)
            return reason_set(reason, STATUS_INVALID, "",
                              "--at %.*s is not on loopback: say --open if that is meant",
                              SLICE_ARG(address));
    }
    const OstrakaJournalOptions options = {.address = arena_text(context->arena, address)};
    if (ostraka_journal_open(&options, &journal) != OSTRAKA_JOURNAL_OK)
        return reason_set(reason, STATUS_INVALID, "", "--at takes HOST:PORT or unix:PATH");
    ostraka_journal_close(journal);
    return STATUS_OK;
}

static Status read_bench(Context *context, Bench *bench, Reason *reason)
{
    Slice address = command_flag(context, "at");
    if (address.data == NULL)
        address = SLICE("127.0.0.1:11300");
    TRY(number_of(context, "clients", 8, 1, CLIENTS_MAX, &bench->clients, reason));
    TRY(number_of(context, "seconds", 5, 1, SECONDS_MAX, &bench->seconds, reason));
    TRY(number_of(context, "bytes", 100, 0, BYTES_MAX, &bench->bytes, reason));
    TRY(check_address(context, address, reason));
    bench->context = context;
    bench->address = arena_text(context->arena, address);
    bench->data = arena_bytes(context->arena, (size_t)bench->bytes + 1);
    memset(bench->data, 'x', (size_t)bench->bytes);
    snprintf(bench->tube, sizeof bench->tube, "bench-%016llx",
             (unsigned long long)random_u64(context->world.random));
    return STATUS_OK;
}

static void print_part(Context *context, const char *name, const BenchResult *result)
{
    if (context->parsed.json) {
        BUFFER_SCOPE Buffer line = {0};
        JsonWriter writer = json_writer(&line);
        json_object_begin(&writer);
        json_member_text(&writer, "part", name);
        json_member_i64(&writer, "units", (int64_t)result->units);
        json_member_i64(&writer, "per_second", result->rate);
        json_member_i64(&writer, "p50_us", result->p50_us);
        json_member_i64(&writer, "p99_us", result->p99_us);
        json_object_end(&writer);
        command_json(context, &line);
        return;
    }
    command_print(context, "%-12s  %8llu  %8lld/s  p50 %8.2f ms  p99 %8.2f ms\n", name,
                  (unsigned long long)result->units, (long long)result->rate,
                  (double)result->p50_us / 1e3, (double)result->p99_us / 1e3);
}

static Status run_parts(Context *context, const Bench *bench, Reason *reason)
{
    static const struct {
        const char *name;
        BenchStep *step;
    } PARTS[] = {{"put", step_put}, {"claim + done", step_work}, {"full cycle", step_cycle}};
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        BenchResult result;
        TRY(run_part(bench, PARTS[i].step, (size_t)bench->clients, bench->seconds, &result,
                     reason));
        print_part(context, PARTS[i].name, &result);
    }
    return STATUS_OK;
}

int run_journal_bench(Context *context)
{
    Bench bench = {0};
    Reason reason = {0}, later = {0};
    BenchResult unused;
    Status status = read_bench(context, &bench, &reason);
    if (status != STATUS_OK) {
        (void)command_fail(context, status, &reason);
        return EXIT_USAGE;
    }
    status = run_parts(context, &bench, &reason);
    Status emptied = run_part(&bench, step_empty, 1, EMPTY_S, &unused, &later);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    return emptied == STATUS_OK ? EXIT_DONE : command_fail(context, emptied, &later);
}
