/* simulator_test.c -- the simulator within the bounds of ./dev test: 500 seeds, all mutants, every single failure.
 *
 * It runs without sanitizers, where a client is a coroutine; runs_test.c runs a little of everything with them. */
#include "simulator.h"

#include <stdlib.h>
#include <time.h>

#include "test.h"

static RunPlan plan_of(uint64_t seed)
{
    return (RunPlan){.workload = workload_of(seed), .seed = seed};
}

static void expect_whole(const RunPlan *plan, const RunResult *result)
{
    if (result->violations > 0)
        test_fail(__FILE__, __LINE__, "seed %" PRIu64 ", %s: %s", plan->seed, plan->workload->name,
                  result->first);
}

/* What is known of the first seeds: several tests ask about the same runs. */
enum { KNOWN = 50 };

typedef struct Known {
    bool is_run;
    uint64_t hash, events;
    size_t fault_count;
    bool fired[SIM_FAULT_COUNT];
} Known;

static Known run_seed(uint64_t seed)
{
    RunPlan plan = plan_of(seed);
    RunResult result;
    run_once(&plan, &result);
    expect_whole(&plan, &result);
    Known known = {.is_run = true,
                   .hash = result.hash,
                   .events = result.events,
                   .fault_count = result.fault_count};
    for (size_t i = 0; i < result.fault_count; i++)
        known.fired[result.faults[i].fault] = true;
    run_result_free(&result);
    return known;
}

/* The run of one of the first seeds; the first test that asks runs it. */
static const Known *known_run(uint64_t seed)
{
    static Known all[KNOWN + 1];
    CHECK(seed >= 1 && seed <= KNOWN);
    if (!all[seed].is_run)
        all[seed] = run_seed(seed);
    return &all[seed];
}

TEST(nothing_breaks_in_500_seeds)
{
    uint64_t events = 0, count = 500;
    clock_t start = clock();
    for (uint64_t seed = 1; seed <= count; seed++)
        events += seed <= KNOWN ? known_run(seed)->events : run_seed(seed).events;
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("# %" PRIu64 " runs, %" PRIu64 " events, %.0f events a second of CPU\n", count, events,
           (double)events / seconds);
}

/* Those of the 500 that are about names are among them. */
TEST(every_name_has_one_owner_in_100_seeds)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        RunPlan plan = {.workload = workload_by_name("names"), .seed = seed};
        RunResult result;
        if (plan.workload == workload_of(seed))
            continue;
        run_once(&plan, &result);
        expect_whole(&plan, &result);
        run_result_free(&result);
    }
}

TEST(a_seed_is_the_same_world_each_time)
{
    for (uint64_t seed = 1; seed <= KNOWN; seed++) {
        const Known *first = known_run(seed);
        Known second = run_seed(seed);
        EXPECT(first->hash == second.hash);
        EXPECT_I64(first->fault_count, second.fault_count);
    }
}

TEST(threads_and_coroutines_play_the_same_world)
{
    for (uint64_t seed = 1; seed <= 2; seed++) {
        RunPlan plan = plan_of(seed);
        RunResult threads;
        plan.threads = true;
        run_once(&plan, &threads);
        EXPECT(known_run(seed)->hash == threads.hash);
        run_result_free(&threads);
    }
}

static bool catches(const Workload *workload, const Mutant *mutant, uint64_t seed)
{
    RunPlan plan = {.workload = workload, .mutant = mutant, .seed = seed};
    RunResult result;
    run_once(&plan, &result);
    bool caught = result.violations > 0;
    run_result_free(&result);
    return caught;
}

/* By the seed that caught it last time, or where the code has changed what happens in that one, by any of its seeds. */
static void expect_caught(const Workload *workload, const Mutant *mutant)
{
    uint64_t seed = mutant->caught;
    CHECK(seed >= 1 && seed <= mutant->seeds);
    if (catches(workload, mutant, seed))
        return;
    for (seed = 1; seed <= mutant->seeds && !catches(workload, mutant, seed);)
        seed++;
    if (seed > mutant->seeds)
        test_fail(__FILE__, __LINE__, "%s got away", mutant->name);
    printf("# %s is caught by seed %" PRIu64 " now: its line should say so\n", mutant->name, seed);
}

