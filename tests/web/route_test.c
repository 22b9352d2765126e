/* route_test.c -- finding routes, and tables that contradict themselves. (Values: test_http.py, on every kind.) */
#include "web/route.h"

#include "test.h"

static Status nothing(struct WebRequest *request)
{
    (void)request;
    return STATUS_OK;
}

static const char *const WORDS[] = {"a", "b", NULL};

static const WebRoute ROUTES[] = {
    {WEB_GET, "/", nothing, .help = "Root."},
    {WEB_GET, "/policies", nothing, .help = "List."},
    {WEB_POST, "/policies", nothing, .help = "Create."},
    {WEB_GET, "/policies/new", nothing, .help = "Form."},
    {WEB_GET, "/policies/{id}", nothing, .help = "One.",
     .params = {{"id", WEB_PATH, WEB_ID, .help = "x"}}},
    {WEB_GET, "/policies/{id}/votes/{day}", nothing, .help = "Two.",
     .params = {{"id", WEB_PATH, WEB_ID, .help = "x"},
                {"day", WEB_PATH, WEB_NUMBER, .least = 1, .most = 9}}},
};
enum { COUNT = sizeof ROUTES / sizeof ROUTES[0] };

static WebMatch match_of(WebMethod method, const char *path)
{
    Routes routes = routes_of(ROUTES, COUNT);
    WebMatch match = routes_find(&routes, method, slice_from(path));
    routes_free(&routes);
    return match;
}

static const WebRoute *found(WebMethod method, const char *path)
{
    return match_of(method, path).route;
}

TEST(a_route_is_found_by_method_and_path)
{
    EXPECT(found(WEB_GET, "/") == &ROUTES[0]);
    EXPECT(found(WEB_GET, "/policies") == &ROUTES[1]);
    EXPECT(found(WEB_POST, "/policies") == &ROUTES[2]);
    EXPECT(found(WEB_GET, "/policies/12") == &ROUTES[4]);
    EXPECT(found(WEB_GET, "/policies/12/votes/3") == &ROUTES[5]);
}

TEST(a_path_with_more_or_fewer_segments_than_any_row_is_not_found)
{
    EXPECT(found(WEB_GET, "/policies/12/votes") == NULL);
    EXPECT(found(WEB_GET, "/policies/") == NULL);
    EXPECT(found(WEB_GET, "//") == NULL);
    EXPECT(found(WEB_GET, "/policies/12/votes/3/") == NULL);
    EXPECT(found(WEB_GET, "/1/2/3/4/5/6/7/8") == NULL);
    EXPECT(found(WEB_GET, "/1/2/3/4/5/6/7/8/9/10/11/12") == NULL);
    EXPECT(found(WEB_GET, "") == NULL);
}

TEST(the_first_row_that_fits_wins)
{
    EXPECT(found(WEB_GET, "/policies/new") == &ROUTES[3]);
}

TEST(what_writes_has_threads_of_its_own)
{
    EXPECT(route_threads(&ROUTES[1]) == WEB_ANSWER);
    EXPECT(route_threads(&ROUTES[2]) == WEB_SAVE);
    EXPECT(route_threads(&(WebRoute){.method = WEB_DELETE}) == WEB_SAVE);
    EXPECT(route_threads(&(WebRoute){.method = WEB_POST, .threads = WEB_ANSWER}) == WEB_ANSWER);
    EXPECT(route_threads(&(WebRoute){.method = WEB_GET, .threads = WEB_PASSWORD}) == WEB_PASSWORD);
}

TEST(a_parameter_that_takes_long_is_computed_however_its_name_is_written)
{
    static const WebRoute PAST = {
        .method = WEB_GET,
        .params = {{.name = "days", .from = WEB_QUERY, .kind = WEB_NUMBER},
                   {.name = "at", .from = WEB_QUERY, .kind = WEB_LINE, .computes = true}}};
    static const char *const LONG[] = {"at=2026-01-31", "days=3&at=x", "%61t=x", "at=&at=x",
                                       "a%74=%32"},
                             *const SHORT[] = {"",      "days=3",         "at=",  "at",
                                               "att=x", "days=at&x=at=3", "%zz=1"};
    ARENA_SCOPE Arena *arena = arena_new();
    for (size_t i = 0; i < sizeof LONG / sizeof LONG[0]; i++)
        EXPECT(route_threads_with(&PAST, slice_from(LONG[i]), arena) == WEB_COMPUTE);
    for (size_t i = 0; i < sizeof SHORT / sizeof SHORT[0]; i++)
        EXPECT(route_threads_with(&PAST, slice_from(SHORT[i]), arena) == WEB_ANSWER);
}

