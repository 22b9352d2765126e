/* node_rules.h -- which node a user gets, and when a user's record changes. Pure: no store, no clock, no allocation.
 *
 * A service has nodes; a node has a capacity and a load (slots that are out), and `available`: how many of the free slots may be handed out before
 * the next release step. So a new node fills gradually. Rules:
 *   1. A node is *eligible* when available > 0, load < capacity, it is not downed, has no backoff, its state is eligible, and it is not silent (no
 *      heartbeat, where the service asks for heartbeats).
 *   2. `least` takes the first node of the order, `top_n` one of the first N at random, `p2c` the better of two that are drawn at random.
 *      Order `ratio`: load / capacity. Order `log`: empty nodes first, then ln load / ln capacity, which favours small nodes; it is how the SQL
 *      predecessors read their notes. Ties: the smaller `tie`.
 *   3. When no node is eligible, a release step gives each node that could be, but for available <= 0, min(max(1, capacity * rate), capacity - load).
 * The rules of a user's record follow below. What a caller may present: a generation (grows with each change of the account), keys_changed_at (grows
 * with each change of the keys) and a client state (a hash of the key). A client state that was seen before never comes back. */
#pragma once

#include "base/words.h"
#include "base/world.h"

#define NODE_STATE_LIST(X) \
    X(ELIGIBLE, "eligible") X(CORDONED, "cordoned") X(DRAINING, "draining") X(DRAINED, "drained")
#define NODE_ORDER_LIST(X)  X(RATIO, "ratio") X(LOG, "log")
#define NODE_POLICY_LIST(X) X(LEAST, "least") X(TOP_N, "top_n") X(P2C, "p2c")

#define X(name, word) NODE_STATE_##name,
typedef enum NodeState { NODE_STATE_LIST(X) NODE_STATES } NodeState;
#undef X
#define X(name, word) NODE_ORDER_##name,
typedef enum NodeOrder { NODE_ORDER_LIST(X) NODE_ORDERS } NodeOrder;
#undef X
#define X(name, word) NODE_POLICY_##name,
typedef enum NodePolicy { NODE_POLICY_LIST(X) NODE_POLICIES } NodePolicy;
#undef X

extern const char *const NODE_STATE_WORDS[];
extern const char *const NODE_ORDER_WORDS[];
extern const char *const NODE_POLICY_WORDS[];

enum {
    NODE_RATE_ALL = 1000000, /* a rate is in millionths of the capacity */
    NODE_TOP_MAX = 100,
};
#define NODE_CAPACITY_MAX (UINT64_C(1) << 31)

/* What the choice sees of a node. It changes the counters as it hands out, so that one turn can choose for many. */
typedef struct NodeView {
    uint64_t node, tie;
    uint64_t capacity, load;
    int64_t available;
    NodeState state;
    bool downed, backoff, silent;
    bool changed; /* by a choice or a release: to be written */
} NodeView;

typedef struct NodeChoice {
    NodeOrder order;
    NodePolicy policy;
    uint32_t top;  /* of top_n, 1 … NODE_TOP_MAX */
    uint32_t rate; /* of a release step, 1 … NODE_RATE_ALL */
} NodeChoice;

#define NODE_NONE SIZE_MAX

bool node_is_eligible(const NodeView *node);
/* Negative when `a` comes before `b`; 0 only for equal ties. */
int node_compare(NodeOrder order, const NodeView *a, const NodeView *b);
/* What a new node may hand out before its first release step. */
int64_t node_first_available(uint64_t capacity, uint32_t rate);

/* Chooses, with a release step where needed, and takes the slot in the view. NODE_NONE: node_lack says why. */
size_t node_take(const NodeChoice *choice, Random random, NodeView *nodes, size_t count);
/* The slot of a named node. False when it has none free; `force` overrides available, state and silence, never capacity. */
bool node_take_named(NodeView *node, bool force);

/* Why there is none, as the HTTP interface says it. */
const char *node_lack(const NodeView *nodes, size_t count);

/* ---- A user's record ---------------------------------------------------------------------------------------------- */

#define NODE_USER_STATE_LIST(X) \
    X(NONE, "none")             \
    X(LIVE, "live") X(REPLACED, "replaced") X(RETIRED, "retired") X(DELETED, "deleted")
#define X(name, word) NODE_USER_##name,
typedef enum NodeUserState { NODE_USER_STATE_LIST(X) NODE_USER_STATES } NodeUserState;
#undef X
extern const char *const NODE_USER_STATE_WORDS[];

enum { NODE_CLIENT_STATE_MAX = 32 };
#define NODE_GENERATION_MAX INT64_MAX /* equal to it: retired */
#define NODE_NO_NUMBER      INT64_C(-1)

/* What is asked for. */
#define NODE_ACT_LIST(X)                                                                           \
    X(GET, "get") /* the record; a new one where it was replaced; nothing for who is unknown */    \
    X(CREATE, "create") /* a first record, with what was given */                                  \
    X(UPDATE, "update") /* of a record that is there */                                            \
    X(VISIT, "visit")   /* a client with its credentials: all of the above, by the strict rules */ \
    X(MOVE, "move")     /* to the node that is named */
#define X(name, word) NODE_ACT_##name,
typedef enum NodeAct { NODE_ACT_LIST(X) NODE_ACTS } NodeAct;
#undef X

/* `generation`, `keys_changed_at`: NODE_NO_NUMBER for none. */
typedef struct NodeWant {
    NodeAct act;
    int64_t generation;
    int64_t keys_changed_at;
    Slice client_state;
    bool has_client_state;
    bool named;     /* a node was named */
    bool new_users; /* the service takes new ones */
} NodeWant;

/* What is known of the user. */
typedef struct NodeKnown {
    NodeUserState state;
    int64_t generation;
    int64_t keys_changed_at;
    Slice client_state;
    bool node_gone; /* the node of the record was removed */
    bool there;     /* it is the node that was named */
    bool seen; /* the wanted client state is among those ever seen, and is not the current one */
} NodeKnown;

typedef enum NodeStep {
    NODE_STEP_ANSWER, /* nothing to write */
    NODE_STEP_TOUCH,  /* generation and keys_changed_at in place */
    NODE_STEP_RECORD, /* a new record */
} NodeStep;

typedef struct NodePlan {
    NodeStep step;
    bool slot; /* the record needs a slot of its own; otherwise it stays in the old one's */
    int64_t generation;
    int64_t keys_changed_at;
    Slice client_state;
} NodePlan;

/* What to do. NOT_FOUND: nothing, and nothing is written. REFUSED: `reason->field` is the word of the HTTP interface (invalid-client-state …). */
MUST_USE Status node_judge(const NodeKnown *known, const NodeWant *want, NodePlan *ret_plan,
                           Reason *reason);
