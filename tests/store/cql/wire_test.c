/* wire_test.c -- frames and messages against bytes that were written by hand from the protocol's text. */
#include "store/cql/wire.h"

#include "test.h"

/* ---- Bytes by hand ----------------------------------------------------------------------------------------- */

static int nibble(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "04 00 'abc'" as bytes: hex, and text in quotes. */
static Slice bytes(Arena *arena, const char *text)
{
    char *to = arena_bytes(arena, strlen(text) + 1);
    size_t size = 0;
    bool quoted = false;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\'')
            quoted = !quoted;
        else if (quoted)
            to[size++] = *c;
        else if (nibble(*c) >= 0) {
            to[size++] = (char)(nibble(c[0]) << 4 | nibble(c[1]));
            c++;
        }
    }
    return slice_of(to, size);
}

static void expect_bytes(const Buffer *actual, const char *expected)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice wanted = bytes(arena, expected), got = buffer_slice(actual);
    size_t at = 0;
    while (at < wanted.size && at < got.size && wanted.data[at] == got.data[at])
        at++;
    if (at < wanted.size || at < got.size)
        test_fail(__FILE__, __LINE__, "%zu bytes, expected %zu; they differ at %zu", got.size,
                  wanted.size, at);
}

static CqlStatement *no_statement;

static CqlPart part_of(const CqlValue *values, size_t count)
{
    return (CqlPart){no_statement, values, count};
}

/* ---- Requests ---------------------------------------------------------------------------------------------- */

TEST(a_frame_has_its_head_and_length)
{
    BUFFER_SCOPE Buffer out = {0};
    size_t first = wire_begin(&out, 0x0102, WIRE_OPTIONS);
    wire_end(&out, first);
    size_t second = wire_begin(&out, 7, WIRE_STARTUP);
    wire_put_startup(&out);
    wire_end(&out, second);
    expect_bytes(&out, "04 00 0102 05 00000000"
                       "04 00 0007 01 00000016 0001 000b 'CQL_VERSION' 0005 '3.0.0'");
}

TEST(a_log_in_is_sasl_plain)
{
    BUFFER_SCOPE Buffer out = {0};
    wire_put_login(&out, SLICE("ann"), SLICE("secret"));
    expect_bytes(&out, "0000000b 00 'ann' 00 'secret'");
}

TEST(all_events_are_asked_for)
{
    BUFFER_SCOPE Buffer out = {0};
    wire_put_register(&out);
    expect_bytes(&out, "0003 000f 'TOPOLOGY_CHANGE' 000d 'STATUS_CHANGE' 000d 'SCHEMA_CHANGE'");
}

TEST(a_query_has_consistency_and_flags)
{
    BUFFER_SCOPE Buffer out = {0};
    wire_put_query(&out, SLICE("SELECT 1"), &(WireQuery){.consistency = CQL_QUORUM});
    expect_bytes(&out, "00000008 'SELECT 1' 0004 00");
    buffer_clear(&out);
    wire_put_query(&out, SLICE("S"), &(WireQuery){.consistency = CQL_SERIAL, .page_size = 256});
    expect_bytes(&out, "00000001 'S' 0008 04 00000100");
    buffer_clear(&out);
    wire_put_prepare(&out, SLICE("SELECT 1"));
    expect_bytes(&out, "00000008 'SELECT 1'");
}

TEST(values_may_be_bytes_null_or_unset)
{
    BUFFER_SCOPE Buffer out = {0};
    CqlValue values[] = {cql_bytes(SLICE("ab")),
                         {CQL_NULL, SLICE_EMPTY},
                         {CQL_UNSET, SLICE_EMPTY},
                         cql_bytes(SLICE_EMPTY)};
    CqlPart part = part_of(values, 4);
    wire_put_execute(&out, SLICE("id"), &part,
                     &(WireQuery){.consistency = CQL_QUORUM, .conditional = true, .page_size = 1});
    expect_bytes(&out,
                 "0002 'id' 0004 15 0004 00000002 'ab' ffffffff fffffffe 00000000 00000001 0008");
}

TEST(beside_a_local_quorum_the_condition_is_local_too)
{
    BUFFER_SCOPE Buffer out = {0};
    CqlPart part = part_of(NULL, 0);
    wire_put_execute(&out, SLICE("id"), &part,
                     &(WireQuery){.consistency = CQL_LOCAL_QUORUM, .conditional = true});
    expect_bytes(&out, "0002 'id' 0006 10 0009");
}

