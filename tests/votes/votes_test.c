/* votes_test.c -- saves from end to end, on the engine under test: what stands, what is told, what is counted. */
#include <stdatomic.h>

#include "votes_fixture.h"

TEST(a_save_is_counted_where_it_goes)
{
    votes_fixture_begin();
    uint64_t ada = votes_fixture_voter("ada"), bob = votes_fixture_voter("bob");
    uint64_t rivers = votes_fixture_policy(ada, "Clean rivers");
    SaveResult result = votes_fixture_save(bob, rivers, 30);
    EXPECT(result.outcome == SAVE_SAVED);
    EXPECT_I64(result.seq, 1);
    EXPECT_I64(result.state.balance, 70);
    votes_fixture_sweep();
    EXPECT_I64(votes_fixture_total(rivers), 130);
    votes_fixture_save(bob, rivers, 10);
    votes_fixture_sweep();
    EXPECT_I64(votes_fixture_total(rivers), 110);
    EXPECT_I64(votes_fixture_state(bob).balance, 80);
    votes_fixture_check(2 * 16, 2 * 16);
    votes_fixture_end();
}

TEST(projecting_again_changes_nothing)
{
    votes_fixture_begin();
    uint64_t ada = votes_fixture_voter("ada"), bob = votes_fixture_voter("bob");
    uint64_t rivers = votes_fixture_policy(ada, "Clean rivers"), voters[] = {bob, ada, bob};
    for (int64_t held = 1; held <= 100; held++)
        votes_fixture_save(bob, rivers, held);
    for (int i = 0; i < 3; i++)
        EXPECT_STATUS(votes_project(fixture.votes, voters, 3), STATUS_OK);
    EXPECT_I64(votes_fixture_total(rivers), 200);
    votes_fixture_restart();
    votes_fixture_sweep();
    votes_fixture_check(16, 16);
    votes_fixture_end();
}

TEST(two_tabs_one_stands_and_the_other_sees_it)
{
    votes_fixture_begin();
    uint64_t ada = votes_fixture_voter("ada"), bob = votes_fixture_voter("bob"),
             rivers = votes_fixture_policy(ada, "Clean rivers");
    Id seen = votes_fixture_state(bob).version;
    SaveResult first, second;
    EXPECT_STATUS(votes_fixture_try(bob, seen, (VoteRequest){.policy = rivers, .held = 5},
                                    contract_arena(), &first),
                  STATUS_OK);
    EXPECT_STATUS(votes_fixture_try(bob, seen, (VoteRequest){.policy = rivers, .held = 7},
                                    contract_arena(), &second),
                  STATUS_OK);
    EXPECT(first.outcome == SAVE_SAVED && second.outcome == SAVE_STALE);
    EXPECT(id_equal(second.state.version, first.version));
    EXPECT_I64(second.state.lines[0].held, 5);
    votes_fixture_end();
}

TEST(the_same_token_is_one_save_until_it_expires)
{
    votes_fixture_begin();
    uint64_t ada = votes_fixture_voter("ada"), bob = votes_fixture_voter("bob"),
             rivers = votes_fixture_policy(ada, "Clean rivers");
    VoteRequest want = {.policy = rivers, .held = 5};
    SaveRequest request = {
        .voter = bob, .vote_requests = &want, .vote_request_count = 1, .token = {{1, 2, 3}}};
    SaveResult first, again;
    Reason reason;
    EXPECT_STATUS(votes_save(fixture.votes, &request, contract_arena(), &first, &reason),
                  STATUS_OK);
    EXPECT_STATUS(votes_save(fixture.votes, &request, contract_arena(), &again, &reason),
                  STATUS_OK);
    EXPECT(again.outcome == SAVE_SAVED && id_equal(again.version, first.version));
    EXPECT_I64(again.state.seq, 1);
    if (contract_has_clock()) {
        contract_pass_s(8 * S_PER_DAY);
        EXPECT_STATUS(votes_save(fixture.votes, &request, contract_arena(), &again, &reason),
                      STATUS_OK);
        EXPECT(again.outcome == SAVE_STALE);
    }
    votes_fixture_end();
}

/* ---- Several saves by one call ---------------------------------------------------------------------------------- */

enum { TOGETHER = 6 };

/* What each wants; those of one voter are on one version. */
typedef struct Together {
    VoteRequest vote_requests[TOGETHER];
    SaveRequest requests[TOGETHER];
    Status statuses[TOGETHER];
    SaveResult results[TOGETHER];
} Together;

