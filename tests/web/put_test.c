/* put_test.c -- a value is written by its type and its place. */
#include "web/put.h"

#include "test.h"

#define EXPECT_PUT(call, expected)                        \
    do {                                                  \
        BUFFER_SCOPE Buffer written_ = {0};               \
        Buffer *out = &written_;                          \
        call;                                             \
        EXPECT_SLICE(buffer_slice(out), SLICE(expected)); \
    } while (0)

static const int64_t NOON_US = INT64_C(1769860800000000); /* 31 January 2026, 12:00 */
#define EXACT "<time datetime=\"2026-01-31T12:00:00Z\" title=\"31 January 2026, 12:00 UTC\">"

TEST(text_is_escaped_in_every_place)
{
    EXPECT_PUT(html_put(out, SLICE("<b>")), "&lt;b&gt;");
    EXPECT_PUT(html_put(out, "a & b"), "a &amp; b");
    EXPECT_PUT(attribute_put(out, SLICE("\"x'")), "&quot;x&#39;");
    EXPECT_PUT(url_put(out, "javascript:alert(1)"), "#");
    EXPECT_PUT(url_part_put(out, SLICE("a/b?c&\"d\u00e4")), "a%2Fb%3Fc%26%22d%C3%A4");
}

TEST(numbers_are_for_people_in_text_and_for_programs_elsewhere)
{
    uint64_t large = UINT64_C(18446744073709551615);
    EXPECT_PUT(html_put(out, INT64_C(-12345)), "\u221212\u202f345");
    EXPECT_PUT(html_put(out, (size_t)1000), "1\u202f000");
    EXPECT_PUT(attribute_put(out, INT64_C(-12345)), "-12345");
    EXPECT_PUT(attribute_put(out, large), "18446744073709551615");
    EXPECT_PUT(url_part_put(out, 7u), "7");
}

TEST(moments_are_told_from_now)
{
    static const struct {
        int64_t ago_s;
        const char *text;
    } cases[] = {{0, "just now"},
                 {59, "just now"},
                 {60, "1\u00a0minute ago"},
                 {3 * 3600, "3\u00a0hours ago"},
                 {31 * 86400, "31\u00a0days ago"},
                 {32 * 86400, "31 January 2026"},
                 {-30, "in a moment"},
                 {-7200, "in 2\u00a0hours"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        BUFFER_SCOPE Buffer out = {0}, expected = {0};
        Moment moment = {NOON_US, NOON_US + cases[i].ago_s * 1000000};
        html_put(&out, moment);
        buffer_print(&expected, EXACT "%s</time>", cases[i].text);
        EXPECT_SLICE(buffer_slice(&out), buffer_slice(&expected));
    }
    Moment date = {.us = NOON_US};
    EXPECT_PUT(html_put(out, date), EXACT "31 January 2026</time>");
    EXPECT_PUT(attribute_put(out, date), "2026-01-31T12:00:00Z");
}

TEST(only_markup_is_not_escaped)
{
    Markup markup = {SLICE("<b>ours</b>")};
    EXPECT_PUT(html_put(out, markup), "<b>ours</b>");
}
