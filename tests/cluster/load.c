/* load.c -- many clients on a cluster whose nodes fail, and what must be true of them afterwards.
 *
 *     load init address=A
 *     load run address=A acks=FILE [threads=N] [ops=N] [seconds=N] [deadline=MS] [settles=1] [run=N]
 *     load check address=A acks=FILE
 * The clients are those of tests/fault/workload.h, and so are the records and the check. A run ends after `ops` writes of each thread or after
 * `seconds`, whichever comes first (0: does not count), or in good order by SIGTERM. While it runs, it prints how many answers of each kind there were so far, twenty times a
 * second and with the time since the machine started, so that whoever hurts the nodes can tell what came after it:
 *     at 12.345 ok 100 conflict 3 unavailable 0 unknown 1 unread 0
 * No request may take as long as its deadline. Nobody repeats anything here: what may be sent again is the engine's to send.
 * Exit codes: 0 all went as promised, 1 the check found something, 2 usage, 3 the store broke a promise. */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fault/arguments.h"
#include "fault/workload.h"
#include "store/cassandra/cassandra.h"

enum { TICK_MS = 50, COPIES = 3 };

typedef struct Settings {
    const char *address, *acks;
    uint64_t threads, ops, seconds, deadline, settles, run, payload;
} Settings;

typedef struct Client {
    pthread_t thread;
    Writer writer;
} Client;

static Settings settings = {
    .threads = 32, .seconds = 10, .deadline = 10000, .run = 1, .payload = 100};
static Store *store;
static atomic_bool ends;
static atomic_uint running;
static atomic_ullong answers[STATUS_COUNT], unread;

/* ---- The store ---- */

static CassandraOptions options_for_address(void)
{
    Reason reason = {.rule = ""};
    CassandraOptions options = {.request_ms = (int64_t)settings.deadline,
                                .connections = 1,
                                .grace_s = 10 * S_PER_DAY,
                                .world = world_real(),
                                .tables = WORKLOAD_TABLES};
    Status status = cassandra_address(slice_from(settings.address), &options.address, &reason);
    if (status != STATUS_OK)
        workload_broken("the address: %s", reason.rule);
    return options;
}

static void open_store(void)
{
    Reason reason = {.rule = ""};
    CassandraOptions options = options_for_address();
    Status status = store_cassandra_open(&options, &store, &reason);
    if (status != STATUS_OK)
        workload_broken("does not open: %s: %s", status_name(status), reason.rule);
}

static int command_init(void)
{
    Reason reason = {.rule = ""};
    CassandraOptions options = options_for_address();
    Status status = store_cassandra_init(&options, COPIES, &reason);
    if (status != STATUS_OK)
        workload_broken("cannot be made: %s: %s", status_name(status), reason.rule);
    return 0;
}

/* ---- The run ---- */

/* The only answers that a write can have. */
static bool is_clear(Status status)
{
    return status == STATUS_OK || status == STATUS_CONFLICT || status == STATUS_UNAVAILABLE ||
           status == STATUS_UNKNOWN;
}

static void *client_main(void *argument)
{
    Client *client = argument;
    for (uint64_t i = 0; (settings.ops == 0 || i < settings.ops) && !atomic_load(&ends); i++) {
        Written written = workload_write(&client->writer);
        if (written.what == WROTE_NOTHING)
            atomic_fetch_add(&unread, 1);
        else
            atomic_fetch_add(&answers[written.status], 1);
        if (!is_clear(written.status))
            workload_broken("a write was answered %s", status_name(written.status));
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

static void say_so_far(Clock clock)
{
    printf("at %.3f ok %llu conflict %llu unavailable %llu unknown %llu unread %llu\n",
           (double)clock_steady_us(clock) / 1e6, atomic_load(&answers[STATUS_OK]),
           atomic_load(&answers[STATUS_CONFLICT]), atomic_load(&answers[STATUS_UNAVAILABLE]),
           atomic_load(&answers[STATUS_UNKNOWN]), atomic_load(&unread));
    fflush(stdout);
}

static void end_soon(int number)
{
    (void)number;
    atomic_store(&ends, true);
}

/* Until all clients have ended. */
static void watch(Clock clock)
{
    int64_t end_us = clock_steady_us(clock) + (int64_t)settings.seconds * US_PER_S;
    while (atomic_load(&running) > 0) {
        say_so_far(clock);
        clock_sleep_us(clock, TICK_MS * US_PER_MS);
        if (settings.seconds > 0 && clock_steady_us(clock) >= end_us)
            atomic_store(&ends, true);
    }
    say_so_far(clock);
}

static void check_deadlines(int64_t slowest_us)
{
    if (slowest_us >= (int64_t)settings.deadline * US_PER_MS)
        workload_broken("a request took %" PRId64 " ms, and its deadline is %" PRIu64 " ms",
                        slowest_us / US_PER_MS, settings.deadline);
}

static int command_run(void)
{
    static Client clients[WORKLOAD_THREADS_MAX];
    Clock clock = world_real().clock;
    int64_t slowest_us = 0;
    int acks = open(settings.acks, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    CHECK(acks >= 0 && signal(SIGTERM, end_soon) != SIG_ERR);
    open_store();
    atomic_store(&running, (unsigned)settings.threads);
    for (uint32_t i = 0; i < settings.threads; i++) {
        clients[i].writer = (Writer){.store = store,
                                     .clock = clock,
                                     .acks = acks,
                                     .run = settings.run,
                                     .payload = settings.payload,
                                     .index = i,
                                     .settles = settings.settles > 0,
                                     .luck = settings.run * 1000 + i,
                                     .arena = arena_new()};
        CHECK(pthread_create(&clients[i].thread, NULL, client_main, &clients[i]) == 0);
    }
    watch(clock);
    for (size_t i = 0; i < settings.threads; i++) {
        CHECK(pthread_join(clients[i].thread, NULL) == 0);
        Writer *writer = &clients[i].writer;
        slowest_us = writer->slowest_us > slowest_us ? writer->slowest_us : slowest_us;
        arena_free(writer->arena);
    }
    store_close(store);
    close(acks);
    printf("done: slowest_ms %" PRId64 "\n", slowest_us / US_PER_MS);
    check_deadlines(slowest_us);
    return 0;
}

static int command_check(void)
{
    size_t count;
    Record *records = workload_records(settings.acks, &count);
    open_store();
    size_t findings = workload_check(store, records, count);
    store_close(store);
    free(records);
    printf("checked %zu records, %zu findings\n", count, findings);
    return findings > 0;
}

/* ---- The command line ---- */

static const Argument SETTINGS[] = {
    {"address", &settings.address, NULL, 0},
    {"acks", &settings.acks, NULL, 0},
    {"threads", NULL, &settings.threads, WORKLOAD_THREADS_MAX},
    {"ops", NULL, &settings.ops, 0},
    {"seconds", NULL, &settings.seconds, 0},
    {"deadline", NULL, &settings.deadline, 0},
    {"settles", NULL, &settings.settles, 0},
    {"run", NULL, &settings.run, 0},
    {"payload", NULL, &settings.payload, 0},
};

static const Verb VERBS[] = {
    {"init", command_init, {&settings.address, NULL}},
    {"run", command_run, {&settings.address, &settings.acks}},
    {"check", command_check, {&settings.address, &settings.acks}},
};

int main(int count, char **words)
{
    static const Program PROGRAM = {SETTINGS, sizeof SETTINGS / sizeof *SETTINGS, VERBS,
                                    sizeof VERBS / sizeof *VERBS,
                                    "load init|run|check address=A [name=value ...]"};
    return program_run(&PROGRAM, count, words);
}