static void together_ask(Together *all, size_t i, uint64_t voter, VoteRequest want)
{
    all->vote_requests[i] = want;
    all->requests[i] = (SaveRequest){.voter = voter,
                                     .seen = votes_fixture_state(voter).version,
                                     .vote_requests = &all->vote_requests[i],
                                     .vote_request_count = 1};
}

static void together_save(Together *all, size_t count)
{
    Save *saves[TOGETHER], *begun[TOGETHER];
    size_t begun_count = 0;
    for (size_t i = 0; i < count; i++) {
        Reason reason;
        all->statuses[i] = votes_save_begin(fixture.votes, &all->requests[i], contract_arena(),
                                            &saves[i], &reason);
        if (all->statuses[i] == STATUS_OK)
            begun[begun_count++] = saves[i];
    }
    votes_save_send(begun, begun_count);
    for (size_t i = 0; i < count; i++)
        if (all->statuses[i] == STATUS_OK)
            all->statuses[i] = votes_save_end(saves[i], &all->results[i]);
}

TEST(of_several_saves_in_one_call_each_has_its_own_outcome)
{
    votes_fixture_begin();
    uint64_t ada = votes_fixture_voter("ada"), bob = votes_fixture_voter("bob"),
             eve = votes_fixture_voter("eve"), joe = votes_fixture_voter("joe"),
             rivers = votes_fixture_policy(ada, "Clean rivers");
    Together all = {0};
    together_ask(&all, 0, bob, (VoteRequest){.policy = rivers, .held = 5});
    together_ask(&all, 1, eve,
                 (VoteRequest){.policy = rivers, .held = 999}); /* more than there is */
    together_ask(&all, 2, joe,
                 (VoteRequest){.policy = rivers, .held = 3}); /* three times on one version: */
    together_ask(&all, 3, joe, (VoteRequest){.policy = rivers, .held = 4});
    together_ask(&all, 4, joe,
                 (VoteRequest){.policy = rivers, .held = 3}); /* the first form once more */
    together_ask(&all, 5, bob, (VoteRequest){.policy = rivers, .held = 1});
    all.requests[5].voter = 999; /* nobody */
    all.requests[2].token = all.requests[4].token = (Id){{1, 2, 3}};
    together_save(&all, TOGETHER);
    EXPECT(all.statuses[0] == STATUS_OK && all.results[0].outcome == SAVE_SAVED);
    EXPECT_I64(all.results[0].state.balance, 95);
    EXPECT(all.statuses[1] == STATUS_OK && all.results[1].outcome == SAVE_REFUSED);
    EXPECT_STATUS(all.statuses[5], STATUS_NOT_FOUND);
    VoterState state = votes_fixture_state(joe);
    bool is_first = state.lines[0].held == 3;
    for (size_t i = 2; i < 5; i++) {
        EXPECT_STATUS(all.statuses[i], STATUS_OK);
        EXPECT(all.results[i].outcome == ((i != 3) == is_first ? SAVE_SAVED : SAVE_STALE));
        EXPECT(id_equal(all.results[i].state.version, state.version));
    }
    EXPECT_I64(state.seq, 1);
    votes_fixture_sweep();
    EXPECT_I64(votes_fixture_total(rivers), 105 + state.lines[0].held);
    votes_fixture_check(64, 32);
    votes_fixture_end();
}

