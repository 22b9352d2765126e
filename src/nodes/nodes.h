/* nodes.h -- node assignment: on which node of a service a user's data is, exactly.
 *
 * A service has nodes with capacities, and users, named by e-mail addresses. A user's *record* says on which node the data is, with the numbers that the user's
 * client presented (node_rules.h). A new key makes a new record; so does a node that was emptied or removed, at the user's next visit.
 * A *slot* of a node is taken once for each stay on it, under a fresh take id, not once for each record. Promises, on every engine, whatever crashes,
 * races or stays unknown:
 *   1. load = users whose record is on the node + takes that are not settled + returns that are not given back. It is never above the capacity, but where
 *      the capacity was set below it; and it never drifts: the sweep settles what a crash left.
 *   2. A user has at most one record that is not replaced. Two first requests at once get the same one.
 *   3. A uid is handed out once. A client state that was seen is never taken again; a generation never falls.
 *   4. What is refused leaves no record and no slot. UNKNOWN is perhaps done: the same request again finds the record or takes another slot, and the
 *      first slot comes back.
 *   5. A record that was replaced or retired keeps its time.
 * Not promised: where a user comes to be among equal nodes; that counters of other instances are newer than their last write.
 *
 * How a slot is taken and given back, by conditional updates of single rows (each line survives a crash after it):
 *   take        node:  load + 1, `g/take` names the user; a mark tells the sweep
 *   record      user:  head names node and take, `r/uid`                      condition: head as read
 *   settle      node:  `g/take` goes
 *   leave       user:  head replaced, `o/return` owes the slot; a mark
 *   give back   node:  load - 1, `d/return`
 *   forget      user:  `o/return` goes
 *   clear       node:  `d/return` goes
 * A take that no head names is *fenced*: the head gets a fresh id first, so that a late record fails, and then the slot comes back. Whoever gives back reads the
 * node first and the user then: `d` goes only after `o`, so who still sees `o` and no `d` holds counters that nobody has used for this return. */
#pragma once

#include "base/vault.h"
#include "nodes/node_rules.h"
#include "store/store.h"

typedef struct Nodes Nodes;

enum {
    NODE_SERVICE_MAX = 30,
    NODE_URL_MAX = 255,
    NODE_PATTERN_MAX = 255,
    NODE_SECRET_MAX = 64,
    NODE_EMAIL_MAX = 254,
    NODE_REQUEST_MAX = 64,
    NODES_PER_SERVICE_MAX = 1000,
    NODE_TURN_MAX = 256, /* calls that are served together */
};

typedef struct NodesOptions {
    Store *store;
    World world;
    const Vault *vault;
    uint64_t
        instance; /* breaks ties, so that instances on one store begin with different nodes; 0 where this process has the store alone */
} NodesOptions;

Nodes *nodes_new(const NodesOptions *options);
void nodes_free(Nodes *nodes);

/* ---- Services and nodes ------------------------------------------------------------------------------------- */

typedef struct NodeService {
    Slice name;    /* APP-VERSION, 1 … NODE_SERVICE_MAX letters, digits, `.`, `_` and `-` */
    Slice pattern; /* of a user's endpoint, with {uid}, {node} and {service} */
    Slice secret;  /* the name of the secret that its tokens are signed with; may be empty */
    NodeChoice choice;
    bool new_users;
    bool gradual; /* a new node hands out a part of its capacity at first */
    bool beats;   /* a node without a heartbeat gets no users */
    int64_t duration_s;
} NodeService;

/* What a service has when nothing else is said. */
NodeService node_service_default(Slice name);
/* CONFLICT: it is there already. */
MUST_USE Status nodes_service_add(Nodes *nodes, const NodeService *service, Reason *reason);
MUST_USE Status nodes_service_set(Nodes *nodes, const NodeService *service, Reason *reason);
/* NOT_FOUND: no such service. */
MUST_USE Status nodes_service(Nodes *nodes, Slice name, Arena *arena, NodeService *ret_service,
                              Reason *reason);

typedef struct NodeNew {
    Slice url;
    uint64_t capacity;
    uint64_t load;     /* slots that are out already, of a service that moves here */
    int64_t available; /* NODE_NO_NUMBER: by the service's rule */
    bool downed, backoff;
} NodeNew;

