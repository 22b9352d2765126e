/* saves.c -- saves votes and records the answers, or checks what became of them (saves.h).
 *
 *     saves make directory=D [voters=N]
 *     saves run directory=D acks=FILE [voters=N] [threads=N] [seconds=N] [run=N]
 *     saves check directory=D acks=FILE
 * `run` ends after so many seconds (0: never) or in good order by SIGTERM. It starts the site as `serve` does, with its projector and its tasks. With
 * `store=cassandra://…` the site is on a cluster, several runs may go on at the same time, and as nodes may fail, no answer
 * and an unknown one are answers, too; beside the directory's place stands the key alone. Exit codes:
 * 0 all went as promised, 1 the check found something, 2 usage, 3 the ledger broke a promise. */
#include "saves.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "arguments.h"
#include "store/cassandra/cassandra.h"
#include "store/rocksdb/rocksdb.h"

/* Each run creates a few policies, so that a hundred runs leave some hundreds. */
enum { SALARY_YEARS = 20, HOT_VOTERS = 4, WISHES = 3, CREATED_MAX = 8, COPIES = 3, TOGETHER = 8 };

typedef struct Settings {
    const char *directory, *acks, *store;
    uint64_t voters, threads, seconds, run;
} Settings;

typedef struct Worker {
    pthread_t thread;
    uint64_t luck;
    Arena *arena; /* of one save */
} Worker;

static Settings settings = {.voters = SAVES_VOTERS, .threads = 16, .run = 1};
static App app;
static int acks;
static atomic_bool ends;
static atomic_ullong told[4]; /* by SaveOutcome */
static atomic_ullong unanswered;
static _Atomic uint64_t created[CREATED_MAX]; /* policies of this run */
static _Atomic size_t created_count;

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

/* ---- The site ---- */

Status saves_open(const char *directory, bool bulk, Store **ret_store, Reason *reason)
{
    RocksdbOptions options = {
        .directory = directory,
        .create = bulk,
        .bulk = bulk,
        .cache_bytes = 8 << 20,
        .write_buffer_bytes = 64 << 10,
        .grace_s = 10 * S_PER_DAY,
        .reopen_s = 3600,
        .world = world_real(),
        .tables = TABLES,
    };
    return store_rocksdb_open(&options, ret_store, reason);
}

/* A cluster's tables are made when `make` is about to fill them. */
static Status open_cluster(bool make, Store **ret_store, Reason *reason)
{
    CassandraOptions options = {.request_ms = 10000,
                                .connections = 1,
                                .grace_s = 10 * S_PER_DAY,
                                .world = world_real(),
                                .tables = TABLES};
    TRY(cassandra_address(slice_from(settings.store), &options.address, reason));
    if (make)
        TRY(store_cassandra_init(&options, COPIES, reason));
    return store_cassandra_open(&options, ret_store, reason);
}

/* Where `ostraka` looks for it, too. */
static Status open_key(bool create, Vault **ret_vault, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    const char *path = arena_text(arena, arena_print(arena, "%s.key", settings.directory));
    return create ? vault_create(world_real(), path, ret_vault, reason)
                  : vault_open(world_real(), path, ret_vault, reason);
}

static void open_site(bool bulk, bool start)
{
    Reason reason = {.rule = ""};
    Config config;
    AppParts parts = {.world = world_real(), .config = &config};
    config_defaults(&config);
    Status status = settings.store != NULL
                        ? open_cluster(bulk, &parts.store, &reason)
                        : saves_open(settings.directory, bulk, &parts.store, &reason);
    if (status == STATUS_OK)
        status = open_key(bulk, &parts.vault, &reason);
    if (status == STATUS_OK)
        status = app_open(&parts, &app, &reason);
    if (status == STATUS_OK && start)
        status = app_start(&app, NULL, "here", &reason);
    if (status != STATUS_OK)
        broken("does not open: %s: %s", status_name(status), reason.rule);
}

static void close_site(void)
{
    Store *store = app.store;
    app_close(&app);
    store_close(store);
}

