/* scheduler_test.c -- whose turn it is: shares, periods, places, errors. */
#include "instance.h"
#include "policies/policies_private.h"

/* Turns until nothing is due. */
static int turn_all(Tasks *tasks)
{
    int turns = 0;
    while (tasks_turn(tasks) == 0)
        EXPECT(++turns < 10000);
    return turns;
}

/* ---- Rules ----------------------------------------------------------------------------------------------------- */

TEST(every_part_is_the_share_of_exactly_one_instance)
{
    for (uint32_t live = 1; live <= 9; live++)
        for (size_t i = 0; i < TASK_COUNT; i++)
            for (uint32_t part = 0; part < TASKS[i].parts; part++) {
                uint32_t owners = 0;
                for (uint32_t self = 0; self < live; self++)
                    owners += task_is_here(&TASKS[i], part, live, self);
                EXPECT_I64(owners, TASKS[i].local ? live : 1);
            }
}

TEST(shares_spread_over_instances)
{
    enum { LIVE = 3 };
    int shares[LIVE] = {0}, parts = 0;
    for (size_t i = 0; i < TASK_COUNT; i++)
        for (uint32_t part = 0; part < TASKS[i].parts && !TASKS[i].local; part++, parts++)
            for (uint32_t self = 0; self < LIVE; self++)
                shares[self] += task_is_here(&TASKS[i], part, LIVE, self);
    for (uint32_t self = 0; self < LIVE; self++)
        EXPECT(shares[self] > 0 && shares[self] < parts * 2 / 3);
}

TEST(the_wait_after_failures_grows_to_a_bound)
{
    EXPECT_I64(task_backoff_us(1), US_PER_S);
    EXPECT_I64(task_backoff_us(2), 2 * US_PER_S);
    EXPECT_I64(task_backoff_us(4), 8 * US_PER_S);
    EXPECT_I64(task_backoff_us(40), TASK_BACKOFF_MOST_S * US_PER_S);
    EXPECT_I64(task_backoff_us(UINT32_MAX), TASK_BACKOFF_MOST_S * US_PER_S);
}

TEST(a_pass_that_was_not_whole_comes_again_sooner)
{
    TaskState whole = {.begun_us = 1000 * US_PER_S, .whole_us = 1000 * US_PER_S};
    TaskState failed = {.begun_us = 1000 * US_PER_S, .whole_us = 5 * US_PER_S};
    TaskState never = {0};
    EXPECT_I64(task_due_us(TASK_PASS, &whole), (1000 + 7 * S_PER_DAY) * US_PER_S);
    EXPECT(task_due_us(TASK_PASS, &failed) < task_due_us(TASK_PASS, &whole));
    EXPECT(task_due_us(TASK_PASS, &failed) >= 1060 * US_PER_S);
    EXPECT_I64(task_due_us(TASK_SWEEP, &failed), 1060 * US_PER_S);
    EXPECT_I64(task_due_us(TASK_PASS, &never), 0);
}

TEST(the_table_is_whole)
{
    size_t parts = 0;
    for (size_t i = 0; i < TASK_COUNT; i++) {
        EXPECT(TASKS[i].period_s > 0 && TASKS[i].parts > 0 && TASKS[i].piece != NULL);
        EXPECT(strlen(TASKS[i].help) > 10);
        for (size_t k = 0; k < i; k++)
            EXPECT(strcmp(TASKS[i].name, TASKS[k].name) != 0);
        parts += TASKS[i].parts;
    }
    EXPECT(parts <= TASKS_PARTS_MAX);
}

/* ---- Turns ----------------------------------------------------------------------------------------------------- */

TEST(each_task_runs_once_a_period)
{
    ledger_fixture_begin();
    Tasks *tasks = instance();
    turn_all(tasks);
    TaskInfo first = instance_info(tasks, "sweep", 0);
    EXPECT(first.begun_us > 0 && !first.under_way);
    EXPECT_I64(first.whole_us, first.begun_us);
    int64_t lists_us = instance_info(tasks, "lists", 0).begun_us;
    test_world_pass(&fixture.own, 59 * US_PER_S);
    turn_all(tasks);
    EXPECT_I64(instance_info(tasks, "sweep", 0).begun_us, first.begun_us);
    test_world_pass(&fixture.own, US_PER_S);
    turn_all(tasks);
    EXPECT_I64(instance_info(tasks, "sweep", 0).begun_us, first.begun_us + 60 * US_PER_S);
    EXPECT_I64(instance_info(tasks, "lists", 0).begun_us, lists_us);
    tasks_free(tasks);
    ledger_fixture_end();
}