typedef struct NodeInfo {
    Slice url;
    NodeView view;
    uint64_t takes, returns;
    int64_t added_ms;
} NodeInfo;

/* Adding one that is there finishes what a crash left and otherwise changes nothing: its counters stay. */
MUST_USE Status nodes_add(Nodes *nodes, Slice service, const NodeNew *node, Reason *reason);
/* In the order of their ids; without those that were removed. */
MUST_USE Status nodes_list(Nodes *nodes, Slice service, Arena *arena, NodeInfo **ret_list,
                           size_t *ret_count, Reason *reason);

/* A change: NULL leaves what it is. */
typedef struct NodeChange {
    const uint64_t *capacity;
    const bool *downed, *backoff;
    const NodeState *state;
} NodeChange;
MUST_USE Status nodes_change(Nodes *nodes, Slice service, Slice url, const NodeChange *change,
                             Reason *reason);
/* REFUSED while slots are out, unless `force`: its users get other nodes at their next visit. */
MUST_USE Status nodes_remove(Nodes *nodes, Slice service, Slice url, bool force, Reason *reason);

/* ---- Users -------------------------------------------------------------------------------------------------- */

typedef struct NodeUser {
    uint64_t uid;
    Slice url;                           /* of the node; empty when it was removed */
    int64_t generation, keys_changed_at; /* NODE_NO_NUMBER: none */
    Slice client_state;
    const Slice *old_states; /* each once */
    size_t old_count;
    int64_t created_ms, first_seen_ms;
    int64_t replaced_ms; /* NODE_NO_NUMBER: it is not */
    NodeUserState state;
} NodeUser;

typedef struct NodeCall {
    Slice email;
    NodeWant want;
    Slice node; /* the URL of the node that is asked for, or empty */
    bool force; /* a named node need not be eligible */
    /* Out: */
    Status status;
    Reason reason; /* its field is the word of the HTTP interface where there is one */
    NodeUser user;
} NodeCall;

/* Serves one call; calls of several threads for one service are served together. call->status: OK; NOT_FOUND (no such user or service); REFUSED;
 * UNAVAILABLE with `no-node-configured`, `no-healthy-node`, `no-capacity` or `busy` as the field; UNKNOWN. What it returns lives in the arena. */
void nodes_call(Nodes *nodes, Slice service, NodeCall *call, Arena *arena);
/* The same for several, for callers that wait for several at once. */
void nodes_call_many(Nodes *nodes, Slice service, NodeCall *calls, size_t count, Arena *arena);

/* The user's record is replaced as of now, so that the next visit finds another node. One that is replaced already keeps its time. NOT_FOUND: no
 * such user. */
MUST_USE Status nodes_replace(Nodes *nodes, Slice service, Slice email, Reason *reason);
/* In every service. NOT_FOUND: in none. */
MUST_USE Status nodes_retire(Nodes *nodes, Slice email, Reason *reason);

/* The users of a node are replaced: all (`emails` NULL), or those of a list, of whom those who are not on it are counted as `other`. All: it is cordoned
 * first, so that nobody comes to it meanwhile, and stays so when `stays` is set. */
typedef struct NodeEmptied {
    uint64_t replaced, other;
} NodeEmptied;
MUST_USE Status nodes_decommission(Nodes *nodes, Slice service, Slice url, const Slice *emails,
                                   size_t count, bool stays, NodeEmptied *ret_emptied,
                                   Reason *reason);

/* ---- Behind the scenes -------------------------------------------------------------------------------------- */

/* Looks at the marks of the hours first_s to last_s (seconds since 1970) and settles what is left. May be repeated at will. */
MUST_USE Status nodes_sweep(Nodes *nodes, int64_t first_s, int64_t last_s);
/* Deletes what was settled since and did not ride with another update. */
MUST_USE Status nodes_tidy(Nodes *nodes);

typedef struct NodeCount {
    uint64_t load, holders, takes, owed;
    bool exact; /* nothing was taken or given back meanwhile */
} NodeCount;
/* Counts a node's users one by one: load = holders + takes + owed. */
MUST_USE Status nodes_recount(Nodes *nodes, Slice service, Slice url, NodeCount *ret_count,
                              Reason *reason);
