/* order.c -- a B+-tree that counts: see order.h.
 *
 * Leaves hold the keys and lead to the next leaf; inner nodes hold for each child a lower bound of its keys and how many there
 * are. Nodes are wide, so that a million keys are four nodes deep and most of a search happens within a cache line or two. On the
 * way down a full child is split before an insertion enters it, and a poor one is filled before a removal does; so no way back
 * up is needed. */
#include "ranking/order.h"

#include <stdlib.h>

enum {
    FAN = 64,       /* keys of a node */
    POOR = FAN / 4, /* a child with no more than this is filled before a removal */
    FILLED = 3 * FAN /
             4, /* what a node gets when all are built at once, and at most when two become one */
};

typedef struct Node {
    uint16_t count;
    uint16_t height;   /* 0: a leaf */
    struct Node *next; /* of a leaf: the leaf behind it */
    OrderKey keys
        [FAN]; /* of an inner node: not after any key of the child, and after all keys of the child before it */
} Node;

typedef struct Inner {
    Node node;
    Node *children[FAN];
    uint64_t sizes[FAN];
} Inner;

struct Order {
    Node *root;
    uint64_t count;
};

static bool before(OrderKey a, OrderKey b)
{
    return a.votes != b.votes ? a.votes > b.votes : a.id < b.id;
}

static Inner *inner_of(Node *node)
{
    CHECK(node->height > 0);
    return (Inner *)node;
}

static Node *node_new(uint16_t height)
{
    Node *node = malloc(height == 0 ? sizeof(Node) : sizeof(Inner));
    CHECK(node != NULL);
    node->count = 0;
    node->height = height;
    node->next = NULL;
    return node;
}

static void node_free(Node *node)
{
    if (node->height > 0)
        for (uint16_t i = 0; i < node->count; i++)
            node_free(inner_of(node)->children[i]);
    free(node);
}

static uint64_t node_size(Node *node)
{
    uint64_t size = 0;
    if (node->height == 0)
        return node->count;
    for (uint16_t i = 0; i < node->count; i++)
        size += inner_of(node)->sizes[i];
    return size;
}

/* How many of keys[from …] are before `key`, or not after it, counted from the beginning of the node. */
static uint16_t count_before(const Node *node, uint16_t from, OrderKey key, bool or_equal)
{
    uint16_t low = from, high = node->count;
    while (low < high) {
        uint16_t middle = (uint16_t)((low + high) / 2);
        if (or_equal ? !before(key, node->keys[middle]) : before(node->keys[middle], key))
            low = (uint16_t)(middle + 1);
        else
            high = middle;
    }
    return low;
}

/* The child that has the key, or would. */
static uint16_t child_of(const Node *node, OrderKey key)
{
    return (uint16_t)(count_before(node, 1, key, true) - 1);
}

/* ---- Parts of nodes ---------------------------------------------------------------------------------------------- */

/* Moves within a node, or between two of the same height; counts are the caller's. */
static void move_parts(Node *to, uint16_t to_at, Node *from, uint16_t from_at, uint16_t count)
{
    memmove(to->keys + to_at, from->keys + from_at, count * sizeof to->keys[0]);
    if (to->height == 0)
        return;
    Inner *inner_to = inner_of(to), *inner_from = inner_of(from);
    memmove(inner_to->children + to_at, inner_from->children + from_at,
            count * sizeof inner_to->children[0]);
    memmove(inner_to->sizes + to_at, inner_from->sizes + from_at,
            count * sizeof inner_to->sizes[0]);
}

static void open_gap(Node *node, uint16_t at, uint16_t count)
{
    move_parts(node, (uint16_t)(at + count), node, at, (uint16_t)(node->count - at));
    node->count = (uint16_t)(node->count + count);
}

static void close_gap(Node *node, uint16_t at, uint16_t count)
{
    uint16_t rest = (uint16_t)(at + count);
    move_parts(node, at, node, rest, (uint16_t)(node->count - rest));
    node->count = (uint16_t)(node->count - count);
}

static void set_child(Inner *parent, uint16_t at, Node *child)
{
    parent->node.keys[at] = child->keys[0];
    parent->children[at] = child;
    parent->sizes[at] = node_size(child);
}

static void split_child(Inner *parent, uint16_t at)
{
    Node *left = parent->children[at], *right = node_new(left->height);
    uint16_t half = left->count / 2;
    right->count = (uint16_t)(left->count - half);
    move_parts(right, 0, left, half, right->count);
    left->count = half;
    right->next = left->next;
    left->next = right;
    parent->sizes[at] = node_size(left);
    open_gap(&parent->node, (uint16_t)(at + 1), 1);
    set_child(parent, (uint16_t)(at + 1), right);
}

/* Makes the child at `at` and the one behind it one, or about equal. */
static void even_out(Inner *parent, uint16_t at)
{
    Node *left = parent->children[at], *right = parent->children[at + 1];
    uint16_t total = (uint16_t)(left->count + right->count), half = total / 2;
    if (total <= FILLED) {
        move_parts(left, left->count, right, 0, right->count);
        left->count = total;
        left->next = right->next;
        free(right);
        close_gap(&parent->node, (uint16_t)(at + 1), 1);
    } else if (left->count < half) {
        uint16_t count = (uint16_t)(half - left->count);
        move_parts(left, left->count, right, 0, count);
        left->count = half;
        close_gap(right, 0, count);
        set_child(parent, (uint16_t)(at + 1), right);
    } else {
        uint16_t count = (uint16_t)(left->count - half);
        open_gap(right, 0, count);
        move_parts(right, 0, left, half, count);
        left->count = half;
        set_child(parent, (uint16_t)(at + 1), right);
    }
    parent->sizes[at] = node_size(left);
}

