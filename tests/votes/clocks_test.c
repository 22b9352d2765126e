/* clocks_test.c -- what the ledger does when clocks do not go as they should: caches after a suspend, moves that are dated ahead, and what
 * another instance did meanwhile. */
#include "ledger_fixture.h"

enum { MINUTE_S = 60, HOUR_S = 3600 };

/* What another instance has: nothing of what this one keeps in memory. */
typedef struct Other {
    Accounts *accounts;
    Policies *policies;
    Votes *votes;
} Other;

static Other other_begin(void)
{
    Other other = {
        .accounts = accounts_new(&(AccountsOptions){
            .store = fixture.store, .world = fixture.world, .vault = test_vault(), .id_block = 16}),
        .policies = policies_new(&(PoliciesOptions){
            .store = fixture.store, .world = fixture.world, .id_block = 16, .cache_s = 600})};
    other.votes = votes_new(&(VotesOptions){.store = fixture.store,
                                            .world = fixture.world,
                                            .accounts = other.accounts,
                                            .policies = other.policies});
    return other;
}

static void other_end(Other *other)
{
    votes_free(other->votes);
    policies_free(other->policies);
    accounts_free(other->accounts);
}

/* The wall clock goes on and the steady one does not, as in a suspend; or the other way round, as when it is set back. */
typedef enum Jump { JUMP_WALL, JUMP_STEADY, JUMPS } Jump;

static void jump(Jump which, int64_t seconds)
{
    if (which == JUMP_STEADY)
        test_world_pass(&fixture.own, seconds * US_PER_S);
    test_world_step(&fixture.own, (which == JUMP_WALL ? 1 : -1) * seconds * US_PER_S);
}

static SaveResult save_as(Votes *votes, const SaveRequest *request)
{
    SaveResult result = {.seq = 0};
    Reason reason = {.rule = ""};
    EXPECT_STATUS(votes_save(votes, request, fixture.arena, &result, &reason), STATUS_OK);
    return result;
}

static int64_t balance_by(Votes *votes, uint64_t voter)
{
    VoterState state;
    EXPECT_STATUS(votes_show(votes, voter, fixture.arena, &state), STATUS_OK);
    return state.balance;
}

/* ---- Caches -------------------------------------------------------------------------------------------------------- */

TEST(a_salary_that_is_over_is_not_paid_after_a_suspend)
{
    ledger_fixture_begin();
    Other other = other_begin();
    Reason reason = {.rule = ""};
    uint64_t ann = ledger_fixture_voter("ann");
    EXPECT_I64(balance_by(fixture.votes, ann), 100); /* and the settings are in memory */
    EXPECT_STATUS(
        settings_set(accounts_settings(other.accounts), SLICE("salary"), SLICE("1"), 0, &reason),
        STATUS_OK);
    jump(JUMP_WALL, 15 * S_PER_DAY);
    EXPECT_I64(balance_by(fixture.votes, ann), 102);
    other_end(&other);
    ledger_fixture_end();
}

TEST(settings_are_not_older_than_a_minute_by_either_clock)
{
    for (Jump which = 0; which < JUMPS; which++) {
        ledger_fixture_begin();
        Other other = other_begin();
        Reason reason = {.rule = ""};
        SettingsHistory history;
        EXPECT_STATUS(settings_read(accounts_settings(fixture.accounts), fixture.arena, &history),
                      STATUS_OK);
        EXPECT_STATUS(settings_set(accounts_settings(other.accounts), SLICE("salary"), SLICE("1"),
                                   0, &reason),
                      STATUS_OK);
        jump(which, SETTING_CACHE_S);
        EXPECT_STATUS(settings_read(accounts_settings(fixture.accounts), fixture.arena, &history),
                      STATUS_OK);
        EXPECT_I64(history.count, 2);
        other_end(&other);
        ledger_fixture_end();
    }
}

TEST(generations_are_not_older_than_their_time_by_either_clock)
{
    for (Jump which = 0; which < JUMPS; which++) {
        ledger_fixture_begin();
        Other other = other_begin();
        Generations known;
        EXPECT_STATUS(votes_generations(fixture.votes, &known), STATUS_OK);
        int64_t steady_us = clock_steady_us(fixture.world.clock);
        EXPECT_STATUS(votes_rebuild(other.votes, &(RebuildOptions){.settle_s = 0}), STATUS_OK);
        EXPECT_I64(clock_steady_us(fixture.world.clock), steady_us);
        jump(which, GENERATIONS_CACHE_S);
        EXPECT_STATUS(votes_generations(fixture.votes, &known), STATUS_OK);
        EXPECT(known.current > 0);
        other_end(&other);
        ledger_fixture_end();
    }
}