TEST(other_paths_fit_nothing)
{
    static const char *const cases[] = {"/policies/",
                                        "/policies//votes/3",
                                        "/polici",
                                        "/policiess",
                                        "//",
                                        "/policies/1/votes",
                                        "/policies/1/votes/3/",
                                        "/Policies",
                                        "//policies",
                                        "/policies/1/votes/"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        EXPECT(match_of(WEB_GET, cases[i]).allowed == 0);
}

TEST(rows_are_told_apart_by_their_first_bytes_only_where_these_differ)
{
    static const WebRoute rows[] = {
        {WEB_GET, "/a", nothing, .help = "x"},
        {WEB_GET, "/abcdefg", nothing, .help = "x"},
        {WEB_GET, "/abcdefgh", nothing, .help = "x"},
        {WEB_GET, "/abcd/{x}", nothing, .help = "x"},
        {WEB_GET, "/abcdefgh/{x}", nothing, .help = "x"},
        {WEB_GET, "/{x}", nothing, .help = "x"},
    };
    static const struct {
        const char *path;
        int row; /* -1: none */
    } cases[] = {{"/a", 0},        {"/abcdefg", 1},    {"/abcdefgh", 2}, {"/abcd/efg", 3},
                 {"/abcd/e", 3},   {"/abcdefgh/i", 4}, {"/b", 5},        {"/ab", 5},
                 {"/abcdef", 5},   {"/abcdefghi", 5},  {"/", -1},        {"/abcd/", -1},
                 {"/abcde/f", -1}, {"/abcdefgh/", -1}};
    Routes routes = routes_of(rows, sizeof rows / sizeof rows[0]);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const WebRoute *expected = cases[i].row < 0 ? NULL : &rows[cases[i].row];
        EXPECT(routes_find(&routes, WEB_GET, slice_from(cases[i].path)).route == expected);
    }
    routes_free(&routes);
}

TEST(captures_come_in_the_order_of_the_path)
{
    WebMatch match = match_of(WEB_GET, "/policies/a%2Fb/votes/3");
    EXPECT_SLICE(match.captures[0], SLICE("a%2Fb"));
    EXPECT_SLICE(match.captures[1], SLICE("3"));
}

TEST(other_methods_of_a_path_are_told)
{
    WebMatch match = match_of(WEB_DELETE, "/policies");
    EXPECT(match.route == NULL);
    EXPECT_I64(match.allowed, 1u << WEB_GET | 1u << WEB_POST);
}

TEST(methods_are_exact_words)
{
    WebMethod method;
    EXPECT(route_method(SLICE("PATCH"), &method) && method == WEB_PATCH);
    EXPECT(!route_method(SLICE("get"), &method));
    EXPECT(!route_method(SLICE("GE"), &method));
    EXPECT(!route_method(SLICE(""), &method));
}

TEST(a_sound_table_passes)
{
    Reason reason = {0};
    EXPECT_STATUS(routes_check(ROUTES, COUNT, &reason), STATUS_OK);
}

