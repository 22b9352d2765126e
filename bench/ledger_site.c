/* ledger_site.c -- see ledger_bench.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "ledger_bench.h"
#include "store/cassandra/cassandra.h"
#include "store/rocksdb/rocksdb.h"

enum {
    ID_BLOCK = 1024,
    CACHE_S = 600, /* as in app.c */
    WAITING_MANY = 32768,
    PAUSE_US = 1000,
    CATEGORY = 1,
    COPIES = 3
};

static void expect(Status status, const char *what, const Reason *reason)
{
    if (status != STATUS_OK)
        bench_fail("%s: %s %s", what, status_name(status), reason != NULL ? reason->rule : "");
}

static Status open_embedded(LedgerBench *bench, bool bulk, Reason *reason)
{
    RocksdbOptions options = {.directory = bench->directory,
                              .create = true,
                              .cache_bytes = bench->cache_bytes,
                              .write_buffer_bytes = 64 << 20,
                              .grace_s = 10 * S_PER_DAY,
                              .reopen_s = 5,
                              .bulk = bulk,
                              .world = world_real(),
                              .tables = TABLES};
    return store_rocksdb_open(&options, &bench->store, reason);
}

/* Whose tables are made when they are about to be filled. */
static Status open_cluster(LedgerBench *bench, bool bulk, Reason *reason)
{
    CassandraOptions options = {.request_ms = 10000,
                                .connections = 1,
                                .grace_s = 10 * S_PER_DAY,
                                .world = world_real(),
                                .tables = TABLES};
    TRY(cassandra_address(slice_from(bench->directory), &options.address, reason));
    if (bulk)
        TRY(store_cassandra_init(&options, COPIES, reason));
    return store_cassandra_open(&options, &bench->store, reason);
}

void ledger_open(LedgerBench *bench, bool bulk)
{
    Reason reason = {0};
    World world = world_real();
    bool on_cluster = slice_starts_with(slice_from(bench->directory), SLICE("cassandra://"));
    expect(on_cluster ? open_cluster(bench, bulk, &reason) : open_embedded(bench, bulk, &reason),
           "opening", &reason);
    bench->vault = vault_for_tests(1);
    bench->accounts = accounts_new(&(AccountsOptions){.store = bench->store,
                                                      .world = world,
                                                      .vault = bench->vault,
                                                      .hasher = password_bcrypt(4),
                                                      .id_block = ID_BLOCK});
    bench->policies = policies_new(&(PoliciesOptions){
        .store = bench->store, .world = world, .id_block = ID_BLOCK, .cache_s = CACHE_S});
    bench->votes = votes_new(&(VotesOptions){.store = bench->store,
                                             .world = world,
                                             .accounts = bench->accounts,
                                             .policies = bench->policies});
    expect(policies_ensure_categories(bench->policies, POLICY_CATEGORIES, CATEGORY, &reason),
           "categories", &reason);
}

void ledger_close(LedgerBench *bench)
{
    votes_free(bench->votes);
    policies_free(bench->policies);
    accounts_free(bench->accounts);
    store_close(bench->store);
    vault_free(bench->vault);
}

/* ---- The projector ------------------------------------------------------------------------------------------ */

static void pause_us(int64_t us)
{
    clock_sleep_us(world_real().clock, us);
}

static void *projector_main(void *argument)
{
    LedgerBench *bench = argument;
    for (bool done = false; !done;) {
        size_t taken;
        bool ends =
            atomic_load(&bench->projector_ends); /* before it looks: nobody waits after that */
        expect(votes_project_waiting(bench->votes, SIZE_MAX, &taken), "projection", NULL);
        done = ends && taken == 0;
        if (taken == 0 && !done)
            pause_us(PAUSE_US);
    }
    return NULL;
}

void ledger_projector_start(LedgerBench *bench)
{
    atomic_store(&bench->projector_ends, false);
    CHECK(pthread_create(&bench->projector, NULL, projector_main, bench) == 0);
}

