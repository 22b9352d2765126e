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
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fault.h"
#include "workload.h"

typedef struct Settings {
    const char *directory, *acks, *backup;
    uint64_t threads, ops, payload, run, rounds;
} Settings;

typedef struct Worker {
    pthread_t thread;
    uint32_t index;
    uint64_t luck;
    uint64_t versions; /* used so far */
    Arena *arena;
} Worker;

static Settings settings = {.threads = 1, .payload = 100, .run = 1, .rounds = 1};
static Store *store;
static int acks;
static pthread_mutex_t healing = PTHREAD_MUTEX_INITIALIZER;
static atomic_ullong answers[STATUS_COUNT];

_Noreturn static void broken(const char *format, ...) PRINTF_LIKE(1, 2);
_Noreturn static void broken(const char *format, ...)
{
    va_list arguments;
    printf("broken: ");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
    _exit(3);
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
    Status status = store_reopen(store, &reason);
    if (status != STATUS_OK)
        broken("the disk is well and the store does not open again: %s: %s", status_name(status),
               reason.rule);
    store_health(store, &health);
    if (!health.writable && settings.threads == 1)
        broken("opened again and not writable: %s", health.reason);
    pthread_mutex_unlock(&healing);
}

/* Only these answers are clear ones to a write; the two that speak of the disk are followed by healing. */
static void settle(Status status)
{
    atomic_fetch_add(&answers[status], 1);
    if (status == STATUS_UNAVAILABLE || status == STATUS_UNKNOWN)
        heal();
    else if (status != STATUS_OK && status != STATUS_CONFLICT)
        broken("a write was answered %s", status_name(status));
}

/* A disk error is a clear answer; anything that blames the data, which is whole, is not. */
static void open_store(void)
{
    Reason reason = {0};
    Status status = workload_open(settings.directory, &store, &reason);
    if (status == STATUS_OK)
        return;
    printf("open: %s: %s\n", status_name(status), reason.rule);
    if (status != STATUS_UNAVAILABLE && status != STATUS_UNKNOWN)
        broken("the disk failed, and opening says %s", status_name(status));
    if (reason.rule[0] == '\0')
        broken("opening failed without a reason");
    clear_fault();
    status = workload_open(settings.directory, &store, &reason);
    if (status != STATUS_OK)
        broken("the disk is well and the store does not open: %s: %s", status_name(status),
               reason.rule);
}

/* ---- Plain rows ---- */

static uint64_t next_luck(Worker *worker)
{
    uint64_t number = worker->luck += UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
    return number ^ (number >> 31);
}

static uint64_t next_version(Worker *worker)
{
    return settings.run << 40 | (uint64_t)worker->index << 32 | ++worker->versions;
}

/* One version into several rows; within each it is all or nothing. */
static void write_plain(Worker *worker, uint32_t rows)
{
    enum { CELLS = WORKLOAD_BODY + 1 };
    RowChange changes[WORKLOAD_ROWS * CELLS];
    Arena *arena = worker->arena;
    uint64_t version = next_version(worker);
    uint32_t first = (uint32_t)next_luck(worker);
    size_t count = 0;
    Slice body = workload_body(version, next_luck(worker) % (settings.payload + 1), arena);
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t row = worker->index * WORKLOAD_ROWS + (first + i) % WORKLOAD_ROWS;
        for (uint32_t k = 0; k < CELLS; k++)
            changes[count++] = (RowChange){
                &WORKLOAD_PLAIN, workload_plain_row(row, arena),
                (Change){.column = k < WORKLOAD_BODY ? workload_body_column(k, arena)
                                                     : workload_log_column(version, arena),
                         .value = k < WORKLOAD_BODY ? body : workload_body(version, 8, arena),
                         .timestamp = (int64_t)version}};
    }
    Status status = store_write(store, &(Batch){.changes = changes, .count = count});
    for (uint32_t i = 0; i < rows; i++)
        workload_record(acks, &(Record){RECORD_PLAIN,
                                        worker->index * WORKLOAD_ROWS + (first + i) % WORKLOAD_ROWS,
                                        0, version, status});
    settle(status);
}

