/* cached_rows_test.c -- voters' rows that are kept in memory where nobody else writes: they spare reads, and are what stands in the store. */
#include <pthread.h>

#include "base/read_cache.h"
#include "faulty.h"
#include "ledger_fixture.h"

enum { VOTERS = 3, POLICIES = 5, SAVES = 300, THREADS = 6, SAVES_EACH = 60, UPDATE_CALL = 3 };

static Faulty faulty;
static Votes *keeper; /* on the faulty store, with copies; fixture.votes reads the store itself */
static uint64_t voters[VOTERS], policies[POLICIES];

static void begin_test(void)
{
    static const char *const NAMES[] = {"ann", "bob", "cyd", "dan", "eve"};
    ledger_fixture_begin();
    for (int i = 0; i < VOTERS; i++)
        voters[i] = ledger_fixture_voter(NAMES[i]);
    ledger_fixture_pass_days(60);
    for (int i = 0; i < POLICIES; i++)
        policies[i] = ledger_fixture_policy(voters[0], NAMES[i]);
    faulty_init(&faulty, fixture.store, fixture.arena);
    keeper = votes_new(&(VotesOptions){.store = &faulty.store,
                                       .world = fixture.world,
                                       .accounts = fixture.accounts,
                                       .policies = fixture.policies,
                                       .read_cache_us = READ_CACHE_EXACT});
}

static void end_test(void)
{
    votes_free(keeper);
    ledger_fixture_end();
}

static VoterState show(Votes *votes, uint64_t voter, Arena *arena)
{
    VoterState state = {.seq = 0};
    EXPECT_STATUS(votes_show(votes, voter, arena, &state), STATUS_OK);
    return state;
}

static void expect_equal(uint64_t voter)
{
    ARENA_SCOPE Arena *arena = arena_new();
    VoterState kept = show(keeper, voter, arena), stored = show(fixture.votes, voter, arena);
    EXPECT_I64(kept.seq, stored.seq);
    EXPECT(id_equal(kept.version, stored.version));
    EXPECT_I64(kept.time_us, stored.time_us);
    EXPECT_I64(kept.closed, stored.closed);
    EXPECT_I64(kept.balance, stored.balance);
    EXPECT_I64(kept.line_count, stored.line_count);
    for (size_t i = 0; i < kept.line_count; i++) {
        EXPECT_I64(kept.lines[i].policy, stored.lines[i].policy);
        EXPECT_I64(kept.lines[i].held, stored.lines[i].held);
        EXPECT_I64(kept.lines[i].withdrawn_centi, stored.lines[i].withdrawn_centi);
    }
}

/* On what `seen` was. */
static Status save_on(const VoterState *seen, uint64_t voter, VoteRequest want, Arena *arena,
                      SaveResult *ret_result)
{
    Reason reason;
    SaveRequest request = {.voter = voter,
                           .seen = seen->version,
                           .vote_requests = &want,
                           .vote_request_count = 1,
                           .token = id_new(fixture.world.clock, fixture.world.random)};
    return votes_save(keeper, &request, arena, ret_result, &reason);
}

static SaveOutcome save(uint64_t voter, uint64_t policy, int64_t held)
{
    ARENA_SCOPE Arena *arena = arena_new();
    SaveResult result = {.outcome = SAVE_UNKNOWN};
    VoterState seen = show(keeper, voter, arena);
    EXPECT_STATUS(
        save_on(&seen, voter, (VoteRequest){.policy = policy, .held = held}, arena, &result),
        STATUS_OK);
    return result.outcome;
}

/* Calls of the store by one look. */
static int calls_of_show(uint64_t voter)
{
    ARENA_SCOPE Arena *arena = arena_new();
    faulty_plan(&faulty, 0, FAULT_REFUSED, FAULT_ONCE);
    (void)show(keeper, voter, arena);
    return (int)faulty.calls;
}

TEST(a_row_is_read_once_and_known_after_a_save)
{
    begin_test();
    EXPECT_I64(calls_of_show(voters[1]), 1);
    EXPECT_I64(calls_of_show(voters[1]), 0);
    EXPECT_I64(save(voters[1], policies[2], 30), SAVE_SAVED);
    EXPECT_I64(calls_of_show(voters[1]), 0);
    expect_equal(voters[1]);
    end_test();
}