TEST(nobody_pays_more_for_taking_back_than_was_agreed)
{
    votes_fixture_begin();
    uint64_t ada = votes_fixture_voter("ada"), bob = votes_fixture_voter("bob"),
             rivers = votes_fixture_policy(ada, "Clean rivers");
    votes_fixture_save(bob, rivers, 30);
    VoteRequest want = {.policy = rivers, .held = 9};
    SaveRequest request = {.voter = bob,
                           .seen = votes_fixture_state(bob).version,
                           .vote_requests = &want,
                           .vote_request_count = 1,
                           .has_price = true,
                           .price = 10};
    SaveResult result;
    Reason reason;
    EXPECT_STATUS(votes_save(fixture.votes, &request, contract_arena(), &result, &reason),
                  STATUS_OK);
    EXPECT(result.outcome == SAVE_REFUSED && result.rule == VOTE_RULE_PRICE);
    EXPECT_I64(result.price.penalty, 11);
    EXPECT_I64(result.price.given_back, 10);
    EXPECT_I64(result.price.balance, 80);
    EXPECT_I64(result.state.balance, 70);
    EXPECT_I64(votes_fixture_state(bob).lines[0].held, 30);
    request.price = 11;
    EXPECT_STATUS(votes_save(fixture.votes, &request, contract_arena(), &result, &reason),
                  STATUS_OK);
    EXPECT(result.outcome == SAVE_SAVED);
    EXPECT_I64(result.state.balance, 80);
    request.seen = result.version;
    request.price = 0;
    want.held = 90;
    EXPECT_STATUS(votes_save(fixture.votes, &request, contract_arena(), &result, &reason),
                  STATUS_OK);
    EXPECT(result.outcome == SAVE_REFUSED && result.rule == VOTE_RULE_BALANCE);
    EXPECT_I64(result.price.balance, -1);
    want.held = 50;
    EXPECT_STATUS(votes_save(fixture.votes, &request, contract_arena(), &result, &reason),
                  STATUS_OK);
    EXPECT(result.outcome == SAVE_SAVED);
    votes_fixture_end();
}

TEST(what_stood_at_an_earlier_version_can_be_found_again)
{
    enum { SAVES = 80 };
    Id versions[SAVES + 1] = {0};
    VoterState then;
    votes_fixture_begin();
    uint64_t ada = votes_fixture_voter("ada"), bob = votes_fixture_voter("bob"),
             cleo = votes_fixture_voter("cleo");
    uint64_t rivers = votes_fixture_policy(ada, "Clean rivers"),
             roads = votes_fixture_policy(cleo, "Safe roads");
    for (int i = 1; i <= SAVES; i++)
        versions[i] = votes_fixture_save(bob, i % 2 ? rivers : roads, 1 + i / 2).version;
    VoterState now = votes_fixture_state(bob);
    for (int i = 0; i <= SAVES; i += 7) {
        EXPECT_STATUS(votes_back(fixture.votes, bob, &now, versions[i], contract_arena(), &then),
                      STATUS_OK);
        EXPECT_I64(then.seq, i);
        int odd = i % 2 ? i : i - 1, even = i % 2 ? i - 1 : i;
        EXPECT_I64(then.lines[0].held, i == 0 ? 0 : 1 + odd / 2);
        EXPECT_I64(then.lines[1].held, i < 2 ? 0 : 1 + even / 2);
    }
    EXPECT_STATUS(votes_back(fixture.votes, bob, &now, now.version, contract_arena(), &then),
                  STATUS_OK);
    EXPECT_I64(then.seq, now.seq);
    EXPECT_STATUS(votes_back(fixture.votes, bob, &now, votes_fixture_state(ada).version,
                             contract_arena(), &then),
                  STATUS_NOT_FOUND);
    votes_fixture_end();
}

/* ---- Many at once ---------------------------------------------------------------------------------------------- */

typedef struct Race {
    uint64_t voter, policy;
    Id seen;
    atomic_int outcomes[4], failed;
} Race;

static void save_in_a_race(int index, void *context)
{
    Race *race = context;
    SaveResult result;
    ARENA_SCOPE Arena *arena = arena_new();
    Status status =
        votes_fixture_try(race->voter, race->seen,
                          (VoteRequest){.policy = race->policy, .held = index + 1}, arena, &result);
    if (status == STATUS_OK)
        atomic_fetch_add(&race->outcomes[result.outcome], 1);
    else
        atomic_fetch_add(&race->failed, 1);
}

TEST(of_64_saves_on_one_version_exactly_one_stands_and_the_others_are_told)
{
    votes_fixture_begin();
    uint64_t ada = votes_fixture_voter("ada"), bob = votes_fixture_voter("bob");
    Race race = {.voter = bob, .policy = votes_fixture_policy(ada, "Clean rivers")};
    contract_threads(64, save_in_a_race, &race);
    EXPECT_I64(race.outcomes[SAVE_SAVED], 1);
    EXPECT_I64(race.outcomes[SAVE_STALE], 63);
    EXPECT_I64(votes_fixture_state(bob).seq, 1);
    votes_fixture_sweep();
    votes_fixture_check(32, 32);
    votes_fixture_end();
}

enum { CROWD = 8, ROUNDS = 40 };

typedef struct Crowd {
    uint64_t voters[CROWD], policies[3];
    atomic_int bad;
} Crowd;

