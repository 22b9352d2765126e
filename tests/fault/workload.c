/* workload.c -- writes to a store and records the answers, or checks what became of them (workload.h).
 *
 *     workload run directory=D acks=FILE [threads=N] [ops=N] [payload=N] [run=N] [backup=D] [rounds=N]
 *     workload check directory=D acks=FILE
 *     workload restore directory=D backup=D
 * `ops` is for each thread, 0 for ever. With `rounds`, the store is closed and opened again between them; the backup is
 * taken in the middle of the first. When a call fails because of the disk, the disk is healed (fault.h) and the
 * store opened again in place; that must succeed, and so must a last write at the end.
 * Exit codes: 0 all went as promised, 1 the check found something, 2 usage, 3 the store broke a promise. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "arguments.h"
#include "fault.h"
#include "store/rocksdb/rocksdb.h"
#include "workload.h"

typedef struct Settings {
    const char *directory, *acks, *backup;
    uint64_t threads, ops, payload, run, rounds;
} Settings;

typedef struct Worker {
    pthread_t thread;
    Writer writer;
} Worker;

static Settings settings = {.threads = 1, .payload = 100, .run = 1, .rounds = 1};
static Store *store;
static int acks;
static pthread_mutex_t healing = PTHREAD_MUTEX_INITIALIZER;
static atomic_ullong answers[STATUS_COUNT];

/* The smallest write buffer that RocksDB takes, so that short runs flush and compact. */
static Status open_rocksdb(Reason *reason)
{
    RocksdbOptions options = {
        .directory = settings.directory,
        .create = true,
        .cache_bytes = 8 << 20,
        .write_buffer_bytes = 64 << 10,
        .grace_s = 10 * S_PER_DAY,
        .reopen_s = 3600, /* the workload itself says when */
        .world = world_real(),
        .tables = WORKLOAD_TABLES,
    };
    return store_rocksdb_open(&options, &store, reason);
}

/* ---- Healing ---- */

static void clear_fault(void)
{
    const FaultApi *api = fault_api();
    if (api != NULL)
        api->clear();
}

static void heal(void)
{
    Reason reason = {0};
    StoreHealth health;
    pthread_mutex_lock(&healing);
    clear_fault();
    store_health(store, &health);
    bool was_writable = health.writable;
    uint64_t generation = store_generation(store);
    Status status = store_reopen(store, &reason);
    if (status != STATUS_OK)
        workload_broken("the disk is well and the store does not open again: %s: %s",
                        status_name(status), reason.rule);
    store_health(store, &health);
    if (!health.writable && settings.threads == 1)
        workload_broken("opened again and not writable: %s", health.reason);
    if (!was_writable && store_generation(store) == generation)
        workload_broken("opened again, and what was unknown seems not to be decided");
    pthread_mutex_unlock(&healing);
}

/* Only these answers are clear ones to a write; the two that speak of the disk are followed by healing. */
static void settle(Status status)
{
    atomic_fetch_add(&answers[status], 1);
    if (status == STATUS_UNAVAILABLE || status == STATUS_UNKNOWN)
        heal();
    else if (status != STATUS_OK && status != STATUS_CONFLICT)
        workload_broken("a write was answered %s", status_name(status));
}

/* A disk error is a clear answer; anything that blames the data, which is whole, is not. */
static void open_store(void)
{
    Reason reason = {0};
    Status status = open_rocksdb(&reason);
    if (status == STATUS_OK)
        return;
    printf("open: %s: %s\n", status_name(status), reason.rule);
    if (status != STATUS_UNAVAILABLE && status != STATUS_UNKNOWN)
        workload_broken("the disk failed, and opening says %s", status_name(status));
    if (reason.rule[0] == '\0')
        workload_broken("opening failed without a reason");
    clear_fault();
    status = open_rocksdb(&reason);
    if (status != STATUS_OK)
        workload_broken("the disk is well and the store does not open: %s: %s", status_name(status),
                        reason.rule);
}

/* ---- The run ---- */

static void one_write(Writer *writer)
{
    writer->store = store;
    Written written = workload_write(writer);
    if (written.what == WROTE_NOTHING)
        heal();
    else
        settle(written.status);
}

static void *work(void *argument)
{
    Worker *worker = argument;
    for (uint64_t i = 0; settings.ops == 0 || i < settings.ops; i++)
        one_write(&worker->writer);
    return NULL;
}

static void take_backup(void)
{
    Reason reason = {0};
    Status status = store_backup(store, settings.backup, &reason);
    if (status == STATUS_OK) {
        CHECK(write(acks, "backup\n", 7) == 7);
        return;
    }
    printf("backup: %s: %s\n", status_name(status), reason.rule);
    if (status != STATUS_UNAVAILABLE && status != STATUS_UNKNOWN)
        workload_broken("the disk failed, and the backup says %s", status_name(status));
    heal();
}

