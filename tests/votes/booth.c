/* booth.c -- see booth.h. */
#include "booth.h"

Booth booth;

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
    Store *store = &booth.faulty.store;
    booth.accounts = accounts_new(&(AccountsOptions){.store = store,
                                                     .world = booth.world,
                                                     .vault = test_vault(),
                                                     .hasher = {cheap_hash, cheap_check, NULL},
                                                     .id_block = 16});
    booth.policies = policies_new(
        &(PoliciesOptions){.store = store, .world = booth.world, .id_block = 16, .cache_s = 60});
    booth.votes = votes_new(&(VotesOptions){.store = store,
                                            .world = booth.world,
                                            .accounts = booth.accounts,
                                            .policies = booth.policies});
}

static void close_modules(void)
{
    votes_free(booth.votes);
    policies_free(booth.policies);
    accounts_free(booth.accounts);
}

void booth_begin(void)
{
    Reason reason;
    Store *store = contract_fresh_site();
    faulty_init(&booth.faulty, store, contract_arena());
    booth.world = contract_world();
    open_modules();
    Slice name = SLICE("Health");
    EXPECT_STATUS(policies_ensure_categories(booth.policies, &name, 1, &reason), STATUS_OK);
    booth.category = 1;
}

void booth_end(void)
{
    close_modules();
    contract_end();
}

void booth_restart(void)
{
    close_modules();
    faulty_plan(&booth.faulty, 0, FAULT_REFUSED, 0);
    open_modules();
}

uint64_t booth_voter(const char *name)
{
    Reason reason = {0};
    uint64_t id = 0;
    Registration registration = {.name = slice_from(name),
                                 .email = arena_print(contract_arena(), "%s@example.org", name),
                                 .without_password = true,
                                 .confirmed = true};
    Status status = accounts_register(booth.accounts, &registration, &id, &reason);
    if (status != STATUS_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", name, reason.rule);
    return id;
}

VoterState booth_state(uint64_t voter)
{
    VoterState state;
    EXPECT_STATUS(votes_show(booth.votes, voter, contract_arena(), &state), STATUS_OK);
    return state;
}

uint64_t booth_policy(uint64_t owner, const char *name)
{
    Reason reason = {0};
    SaveResult result;
    PolicyText text = {.name = slice_from(name),
                       .description = SLICE("Text."),
                       .rationale = SLICE_EMPTY,
                       .category = booth.category};
    SaveRequest request = {
        .voter = owner, .seen = booth_state(owner).version, .create = &text, .create_held = 100};
    Status status = votes_save(booth.votes, &request, contract_arena(), &result, &reason);
    if (status != STATUS_OK || result.outcome != SAVE_SAVED)
        test_fail(__FILE__, __LINE__, "%s: %s", name, reason.rule);
    return result.created;
}

Status booth_try(uint64_t voter, Id seen, VoteWish wish, Arena *arena, SaveResult *ret_result)
{
    Reason reason;
    SaveRequest request = {.voter = voter, .seen = seen, .wishes = &wish, .wish_count = 1};
    return votes_save(booth.votes, &request, arena, ret_result, &reason);
}

SaveResult booth_save(uint64_t voter, uint64_t policy, int64_t held)
{
    SaveResult result;
    EXPECT_STATUS(booth_try(voter, booth_state(voter).version, (VoteWish){policy, held},
                            contract_arena(), &result),
                  STATUS_OK);
    return result;
}

void booth_sweep(void)
{
    size_t taken = 1, behind;
    uint32_t hour = (uint32_t)(clock_now_us(booth.world.clock) / (3600 * US_PER_S));
    while (taken > 0)
        EXPECT_STATUS(votes_project_waiting(booth.votes, 1000, &taken), STATUS_OK);
    for (uint32_t back = 0; back < 3; back++)
        EXPECT_STATUS(votes_sweep_hour(booth.votes, hour - back, &behind), STATUS_OK);
}

int64_t booth_total(uint64_t policy)
{
    Count count;
    EXPECT_STATUS(votes_count(booth.votes, policy, contract_arena(), &count), STATUS_OK);
    return count.total;
}

static void check_chain(uint64_t voter)
{
    Entry *entries;
    size_t count;
    VoterState state = booth_state(voter);
    EXPECT_STATUS(votes_history(booth.votes, voter, 0, 1000, contract_arena(), &entries, &count),
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

void booth_check(uint64_t last_voter, uint64_t last_policy)
{
    int64_t *sums = ARENA_ARRAY(contract_arena(), last_policy + 1, int64_t);
    for (uint64_t voter = 1; voter <= last_voter; voter++) {
        Account account;
        if (accounts_read(booth.accounts, voter, contract_arena(), &account) != STATUS_OK)
            continue;
        VoterState state = booth_state(voter);
        for (size_t i = 0; i < state.line_count; i++)
            if (state.lines[i].policy <= last_policy)
                sums[state.lines[i].policy] += state.lines[i].held;
        check_chain(voter);
    }
    for (uint64_t policy = 1; policy <= last_policy; policy++) {
        Recount recount;
        EXPECT_I64(booth_total(policy), sums[policy]);
        EXPECT_STATUS(votes_recount(booth.votes, policy, &recount), STATUS_OK);
        EXPECT_I64(recount.cells, sums[policy]);
        EXPECT_I64(recount.sums, sums[policy]);
    }
}
