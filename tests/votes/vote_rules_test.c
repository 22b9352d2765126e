/* vote_rules_test.c -- what a save may do and what it costs, by the rules alone: no store, no clock. */
#include "test.h"
#include "votes/vote_rules.h"
#include "world.h"

#define DAY (S_PER_DAY * US_PER_S)

enum { VOTER = 7, OWNER = 8, POLICIES = 40, MOVES = 16 };

/* A book of policies 1 … POLICIES that a test fills move by move. */
typedef struct Book {
    PolicyFacts facts[POLICIES + 1];
    PolicyMove moves[POLICIES + 1][MOVES];
} Book;

static Book lookup;
static VotingSettings versions[8];
static SettingsHistory settings;

static const PolicyFacts *find(void *self, uint64_t id)
{
    Book *in = self;
    return id >= 1 && id <= POLICIES && in->facts[id].move_count > 0 ? &in->facts[id] : NULL;
}

static const PolicyLookup BOOK = {find, &lookup};

static void move_with(uint64_t id, PolicyMove move)
{
    PolicyFacts *facts = &lookup.facts[id];
    CHECK(facts->move_count < MOVES);
    lookup.moves[id][facts->move_count] = move;
    *facts = (PolicyFacts){id, lookup.moves[id], facts->move_count + 1};
}

static void move(uint64_t id, PolicyState state, int64_t time_us)
{
    move_with(id, (PolicyMove){.state = state, .time_us = time_us});
}

/* All policies active since the beginning, default settings. */
static void begin(void)
{
    memset(&lookup, 0, sizeof lookup);
    for (uint64_t id = 1; id <= POLICIES; id++)
        move(id, POLICY_ACTIVE, 1);
    versions[0] = SETTINGS_AT_FIRST;
    settings = (SettingsHistory){versions, 1};
}

static VoteGround ground_of(uint64_t voter)
{
    return (VoteGround){voter, 0, &settings, &BOOK};
}

/* A voter's lines, to which accepted plans are applied. */
typedef struct Purse {
    VoteLine lines[128];
    size_t count;
} Purse;

static VoteLines lines_of(const Purse *purse)
{
    return (VoteLines){purse->lines, purse->count};
}

static void apply(Purse *purse, const VotePlan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        size_t at = 0;
        while (at < purse->count && purse->lines[at].policy < plan->lines[i].policy)
            at++;
        if (at == purse->count || purse->lines[at].policy != plan->lines[i].policy) {
            memmove(purse->lines + at + 1, purse->lines + at,
                    (purse->count - at) * sizeof(VoteLine));
            purse->count++;
        }
        purse->lines[at] = plan->lines[i];
    }
}

static VoteLine planned[VOTE_PLAN_MAX];

static VoteRule vote_request_at(Purse *purse, uint64_t voter, uint64_t policy, int64_t held,
                                int64_t time_us)
{
    VoteGround ground = ground_of(voter);
    VotePlan plan = {.lines = planned, .time_us = time_us};
    VoteRequest want = {.policy = policy, .held = held};
    VoteRule rule = vote_judge(&ground, lines_of(purse), &want, 1, &plan);
    if (rule == VOTE_RULE_NONE)
        apply(purse, &plan);
    return rule;
}

static int64_t balance_at(const Purse *purse, uint64_t voter, int64_t time_us)
{
    VoteGround ground = ground_of(voter);
    return vote_balance(&ground, lines_of(purse), time_us);
}

TEST(salary_is_due_at_registration_and_every_period)
{
    begin();
    Purse purse = {0};
    EXPECT_I64(balance_at(&purse, VOTER, 0), 100);
    EXPECT_I64(balance_at(&purse, VOTER, 7 * DAY - 1), 100);
    EXPECT_I64(balance_at(&purse, VOTER, 7 * DAY), 200);
}