/* The lines as the voter sees them need the policies that the balance has asked for already. */
TEST(what_a_voter_sees_is_the_same_with_or_without_the_reader_of_the_state)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Account account;
    VoterState state;
    MergedLine *lines, *others;
    size_t count = 0, other_count = 0;
    begin_test();
    for (int i = 0; i < POLICIES; i++)
        EXPECT_I64(save(voters[1], policies[i], i + 1), SAVE_SAVED);
    EXPECT_STATUS(accounts_read(fixture.accounts, voters[1], arena, &account), STATUS_OK);
    EXPECT_STATUS(votes_cached(keeper, &account, arena, &state), STATUS_OK);
    EXPECT(state.reader != NULL);
    EXPECT_STATUS(votes_merged_lines(keeper, &state, arena, &lines, &count), STATUS_OK);
    state.reader = NULL;
    EXPECT_STATUS(votes_merged_lines(keeper, &state, arena, &others, &other_count), STATUS_OK);
    EXPECT_I64(count, POLICIES);
    EXPECT_I64(other_count, POLICIES);
    for (size_t i = 0; i < count && i < other_count; i++) {
        EXPECT_I64(lines[i].policy, others[i].policy);
        EXPECT_I64(lines[i].held, others[i].held);
        EXPECT_I64(lines[i].state, others[i].state);
    }
    end_test();
}

TEST(after_any_saves_the_copies_are_what_stands)
{
    uint64_t luck = 7;
    int counts[SAVE_UNKNOWN + 1] = {0};
    begin_test();
    for (int i = 0; i < SAVES; i++) {
        luck = luck * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint64_t voter = voters[(luck >> 33) % VOTERS], policy = policies[(luck >> 40) % POLICIES];
        counts[save(voter, policy, (int64_t)((luck >> 48) % 200))]++;
        expect_equal(voter);
        if (i % 50 == 49)
            ledger_fixture_pass_days(1);
    }
    printf("# %d saved, %d refused\n", counts[SAVE_SAVED], counts[SAVE_REFUSED]);
    EXPECT(counts[SAVE_SAVED] > SAVES / 4 && counts[SAVE_REFUSED] > 0);
    EXPECT_I64(counts[SAVE_STALE] + counts[SAVE_UNKNOWN], 0);
    end_test();
}

TEST(a_save_on_an_older_version_is_told_what_stands)
{
    ARENA_SCOPE Arena *arena = arena_new();
    SaveResult result;
    begin_test();
    VoterState seen = show(keeper, voters[1], arena);
    EXPECT_I64(save(voters[1], policies[0], 3), SAVE_SAVED);
    EXPECT_STATUS(
        save_on(&seen, voters[1], (VoteRequest){.policy = policies[1], .held = 5}, arena, &result),
        STATUS_OK);
    EXPECT_I64(result.outcome, SAVE_STALE);
    EXPECT_I64(result.state.line_count, 1);
    EXPECT_I64(result.state.lines[0].held, 3);
    expect_equal(voters[1]);
    end_test();
}

TEST(a_save_that_turns_out_to_be_there_counts_at_once)
{
    ARENA_SCOPE Arena *arena = arena_new();
    SaveResult result;
    begin_test();
    VoterState seen = show(keeper, voters[1], arena);
    faulty_plan(&faulty, UPDATE_CALL - 1, FAULT_LATE, FAULT_OUTAGE);
    EXPECT_STATUS(
        save_on(&seen, voters[1], (VoteRequest){.policy = policies[1], .held = 5}, arena, &result),
        STATUS_OK);
    EXPECT_I64(result.outcome, SAVE_UNKNOWN);
    faulty_arrive(&faulty, 0);
    EXPECT_I64(show(keeper, voters[1], arena).seq, seen.seq);
    faulty_deliver(&faulty);
    EXPECT_I64(show(keeper, voters[1], arena).seq, seen.seq + 1);
    expect_equal(voters[1]);
    end_test();
}

/* Each sees its own saves, whoever saves beside it. */
static void *save_on_and_on(void *argument)
{
    const uint64_t *policy = argument;
    ARENA_SCOPE Arena *arena = arena_new();
    intptr_t saved = 0;
    for (int64_t i = 1; i <= SAVES_EACH; i++) {
        SaveResult result = {.outcome = SAVE_STALE};
        while (result.outcome == SAVE_STALE) {
            VoterState seen;
            arena_reset(arena);
            if (votes_show(keeper, voters[1], arena, &seen) != STATUS_OK ||
                save_on(&seen, voters[1], (VoteRequest){.policy = *policy, .held = i}, arena,
                        &result) != STATUS_OK)
                return NULL;
        }
        VoterState after;
        if (result.outcome != SAVE_SAVED ||
            votes_show(keeper, voters[1], arena, &after) != STATUS_OK || after.seq < result.seq)
            return NULL;
        saved++;
    }
    return (void *)saved;
}

TEST(a_save_is_seen_by_its_thread_at_once_and_the_last_one_by_all)
{
    pthread_t threads[THREADS];
    begin_test();
    for (int i = 0; i < THREADS; i++)
        EXPECT(pthread_create(&threads[i], NULL, save_on_and_on, &policies[i % POLICIES]) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *saved;
        EXPECT(pthread_join(threads[i], &saved) == 0);
        EXPECT_I64((intptr_t)saved, SAVES_EACH);
    }
    expect_equal(voters[1]);
    end_test();
}