static void vote_and_project(int index, void *context)
{
    Crowd *crowd = context;
    for (int round = 0; round < ROUNDS; round++) {
        ARENA_SCOPE Arena *arena = arena_new();
        VoterState state;
        SaveResult result;
        uint64_t voter = crowd->voters[(index + round) % CROWD];
        Status status = votes_show(fixture.votes, voter, arena, &state);
        if (status == STATUS_OK)
            status = votes_fixture_try(voter, state.version,
                                       (VoteRequest){.policy = crowd->policies[round % 3],
                                                     .held = (index * 7 + round) % 20},
                                       arena, &result);
        size_t taken;
        if (status == STATUS_OK)
            status = votes_project_waiting(fixture.votes, 3, &taken);
        if (status != STATUS_OK && status != STATUS_UNKNOWN && status != STATUS_CONFLICT)
            atomic_fetch_add(&crowd->bad, 1);
    }
}

TEST(savers_and_projectors_in_parallel_add_up)
{
    votes_fixture_begin();
    Crowd crowd = {0};
    for (int i = 0; i < CROWD; i++) {
        char name[16];
        snprintf(name, sizeof name, "voter%d", i);
        crowd.voters[i] = votes_fixture_voter(name);
    }
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "owner%d", i);
        uint64_t owner = votes_fixture_voter(name);
        snprintf(name, sizeof name, "Policy number %d", i);
        crowd.policies[i] = votes_fixture_policy(owner, name);
    }
    contract_threads(8, vote_and_project, &crowd);
    EXPECT_I64(crowd.bad, 0);
    votes_fixture_sweep();
    votes_fixture_check(64, 64);
    votes_fixture_end();
}

static void add_change(void *context, uint64_t policy, int64_t change)
{
    int64_t *sum = context;
    (void)policy;
    *sum += change;
}

/* Each handle remembers sums that it wrote; the other one makes them old. */
TEST(two_handles_that_take_turns_add_up)
{
    votes_fixture_begin();
    uint64_t ada = votes_fixture_voter("ada"), bob = votes_fixture_voter("bob");
    uint64_t rivers = votes_fixture_policy(ada, "Clean rivers"), voters[] = {ada, bob};
    Votes *other = votes_new(&(VotesOptions){.store = &fixture.faulty.store,
                                             .world = fixture.world,
                                             .accounts = fixture.accounts,
                                             .policies = fixture.policies});
    for (int i = 0; i < 24; i++) {
        votes_fixture_save(bob, rivers, 1 + i);
        if (contract_has_clock() && i % 4 == 3)
            contract_pass_s(3600);
        EXPECT_STATUS(votes_project(i % 3 == 0 ? fixture.votes : other, voters, 2), STATUS_OK);
        EXPECT_I64(votes_fixture_total(rivers), 101 + i);
    }
    votes_fixture_sweep();
    votes_fixture_check(32, 32);
    int64_t by_hour = 0;
    uint32_t hour = (uint32_t)(clock_now_us(fixture.world.clock) / (3600 * US_PER_S));
    for (uint32_t back = 0; back < 8; back++)
        EXPECT_STATUS(votes_hour_changes(fixture.votes, hour - back, add_change, &by_hour),
                      STATUS_OK);
    EXPECT_I64(by_hour, 124);
    votes_free(other);
    votes_fixture_end();
}

/* What waits brings its entry along; that must not hide what came before or after it. */
TEST(entries_that_wait_are_carried_with_those_that_do_not)
{
    votes_fixture_begin();
    uint64_t ada = votes_fixture_voter("ada"), bob = votes_fixture_voter("bob");
    uint64_t rivers = votes_fixture_policy(ada, "Clean rivers");
    size_t taken;
    votes_fixture_save(bob, rivers, 1);
    votes_fixture_restart(); /* the first entry waits no more */
    votes_fixture_save(bob, rivers, 3);
    EXPECT_STATUS(votes_project_waiting(fixture.votes, 100, &taken), STATUS_OK);
    EXPECT_I64(taken, 1);
    EXPECT_I64(votes_fixture_total(rivers), 3); /* the policy's own entry has only its mark yet */
    votes_fixture_save(bob, rivers, 9);
    votes_fixture_save(bob, rivers, 4);
    EXPECT_STATUS(votes_project_waiting(fixture.votes, 1, &taken), STATUS_OK);
    EXPECT_I64(votes_fixture_total(rivers), 9);
    EXPECT_STATUS(votes_project_waiting(fixture.votes, 100, &taken), STATUS_OK);
    EXPECT_I64(votes_fixture_total(rivers), 4);
    for (int64_t held = 5; held < 9; held++)
        votes_fixture_save(bob, rivers, held);
    EXPECT_STATUS(votes_project_waiting(fixture.votes, 100, &taken), STATUS_OK);
    EXPECT_I64(taken, 4);
    EXPECT_I64(votes_fixture_total(rivers), 8);
    votes_fixture_sweep();
    votes_fixture_check(32, 32);
    votes_fixture_end();
}