TEST(nobody_spends_what_they_do_not_have)
{
    begin();
    Purse purse = {0};
    EXPECT(vote_request_at(&purse, VOTER, 1, 101, DAY) == VOTE_RULE_BALANCE);
    EXPECT(vote_request_at(&purse, VOTER, 1, 60, DAY) == VOTE_RULE_NONE);
    EXPECT(vote_request_at(&purse, VOTER, 2, 41, DAY) == VOTE_RULE_BALANCE);
    EXPECT(vote_request_at(&purse, VOTER, 2, 40, DAY) == VOTE_RULE_NONE);
    EXPECT_I64(balance_at(&purse, VOTER, DAY), 0);
}

TEST(one_polly_a_hundred_times_costs_what_a_hundred_at_once_cost)
{
    begin();
    Purse slow = {0}, fast = {0};
    versions[0].withdrawal_percent = 37;
    EXPECT(vote_request_at(&slow, VOTER, 1, 100, DAY) == VOTE_RULE_NONE);
    EXPECT(vote_request_at(&fast, VOTER, 1, 100, DAY) == VOTE_RULE_NONE);
    for (int64_t held = 99; held >= 0; held--)
        EXPECT(vote_request_at(&slow, VOTER, 1, held, 2 * DAY) == VOTE_RULE_NONE);
    EXPECT(vote_request_at(&fast, VOTER, 1, 0, 2 * DAY) == VOTE_RULE_NONE);
    EXPECT_I64(balance_at(&slow, VOTER, 2 * DAY), 63);
    EXPECT_I64(balance_at(&fast, VOTER, 2 * DAY), 63);
}

TEST(a_withdrawal_before_or_after_a_retirement_is_the_same_to_the_owner)
{
    for (int64_t taken = 0; taken <= 50; taken += 7) {
        begin();
        Purse before = {0}, after = {0};
        EXPECT(vote_request_at(&before, OWNER, 1, 50, DAY) == VOTE_RULE_NONE);
        after = before;
        EXPECT(vote_request_at(&before, OWNER, 1, 50 - taken, 2 * DAY) == VOTE_RULE_NONE);
        move_with(1,
                  (PolicyMove){
                      .state = POLICY_RETIRED, .time_us = 3 * DAY, .payer = OWNER, .percent = 50});
        EXPECT_I64(balance_at(&before, OWNER, 3 * DAY), 75);
        EXPECT_I64(balance_at(&after, OWNER, 3 * DAY), 75);
    }
}

TEST(retiring_gives_everyone_else_all_back)
{
    begin();
    Purse purse = {0};
    EXPECT(vote_request_at(&purse, VOTER, 1, 80, DAY) == VOTE_RULE_NONE);
    EXPECT(vote_request_at(&purse, VOTER, 1, 20, DAY) == VOTE_RULE_NONE);
    EXPECT_I64(balance_at(&purse, VOTER, DAY), 50);
    move_with(1, (PolicyMove){
                     .state = POLICY_RETIRED, .time_us = 2 * DAY, .payer = OWNER, .percent = 50});
    EXPECT_I64(balance_at(&purse, VOTER, 2 * DAY), 100);
    EXPECT_I64(balance_at(&purse, VOTER, 2 * DAY - 1), 50); /* the past stays */
    EXPECT(vote_request_at(&purse, VOTER, 1, 21, 2 * DAY) == VOTE_RULE_NOT_ACTIVE);
}

