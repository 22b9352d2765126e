/* site_main.c -- the whole site for the benchmark `site`: as `serve` runs it, with voters who are logged in already.
 *
 *     bench_site DIRECTORY LOGFILE [NAME=VALUE…]   with the names of config.h
 * Prints "port N" when it serves. Commands:
 *     policies N   N active policies of a few owners; once
 *     holdings N   every voter holds votes on N policies, and watches one of them
 *     voters N     N confirmed accounts with much to spend; the secrets of their sessions go to DIRECTORY.voters, one a line
 *     forms N      the form of one of N policies as it would stand on a page of each voter, to DIRECTORY.forms (votes.lua) */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "access/sessions.h"
#include "bench.h"
#include "site/site.h"
#include "store/rocksdb/rocksdb.h"

enum {
    LOADERS = 32,
    AGO_DAYS = 3650,
    SECRET_TEXT = 64,
    HELD_MAX = 9,
    LINES_MAX = 16,
    CSRF_TEXT = 32,
    POLICIES_AN_OWNER = 400
};

typedef struct Voter {
    uint64_t account;
    char secret[SECRET_TEXT];
} Voter;

static struct {
    World world;
    Config config;
    App app;
    Operations *ops;
    Site *site;
    WebServer *server;
    const char *directory;
    atomic_uint_fast64_t named, next;
    pthread_mutex_t lock; /* of what follows */
    FILE *out;
    Voter *voters;
    size_t voter_count, voter_room;
    uint64_t policies, policy_count; /* for `forms`; all */
} bench = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void expect(Status status, const char *what, const Reason *reason)
{
    if (status != STATUS_OK)
        bench_fail("%s: %s %s", what, status_name(status), reason->rule);
}

static void add_account(const char *name, Arena *arena, Account *ret_account)
{
    uint64_t id;
    Reason reason = {0};
    Registration registration = {.name = slice_from(name),
                                 .email = arena_print(arena, "%s@example.org", name),
                                 .without_password = true,
                                 .confirmed = true,
                                 .registered_us = clock_now_us(bench.world.clock) -
                                                  AGO_DAYS * INT64_C(86400) * US_PER_S,
                                 .address = SLICE_EMPTY,
                                 .cookie = SLICE_EMPTY};
    expect(accounts_register(bench.app.accounts, &registration, &id, &reason), "a voter", &reason);
    expect(accounts_read(bench.app.accounts, id, arena, ret_account), "an account", &reason);
}

/* ---- Policies ---- */

/* Somebody may save only so often a day: after some hundred policies comes another owner. */
static uint64_t owner_of(int64_t number, Arena *arena)
{
    static uint64_t owner;
    Account account;
    if (number % POLICIES_AN_OWNER == 0) {
        add_account(arena_text(arena, arena_print(arena, "owner%" PRId64, number)), arena,
                    &account);
        owner = account.id;
    }
    return owner;
}

static void policies(void *unused, int64_t count)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Reason reason = {0};
    (void)unused;
    for (int64_t i = 0; i < count; i++) {
        VoterState state;
        SaveResult result;
        PolicyText text = {
            .name = arena_print(arena, "Policy of the benchmark, number %" PRId64, i + 1),
            .description = SLICE("Some *words* about what is to be done, and by whom."),
            .rationale = SLICE("It would be better for everybody."),
            .category = (uint64_t)(1 + i % 5)};
        uint64_t owner = owner_of(i, arena);
        expect(votes_show(bench.app.votes, owner, arena, &state), "the owner", &reason);
        SaveRequest request = {
            .voter = owner, .seen = state.version, .create = &text, .create_held = 100};
        expect(votes_save(bench.app.votes, &request, arena, &result, &reason), "a policy", &reason);
        if (result.outcome != SAVE_SAVED)
            bench_fail("a policy: %s", vote_rule_text(result.rule));
        expect(ranking_policy_changed(bench.app.ranking, result.created), "its rank", &reason);
        arena_reset(arena);
    }
    bench.policy_count = (uint64_t)count;
    printf("{\"policies\": %" PRId64 "}\n", count);
}

/* ---- Voters ---- */

static void *loader_begin(void *context, int client)
{
    (void)context;
    (void)client;
    return arena_new();
}

static void loader_end(void *state)
{
    arena_free(state);
}

