/* votes_fixture.c -- see votes_fixture.h. */
#include "votes_fixture.h"

VotesFixture fixture;

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

static void open_modules(void)
{
    Store *store = &fixture.faulty.store;
    fixture.accounts = accounts_new(&(AccountsOptions){.store = store,
                                                       .world = fixture.world,
                                                       .vault = test_vault(),
                                                       .hasher = {cheap_hash, cheap_check, NULL},
                                                       .id_block = 16});
    fixture.policies = policies_new(
        &(PoliciesOptions){.store = store, .world = fixture.world, .id_block = 16, .cache_s = 60});
    fixture.votes = votes_new(&(VotesOptions){.store = store,
                                              .world = fixture.world,
                                              .accounts = fixture.accounts,
                                              .policies = fixture.policies});
}

static void close_modules(void)
{
    votes_free(fixture.votes);
    policies_free(fixture.policies);
    accounts_free(fixture.accounts);
}

void votes_fixture_begin(void)
{
    Reason reason;
    Store *store = contract_fresh_site();
    faulty_init(&fixture.faulty, store, contract_arena());
    fixture.world = contract_world();
    open_modules();
    Slice name = SLICE("Health");
    EXPECT_STATUS(policies_ensure_categories(fixture.policies, &name, 1, &reason), STATUS_OK);
    fixture.category = 1;
}

void votes_fixture_end(void)
{
    close_modules();
    contract_end();
}

void votes_fixture_restart(void)
{
    close_modules();
    faulty_plan(&fixture.faulty, 0, FAULT_REFUSED, 0);
    open_modules();
}

uint64_t votes_fixture_voter(const char *name)
{
    Reason reason = {0};
    uint64_t id = 0;
    Registration registration = {.name = slice_from(name),
                                 .email = arena_print(contract_arena(), "%s@example.org", name),
                                 .without_password = true,
                                 .confirmed = true};
    Status status = accounts_register(fixture.accounts, &registration, &id, &reason);
    if (status != STATUS_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", name, reason.rule);
    return id;
}

VoterState votes_fixture_state(uint64_t voter)
{
    VoterState state;
    EXPECT_STATUS(votes_show(fixture.votes, voter, contract_arena(), &state), STATUS_OK);
    return state;
}

uint64_t votes_fixture_policy(uint64_t owner, const char *name)
{
    Reason reason = {0};
    SaveResult result;
    PolicyText text = {.name = slice_from(name),
                       .description = SLICE("Text."),
                       .rationale = SLICE_EMPTY,
                       .category = fixture.category};
    SaveRequest request = {.voter = owner,
                           .seen = votes_fixture_state(owner).version,
                           .create = &text,
                           .create_held = 100};
    Status status = votes_save(fixture.votes, &request, contract_arena(), &result, &reason);
    if (status != STATUS_OK || result.outcome != SAVE_SAVED)
        test_fail(__FILE__, __LINE__, "%s: %s", name, reason.rule);
    return result.created;
}

Status votes_fixture_try(uint64_t voter, Id seen, VoteRequest want, Arena *arena,
                         SaveResult *ret_result)
{
    Reason reason;
    SaveRequest request = {
        .voter = voter, .seen = seen, .vote_requests = &want, .vote_request_count = 1};
    return votes_save(fixture.votes, &request, arena, ret_result, &reason);
}

SaveResult votes_fixture_save(uint64_t voter, uint64_t policy, int64_t held)
{
    SaveResult result;
    EXPECT_STATUS(votes_fixture_try(voter, votes_fixture_state(voter).version,
                                    (VoteRequest){.policy = policy, .held = held}, contract_arena(),
                                    &result),
                  STATUS_OK);
    return result;
}

void votes_fixture_sweep(void)
{
    size_t taken = 1, behind;
    uint32_t hour = (uint32_t)(clock_now_us(fixture.world.clock) / (3600 * US_PER_S));
    while (taken > 0)
        EXPECT_STATUS(votes_project_waiting(fixture.votes, 1000, &taken), STATUS_OK);
    for (uint32_t back = 0; back < 3; back++)
        EXPECT_STATUS(votes_sweep_hour(fixture.votes, hour - back, &behind), STATUS_OK);
}

int64_t votes_fixture_total(uint64_t policy)
{
    Count count;
    EXPECT_STATUS(votes_count(fixture.votes, policy, contract_arena(), &count), STATUS_OK);
    return count.total;
}

static void check_chain(uint64_t voter)
{
    Entry *entries;
    size_t count;
    VoterState state = votes_fixture_state(voter);
    EXPECT_STATUS(votes_history(fixture.votes, voter, 0, 1000, contract_arena(), &entries, &count),
                  STATUS_OK);
    EXPECT_I64(count, state.seq);
    for (size_t i = 0; i < count; i++) {
        EXPECT_I64(entries[i].seq, count - i);
        Id before = i + 1 < count ? entries[i + 1].version : (Id){{0}};
        EXPECT(id_equal(entries[i].prev, before));
        EXPECT(i + 1 == count || entries[i].time_us > entries[i + 1].time_us);
    }
    EXPECT(count == 0 || id_equal(entries[0].version, state.version));
    EXPECT(state.balance >= 0);
}

void votes_fixture_check(uint64_t last_voter, uint64_t last_policy)
{
    int64_t *sums = ARENA_ARRAY(contract_arena(), last_policy + 1, int64_t);
    for (uint64_t voter = 1; voter <= last_voter; voter++) {
        Account account;
        if (accounts_read(fixture.accounts, voter, contract_arena(), &account) != STATUS_OK)
            continue;
        VoterState state = votes_fixture_state(voter);
        for (size_t i = 0; i < state.line_count; i++)
            if (state.lines[i].policy <= last_policy)
                sums[state.lines[i].policy] += state.lines[i].held;
        check_chain(voter);
    }
    for (uint64_t policy = 1; policy <= last_policy; policy++) {
        Recount recount;
        EXPECT_I64(votes_fixture_total(policy), sums[policy]);
        EXPECT_STATUS(votes_recount(fixture.votes, policy, &recount), STATUS_OK);
        EXPECT_I64(recount.cells, sums[policy]);
        EXPECT_I64(recount.sums, sums[policy]);
    }
}
