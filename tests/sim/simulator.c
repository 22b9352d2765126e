/* simulator.c -- see simulator.h: one run, from set-up to check. */
#include "simulator.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mutant.h"
#include "swarm.h"
#include "workloads.h"

const Workload *const WORKLOADS[] = {&WORKLOAD_CHAIN, &WORKLOAD_PLAIN, &WORKLOAD_NAMES,
                                     &WORKLOAD_VOTES, NULL};

const char *mutant_made;

#define DAY_US (S_PER_DAY * US_PER_S)
/* 2026-01-31T12:00:00Z */
#define START_US INT64_C(1769860800000000)
enum { GRACE_DAYS = 20, REPAIR_DAYS = 4, SETTLING_DAYS = 10, LIVES_MAX = 64, SWEEPS = 3 };

struct Run {
    const RunPlan *plan;
    RunResult *result;
    Sim *sim;
    SimSolo *solo;
    SimWorld *world;
    SimSwarm swarm;
    Arena *arena;
    Vault *vault;
    void *state;
    uint64_t luck;
    int64_t until_us;
    int64_t rest_us; /* how far apart the moments are to which clients rest */
    uint32_t lives;
    SimClient *first[2]; /* for RunResult.calls */
    uint32_t pieces_done[LIVES_MAX + 1];
};

/* ---- For workloads --------------------------------------------------------------------------------------- */

const Workload *workload_by_name(const char *name)
{
    for (size_t i = 0; WORKLOADS[i] != NULL; i++)
        if (strcmp(WORKLOADS[i]->name, name) == 0)
            return WORKLOADS[i];
    return NULL;
}

/* Half of the seeds are about votes. */
const Workload *workload_of(uint64_t seed)
{
    size_t others = sizeof WORKLOADS / sizeof WORKLOADS[0] - 2;
    return seed % 2 == 1 ? &WORKLOAD_VOTES : WORKLOADS[seed / 2 % others];
}

const Mutant *mutant_by_name(const Workload *workload, const char *name)
{
    for (size_t i = 0; i < workload->mutant_count; i++)
        if (strcmp(workload->mutants[i].name, name) == 0)
            return &workload->mutants[i];
    return NULL;
}

void *run_state(Run *run)
{
    return run->state;
}

void run_set_state(Run *run, void *state)
{
    run->state = state;
}

bool run_is_exhaustive(const Run *run)
{
    return run->plan->pieces > 0;
}

int64_t run_length_us(const Run *run)
{
    return run->until_us;
}

Arena *run_arena(Run *run)
{
    return run->arena;
}

Sim *run_sim(Run *run)
{
    return run->sim;
}

static SimOptions store_options(const Run *run)
{
    TableSet own = run->plan->workload->tables;
    return (SimOptions){.tables = own.count > 0 ? own : TABLES,
                        .grace_s = GRACE_DAYS * S_PER_DAY,
                        .repair_every_s = REPAIR_DAYS * S_PER_DAY};
}

SimSolo *run_solo(Run *run)
{
    SimOptions options = store_options(run);
    if (run->solo == NULL)
        run->solo = sim_solo_new(run->world, &options);
    return run->solo;
}

const Vault *run_vault(const Run *run)
{
    return run->vault;
}

bool run_working(Run *run, SimClient *client)
{
    if (!sim_client_alive(client))
        return false;
    if (run->plan->pieces > 0)
        return run->pieces_done[sim_client_number(client)]++ < run->plan->pieces;
    sim_client_next(client);
    return sim_world_now_us(run->world) < run->until_us;
}

const SimSwarm *run_swarm(const Run *run)
{
    return &run->swarm;
}

bool run_makes_mistake(const Run *run, const char *mutant)
{
    return run->plan->mutant != NULL && strcmp(run->plan->mutant->name, mutant) == 0;
}

uint64_t run_draw(Run *run, uint64_t below)
{
    return swarm_draw(&run->luck) % below;
}

/* Long rests end at the same moments for all, so that clients meet. */
void run_pause(Run *run, SimClient *client)
{
    uint64_t luck = random_u64(sim_client_random(client)), length = luck >> 8;
    int64_t us = 1 + (int64_t)(length % (10 * US_PER_MS));
    if (luck % 4 == 1)
        us = (int64_t)(length % (3 * US_PER_S));
    if (run->plan->pieces == 0 && luck % 8 == 0)
        us += run->rest_us - sim_world_now_us(run->world) % run->rest_us;
    clock_sleep_us(sim_client_clock(client), us);
}

void run_violated(Run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (run->result->violations++ == 0)
        vsnprintf(run->result->first, sizeof run->result->first, format, arguments);
    va_end(arguments);
}

/* ---- Clients --------------------------------------------------------------------------------------------- */

static void client_life(SimClient *client, void *context);