TEST(a_table_that_contradicts_itself_is_refused)
{
    const WebRoute bad[] = {
        {WEB_GET, "no-slash", nothing, .help = "x"},
        {WEB_GET, "/1/2/3/4/5/6/7/8/9", nothing, .help = "x"},
        {WEB_GET, NULL, nothing, .help = "x"},
        {WEB_GET, "/x", NULL, .help = "x"},
        {WEB_GET, "/x", nothing, .help = NULL},
        {WEB_GET, "/x", nothing, .help = "x", .body_bytes = 5},
        {WEB_GET, "/x", nothing, .help = "x", .access = WEB_ROLE},
        {WEB_GET, "/x", nothing, .help = "x", .access = WEB_LOGIN, .roles = 1},
        {WEB_GET, "/{a}", nothing, .help = "x", .access = WEB_LOGIN,
         .params = {{"a", WEB_PATH, WEB_ID, .help = "x"}}},
        {WEB_GET, "/{a}", nothing, .help = "x", .access = WEB_LOGIN, .whose = WEB_OWN_OR_ROLE,
         .params = {{"a", WEB_PATH, WEB_ID, .help = "x"}}},
        {WEB_GET, "/{id}", nothing, .help = "x"},
        {WEB_GET, "/{id}", nothing, .help = "x",
         .params = {{"id", WEB_QUERY, WEB_ID, .help = "x"}}},
        {WEB_GET, "/x", nothing, .help = "x", .params = {{"id", WEB_PATH, WEB_ID, .help = "x"}}},
        {WEB_GET, "/{a}/{b}", nothing, .help = "x",
         .params = {{"b", WEB_PATH, WEB_ID, .help = "x"}, {"a", WEB_PATH, WEB_ID, .help = "x"}}},
        {WEB_GET, "/{a}", nothing, .help = "x",
         .params = {{"a", WEB_PATH, WEB_ID, .optional = true}}},
        {WEB_GET, "/x", nothing, .help = "x",
         .params = {{"a", WEB_QUERY, WEB_ID, .help = "x"}, {"a", WEB_QUERY, WEB_ID, .help = "x"}}},
        {WEB_GET, "/x", nothing, .help = "x", .params = {{"a", WEB_QUERY, WEB_LINE, .help = "x"}}},
        {WEB_GET, "/x", nothing, .help = "x",
         .params = {{"a", WEB_QUERY, WEB_NUMBER, .least = 2, .most = 1}}},
        {WEB_GET, "/x", nothing, .help = "x",
         .params = {{"a", WEB_QUERY, WEB_TEXT, .least = -1, .most = 1}}},
        {WEB_GET, "/x", nothing, .help = "x", .params = {{"a", WEB_QUERY, WEB_WORD, .help = "x"}}},
        {WEB_GET, "/x", nothing, .help = "x", .params = {{"a", WEB_QUERY, WEB_ID, .words = WORDS}}},
        {WEB_POST, "/x", nothing, .help = "x", .params = {{"a", WEB_FORM, WEB_ID, .help = "x"}}},
        {WEB_POST, "/x", nothing, .help = "x", .body_bytes = 9,
         .params = {{"a", WEB_FORM, WEB_ID, .help = "x"}, {"b", WEB_JSON, WEB_ID, .help = "x"}}},
        {WEB_GET, "/x", nothing, .help = "x", .params = {{"a", WEB_QUERY, WEB_SLUG, .help = "x"}}},
        {WEB_GET, "/x", nothing, .help = "x",
         .params = {{"a", WEB_QUERY, WEB_ID, .most_count = 5, .help = "x"}}},
        {WEB_GET, "/x", nothing, .help = "x",
         .params = {{"a", WEB_QUERY, WEB_NUMBERS, .most = 5, .help = "x"}}},
        {WEB_GET, "/x", nothing, .help = "x",
         .params = {{"a", WEB_QUERY, WEB_NUMBERS, .most = 5, .most_count = WEB_COUNT_MAX + 1}}},
        {WEB_GET, "/x", nothing, .help = "x",
         .params = {{"a", WEB_QUERY, WEB_TEXTS, .most = 5, .most_count = 5, .fallback = "x"}}},
        {WEB_GET, "/{a}", nothing, .help = "x",
         .params = {{"a", WEB_PATH, WEB_TEXTS, .most = 5, .most_count = 5, .help = "x"}}},
        {WEB_GET, "/x", nothing, .help = "x",
         .params = {{"a", WEB_QUERY, WEB_OPAQUE, .help = "x"}}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        Reason reason = {0};
        EXPECT_STATUS(routes_check(&bad[i], 1, &reason), STATUS_INVALID);
        EXPECT(reason.rule[0] != '\0');
    }
}

static const WebRoute ECHO = {
    WEB_GET, "/x", nothing, .help = "x",
    .params = {
        {"n", WEB_QUERY, WEB_NUMBER, .least = INT64_MIN, .most = INT64_MAX, .fallback = "-3"},
        {"w", WEB_QUERY, WEB_WORD, .words = WORDS, .optional = true}}};

static Status values_of(const char *query, WebValue *values)
{
    ARENA_SCOPE Arena *arena = arena_new();
    WebInput input = {.query = slice_from(query)};
    return route_values(&ECHO, &input, arena, values, NULL);
}

TEST(the_whole_range_of_numbers_can_be_a_bound)
{
    WebValue values[WEB_PARAMS_MAX];
    EXPECT_STATUS(values_of("n=-9223372036854775808", values), STATUS_OK);
    EXPECT_I64(values[0].number, INT64_MIN);
    EXPECT_STATUS(values_of("n=9223372036854775808", values), STATUS_INVALID);
    EXPECT_STATUS(values_of("", values), STATUS_OK);
    EXPECT_I64(values[0].number, -3);
    EXPECT(!values[1].present);
}

TEST(values_stay_untouched_on_failure)
{
    WebValue values[WEB_PARAMS_MAX] = {{.number = 77}, {.number = 78}};
    EXPECT_STATUS(values_of("n=5&w=c", values), STATUS_INVALID);
    EXPECT_I64(values[0].number, 77);
    EXPECT_I64(values[1].number, 78);
}