TEST(a_clock_that_is_set_back_stops_nothing)
{
    ledger_fixture_begin();
    Tasks *tasks = instance();
    turn_all(tasks);
    test_world_step(&fixture.own, -3600 * US_PER_S);
    turn_all(tasks);
    EXPECT_I64(instance_info(tasks, "sweep", 0).begun_us, clock_now_us(fixture.world.clock));
    tasks_free(tasks);
    ledger_fixture_end();
}

/* A part of `sweep-older` has 60 pieces. */
TEST(a_pass_goes_on_where_another_process_left_it)
{
    ledger_fixture_begin();
    Tasks *tasks = instance();
    while (instance_info(tasks, "sweep-older", 3).done < 7)
        EXPECT(tasks_turn(tasks) == 0);
    test_world_pass(&fixture.own, (TASK_SAVE_S + 1) * US_PER_S);
    while (instance_info(tasks, "sweep-older", 3).done < 8)
        EXPECT(tasks_turn(tasks) == 0);
    int64_t begun_us = instance_info(tasks, "sweep-older", 3).begun_us;
    tasks_free(tasks); /* no farewell: the process is gone */
    test_world_pass(&fixture.own, (INSTANCE_TTL_S + 1) * US_PER_S);

    tasks = instance();
    EXPECT_I64(instance_info(tasks, "sweep-older", 3).done, 8);
    EXPECT(instance_info(tasks, "sweep-older", 3).under_way);
    int turns = turn_all(tasks);
    TaskInfo after = instance_info(tasks, "sweep-older", 3);
    EXPECT(!after.under_way);
    EXPECT_I64(after.begun_us, begun_us);
    EXPECT(after.done >= 59 && after.done <= 61);
    EXPECT(turns > 0);
    tasks_free(tasks);
    ledger_fixture_end();
}

TEST(older_marks_are_all_looked_at_by_one_part_or_another)
{
    ledger_fixture_begin();
    Tasks *tasks = instance();
    uint64_t hours = 0;
    turn_all(tasks);
    for (uint32_t part = 0; part < 16; part++)
        hours += instance_info(tasks, "sweep-older", part).done;
    EXPECT_I64(hours, VOTES_MARK_LIFE_S / 3600);
    tasks_free(tasks);
    ledger_fixture_end();
}

/* ---- Instances ------------------------------------------------------------------------------------------------- */

static int shares_of(Tasks *tasks)
{
    TaskInfo *infos;
    size_t count = 0;
    int shares = 0;
    EXPECT_STATUS(tasks_list(tasks, fixture.arena, &infos, &count), STATUS_OK);
    for (size_t i = 0; i < count; i++)
        shares += infos[i].here;
    return shares;
}

static size_t living(Tasks *tasks)
{
    Instance *instances;
    size_t count = 0;
    EXPECT_STATUS(tasks_instances(tasks, fixture.arena, &instances, &count), STATUS_OK);
    for (size_t i = 0; i < count; i++)
        EXPECT_SLICE(instances[i].address, SLICE("here"));
    return count;
}

TEST(instances_share_the_work_and_take_over_from_the_dead)
{
    ledger_fixture_begin();
    Tasks *first = instance(), *second = instance();
    int all = shares_of(first), local = 0;
    for (size_t i = 0; i < TASK_COUNT; i++)
        local += TASKS[i].local;
    turn_all(first);
    turn_all(second);
    EXPECT_I64(living(first), 2);
    test_world_pass(&fixture.own, INSTANCE_BEAT_S * US_PER_S);
    turn_all(first); /* hears of the second */
    EXPECT_I64(shares_of(first) + shares_of(second), all + local);
    EXPECT(shares_of(first) < all);

    test_world_pass(&fixture.own, (INSTANCE_TTL_S + 1) * US_PER_S); /* the second is gone */
    turn_all(first);
    EXPECT_I64(living(first), 1);
    EXPECT_I64(shares_of(first), all);
    tasks_free(first);
    tasks_free(second);
    ledger_fixture_end();
}