/* Somebody starts the program again some time after it died. */
static void start_life(Run *run, int64_t at_us)
{
    if (run->lives >= LIVES_MAX)
        return;
    SimClient *client = sim_client_start(run->world, at_us, client_life, run);
    if (run->lives < 2)
        run->first[run->lives] = client;
    run->lives++;
}

static void client_life(SimClient *client, void *context)
{
    Run *run = context;
    ARENA_SCOPE Arena *arena = arena_new();
    Store *store = sim_open(run->sim, client);
    run->plan->workload->client(run, client, store, arena);
    store_close(store);
    int64_t now_us = sim_world_now_us(run->world);
    if (sim_client_alive(client) || run->plan->pieces > 0 || now_us >= run->until_us)
        return;
    SimKey key = {sim_client_number(client), 0, 0};
    start_life(run, now_us + sim_draw_between(run->world, 1000, key, US_PER_S, 3600 * US_PER_S));
}

/* ---- Phases ---------------------------------------------------------------------------------------------- */

static void set_up(Run *run, Store *store)
{
    const RunPlan *plan = run->plan;
    uint32_t clients = plan->pieces == 0   ? 2 + (uint32_t)run_draw(run, 5)
                       : plan->clients > 0 ? plan->clients
                                           : 2;
    int64_t days = plan->pieces > 0 ? 1 : 1 + (int64_t)run_draw(run, 40);
    run->until_us = days * DAY_US;
    run->rest_us = (1 + (int64_t)run_draw(run, 12)) * 3600 * US_PER_S;
    run->state = plan->workload->setup(run, store);
    if (plan->workload->lives != NULL && plan->pieces == 0)
        clients = plan->workload->lives(run, clients);
    for (uint32_t i = 0; i < clients; i++)
        start_life(run, sim_world_now_us(run->world) + 1);
}

static void check_all(Run *run, Store *store)
{
    const Workload *workload = run->plan->workload;
    ARENA_SCOPE Arena *arena = arena_new();
    for (int i = 0; workload->sweep != NULL && i < SWEEPS; i++) {
        workload->sweep(run, store, arena);
        arena_reset(arena);
    }
    for (size_t i = 0; workload->checkers[i] != NULL; i++) {
        workload->checkers[i]->check(run, store, arena);
        arena_reset(arena);
    }
}

/* What was late has arrived after the settling time, because nothing is later than that (swarm.c, and the longest hint). */
static void heal(Run *run)
{
    sim_heal(run->sim);
    sim_world_run_until(run->world, sim_world_now_us(run->world) + SETTLING_DAYS * DAY_US);
    sim_repair(run->sim);
}

static void take_result(Run *run)
{
    RunResult *result = run->result;
    const SimFired *faults = sim_world_faults(run->world, &result->fault_count);
    result->faults = calloc(result->fault_count + 1, sizeof *faults);
    CHECK(result->faults != NULL);
    if (result->fault_count > 0)
        memcpy(result->faults, faults, result->fault_count * sizeof *faults);
    for (int i = 0; i < 2; i++)
        result->calls[i] = run->first[i] != NULL ? sim_client_calls(run->first[i]) : 0;
    result->hash = sim_world_hash(run->world);
    result->events = sim_world_events(run->world);
}

static Sim *make_cluster(Run *run)
{
    const RunPlan *plan = run->plan;
    SimWorldOptions world = {.seed = plan->seed,
                             .start_us = START_US,
                             .without = plan->listed,
                             .without_count = plan->listed_count,
                             .only_listed = plan->only_listed,
                             .forced = plan->forced,
                             .forced_count = plan->forced_count,
                             .threads = plan->threads};
    SimOptions sim = store_options(run);
    bool faults = plan->pieces == 0 || plan->swarm;
    if (faults)
        world.swarm = swarm_of(&run->luck);
    if (faults && plan->workload->provoke != NULL)
        plan->workload->provoke(run, &world.swarm);
    run->swarm = world.swarm;
    run->world = sim_world_new(&world);
    return sim_new(run->world, &sim);
}

void run_once(const RunPlan *plan, RunResult *ret_result)
{
    ARENA_SCOPE Arena *arena = arena_new();
    *ret_result = (RunResult){0};
    Run run = {.plan = plan,
               .result = ret_result,
               .arena = arena,
               .vault = vault_for_tests(1),
               .luck = plan->seed};
    mutant_made = plan->mutant != NULL ? plan->mutant->name : NULL;
    run.sim = make_cluster(&run);
    Store *store = sim_open(run.sim, NULL);
    set_up(&run, store);
    sim_world_run_until(run.world, run.until_us);
    heal(&run);
    check_all(&run, store);
    store_close(store);
    take_result(&run);
    sim_free(run.sim);
    sim_solo_free(run.solo);
    vault_free(run.vault);
}

void run_result_free(RunResult *result)
{
    free(result->faults);
    *result = (RunResult){0};
}