TEST(a_merge_keeps_what_is_held_and_gives_it_back_free_oldest_first)
{
    begin();
    Purse purse = {0};
    EXPECT(vote_request_at(&purse, VOTER, 1, 10, DAY) == VOTE_RULE_NONE);
    EXPECT(vote_request_at(&purse, VOTER, 2, 20, DAY) == VOTE_RULE_NONE);
    EXPECT(vote_request_at(&purse, VOTER, 3, 30, DAY) == VOTE_RULE_NONE);
    move_with(2, (PolicyMove){.state = POLICY_MERGED, .time_us = 2 * DAY, .other = 3});
    move_with(1, (PolicyMove){.state = POLICY_MERGED, .time_us = 3 * DAY, .other = 2});
    VoteGround ground = ground_of(VOTER);
    EXPECT_I64(vote_held_on(&ground, lines_of(&purse), 3, 4 * DAY), 60);
    EXPECT_I64(balance_at(&purse, VOTER, 4 * DAY), 40);
    EXPECT(vote_request_at(&purse, VOTER, 2, 0, 4 * DAY) == VOTE_RULE_MERGED);
    EXPECT(vote_request_at(&purse, VOTER, 3, 35, 4 * DAY) ==
           VOTE_RULE_NONE); /* 20 from 2, then 5 from 1 */
    EXPECT_I64(purse.lines[1].held, 0);
    EXPECT_I64(purse.lines[0].held, 5);
    EXPECT_I64(balance_at(&purse, VOTER, 4 * DAY), 65);
    EXPECT(vote_request_at(&purse, VOTER, 3, 20, 4 * DAY) ==
           VOTE_RULE_NONE); /* 5 free, 10 at half price */
    EXPECT_I64(balance_at(&purse, VOTER, 4 * DAY), 75);
}

TEST(a_change_of_setting_does_not_change_the_past)
{
    begin();
    Purse purse = {0};
    EXPECT(vote_request_at(&purse, VOTER, 1, 100, DAY) == VOTE_RULE_NONE);
    EXPECT(vote_request_at(&purse, VOTER, 1, 60, 2 * DAY) == VOTE_RULE_NONE);
    int64_t before = balance_at(&purse, VOTER, 5 * DAY);
    versions[1] = versions[0];
    versions[1].version = 1;
    versions[1].from_us = 6 * DAY;
    versions[1].salary = 10;
    versions[1].withdrawal_percent = 100;
    settings.count = 2;
    EXPECT_I64(balance_at(&purse, VOTER, 5 * DAY), before);
    EXPECT_I64(balance_at(&purse, VOTER, 7 * DAY), before + 10);
    EXPECT(vote_request_at(&purse, VOTER, 1, 50, 7 * DAY) == VOTE_RULE_NONE);
    EXPECT_I64(balance_at(&purse, VOTER, 7 * DAY), before + 10);
}

TEST(creating_costs_its_first_line)
{
    begin();
    Purse purse = {0};
    VoteGround ground = ground_of(VOTER);
    VotePlan plan = {.lines = planned, .time_us = DAY, .creates = 999};
    VoteRequest want = {.policy = 999, .held = 99};
    EXPECT(vote_judge(&ground, lines_of(&purse), &want, 1, &plan) == VOTE_RULE_CREATE_COST);
    want.held = 100;
    EXPECT(vote_judge(&ground, lines_of(&purse), &want, 1, &plan) == VOTE_RULE_NONE);
    EXPECT_I64(plan.balance, 0);
    plan.creates = 0;
    EXPECT(vote_judge(&ground, lines_of(&purse), &want, 1, &plan) == VOTE_RULE_NO_POLICY);
}

TEST(bounds_are_refused_by_their_rule)
{
    begin();
    Purse purse = {0};
    EXPECT(vote_request_at(&purse, VOTER, 1, -1, DAY) == VOTE_RULE_HELD);
    EXPECT(vote_request_at(&purse, VOTER, 1, VOTE_HELD_MAX + 1, DAY) == VOTE_RULE_HELD);
    EXPECT(vote_request_at(&purse, VOTER, 4711, 1, DAY) == VOTE_RULE_NO_POLICY);
    VoteGround ground = ground_of(VOTER);
    VotePlan plan = {.lines = planned, .time_us = DAY};
    VoteRequest twice[] = {{.policy = 1, .held = 1},
                           {.policy = 2, .held = 1},
                           {.policy = 1, .held = 2}},
                many[VOTE_CHANGES_MAX + 1] = {{0}};
    EXPECT(vote_judge(&ground, lines_of(&purse), twice, 3, &plan) == VOTE_RULE_TWICE);
    EXPECT_I64(plan.refused_policy, 1);
    EXPECT(vote_judge(&ground, lines_of(&purse), many, VOTE_CHANGES_MAX + 1, &plan) ==
           VOTE_RULE_CHANGES);
}