static void add_voter(uint64_t number, Arena *arena)
{
    Reason reason = {.rule = ""};
    uint64_t id = 0;
    Slice name = arena_print(arena, "voter%" PRIu64, number);
    Registration registration = {.name = name,
                                 .email = arena_print(arena, "%.*s@example.org", SLICE_ARG(name)),
                                 .without_password = true,
                                 .confirmed = true,
                                 .registered_us = clock_now_us(app.world.clock) -
                                                  SALARY_YEARS * 365 * S_PER_DAY * US_PER_S,
                                 .address = SLICE_EMPTY,
                                 .cookie = SLICE_EMPTY};
    Status status = accounts_register(app.accounts, &registration, &id, &reason);
    if (status != STATUS_OK || id != number)
        broken("voter %" PRIu64 ": %s %s", number, status_name(status), reason.rule);
}

static void add_policy(uint64_t number, Arena *arena)
{
    Reason reason = {.rule = ""};
    NewPolicy policy = {.text = {.name = arena_print(arena, "Policy %" PRIu64, number),
                                 .description = SLICE("A text."),
                                 .rationale = SLICE_EMPTY,
                                 .category = 1},
                        .version = id_new(app.world.clock, app.world.random),
                        .time_us = clock_now_us(app.world.clock)};
    Status status = policies_next_id(app.policies, &policy.id);
    if (status == STATUS_OK)
        status = policies_create(app.policies, &policy, &reason);
    if (status != STATUS_OK || policy.id != number)
        broken("policy %" PRIu64 ": %s %s", number, status_name(status), reason.rule);
}

static int command_make(void)
{
    open_site(true, false);
    for (uint64_t i = 1; i <= settings.voters || i <= SAVES_POLICIES; i++) {
        ARENA_SCOPE Arena *arena = arena_new();
        if (i <= settings.voters)
            add_voter(i, arena);
        if (i <= SAVES_POLICIES)
            add_policy(i, arena);
    }
    close_site();
    return 0;
}

/* ---- Saving ---- */

/* SplitMix64. */
static uint64_t next_luck(Worker *worker)
{
    uint64_t number = worker->luck += UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
    return number ^ (number >> 31);
}

/* Some voters have many tabs open. */
static uint64_t any_voter(Worker *worker)
{
    return 1 + next_luck(worker) % (next_luck(worker) % 16 == 0 ? HOT_VOTERS : settings.voters);
}

static uint64_t any_policy(Worker *worker)
{
    size_t made = atomic_load(&created_count);
    uint64_t number =
        next_luck(worker) % (SAVES_POLICIES + (made < CREATED_MAX ? made : CREATED_MAX));
    uint64_t policy = number < SAVES_POLICIES ? 0 : atomic_load(&created[number - SAVES_POLICIES]);
    return policy != 0 ? policy : 1 + number % SAVES_POLICIES;
}

static size_t draw_wishes(Worker *worker, VoteRequest *vote_requests)
{
    size_t count = 0, wanted = 1 + next_luck(worker) % WISHES;
    for (size_t i = 0; i < wanted; i++) {
        uint64_t policy = any_policy(worker);
        bool twice = false;
        for (size_t k = 0; k < count; k++)
            twice |= vote_requests[k].policy == policy;
        if (!twice)
            vote_requests[count++] =
                (VoteRequest){.policy = policy, .held = (int64_t)(next_luck(worker) % 60)};
    }
    return count;
}

/* A form that asks for what stands already makes no entry: what was told is the head. */
static bool changed_nothing(const SaveRequest *request, const SaveResult *result)
{
    return result->outcome == SAVE_SAVED && id_equal(result->version, request->seen);
}

static SavesTold told_as(const SaveRequest *request, const SaveResult *result)
{
    if (changed_nothing(request, result))
        return SAVES_SEEN;
    return result->outcome == SAVE_SAVED ? SAVES_YES : SAVES_NO;
}

/* On a cluster some of it may be out of reach: surely not saved, and told so. */
static SaveResult no_answer(const SaveRequest *request, Status status, const Reason *reason)
{
    if (settings.store == NULL || (status != STATUS_UNAVAILABLE && status != STATUS_UNKNOWN))
        broken("a save was answered %s %s", status_name(status), reason->rule);
    if (status == STATUS_UNAVAILABLE)
        saves_record(acks, &(SavesRecord){
                               .told = SAVES_NO, .voter = request->voter, .token = request->token});
    atomic_fetch_add(&unanswered, 1);
    return (SaveResult){.outcome = SAVE_UNKNOWN};
}

