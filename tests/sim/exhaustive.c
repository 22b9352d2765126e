/* exhaustive.c -- run_exhaustively: a small scenario without luck, and every way in which one thing goes wrong in it. */
#include "simulator.h"

enum { PIECES = 4, SEEDS = 4, MASKS = 8 };

/* Seeds only choose different scenarios here: which client does what. */
typedef struct Search {
    RunPlan plan;
    RunResult *result;
    int runs;
} Search;

static SimFired forced(SimFault fault, uint32_t client, uint32_t call, uint64_t value)
{
    return (SimFired){.fault = fault, .key = {client, call, 0}, .value = value};
}

/* False when something broke: the search is over. */
static bool goes_well(Search *search, const SimFired *faults, size_t count)
{
    run_result_free(search->result);
    search->plan.forced = faults;
    search->plan.forced_count = count;
    search->runs++;
    run_once(&search->plan, search->result);
    return search->result->violations == 0;
}

/* A call of one client: dies before it, dies during it, and it reaches each subset with and without dying. */
static bool one_call(Search *search, uint32_t client, uint32_t call)
{
    SimFired death = forced(SIM_DEATH, client, call, 0);
    SimFired silence = forced(SIM_SILENCE, client, call, 0);
    if (!goes_well(search, &death, 1) || !goes_well(search, &silence, 1))
        return false;
    for (uint64_t mask = 0; mask < MASKS; mask++) {
        SimFired both[] = {forced(SIM_REACH, client, call, mask), silence};
        if (!goes_well(search, both, 1) || !goes_well(search, both, 2))
            return false;
    }
    return true;
}

static bool both_die(Search *search, const uint32_t calls[2])
{
    for (uint32_t a = 1; a <= calls[0]; a++)
        for (uint32_t b = 1; b <= calls[1]; b++) {
            SimFired before[] = {forced(SIM_DEATH, 1, a, 0), forced(SIM_DEATH, 2, b, 0)};
            SimFired during[] = {forced(SIM_SILENCE, 1, a, 0), forced(SIM_SILENCE, 2, b, 0)};
            if (!goes_well(search, before, 2) || !goes_well(search, during, 2))
                return false;
        }
    return true;
}

static bool one_scenario(Search *search)
{
    if (!goes_well(search, NULL, 0))
        return false;
    uint32_t calls[2] = {search->result->calls[0], search->result->calls[1]};
    for (uint32_t client = 1; client <= 2; client++)
        for (uint32_t call = 1; call <= calls[client - 1]; call++)
            if (!one_call(search, client, call))
                return false;
    return both_die(search, calls);
}

int run_exhaustively(const Workload *workload, const Mutant *mutant, RunResult *ret_result)
{
    Search search = {.plan = {.workload = workload,
                              .mutant = mutant,
                              .pieces = workload->pieces > 0 ? workload->pieces : PIECES},
                     .result = ret_result};
    uint64_t seeds = workload->scenarios > 0 ? workload->scenarios : SEEDS;
    *ret_result = (RunResult){0};
    for (search.plan.seed = 1; search.plan.seed <= seeds; search.plan.seed++)
        if (!one_scenario(&search))
            break;
    return search.runs;
}