/* Its thread lets time run: whoever sleeps in this world moves its clock. So only the one that lives by itself is waited for. */
TEST(an_instance_that_stops_is_gone_at_once)
{
    ledger_fixture_begin();
    Tasks *first = instance(), *second = instance();
    tasks_start(second);
    while (living(first) == 0)
        ;
    tasks_stop(second);
    test_world_pass(&fixture.own, 2 * US_PER_S);
    EXPECT_I64(living(first), 0);
    tasks_free(first);
    tasks_free(second);
    ledger_fixture_end();
}

/* ---- Errors ---------------------------------------------------------------------------------------------------- */

/* A mark that is none. */
static void break_mark(uint32_t hour)
{
    RowChange change = {&TABLE_DIRTY,
                        ledger_mark_row(fixture.arena, hour, 5),
                        {.column = SLICE("not a voter"),
                         .timestamp = clock_now_us(fixture.world.clock),
                         .ttl_s = 3600}};
    EXPECT_STATUS(store_write(fixture.store, &(Batch){&change, 1, false}), STATUS_OK);
}

TEST(errors_are_seen_and_do_not_stop_the_others)
{
    ledger_fixture_begin();
    Tasks *tasks = instance();
    break_mark(ledger_hour(clock_now_us(fixture.world.clock)));
    turn_all(tasks);
    TaskInfo broken = instance_info(tasks, "sweep", 0);
    EXPECT_I64(broken.errors, 1);
    EXPECT(broken.error_us > 0 && broken.error.size > 0);
    EXPECT(broken.whole_us == 0 && !broken.under_way);
    EXPECT(instance_info(tasks, "sweep", 1).whole_us > 0);
    EXPECT(instance_info(tasks, "pass", 0).whole_us > 0);

    Reason reason = {.rule = ""};
    EXPECT_STATUS(tasks_run(tasks, SLICE("sweep"), &reason), STATUS_CORRUPT);
    EXPECT_I64(instance_info(tasks, "sweep", 0).errors, 2);
    test_world_pass(&fixture.own,
                    3 * 3600 * US_PER_S); /* the mark is gone, and the hour swept by others */
    turn_all(tasks);
    EXPECT_I64(instance_info(tasks, "sweep", 0).errors, 2);
    EXPECT(instance_info(tasks, "sweep", 0).whole_us > broken.begun_us);
    tasks_free(tasks);
    ledger_fixture_end();
}

TEST(a_task_that_is_not_there_is_told)
{
    ledger_fixture_begin();
    Tasks *tasks = instance();
    Reason reason = {.rule = ""};
    EXPECT_STATUS(tasks_run(tasks, SLICE("dance"), &reason), STATUS_NOT_FOUND);
    EXPECT(strstr(reason.rule, "dance") != NULL);
    tasks_free(tasks);
    ledger_fixture_end();
}

/* When its last whole pass began; 0: it has none, or one is under way. */
static int64_t looked_us(Tasks *tasks, const char *name)
{
    TaskInfo info = instance_info(tasks, name, 0);
    return info.whole_us == info.begun_us ? info.begun_us : 0;
}

/* The one before may have been killed between a move and the lists that follow it. Its heartbeat still stands, so some of this is not the
 * share of who starts; it is looked for all the same. */
TEST(an_instance_that_starts_looks_for_what_a_crash_left)
{
    ledger_fixture_begin();
    uint64_t ann = ledger_fixture_voter("ann");
    ledger_fixture_policy(ann, "Trams");
    Tasks *first = instance();
    turn_all(first);
    int64_t lists_us = looked_us(first, "lists"), moves_us = looked_us(first, "moves");
    tasks_free(first);
    test_world_pass(&fixture.own, US_PER_S);
    Tasks *second = instance();
    turn_all(second);
    EXPECT_I64(living(second), 2);
    EXPECT_I64(looked_us(second, "lists"), lists_us); /* not due yet */
    EXPECT_I64(looked_us(second, "moves"), moves_us);
    tasks_after_crash(second, true);
    turn_all(second);
    EXPECT(looked_us(second, "lists") > lists_us);
    EXPECT(looked_us(second, "moves") > moves_us);
    tasks_free(second);
    ledger_fixture_end();
}

