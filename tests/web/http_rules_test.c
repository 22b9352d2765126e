/* http_rules_test.c -- the small grammars of HTTP, rule by rule. */
#include "web/http_rules.h"

#include "test.h"

static bool decodes(Slice text, HttpDecode how, Slice expected)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice decoded;
    return http_decode(text, how, arena, &decoded) == STATUS_OK && slice_equal(decoded, expected);
}

static bool refuses_to_decode(Slice text)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice decoded = SLICE("untouched");
    return http_decode(text, HTTP_DECODE_FORM, arena, &decoded) == STATUS_INVALID &&
           slice_equal(decoded, SLICE("untouched"));
}

TEST(escapes_become_their_bytes)
{
    EXPECT(decodes(SLICE("a%20b%2Fc%2f"), HTTP_DECODE_PATH, SLICE("a b/c/")));
    EXPECT(decodes(SLICE("%C3%A4"), HTTP_DECODE_PATH, SLICE("\u00e4")));
    EXPECT(decodes(SLICE("\u00e4"), HTTP_DECODE_PATH, SLICE("\u00e4")));
    EXPECT(decodes(SLICE(""), HTTP_DECODE_PATH, SLICE("")));
    EXPECT(decodes(SLICE("%2525"), HTTP_DECODE_PATH, SLICE("%25"))); /* once, not twice */
}

TEST(plus_is_a_space_in_forms_only)
{
    EXPECT(decodes(SLICE("a+b"), HTTP_DECODE_FORM, SLICE("a b")));
    EXPECT(decodes(SLICE("a+b"), HTTP_DECODE_PATH, SLICE("a+b")));
    EXPECT(decodes(SLICE("a%2Bb"), HTTP_DECODE_FORM, SLICE("a+b")));
}

TEST(broken_escapes_nul_and_bad_utf8_are_refused)
{
    EXPECT(refuses_to_decode(SLICE("%")));
    EXPECT(refuses_to_decode(SLICE("%4")));
    EXPECT(refuses_to_decode(SLICE("%4g")));
    EXPECT(refuses_to_decode(SLICE("%-1")));
    EXPECT(refuses_to_decode(SLICE("%00")));
    EXPECT(refuses_to_decode(SLICE("a\0b")));
    EXPECT(refuses_to_decode(SLICE("%FF")));
    EXPECT(refuses_to_decode(SLICE("%C3")));
    EXPECT(refuses_to_decode(SLICE("\xC3")));
    EXPECT(refuses_to_decode(SLICE("%C0%AF")));
}

TEST(pairs_are_cut_at_ampersands_and_the_first_equals)
{
    Slice rest = SLICE("&a=1&&b&c=2=3&=4&"), name, value;
    static const char *const expected[][2] = {{"a", "1"}, {"b", ""}, {"c", "2=3"}, {"", "4"}};
    for (size_t i = 0; i < 4; i++) {
        EXPECT(http_next_pair(&rest, &name, &value));
        EXPECT_SLICE(name, slice_from(expected[i][0]));
        EXPECT_SLICE(value, slice_from(expected[i][1]));
    }
    EXPECT(!http_next_pair(&rest, &name, &value));
}

