/* bounds_test.c -- more of something than one step takes: marks of an hour, entries of a voter, hours of a count; and voters' copies that
 * are read just while the row changes. */
#include "base/read_cache.h"
#include "between.h"
#include "ledger_fixture.h"

/* ---- Marks and rounds ------------------------------------------------------------------------------------------ */

enum { MARKS = 2500, MARKS_OF_A_PAGE = 1000 };

/* An account whose id sorts behind those of many others. */
static uint64_t late_voter(void)
{
    Reason reason;
    uint64_t id;
    AccountsOptions options = {.store = fixture.store,
                               .world = fixture.world,
                               .vault = test_vault(),
                               .id_block = MARKS + 1};
    Accounts *others = accounts_new(&options);
    Registration person = {.name = SLICE("first"),
                           .email = SLICE("first@example.org"),
                           .without_password = true,
                           .confirmed = true};
    EXPECT_STATUS(accounts_register(others, &person, &id, &reason), STATUS_OK);
    accounts_free(others);
    uint64_t voter = ledger_fixture_voter("ann");
    EXPECT(voter > MARKS);
    return voter;
}

/* Marks of saves that never came, beside that of the voter: in its shard, before it. */
static void make_marks(uint32_t hour, uint64_t voter)
{
    RowChange *changes = ARENA_ARRAY(fixture.arena, MARKS, RowChange);
    for (size_t i = 0; i < MARKS; i++)
        changes[i] = (RowChange){&TABLE_DIRTY,
                                 ledger_mark_row(fixture.arena, hour, ledger_shard(voter)),
                                 {.column = ledger_u64(fixture.arena, i + 1),
                                  .timestamp = clock_now_us(fixture.world.clock),
                                  .ttl_s = DIRTY_TTL_S}};
    EXPECT_STATUS(store_write(fixture.store, &(Batch){changes, MARKS, false}), STATUS_OK);
}

TEST(a_sweep_follows_more_marks_than_a_page_has)
{
    ledger_fixture_begin();
    uint64_t voter = late_voter();
    ledger_fixture_pass_days(30);
    uint64_t policy = ledger_fixture_policy(voter, "clean rivers");
    uint32_t hour = ledger_hour(clock_now_us(fixture.world.clock));
    make_marks(hour, voter);
    ledger_fixture_restart(); /* nobody waits any more: marks alone tell */
    EXPECT_I64(ledger_fixture_total(policy), 0);
    size_t behind = 0;
    EXPECT_STATUS(votes_sweep_hour(fixture.votes, hour, &behind), STATUS_OK);
    EXPECT_I64(behind, 1);
    EXPECT_I64(ledger_fixture_total(policy), SETTINGS_AT_FIRST.create_cost);
    ledger_fixture_end();
}

TEST(a_voter_with_more_entries_than_a_round_is_carried_to_the_end)
{
    enum { ENTRIES = 2 * 64 + 7 };
    ledger_fixture_begin();
    uint64_t voter = ledger_fixture_voter("ann");
    ledger_fixture_pass_days(60);
    uint64_t policy = ledger_fixture_policy(voter, "clean rivers");
    for (int i = 1; i < ENTRIES; i++)
        ledger_fixture_save(voter, policy, SETTINGS_AT_FIRST.create_cost + i);
    ledger_fixture_restart();
    EXPECT_STATUS(votes_project(fixture.votes, &voter, 1), STATUS_OK);
    EXPECT_I64(ledger_fixture_total(policy), SETTINGS_AT_FIRST.create_cost + ENTRIES - 1);
    Recount recount;
    EXPECT_STATUS(votes_recount(fixture.votes, policy, &recount), STATUS_OK);
    EXPECT_I64(recount.sums, SETTINGS_AT_FIRST.create_cost + ENTRIES - 1);
    ledger_fixture_end();
}

/* ---- Hours of a count ------------------------------------------------------------------------------------------ */

typedef struct HourSum {
    uint64_t policy;
    int64_t change;
} HourSum;

static void add_hour(void *context, uint64_t policy, int64_t change)
{
    HourSum *sum = context;
    sum->change += sum->policy == policy ? change : 0;
}

static int64_t changed_in(uint32_t hour, uint64_t policy)
{
    HourSum sum = {.policy = policy};
    EXPECT_STATUS(votes_hour_changes(fixture.votes, hour, add_hour, &sum), STATUS_OK);
    return sum.change;
}

/* Two voters whose lines are in one bucket. */
static void two_of_a_bucket(uint64_t ret_voters[2])
{
    uint64_t seen[COUNT_BUCKETS] = {0};
    for (int i = 0;; i++) {
        uint64_t voter = ledger_fixture_voter(
            arena_print(fixture.arena, "voter%c%c%c", 'a' + i / 26, 'a' + i % 26, '\0').data);
        uint8_t bucket = ledger_shard(voter);
        if (seen[bucket] != 0) {
            ret_voters[0] = seen[bucket];
            ret_voters[1] = voter;
            return;
        }
        seen[bucket] = voter;
    }
}

