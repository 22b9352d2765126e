/* framing_test.c -- where heads end and what their lines say; bodies in chunks, however they are cut. */
#include "web/framing.h"

#include "test.h"

TEST(a_head_ends_with_an_empty_line_however_it_arrives)
{
    static const Slice text = {"GET / HTTP/1.1\r\nHost: a\r\n\r\nmore", 31};
    const size_t size = text.size - 4;
    for (size_t here = 0; here <= text.size; here++)
        for (size_t looked = 0; looked <= here && looked < size; looked++)
            EXPECT_I64((int64_t)framing_head_size(slice_of(text.data, here), looked),
                       here < size ? 0 : (int64_t)size);
    EXPECT_I64((int64_t)framing_head_size(SLICE("GET / HTTP/1.1\n\nHost: a\r\n\n"), 0), 0);
}

/* The fault of a head, or NULL; its first line and headers. */
static const char *read_head(Slice text, FramingLine *ret_line, HttpHead *ret_head)
{
    ARENA_SCOPE Arena *arena = arena_new();
    *ret_head = (HttpHead){0};
    *ret_line = framing_read_head(text, ret_head, arena);
    return ret_head->fault;
}

TEST(the_lines_of_a_head_are_read)
{
    FramingLine line;
    HttpHead head;
    EXPECT(read_head(SLICE("POST /a?b HTTP/1.1\r\nHost: a:1\r\ncookie:x=1 \r\nX:\r\n\r\n"), &line,
                     &head) == NULL);
    EXPECT_SLICE(line.method, SLICE("POST"));
    EXPECT_SLICE(line.target, SLICE("/a?b"));
    EXPECT(!head.is_http_1_0);
    EXPECT_SLICE(head.values[HEAD_HOST], SLICE("a:1"));
    EXPECT_SLICE(head.values[HEAD_COOKIE], SLICE("x=1"));
    EXPECT(read_head(SLICE("GET / HTTP/1.0\r\n\r\n"), &line, &head) == NULL && head.is_http_1_0);
}

#define HEAD_OF(lines) SLICE("GET / HTTP/1.1\r\nHost: a\r\n" lines "\r\n\r\n")

TEST(a_head_that_could_be_read_in_two_ways_has_a_fault)
{
    const Slice heads[] = {
        SLICE("\r\n\r\n"),
        SLICE("GET\r\n\r\n"),
        SLICE("GET /\r\n\r\n"),
        SLICE("GET / \r\n\r\n"),
        SLICE(" / HTTP/1.1\r\n\r\n"),
        SLICE("GET  / HTTP/1.1\r\n\r\n"),
        SLICE("GET  HTTP/1.1\r\n\r\n"),
        SLICE("GET /a b HTTP/1.1\r\n\r\n"),
        SLICE("GET / HTTP/1.1 \r\n\r\n"),
        SLICE("GET / HTTP/2.0\r\n\r\n"),
        SLICE("GET / http/1.1\r\n\r\n"),
        SLICE("G\0T / HTTP/1.1\r\n\r\n"),
        SLICE("GET /\r HTTP/1.1\r\n\r\n"),
        SLICE("GET /\0 HTTP/1.1\r\n\r\n"),
        SLICE("GET /\x7F HTTP/1.1\r\n\r\n"),
        SLICE("GET / HTTP/1.1\nHost: a\r\n\r\n"),
        HEAD_OF("X"),
        HEAD_OF("X : 1"),
        HEAD_OF(" X: 1"),
        HEAD_OF(": 1"),
        HEAD_OF("X: 1\r\n 2"),
        HEAD_OF("X: 1\nY: 2"),
        HEAD_OF("X: 1\rY: 2"),
        HEAD_OF("X: 1\0"),
        HEAD_OF("X\0: 1"),
        HEAD_OF("\0"),
    };
    FramingLine line;
    HttpHead head;
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        if (read_head(heads[i], &line, &head) == NULL)
            printf("# head %zu\n", i);
        EXPECT(head.fault != NULL);
    }
}

