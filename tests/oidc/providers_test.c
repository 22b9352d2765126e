/* providers_test.c -- the operator's file of providers. */
#include "oidc/oidc_rules.h"
#include "test.h"

TEST(a_file_with_two_providers)
{
    ARENA_SCOPE Arena *arena = arena_new();
    OidcSettings *list;
    size_t count;
    Reason reason = {0};
    Slice text =
        SLICE("# ours\n[town-id]\ntitle = Town ID\nissuer=https://id.example.org/realm\n"
              "client_id = ostraka\r\nclient_secret_file = /etc/secret\n\n[b2]\n"
              " title = B\n issuer = http://127.0.0.1:99\n client_id = x=y\n scope = openid");
    EXPECT_STATUS(providers_read(text, arena, &list, &count, &reason), STATUS_OK);
    EXPECT_I64(count, 2);
    EXPECT_SLICE(list[0].key, SLICE("town-id"));
    EXPECT_SLICE(list[0].title, SLICE("Town ID"));
    EXPECT_SLICE(list[0].issuer, SLICE("https://id.example.org/realm"));
    EXPECT_SLICE(list[0].client_id, SLICE("ostraka"));
    EXPECT_SLICE(list[0].client_secret_file, SLICE("/etc/secret"));
    EXPECT_SLICE(list[0].scope, SLICE("openid email profile"));
    EXPECT_SLICE(list[1].client_id, SLICE("x=y"));
    EXPECT_SLICE(list[1].client_secret_file, SLICE(""));
    EXPECT_SLICE(list[1].scope, SLICE("openid"));
    EXPECT_STATUS(providers_read(SLICE_EMPTY, arena, &list, &count, &reason), STATUS_OK);
    EXPECT_I64(count, 0);
}

#define HEAD "[a]\ntitle = A\nissuer = https://a.example\nclient_id = a\n"

TEST(what_is_wrong_is_named_with_its_line)
{
    static const struct {
        const char *text, *rule;
    } WRONG[] = {
        {"title = A\n", "line 1"},
        {HEAD "nonsense\n", "line 5"},
        {HEAD "colour = red\n", "line 5"},
        {HEAD "title = B\n", "line 5: this was said already"},
        {HEAD "scope =\n", "line 5"},
        {HEAD "[a]\n", "line 5: this provider is there already"},
        {"[A]\n", "line 1"},
        {"[]\n", "line 1"},
        {"[\n", "line 1"},
        {"[a/b]\n", "line 1"},
        {"[a\n", "line 1"},
        {"[a-name-that-is-far-too-long]\n", "line 1"},
        {"[a]\ntitle = A\nissuer = https://a.example\n", "[a] needs client_id"},
        {"[a]\ntitle = A\nissuer = http://a.example\nclient_id = a\n", "[a] issuer must be"},
        {"[a]\ntitle = \xff\n", "line 2"},
        {"[1]\n[2]\n[3]\n[4]\n[5]\n[6]\n[7]\n[8]\n[9]\n", "line 9: at most 8"},
    };
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        ARENA_SCOPE Arena *arena = arena_new();
        OidcSettings *list;
        size_t count;
        Reason reason = {0};
        EXPECT_STATUS(providers_read(slice_from(WRONG[i].text), arena, &list, &count, &reason),
                      STATUS_INVALID);
        EXPECT_SLICE(slice_from(reason.field), SLICE("oidc_file"));
        if (strstr(reason.rule, WRONG[i].rule) == NULL)
            test_fail(__FILE__, __LINE__, "%zu: %s", i, reason.rule);
    }
}

TEST(only_https_and_this_machine_are_safe)
{
    static const char *const SAFE[] = {"https://a.example",     "https://a.example:8443/x?y=z",
                                       "http://127.0.0.1:80/x", "http://localhost:1",
                                       "http://[::1]:99/a",     "http://127.1.2.3"};
    static const char *const UNSAFE[] = {"",
                                         "http://a.example",
                                         "http://127.0.0.1.example/",
                                         "http://127.example",
                                         "http://localhost.example",
                                         "https://",
                                         "https:///x",
                                         "ftp://127.0.0.1",
                                         "https://a b",
                                         "https://a\"b",
                                         "https://me@a.example",
                                         "http://127.0.0.1@a.example",
                                         "https://a.example/#x",
                                         "http://[::2]/",
                                         "HTTPS://a.example\n"};
    for (size_t i = 0; i < sizeof SAFE / sizeof SAFE[0]; i++)
        if (!oidc_is_safe_url(slice_from(SAFE[i])))
            test_fail(__FILE__, __LINE__, "%s", SAFE[i]);
    for (size_t i = 0; i < sizeof UNSAFE / sizeof UNSAFE[0]; i++)
        if (oidc_is_safe_url(slice_from(UNSAFE[i])))
            test_fail(__FILE__, __LINE__, "%s", UNSAFE[i]);
}
