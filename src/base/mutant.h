/* mutant.h -- known mistakes, which the simulator's own build of the code makes when asked to.
 *
 * Where a design hangs on one line, MUTANT(name) beside it says what the wrong line would be. Everywhere but in the
 * simulator it is the constant false, and compilers leave nothing of it. The simulator builds the same sources with
 * OSTRAKA_MUTANTS and names one mistake at a time: if its checkers do not notice, they are blind. The list of names is in
 * tests/sim/site/workload.c.
 *
 * SIMULATED(real, small) is a bound that the simulator is to cross all the time: the entries of a round, the marks of a page. */
#pragma once

#ifdef OSTRAKA_MUTANTS
#include <stdbool.h>
#include <string.h>
/* The mistake of this run, or NULL. */
extern const char *mutant_made;
static inline bool mutant_is(const char *name)
{
    return mutant_made != NULL && strcmp(mutant_made, name) == 0;
}
#define MUTANT(name)           mutant_is(#name)
#define SIMULATED(real, small) (small)
#else
#define MUTANT(name)           false
#define SIMULATED(real, small) (real)
#endif