/* One form of somebody's votes, and what became of it. */
typedef struct Form {
    VoteRequest vote_requests[WISHES];
    SaveRequest request;
    size_t place; /* among the created policies; CREATED_MAX: creates none */
    SaveResult result;
} Form;

/* Records what was told before anything else is done. */
static SaveResult hear(const SaveRequest *request, Status status, const SaveResult *result,
                       const Reason *reason)
{
    if (status != STATUS_OK)
        return no_answer(request, status, reason);
    atomic_fetch_add(&told[result->outcome], 1);
    if (result->outcome == SAVE_UNKNOWN) {
        if (settings.store == NULL)
            broken("a save was answered unknown, and the disk is well");
        return *result;
    }
    saves_record(acks, &(SavesRecord){.told = told_as(request, result),
                                      .voter = request->voter,
                                      .seq = result->seq,
                                      .version = result->version,
                                      .token = request->token});
    return *result;
}

/* Sends all forms by one call of the store. */
static void send(Worker *worker, Form *forms, size_t count)
{
    Save *saves[TOGETHER], *begun[TOGETHER];
    Status statuses[TOGETHER];
    Reason reasons[TOGETHER];
    size_t begun_count = 0;
    for (size_t i = 0; i < count; i++) {
        reasons[i] = (Reason){.rule = ""};
        statuses[i] =
            votes_save_begin(app.votes, &forms[i].request, worker->arena, &saves[i], &reasons[i]);
        if (statuses[i] == STATUS_OK)
            begun[begun_count++] = saves[i];
    }
    votes_save_send(begun, begun_count);
    for (size_t i = 0; i < count; i++) {
        if (statuses[i] == STATUS_OK)
            statuses[i] = votes_save_end(saves[i], &forms[i].result);
        forms[i].result = hear(&forms[i].request, statuses[i], &forms[i].result, &reasons[i]);
    }
}

/* The same form again: the same save. */
static void send_again(Worker *worker, const Form *first)
{
    Form again = *first;
    send(worker, &again, 1);
    if (settings.store != NULL && again.result.outcome == SAVE_UNKNOWN)
        return;
    if (again.result.outcome != SAVE_SAVED || again.result.seq != first->result.seq ||
        !id_equal(again.result.version, first->result.version))
        broken("a form that was saved is answered \"%s\" when it is sent again",
               save_outcome_text(again.result.outcome));
}

static const PolicyText NEW_POLICY = {.name = {"A new policy", 12},
                                      .description = {"A text.", 7},
                                      .rationale = {"", 0},
                                      .category = 1};

static bool fill(Worker *worker, Form *form)
{
    VoterState state;
    uint64_t voter = any_voter(worker);
    if (votes_show(app.votes, voter, worker->arena, &state) != STATUS_OK) {
        if (settings.store == NULL)
            broken("voter %" PRIu64 " cannot be read", voter);
        atomic_fetch_add(&unanswered, 1);
        return false;
    }
    if (next_luck(worker) % 8 == 0)
        saves_record(acks, &(SavesRecord){.told = SAVES_SEEN,
                                          .voter = voter,
                                          .seq = state.seq,
                                          .version = state.version});
    form->request = (SaveRequest){.voter = voter,
                                  .seen = state.version,
                                  .token = id_new(app.world.clock, app.world.random),
                                  .vote_requests = form->vote_requests};
    form->request.vote_request_count = draw_wishes(worker, form->vote_requests);
    if (next_luck(worker) % 16 == 0)
        form->request.seen = id_new(app.world.clock, app.world.random); /* what nobody ever saw */
    bool creates = next_luck(worker) % 64 == 0;
    form->place = creates ? atomic_fetch_add(&created_count, 1) : CREATED_MAX;
    if (form->place < CREATED_MAX) {
        form->request.create = &NEW_POLICY;
        form->request.create_held = 100;
    }
    return true;
}

