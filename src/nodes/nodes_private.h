/* nodes_private.h -- what the parts of this module share: the stored records, a service as it was read, and the updates of the steps. */
#pragma once

#include <pthread.h>

#include "base/ids.h"
#include "base/mutant.h"
#include "nodes/nodes.h"
#include "store/record.h"
#include "store/sequence.h"

enum {
    USER_ROW = 16,
    NODE_ROW = 8,
    NODE_SHARDS = 16,
    NODE_FLIGHT_COLUMN = 2 + ID_BYTES, /* g/ or d/ and the id */
    NODE_MARK_DAYS = 40,
    NODE_MARK_S = 3600, /* marks of an hour stand together */
    NODE_ROUNDS = 10,   /* of a turn, before it is too busy */
    NODE_TRIES = 5,     /* of an update whose answer is lost */
};

/* ---- What is stored ------------------------------------------------------------------------------------------- */

/* node_services, row: the service's name. */
typedef struct ServiceHead {
    Id write;
    NodeOrder order;
    NodePolicy policy;
    uint32_t top, rate;
    bool new_users, gradual, beats;
    int64_t duration_s;
    Slice pattern, secret;
} ServiceHead;

/* n/node */
typedef struct NodeEntry {
    Id write;
    int64_t added_ms, removed_ms; /* NODE_NO_NUMBER: it was not */
    Slice url;
} NodeEntry;

/* u/hash of the URL: the node that has it, 0 when it is free. */
typedef struct NodeName {
    Id write;
    uint64_t node;
} NodeName;

/* nodes, row: the node; cell c. */
typedef struct NodeCounters {
    Id write;
    uint64_t capacity, load;
    int64_t available;
    NodeState state;
    bool downed, backoff;
    uint64_t takes, returns;
} NodeCounters;

/* nodes: g/take and d/return. */
typedef struct NodeFlight {
    int64_t since_ms;
    Slice user; /* USER_ROW bytes */
} NodeFlight;

/* node_users, row: USER_ROW bytes of a keyed hash of the service and the folded e-mail; cell head. */
typedef struct UserHead {
    Id write;
    NodeUserState state;
    uint64_t uid, node;
    Id take;
    int64_t generation, keys_changed_at;
    int64_t created_ms, first_seen_ms, replaced_ms;
    Slice client_state;
    Slice email;
} UserHead;

/* r/uid: written once. */
typedef struct UserRecord {
    uint64_t node;
    int64_t generation, keys_changed_at, created_ms;
    Slice client_state;
} UserRecord;

/* x/uid: written once. */
typedef struct UserReplaced {
    int64_t replaced_ms;
} UserReplaced;

/* o/return: a slot that is owed back. */
typedef struct UserOwes {
    uint64_t node;
    Id take;
} UserOwes;

extern const Record SERVICE_RECORD, NODE_ENTRY_RECORD, NODE_NAME_RECORD, NODE_COUNTERS_RECORD,
    NODE_FLIGHT_RECORD, USER_HEAD_RECORD, USER_RECORD_RECORD, USER_REPLACED_RECORD,
    USER_OWES_RECORD;

/* ---- A service in memory --------------------------------------------------------------------------------------- */

/* A node as it was read. */
typedef struct NodeSeen {
    uint64_t node;
    Slice url;
    int64_t added_ms;
    NodeCounters counters;
    Slice value; /* of its counters, the condition of a change; empty: they are missing */
} NodeSeen;

/* A service as it was read, in an arena of its own. */
typedef struct ServiceSeen {
    ServiceHead head;
    Slice value;
    NodeSeen *nodes; /* by id, without those that were removed */
    size_t count;
} ServiceSeen;

typedef struct Turns Turns;

struct Nodes {
    Store *store;
    World world;
    const Vault *vault;
    uint64_t instance;
    Sequence *node_ids, *uids;
    Turns *turns;
};

static inline int64_t nodes_now_ms(const Nodes *nodes)
{
    return clock_now_us(nodes->world.clock) / US_PER_MS;
}

static inline Id nodes_fresh_id(const Nodes *nodes)
{
    return id_new(nodes->world.clock, nodes->world.random);
}

static inline Records nodes_records(const Nodes *nodes)
{
    return (Records){nodes->store, nodes->world, nodes->vault};
}

/* ---- Rows (rows.c) --------------------------------------------------------------------------------------------- */

extern const Slice SERVICE_HEAD, NODE_COUNTERS, USER_HEAD;

Slice node_row(uint64_t node, Arena *arena);
/* Two letters and a slash, or one: `g/` and the bytes. */
Slice node_column(const char *prefix, Slice rest, Arena *arena);
Slice node_column_u64(const char *prefix, uint64_t number, Arena *arena);
Slice user_row(const Nodes *nodes, Slice service, Slice folded, Arena *arena);
Slice node_person_row(const Nodes *nodes, Slice folded, Arena *arena);

/* Reads head, entries and counters. NOT_FOUND with a reason: no such service. */
MUST_USE Status service_read(Nodes *nodes, Slice name, Arena *arena, ServiceSeen *ret_service,
                             Reason *reason);
NodeSeen *service_node(const ServiceSeen *service, uint64_t node);
NodeSeen *service_node_by_url(const ServiceSeen *service, Slice url);
/* NODE_COUNTERS of one node again; `seen` keeps them in `arena`. NOT_FOUND: the row has none. */
MUST_USE Status node_read(Nodes *nodes, NodeSeen *seen, Arena *arena);
void node_view(const Nodes *nodes, const NodeSeen *seen, NodeView *ret_view);
NodeService service_of(Slice name, const ServiceHead *head);

