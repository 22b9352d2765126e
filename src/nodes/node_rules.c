/* node_rules.c -- see node_rules.h. */
#include "nodes/node_rules.h"

#include "base/mutant.h"

#include <math.h>

const char *const NODE_STATE_WORDS[] = WORDS(NODE_STATE_LIST, WORD_2);
const char *const NODE_ORDER_WORDS[] = WORDS(NODE_ORDER_LIST, WORD_2);
const char *const NODE_POLICY_WORDS[] = WORDS(NODE_POLICY_LIST, WORD_2);
const char *const NODE_USER_STATE_WORDS[] = WORDS(NODE_USER_STATE_LIST, WORD_2);

enum { RELEASE_ROUNDS = 5 };

/* ---- Choosing a node ---------------------------------------------------------------------------------------- */

/* Takes users at all; whether it has room is another question. */
static bool is_healthy(const NodeView *node)
{
    return !node->downed && !node->backoff && !node->silent && node->state == NODE_STATE_ELIGIBLE;
}

bool node_is_eligible(const NodeView *node)
{
    return is_healthy(node) && node->available > 0 && node->load < node->capacity;
}

/* ln load / ln capacity; empty nodes come before all others. A node that has room and is not empty has a capacity of 2 or more. */
static double log_share(const NodeView *node)
{
    return node->load == 0 ? -1 : log((double)node->load) / log((double)node->capacity);
}

int node_compare(NodeOrder order, const NodeView *a, const NodeView *b)
{
    if (order == NODE_ORDER_RATIO) {
        /* Both are at most 2^31: the products fit. */
        uint64_t left = a->load * b->capacity, right = b->load * a->capacity;
        if (left != right)
            return left < right ? -1 : 1;
    } else {
        double left = log_share(a), right = log_share(b);
        if (left < right || left > right)
            return left < right ? -1 : 1;
    }
    return a->tie < b->tie ? -1 : a->tie > b->tie;
}

int64_t node_first_available(uint64_t capacity, uint32_t rate)
{
    return (int64_t)((capacity * rate + NODE_RATE_ALL - 1) / NODE_RATE_ALL);
}

/* Whether any node got something. */
static bool release(uint32_t rate, NodeView *nodes, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        NodeView *node = &nodes[i];
        if (!is_healthy(node) || node->available > 0 || node->load >= node->capacity)
            continue;
        uint64_t step = node->capacity * rate / NODE_RATE_ALL, room = node->capacity - node->load;
        if (step == 0 && !MUTANT(node_release_rounds_to_zero))
            step = 1;
        node->available = (int64_t)(step < room ? step : room);
        any |= node->changed = node->available > 0;
    }
    return any;
}

/* The `rank`-th of the eligible nodes by their number in the array, or NODE_NONE. */
static size_t nth_eligible(const NodeView *nodes, size_t count, size_t rank)
{
    for (size_t i = 0; i < count; i++)
        if (node_is_eligible(&nodes[i]) && rank-- == 0)
            return i;
    return NODE_NONE;
}

/* The first of the order that comes after `after` (NODE_NONE: of all). */
static size_t next_in_order(NodeOrder order, const NodeView *nodes, size_t count, size_t after)
{
    size_t best = NODE_NONE;
    for (size_t i = 0; i < count; i++) {
        if (!node_is_eligible(&nodes[i]) ||
            (after != NODE_NONE && node_compare(order, &nodes[i], &nodes[after]) <= 0))
            continue;
        if (best == NODE_NONE || node_compare(order, &nodes[i], &nodes[best]) < 0)
            best = i;
    }
    return best;
}

static size_t choose(const NodeChoice *choice, Random random, const NodeView *nodes, size_t count)
{
    size_t eligible = 0;
    for (size_t i = 0; i < count; i++)
        eligible += node_is_eligible(&nodes[i]);
    if (eligible == 0)
        return NODE_NONE;
    if (choice->policy == NODE_POLICY_P2C && eligible > 1) {
        size_t first = random_u64(random) % eligible, second = random_u64(random) % (eligible - 1);
        second += second >= first;
        first = nth_eligible(nodes, count, first);
        second = nth_eligible(nodes, count, second);
        return node_compare(choice->order, &nodes[first], &nodes[second]) <= 0 ? first : second;
    }
    size_t skip = 0, at = NODE_NONE;
    if (choice->policy == NODE_POLICY_TOP_N)
        skip = random_u64(random) % (choice->top < eligible ? choice->top : eligible);
    do
        at = next_in_order(choice->order, nodes, count, at);
    while (skip-- > 0);
    return at;
}

static void hand_out(NodeView *node)
{
    node->load++;
    node->available--;
    node->changed = true;
}

size_t node_take(const NodeChoice *choice, Random random, NodeView *nodes, size_t count)
{
    size_t at = choose(choice, random, nodes, count);
    for (int i = 0; i < RELEASE_ROUNDS && at == NODE_NONE; i++) {
        if (!release(choice->rate, nodes, count))
            return NODE_NONE;
        at = choose(choice, random, nodes, count);
    }
    if (at != NODE_NONE)
        hand_out(&nodes[at]);
    return at;
}

bool node_take_named(NodeView *node, bool force)
{
    if (node->load >= node->capacity || (!force && !node_is_eligible(node)))
        return false;
    hand_out(node);
    if (node->available < 0)
        node->available = 0;
    return true;
}