/* ---- Leaving, creating ------------------------------------------------------------------------------------------- */

TEST(leaving_withdraws_everything_and_closes_for_ever)
{
    votes_fixture_begin();
    uint64_t ada = votes_fixture_voter("ada"), bob = votes_fixture_voter("bob"),
             rivers = votes_fixture_policy(ada, "Clean rivers");
    Reason reason;
    votes_fixture_save(bob, rivers, 40);
    EXPECT_STATUS(votes_leave(fixture.votes, bob, &reason), STATUS_OK);
    EXPECT_STATUS(votes_leave(fixture.votes, bob, &reason), STATUS_OK);
    votes_fixture_sweep();
    EXPECT_I64(votes_fixture_total(rivers), 100);
    SaveResult result = votes_fixture_save(bob, rivers, 1);
    EXPECT(result.outcome == SAVE_REFUSED && result.rule == VOTE_RULE_CLOSED);
    votes_fixture_end();
}

TEST(a_policy_whose_entry_never_came_becomes_void_and_its_late_entry_finds_no_place)
{
    votes_fixture_begin();
    uint64_t ada = votes_fixture_voter("ada"), id;
    Reason reason;
    Policy policy;
    EXPECT_STATUS(policies_next_id(fixture.policies, &id), STATUS_OK);
    NewPolicy lost = {.id = id,
                      .text = {.name = SLICE("Never was"),
                               .description = SLICE_EMPTY,
                               .rationale = SLICE_EMPTY,
                               .category = fixture.category},
                      .creator = ada,
                      .seq = 1,
                      .version = {{9}},
                      .time_us = clock_now_us(fixture.world.clock)};
    EXPECT_STATUS(policies_create(fixture.policies, &lost, &reason), STATUS_OK);
    EXPECT_STATUS(votes_settle_creation(fixture.votes, id, 86400), STATUS_OK);
    EXPECT_STATUS(policies_fresh(fixture.policies, id, contract_arena(), &policy), STATUS_OK);
    EXPECT(policy.facts.moves[policy.facts.move_count - 1].state == POLICY_PENDING);
    EXPECT_STATUS(votes_settle_creation(fixture.votes, id, 0), STATUS_OK);
    EXPECT_STATUS(policies_fresh(fixture.policies, id, contract_arena(), &policy), STATUS_OK);
    EXPECT(policy.facts.moves[policy.facts.move_count - 1].state == POLICY_VOID);
    EXPECT_I64(votes_fixture_state(ada).seq, 1); /* the fence */
    EXPECT_I64(votes_fixture_state(ada).balance, 100);
    votes_fixture_end();
}

/* ---- Every store call goes wrong once ------------------------------------------------------------------------------ */

/* One save under a fault at the n-th call; false when the run was through without it. What was told must be true. */
static bool save_with_fault(uint64_t voter, uint64_t policy, int at, FaultFate fate)
{
    SaveResult result = {0};
    Id seen = votes_fixture_state(voter).version;
    uint64_t seq = votes_fixture_state(voter).seq;
    int64_t held = 1 + (int64_t)(seq % 50);
    faulty_plan(&fixture.faulty, at, fate, FAULT_ONCE);
    Status status = votes_fixture_try(voter, seen, (VoteRequest){.policy = policy, .held = held},
                                      contract_arena(), &result);
    bool struck = faulty_struck(&fixture.faulty);
    faulty_plan(&fixture.faulty, 0, FAULT_REFUSED, 0);
    VoterState state = votes_fixture_state(voter);
    if (status == STATUS_OK && result.outcome == SAVE_SAVED)
        EXPECT(state.seq == seq + 1 && id_equal(state.version, result.version));
    else if (status == STATUS_OK && result.outcome != SAVE_UNKNOWN)
        EXPECT_I64(state.seq, seq);
    else if (status != STATUS_OK && status != STATUS_UNKNOWN)
        EXPECT_I64(state.seq, seq);
    faulty_deliver(&fixture.faulty);
    if (status == STATUS_OK && result.outcome != SAVE_UNKNOWN && result.outcome != SAVE_SAVED)
        EXPECT_I64(votes_fixture_state(voter).seq, seq);
    return struck;
}

