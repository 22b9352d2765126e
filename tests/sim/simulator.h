/* simulator.h -- runs of production code against a cluster that fails, each decided by one seed.
 *
 * A run has four phases: faults (clients work while everything breaks), heal (all faults end; what was late arrives), quiet sweeps
 * (background work catches up), check. A workload says what the clients do; its checkers, one file each, say what must hold
 * at the end; what must hold all the time the workload checks as it goes. Whatever is broken is a violation.
 *   1. The same seed, workload and mutant give the same run: RunResult.hash tells.
 *   2. Swarm: the seed also draws which faults there are, how strong, how many clients and for how long.
 *   3. A mutant is a known mistake that the workload makes when asked to. It must be caught within its stated seeds, else the
 *      checkers are blind.
 * To add a module: a workload file and its checkers, and a line in the table of simulator.c. */
#pragma once

#include "base/vault.h"
#include "store/sim/sim.h"

typedef struct Run Run;

typedef struct Mutant {
    const char *name;
    const char *text;
    uint64_t seeds;  /* it is caught by one of the seeds 1 … seeds */
    uint64_t caught; /* by this one, when it was last looked for: the first to try */
} Mutant;

typedef struct Checker {
    const char *name; /* what must hold */
    void (*check)(Run *run, Store *store, Arena *arena);
} Checker;

typedef struct Workload {
    const char *name;
    TableSet tables; /* none: those of the product */
    const Mutant *mutants;
    size_t mutant_count;
    const Checker *const *checkers; /* ended by NULL */
    /* Called from outside, before anything fails; what it returns is run_state. Memory: run_arena. */
    void *(*setup)(Run *run, Store *store);
    /* One client's life: until run_working says no, or it is dead. `number` counts the lives of all clients from 1. */
    void (*client)(Run *run, SimClient *client, Store *store, Arena *arena);
    /* Background work, after the cluster was healed; called several times. NULL: there is none. */
    void (*sweep)(Run *run, Store *store, Arena *arena);
    /* Changes what the seed drew, to provoke what luck alone rarely brings. NULL: as it is. */
    void (*provoke)(Run *run, SimSwarm *swarm);
    /* How many clients there are at the beginning, of so many that the seed wants. NULL: all. */
    uint32_t (*lives)(Run *run, uint32_t wanted);
    uint32_t pieces, scenarios; /* of the exhaustive mode; 0: a few */
} Workload;

extern const Workload *const WORKLOADS[]; /* ended by NULL */
const Workload *workload_by_name(const char *name);
/* A seed's workload is always the same, so that a seed alone says all. */
const Workload *workload_of(uint64_t seed);
const Mutant *mutant_by_name(const Workload *workload, const char *name);

/* ---- For workloads and checkers -------------------------------------------------------------------------- */

void *run_state(Run *run);
/* For set-up that needs it before it returns. */
void run_set_state(Run *run, void *state);
Arena *run_arena(Run *run);
Sim *run_sim(Run *run);
/* The store of a single machine in the same world; made when it is first asked for. */
SimSolo *run_solo(Run *run);
/* The key of the site; the same in every run. */
const Vault *run_vault(const Run *run);
/* The clients should go on; asks a client's own count in the exhaustive mode, else the time. */
bool run_working(Run *run, SimClient *client);
bool run_is_exhaustive(const Run *run);
/* How long the clients work. */
int64_t run_length_us(const Run *run);
/* What the seed drew. */
const SimSwarm *run_swarm(const Run *run);
/* Whether this run makes the named mistake. */
bool run_makes_mistake(const Run *run, const char *mutant);
/* A number from 0 to below - 1 that the seed decides, for set-up. */
uint64_t run_draw(Run *run, uint64_t below);
/* Between two pieces of work: mostly at once, sometimes seconds, sometimes hours. */
void run_pause(Run *run, SimClient *client);
void run_violated(Run *run, const char *format, ...) PRINTF_LIKE(2, 3);

/* ---- Runs ------------------------------------------------------------------------------------------------ */

typedef struct RunPlan {
    const Workload *workload;
    uint64_t seed;
    const Mutant *mutant; /* NULL: none */
    const SimFired *listed, *forced;
    size_t listed_count, forced_count;
    bool only_listed; /* as in SimWorldOptions */
    bool threads;
    /* The exhaustive mode: no luck, two clients, each with so many pieces of work; 0: the usual swarm. */
    uint32_t pieces;
    uint32_t clients; /* with pieces: so many, 0: two */
    bool swarm;       /* with pieces: with the seed's faults all the same */
} RunPlan;

typedef struct RunResult {
    int violations;
    char first[256]; /* the first violation, in words */
    uint64_t hash, events;
    uint32_t calls[2]; /* of the first two clients */
    SimFired *faults;  /* that fired; from malloc */
    size_t fault_count;
} RunResult;

void run_once(const RunPlan *plan, RunResult *ret_result);
void run_result_free(RunResult *result);

/* Of the faults of a run that broke something, finds few that are enough for it, and none of which can be left out (unless that takes more
 * than 2,000 runs). ret_result is the run with those alone. */
void run_shrink(const RunPlan *plan, const RunResult *broken, RunResult *ret_result);

/* Two clients, each killed before and during each of its calls, both at every pair of calls, and each write reaching each
 * subset of the machines. Returns how many runs there were; stops at the first violation. */
int run_exhaustively(const Workload *workload, const Mutant *mutant, RunResult *ret_result);
