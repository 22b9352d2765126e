/* site_main.c -- the whole site for the benchmark `site`: as `serve` runs it, with voters who are logged in already.
 *
 *     bench_site DIRECTORY LOGFILE [NAME=VALUE…]   with the names of config.h
 * Prints "port N" when it serves. Commands:
 *     policies N   N active policies of one owner
 *     voters N     N confirmed accounts with much to spend; the secrets of their sessions go to DIRECTORY.voters, one a line */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "accounts/sessions.h"
#include "bench.h"
#include "site/site.h"
#include "store/rocksdb/rocksdb.h"

enum { LOADERS = 32, AGO_DAYS = 3650 };

static struct {
    World world;
    Config config;
    App app;
    Site *site;
    WebServer *server;
    const char *directory;
    uint64_t owner;
    atomic_uint_fast64_t next;
    pthread_mutex_t lock; /* of `secrets` */
    FILE *secrets;
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

static void policies(void *unused, int64_t count)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Reason reason = {0};
    Account account;
    (void)unused;
    if (bench.owner == 0) {
        add_account("owner", arena, &account);
        bench.owner = account.id;
    }
    for (int64_t i = 1; i <= count; i++) {
        VoterState state;
        SaveResult result;
        PolicyText text = {
            .name = arena_print(arena, "Policy of the benchmark, number %" PRId64, i),
            .description = SLICE("Some *words* about what is to be done, and by whom."),
            .rationale = SLICE("It would be better for everybody."),
            .category = (uint64_t)(1 + i % 5)};
        expect(votes_show(bench.app.votes, bench.owner, arena, &state), "the owner", &reason);
        SaveRequest request = {
            .voter = bench.owner, .seen = state.version, .create = &text, .create_held = 100};
        expect(votes_save(bench.app.votes, &request, arena, &result, &reason), "a policy", &reason);
        if (result.outcome != SAVE_SAVED)
            bench_fail("a policy: %s", vote_rule_text(result.rule));
        expect(ranking_policy_changed(bench.app.ranking, result.created), "its rank", &reason);
        arena_reset(arena);
    }
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

static uint64_t loader_step(void *state)
{
    Arena *arena = state;
    Account account;
    Session session;
    Reason reason = {0};
    SessionOrigin origin = {.address = SLICE("127.0.0.1"), .agent = SLICE("bench")};
    arena_reset(arena);
    Slice name = arena_print(arena, "voter%" PRIu64, (uint64_t)atomic_fetch_add(&bench.next, 1));
    add_account(arena_text(arena, name), arena, &account);
    expect(sessions_begin(bench.app.accounts, &account, &origin, arena, &session), "a session",
           &reason);
    pthread_mutex_lock(&bench.lock);
    fprintf(bench.secrets, "%.*s\n", SLICE_ARG(session.secret));
    pthread_mutex_unlock(&bench.lock);
    return 1;
}

static void voters(void *unused, int64_t count)
{
    char path[4096];
    BenchResult result;
    (void)unused;
    snprintf(path, sizeof path, "%s.voters", bench.directory);
    bench.secrets = fopen(path, "a");
    if (bench.secrets == NULL)
        bench_fail("cannot write %s", path);
    BenchLoad load = {.clients = LOADERS,
                      .steps = (uint64_t)count,
                      .begin = loader_begin,
                      .step = loader_step,
                      .end = loader_end};
    bench_run(&load, &result);
    fclose(bench.secrets);
    printf("{\"voters\": %" PRIu64 ", \"seconds\": %.3f}\n", result.units, result.seconds);
}

static const BenchCommand COMMANDS[] = {{"policies", policies}, {"voters", voters}, {NULL, NULL}};

/* ---- The site ---- */

static void settings(int count, char **words, Arena *arena)
{
    Reason reason = {0};
    config_defaults(&bench.config);
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
    bench.site = site_new(&(SiteOptions){&bench.app, &bench.config, log, false});
    WebOptions web = {.config = &bench.config, .world = bench.world, .log = log};
    site_serve(bench.site, &web);
    expect(web_server_start(&web, &bench.server, &reason), "the server", &reason);
    site_start(bench.site);
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