/* Reads `text` in pieces of so many bytes. */
static FramingStep read_in_pieces(Slice text, size_t piece, uint64_t most, Buffer *body,
                                  size_t *ret_used)
{
    FramingChunks chunks = {0};
    FramingStep step = FRAMING_MORE;
    size_t used;
    *ret_used = 0;
    while (step == FRAMING_MORE && *ret_used < text.size) {
        Slice rest = slice_after(text, *ret_used);
        if (rest.size > piece)
            rest.size = piece;
        step = framing_read_chunks(&chunks, rest, most, body, &used);
        *ret_used += used;
    }
    return step;
}

static void expect_body(Slice text, Slice body, size_t rest)
{
    for (size_t piece = 1; piece <= text.size; piece++) {
        BUFFER_SCOPE Buffer got = {0};
        size_t used;
        EXPECT(read_in_pieces(text, piece, 100, &got, &used) == FRAMING_DONE);
        EXPECT_I64((int64_t)used, (int64_t)(text.size - rest));
        EXPECT_SLICE(buffer_slice(&got), body);
    }
}

TEST(chunks_give_the_same_body_however_they_are_cut)
{
    expect_body(SLICE("0\r\n\r\n"), SLICE(""), 0);
    expect_body(SLICE("3\r\nabc\r\n00a\r\n0123456789\r\n0\r\n\r\nGET /"), SLICE("abc0123456789"),
                5);
    expect_body(SLICE("3;x=\"y\"\r\n\r\n\r\r\n0;z\r\nA: b\r\nC:\r\n\r\n"), SLICE("\r\n\r"), 0);
    expect_body(SLICE("F\r\n012345678901234\r\n0\r\n\r\n\r\n"), SLICE("012345678901234"), 2);
}

static void expect_step(Slice text, uint64_t most, FramingStep expected)
{
    for (size_t piece = 1; piece <= text.size; piece++) {
        BUFFER_SCOPE Buffer got = {0};
        size_t used;
        EXPECT(read_in_pieces(text, piece, most, &got, &used) == expected);
        EXPECT(got.size <= most);
    }
}

TEST(what_are_no_chunks_is_refused)
{
    const Slice broken[] = {
        SLICE("\r\n"),        SLICE("x\r\n"),          SLICE("-1\r\n"),
        SLICE(" 3\r\nabc"),   SLICE("3 \r\nabc"),      SLICE("3\nabc"),
        SLICE("3\r\r\n"),     SLICE("3\r\nabcd\r\n"),  SLICE("3\r\nabc\n0\r\n\r\n"),
        SLICE("123456789"),   SLICE("0x3\r\nabc\r\n"), SLICE("0\r\nA: b\n\r\n"),
        SLICE("0\r\n\0\r\n"), SLICE("3;a\nb\r\nabc"),  SLICE("0\r\n\rx"),
    };
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        expect_step(broken[i], 100, FRAMING_BROKEN);
}

TEST(a_body_over_its_bound_is_refused_when_a_chunk_announces_it)
{
    expect_step(SLICE("a\r\n0123456789\r\n0\r\n\r\n"), 10, FRAMING_DONE);
    expect_step(SLICE("b\r\n"), 10, FRAMING_TOO_LARGE);
    expect_step(SLICE("9\r\n012345678\r\n1\r\n9\r\n1\r\n"), 10, FRAMING_TOO_LARGE);
    expect_step(SLICE("ffffffff\r\n"), 10, FRAMING_TOO_LARGE);
    expect_step(SLICE("1\r\n"), 0, FRAMING_TOO_LARGE);
}

TEST(what_stands_beside_the_content_has_its_bound_too)
{
    BUFFER_SCOPE Buffer extension = {0}, trailers = {0};
    buffer_text(&extension, "1;");
    buffer_text(&trailers, "0\r\n");
    for (int i = 0; i < 10000; i++) {
        buffer_u8(&extension, 'x');
        buffer_text(&trailers, "a:\r\n");
    }
    BUFFER_SCOPE Buffer body = {0};
    size_t used;
    EXPECT(read_in_pieces(buffer_slice(&extension), 999, 100, &body, &used) == FRAMING_BROKEN);
    EXPECT(read_in_pieces(buffer_slice(&trailers), 999, 100, &body, &used) == FRAMING_BROKEN);
}
