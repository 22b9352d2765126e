/* sim.h -- the test engine: a store that plays a cluster of three machines, in a world of events (world.h).
 *
 * Every row is on all three machines. A plain write goes to three and waits for two; a read asks two, takes the newer of each
 * cell and repairs the older before it answers. An update is one decision about its row (SIM_DECIDED in rows.h), which then
 * spreads to the machines; serial calls see the decisions, normal ones what has spread.
 * On top of the contract of store.h:
 *   1. In a quiet world (SimSwarm all zero) every call is answered within milliseconds of virtual time.
 *   2. With faults it keeps the contract and nothing more: a write may reach none to three machines, late, twice, or from
 *      the hints kept for a machine that was down; an update may be decided after its client gave up, with the next serial call on
 *      the row or by itself within days; normal reads of conditional cells may be old; pages of a slice lie apart in time;
 *      expiry is judged by clocks that are wrong.
 *   3. Machines keep what they have when they are down. Tombstones are forgotten after grace, and a full repair comes before
 *      that, as operators are told to do.
 * A call from a client is the point where others run; calls from outside may come from any thread, one at a time inside.
 * It is linked into tests only. */
#pragma once

#include "store/sim/world.h"
#include "store/store.h"

typedef struct Sim Sim;

typedef struct SimOptions {
    TableSet tables;
    int64_t grace_s;
    int64_t repair_every_s; /* full repair; 0: never */
    Clock
        clock; /* of the machines and of calls from outside; its now_us NULL: the world's own, each with its skew */
} SimOptions;

/* A cluster without rows in a world, which it then owns. */
Sim *sim_new(SimWorld *world, const SimOptions *options);
/* Ends the world, too; every store of it must be closed, except in clients that have not ended. */
void sim_free(Sim *sim);
SimWorld *sim_world(const Sim *sim);

/* A client's way into the cluster, with the client's clock; NULL: from outside. Close it with store_close. */
Store *sim_open(Sim *sim, SimClient *client);
/* The same for all clients of a process (sim_client_join): each call is made by the one that runs. */
Store *sim_open_process(Sim *sim, SimClient *client);

/* ---- One machine --------------------------------------------------------------------------------------------- */

/* A store that nobody shares, as the embedded engine is: one process has it open, with many clients (sim_client_join). A call takes
 * effect at one moment. Lazy writes are durable 200 ms later, or with the next that is not lazy.
 *   - DISK: the write of a call fails, and is UNKNOWN, also where it is a conflict. The store turns read-only; when it opens again, by itself
 *     or by the next process, the write is there, or not, and store_generation is another.
 *   - POWER: the process dies, and of what was not durable only a beginning remains.
 * Every other death of the process loses nothing that was written. */
typedef struct SimSolo SimSolo;
SimSolo *sim_solo_new(SimWorld *world, const SimOptions *options);
void sim_solo_free(SimSolo *solo);
/* For a process whose leader this is; NULL: from outside. What another process left unsettled is settled. */
Store *sim_solo_open(SimSolo *solo, SimClient *leader);
/* It is well, and stays so. */
void sim_solo_heal(SimSolo *solo);

/* All faults end: no more fire, all machines are up. What is late is still on its way. */
void sim_heal(Sim *sim);
/* All machines get what any of them has. */
void sim_repair(Sim *sim);
/* All machines forget what they may. */
void sim_compact(Sim *sim);