/* Half of the time several forms at once, as the site does it; some of them are of the same voter. */
static void save_some(Worker *worker)
{
    Form forms[TOGETHER];
    size_t wanted = next_luck(worker) % 2 == 0 ? 1 : 1 + next_luck(worker) % TOGETHER, count = 0;
    for (size_t i = 0; i < wanted; i++)
        count += fill(worker, &forms[count]);
    send(worker, forms, count);
    for (size_t i = 0; i < count; i++) {
        const Form *form = &forms[i];
        if (form->result.outcome != SAVE_SAVED || changed_nothing(&form->request, &form->result))
            continue;
        if (form->place < CREATED_MAX)
            atomic_store(&created[form->place], form->result.created);
        if (next_luck(worker) % 8 == 0)
            send_again(worker, form);
    }
}

static void *work(void *argument)
{
    Worker *worker = argument;
    while (!atomic_load(&ends)) {
        save_some(worker);
        arena_reset(worker->arena);
    }
    return NULL;
}

static void end_soon(int number)
{
    (void)number;
    atomic_store(&ends, true);
}

static int command_run(void)
{
    static Worker workers[SAVES_THREADS_MAX];
    acks = open(settings.acks, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    CHECK(acks >= 0 && signal(SIGTERM, end_soon) != SIG_ERR);
    open_site(false, true);
    for (size_t i = 0; i < settings.threads; i++) {
        workers[i] = (Worker){.luck = settings.run * 1000 + i, .arena = arena_new()};
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    for (uint64_t i = 0; (settings.seconds == 0 || i < settings.seconds) && !atomic_load(&ends);
         i++)
        clock_sleep_us(app.world.clock, US_PER_S);
    atomic_store(&ends, true);
    for (size_t i = 0; i < settings.threads; i++) {
        CHECK(pthread_join(workers[i].thread, NULL) == 0);
        arena_free(workers[i].arena);
    }
    close_site();
    close(acks);
    printf("done: saved %llu stale %llu refused %llu unknown %llu unanswered %llu\n",
           atomic_load(&told[SAVE_SAVED]), atomic_load(&told[SAVE_STALE]),
           atomic_load(&told[SAVE_REFUSED]), atomic_load(&told[SAVE_UNKNOWN]),
           atomic_load(&unanswered));
    return 0;
}

/* What the tasks of a site that has just started do by themselves, without waiting for their turn. */
static void end_what_waits(void)
{
    static const char *const NAMES[] = {"moves", "lists"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        Reason reason = {.rule = ""};
        Status status = tasks_run(app_tasks(&app), slice_from(NAMES[i]), &reason);
        if (status != STATUS_OK)
            broken("the task %s: %s %s", NAMES[i], status_name(status), reason.rule);
    }
}

static int command_check(void)
{
    size_t count;
    SavesRecord *records = saves_records(settings.acks, &count);
    open_site(false, true);
    end_what_waits();
    size_t findings = saves_check(&app, records, count);
    close_site();
    free(records);
    printf("checked %zu records, %zu findings\n", count, findings);
    return findings > 0;
}

/* ---- The command line ---- */

static const Argument SETTINGS[] = {
    {"directory", &settings.directory, NULL, 0},
    {"acks", &settings.acks, NULL, 0},
    {"store", &settings.store, NULL, 0},
    {"voters", NULL, &settings.voters, 0},
    {"threads", NULL, &settings.threads, SAVES_THREADS_MAX},
    {"seconds", NULL, &settings.seconds, 0},
    {"run", NULL, &settings.run, 0},
};

static const Verb VERBS[] = {
    {"make", command_make, {&settings.directory, NULL}},
    {"run", command_run, {&settings.directory, &settings.acks}},
    {"check", command_check, {&settings.directory, &settings.acks}},
};

int main(int count, char **words)
{
    static const Program PROGRAM = {SETTINGS, sizeof SETTINGS / sizeof *SETTINGS, VERBS,
                                    sizeof VERBS / sizeof *VERBS,
                                    "saves make|run|check directory=D [name=value ...]"};
    return program_run(&PROGRAM, count, words);
}
