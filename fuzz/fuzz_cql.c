/* fuzz_cql.c -- what a node of Cassandra, or something that pretends to be one, sends: every decoder of the client.
 *
 * The first byte says what the rest is. Whatever is handed out lies inside of what came in; values of rows that were read can be
 * written as values of a request. */
#include "store/cql/outcome.h"
#include "store/cql/peers.h"
#include "store/cql/token.h"

#include "fuzz.h"

static void check_inside(Slice part, Slice whole)
{
    CHECK(part.size == 0 ||
          (part.data >= whole.data && part.data + part.size <= whole.data + whole.size));
}

static void check_frame(Slice input)
{
    WireFrame frame;
    Slice body;
    if (input.size < WIRE_HEAD ||
        wire_read_head(slice_of(input.data, WIRE_HEAD), &frame) != STATUS_OK)
        return;
    CHECK(frame.length <= WIRE_LENGTH_MAX);
    frame.body = slice_after(input, WIRE_HEAD);
    if (wire_read_body(&frame, &body) == STATUS_OK)
        check_inside(body, frame.body);
}

/* What a call is told follows from every error; a write is never repeated but for the two that were not done. */
static void check_error(Slice input)
{
    WireError error;
    if (wire_read_error(input, &error) != STATUS_OK)
        return;
    check_inside(error.words, input);
    check_inside(error.unknown_id, input);
    for (CqlKind kind = CQL_READ; kind <= CQL_CONDITIONAL; kind++) {
        Outcome outcome = outcome_of_error(kind, error.code);
        CHECK(outcome.status != STATUS_OK);
        CHECK(outcome.next != OUTCOME_REPEAT || kind == CQL_READ ||
              (kind == CQL_WRITE && error.code == 0x1000));
        CHECK((outcome.next == OUTCOME_PREPARE) == (error.code == WIRE_ERROR_UNPREPARED));
    }
}

static void check_small(Slice input)
{
    WireEvent event;
    Slice id;
    if (wire_read_prepared(input, &id) == STATUS_OK)
        check_inside(id, input);
    if (wire_read_event(input, &event) == STATUS_OK)
        check_inside(event.address, input);
    CHECK(token_of(input) != INT64_MIN);
}

static void check_peers(const CqlRows *rows, Arena *arena)
{
    Endpoint reached;
    Peer *peers = ARENA_ARRAY(arena, rows->count + 1, Peer);
    CHECK(endpoint_from(SLICE("\x7f\0\0\1"), 9042, &reached) == STATUS_OK);
    size_t count = peers_read(rows, 9042, arena, peers);
    CHECK(count <= rows->count);
    for (size_t i = 0; i < count; i++)
        CHECK(peers[i].id.size == PEERS_ID && peers[i].token_count <= PEERS_TOKENS_MAX);
    if (peers_read_local(rows, &reached, arena, peers) == STATUS_OK)
        CHECK(endpoint_equal(&peers[0].endpoint, &reached));
    (void)peers_read_replication(rows, arena);
}

static void check_result(Slice input)
{
    ARENA_SCOPE Arena *arena = arena_new();
    BUFFER_SCOPE Buffer out = {0};
    CqlRows rows;
    if (wire_read_result(input, arena, &rows) != STATUS_OK)
        return;
    size_t total = rows.count * rows.columns;
    for (size_t i = 0; i < total; i++)
        check_inside(rows.values[i].bytes, input);
    for (size_t i = 0; i < rows.columns; i++)
        CHECK(cql_column(&rows, rows.names[i]) <= (int)i);
    if (rows.columns <= WIRE_PARTS_MAX && rows.count > 0)
        wire_put_execute(&out, SLICE("id"), &(CqlPart){NULL, rows.values, rows.columns},
                         &(WireQuery){.consistency = CQL_QUORUM});
    if (rows.columns > 0)
        check_peers(&rows, arena);
}

/* Replication and tokens are sets and maps of text; a ring is built of whatever they say. */
static void check_ring(Slice input)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Reader reader = reader_of(input);
    Slice map = reader_bytes(&reader, reader_u8(&reader)), set = reader_rest(&reader), *texts;
    size_t count;
    if (wire_read_text_map(map, arena, &texts, &count) != STATUS_OK)
        return;
    Replication replication = ring_replication(texts, count);
    if (wire_read_texts(set, arena, &texts, &count) != STATUS_OK)
        return;
    if (count > RING_NODES_MAX)
        count = RING_NODES_MAX;
    RingNode *nodes = ARENA_ARRAY(arena, count, RingNode);
    int64_t *tokens = ARENA_ARRAY(arena, count, int64_t);
    for (size_t i = 0; i < count; i++) {
        tokens[i] = token_of(texts[i]);
        nodes[i] = (RingNode){slice_of(texts[i].data, texts[i].size % 3), texts[i], &tokens[i], 1};
    }
    Ring *ring = ring_new(nodes, count, &replication);
    RingReplicas replicas = ring_replicas(ring, token_of(input));
    CHECK(replicas.count <= count && replicas.count <= RING_REPLICAS_MAX);
    for (size_t i = 0; i < replicas.count; i++)
        for (size_t j = 0; j < i; j++)
            CHECK(replicas.nodes[i] < count && replicas.nodes[i] != replicas.nodes[j]);
    ring_free(ring);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const CHECKS[])(Slice) = {check_frame, check_error, check_small, check_result,
                                            check_ring};
    if (size > 0)
        CHECKS[data[0] % (sizeof CHECKS / sizeof CHECKS[0])](slice_of(data + 1, size - 1));
    return 0;
}