TEST(a_batch_is_unlogged)
{
    BUFFER_SCOPE Buffer out = {0};
    CqlValue value = cql_bytes(SLICE("v"));
    CqlPart one = part_of(&value, 1), none = part_of(NULL, 0);
    wire_put_batch(&out, 2);
    wire_put_batch_part(&out, SLICE("a"), &one);
    wire_put_batch_part(&out, SLICE("bc"), &none);
    wire_put_batch_end(&out, &(WireQuery){.consistency = CQL_QUORUM});
    expect_bytes(&out, "01 0002 01 0001 'a' 0001 00000001 'v' 01 0002 'bc' 0000 0004 00");
    buffer_clear(&out);
    wire_put_batch_end(&out, &(WireQuery){.consistency = CQL_QUORUM, .conditional = true});
    expect_bytes(&out, "0004 10 0008");
}

TEST(the_size_of_a_call_is_never_guessed_too_small)
{
    CqlValue values[] = {cql_bytes(SLICE("0123456789")), {CQL_NULL, SLICE_EMPTY}};
    CqlPart parts[] = {part_of(values, 2), part_of(values, 2)};
    CqlCall call = {.parts = parts, .part_count = 2};
    BUFFER_SCOPE Buffer out = {0};
    char id[64] = {0};
    size_t frame = wire_begin(&out, 1, WIRE_BATCH);
    wire_put_batch(&out, 2);
    for (size_t i = 0; i < 2; i++)
        wire_put_batch_part(&out, slice_of(id, sizeof id), &parts[i]);
    wire_put_batch_end(&out, &(WireQuery){.consistency = CQL_QUORUM, .conditional = true});
    wire_end(&out, frame);
    EXPECT(wire_call_size(&call) >= out.size);
}

/* ---- Answers ----------------------------------------------------------------------------------------------- */

TEST(a_head_is_read)
{
    ARENA_SCOPE Arena *arena = arena_new();
    WireFrame frame;
    EXPECT_STATUS(wire_read_head(bytes(arena, "84 08 ffff 0c 00000010"), &frame), STATUS_OK);
    EXPECT_I64(frame.version, WIRE_ANSWER);
    EXPECT_I64(frame.flags, 8);
    EXPECT_I64(frame.stream, -1);
    EXPECT_I64(frame.opcode, WIRE_EVENT);
    EXPECT_I64(frame.length, 16);
    EXPECT(!frame.too_large);
    EXPECT_STATUS(wire_read_head(bytes(arena, "84 00 0001 08 04000001"), &frame), STATUS_OK);
    EXPECT(frame.too_large);
}

TEST(a_head_that_cannot_be_is_refused)
{
    static const char *const HEADS[] = {
        "84 00 0001 08 10000001", /* over the protocol's bound */
        "84 00 0001 08 ffffffff", /* negative */
        "04 00 0001 08 00000000", /* a request */
        "84 00 0001 08 000000",   /* short */
    };
    ARENA_SCOPE Arena *arena = arena_new();
    WireFrame frame;
    for (size_t i = 0; i < sizeof HEADS / sizeof HEADS[0]; i++)
        EXPECT_STATUS(wire_read_head(bytes(arena, HEADS[i]), &frame), STATUS_CORRUPT);
}

TEST(what_flags_put_before_a_body_is_taken_off)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice body;
    WireFrame frame = {.flags = 0x0e,
                       .body = bytes(arena, "000102030405060708090a0b0c0d0e0f"
                                            "0002 0003 'one' 0003 'two'"
                                            "0001 0001 'k' 00000001 'v' 'body'")};
    EXPECT_STATUS(wire_read_body(&frame, &body), STATUS_OK);
    EXPECT_SLICE(body, SLICE("body"));
    frame.flags = 0x01;
    EXPECT_STATUS(wire_read_body(&frame, &body), STATUS_CORRUPT);
    frame = (WireFrame){.flags = 0x08, .body = bytes(arena, "ffff 0001 'x'")};
    EXPECT_STATUS(wire_read_body(&frame, &body), STATUS_CORRUPT);
}

