/* rules_test.c -- what is pure in the client: tokens, the ring, outcomes, endpoints, the tables about the cluster. */
#include "store/cql/outcome.h"
#include "store/cql/peers.h"
#include "store/cql/token.h"

#include "test.h"

/* ---- Tokens ------------------------------------------------------------------------------------------------ */

TEST(tokens_are_those_of_cassandra)
{
    EXPECT_I64(token_of(SLICE("123")), INT64_C(-7468325962851647638));
    EXPECT_I64(token_of(SLICE("\xf0\x28\x8c\x28")), INT64_C(-3804874322011525750));
    EXPECT_I64(token_of(SLICE("hello world 0123456789")), INT64_C(-4647807515097555674));
    EXPECT_I64(token_of(SLICE_EMPTY), 0);
}

/* ---- The ring ---------------------------------------------------------------------------------------------- */

static const int64_t LOW[] = {-100, 50}, MIDDLE[] = {0}, HIGH[] = {100};

static void expect_replicas(const Ring *ring, int64_t token, const char *expected)
{
    char found[64] = "";
    RingReplicas replicas = ring_replicas(ring, token);
    for (size_t i = 0; i < replicas.count; i++)
        snprintf(found + 2 * i, sizeof found - 2 * i, "%u ", replicas.nodes[i]);
    EXPECT_SLICE(slice_from(found), slice_from(expected));
}

TEST(a_token_belongs_to_the_first_node_at_or_after_it)
{
    RingNode nodes[] = {{.tokens = LOW, .token_count = 2},
                        {.tokens = MIDDLE, .token_count = 1},
                        {.tokens = HIGH, .token_count = 1}};
    Replication two = {.strategy = RING_SIMPLE, .factor = 2};
    Ring *ring = ring_new(nodes, 3, &two);
    expect_replicas(ring, -101, "0 1 ");
    expect_replicas(ring, -100, "0 1 ");
    expect_replicas(ring, -99, "1 0 ");
    expect_replicas(ring, 0, "1 0 ");
    expect_replicas(ring, 1, "0 2 ");
    expect_replicas(ring, 51, "2 0 ");
    expect_replicas(ring, 101, "0 1 ");
    expect_replicas(ring, INT64_MAX, "0 1 ");
    ring_free(ring);
}

TEST(a_factor_above_the_nodes_takes_all_of_them)
{
    RingNode nodes[] = {{.tokens = LOW, .token_count = 2}, {.tokens = MIDDLE, .token_count = 1}};
    Replication five = {.strategy = RING_SIMPLE, .factor = 5};
    Ring *ring = ring_new(nodes, 2, &five);
    expect_replicas(ring, 7, "0 1 ");
    ring_free(ring);
}

TEST(data_centres_are_counted_apart_and_racks_spread)
{
    static const int64_t AT[] = {10, 20, 30, 40, 50, 60};
    RingNode nodes[6];
    static const struct {
        Slice center, rack;
    } PLACES[] = {{{"a", 1}, {"r1", 2}}, {{"a", 1}, {"r1", 2}}, {{"b", 1}, {"r1", 2}},
                  {{"a", 1}, {"r2", 2}}, {{"b", 1}, {"r1", 2}}, {{"c", 1}, {"r1", 2}}};
    for (size_t i = 0; i < 6; i++)
        nodes[i] = (RingNode){PLACES[i].center, PLACES[i].rack, &AT[i], 1};
    static const Slice PAIRS[] = {
        {"class", 5}, {"org.apache.cassandra.locator.NetworkTopologyStrategy", 52},
        {"a", 1},     {"2", 1},
        {"b", 1},     {"3/1", 3}};
    Replication replication = ring_replication(PAIRS, 6);
    Ring *ring = ring_new(nodes, 6, &replication);
    /* In a: the second node is passed over for one of another rack. In b: both nodes, there is no third. In c: none. */
    expect_replicas(ring, 5, "0 2 3 4 ");
    expect_replicas(ring, 15, "1 2 3 4 ");
    expect_replicas(ring, 55, "0 2 3 4 ");
    ring_free(ring);
}