/* Each mistake, once: which of them got away is told by name. */
TEST(every_mutant_is_caught_within_its_seeds)
{
    for (size_t w = 0; WORKLOADS[w] != NULL; w++)
        for (size_t i = 0; i < WORKLOADS[w]->mutant_count; i++)
            expect_caught(WORKLOADS[w], &WORKLOADS[w]->mutants[i]);
}

TEST(every_kind_of_fault_fires_and_half_of_the_faults_are_off)
{
    uint64_t fired[SIM_FAULT_COUNT] = {0}, count = 40;
    for (uint64_t seed = 1; seed <= count; seed++) {
        for (int i = 0; i < SIM_FAULT_COUNT; i++)
            fired[i] += known_run(seed)->fired[i];
    }
    for (int i = 0; i < SIM_FAULT_COUNT; i++) {
        if (i == SIM_REACH) /* by force only */
            EXPECT_I64(fired[i], 0);
        else if (fired[i] == 0 || fired[i] == count)
            test_fail(__FILE__, __LINE__, "%s fired in %" PRIu64 " of %" PRIu64 " seeds",
                      sim_fault_name((SimFault)i), fired[i], count);
    }
}

static int violations_with(const RunPlan *of, const SimFired *faults, size_t count)
{
    RunPlan plan = *of;
    RunResult result;
    plan.listed = faults;
    plan.listed_count = count;
    plan.only_listed = true;
    run_once(&plan, &result);
    int violations = result.violations;
    run_result_free(&result);
    return violations;
}

static void expect_each_needed(const RunPlan *plan, const RunResult *least)
{
    SimFired *others = calloc(least->fault_count, sizeof *others);
    CHECK(others != NULL);
    for (size_t i = 0; i < least->fault_count; i++) {
        memcpy(others, least->faults, i * sizeof *others);
        memcpy(others + i, least->faults + i + 1, (least->fault_count - i - 1) * sizeof *others);
        EXPECT_I64(violations_with(plan, others, least->fault_count - 1), 0);
    }
    free(others);
}

/* How many that is depends on the seed: a client that another one's death has started needs that death. */
TEST(shrinking_leaves_a_few_faults_that_are_enough_and_each_needed)
{
    enum { SHRUNK = 3, FEW = 10 /* one of so many is left */ };
    const Workload *workload = workload_by_name("chain");
    RunPlan plan = {.workload = workload,
                    .mutant = mutant_by_name(workload, "no_read_after_unknown")};
    size_t all = 0, left = 0;
    for (int shrunk = 0; shrunk < SHRUNK;) {
        RunResult broken, least;
        plan.seed++;
        EXPECT(plan.seed <= SHRUNK * plan.mutant->seeds);
        run_once(&plan, &broken);
        if (broken.violations > 0) {
            run_shrink(&plan, &broken, &least);
            EXPECT(least.fault_count > 0);
            EXPECT(violations_with(&plan, least.faults, least.fault_count) > 0);
            expect_each_needed(&plan, &least);
            all += broken.fault_count;
            left += least.fault_count;
            shrunk++;
            run_result_free(&least);
        }
        run_result_free(&broken);
    }
    printf("# %zu of %zu faults are left\n", left, all);
    EXPECT(FEW * left <= all);
}

TEST(of_64_saves_on_one_version_one_stands)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        RunPlan plan = {.workload = workload_by_name("votes"),
                        .seed = seed,
                        .pieces = 1,
                        .clients = 64,
                        .swarm = seed > 2};
        RunResult result;
        run_once(&plan, &result);
        expect_whole(&plan, &result);
        run_result_free(&result);
    }
}

TEST(nothing_breaks_whichever_call_fails)
{
    for (size_t i = 0; WORKLOADS[i] != NULL; i++) {
        RunResult result;
        int runs = run_exhaustively(WORKLOADS[i], NULL, &result);
        if (result.violations > 0)
            test_fail(__FILE__, __LINE__, "%s: %s", WORKLOADS[i]->name, result.first);
        EXPECT(runs > 200);
        run_result_free(&result);
    }
}
