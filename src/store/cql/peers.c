/* peers.c -- see peers.h. */
#include "store/cql/peers.h"

/* The bytes of a column, empty when it is NULL or not there. */
static Slice cell(const CqlRows *rows, size_t row, const char *name)
{
    int column = cql_column(rows, name);
    if (column < 0)
        return SLICE_EMPTY;
    const CqlValue *value = &rows->values[row * rows->columns + (size_t)column];
    return value->kind == CQL_BYTES ? value->bytes : SLICE_EMPTY;
}

/* Tokens are a set of numbers as text; what is none is passed over. */
static void read_tokens(Slice value, Arena *arena, Peer *peer)
{
    Slice *texts;
    size_t count;
    if (value.size == 0 || wire_read_texts(value, arena, &texts, &count) != STATUS_OK)
        return;
    if (count > PEERS_TOKENS_MAX)
        count = PEERS_TOKENS_MAX;
    int64_t *tokens = arena_alloc(arena, count * sizeof *tokens);
    for (size_t i = 0; i < count; i++)
        if (slice_to_i64(texts[i], &tokens[peer->token_count]) == STATUS_OK)
            peer->token_count++;
    peer->tokens = tokens;
}

static Peer read_common(const CqlRows *rows, size_t row, Arena *arena)
{
    Peer peer = {.id = cell(rows, row, "host_id"),
                 .data_center = cell(rows, row, "data_center"),
                 .rack = cell(rows, row, "rack"),
                 .version = cell(rows, row, "release_version")};
    read_tokens(cell(rows, row, "tokens"), arena, &peer);
    return peer;
}

Status peers_read_local(const CqlRows *rows, const Endpoint *reached, Arena *arena, Peer *ret_peer)
{
    if (rows->count != 1)
        return STATUS_CORRUPT;
    Peer peer = read_common(rows, 0, arena);
    if (peer.id.size != PEERS_ID)
        return STATUS_CORRUPT;
    peer.endpoint = *reached;
    *ret_peer = peer;
    return STATUS_OK;
}

static uint16_t read_port(Slice value, uint16_t otherwise)
{
    Reader reader = reader_of(value);
    uint32_t port = reader_u32(&reader);
    return reader.failed || port == 0 || port > UINT16_MAX ? otherwise : (uint16_t)port;
}

/* A node that listens on all addresses names none: then the one by which the other nodes reach it has to do. */
static Status read_endpoint(const CqlRows *rows, size_t row, uint16_t port, Endpoint *ret_endpoint)
{
    static const char *const COLUMNS[] = {"native_address", "rpc_address", "peer"};
    uint16_t own_port = read_port(cell(rows, row, "native_port"), port);
    for (size_t i = 0; i < sizeof COLUMNS / sizeof COLUMNS[0]; i++)
        if (endpoint_from(cell(rows, row, COLUMNS[i]), own_port, ret_endpoint) == STATUS_OK)
            return STATUS_OK;
    return STATUS_INVALID;
}

size_t peers_read(const CqlRows *rows, uint16_t port, Arena *arena, Peer *ret_peers)
{
    size_t count = 0;
    for (size_t row = 0; row < rows->count; row++) {
        Peer peer = read_common(rows, row, arena);
        if (peer.id.size == PEERS_ID && read_endpoint(rows, row, port, &peer.endpoint) == STATUS_OK)
            ret_peers[count++] = peer;
    }
    return count;
}

Replication peers_read_replication(const CqlRows *rows, Arena *arena)
{
    Slice *pairs;
    size_t count;
    if (rows->count != 1 ||
        wire_read_text_map(cell(rows, 0, "replication"), arena, &pairs, &count) != STATUS_OK)
        return (Replication){.strategy = RING_NOWHERE};
    return ring_replication(pairs, count);
}
