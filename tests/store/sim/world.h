/* world.h -- a world in which everything that happens is an event at a virtual time, and all luck comes from one seed.
 *
 *   1. One thing at a time. Events run in the order of (time, number); clients (fibers) run between events, until they wait.
 *   2. The same seed gives the same world: sim_world_hash, over all events in order, tells.
 *   3. Luck has no sequence. A draw is a function of the seed and of a key (who, which call, which part of it), so taking one
 *      fault away does not shift the luck of anything else.
 *   4. A fault is a draw that fires. All that fired are listed (sim_world_faults); a world that is given some of them as
 *      `without` runs as if those had not fired, or with `only_listed` as if nothing else had; `forced` ones fire whatever
 *      the luck.
 *   5. A client dies by becoming a ghost: its calls fail at once and do nothing, its clock goes on with its sleep, until
 *      its function returns. So it leaves no memory behind, as production code knows no other way to end.
 * Clients use the handles of base/world.h and the store; an engine (cluster.h) uses the second half of this header.
 * Calls from outside of any client (set-up, checks, the contract suite) run the world's events until they are done, and
 * meet no faults but those of the machines. */
#pragma once

#include "base/world.h"

typedef struct SimWorld SimWorld;
typedef struct SimClient SimClient;

/* ---- Luck ------------------------------------------------------------------------------------------------ */

/*    id, name in fault keys, what happens; rate: how often it fires; most: how long it lasts */
#define SIM_FAULT_LIST(X)                                                         \
    X(DROP, "drop", "a request between machines is lost")                         \
    X(ANSWER, "answer", "it was done, and the answer is lost")                    \
    X(SLOW, "slow", "a request arrives late")                                     \
    X(TWICE, "twice", "a request arrives a second time, late")                    \
    X(HINT, "hint", "what a machine missed is not kept for it")                   \
    X(OUTAGE, "outage", "a machine is down for a while")                          \
    X(NODE_SKEW, "node_skew", "the clock of a machine is wrong")                  \
    X(SKEW, "skew", "the clock of a client is wrong")                             \
    X(DEATH, "death", "a client dies before a call")                              \
    X(SILENCE, "silence", "a client dies while a call is under way")              \
    X(STALL, "stall", "a client stops for a while before a call")                 \
    X(TARGETED, "targeted", "one machine gets it and goes down, the client dies") \
    X(LATE, "late", "an update is left unfinished, to be finished by others")     \
    X(BUSY, "busy", "two updates of one row get in each other's way")             \
    X(UNMET, "unmet", "a serial call does not meet an unfinished update")         \
    X(UNSPREAD, "unspread", "an update is answered before it has spread")         \
    X(STEP, "step", "the clock of a client steps to another error")               \
    X(SUSPEND, "suspend", "a client's machine sleeps, and its steady clock too")  \
    X(DISK, "disk", "a write of the single machine fails")                        \
    X(POWER, "power", "its power fails: what no sync has saved may be lost")      \
    X(REACH, "reach", "a write reaches only some machines (when forced)")

typedef enum SimFault {
#define X(id, name, text) SIM_##id,
    SIM_FAULT_LIST(X)
#undef X
        SIM_FAULT_COUNT
} SimFault;

/* How often and how long at most, of each fault. All zero: a quiet world. Rates are parts of a million: of the messages
 * (DROP, ANSWER, SLOW, TWICE, HINT), of the calls (DEATH … UNSPREAD; UNMET: of the meetings), of the clients and machines (skews), of each six hours
 * of a machine (OUTAGE). */
typedef struct SimSwarm {
    uint32_t rate[SIM_FAULT_COUNT];
    int64_t most_us[SIM_FAULT_COUNT];
} SimSwarm;

/* What luck is keyed by. `who` is a client (0: from outside) or a machine, `call` the number of its call or event, `part` a
 * message of it. */
typedef struct SimKey {
    uint32_t who, call, part;
} SimKey;

typedef struct SimFired {
    SimFault fault;
    SimKey key;
    uint64_t value; /* of a forced one; for REACH the machines as bits */
    int64_t at_us;
} SimFired;

/* "drop/3.17.2" and back; INVALID for anything else. */
Slice sim_fired_text(const SimFired *fired, Arena *arena);
MUST_USE Status sim_fired_from_text(Slice text, SimFired *ret_fired);
const char *sim_fault_name(SimFault fault);

/* ---- A world --------------------------------------------------------------------------------------------- */