/* A user's row. */
typedef struct UserSeen {
    Slice row;
    UserHead head;
    Slice value;   /* of the head; empty: there is none */
    Slice *states; /* every client state that was seen, the current one too */
    size_t state_count;
    UserOwes *owes;
    Slice *owe_ids; /* ID_BYTES each */
    size_t owe_count;
} UserSeen;
MUST_USE Status user_read(Nodes *nodes, Slice row, Arena *arena, UserSeen *ret_user);
MUST_USE Status user_read_many(Nodes *nodes, const Slice *rows, size_t count, Arena *arena,
                               UserSeen *ret_users, Status *ret_statuses);
MUST_USE Status node_fold_email(Slice email, Arena *arena, Slice *ret_folded, Reason *reason);

/* ---- Updates (updates.c) ---------------------------------------------------------------------------------------- */

/* An update of one row that grows in the arena: condition, changes, marks. */
typedef struct Step {
    Update update;
    Condition conditions[2];
    Change *changes;
    size_t room;
    RowChange *marks;
    size_t mark_count;
    Arena *arena;
} Step;

void step_begin(Step *step, const Table *table, Slice row, size_t room, Arena *arena);
void step_when(Step *step, Slice column, Slice value); /* empty: absent */
void step_put(Step *step, Slice column, Slice value, int64_t ttl_s);
void step_delete(Step *step, Slice column);
void step_mark(Step *step, RowChange mark);
/* The counters with a fresh id, under the condition that they are as read, with a receipt as the proof. *ret_value: what then stands there. */
void step_counters(Step *step, const Nodes *nodes, const NodeSeen *seen, NodeCounters *counters,
                   Slice *ret_value);
/* The head with a fresh id, under the condition that it is as read. The proof is what the caller names, or a receipt. */
void step_head(Step *step, const Nodes *nodes, const UserSeen *user, UserHead *head, Slice proof);
void step_receipt(Step *step, const Id *id); /* proves the update where nothing else does */
const Update *step_done(Step *step);
MUST_USE Status step_run(Nodes *nodes, Step *step);

/* The users of a node and the marks of an hour are spread over NODE_SHARDS rows. */
Slice node_shard(Slice user, Arena *arena);
Slice node_index_row(uint64_t node, Slice shard, Arena *arena);
Slice node_mark_row(int64_t second, Slice shard, Arena *arena);
/* Marks of the step: something of this user and node may be unsettled; and with `moves_in` the user is listed with the node. The list of a node has everybody,
 * perhaps more: it is written before the take. */
void step_announce(Step *step, const Nodes *nodes, uint64_t node, Slice user, bool moves_in);

/* ---- Steps (settle.c) ------------------------------------------------------------------------------------------ */

/* Until nobody came in between: the take is used and its cell goes, or it is fenced and the slot comes back. */
MUST_USE Status settle_take(Nodes *nodes, uint64_t node, Slice take, Slice user);
/* The slot of one that is owed, until `o` and `d` are gone. */
MUST_USE Status give_back(Nodes *nodes, Slice user, Slice owed, const UserOwes *owes);
/* All that is in flight on the node, of one user or (empty) of all. */
MUST_USE Status settle_node(Nodes *nodes, uint64_t node, Slice user);
/* All that is owed by the user, and every take of the user on the node. */
MUST_USE Status settle_user(Nodes *nodes, uint64_t node, Slice user);

typedef struct Flight {
    bool taken; /* g; else d */
    Slice id;
    NodeFlight flight;
} Flight;
/* What is in flight on the node, with its counters. NOT_FOUND: the node is gone. */
MUST_USE Status node_flights(Nodes *nodes, uint64_t node, Arena *arena, NodeSeen *ret_seen,
                             Flight **ret_flights, size_t *ret_count);

/* ---- Leaving (leave.c) ----------------------------------------------------------------------------------------- */

/* The head becomes `state`; a slot that it has is owed and given back. OK also when nothing had to change; *ret_changed says. */
MUST_USE Status user_leave(Nodes *nodes, Slice row, uint64_t only_node, NodeUserState state,
                           bool *ret_changed);

/* ---- Turns (assign.c, turns.c) ---------------------------------------------------------------------------------- */

/* Takes whose record is there: their cells go with the next take of the node, or by nodes_tidy. Of one service. */
typedef struct SettledTakes SettledTakes;
enum { NODE_SETTLED_MAX = 512 }; /* that ride with one update */
void settled_add(SettledTakes *settled, uint64_t node, Id take);
/* Deletes of the node's are added to the step; settled_done: it took place. */
void settled_ride(SettledTakes *settled, uint64_t node, Step *step);
void settled_done(SettledTakes *settled, uint64_t node);

/* What a turn works on. */
typedef struct Assignment {
    Nodes *nodes;
    Slice name;
    ServiceSeen *service;
    Arena *kept; /* where the service lives */
    SettledTakes *settled;
} Assignment;

/* Calls of different users, once: those that are to be made again are CONFLICT. Answers go to each one's arena. */
void assign_once(const Assignment *assignment, NodeCall *const *calls, const Slice *rows,
                 Arena *const *arenas, size_t count);
void node_answer(const UserSeen *user, const UserHead *head, Slice url, Arena *arena,
                 NodeUser *ret_user);
/* What is kept of a service no longer counts. */
void turns_forget(Turns *turns, Slice name);
Turns *turns_new(void);
void turns_free(Turns *turns);
