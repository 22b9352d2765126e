/* peers.h -- what the nodes' own tables say about the cluster: rows of system.local, system.peers_v2, system.peers and
 * system_schema.keyspaces, read. Pure.
 *
 * A row that lacks what makes a node (an identity, an address) is passed over: nodes that are just joining look like that. */
#pragma once

#include "store/cql/endpoint.h"
#include "store/cql/ring.h"
#include "store/cql/wire.h"

enum { PEERS_TOKENS_MAX = 4096, PEERS_ID = 16 };

typedef struct Peer {
    Slice id; /* 16 bytes, the same for the life of the node, wherever it moves */
    Endpoint endpoint;
    Slice data_center, rack, version;
    const int64_t *tokens;
    size_t token_count;
} Peer;

/* The question for each table; the one about the keyspace ends with its name in quotes. */
#define PEERS_LOCAL_QUERY                                                                     \
    "SELECT host_id, data_center, rack, release_version, tokens FROM system.local WHERE key=" \
    "'local'"
#define PEERS_NEW_QUERY                                                                       \
    "SELECT host_id, peer, native_address, native_port, data_center, rack, release_version, " \
    "tokens "                                                                                 \
    "FROM system.peers_v2"
#define PEERS_OLD_QUERY                                                                   \
    "SELECT host_id, peer, rpc_address, data_center, rack, release_version, tokens FROM " \
    "system.peers"
#define PEERS_KEYSPACE_QUERY "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name="

/* The node that was asked; it is where we reached it. CORRUPT: the row is not what a node says of itself. */
MUST_USE Status peers_read_local(const CqlRows *rows, const Endpoint *reached, Arena *arena,
                                 Peer *ret_peer);
/* The others, from either table; `port` where the table has none. Into an array of rows->count; returns how many. */
size_t peers_read(const CqlRows *rows, uint16_t port, Arena *arena, Peer *ret_peers);
/* RING_NOWHERE when there is no such keyspace. */
Replication peers_read_replication(const CqlRows *rows, Arena *arena);