typedef struct SimWorldOptions {
    uint64_t seed;
    int64_t start_us; /* what true time it is at the beginning, µs since 1970 */
    SimSwarm swarm;
    const SimFired *without, *forced; /* must outlive the world */
    size_t without_count, forced_count;
    bool only_listed; /* `without` lists what may fire, instead of what may not */
    bool threads;     /* clients are threads with a baton; always so under sanitizers */
} SimWorldOptions;

SimWorld *sim_world_new(const SimWorldOptions *options);
/* Clients that have not ended become ghosts first. */
void sim_world_free(SimWorld *world);
/* Virtual time since the beginning. */
int64_t sim_world_now_us(const SimWorld *world);
int64_t sim_world_start_us(const SimWorld *world);
/* Runs all events up to and at a moment of virtual time, which then is now. */
void sim_world_run_until(SimWorld *world, int64_t at_us);
/* No fault fires any more; what is under way (late messages, stalls) goes on. */
void sim_world_calm(SimWorld *world);
uint64_t sim_world_hash(const SimWorld *world);
uint64_t sim_world_events(const SimWorld *world);
const SimFired *sim_world_faults(const SimWorld *world, size_t *ret_count);
/* True time, and sleeping that runs the world; for code outside of clients. */
Clock sim_world_clock(SimWorld *world);

/* ---- Clients --------------------------------------------------------------------------------------------- */

typedef void SimClientRun(SimClient *client, void *context);

/* Starts at a moment of virtual time, numbered from 1 in the order of these calls. It lives as long as the world. */
SimClient *sim_client_start(SimWorld *world, int64_t at_us, SimClientRun *run, void *context);
/* Another client of the same process: it has the leader's clock, dies with it, and the leader with it. */
SimClient *sim_client_join(SimClient *leader, SimClientRun *run, void *context);
/* The client that runs at this moment; NULL: code from outside. */
SimClient *sim_world_running(const SimWorld *world);
uint32_t sim_client_number(const SimClient *client);
/* False for a ghost: what it is told or decides does not count. */
bool sim_client_alive(const SimClient *client);
bool sim_client_ended(const SimClient *client);
/* The number of its last store call. */
uint32_t sim_client_calls(const SimClient *client);
SimWorld *sim_client_world(const SimClient *client);
/* A new piece of work begins: its calls are numbered from the next thousand (1024) on. So a fault that is taken away changes the
 * numbers, and with them the luck, of one piece of work only. */
void sim_client_next(SimClient *client);
/* With its skew. Sleeping lets others run. */
Clock sim_client_clock(SimClient *client);
/* Keyed by the client, its call number, and how many numbers it drew since. */
Random sim_client_random(SimClient *client);

/* ---- For engines ----------------------------------------------------------------------------------------- */

/* Embedded as the first member of what happens. Exactly one of both is called, and owns it then. */
typedef struct SimEvent SimEvent;
struct SimEvent {
    void (*run)(SimEvent *event);
    void (*drop)(SimEvent *event); /* the world ends first */
    SimKey key;                    /* goes into the hash */
};

void sim_schedule(SimWorld *world, int64_t at_us, SimEvent *event);
/* Something worth telling two worlds apart by. */
void sim_note(SimWorld *world, uint64_t what);

/* Any number, by a purpose of the caller's own (from 100 on). */
uint64_t sim_draw(const SimWorld *world, uint32_t purpose, SimKey key);
/* The same, from least to most. */
int64_t sim_draw_between(const SimWorld *world, uint32_t purpose, SimKey key, int64_t least,
                         int64_t most);
/* Whether the fault fires. *ret_value (may be NULL) is set when it was forced with one. */
bool sim_fires(SimWorld *world, SimFault fault, SimKey key, uint64_t *ret_value);
/* How long: from least to the fault's most, log-uniform: each doubling is as likely as any other. */
int64_t sim_span_us(const SimWorld *world, SimFault fault, SimKey key, int64_t least_us);

/* A store call begins: counts it, lets the client stall or die. Client NULL: from outside. False: the caller is a ghost. */
bool sim_call_begin(SimWorld *world, SimClient *client, SimKey *ret_key);
/* Waits until *done, which an event sets and then calls sim_wake; returns early when the client is dead. */
void sim_wait(SimWorld *world, SimClient *client, const bool *done);
void sim_wake(SimWorld *world, SimClient *client);
/* It becomes a ghost. Client NULL: nothing happens. */
void sim_client_kill(SimClient *client);