static void remember(const Session *session)
{
    pthread_mutex_lock(&bench.lock);
    if (bench.voter_count == bench.voter_room) {
        bench.voter_room = 2 * bench.voter_room + 1024;
        bench.voters = realloc(bench.voters, bench.voter_room * sizeof *bench.voters);
        CHECK(bench.voters != NULL);
    }
    Voter *voter = &bench.voters[bench.voter_count++];
    voter->account = session->account;
    snprintf(voter->secret, sizeof voter->secret, "%.*s", SLICE_ARG(session->secret));
    fprintf(bench.out, "%s\n", voter->secret);
    pthread_mutex_unlock(&bench.lock);
}

static uint64_t voter_step(void *state)
{
    Arena *arena = state;
    Account account;
    Session session;
    Reason reason = {0};
    SessionOrigin origin = {.address = SLICE("127.0.0.1"), .agent = SLICE("bench")};
    arena_reset(arena);
    Slice name = arena_print(arena, "voter%" PRIu64, (uint64_t)atomic_fetch_add(&bench.named, 1));
    add_account(arena_text(arena, name), arena, &account);
    expect(sessions_begin(bench.app.accounts, &account, &origin, arena, &session), "a session",
           &reason);
    remember(&session);
    return 1;
}

static void open_out(const char *ending, const char *mode)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.%s", bench.directory, ending);
    bench.out = fopen(path, mode);
    if (bench.out == NULL)
        bench_fail("cannot write %s", path);
}

/* By many at once: each waits for the store. */
static void load(uint64_t (*step)(void *state), uint64_t steps, BenchResult *ret_result)
{
    BenchLoad work = {
        .clients = LOADERS, .steps = steps, .begin = loader_begin, .step = step, .end = loader_end};
    bench_run(&work, ret_result);
    fclose(bench.out);
}

static void voters(void *unused, int64_t count)
{
    BenchResult result;
    (void)unused;
    open_out("voters", "a");
    load(voter_step, (uint64_t)count, &result);
    printf("{\"voters\": %" PRIu64 ", \"seconds\": %.3f}\n", result.units, result.seconds);
}

/* ---- What they hold ---- */

/* Policies that follow each other, from a place of the voter's own. */
static void hold(uint64_t voter, size_t count, Arena *arena)
{
    VoterState state;
    SaveResult result;
    Reason reason = {0};
    VoteRequest vote_requests[LINES_MAX];
    uint64_t first = voter * UINT64_C(0x9E3779B97F4A7C15) % (bench.policy_count - count) + 1;
    for (size_t i = 0; i < count; i++)
        vote_requests[i] = (VoteRequest){.policy = first + i, .held = HELD_MAX};
    expect(votes_show(bench.app.votes, voter, arena, &state), "a voter", &reason);
    SaveRequest request = {.voter = voter,
                           .seen = state.version,
                           .vote_requests = vote_requests,
                           .vote_request_count = count};
    expect(votes_save(bench.app.votes, &request, arena, &result, &reason), "a save", &reason);
    if (result.outcome != SAVE_SAVED)
        bench_fail("a save: %s", vote_rule_text(result.rule));
    expect(accounts_watch(bench.app.accounts, voter, first, true), "a watch list", &reason);
}

static void holdings(void *unused, int64_t count)
{
    ARENA_SCOPE Arena *arena = arena_new();
    (void)unused;
    if (count < 1 || count > LINES_MAX || (uint64_t)count >= bench.policy_count)
        bench_fail("holdings: 1 to %d, and less than there are policies", LINES_MAX);
    for (size_t i = 0; i < bench.voter_count; i++) {
        hold(bench.voters[i].account, (size_t)count, arena);
        arena_reset(arena);
    }
    printf("{\"voters\": %zu}\n", bench.voter_count);
}

/* ---- Forms: what a page would hold, read as the page reads it, without the time to ask for a hundred thousand pages ---- */

