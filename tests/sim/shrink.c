/* shrink.c -- run_shrink: fewer and fewer faults, as long as the run still breaks something.
 *
 * Parts of the list are left out, first halves, then smaller ones, down to single faults. Luck is keyed, so leaving a fault out
 * does not change when and how the others fire. */
#include <stdlib.h>

#include "simulator.h"

enum { RUNS_MAX = 2000 };

typedef struct Shrinking {
    RunPlan plan;
    SimFired *kept, *tried;
    size_t count;
    RunResult *best;
    int runs;
} Shrinking;

/* Whether the run still breaks something when [from, to) is left out; if so, that is the new list. */
static bool leave_out(Shrinking *own, size_t from, size_t to)
{
    RunResult result;
    size_t count = own->count - (to - from);
    memcpy(own->tried, own->kept, from * sizeof(SimFired));
    memcpy(own->tried + from, own->kept + to, (own->count - to) * sizeof(SimFired));
    own->plan.listed = own->tried;
    own->plan.listed_count = count;
    own->runs++;
    run_once(&own->plan, &result);
    if (result.violations == 0) {
        run_result_free(&result);
        return false;
    }
    /* What is listed but did not fire any more goes, too. */
    own->count = result.fault_count;
    memcpy(own->kept, result.faults, result.fault_count * sizeof(SimFired));
    run_result_free(own->best);
    *own->best = result;
    return true;
}

static void leave_out_parts(Shrinking *own, size_t part)
{
    for (size_t from = 0; from < own->count && own->runs < RUNS_MAX;) {
        size_t to = from + part < own->count ? from + part : own->count;
        if (!leave_out(own, from, to))
            from = to;
    }
}

/* What is needed depends on what is left, so single faults are tried until none of them goes. */
static void shrink(Shrinking *own)
{
    for (size_t part = own->count; part > 1; part /= 2)
        leave_out_parts(own, part);
    for (size_t before = own->count + 1; own->count < before && own->runs < RUNS_MAX;) {
        before = own->count;
        leave_out_parts(own, 1);
    }
}

static SimFired *copy_faults(const RunResult *result)
{
    SimFired *copy = calloc(result->fault_count + 1, sizeof *copy);
    CHECK(copy != NULL);
    memcpy(copy, result->faults, result->fault_count * sizeof *copy);
    return copy;
}

void run_shrink(const RunPlan *plan, const RunResult *broken, RunResult *ret_result)
{
    Shrinking own = {.plan = *plan,
                     .kept = copy_faults(broken),
                     .tried = copy_faults(broken),
                     .count = broken->fault_count,
                     .best = ret_result};
    *ret_result = *broken;
    ret_result->faults = copy_faults(broken);
    own.plan.only_listed = true;
    shrink(&own);
    free(own.kept);
    free(own.tried);
}