/* ---- One key ------------------------------------------------------------------------------------------------------ */

Order *order_new(void)
{
    Order *order = malloc(sizeof *order);
    CHECK(order != NULL);
    *order = (Order){.root = node_new(0)};
    return order;
}

void order_free(Order *order)
{
    if (order == NULL)
        return;
    node_free(order->root);
    free(order);
}

uint64_t order_count(const Order *order)
{
    return order->count;
}

void order_add(Order *order, OrderKey key)
{
    if (order->root->count == FAN) {
        Node *root = node_new((uint16_t)(order->root->height + 1));
        root->count = 1;
        set_child(inner_of(root), 0, order->root);
        order->root = root;
    }
    Node *node = order->root;
    while (node->height > 0) {
        Inner *inner = inner_of(node);
        uint16_t at = child_of(node, key);
        if (inner->children[at]->count == FAN) {
            split_child(inner, at);
            at = child_of(node, key);
        }
        if (before(key, node->keys[at])) /* only in the first child */
            node->keys[at] = key;
        inner->sizes[at]++;
        node = inner->children[at];
    }
    uint16_t at = count_before(node, 0, key, false);
    CHECK(at == node->count || before(key, node->keys[at]));
    open_gap(node, at, 1);
    node->keys[at] = key;
    order->count++;
}

void order_remove(Order *order, OrderKey key)
{
    Node *node = order->root;
    while (node->height > 0) {
        Inner *inner = inner_of(node);
        uint16_t at = child_of(node, key);
        if (inner->children[at]->count <= POOR && node->count > 1) {
            even_out(inner, at > 0 ? (uint16_t)(at - 1) : at);
            at = child_of(node, key);
        }
        inner->sizes[at]--;
        node = inner->children[at];
    }
    uint16_t at = count_before(node, 0, key, false);
    CHECK(at < node->count && !before(key, node->keys[at]));
    close_gap(node, at, 1);
    order->count--;
    while (order->root->height > 0 && order->root->count == 1) {
        Node *root = order->root;
        order->root = inner_of(root)->children[0];
        free(root);
    }
}

/* ---- All at once --------------------------------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
    const OrderKey *left = a, *right = b;
    return before(*right, *left) - before(*left, *right);
}

/* One level above the nodes, in their place. */
static size_t build_level(Node **nodes, size_t count)
{
    size_t parents = (count + FILLED - 1) / FILLED;
    for (size_t i = 0; i < parents; i++) {
        size_t start = count * i / parents, end = count * (i + 1) / parents;
        Node *parent = node_new((uint16_t)(nodes[start]->height + 1));
        for (size_t k = start; k < end; k++)
            set_child(inner_of(parent), parent->count++, nodes[k]);
        nodes[i] = parent;
    }
    return parents;
}

Order *order_build(OrderKey *keys, size_t count)
{
    Order *order = order_new();
    if (count == 0)
        return order;
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 1; i < count; i++)
        CHECK(before(keys[i - 1], keys[i]));
    Node **nodes = malloc((count / FILLED + 1) * sizeof(Node *));
    CHECK(nodes != NULL);
    /* The leaves over sorted keys, all filled alike. */
    size_t level = (count + FILLED - 1) / FILLED;
    for (size_t i = 0; i < level; i++) {
        size_t start = count * i / level, end = count * (i + 1) / level;
        nodes[i] = node_new(0);
        nodes[i]->count = (uint16_t)(end - start);
        memcpy(nodes[i]->keys, keys + start, (end - start) * sizeof *keys);
        if (i > 0)
            nodes[i - 1]->next = nodes[i];
    }
    while (level > 1)
        level = build_level(nodes, level);
    node_free(order->root);
    order->root = nodes[0];
    order->count = count;
    free(nodes);
    return order;
}

/* ---- Places -------------------------------------------------------------------------------------------------------- */

uint64_t order_place(const Order *order, OrderKey key)
{
    uint64_t place = 0;
    Node *node = order->root;
    while (node->height > 0) {
        const Inner *inner = inner_of(node);
        uint16_t at = child_of(node, key);
        for (uint16_t i = 0; i < at; i++)
            place += inner->sizes[i];
        node = inner->children[at];
    }
    return place + count_before(node, 0, key, false);
}

size_t order_slice(const Order *order, uint64_t first, size_t count, OrderKey *ret_keys)
{
    if (first >= order->count)
        return 0;
    if (count > order->count - first)
        count = order->count - first;
    Node *node = order->root;
    while (node->height > 0) {
        const Inner *inner = inner_of(node);
        uint16_t at = 0;
        while (first >= inner->sizes[at])
            first -= inner->sizes[at++];
        node = inner->children[at];
    }
    for (size_t got = 0; got < count;) {
        size_t part = node->count - first < count - got ? node->count - first : count - got;
        memcpy(ret_keys + got, node->keys + first, part * sizeof *ret_keys);
        got += part;
        first = 0;
        node = node->next;
    }
    return count;
}