/* ---- Chains ---- */

typedef struct Link {
    uint32_t chain;
    bool is_first;
    Slice head; /* as it stands */
    uint64_t seq, version;
} Link;

static bool read_head(Worker *worker, Link *link)
{
    Arena *arena = worker->arena;
    Read read = {&WORKLOAD_CHAIN, workload_chain_row(link->chain, arena), SLICE("head"),
                 STORE_SERIAL};
    Cell cell;
    Status status = store_read(store, &read, arena, &cell);
    link->is_first = status == STATUS_NOT_FOUND;
    if (link->is_first)
        return true;
    if (status == STATUS_UNAVAILABLE) {
        heal();
        return false;
    }
    if (status != STATUS_OK || !workload_pair_parse(cell.value, &link->seq, &link->version))
        broken("the head of chain %" PRIu32 " is answered %s", link->chain, status_name(status));
    link->head = cell.value;
    if (next_luck(worker) % 8 == 0)
        workload_record(acks,
                        &(Record){RECORD_SEEN, link->chain, link->seq, link->version, STATUS_OK});
    return true;
}

static Status send_update(Worker *worker, const Link *link, uint64_t version, bool marked)
{
    Arena *arena = worker->arena;
    Slice log = workload_log_column(link->seq + 1, arena);
    Slice body = workload_body(version, next_luck(worker) % (settings.payload + 1), arena);
    Condition condition = {SLICE("head"), link->head, link->is_first};
    Change changes[WORKLOAD_BODY + 2] = {
        {.column = SLICE("head"), .value = workload_pair(link->seq + 1, version, arena)},
        {.column = log, .value = workload_pair(version, link->version, arena)},
    };
    for (uint32_t i = 0; i < WORKLOAD_BODY; i++)
        changes[i + 2] = (Change){.column = workload_body_column(i, arena), .value = body};
    RowChange mark = {
        &WORKLOAD_PLAIN, workload_mark_row(link->chain, arena),
        (Change){.column = workload_mark_column(version, arena), .timestamp = (int64_t)version}};
    Update update = {
        .table = &WORKLOAD_CHAIN,
        .row = workload_chain_row(link->chain, arena),
        .conditions = &condition,
        .condition_count = 1,
        .changes = changes,
        .change_count = WORKLOAD_BODY + 2,
        .proof = log,
        .marks = {.changes = &mark, .count = marked ? 1 : 0},
    };
    if (next_luck(worker) % 4 != 0)
        return store_update_if(store, &update, arena, NULL);
    return store_update(store, &update, 3, arena, NULL);
}

/* `stale`: expects a head that was never there, and must not get through. */
static void extend_chain(Worker *worker, bool stale)
{
    Link link = {.chain = (uint32_t)(next_luck(worker) % WORKLOAD_CHAINS)};
    if (!read_head(worker, &link))
        return;
    uint64_t version = next_version(worker);
    bool marked = next_luck(worker) % 2 == 0;
    if (stale) {
        link.is_first = false;
        link.head = workload_pair(link.seq, version, worker->arena);
    }
    Status status = send_update(worker, &link, version, marked);
    workload_record(acks, &(Record){marked ? RECORD_MARKED : RECORD_CHAIN, link.chain, link.seq + 1,
                                    version, status});
    if (stale && status == STATUS_OK)
        broken("an update whose condition is false was answered OK");
    settle(status);
}

/* ---- The run ---- */

static void one_write(Worker *worker)
{
    uint64_t choice = next_luck(worker) % 10;
    if (choice < 3)
        write_plain(worker, 1);
    else if (choice < 4)
        write_plain(worker, 3);
    else
        extend_chain(worker, choice == 9);
    arena_reset(worker->arena);
}

