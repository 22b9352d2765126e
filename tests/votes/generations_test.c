/* generations_test.c -- building the derived rows anew beside those that are in use. */
#include "stage.h"

static const RebuildOptions QUICK = {.settle_s = 1};

static Generations generations(void)
{
    Generations read = {0};
    EXPECT_STATUS(votes_generations(stage.votes, &read), STATUS_OK);
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
                        ledger_totals_row(stage.arena, generations().current, policy),
                        {.column = slice_of(&bucket, 1),
                         .value = buffer_slice(&value),
                         .timestamp = (int64_t)wrong.ver}};
    EXPECT_STATUS(store_write(stage.store, &(Batch){&change, 1, false}), STATUS_OK);
}

TEST(a_rebuild_gives_the_counts_that_the_logs_say)
{
    stage_begin();
    stage_voter("ann");
    uint64_t ben = stage_voter("ben");
    stage_pass_days(21);
    uint64_t policy = stage_policy(ben, "Trams");
    stage_save(ben, policy, 130);
    stage_save(ben, policy, 120);
    stage_project();
    EXPECT_I64(stage_total(policy), 120);
    break_total(ben, policy);
    EXPECT(stage_total(policy) != 120);
    EXPECT_STATUS(votes_rebuild(stage.votes, &QUICK), STATUS_OK);
    EXPECT_I64(stage_total(policy), 120);
    EXPECT_I64(votes_generation(stage.votes), 1);
    EXPECT(!generations().has_also);
    stage_restart();
    EXPECT_I64(stage_total(policy), 120);
    stage_save(ben, policy, 125);
    stage_project();
    EXPECT_I64(stage_total(policy), 125);
    stage_end();
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
    stage_save(with->voter, with->policy, ++with->held);
    EXPECT_STATUS(votes_project(with->other, &with->voter, 1), STATUS_OK);
}

TEST(saves_during_a_rebuild_are_in_both)
{
    stage_begin();
    uint64_t ann = stage_voter("ann");
    stage_pass_days(21);
    uint64_t policy = stage_policy(ann, "Trams");
    stage_project();
    Meanwhile with = {ann, policy, 100, stage_instance()};
    RebuildOptions options = {
        .settle_s = 2 * GENERATIONS_CACHE_S, .progress = save_meanwhile, .self = &with};
    /* It has the pointer in its cache when the rebuild begins. */
    EXPECT_STATUS(votes_project(with.other, &ann, 1), STATUS_OK);
    EXPECT_STATUS(votes_rebuild(stage.votes, &options), STATUS_OK);
    EXPECT_I64(with.held, 101);
    EXPECT_I64(stage_total(policy), 101);
    votes_free(with.other);
    stage_end();
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
    stage_begin();
    uint64_t ann = stage_voter("ann");
    stage_pass_days(21);
    uint64_t policy = stage_policy(ann, "Trams");
    stage_project();
    Death death = {stage_instance(), 0};
    RebuildOptions options = {.settle_s = 1, .progress = step_of_another, .self = &death};
    EXPECT_STATUS(votes_rebuild(stage.votes, &options), STATUS_CONFLICT);
    EXPECT_I64(death.voters, 1);
    test_world_pass(&stage.own, GENERATIONS_CACHE_S * US_PER_S);
    EXPECT_I64(generations().current, 1);
    EXPECT(!generations().has_also);
    EXPECT_I64(stage_total(policy), 100);
    votes_free(death.other);
    stage_end();
}

/* What a rebuild that died leaves behind: generation 1 beside 0. */
static void leave_behind(uint32_t current, uint32_t also)
{
    BUFFER_SCOPE Buffer value = {0};
    Id id = id_new(stage.world.clock, stage.world.random);
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
    EXPECT_STATUS(store_update_if(stage.store, &update, stage.arena, NULL), STATUS_OK);
    stage_restart();
    EXPECT(generations().has_also);
}

TEST(a_rebuild_goes_on_where_another_was_left)
{
    stage_begin();
    uint64_t ann = stage_voter("ann");
    stage_pass_days(21);
    uint64_t policy = stage_policy(ann, "Trams");
    stage_project();
    leave_behind(0, 1);
    stage_save(ann, policy, 103);
    stage_project();
    EXPECT_STATUS(votes_rebuild(stage.votes, &QUICK), STATUS_OK);
    EXPECT_I64(generations().current, 1);
    EXPECT_I64(generations().last, 1);
    EXPECT_I64(stage_total(policy), 103);
    stage_end();
}

/* Ending it would leave what is read now as it is, and that is what should be built anew. */
TEST(a_rebuild_that_was_left_after_it_had_moved_is_not_taken_for_this_one)
{
    stage_begin();
    uint64_t ann = stage_voter("ann");
    stage_pass_days(21);
    leave_behind(1, 0);
    uint64_t policy = stage_policy(ann, "Trams");
    stage_project();
    break_total(ann, policy);
    EXPECT(stage_total(policy) != 100);
    EXPECT_STATUS(votes_rebuild(stage.votes, &QUICK), STATUS_OK);
    EXPECT_I64(stage_total(policy), 100);
    EXPECT_I64(generations().current, 2);
    EXPECT(!generations().has_also);
    stage_end();
}
