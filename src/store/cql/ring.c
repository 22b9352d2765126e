/* ring.c -- see ring.h. */
#include "store/cql/ring.h"

#include <stdlib.h>

typedef struct Place {
    int64_t token;
    uint16_t node;
    uint16_t replica_count;
    uint16_t replicas[RING_REPLICAS_MAX];
} Place;

struct Ring {
    Place *places;
    size_t count;
};

/* ---- Replication ------------------------------------------------------------------------------------------- */

/* "3", or "3/1" where one of them is transient. */
static unsigned factor_of(Slice text)
{
    uint64_t factor;
    Slice number = slice_of(text.data, slice_find(text, '/'));
    return slice_to_u64(number, &factor) == STATUS_OK && factor <= RING_NODES_MAX ? (unsigned)factor
                                                                                  : 0;
}

/* Classes are named with or without their package. */
static bool ends_with(Slice text, Slice end)
{
    return text.size >= end.size && slice_equal(slice_after(text, text.size - end.size), end);
}

Replication ring_replication(const Slice *pairs, size_t count)
{
    Replication replication = {0};
    for (size_t i = 0; i + 1 < count; i += 2) {
        Slice name = pairs[i], value = pairs[i + 1];
        if (slice_equal(name, SLICE("class"))) {
            replication.strategy = ends_with(value, SLICE("NetworkTopologyStrategy"))
                                       ? RING_TOPOLOGY
                                   : ends_with(value, SLICE("SimpleStrategy")) ? RING_SIMPLE
                                                                               : RING_NOWHERE;
        } else if (slice_equal(name, SLICE("replication_factor"))) {
            replication.factor = factor_of(value);
        } else if (replication.center_count < RING_CENTERS_MAX) {
            replication.centers[replication.center_count].name = name;
            replication.centers[replication.center_count++].factor = factor_of(value);
        }
    }
    return replication;
}

/* ---- Walking ----------------------------------------------------------------------------------------------- */

/* What is still wanted of one data centre on a walk. */
typedef struct Wanted {
    Slice center; /* empty with SimpleStrategy: any */
    unsigned left;
    int repeats; /* nodes of racks that have one already */
    Slice racks[RING_REPLICAS_MAX];
    size_t rack_count;
} Wanted;

typedef struct Walk {
    const RingNode *nodes;
    size_t node_count;
    bool by_center;
    Wanted wanted[RING_CENTERS_MAX];
    size_t wanted_count;
} Walk;

static bool is_taken(const Place *place, uint16_t node)
{
    for (size_t i = 0; i < place->replica_count; i++)
        if (place->replicas[i] == node)
            return true;
    return false;
}

/* Whether the node's rack is new to its data centre, or may be taken again. */
static bool rack_allows(Wanted *wanted, Slice rack)
{
    for (size_t i = 0; i < wanted->rack_count; i++)
        if (slice_equal(wanted->racks[i], rack))
            return wanted->repeats-- > 0;
    wanted->racks[wanted->rack_count++] = rack;
    return true;
}

static bool is_wanted(Walk *walk, uint16_t node)
{
    for (size_t i = 0; i < walk->wanted_count; i++) {
        Wanted *wanted = &walk->wanted[i];
        if (walk->by_center && !slice_equal(wanted->center, walk->nodes[node].data_center))
            continue;
        if (wanted->left == 0 || (walk->by_center && !rack_allows(wanted, walk->nodes[node].rack)))
            return false;
        wanted->left--;
        return true;
    }
    return false;
}

/* From the place on, once around. */
static void walk_from(Ring *ring, size_t start, Walk walk)
{
    Place *place = &ring->places[start];
    for (size_t i = 0; i < ring->count && place->replica_count < RING_REPLICAS_MAX; i++) {
        uint16_t node = ring->places[(start + i) % ring->count].node;
        if (!is_taken(place, node) && is_wanted(&walk, node))
            place->replicas[place->replica_count++] = node;
    }
}

/* ---- Building ---------------------------------------------------------------------------------------------- */

/* How many nodes and different racks a data centre has. */
static void measure_center(const Walk *walk, Slice center, unsigned *ret_nodes, int *ret_racks)
{
    unsigned nodes = 0;
    int racks = 0;
    for (size_t i = 0; i < walk->node_count; i++) {
        if (!slice_equal(walk->nodes[i].data_center, center))
            continue;
        bool new_rack = true;
        for (size_t j = 0; j < i; j++)
            new_rack &= !slice_equal(walk->nodes[j].data_center, center) ||
                        !slice_equal(walk->nodes[j].rack, walk->nodes[i].rack);
        nodes++;
        racks += new_rack;
    }
    *ret_nodes = nodes;
    *ret_racks = racks;
}

static void want_centers(Walk *walk, const Replication *replication)
{
    walk->by_center = true;
    for (size_t i = 0; i < replication->center_count; i++) {
        unsigned nodes, factor = replication->centers[i].factor;
        int racks;
        measure_center(walk, replication->centers[i].name, &nodes, &racks);
        if (factor > RING_REPLICAS_MAX)
            factor = RING_REPLICAS_MAX;
        walk->wanted[walk->wanted_count++] = (Wanted){.center = replication->centers[i].name,
                                                      .left = factor < nodes ? factor : nodes,
                                                      .repeats = (int)factor - racks};
    }
}

static int by_token(const void *a, const void *b)
{
    const Place *left = a, *right = b;
    return left->token < right->token ? -1 : left->token > right->token;
}

Ring *ring_new(const RingNode *nodes, size_t count, const Replication *replication)
{
    Ring *ring = calloc(1, sizeof *ring);
    CHECK(ring != NULL && count <= RING_NODES_MAX);
    if (replication->strategy == RING_NOWHERE)
        return ring;
    Walk walk = {.nodes = nodes, .node_count = count};
    if (replication->strategy == RING_TOPOLOGY)
        want_centers(&walk, replication);
    else
        walk.wanted[walk.wanted_count++].left = replication->factor;
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += nodes[i].token_count;
    ring->places = calloc(total > 0 ? total : 1, sizeof *ring->places);
    CHECK(ring->places != NULL);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < nodes[i].token_count; j++)
            ring->places[ring->count++] = (Place){.token = nodes[i].tokens[j], .node = (uint16_t)i};
    qsort(ring->places, ring->count, sizeof *ring->places, by_token);
    for (size_t i = 0; i < ring->count; i++)
        walk_from(ring, i, walk);
    return ring;
}

void ring_free(Ring *ring)
{
    if (ring == NULL)
        return;
    free(ring->places);
    free(ring);
}

RingReplicas ring_replicas(const Ring *ring, int64_t token)
{
    size_t low = 0, high = ring->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ring->places[middle].token < token)
            low = middle + 1;
        else
            high = middle;
    }
    if (ring->count == 0)
        return (RingReplicas){NULL, 0};
    const Place *place = &ring->places[low % ring->count];
    return (RingReplicas){place->replicas, place->replica_count};
}