/* As the door makes it; a form with another one would be refused. */
static Slice form_token(const Voter *voter, Arena *arena)
{
    static const char DIGITS[] = "0123456789abcdef";
    Slice hash = vault_hash(bench.app.vault, "csrf", slice_from(voter->secret), arena);
    char *text = arena_bytes(arena, CSRF_TEXT);
    for (size_t i = 0; i < CSRF_TEXT; i++)
        text[i] = DIGITS[(unsigned char)hash.data[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15];
    return slice_of(text, CSRF_TEXT);
}

static uint64_t form_step(void *state)
{
    Arena *arena = state;
    Session session;
    Account account;
    VoterState shown;
    Reason reason = {0};
    arena_reset(arena);
    size_t number = (size_t)atomic_fetch_add(&bench.next, 1);
    if (number >= bench.voter_count)
        return 1;
    const Voter *voter = &bench.voters[number];
    expect(sessions_find(bench.app.accounts, slice_from(voter->secret), arena, &session, &account),
           "a session", &reason);
    expect(votes_cached(bench.app.votes, &account, arena, &shown), "a voter", &reason);
    BenchRandom random = bench_random(number ^ (uint64_t)bench_now_ns());
    Id token = id_new(bench.world.clock, bench.world.random);
    pthread_mutex_lock(&bench.lock);
    fprintf(bench.out,
            "/my/votes/%" PRIu64
            "\tsession=%s\tcsrf=%.*s&seen=%.*s&token=%.*s&price=1000000&held=%d\n",
            1 + bench_random_below(&random, bench.policies), voter->secret,
            SLICE_ARG(form_token(voter, arena)), SLICE_ARG(id_text(shown.version, arena)),
            SLICE_ARG(id_text(token, arena)), 1 + (int)bench_random_below(&random, HELD_MAX));
    pthread_mutex_unlock(&bench.lock);
    return 1;
}

static void forms(void *unused, int64_t policies_count)
{
    BenchResult result;
    (void)unused;
    bench.policies = (uint64_t)policies_count;
    atomic_store(&bench.next, 0);
    open_out("forms", "w");
    load(form_step, bench.voter_count, &result);
    printf("{\"forms\": %zu, \"seconds\": %.3f}\n", bench.voter_count, result.seconds);
}

static const BenchCommand COMMANDS[] = {{"policies", policies},
                                        {"voters", voters},
                                        {"holdings", holdings},
                                        {"forms", forms},
                                        {NULL, NULL}};

/* ---- The site ---- */

static void settings(int count, char **words, Arena *arena)
{
    Reason reason = {0};
    config_defaults(&bench.config);
    bench.config.data = bench.directory;
    for (int i = 3; i < count; i++) {
        Slice word = slice_from(words[i]);
        size_t equals = slice_find(word, '=');
        if (config_set(&bench.config, slice_of(word.data, equals), slice_after(word, equals + 1),
                       arena, &reason) != STATUS_OK)
            bench_fail("%s: %s", words[i], reason.rule);
    }
}

static void start(Log *log, Store **ret_store)
{
    Reason reason = {0};
    RocksdbOptions options = {.directory = bench.directory,
                              .create = true,
                              .cache_bytes = (size_t)bench.config.cache_bytes,
                              .write_buffer_bytes = 64 << 20,
                              .grace_s = 10 * 86400,
                              .reopen_s = 1,
                              .world = bench.world,
                              .tables = TABLES};
    expect(store_rocksdb_open(&options, ret_store, &reason), "the store", &reason);
    AppParts parts = {*ret_store, bench.world, vault_for_tests(1), &bench.config};
    expect(app_open(&parts, &bench.app, &reason), "the app", &reason);
    expect(app_start(&bench.app, log, "bench", &reason), "the app", &reason);
    bench.ops = operations_new(&(OperationsOptions){.app = &bench.app, .config = &bench.config});
    bench.site = site_new(
        &(SiteOptions){.app = &bench.app, .config = &bench.config, .log = log, .ops = bench.ops});
    WebOptions web = {.config = &bench.config, .world = bench.world, .log = log};
    site_serve(bench.site, &web);
    expect(web_server_start(&web, &bench.server, &reason), "the server", &reason);
    app_set_home(&bench.app, web_server_public_url(bench.server));
    site_start(bench.site, bench.app.home);
    printf("port %u\n", (unsigned)web_server_port(bench.server));
    fflush(stdout);
}

int main(int count, char **words)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Store *store;
    if (count < 3)
        bench_fail("usage: bench_site DIRECTORY LOGFILE [NAME=VALUE…]");
    int fd = open(words[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        bench_fail("cannot write %s", words[2]);
    bench.directory = words[1];
    bench.world = world_real();
    settings(count, words, arena);
    Log *log = log_new(fd, LOG_INFO, bench.world.clock);
    start(log, &store);
    bench_obey(COMMANDS, NULL);
    web_server_stop(bench.server);
    site_stop(bench.site);
    app_close(&bench.app);
    site_free(bench.site);
    store_close(store);
    log_free(log);
    close(fd);
    return 0;
}