void ledger_projector_finish(LedgerBench *bench)
{
    atomic_store(&bench->projector_ends, true);
    CHECK(pthread_join(bench->projector, NULL) == 0);
    CHECK(votes_waiting(bench->votes) == 0);
}

/* ---- Clients ------------------------------------------------------------------------------------------------ */

void *ledger_client_begin(void *context, int client)
{
    LedgerBench *bench = context;
    LedgerClient *state = calloc(1, sizeof *state);
    CHECK(state != NULL);
    *state = (LedgerClient){bench, client, arena_new(),
                            bench_random(bench->runs * 1000 + (uint64_t)client)};
    return state;
}

void ledger_client_end(void *state)
{
    LedgerClient *client = state;
    arena_free(client->arena);
    free(client);
}

uint64_t ledger_add_policy(void *state)
{
    LedgerClient *client = state;
    Reason reason = {0};
    arena_reset(client->arena);
    uint64_t id = atomic_fetch_add(&client->bench->next, 1) + 1;
    NewPolicy policy = {.id = id,
                        .text = {.name = arena_print(client->arena, "Policy %" PRIu64, id),
                                 .description = SLICE("What it is about."),
                                 .rationale = SLICE_EMPTY,
                                 .category = CATEGORY},
                        .version = id_new(world_real().clock, world_real().random),
                        .time_us = clock_now_us(world_real().clock) - LEDGER_REGISTERED_AGO_US};
    expect(policies_create(client->bench->policies, &policy, &reason), "a policy", &reason);
    return 1;
}

static uint64_t save_as(LedgerClient *client, const ElectorateSave *save)
{
    LedgerBench *bench = client->bench;
    VoteRequest vote_requests[ELECTORATE_LINES];
    SaveResult result;
    Reason reason = {0};
    SaveRequest request = {.voter = bench->ids[save->voter],
                           .vote_requests = vote_requests,
                           .vote_request_count = (size_t)save->count};
    memcpy(request.seen.bytes, save->seen, ELECTORATE_VERSION);
    for (int i = 0; i < save->count; i++)
        vote_requests[i] = (VoteRequest){.policy = save->policies[i], .held = save->held[i]};
    while (votes_waiting(bench->votes) > WAITING_MANY)
        pause_us(PAUSE_US);
    expect(votes_save(bench->votes, &request, client->arena, &result, &reason), "a save", &reason);
    if (result.outcome != SAVE_SAVED)
        bench_fail("a save of voter %" PRIu64 " was %s: %s", save->voter,
                   save_outcome_text(result.outcome), vote_rule_text(result.rule));
    electorate_saved(bench->electorate, save, result.version.bytes);
    return 1;
}

uint64_t ledger_add_voter(void *state)
{
    LedgerClient *client = state;
    LedgerBench *bench = client->bench;
    ElectorateSave first;
    Reason reason = {0};
    arena_reset(client->arena);
    uint64_t voter = atomic_fetch_add(&bench->next, 1);
    Registration registration = {
        .name = arena_print(client->arena, "voter%" PRIu64, voter),
        .email = arena_print(client->arena, "voter%" PRIu64 "@example.org", voter),
        .password = SLICE_EMPTY,
        .without_password = true,
        .confirmed = true,
        .registered_us = clock_now_us(world_real().clock) - LEDGER_REGISTERED_AGO_US,
        .address = SLICE_EMPTY,
        .cookie = SLICE_EMPTY};
    expect(accounts_register(bench->accounts, &registration, &bench->ids[voter], &reason),
           "a voter", &reason);
    electorate_first(bench->electorate, voter, &first);
    return save_as(client, &first);
}

uint64_t ledger_save(void *state)
{
    LedgerClient *client = state;
    ElectorateSave save;
    arena_reset(client->arena);
    electorate_choose(client->bench->electorate, &client->random, client->number,
                      client->bench->clients, &save);
    return save_as(client, &save);
}