const char *node_lack(const NodeView *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_healthy(&nodes[i]))
            return "no-capacity";
    return count == 0 ? "no-node-configured" : "no-healthy-node";
}

/* ---- A user's record ---------------------------------------------------------------------------------------- */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The generation that counts: 0 and none are the same, and then that of the keys. */
static int64_t generation_of(const NodeWant *want)
{
    return want->generation > 0 ? want->generation : want->keys_changed_at;
}

static bool changes_state(const NodeKnown *known, const NodeWant *want)
{
    return want->has_client_state && !slice_equal(want->client_state, known->client_state);
}

/* What a client presents must not be older than what is stored, and a new client state needs newer keys. What is wrong with the client state is told before
 * what is wrong with the generation. */
static Status judge_credentials(const NodeKnown *known, const NodeWant *want, Reason *reason)
{
    const char *state = "invalid-client-state";
    if (changes_state(known, want)) {
        if (want->client_state.size == 0)
            return reason_set(reason, STATUS_REFUSED, state,
                              "Unacceptable client-state value empty string");
        if (known->seen)
            return reason_set(reason, STATUS_REFUSED, state,
                              "Unacceptable client-state value stale value");
        if (generation_of(want) <= known->generation)
            return reason_set(
                reason, STATUS_REFUSED, state,
                "Unacceptable client-state value new value with no generation change");
        if (want->keys_changed_at <= known->keys_changed_at)
            return reason_set(
                reason, STATUS_REFUSED, state,
                "Unacceptable client-state value new value with no keys_changed_at change");
    }
    if (want->generation > 0 && want->generation < known->generation)
        return reason_set(reason, STATUS_REFUSED, "invalid-generation", "Unauthorized");
    bool newer = want->keys_changed_at > known->keys_changed_at;
    bool older =
        want->keys_changed_at != NODE_NO_NUMBER && want->keys_changed_at < known->keys_changed_at;
    if (older || (newer && want->generation > 0 && want->keys_changed_at > want->generation))
        return reason_set(reason, STATUS_REFUSED, "invalid-keysChangedAt", "Unauthorized");
    return STATUS_OK;
}

static Status judge_new(const NodeWant *want, NodePlan *plan, Reason *reason)
{
    if (want->act == NODE_ACT_VISIT && !want->new_users)
        return reason_set(reason, STATUS_REFUSED, "new-users-disabled",
                          "This service takes no new users");
    if (want->act != NODE_ACT_VISIT && want->act != NODE_ACT_CREATE)
        return STATUS_NOT_FOUND;
    *plan = (NodePlan){.step = NODE_STEP_RECORD,
                       .slot = true,
                       .generation = larger(generation_of(want), 0),
                       .keys_changed_at = want->keys_changed_at,
                       .client_state = want->has_client_state ? want->client_state : SLICE_EMPTY};
    return STATUS_OK;
}

static Status judge_retired(const NodeKnown *known, const NodeWant *want, NodePlan *plan,
                            Reason *reason)
{
    if (want->act != NODE_ACT_GET && want->act != NODE_ACT_UPDATE)
        return reason_set(reason, STATUS_REFUSED, "retired", "This user was retired");
    *plan = (NodePlan){.step = NODE_STEP_ANSWER,
                       .generation = NODE_GENERATION_MAX,
                       .keys_changed_at = known->keys_changed_at,
                       .client_state = known->client_state};
    return STATUS_OK;
}

Status node_judge(const NodeKnown *known, const NodeWant *want, NodePlan *ret_plan, Reason *reason)
{
    bool rises = want->act == NODE_ACT_UPDATE || want->act == NODE_ACT_VISIT;
    if (known->state == NODE_USER_NONE || known->state == NODE_USER_DELETED)
        return judge_new(want, ret_plan, reason);
    if (known->state == NODE_USER_RETIRED)
        return judge_retired(known, want, ret_plan, reason);
    if (want->act == NODE_ACT_VISIT)
        TRY(judge_credentials(known, want, reason));
    /* Whoever only updates must not name a state that is there already, either. */
    if (want->act == NODE_ACT_UPDATE && want->has_client_state &&
        (known->seen || !changes_state(known, want)))
        return reason_set(reason, STATUS_REFUSED, "invalid-client-state",
                          "this client state was seen before");
    bool replaced = known->state == NODE_USER_REPLACED;
    bool homeless = replaced || known->node_gone, new_state = rises && changes_state(known, want);
    NodePlan plan = {.generation = known->generation,
                     .keys_changed_at = known->keys_changed_at,
                     .client_state = new_state ? want->client_state : known->client_state};
    if (rises && (!replaced || new_state || want->act == NODE_ACT_VISIT)) {
        plan.generation = larger(plan.generation, generation_of(want));
        plan.keys_changed_at = larger(plan.keys_changed_at, want->keys_changed_at);
    }
    bool moves = want->named && !known->there && want->act != NODE_ACT_GET;
    if (new_state || (homeless && want->act != NODE_ACT_UPDATE) ||
        (want->act == NODE_ACT_MOVE && moves))
        plan.step = NODE_STEP_RECORD;
    else if (plan.generation != known->generation || plan.keys_changed_at != known->keys_changed_at)
        plan.step = NODE_STEP_TOUCH;
    plan.slot = plan.step == NODE_STEP_RECORD && (homeless || moves);
    *ret_plan = plan;
    return STATUS_OK;
}
