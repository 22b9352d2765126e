/* ledger_fixture.c -- see ledger_fixture.h. */
#include "ledger_fixture.h"

#include "store/rocksdb/rocksdb.h"

LedgerFixture fixture;

static Status cheap_hash(void *self, Slice password, Arena *arena, Slice *ret_hash)
{
    (void)self;
    *ret_hash = arena_copy(arena, password);
    return STATUS_OK;
}

static bool cheap_check(void *self, Slice password, Slice hash)
{
    (void)self;
    return slice_equal(password, hash);
}

Votes *ledger_fixture_instance(void)
{
    return votes_new(&(VotesOptions){.store = fixture.store,
                                     .world = fixture.world,
                                     .accounts = fixture.accounts,
                                     .policies = fixture.policies});
}

static void open_handles(void)
{
    Reason reason = {.rule = ""};
    RocksdbOptions options = {.directory = fixture.directory,
                              .create = true,
                              .cache_bytes = 8 * 1024 * 1024,
                              .write_buffer_bytes = 4 * 1024 * 1024,
                              .grace_s = LEDGER_FIXTURE_GRACE_S,
                              .reopen_s = 1,
                              .world = fixture.world,
                              .tables = TABLES};
    EXPECT_STATUS(store_rocksdb_open(&options, &fixture.store, &reason), STATUS_OK);
    fixture.accounts = accounts_new(&(AccountsOptions){.store = fixture.store,
                                                       .world = fixture.world,
                                                       .vault = test_vault(),
                                                       .hasher = {cheap_hash, cheap_check, NULL},
                                                       .id_block = 16});
    fixture.policies = policies_new(&(PoliciesOptions){
        .store = fixture.store, .world = fixture.world, .id_block = 16, .cache_s = 60});
    fixture.votes = ledger_fixture_instance();
}

static void close_handles(void)
{
    votes_free(fixture.votes);
    policies_free(fixture.policies);
    accounts_free(fixture.accounts);
    store_close(fixture.store);
}

void ledger_fixture_begin(void)
{
    Reason reason = {.rule = ""};
    fixture = (LedgerFixture){.arena = arena_new(), .directory = test_directory()};
    fixture.world = test_world(&fixture.own, 1);
    open_handles();
    EXPECT_STATUS(policies_ensure_categories(fixture.policies, POLICY_CATEGORIES,
                                             POLICY_CATEGORY_COUNT, &reason),
                  STATUS_OK);
}

void ledger_fixture_end(void)
{
    close_handles();
    arena_free(fixture.arena);
}

void ledger_fixture_restart(void)
{
    close_handles();
    open_handles();
}

void ledger_fixture_pass_days(int days)
{
    test_world_pass(&fixture.own, days * S_PER_DAY * US_PER_S);
}

uint64_t ledger_fixture_voter(const char *name)
{
    Reason reason = {.rule = ""};
    uint64_t id = 0;
    Registration person = {.name = slice_from(name),
                           .email = arena_print(fixture.arena, "%s@example.org", name),
                           .without_password = true,
                           .confirmed = true};
    EXPECT_STATUS(accounts_register(fixture.accounts, &person, &id, &reason), STATUS_OK);
    return id;
}

uint64_t ledger_fixture_policy(uint64_t voter, const char *name)
{
    Reason reason = {.rule = ""};
    SaveResult result = {.created = 0};
    PolicyText text = {.name = slice_from(name), .category = LEDGER_FIXTURE_CATEGORY};
    SaveRequest request = {.voter = voter,
                           .seen = ledger_fixture_show(voter).version,
                           .create = &text,
                           .create_held = SETTINGS_AT_FIRST.create_cost};
    EXPECT_STATUS(votes_save(fixture.votes, &request, fixture.arena, &result, &reason), STATUS_OK);
    EXPECT_I64(result.outcome, SAVE_SAVED);
    return result.created;
}

Status ledger_fixture_try_save(uint64_t voter, uint64_t policy, int64_t held,
                               SaveOutcome *ret_outcome)
{
    ARENA_SCOPE Arena *arena = arena_new();
    VoterState state;
    SaveResult result;
    Reason reason;
    VoteRequest want = {.policy = policy, .held = held};
    TRY(votes_show(fixture.votes, voter, arena, &state));
    SaveRequest request = {
        .voter = voter, .seen = state.version, .vote_requests = &want, .vote_request_count = 1};
    TRY(votes_save(fixture.votes, &request, arena, &result, &reason));
    *ret_outcome = result.outcome;
    return STATUS_OK;
}

void ledger_fixture_save(uint64_t voter, uint64_t policy, int64_t held)
{
    SaveOutcome outcome = SAVE_UNKNOWN;
    EXPECT_STATUS(ledger_fixture_try_save(voter, policy, held, &outcome), STATUS_OK);
    EXPECT_I64(outcome, SAVE_SAVED);
}

void ledger_fixture_project(void)
{
    for (size_t taken = 1; taken > 0;)
        EXPECT_STATUS(votes_project_waiting(fixture.votes, SIZE_MAX, &taken), STATUS_OK);
}

int64_t ledger_fixture_total(uint64_t policy)
{
    Count count = {.total = -1};
    EXPECT_STATUS(votes_count(fixture.votes, policy, fixture.arena, &count), STATUS_OK);
    return count.total;
}

VoterState ledger_fixture_show(uint64_t voter)
{
    VoterState state = {.seq = 0};
    EXPECT_STATUS(votes_show(fixture.votes, voter, fixture.arena, &state), STATUS_OK);
    return state;
}

PolicyState ledger_fixture_state(uint64_t policy)
{
    Policy read = {.id = 0};
    EXPECT_STATUS(policies_fresh(fixture.policies, policy, fixture.arena, &read), STATUS_OK);
    return read.facts.moves[read.facts.move_count - 1].state;
}

void ledger_fixture_move(uint64_t policy, PolicyState to)
{
    Reason reason = {.rule = ""};
    PolicyMove move = {.state = to, .reason = SLICE("because")};
    EXPECT_STATUS(
        policies_move(fixture.policies, policy, ledger_fixture_state(policy), &move, &reason),
        STATUS_OK);
}
