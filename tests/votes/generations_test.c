/* generations_test.c -- building the derived rows anew beside those that are in use. */
#include "ledger_fixture.h"

static const RebuildOptions QUICK = {.settle_s = 1};

static Generations generations(void)
{
    Generations read = {0};
    EXPECT_STATUS(votes_generations(fixture.votes, &read), STATUS_OK);
    return read;
}

/* Overwrites the total of a policy's bucket with nonsense, as a bug would. */
static void break_total(uint64_t voter, uint64_t policy)
{
    BUFFER_SCOPE Buffer value = {0};
    Sum wrong = {.ver = 1000, .count = {.total = 4711}};
    char bucket = (char)ledger_shard(voter);
    ledger_put_sum(&value, &wrong);
    RowChange change = {&TABLE_POLICY_TOTALS,
                        ledger_totals_row(fixture.arena, generations().current, policy),
                        {.column = slice_of(&bucket, 1),
                         .value = buffer_slice(&value),
                         .timestamp = (int64_t)wrong.ver}};
    EXPECT_STATUS(store_write(fixture.store, &(Batch){&change, 1, false}), STATUS_OK);
}

TEST(a_rebuild_gives_the_counts_that_the_logs_say)
{
    ledger_fixture_begin();
    ledger_fixture_voter("ann");
    uint64_t ben = ledger_fixture_voter("ben");
    ledger_fixture_pass_days(21);
    uint64_t policy = ledger_fixture_policy(ben, "Trams");
    ledger_fixture_save(ben, policy, 130);
    ledger_fixture_save(ben, policy, 120);
    ledger_fixture_project();
    EXPECT_I64(ledger_fixture_total(policy), 120);
    break_total(ben, policy);
    EXPECT(ledger_fixture_total(policy) != 120);
    EXPECT_STATUS(votes_rebuild(fixture.votes, &QUICK), STATUS_OK);
    EXPECT_I64(ledger_fixture_total(policy), 120);
    EXPECT_I64(votes_generation(fixture.votes), 1);
    EXPECT(!generations().has_also);
    ledger_fixture_restart();
    EXPECT_I64(ledger_fixture_total(policy), 120);
    ledger_fixture_save(ben, policy, 125);
    ledger_fixture_project();
    EXPECT_I64(ledger_fixture_total(policy), 125);
    ledger_fixture_end();
}

typedef struct Meanwhile {
    uint64_t voter, policy;
    int64_t held;
    Votes *other; /* a handle that knows nothing of the rebuild */
} Meanwhile;

static void save_meanwhile(void *self, uint64_t voters)
{
    Meanwhile *with = self;
    (void)voters;
    EXPECT(generations().has_also);
    ledger_fixture_save(with->voter, with->policy, ++with->held);
    EXPECT_STATUS(votes_project(with->other, &with->voter, 1), STATUS_OK);
}

TEST(saves_during_a_rebuild_are_in_both)
{
    ledger_fixture_begin();
    uint64_t ann = ledger_fixture_voter("ann");
    ledger_fixture_pass_days(21);
    uint64_t policy = ledger_fixture_policy(ann, "Trams");
    ledger_fixture_project();
    Meanwhile with = {ann, policy, 100, ledger_fixture_instance()};
    RebuildOptions options = {
        .settle_s = 2 * GENERATIONS_CACHE_S, .progress = save_meanwhile, .self = &with};
    /* It has the pointer in its cache when the rebuild begins. */
    EXPECT_STATUS(votes_project(with.other, &ann, 1), STATUS_OK);
    EXPECT_STATUS(votes_rebuild(fixture.votes, &options), STATUS_OK);
    EXPECT_I64(with.held, 101);
    EXPECT_I64(ledger_fixture_total(policy), 101);
    votes_free(with.other);
    ledger_fixture_end();
}

/* The rebuild ends after the pass, as if its process had died. */
typedef struct Death {
    Votes *other;
    uint64_t voters;
} Death;

static void step_of_another(void *self, uint64_t voters)
{
    Death *death = self;
    death->voters = voters;
    EXPECT_STATUS(votes_rebuild(death->other, &QUICK), STATUS_OK);
}

TEST(of_two_rebuilds_one_is_told_and_nothing_is_lost)
{
    ledger_fixture_begin();
    uint64_t ann = ledger_fixture_voter("ann");
    ledger_fixture_pass_days(21);
    uint64_t policy = ledger_fixture_policy(ann, "Trams");
    ledger_fixture_project();
    Death death = {ledger_fixture_instance(), 0};
    RebuildOptions options = {.settle_s = 1, .progress = step_of_another, .self = &death};
    EXPECT_STATUS(votes_rebuild(fixture.votes, &options), STATUS_CONFLICT);
    EXPECT_I64(death.voters, 1);
    test_world_pass(&fixture.own, GENERATIONS_CACHE_S * US_PER_S);
    EXPECT_I64(generations().current, 1);
    EXPECT(!generations().has_also);
    EXPECT_I64(ledger_fixture_total(policy), 100);
    votes_free(death.other);
    ledger_fixture_end();
}

/* What a rebuild that died leaves behind: generation 1 beside 0. */
static void leave_behind(uint32_t current, uint32_t also)
{
    BUFFER_SCOPE Buffer value = {0};
    Id id = id_new(fixture.world.clock, fixture.world.random);
    buffer_bytes(&value, id_slice(&id));
    buffer_u8(&value, 1);
    buffer_u64(&value, 1);
    buffer_u32(&value, current);
    buffer_u8(&value, true);
    buffer_u32(&value, also);
    buffer_u32(&value, 1);
    Condition condition = {.column = SLICE("state"), .absent = true};
    Change change = {.column = SLICE("state"), .value = buffer_slice(&value)};
    Update update = {.table = &TABLE_GENERATIONS,
                     .row = SLICE("derived"),
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = &change,
                     .change_count = 1};
    EXPECT_STATUS(store_update_if(fixture.store, &update, fixture.arena, NULL), STATUS_OK);
    ledger_fixture_restart();
    EXPECT(generations().has_also);
}

TEST(a_rebuild_goes_on_where_another_was_left)
{
    ledger_fixture_begin();
    uint64_t ann = ledger_fixture_voter("ann");
    ledger_fixture_pass_days(21);
    uint64_t policy = ledger_fixture_policy(ann, "Trams");
    ledger_fixture_project();
    leave_behind(0, 1);
    ledger_fixture_save(ann, policy, 103);
    ledger_fixture_project();
    EXPECT_STATUS(votes_rebuild(fixture.votes, &QUICK), STATUS_OK);
    EXPECT_I64(generations().current, 1);
    EXPECT_I64(generations().last, 1);
    EXPECT_I64(ledger_fixture_total(policy), 103);
    ledger_fixture_end();
}

/* Ending it would leave what is read now as it is, and that is what should be built anew. */
TEST(a_rebuild_that_was_left_after_it_had_moved_is_not_taken_for_this_one)
{
    ledger_fixture_begin();
    uint64_t ann = ledger_fixture_voter("ann");
    ledger_fixture_pass_days(21);
    leave_behind(1, 0);
    uint64_t policy = ledger_fixture_policy(ann, "Trams");
    ledger_fixture_project();
    break_total(ann, policy);
    EXPECT(ledger_fixture_total(policy) != 100);
    EXPECT_STATUS(votes_rebuild(fixture.votes, &QUICK), STATUS_OK);
    EXPECT_I64(ledger_fixture_total(policy), 100);
    EXPECT_I64(generations().current, 2);
    EXPECT(!generations().has_also);
    ledger_fixture_end();
}