static void *work(void *argument)
{
    Worker *worker = argument;
    for (uint64_t i = 0; settings.ops == 0 || i < settings.ops; i++)
        one_write(worker);
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
        broken("the disk failed, and the backup says %s", status_name(status));
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
        one_write(&workers[0]);
}

/* Whatever happened before: with a healthy disk, writing works. */
static void last_write(Worker *worker)
{
    heal();
    unsigned long long before = atomic_load(&answers[STATUS_OK]);
    write_plain(worker, 1);
    if (atomic_load(&answers[STATUS_OK]) != before + 1)
        broken("the disk is well and the last write was not answered OK");
}

static int command_run(void)
{
    static Worker workers[WORKLOAD_THREADS_MOST];
    const FaultApi *api = fault_api();
    uint64_t syncs = 0;
    acks = open(settings.acks, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    CHECK(acks >= 0);
    for (uint32_t i = 0; i < settings.threads; i++)
        workers[i] = (Worker){.index = i, .luck = settings.run * 1000 + i, .arena = arena_new()};
    for (uint64_t round = 0; round < settings.rounds; round++) {
        open_store();
        uint64_t before = api != NULL ? api->count(FAULT_BIT(FAULT_SYNC)) : 0;
        run_round(workers, settings.backup != NULL && round == 0);
        syncs += api != NULL ? api->count(FAULT_BIT(FAULT_SYNC)) - before : 0;
        if (round + 1 == settings.rounds)
            last_write(&workers[0]);
        store_close(store);
    }
    printf("done: ok %llu conflict %llu unavailable %llu unknown %llu syncs %" PRIu64 "\n",
           atomic_load(&answers[STATUS_OK]), atomic_load(&answers[STATUS_CONFLICT]),
           atomic_load(&answers[STATUS_UNAVAILABLE]), atomic_load(&answers[STATUS_UNKNOWN]), syncs);
    for (size_t i = 0; i < settings.threads; i++)
        arena_free(workers[i].arena);
    close(acks);
    return 0;
}

static int command_check(void)
{
    Reason reason = {0};
    size_t count;
    Record *records = workload_records(settings.acks, &count);
    Status status = workload_open(settings.directory, &store, &reason);
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

static const struct {
    const char *name;
    const char **text;
    uint64_t *number;
} SETTINGS[] = {
    {"directory", &settings.directory, NULL},
    {"acks", &settings.acks, NULL},
    {"backup", &settings.backup, NULL},
    {"threads", NULL, &settings.threads},
    {"ops", NULL, &settings.ops},
    {"payload", NULL, &settings.payload},
    {"run", NULL, &settings.run},
    {"rounds", NULL, &settings.rounds},
};

static bool set(const char *argument)
{
    Slice rest = slice_from(argument), name;
    if (!slice_split(&rest, '=', &name))
        return false;
    for (size_t i = 0; i < sizeof SETTINGS / sizeof *SETTINGS; i++) {
        if (!slice_equal(name, slice_from(SETTINGS[i].name)))
            continue;
        if (SETTINGS[i].text != NULL)
            *SETTINGS[i].text = rest.data;
        return SETTINGS[i].text != NULL || slice_to_u64(rest, SETTINGS[i].number) == STATUS_OK;
    }
    return false;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
        bool needs_acks, needs_backup;
    } commands[] = {{"run", command_run, true, false},
                    {"check", command_check, true, false},
                    {"restore", command_restore, false, true}};
    bool good = argc > 1;
    for (int i = 2; i < argc; i++)
        good &= set(argv[i]);
    good &= settings.directory != NULL && settings.threads >= 1 &&
            settings.threads <= WORKLOAD_THREADS_MOST;
    for (size_t i = 0; good && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[1], commands[i].name) == 0 &&
            (settings.acks != NULL || !commands[i].needs_acks) &&
            (settings.backup != NULL || !commands[i].needs_backup))
            return commands[i].run();
    fprintf(stderr, "usage: workload run|check|restore directory=D [name=value ...]\n");
    return 2;
}
