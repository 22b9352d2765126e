/* agents_test.c -- what people read for what browsers say of themselves. */
#include "site/account/agents.h"

#include "test.h"

static void expect_words(const char *agent, const char *words)
{
    ARENA_SCOPE Arena *arena = arena_new();
    EXPECT_SLICE(agent_words(slice_from(agent), arena), slice_from(words));
}

TEST(browsers_are_told_apart_though_they_name_each_other)
{
    expect_words("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
                 "HeadlessChrome/156.0.0.0 Safari/537.36",
                 "Chrome on Linux");
    expect_words("Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0",
                 "Firefox on Windows");
    expect_words("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
                 "Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
                 "Edge on Windows");
    expect_words("Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 "
                 "(KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
                 "Safari on an iPhone");
    expect_words("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) "
                 "Chrome/140.0.0.0 Mobile Safari/537.36",
                 "Chrome on Android");
    expect_words("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, "
                 "like Gecko) Version/18.5 Safari/605.1.15",
                 "Safari on a Mac");
}

TEST(what_nobody_knows_is_shown_as_it_came)
{
    expect_words("curl/7.88.1", "curl/7.88.1");
    expect_words("Firefox/1", "Firefox");
    expect_words("", "A program that gave no name");
}