TEST(whatever_call_of_a_save_goes_wrong_the_voter_is_told_the_truth)
{
    for (FaultFate fate = 0; fate < FAULT_FATES; fate++) {
        votes_fixture_begin();
        uint64_t ada = votes_fixture_voter("ada"), bob = votes_fixture_voter("bob"),
                 rivers = votes_fixture_policy(ada, "Clean rivers");
        int at = 1;
        while (save_with_fault(bob, rivers, at, fate))
            at++;
        EXPECT(at > 2);
        votes_fixture_restart();
        votes_fixture_sweep();
        votes_fixture_check(32, 32);
        votes_fixture_end();
    }
}

/* The same for three in one call; what one meets must not be told to another. */
static bool saves_with_fault(const uint64_t *voters, uint64_t policy, int at, FaultFate fate)
{
    enum { COUNT = 3 };
    Together all = {0};
    uint64_t seqs[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        seqs[i] = votes_fixture_state(voters[i]).seq;
        together_ask(&all, i, voters[i],
                     (VoteRequest){.policy = policy, .held = 1 + (int64_t)(seqs[i] % 50)});
    }
    faulty_plan(&fixture.faulty, at, fate, FAULT_ONCE);
    together_save(&all, COUNT);
    bool struck = faulty_struck(&fixture.faulty);
    faulty_plan(&fixture.faulty, 0, FAULT_REFUSED, 0);
    faulty_deliver(&fixture.faulty);
    int untold = 0;
    for (size_t i = 0; i < COUNT; i++) {
        VoterState state = votes_fixture_state(voters[i]);
        bool is_saved = all.statuses[i] == STATUS_OK && all.results[i].outcome == SAVE_SAVED;
        bool is_unknown = all.statuses[i] == STATUS_UNKNOWN ||
                          (all.statuses[i] == STATUS_OK && all.results[i].outcome == SAVE_UNKNOWN);
        if (is_saved)
            EXPECT(state.seq == seqs[i] + 1 && id_equal(state.version, all.results[i].version));
        else if (!is_unknown)
            EXPECT_I64(state.seq, seqs[i]);
        untold += !is_saved;
    }
    EXPECT(untold <= 1);
    return struck;
}

TEST(whatever_call_of_several_saves_goes_wrong_each_voter_is_told_the_truth)
{
    for (FaultFate fate = 0; fate < FAULT_FATES; fate++) {
        votes_fixture_begin();
        uint64_t ada = votes_fixture_voter("ada"),
                 rivers = votes_fixture_policy(ada, "Clean rivers");
        uint64_t voters[] = {votes_fixture_voter("bob"), votes_fixture_voter("eve"),
                             votes_fixture_voter("joe")};
        int at = 1;
        while (saves_with_fault(voters, rivers, at, fate))
            at++;
        EXPECT(at > 6);
        votes_fixture_restart();
        votes_fixture_sweep();
        votes_fixture_check(64, 32);
        votes_fixture_end();
    }
}

TEST(whatever_call_of_a_projection_goes_wrong_the_next_one_mends_it)
{
    for (FaultFate fate = 0; fate < FAULT_FATES; fate++) {
        votes_fixture_begin();
        uint64_t ada = votes_fixture_voter("ada"), bob = votes_fixture_voter("bob");
        uint64_t rivers = votes_fixture_policy(ada, "Clean rivers"), voters[] = {ada, bob};
        for (int at = 1, struck = 1; struck; at++) {
            votes_fixture_save(bob, rivers, 1 + at % 60);
            faulty_plan(&fixture.faulty, at, fate, FAULT_ONCE);
            (void)!votes_project(fixture.votes, voters, 2);
            struck = faulty_struck(&fixture.faulty);
            faulty_plan(&fixture.faulty, 0, FAULT_REFUSED, 0);
            faulty_deliver(&fixture.faulty);
            votes_fixture_sweep();
            votes_fixture_check(32, 32);
        }
        votes_fixture_end();
    }
}