TEST(a_rack_is_taken_again_when_there_are_too_few)
{
    static const int64_t AT[] = {10, 20, 30, 40};
    RingNode nodes[4];
    for (size_t i = 0; i < 4; i++)
        nodes[i] = (RingNode){SLICE("a"), i == 3 ? SLICE("r2") : SLICE("r1"), &AT[i], 1};
    Replication replication = {
        .strategy = RING_TOPOLOGY, .centers = {{SLICE("a"), 3}}, .center_count = 1};
    Ring *ring = ring_new(nodes, 4, &replication);
    expect_replicas(ring, 5, "0 1 3 ");
    expect_replicas(ring, 25, "2 3 0 ");
    ring_free(ring);
}

TEST(without_a_keyspace_nobody_is_said_to_hold_anything)
{
    RingNode node = {.tokens = LOW, .token_count = 2};
    Replication nowhere = {.strategy = RING_NOWHERE};
    Ring *ring = ring_new(&node, 1, &nowhere);
    expect_replicas(ring, 7, "");
    ring_free(ring);
    Slice local[] = {SLICE("class"), SLICE("org.apache.cassandra.locator.LocalStrategy")};
    EXPECT_I64(ring_replication(local, 2).strategy, RING_NOWHERE);
    Slice simple[] = {SLICE("class"), SLICE("SimpleStrategy"), SLICE("replication_factor"),
                      SLICE("3")};
    EXPECT_I64(ring_replication(simple, 4).strategy, RING_SIMPLE);
    EXPECT_I64(ring_replication(simple, 4).factor, 3);
}

/* ---- Outcomes ---------------------------------------------------------------------------------------------- */

static void expect_outcome(CqlKind kind, int32_t code, Status status, OutcomeNext next)
{
    Outcome outcome = outcome_of_error(kind, code);
    if (outcome.status != status || outcome.next != next)
        test_fail(__FILE__, __LINE__, "kind %d, error 0x%04x: %s and %d, expected %s and %d", kind,
                  (unsigned)code, status_name(outcome.status), outcome.next, status_name(status),
                  next);
}

TEST(reads_go_on_to_the_next_node)
{
    static const int32_t CODES[] = {0x0000, 0x1000, 0x1001, 0x1002, 0x1200, 0x1300, 0x7777};
    for (size_t i = 0; i < sizeof CODES / sizeof CODES[0]; i++)
        expect_outcome(CQL_READ, CODES[i], STATUS_UNAVAILABLE, OUTCOME_REPEAT);
    EXPECT_I64(outcome_of_loss(CQL_READ).next, OUTCOME_REPEAT);
    EXPECT_STATUS(outcome_at_deadline(CQL_READ, true), STATUS_UNAVAILABLE);
}

TEST(only_a_plain_write_without_replicas_surely_was_not_done)
{
    static const int32_t CODES[] = {0x0000, 0x000A, 0x1001, 0x1002, 0x1003, 0x1100,
                                    0x1200, 0x1300, 0x1500, 0x1600, 0x1700, 0x7777};
    for (size_t i = 0; i < sizeof CODES / sizeof CODES[0]; i++) {
        expect_outcome(CQL_WRITE, CODES[i], STATUS_UNKNOWN, OUTCOME_ANSWER);
        expect_outcome(CQL_CONDITIONAL, CODES[i], STATUS_UNKNOWN, OUTCOME_ANSWER);
    }
    expect_outcome(CQL_WRITE, 0x1000, STATUS_UNAVAILABLE, OUTCOME_REPEAT);
    expect_outcome(CQL_CONDITIONAL, 0x1000, STATUS_UNKNOWN, OUTCOME_ANSWER);
    for (CqlKind kind = CQL_WRITE; kind <= CQL_CONDITIONAL; kind++) {
        EXPECT_STATUS(outcome_of_loss(kind).status, STATUS_UNKNOWN);
        EXPECT_I64(outcome_of_loss(kind).next, OUTCOME_ANSWER);
        EXPECT_STATUS(outcome_at_deadline(kind, true), STATUS_UNKNOWN);
        EXPECT_STATUS(outcome_at_deadline(kind, false), STATUS_UNAVAILABLE);
    }
}

TEST(what_the_server_refuses_is_told_as_it_is)
{
    for (CqlKind kind = CQL_READ; kind <= CQL_CONDITIONAL; kind++) {
        static const int32_t CODES[] = {0x2000, 0x2200, 0x2300, 0x2400, 0x2600};
        for (size_t i = 0; i < sizeof CODES / sizeof CODES[0]; i++)
            expect_outcome(kind, CODES[i], STATUS_INVALID, OUTCOME_ANSWER);
        expect_outcome(kind, 0x2100, STATUS_DENIED, OUTCOME_ANSWER);
        expect_outcome(kind, 0x0100, STATUS_LOGIN, OUTCOME_ANSWER);
        expect_outcome(kind, 0x2500, STATUS_UNAVAILABLE, OUTCOME_PREPARE);
    }
}