TEST(facts_of_policies_are_not_older_than_their_time_by_either_clock)
{
    for (Jump which = 0; which < JUMPS; which++) {
        ledger_fixture_begin();
        Other other = other_begin();
        Reason reason = {.rule = ""};
        uint64_t ann = ledger_fixture_voter("ann"), bob = ledger_fixture_voter("bob");
        uint64_t policy = ledger_fixture_policy(ann, "Trams");
        ledger_fixture_save(bob, policy, 100);
        PolicyMove move = {.state = POLICY_RETIRED, .reason = SLICE("Done.")};
        EXPECT_STATUS(policies_move(other.policies, policy, POLICY_ACTIVE, &move, &reason),
                      STATUS_OK);
        EXPECT_I64(balance_by(fixture.votes, bob), 0); /* it has not heard of it */
        jump(which, MINUTE_S);
        if (which == JUMP_STEADY) /* the move is dated behind what the wall clock shows now */
            test_world_step(&fixture.own, MINUTE_S * US_PER_S);
        EXPECT_I64(balance_by(fixture.votes, bob), 100);
        other_end(&other);
        ledger_fixture_end();
    }
}

/* ---- Moves that are dated ahead -------------------------------------------------------------------------------------- */

TEST(a_move_that_a_wrong_clock_dated_ahead_freezes_nobody_after_its_repair)
{
    ledger_fixture_begin();
    Reason reason = {.rule = ""};
    SaveOutcome outcome;
    uint32_t moves = 0;
    uint64_t ann = ledger_fixture_voter("ann"), bob = ledger_fixture_voter("bob");
    ledger_fixture_pass_days(30);
    uint64_t trams = ledger_fixture_policy(ann, "Trams"),
             boats = ledger_fixture_policy(ann, "Boats");
    ledger_fixture_save(bob, trams, 50);
    test_world_step(&fixture.own, 365 * S_PER_DAY * US_PER_S);
    ledger_fixture_move(trams, POLICY_RETIRED); /* no guard watches this handle */
    test_world_step(&fixture.own, -365 * S_PER_DAY * US_PER_S);
    ledger_fixture_restart();
    int64_t before[] = {balance_by(fixture.votes, ann), balance_by(fixture.votes, bob)};
    EXPECT_STATUS(ledger_fixture_try_save(bob, boats, 10, &outcome), STATUS_OK);
    EXPECT_I64(outcome, SAVE_REFUSED); /* by the rule AHEAD, and for a year */
    PolicyMove gone = {.state = POLICY_PENDING_DELETION, .reason = SLICE("It is abuse.")};
    EXPECT_STATUS(policies_move(fixture.policies, trams, POLICY_RETIRED, &gone, &reason),
                  STATUS_UNAVAILABLE); /* it would be dated behind that */
    EXPECT_STATUS(policies_retime(fixture.policies, boats, &moves, &reason), STATUS_REFUSED);
    EXPECT_STATUS(policies_retime(fixture.policies, trams, &moves, &reason), STATUS_OK);
    EXPECT_I64(moves, 1);
    test_world_pass(&fixture.own, US_PER_S);
    EXPECT(balance_by(fixture.votes, ann) >= before[0]);
    EXPECT_I64(balance_by(fixture.votes, bob), before[1] + 50);
    ledger_fixture_save(bob, boats, 10);
    EXPECT_STATUS(policies_retime(fixture.policies, trams, &moves, &reason), STATUS_REFUSED);
    EXPECT_STATUS(policies_move(fixture.policies, trams, POLICY_RETIRED, &gone, &reason),
                  STATUS_OK);
    ledger_fixture_end();
}

TEST(a_merge_that_was_dated_ahead_is_repaired_from_its_target_on)
{
    ledger_fixture_begin();
    Reason reason = {.rule = ""};
    uint32_t moves = 0;
    uint64_t ann = ledger_fixture_voter("ann"), bob = ledger_fixture_voter("bob");
    ledger_fixture_pass_days(30);
    uint64_t trams = ledger_fixture_policy(ann, "Trams");
    ledger_fixture_save(bob, trams, 50);
    test_world_step(&fixture.own, 365 * S_PER_DAY * US_PER_S);
    uint64_t target = 0;
    PolicyText text = {.name = SLICE("Rails"), .category = LEDGER_FIXTURE_CATEGORY};
    PolicyMerge merge = {.id = id_new(fixture.world.clock, fixture.world.random),
                         .source = trams,
                         .reason = SLICE("The same.")};
    EXPECT_STATUS(policies_merge_target(fixture.policies, &merge, &text, &target, &reason),
                  STATUS_OK);
    merge.target = target;
    EXPECT_STATUS(policies_merge_named(fixture.policies, &merge, &reason), STATUS_OK);
    test_world_step(&fixture.own, -365 * S_PER_DAY * US_PER_S);
    ledger_fixture_restart();
    EXPECT_STATUS(policies_retime(fixture.policies, trams, &moves, &reason), STATUS_REFUSED);
    EXPECT_STATUS(policies_retime(fixture.policies, target, &moves, &reason), STATUS_OK);
    EXPECT_STATUS(policies_retime(fixture.policies, trams, &moves, &reason), STATUS_OK);
    EXPECT_I64(moves, 2);
    test_world_pass(&fixture.own, US_PER_S);
    ledger_fixture_save(bob, target, 60); /* the line of the merge, and ten more */
    EXPECT_I64(ledger_fixture_state(trams), POLICY_MERGED);
    ledger_fixture_end();
}