TEST(who_remains_looks_for_what_the_dead_left)
{
    ledger_fixture_begin();
    Tasks *first = instance(), *second = instance();
    turn_all(second);
    turn_all(first); /* hears of the second */
    int64_t lists_us = looked_us(first, "lists"), moves_us = looked_us(first, "moves");
    test_world_pass(&fixture.own, (INSTANCE_TTL_S + 1) * US_PER_S); /* the second is gone */
    turn_all(first);
    EXPECT(looked_us(first, "lists") > lists_us);
    EXPECT(looked_us(first, "moves") > moves_us);
    tasks_free(first);
    tasks_free(second);
    ledger_fixture_end();
}

TEST(one_that_comes_does_not_hide_one_that_is_gone)
{
    ledger_fixture_begin();
    Tasks *first = instance(), *second = instance();
    turn_all(second);
    turn_all(first);
    EXPECT_I64(first->live, 2);
    test_world_pass(&fixture.own, (INSTANCE_TTL_S + 1) * US_PER_S); /* the second is gone */
    Tasks *third = instance();
    turn_all(third);
    for (size_t i = 0; i < first->part_count; i++)
        EXPECT(!first->parts[i].anew);
    EXPECT_STATUS(task_beat(first), STATUS_OK);
    EXPECT_I64(first->live, 2);
    for (size_t i = 0; i < first->part_count; i++)
        EXPECT_I64(first->parts[i].anew, first->parts[i].task->after_crash);
    tasks_free(first);
    tasks_free(second);
    tasks_free(third);
    ledger_fixture_end();
}

/* Heartbeats of processes that were killed stand for two minutes. Where nobody else can have the store they mean nothing. */
TEST(who_has_the_store_alone_does_everything_at_once)
{
    ledger_fixture_begin();
    Tasks *killed = instance();
    int all = shares_of(killed);
    turn_all(killed);
    TasksOptions options = killed->options;
    tasks_free(killed);
    options.shared = false;
    Tasks *alone = tasks_new(&options);
    turn_all(alone);
    EXPECT_I64(living(alone), 1);
    EXPECT_I64(shares_of(alone), all);
    tasks_free(alone);
    ledger_fixture_end();
}

TEST(a_merge_that_was_cut_off_is_ended_at_once_where_nobody_else_can_be_at_it)
{
    ledger_fixture_begin();
    uint64_t source = instance_half_merged();
    test_world_pass(&fixture.own, US_PER_S);
    Tasks *other = instance();
    TasksOptions options = other->options;
    tasks_free(other);
    options.shared = false;
    Tasks *alone = tasks_new(&options);
    tasks_after_crash(alone, true);
    turn_all(alone);
    EXPECT_I64(ledger_fixture_state(source), POLICY_MERGED);
    tasks_free(alone);
    ledger_fixture_end();
}

TEST(a_merge_that_was_given_up_here_is_ended_without_waiting_for_the_pass)
{
    ledger_fixture_begin();
    Tasks *tasks = instance();
    uint64_t source = instance_half_merged(); /* too young for the pass over all policies */
    atomic_store(&fixture.policies->left[0], source);
    turn_all(tasks);
    EXPECT_I64(ledger_fixture_state(source), POLICY_MERGED);
    EXPECT_I64(fixture.policies->left[0], 0);
    tasks_free(tasks);
    ledger_fixture_end();
}

TEST(a_merge_that_was_cut_off_is_ended_as_soon_as_nobody_is_at_it)
{
    ledger_fixture_begin();
    uint64_t source = instance_half_merged();
    test_world_pass(&fixture.own, US_PER_S);
    Tasks *tasks = instance();
    tasks_after_crash(tasks, true);
    turn_all(tasks);
    EXPECT_I64(ledger_fixture_state(source), POLICY_MERGING); /* another instance may be at work */
    test_world_pass(&fixture.own, 30 * US_PER_S);
    turn_all(tasks);
    EXPECT_I64(ledger_fixture_state(source), POLICY_MERGING);
    test_world_pass(&fixture.own, 31 * US_PER_S);
    turn_all(tasks);
    EXPECT_I64(ledger_fixture_state(source), POLICY_MERGED);
    tasks_free(tasks);
    ledger_fixture_end();
}