TEST(an_error_has_code_and_words)
{
    ARENA_SCOPE Arena *arena = arena_new();
    WireError error;
    EXPECT_STATUS(wire_read_error(bytes(arena, "00001000 0003 'few' 0004 00000002"), &error),
                  STATUS_OK);
    EXPECT_I64(error.code, 0x1000);
    EXPECT_SLICE(error.words, SLICE("few"));
    EXPECT_STATUS(wire_read_error(bytes(arena, "00002500 0001 'u' 0002 'id'"), &error), STATUS_OK);
    EXPECT_SLICE(error.unknown_id, SLICE("id"));
    EXPECT_STATUS(wire_read_error(bytes(arena, "00002500 0001 'u'"), &error), STATUS_CORRUPT);
    EXPECT_STATUS(wire_read_error(bytes(arena, "00001000 0009 'few'"), &error), STATUS_CORRUPT);
}

TEST(a_prepared_id_is_read)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice id;
    EXPECT_STATUS(wire_read_prepared(bytes(arena, "00000004 0002 'id' 'metadata'"), &id),
                  STATUS_OK);
    EXPECT_SLICE(id, SLICE("id"));
    EXPECT_STATUS(wire_read_prepared(bytes(arena, "00000001"), &id), STATUS_CORRUPT);
    EXPECT_STATUS(wire_read_prepared(bytes(arena, "00000004 0000"), &id), STATUS_CORRUPT);
}

TEST(events_are_told_apart)
{
    static const struct {
        const char *body;
        WireEventKind kind;
    } EVENTS[] = {
        {"000d 'STATUS_CHANGE' 0002 'UP' 04 7f000001 00002352", WIRE_EVENT_UP},
        {"000d 'STATUS_CHANGE' 0004 'DOWN' 04 7f000001 00002352", WIRE_EVENT_DOWN},
        {"000d 'STATUS_CHANGE' 0003 'ODD' 04 7f000001 00002352", WIRE_EVENT_OTHER},
        {"000f 'TOPOLOGY_CHANGE' 0008 'NEW_NODE' 04 7f000001 00002352", WIRE_EVENT_TOPOLOGY},
        {"000d 'SCHEMA_CHANGE' 0007 'CREATED' 0008 'KEYSPACE' 0001 'k'", WIRE_EVENT_KEYSPACE},
        {"000d 'SCHEMA_CHANGE' 0007 'CREATED' 0005 'TABLE' 0001 'k' 0001 't'", WIRE_EVENT_OTHER},
        {"0004 'NEWS' 0000", WIRE_EVENT_OTHER},
    };
    ARENA_SCOPE Arena *arena = arena_new();
    WireEvent event;
    for (size_t i = 0; i < sizeof EVENTS / sizeof EVENTS[0]; i++) {
        EXPECT_STATUS(wire_read_event(bytes(arena, EVENTS[i].body), &event), STATUS_OK);
        EXPECT_I64(event.kind, EVENTS[i].kind);
    }
    EXPECT_STATUS(wire_read_event(bytes(arena, EVENTS[0].body), &event), STATUS_OK);
    EXPECT_SLICE(event.address, SLICE("\x7f\0\0\1"));
    EXPECT_I64(event.port, 9042);
    EXPECT_STATUS(
        wire_read_event(bytes(arena, "000d 'STATUS_CHANGE' 0002 'UP' 03 7f0000 00002352"), &event),
        STATUS_CORRUPT);
}

static const char TWO_ROWS[] = "00000002 00000003 00000002 00000002 'PG'" /* more pages */
                               "0001 'k' 0001 't' 0001 'a' 0003 0001 'b' 0021 000d 0009"
                               "00000002 00000001 'x' ffffffff 00000000 00000002 'yz' 'behind'";

TEST(rows_are_read)
{
    ARENA_SCOPE Arena *arena = arena_new();
    CqlRows rows;
    EXPECT_STATUS(wire_read_result(bytes(arena, TWO_ROWS), arena, &rows), STATUS_OK);
    EXPECT(rows.more);
    EXPECT_I64(rows.columns, 2);
    EXPECT_I64(rows.count, 2);
    EXPECT_SLICE(slice_from(rows.names[0]), SLICE("a"));
    EXPECT_SLICE(slice_from(rows.names[1]), SLICE("b"));
    EXPECT_SLICE(rows.values[0].bytes, SLICE("x"));
    EXPECT_I64(rows.values[1].kind, CQL_NULL);
    EXPECT_I64(rows.values[2].kind, CQL_BYTES);
    EXPECT_I64(rows.values[2].bytes.size, 0);
    EXPECT_SLICE(rows.values[3].bytes, SLICE("yz"));
}