TEST(nothing_moves_while_the_clock_is_in_doubt)
{
    ledger_fixture_begin();
    Reason reason = {.rule = ""};
    SaveResult result;
    uint64_t ann = ledger_fixture_voter("ann");
    ledger_fixture_pass_days(30);
    uint64_t trams = ledger_fixture_policy(ann, "Trams");
    ClockGuard *guard = clock_guard_new(fixture.world.clock);
    Policies *policies = policies_new(&(PoliciesOptions){.store = fixture.store,
                                                         .world = fixture.world,
                                                         .clock_guard = guard,
                                                         .id_block = 16,
                                                         .cache_s = 60});
    Votes *votes = votes_new(&(VotesOptions){.store = fixture.store,
                                             .world = fixture.world,
                                             .accounts = fixture.accounts,
                                             .policies = policies});
    test_world_step(&fixture.own, (CLOCK_GUARD_S + 1) * US_PER_S);
    PolicyMove move = {.state = POLICY_RETIRED, .reason = SLICE("Done.")};
    EXPECT_STATUS(policies_move(policies, trams, POLICY_ACTIVE, &move, &reason),
                  STATUS_UNAVAILABLE);
    EXPECT(strstr(reason.rule, "clock confirm") != NULL);
    EXPECT_STATUS(policies_merge(policies, trams, trams + 1, 0, SLICE("No."), &reason),
                  STATUS_REFUSED); /* there is no such policy */
    PolicyText text = {.name = SLICE("Boats"), .category = LEDGER_FIXTURE_CATEGORY};
    SaveRequest request = {.voter = ann,
                           .seen = ledger_fixture_show(ann).version,
                           .create = &text,
                           .create_held = SETTINGS_AT_FIRST.create_cost};
    EXPECT_STATUS(votes_save(votes, &request, fixture.arena, &result, &reason), STATUS_UNAVAILABLE);
    ledger_fixture_save(ann, trams, 110); /* votes go on */
    clock_guard_confirm(guard);
    request.seen = ledger_fixture_show(ann).version;
    EXPECT_I64(save_as(votes, &request).outcome, SAVE_SAVED);
    /* Ahead of the only other instance; of one of two; and of both. */
    int64_t now_us = clock_now_us(fixture.world.clock), apart_us = (CLOCK_GUARD_S + 1) * US_PER_S;
    clock_guard_hear(guard, (int64_t[]){now_us - apart_us}, 1);
    EXPECT_STATUS(policies_move(policies, trams, POLICY_ACTIVE, &move, &reason),
                  STATUS_UNAVAILABLE);
    clock_guard_hear(guard, (int64_t[]){now_us - apart_us, now_us}, 2);
    EXPECT_STATUS(clock_guard_check(guard, &reason), STATUS_OK);
    clock_guard_hear(guard, (int64_t[]){now_us - apart_us, now_us - apart_us}, 2);
    EXPECT_STATUS(clock_guard_check(guard, &reason), STATUS_UNAVAILABLE);
    clock_guard_hear(guard, (int64_t[]){now_us + apart_us}, 1); /* behind is no harm */
    EXPECT_STATUS(policies_move(policies, trams, POLICY_ACTIVE, &move, &reason), STATUS_OK);
    test_world_step(&fixture.own, -(CLOCK_GUARD_S + 1) * US_PER_S);
    EXPECT_STATUS(policies_move(policies, trams, POLICY_ACTIVE, &move, &reason),
                  STATUS_OK); /* it is done already, whatever the clock says now */
    votes_free(votes);
    policies_free(policies);
    clock_guard_free(guard);
    ledger_fixture_end();
}

/* ---- What a request means --------------------------------------------------------------------------------------------- */

typedef struct Merged {
    Other other; /* has not heard of the merge */
    uint64_t bob, target, source;
    Id seen;
} Merged;