/* ---- Random histories ---------------------------------------------------------------------------------------- */

static PolicyState state_now(uint64_t id)
{
    return lookup.facts[id].moves[lookup.facts[id].move_count - 1].state;
}

/* One random move that the rules allow, or none. */
static void random_move(Random random, int64_t time_us)
{
    uint64_t id = 1 + random_u64(random) % POLICIES, other = 1 + random_u64(random) % POLICIES;
    PolicyMove next = {.state = (PolicyState)(random_u64(random) % POLICY_STATE_COUNT),
                       .time_us = time_us,
                       .other = other,
                       .payer = OWNER,
                       .percent = (int64_t)(random_u64(random) % 101)};
    Reason reason;
    if (lookup.facts[id].move_count + 2 >= MOVES ||
        policy_check_move(&lookup.facts[id], next.state, &reason) != STATUS_OK)
        return;
    if (state_now(id) == POLICY_PENDING_DELETION && next.state != POLICY_DELETED) {
        next =
            lookup.moves[id][lookup.facts[id].move_count - 2]; /* an appeal brings back what was */
        next.time_us = time_us;
    }
    if (next.state == POLICY_MERGING && (id == other || state_now(other) != POLICY_ACTIVE))
        return;
    if (next.state == POLICY_MERGED && state_now(other) != POLICY_ACTIVE)
        return;
    if (next.state == POLICY_MERGED && other == id)
        return;
    move_with(id, next);
}

TEST(no_move_lowers_a_balance_and_no_balance_is_ever_negative)
{
    uint64_t seed = getenv("OSTRAKA_SEED") != NULL ? strtoull(getenv("OSTRAKA_SEED"), NULL, 10) : 1;
    int saves = 0, moves = 0;
    for (uint64_t run = seed; run < seed + 400; run++) {
        TestWorld world;
        Random random = test_world(&world, run).random;
        begin();
        Purse purses[2] = {{{{0}}, 0}, {{{0}}, 0}};
        uint64_t voters[2] = {VOTER, OWNER};
        int64_t time_us = DAY;
        for (int step = 0; step < 300; step++) {
            time_us += 1 + (int64_t)(random_u64(random) % (DAY / 2));
            size_t who = random_u64(random) % 2;
            if (random_u64(random) % 3 != 0) {
                saves +=
                    vote_request_at(&purses[who], voters[who], 1 + random_u64(random) % POLICIES,
                                    (int64_t)(random_u64(random) % 60), time_us) == VOTE_RULE_NONE;
                if (balance_at(&purses[who], voters[who], time_us) < 0)
                    test_fail(__FILE__, __LINE__, "negative balance, seed %" PRIu64 " step %d", run,
                              step);
                continue;
            }
            int64_t before[2];
            size_t count = 0;
            for (uint64_t id = 1; id <= POLICIES; id++)
                count += lookup.facts[id].move_count;
            for (size_t i = 0; i < 2; i++)
                before[i] = balance_at(&purses[i], voters[i], time_us);
            random_move(random, time_us);
            for (uint64_t id = 1; id <= POLICIES; id++)
                moves += (int)lookup.facts[id].move_count;
            moves -= (int)count;
            for (size_t i = 0; i < 2; i++)
                if (balance_at(&purses[i], voters[i], time_us) < before[i])
                    test_fail(__FILE__, __LINE__,
                              "a move lowered a balance, seed %" PRIu64 " step %d", run, step);
        }
    }
    printf("# %d saves, %d moves\n", saves, moves);
    EXPECT(saves > 10000 && moves > 2000);
}
