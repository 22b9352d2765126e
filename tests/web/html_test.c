/* html_test.c -- nothing that a person wrote becomes markup. */
#include "web/html.h"

#include "test.h"

#define EXPECT_WRITTEN(call, expected)                    \
    do {                                                  \
        BUFFER_SCOPE Buffer written_ = {0};               \
        Buffer *out = &written_;                          \
        call;                                             \
        EXPECT_SLICE(buffer_slice(out), SLICE(expected)); \
    } while (0)

TEST(text_is_escaped)
{
    EXPECT_WRITTEN(html_text(out, SLICE("a<b>&\"c'")), "a&lt;b&gt;&amp;&quot;c&#39;");
    EXPECT_WRITTEN(html_text(out, SLICE("&&")), "&amp;&amp;");
    EXPECT_WRITTEN(html_text(out, SLICE("")), "");
    EXPECT_WRITTEN(html_text(out, SLICE("pottery \u00e4")), "pottery \u00e4");
}

TEST(urls_stay_on_the_site_or_are_http)
{
    EXPECT_WRITTEN(html_url(out, SLICE("/a?b=1&c=\"")), "/a?b=1&amp;c=&quot;");
    EXPECT_WRITTEN(html_url(out, SLICE("https://a.example/")), "https://a.example/");
    EXPECT_WRITTEN(html_url(out, SLICE("/")), "/");
    static const char *const refused[] = {
        "javascript:alert(1)", "//evil.example",   "/\\evil.example", "", "data:x", "a", " /a",
        "java\nscript:x",      "/\t/evil.example", "HTTP://x"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        EXPECT_WRITTEN(html_url(out, slice_from(refused[i])), "#");
}

TEST(numbers_have_thin_spaces)
{
    EXPECT_WRITTEN(html_number(out, 0), "0");
    EXPECT_WRITTEN(html_number(out, 999), "999");
    EXPECT_WRITTEN(html_number(out, 1000), "1\u202f000");
    EXPECT_WRITTEN(html_number(out, -1234567), "\u22121\u202f234\u202f567");
    EXPECT_WRITTEN(html_number(out, INT64_MIN),
                   "\u22129\u202f223\u202f372\u202f036\u202f854\u202f775\u202f808");
}

TEST(times_are_exact_and_readable)
{
    EXPECT_WRITTEN(html_time(out, INT64_C(1769860800000000)),
                   "<time datetime=\"2026-01-31T12:00:00Z\">31 January 2026, 12:00 UTC</time>");
}

TEST(durations_use_the_largest_unit)
{
    EXPECT_WRITTEN(html_duration(out, 0), "0\u00a0seconds");
    EXPECT_WRITTEN(html_duration(out, 1), "1\u00a0second");
    EXPECT_WRITTEN(html_duration(out, 119), "1\u00a0minute");
    EXPECT_WRITTEN(html_duration(out, 7200), "2\u00a0hours");
    EXPECT_WRITTEN(html_duration(out, 86400 * 1000), "1\u202f000\u00a0days");
}