/* Bob holds 4 on the target and 6 on the source, which are merged after the other instance has read both. */
static Merged merged_begin(void)
{
    Reason reason = {.rule = ""};
    ledger_fixture_begin();
    uint64_t ann = ledger_fixture_voter("ann");
    Merged merged = {.bob = ledger_fixture_voter("bob")};
    ledger_fixture_pass_days(30);
    merged.target = ledger_fixture_policy(ann, "Trams");
    merged.source = ledger_fixture_policy(ann, "Trams and trains");
    ledger_fixture_save(merged.bob, merged.target, 4);
    ledger_fixture_save(merged.bob, merged.source, 6);
    merged.other = other_begin();
    merged.seen = ledger_fixture_show(merged.bob).version;
    (void)balance_by(merged.other.votes, merged.bob);
    EXPECT_STATUS(policies_merge(fixture.policies, merged.source, merged.target, 0,
                                 SLICE("The same."), &reason),
                  STATUS_OK);
    return merged;
}

static SaveResult save_line(const Merged *merged, Votes *votes, int64_t held, int64_t was)
{
    VoteRequest want = {.policy = merged->target, .held = held, .has_seen = was >= 0, .seen = was};
    SaveRequest request = {.voter = merged->bob,
                           .seen = merged->seen,
                           .vote_requests = &want,
                           .vote_request_count = 1};
    return save_as(votes, &request);
}

static int64_t held_on_both(const Merged *merged)
{
    VoterState state = ledger_fixture_show(merged->bob);
    int64_t held = 0;
    for (size_t i = 0; i < state.line_count; i++)
        held += state.lines[i].held;
    return held;
}

static void merged_end(Merged *merged)
{
    other_end(&merged->other);
    ledger_fixture_end();
}

TEST(a_form_from_before_a_merge_is_stale_though_nobody_saved)
{
    Merged merged = merged_begin();
    SaveResult result = save_line(&merged, fixture.votes, 8, 4);
    EXPECT_I64(result.outcome, SAVE_STALE); /* it would have taken two of ten away */
    EXPECT(id_equal(result.state.version, merged.seen));
    EXPECT_I64(held_on_both(&merged), 10);
    EXPECT_I64(save_line(&merged, fixture.votes, 14, 10).outcome, SAVE_SAVED);
    EXPECT_I64(held_on_both(&merged), 14);
    merged_end(&merged);
}

TEST(a_wish_for_a_policy_that_was_merged_since_is_stale)
{
    Merged merged = merged_begin();
    uint64_t target = merged.target;
    merged.target = merged.source;
    EXPECT_I64(save_line(&merged, fixture.votes, 8, 6).outcome, SAVE_STALE);
    EXPECT_I64(save_line(&merged, fixture.votes, 8, -1).rule, VOTE_RULE_MERGED);
    merged.target = target;
    merged_end(&merged);
}

TEST(an_instance_that_has_not_heard_of_a_merge_judges_by_what_was_seen)
{
    Merged merged = merged_begin();
    SaveResult result = save_line(&merged, merged.other.votes, 8, 10); /* two less of ten */
    EXPECT_I64(result.outcome, SAVE_SAVED);
    EXPECT_I64(held_on_both(&merged), 8);
    merged_end(&merged);
}

TEST(an_instance_that_has_not_heard_of_a_merge_takes_its_own_form)
{
    Merged merged = merged_begin();
    SaveResult result =
        save_line(&merged, merged.other.votes, 8, 4); /* four more, as shown there */
    EXPECT_I64(result.outcome, SAVE_SAVED);
    EXPECT_I64(held_on_both(&merged), 14);
    merged_end(&merged);
}

TEST(a_token_is_one_save_whatever_version_it_comes_with)
{
    ledger_fixture_begin();
    uint64_t ann = ledger_fixture_voter("ann");
    ledger_fixture_pass_days(30);
    PolicyText text = {.name = SLICE("Trams"), .category = LEDGER_FIXTURE_CATEGORY};
    SaveRequest request = {.voter = ann,
                           .create = &text,
                           .create_held = SETTINGS_AT_FIRST.create_cost,
                           .token = {{1, 2, 3}}};
    SaveResult first = save_as(fixture.votes, &request);
    EXPECT_I64(first.outcome, SAVE_SAVED);
    request.seen = first.version; /* as a program does that reads its votes and tries again */
    SaveResult again = save_as(fixture.votes, &request);
    EXPECT_I64(again.outcome, SAVE_SAVED);
    EXPECT_I64(again.created, first.created);
    EXPECT(id_equal(again.version, first.version));
    EXPECT_I64(ledger_fixture_show(ann).seq, 1);
    ledger_fixture_save(ann, first.created, 120);
    request.seen = ledger_fixture_show(ann).version;
    EXPECT_I64(save_as(fixture.votes, &request).seq, 1);
    EXPECT_I64(ledger_fixture_show(ann).seq, 2);
    ledger_fixture_end();
}