/* ---- Endpoints and tables ---------------------------------------------------------------------------------- */

TEST(endpoints_are_named_with_a_port_that_is_not_the_usual)
{
    Endpoint four, six;
    char text[ENDPOINT_TEXT];
    EXPECT_STATUS(endpoint_from(SLICE("\x7f\0\0\1"), 9043, &four), STATUS_OK);
    endpoint_text(&four, 9043, text);
    EXPECT_SLICE(slice_from(text), SLICE("127.0.0.1"));
    endpoint_text(&four, 9042, text);
    EXPECT_SLICE(slice_from(text), SLICE("127.0.0.1:9043"));
    EXPECT_STATUS(endpoint_from(SLICE("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"), 9043, &six), STATUS_OK);
    endpoint_text(&six, 9042, text);
    EXPECT_SLICE(slice_from(text), SLICE("[::1]:9043"));
    EXPECT(endpoint_equal(&four, &four) && !endpoint_equal(&four, &six));
    EXPECT_STATUS(endpoint_from(SLICE("\0\0\0\0"), 9043, &four), STATUS_INVALID);
    EXPECT_STATUS(endpoint_from(SLICE("\x7f\0\0"), 9043, &four), STATUS_INVALID);
}

static CqlRows table(const char *const *names, size_t columns, const CqlValue *values, size_t count)
{
    return (CqlRows){.names = names, .columns = columns, .values = values, .count = count};
}

TEST(peers_that_are_not_whole_are_passed_over)
{
    static const char *const NAMES[] = {"host_id",     "peer", "native_address",  "native_port",
                                        "data_center", "rack", "release_version", "tokens"};
    static const CqlValue NOTHING = {CQL_NULL, {"", 0}};
    CqlValue id = cql_bytes(SLICE("0123456789abcdef")), peer = cql_bytes(SLICE("\x7f\0\0\2"));
    CqlValue any = cql_bytes(SLICE("\0\0\0\0")), word = cql_bytes(SLICE("w"));
    CqlValue tokens = cql_bytes(SLICE("\0\0\0\2\0\0\0\2-7\0\0\0\1x"));
    CqlValue values[] = {
        id,     peer,    any,    NOTHING, word,    word,    cql_bytes(SLICE("5.0.8")),
        tokens, NOTHING, peer,   any,     NOTHING, word,    word,
        word,   tokens,  id,     NOTHING, NOTHING, NOTHING, word,
        word,   word,    tokens, id,      peer,    peer,    cql_bytes(SLICE("\0\0\x23\x53")),
        word,   word,    word,   NOTHING,
    };
    CqlRows rows = table(NAMES, 8, values, 4);
    ARENA_SCOPE Arena *arena = arena_new();
    Peer peers[4];
    char text[ENDPOINT_TEXT];
    EXPECT_I64(peers_read(&rows, 9042, arena, peers), 2);
    endpoint_text(&peers[0].endpoint, 9042, text);
    EXPECT_SLICE(slice_from(text), SLICE("127.0.0.2"));
    EXPECT_SLICE(peers[0].version, SLICE("5.0.8"));
    EXPECT_I64(peers[0].token_count, 1);
    EXPECT_I64(peers[0].tokens[0], -7);
    endpoint_text(&peers[1].endpoint, 9042, text);
    EXPECT_SLICE(slice_from(text), SLICE("127.0.0.2:9043"));
    EXPECT_I64(peers[1].token_count, 0);
}

TEST(the_table_of_a_cassandra_3_does_as_well)
{
    static const char *const NAMES[] = {"host_id", "peer", "rpc_address"};
    CqlValue values[] = {cql_bytes(SLICE("0123456789abcdef")), cql_bytes(SLICE("\x7f\0\0\2")),
                         cql_bytes(SLICE("\x7f\0\0\3"))};
    CqlRows rows = table(NAMES, 3, values, 1);
    ARENA_SCOPE Arena *arena = arena_new();
    Peer peer;
    char text[ENDPOINT_TEXT];
    EXPECT_I64(peers_read(&rows, 9042, arena, &peer), 1);
    endpoint_text(&peer.endpoint, 9042, text);
    EXPECT_SLICE(slice_from(text), SLICE("127.0.0.3"));
}