TEST(every_type_of_column_is_passed_over)
{
    ARENA_SCOPE Arena *arena = arena_new();
    CqlRows rows;
    Slice body = bytes(arena, "00000002 00000000 00000005"
                              "0001 'k' 0001 't' 0001 'a' 0000 0002 'cl'" /* custom */
                              "0001 'k' 0001 't' 0001 'b' 0020 0022 000d" /* list<set<text>> */
                              "0001 'k' 0001 't' 0001 'c' 0031 0002 0009 0020 0009" /* tuple */
                              "0001 'k' 0001 't' 0001 'd' 0030 0001 'k' 0001 'u' 0002"
                              "0001 'f' 0009 0001 'g' 0021 0009 000d" /* type with two fields */
                              "0001 'k' 0001 't' 0001 'e' 0003 00000000");
    EXPECT_STATUS(wire_read_result(body, arena, &rows), STATUS_OK);
    EXPECT_I64(rows.columns, 5);
    EXPECT_I64(rows.count, 0);
    EXPECT_SLICE(slice_from(rows.names[4]), SLICE("e"));
}

TEST(results_without_rows_are_fine)
{
    ARENA_SCOPE Arena *arena = arena_new();
    CqlRows rows;
    EXPECT_STATUS(wire_read_result(bytes(arena, "00000001"), arena, &rows), STATUS_OK);
    EXPECT_I64(rows.count, 0);
    EXPECT_STATUS(wire_read_result(bytes(arena, "00000003 0001 'k'"), arena, &rows), STATUS_OK);
    EXPECT_STATUS(wire_read_result(bytes(arena, "00000005 0007 'CREATED'"), arena, &rows),
                  STATUS_OK);
}

TEST(a_result_that_is_cut_anywhere_is_refused)
{
    ARENA_SCOPE Arena *arena = arena_new();
    CqlRows rows;
    Slice whole = bytes(arena, TWO_ROWS);
    size_t behind = strlen("behind");
    for (size_t size = 0; size < whole.size - behind; size++)
        EXPECT_STATUS(wire_read_result(slice_of(whole.data, size), arena, &rows), STATUS_CORRUPT);
}

TEST(results_that_lie_are_refused)
{
    static const char *const BODIES[] = {
        "00000002 00000001 7fffffff 0001 'k' 0001 't'",          /* columns */
        "00000002 00000001 ffffffff 0001 'k' 0001 't'",          /* fewer than none */
        "00000002 00000001 00000000 0001 'k' 0001 't' 7fffffff", /* rows of nothing */
        "00000002 00000001 00000001 0001 'k' 0001 't' 0001 'a' 0003 7fffffff 00000000",
        "00000002 00000001 00000001 0001 'k' 0001 't' 0001 'a' 0003 ffffffff",
        "00000002 00000001 00000001 0001 'k' 0001 't' 0001 'a' 0003 00000001 7fffffff",
        "00000002 00000004 00000001 00000001 00000001 'x'",     /* without names */
        "00000004 0002 'id'",                                   /* nobody prepared */
        "00000009",                                             /* unknown */
        "00000002 00000001 00000001 0001 'k' 0001 't' 0001 'a'" /* too deep */
        "0020 0020 0020 0020 0020 0020 0020 0020 0020 0020 0020 0020 0020 0020 0020 0020 0020 0003"
        "00000000",
    };
    ARENA_SCOPE Arena *arena = arena_new();
    CqlRows rows;
    for (size_t i = 0; i < sizeof BODIES / sizeof BODIES[0]; i++)
        EXPECT_STATUS(wire_read_result(bytes(arena, BODIES[i]), arena, &rows), STATUS_CORRUPT);
}

TEST(sets_and_maps_of_text_are_read)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice *texts;
    size_t count;
    EXPECT_STATUS(
        wire_read_texts(bytes(arena, "00000002 00000001 'a' 00000002 'bc'"), arena, &texts, &count),
        STATUS_OK);
    EXPECT_I64(count, 2);
    EXPECT_SLICE(texts[1], SLICE("bc"));
    EXPECT_STATUS(wire_read_text_map(bytes(arena, "00000001 00000001 'k' 00000001 'v'"), arena,
                                     &texts, &count),
                  STATUS_OK);
    EXPECT_I64(count, 2);
    EXPECT_SLICE(texts[1], SLICE("v"));
    EXPECT_STATUS(wire_read_texts(bytes(arena, "7fffffff 00000001 'a'"), arena, &texts, &count),
                  STATUS_CORRUPT);
}
