/* cluster.h -- private to the simulated engine: machines, calls under way, messages.
 *
 * A Call is one store call under way. It has parts, each of which needs some acknowledgements; when all parts have theirs, or
 * its deadline has passed, it is done and its client goes on. Messages hold a reference to it and may outlive it. To keep
 * the heap small a deadline is only scheduled once too few acknowledgements can still come in time (call_lost). */
#pragma once

#include <pthread.h>

#include "store/engine.h"
#include "store/sim/rows.h"
#include "store/sim/sim.h"

enum { QUORUM = 2 };
enum { DELAY_LEAST_US = 1000, DELAY_MOST_US = 8000, DEADLINE_US = 2000000 };

/* What the engine draws besides faults. */
enum {
    DRAW_DELAY = 100,
    DRAW_NODE,
    DRAW_DETECTED, /* whether too few machines are noticed before sending */
    DRAW_PHASE,
    DRAW_FATE,  /* of an unfinished update */
    DRAW_SETTLE /* whether a serial call finishes it */
};

/* Where the parts of a call's keys begin, so that no two messages share one. */
enum { PART_WRITE = 0, PART_FETCH = 0x10000000, PART_UPDATE = 0x20000000, PART_SCAN = 0x30000000 };

/* `who` of what happens to a machine by itself. */
static inline uint32_t node_who(int node)
{
    return UINT32_C(0xFFFF0000) + (uint32_t)node;
}

/* ---- Machines -------------------------------------------------------------------------------------------- */

typedef struct Node {
    int64_t up_at_us; /* down until then */
    int64_t skew_us;
} Node;

struct Sim {
    SimWorld *world;
    SimOptions options;
    Rows rows;
    Node nodes[SIM_NODES];
    pthread_mutex_t outside;
    uint64_t calls;
    int64_t repaired_us; /* when the last full repair was, in virtual time */
};

typedef struct SimStore {
    Store store; /* first: what the callers hold */
    Sim *sim;
    SimClient *client;
    bool of_process; /* whoever of the client's process calls is the client */
} SimStore;

static inline bool node_up(const Sim *sim, int node)
{
    return sim_world_now_us(sim->world) >= sim->nodes[node].up_at_us;
}

int nodes_up(const Sim *sim);
/* Goes down for a while, counted from now. */
void node_fail(Sim *sim, int node, int64_t for_us);
/* What its clock says. */
int64_t node_now_us(const Sim *sim, int node);

/* ---- Calls ----------------------------------------------------------------------------------------------- */

typedef struct SimPart {
    uint8_t needs, acks, hopes; /* hopes: acknowledgements that may still come in time */
} SimPart;

typedef struct Fetch Fetch; /* read.c */
typedef struct Scan Scan;   /* scan.c */

typedef struct Call {
    uint32_t refs;
    Sim *sim;
    SimClient *client;
    SimKey key;
    int64_t deadline_us;
    int coordinator; /* the machine whose clock counts */
    bool done, doomed;
    size_t part_count, remaining;
    SimPart *parts;
    Fetch *fetches; /* of a read, one a part */
    Scan *scan;
    Status decision; /* of an update: UNKNOWN until the answer is there */
    Cells found;     /* of a CONFLICT, one a condition; a deleted version where nothing is */
} Call;

/* NULL: the caller is a ghost, and nothing may happen. */
Call *call_begin(Store *store);
/* Each part needs `needs` acknowledgements out of `hopes`. */
void call_expect(Call *call, size_t part_count, uint8_t needs, uint8_t hopes);
/* Sent: the client may fall silent here. Then waits until the call is done. */
void call_wait(Call *call);
void call_end(Call *call);
/* Too few machines are up and that is known: nothing is sent. */
bool call_refused(const Call *call);

Call *call_keep(Call *call);
void call_release(Call *call); /* NULL is fine */
/* One acknowledgement of a part has come, or will not come in time. Both do nothing when call is NULL or done. */
void call_ack(Call *call, size_t part);
void call_lost(Call *call, size_t part);
/* It cannot succeed any more: ends at its deadline. */
void call_doom(Call *call);

/* Now plus a usual delay. */
int64_t after_delay(const Call *call, uint32_t part);

/* ---- Mutations: what a plain write, a repair or a decision does to a row ------------------------------------- */

typedef struct Mutation {
    uint32_t refs;
    Row *row;
    Cells cells;
} Mutation;

Mutation *mutation_new(Row *row);
void mutation_release(Mutation *mutation);

typedef enum Sending {
    SEND_USUAL,
    SEND_LATE,     /* nobody waits for it: it takes minutes or more */
    SEND_NOWHERE,  /* it gets lost and is not kept either */
    SEND_FAREWELL, /* the machine goes down when it has it */
} Sending;

/* To one machine; the answer counts for the part. Messages of one part have keys from `first_key` on, eight each. */
void mutation_send(Call *call, size_t part, uint32_t first_key, Mutation *mutation, int node,
                   Sending sending);

/* ---- Merging what two machines say --------------------------------------------------------------------------- */

typedef struct Answer {
    Cells cells;
    bool all; /* of the range; otherwise up to its last cell */
    int node;
} Answer;

typedef struct Merged {
    Cells living;     /* in the order of reading, at most want + 1 */
    Cells missing[2]; /* what each machine lacks */
    bool cut;         /* they did not reach far enough: ask for more */
} Merged;

void merge_answers(const Answer answers[2], const Range *range, int64_t now_us, int64_t grace_us,
                   Merged *to);
void merged_free(Merged *merged);

/* ---- What the engine's table points to ---------------------------------------------------------------------- */

/* The row is being agreed upon: finishes or drops what is unfinished there. False: somebody else is in the way. */
bool row_enter_serial(Call *call, Row *row, uint32_t part);
void row_drop_unfinished(Row *row);
void scan_free(Scan *scan);
/* Where a scan goes on. */
Slice scan_position(const Table *table, Slice row, Slice column, Arena *arena);
MUST_USE Status scan_position_parse(const Table *table, Slice position, Slice *ret_row,
                                    Slice *ret_column);
void fetches_free(Call *call);
/* One call: statuses of the batches; used for the marks of an update, too. */
void write_batches(Call *call, const Batch *batches, size_t count, Status *ret_statuses);

MUST_USE Status sim_read(Store *store, const Read *read, Arena *arena, Cell *ret_cell);
MUST_USE Status sim_read_many(Store *store, const Read *reads, size_t count, Arena *arena,
                              ReadAnswer *ret_answers);
MUST_USE Status sim_slice(Store *store, const Query *query, Arena *arena, Page *ret_page);
MUST_USE Status sim_scan(Store *store, const Table *table, Slice position, uint32_t limit,
                         Arena *arena, ScanPage *ret_page);
MUST_USE Status sim_write_many(Store *store, const Batch *batches, size_t count,
                               Status *ret_statuses);
MUST_USE Status sim_update_if(Store *store, const Update *update, Arena *arena, Found *ret_found);

static inline int64_t later_us(const Sim *sim, int64_t us)
{
    return sim_world_now_us(sim->world) + us;
}

static inline SimKey key_of(const Call *call, uint32_t part)
{
    return (SimKey){call->key.who, call->key.call, part};
}

static inline bool is_conditional(const Row *row)
{
    return row->table->kind == TABLE_CONDITIONAL;
}
