/* ring.h -- which nodes hold a token, by the tokens of the nodes and the replication of a keyspace. Pure.
 *
 * A token belongs to the first node at or after it on the ring, and to those that follow as the strategy says:
 * SimpleStrategy takes the next different nodes; NetworkTopologyStrategy counts in each data centre on its own and takes nodes of
 * different racks as long as there are some. The answer is worked out once for every token of the ring. */
#pragma once

#include "base/arena.h"

enum { RING_CENTERS_MAX = 16, RING_REPLICAS_MAX = 16, RING_NODES_MAX = 256 };

typedef struct RingNode {
    Slice data_center, rack;
    const int64_t *tokens;
    size_t token_count;
} RingNode;

typedef enum RingStrategy { RING_NOWHERE, RING_SIMPLE, RING_TOPOLOGY } RingStrategy;

typedef struct Replication {
    RingStrategy strategy; /* NOWHERE: unknown; nobody is said to hold anything */
    unsigned factor;       /* of RING_SIMPLE */
    struct {
        Slice name;
        unsigned factor;
    } centers[RING_CENTERS_MAX]; /* of RING_TOPOLOGY */
    size_t center_count;
} Replication;

/* From the map that system_schema.keyspaces has: "class", and "replication_factor" or the data centres. */
Replication ring_replication(const Slice *pairs, size_t count);

typedef struct Ring Ring;
/* What it is made from need not live on. Nodes are named by their place in `nodes`. */
Ring *ring_new(const RingNode *nodes, size_t count, const Replication *replication);
void ring_free(Ring *ring);

typedef struct RingReplicas {
    const uint16_t *nodes; /* as long as the ring; the first is the one that owns the token */
    size_t count;          /* 0: nobody is known to */
} RingReplicas;
RingReplicas ring_replicas(const Ring *ring, int64_t token);
