/* runs_test.c -- what a run promises about itself (simulator.h, world.h), with sanitizers and without. */
#include "simulator.h"

#include "test.h"

static RunPlan plan_of(uint64_t seed)
{
    return (RunPlan){.workload = workload_of(seed), .seed = seed};
}

/* Few seeds: here everything is ten times slower than in simulator_test.c. */
TEST(nothing_breaks_and_a_seed_is_the_same_world_each_time)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        RunPlan plan = plan_of(seed);
        RunResult first, second;
        run_once(&plan, &first);
        run_once(&plan, &second);
        if (first.violations > 0)
            test_fail(__FILE__, __LINE__, "seed %" PRIu64 ": %s", seed, first.first);
        EXPECT(first.hash == second.hash);
        run_result_free(&first);
        run_result_free(&second);
    }
}

TEST(another_seed_is_another_world)
{
    RunPlan one = plan_of(1), other = plan_of(3);
    RunResult first, second;
    run_once(&one, &first);
    run_once(&other, &second);
    EXPECT(first.hash != second.hash);
    run_result_free(&first);
    run_result_free(&second);
}

TEST(a_fault_that_is_left_out_does_not_fire)
{
    RunPlan plan = plan_of(3);
    RunResult whole, less;
    run_once(&plan, &whole);
    EXPECT(whole.fault_count > 2);
    SimFired left_out = whole.faults[whole.fault_count / 2];
    plan.listed = &left_out;
    plan.listed_count = 1;
    run_once(&plan, &less);
    for (size_t i = 0; i < less.fault_count; i++)
        EXPECT(less.faults[i].fault != left_out.fault ||
               memcmp(&less.faults[i].key, &left_out.key, sizeof left_out.key) != 0);
    EXPECT(less.hash != whole.hash);
    run_result_free(&whole);
    run_result_free(&less);
}

TEST(with_all_its_faults_listed_a_run_is_the_same)
{
    RunPlan plan = plan_of(5);
    RunResult whole, again;
    run_once(&plan, &whole);
    plan.listed = whole.faults;
    plan.listed_count = whole.fault_count;
    plan.only_listed = true;
    run_once(&plan, &again);
    EXPECT(again.hash == whole.hash);
    run_result_free(&whole);
    run_result_free(&again);
}

TEST(the_exhaustive_mode_sees_mistakes)
{
    static const struct {
        const char *workload, *mutant;
    } CASES[] = {{"chain", "no_read_after_unknown"}, {"plain", "unknown_is_yes"}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        const Workload *workload = workload_by_name(CASES[i].workload);
        RunResult result;
        run_exhaustively(workload, mutant_by_name(workload, CASES[i].mutant), &result);
        EXPECT(result.violations > 0);
        run_result_free(&result);
    }
}

TEST(a_key_is_read_back_as_it_was_printed)
{
    ARENA_SCOPE Arena *arena = arena_new();
    SimFired fired = {.fault = SIM_LATE, .key = {3, 17, 536870912}}, back;
    Slice text = sim_fired_text(&fired, arena);
    EXPECT_SLICE(text, SLICE("late/3.17.536870912"));
    EXPECT_STATUS(sim_fired_from_text(text, &back), STATUS_OK);
    EXPECT(back.fault == fired.fault && memcmp(&back.key, &fired.key, sizeof back.key) == 0);
    static const char *const BAD[] = {
        "",          "late",         "late/",      "late/1.2",    "x/1.2.3",
        "late/1.2.", "late/1.2.3.4", "late/a.2.3", "late/-1.2.3", "late/4294967296.0.0",
        "1.2.3"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        EXPECT_STATUS(sim_fired_from_text(slice_from(BAD[i]), &back), STATUS_INVALID);
}