/* Both are counted by one update; the handle then remembers the sum, and the change of the later hour with it. */
TEST(each_hour_has_its_own_change_when_several_are_counted_together)
{
    uint64_t voters[2];
    ledger_fixture_begin();
    uint64_t owner = ledger_fixture_voter("owner");
    two_of_a_bucket(voters);
    ledger_fixture_pass_days(60);
    uint64_t policy = ledger_fixture_policy(owner, "clean rivers");
    ledger_fixture_project();
    test_world_pass(&fixture.own, 3600 * US_PER_S);
    uint32_t hour = ledger_hour(clock_now_us(fixture.world.clock));
    for (int first = 0; first < 2; first++) {
        ledger_fixture_save(voters[first], policy, 10 + first);
        test_world_pass(&fixture.own, 3600 * US_PER_S);
        ledger_fixture_save(voters[1 - first], policy, 100 + first);
        ledger_fixture_project();
        ledger_fixture_save(voters[first], policy, 200 + first);
        ledger_fixture_project();
        test_world_pass(&fixture.own, 3600 * US_PER_S);
    }
    EXPECT_I64(changed_in(hour, policy), 10);
    EXPECT_I64(changed_in(hour + 1, policy), 100 + 190);
    EXPECT_I64(changed_in(hour + 2, policy), 11 - 100);
    EXPECT_I64(changed_in(hour + 3, policy), 101 - 200 + 201 - 11);
    ledger_fixture_end();
}

/* ---- Copies ---------------------------------------------------------------------------------------------------- */

static Between between;
static Votes *keeper; /* with exact copies */
static uint64_t looked_at;

static void look(void)
{
    ARENA_SCOPE Arena *arena = arena_new();
    VoterState state;
    EXPECT_STATUS(votes_show(keeper, looked_at, arena, &state), STATUS_OK);
}

static void keeper_begin(void)
{
    ledger_fixture_begin();
    looked_at = ledger_fixture_voter("ann");
    ledger_fixture_pass_days(60);
    between_init(&between, fixture.store);
    between.happen = look;
    keeper = votes_new(&(VotesOptions){.store = &between.store,
                                       .world = fixture.world,
                                       .accounts = fixture.accounts,
                                       .policies = fixture.policies,
                                       .read_cache_us = READ_CACHE_EXACT});
}

static void keeper_expect_stored(void)
{
    VoterState kept, stored = ledger_fixture_show(looked_at);
    EXPECT_STATUS(votes_show(keeper, looked_at, fixture.arena, &kept), STATUS_OK);
    EXPECT_I64(kept.seq, stored.seq);
    EXPECT_I64(kept.closed, stored.closed);
    EXPECT(id_equal(kept.version, stored.version));
}

static void keeper_end(void)
{
    votes_free(keeper);
    ledger_fixture_end();
}

/* Somebody looks before each call of the store, so also between the decision to write and the write. */
TEST(what_is_read_while_a_row_changes_is_not_kept)
{
    Reason reason = {.rule = ""};
    keeper_begin();
    (void)ledger_fixture_policy(looked_at, "clean rivers");
    between.armed = true;
    EXPECT_STATUS(votes_leave(keeper, looked_at, &reason), STATUS_OK);
    between.armed = false;
    keeper_expect_stored();
    EXPECT(ledger_fixture_show(looked_at).closed);
    keeper_end();
}

/* A policy whose entry never came is settled by an empty entry in its creator's row. */
TEST(a_fence_leaves_no_copy_behind)
{
    Reason reason = {.rule = ""};
    keeper_begin();
    NewPolicy policy = {.text = {.name = SLICE("never"), .category = LEDGER_FIXTURE_CATEGORY},
                        .creator = looked_at,
                        .seq = 1,
                        .version = id_new(fixture.world.clock, fixture.world.random),
                        .time_us = clock_now_us(fixture.world.clock)};
    EXPECT_STATUS(policies_next_id(fixture.policies, &policy.id), STATUS_OK);
    EXPECT_STATUS(policies_create(fixture.policies, &policy, &reason), STATUS_OK);
    look();
    ledger_fixture_pass_days(1);
    EXPECT_STATUS(votes_settle_creation(keeper, policy.id, 60), STATUS_OK);
    EXPECT_I64(ledger_fixture_show(looked_at).seq, 1);
    EXPECT_I64(ledger_fixture_state(policy.id), POLICY_VOID);
    keeper_expect_stored();
    keeper_end();
}