static void run_round(Worker *workers, bool with_backup)
{
    for (size_t i = 0; i < settings.threads; i++)
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    for (size_t i = 0; i < settings.threads; i++)
        CHECK(pthread_join(workers[i].thread, NULL) == 0);
    if (!with_backup)
        return;
    take_backup();
    for (uint64_t i = 0; i < settings.ops; i++)
        one_write(&workers[0].writer);
}

/* Whatever happened before: with a healthy disk, writing works. */
static void last_write(Writer *writer)
{
    heal();
    writer->store = store;
    Status status = workload_write_plain(writer, 1);
    atomic_fetch_add(&answers[status], 1);
    if (status == STATUS_UNKNOWN) { /* a failure in the background shows at the next write */
        heal();
        status = workload_write_plain(writer, 1);
        atomic_fetch_add(&answers[status], 1);
    }
    if (status != STATUS_OK)
        workload_broken("the disk is well and the last write was not answered OK");
}

static int command_run(void)
{
    static Worker workers[WORKLOAD_THREADS_MAX];
    const FaultApi *api = fault_api();
    uint64_t syncs = 0;
    acks = open(settings.acks, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    CHECK(acks >= 0);
    for (uint32_t i = 0; i < settings.threads; i++)
        workers[i].writer = (Writer){.clock = world_real().clock,
                                     .acks = acks,
                                     .run = settings.run,
                                     .payload = settings.payload,
                                     .index = i,
                                     .luck = settings.run * 1000 + i,
                                     .arena = arena_new()};
    for (uint64_t round = 0; round < settings.rounds; round++) {
        open_store();
        uint64_t before = api != NULL ? api->count(FAULT_BIT(FAULT_SYNC)) : 0;
        run_round(workers, settings.backup != NULL && round == 0);
        syncs += api != NULL ? api->count(FAULT_BIT(FAULT_SYNC)) - before : 0;
        if (round + 1 == settings.rounds)
            last_write(&workers[0].writer);
        store_close(store);
    }
    printf("done: ok %llu conflict %llu unavailable %llu unknown %llu syncs %" PRIu64 "\n",
           atomic_load(&answers[STATUS_OK]), atomic_load(&answers[STATUS_CONFLICT]),
           atomic_load(&answers[STATUS_UNAVAILABLE]), atomic_load(&answers[STATUS_UNKNOWN]), syncs);
    for (size_t i = 0; i < settings.threads; i++)
        arena_free(workers[i].writer.arena);
    close(acks);
    return 0;
}

static int command_check(void)
{
    Reason reason = {0};
    size_t count;
    Record *records = workload_records(settings.acks, &count);
    Status status = open_rocksdb(&reason);
    if (status != STATUS_OK) {
        printf("does not open: %s: %s\n", status_name(status), reason.rule);
        return 1;
    }
    size_t findings = workload_check(store, records, count);
    store_close(store);
    free(records);
    printf("checked %zu records, %zu findings\n", count, findings);
    return findings > 0;
}

static int command_restore(void)
{
    Reason reason = {0};
    Status status =
        store_rocksdb_restore(settings.backup, settings.directory, world_real().disk, &reason);
    if (status != STATUS_OK)
        printf("does not restore: %s: %s\n", status_name(status), reason.rule);
    return status != STATUS_OK;
}

/* ---- The command line ---- */

static const Argument SETTINGS[] = {
    {"directory", &settings.directory, NULL, 0},
    {"acks", &settings.acks, NULL, 0},
    {"backup", &settings.backup, NULL, 0},
    {"threads", NULL, &settings.threads, WORKLOAD_THREADS_MAX},
    {"ops", NULL, &settings.ops, 0},
    {"payload", NULL, &settings.payload, 0},
    {"run", NULL, &settings.run, 0},
    {"rounds", NULL, &settings.rounds, 0},
};

static const Verb VERBS[] = {
    {"run", command_run, {&settings.directory, &settings.acks}},
    {"check", command_check, {&settings.directory, &settings.acks}},
    {"restore", command_restore, {&settings.directory, &settings.backup}},
};

int main(int count, char **words)
{
    static const Program PROGRAM = {SETTINGS, sizeof SETTINGS / sizeof *SETTINGS, VERBS,
                                    sizeof VERBS / sizeof *VERBS,
                                    "workload run|check|restore directory=D [name=value ...]"};
    return program_run(&PROGRAM, count, words);
}
