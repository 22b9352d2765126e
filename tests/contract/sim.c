/* sim.c -- the simulated cluster on the fixture of contract.h: a quiet one, whose machines read its clock.
 *
 * A restart is that of the client: the machines keep what they have, and take the chance to compact. */
#include "store/sim/sim.h"

#include "contract.h"

static Status open_sim(const ContractOptions *options, Store **ret_store, Reason *reason)
{
    static Sim *cluster;
    (void)reason;
    if (options->fresh && cluster != NULL) {
        sim_free(cluster);
        cluster = NULL;
    }
    if (cluster == NULL) {
        SimWorldOptions world = {.seed = 1, .start_us = CONTRACT_START_US};
        SimOptions sim = {
            .tables = options->tables, .grace_s = options->grace_s, .clock = options->world.clock};
        cluster = sim_new(sim_world_new(&world), &sim);
    }
    sim_compact(cluster);
    *ret_store = sim_open(cluster, NULL);
    return STATUS_OK;
}

const ContractEngine CONTRACT_SIM = {.name = "sim", .takes_clock = true, .open = open_sim};