TEST(a_target_is_split_at_the_question_mark)
{
    static const char *const cases[][3] = {
        {"/", "/", ""},
        {"/a/b?c=d?e", "/a/b", "c=d?e"},
        {"/?", "/", ""},
        {"http://h/a?b", "/a", "b"},
        {"HTTPS://h:1/", "/", ""},
        {"http://h", "/", ""},
        {"/%41", "/%41", ""},
        {"//h/a", "//h/a", ""},
        {"/a:b@c", "/a:b@c", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        HttpTarget target;
        EXPECT_STATUS(http_parse_target(slice_from(cases[i][0]), &target), STATUS_OK);
        EXPECT_SLICE(target.path, slice_from(cases[i][1]));
        EXPECT_SLICE(target.query, slice_from(cases[i][2]));
    }
}

TEST(other_targets_are_refused)
{
    static const Slice cases[] = {{"", 0},         {"a", 1},      {"*", 1},    {"host:80", 7},
                                  {"/a b", 4},     {"/\0", 2},    {"/%", 2},   {"/%0", 3},
                                  {"/%00", 4},     {"/%zz", 4},   {"/a#b", 4}, {"/\x7f", 2},
                                  {"ftp://h/", 8}, {"/a\r\n", 4}, {"/?%", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        HttpTarget target;
        EXPECT_STATUS(http_parse_target(cases[i], &target), STATUS_INVALID);
    }
}

TEST(tokens_hold_no_separators)
{
    EXPECT(http_is_token(SLICE("X-Forwarded-For")));
    EXPECT(http_is_token(SLICE("a!#$%&'*+-.^_`|~9")));
    EXPECT(!http_is_token(SLICE("")));
    EXPECT(!http_is_token(SLICE("a b")));
    EXPECT(!http_is_token(SLICE("a:")));
    EXPECT(!http_is_token(SLICE("a\0")));
    EXPECT(!http_is_token(SLICE("\u00e4")));
}

TEST(quality_is_the_named_one_or_that_of_the_star)
{
    EXPECT_I64(http_quality(SLICE("gzip;q=0.5, *;q=0.1"), SLICE("gzip")), 500);
    EXPECT_I64(http_quality(SLICE("gzip;q=0.5, *;q=0.1"), SLICE("br")), 100);
    EXPECT_I64(http_quality(SLICE(" GZIP ; q=0.123 "), SLICE("gzip")), 123);
    EXPECT_I64(http_quality(SLICE("gzip"), SLICE("gzip")), 1000);
    EXPECT_I64(http_quality(SLICE("gzip;Q=1.000"), SLICE("gzip")), 1000);
    EXPECT_I64(http_quality(SLICE(""), SLICE("gzip")), -1);
    EXPECT_I64(http_quality(SLICE("x-gzip"), SLICE("gzip")), -1);
    EXPECT_I64(http_quality(SLICE("text/html;level=1;q=0.4"), SLICE("text/html")), 400);
}

TEST(a_malformed_quality_does_not_count)
{
    static const char *const cases[] = {"gzip;q=",       "gzip;q=2",  "gzip;q=1.1",
                                        "gzip;q=0.1234", "gzip;q=-1", "gzip;q=0,5x",
                                        "gzip;q=.5",     "gzip;q=0x", ";q=1"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int quality = http_quality(slice_from(cases[i]), SLICE("gzip"));
        EXPECT(quality == -1 || quality == 0);
    }
}

TEST(the_clients_quality_decides_then_our_order)
{
    const unsigned all = 1u << HTTP_BROTLI | 1u << HTTP_GZIP | 1u << HTTP_IDENTITY;
    const unsigned plain = 1u << HTTP_IDENTITY;
    EXPECT_I64(http_choose_encoding(SLICE("gzip, br"), all), HTTP_BROTLI);
    EXPECT_I64(http_choose_encoding(SLICE("gzip, br;q=0.9"), all), HTTP_GZIP);
    EXPECT_I64(http_choose_encoding(SLICE("br;q=0.1"), all), HTTP_BROTLI);
    EXPECT_I64(http_choose_encoding(SLICE("identity, gzip;q=0.5"), all), HTTP_IDENTITY);
    EXPECT_I64(http_choose_encoding(SLICE("*;q=0"), all), HTTP_IDENTITY);
    EXPECT_I64(http_choose_encoding(SLICE(""), all), HTTP_IDENTITY);
    EXPECT_I64(http_choose_encoding(SLICE("gzip, br"), plain), HTTP_IDENTITY);
}

TEST(json_is_sent_to_those_who_prefer_it)
{
    EXPECT(http_prefers_json(SLICE("application/json")));
    EXPECT(http_prefers_json(SLICE("text/html;q=0.9, application/json")));
    EXPECT(!http_prefers_json(SLICE("text/html, application/json;q=0.9")));
    EXPECT(!http_prefers_json(SLICE("application/json;q=0")));
    EXPECT(!http_prefers_json(SLICE("*/*")));
    EXPECT(!http_prefers_json(SLICE("")));
}

TEST(media_types_are_compared_without_parameters_and_case)
{
    EXPECT(
        http_media_type_is(SLICE("Application/JSON ; charset=utf-8"), SLICE("application/json")));
    EXPECT(!http_media_type_is(SLICE("application/jsonx"), SLICE("application/json")));
    EXPECT(!http_media_type_is(SLICE(""), SLICE("application/json")));
}

TEST(entity_tags_match_weakly_in_lists)
{
    EXPECT(http_etag_matches(SLICE("\"a\", W/\"b\""), SLICE("W/\"b\"")));
    EXPECT(http_etag_matches(SLICE("\"b\""), SLICE("W/\"b\"")));
    EXPECT(http_etag_matches(SLICE("*"), SLICE("\"b\"")));
    EXPECT(!http_etag_matches(SLICE("\"a\", b"), SLICE("\"b\"")));
    EXPECT(!http_etag_matches(SLICE(""), SLICE("\"b\"")));
}

TEST(a_cookie_is_found_by_its_exact_name)
{
    static const struct {
        const char *cookies, *value; /* NULL: none */
    } cases[] = {{"a=1", "1"},        {"a=1; b=2", "1"},    {"b=2;a=1", "1"}, {" b=2 ;  a=1 ", "1"},
                 {"a=", ""},          {"a=\"1\"", "1"},     {"a=1=2", "1=2"}, {"a=1; a=2", "1"},
                 {"a=x y; a=2", "2"}, {"", NULL},           {"A=1", NULL},    {"aa=1", NULL},
                 {"a", NULL},         {"a =1", NULL},       {"b=a=1", NULL},  {"a=\"1", NULL},
                 {"a=1,2", NULL},     {"a=\xc3\xbc", NULL}, {";;=;a", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Slice value = SLICE("untouched");
        bool found = http_cookie(slice_from(cases[i].cookies), SLICE("a"), &value);
        EXPECT(found == (cases[i].value != NULL));
        EXPECT_SLICE(value, found ? slice_from(cases[i].value) : SLICE("untouched"));
    }
}

TEST(an_origin_is_a_scheme_and_a_host)
{
    static const char *const bad[] = {"",         "a",          "http:/a",    "https://",
                                      "http:///", "http://a/b", "http://a//", "http://a b",
                                      "ftp://a",  "http://a@b"};
    HttpOrigin origin;
    Reason reason = {0};
    EXPECT_STATUS(http_parse_origin(SLICE("https://a.example:8443/"), &origin, NULL), STATUS_OK);
    EXPECT_SLICE(origin.text, SLICE("https://a.example:8443"));
    EXPECT(origin.is_secure);
    EXPECT_STATUS(http_parse_origin(SLICE("http://[::1]:80"), &origin, NULL), STATUS_OK);
    EXPECT(!origin.is_secure);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        EXPECT_STATUS(http_parse_origin(slice_from(bad[i]), &origin, &reason), STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), SLICE("public_url"));
}

TEST(a_path_of_our_own_does_not_leave_the_site)
{
    static const char *const ours[] = {"/", "/a", "/a//b", "/a?b=//c", "/\xc3\xbc"};
    static const char *const others[] = {"",     "a",       "//a",      "/\\a",
                                         "/a b", "/a\r\nb", "http://a", "/\t/a"};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        EXPECT(http_is_own_path(slice_from(ours[i])));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        EXPECT(!http_is_own_path(slice_from(others[i])));
}
