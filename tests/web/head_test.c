/* head_test.c -- which heads are trusted. */
#include "web/head.h"

#include "test.h"

/* Judges headers given as name, value, name, value, …, NULL. */
static Status judged(bool is_http_1_0, const char *const *lines, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    HttpHead head = {.is_http_1_0 = is_http_1_0};
    for (; *lines != NULL; lines += 2)
        head_add(&head, slice_from(lines[0]), slice_from(lines[1]), arena);
    return head_judge(&head, reason);
}

#define HEADERS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void expect_refused(const char *const *lines)
{
    Reason reason = {0};
    EXPECT_STATUS(judged(false, lines, &reason), STATUS_INVALID);
    EXPECT(reason.rule[0] != '\0');
}

TEST(ordinary_heads_are_fine)
{
    EXPECT_STATUS(judged(false, HEADERS("Host", "a.example:80"), NULL), STATUS_OK);
    EXPECT_STATUS(judged(false, HEADERS("Host", "[::1]:80", "Content-Length", "0"), NULL),
                  STATUS_OK);
    EXPECT_STATUS(judged(false, HEADERS("host", "a", "transfer-encoding", "Chunked"), NULL),
                  STATUS_OK);
    EXPECT_STATUS(judged(true, HEADERS("Content-Length", "18446744073709551615"), NULL), STATUS_OK);
    EXPECT_STATUS(judged(false, HEADERS("Host", "a", "Accept", "x", "Accept", "y"), NULL),
                  STATUS_OK);
    EXPECT_STATUS(judged(false, HEADERS("Host", "a", "X", "tab\there \u00e4"), NULL), STATUS_OK);
}

TEST(doubtful_heads_are_refused)
{
    expect_refused(HEADERS("Accept", "x"));
    expect_refused(HEADERS("Host", ""));
    expect_refused(HEADERS("Host", "a b"));
    expect_refused(HEADERS("Host", "a/b"));
    expect_refused(HEADERS("Host", "a", "HOST", "a"));
    expect_refused(HEADERS("Host", "a", "Content-Length", "5", "Content-Length", "5"));
    expect_refused(HEADERS("Host", "a", "Content-Length", "5", "Transfer-Encoding", "chunked"));
    expect_refused(HEADERS("Host", "a", "Content-Length", "5,5"));
    expect_refused(HEADERS("Host", "a", "Content-Length", "+5"));
    expect_refused(HEADERS("Host", "a", "Content-Length", "18446744073709551616"));
    expect_refused(HEADERS("Host", "a", "Transfer-Encoding", "gzip"));
    expect_refused(HEADERS("Host", "a", "Transfer-Encoding", "chunked, chunked"));
    expect_refused(HEADERS("Host", "a", "Content-Length ", "5"));
    expect_refused(HEADERS("Host", "a", "", "5"));
    expect_refused(HEADERS("Host", "a", "X", "a\x01"));
}

TEST(a_later_header_does_not_hide_an_earlier_fault)
{
    expect_refused(HEADERS("Host", "a", "Host", "b", "Accept", "x"));
    expect_refused(HEADERS("X(", "a", "Host", "b"));
}

TEST(http_1_0_has_no_transfer_encoding)
{
    EXPECT_STATUS(judged(true, HEADERS("Transfer-Encoding", "chunked"), NULL), STATUS_INVALID);
}

TEST(repeated_lists_are_joined)
{
    ARENA_SCOPE Arena *arena = arena_new();
    HttpHead head = {0};
    head_add(&head, SLICE("X-Forwarded-For"), SLICE(" a "), arena);
    head_add(&head, SLICE("x-forwarded-for"), SLICE("b"), arena);
    EXPECT_SLICE(head.values[HEAD_FORWARDED_FOR], SLICE("a,b"));
}

TEST(headers_are_repeated_so_often_and_no_more)
{
    ARENA_SCOPE Arena *arena = arena_new();
    HttpHead head = {0};
    head_add(&head, SLICE("Host"), SLICE("a"), arena);
    for (int i = 0; i <= HEAD_REPEATED_MAX; i++)
        head_add(&head, SLICE("Accept"), SLICE("b"), arena);
    EXPECT_STATUS(head_judge(&head, NULL), STATUS_OK);
    head_add(&head, SLICE("Accept"), SLICE("b"), arena);
    EXPECT_STATUS(head_judge(&head, NULL), STATUS_INVALID);
}

TEST(a_body_follows_a_length_or_an_encoding)
{
    ARENA_SCOPE Arena *arena = arena_new();
    HttpHead none = {0}, empty = {0}, sized = {0}, chunked = {0};
    uint64_t size = 7;
    head_add(&empty, SLICE("Content-Length"), SLICE("0"), arena);
    head_add(&sized, SLICE("Content-Length"), SLICE("42"), arena);
    head_add(&chunked, SLICE("Transfer-Encoding"), SLICE("chunked"), arena);
    EXPECT(!head_has_body(&none) && !head_has_body(&empty));
    EXPECT(head_has_body(&sized) && head_has_body(&chunked));
    EXPECT(!head_body_size(&chunked, &size) && size == 7);
    EXPECT(head_body_size(&sized, &size) && size == 42);
}
