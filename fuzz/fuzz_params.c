/* fuzz_params.c -- any bytes as a query, a form or a JSON body for a route with every kind of parameter.
 *
 * What gets through keeps its kind and bounds; what does not is refused with a rule in words. */
#include "fuzz.h"
#include "web/route.h"

static Status nothing(struct WebRequest *request)
{
    (void)request;
    return STATUS_OK;
}

static const char *const WORDS[] = {"red", "green", NULL};

#define PARAMS(from)                                                                          \
    {"i", from, WEB_ID, .help = "x"},                                                         \
        {"n", from, WEB_NUMBER, .least = -5, .most = 10, .fallback = "7", .help = "x"},       \
        {"l", from, WEB_LINE, .least = 2, .most = 5, .optional = true, .help = "x"},          \
        {"t", from, WEB_TEXT, .least = 0, .most = 20, .optional = true, .help = "x"},         \
        {"w", from, WEB_WORD, .words = WORDS, .fallback = "red", .help = "x"},                \
        {"s", from, WEB_SWITCH, .optional = true, .help = "x"},                               \
        {"h", from, WEB_NUMBERS, .least = -1, .most = 9, .most_count = 40, .optional = true}, \
        {"k", from, WEB_TEXTS, .least = 1, .most = 3, .most_count = 3, .optional = true},     \
    {                                                                                         \
        "o", from, WEB_OPAQUE, .least = 1, .most = 4, .optional = true, .help = "x"           \
    }

static const WebRoute ROUTES[] = {
    {WEB_GET, "/x", nothing, .help = "x", .params = {PARAMS(WEB_QUERY)}},
    {WEB_POST, "/x", nothing, .help = "x", .body_bytes = 9999, .params = {PARAMS(WEB_FORM)}},
    {WEB_PUT, "/x", nothing, .help = "x", .body_bytes = 9999, .params = {PARAMS(WEB_JSON)}},
};

static int64_t character_count(Slice text)
{
    int64_t count = 0;
    for (size_t i = 0; i < text.size; i++)
        count += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    return count;
}

static void check_text(const WebValue *value, int64_t least, int64_t most)
{
    if (!value->present)
        return;
    CHECK(slice_is_utf8(value->text) && slice_find(value->text, '\r') == value->text.size);
    CHECK(character_count(value->text) >= least && character_count(value->text) <= most);
}

static void check_lists(const WebValue *numbers, const WebValue *texts)
{
    CHECK(numbers->count <= 40 && texts->count <= 3);
    for (size_t i = 0; i < numbers->count; i++) {
        CHECK(numbers->numbers[i].id >= 1 && numbers->numbers[i].id <= INT64_MAX);
        CHECK(numbers->numbers[i].number >= -1 && numbers->numbers[i].number <= 9);
        CHECK(i == 0 || numbers->numbers[i].id > numbers->numbers[i - 1].id);
    }
    for (size_t i = 0; i < texts->count; i++)
        CHECK(slice_is_utf8(texts->texts[i]) && character_count(texts->texts[i]) <= 3);
}

static void feed(const WebRoute *route, const WebInput *input, Arena *arena)
{
    WebValue values[WEB_PARAMS_MAX];
    Reason reason = {0};
    if (route_values(route, input, arena, values, &reason) != STATUS_OK) {
        CHECK(reason.rule[0] != '\0');
        return;
    }
    CHECK(values[0].present && values[0].number >= 1);
    CHECK(values[1].present && values[1].number >= -5 && values[1].number <= 10);
    check_text(&values[2], 2, 5);
    check_text(&values[3], 0, 20);
    CHECK(values[4].present && values[4].number >= 0 && values[4].number <= 1);
    CHECK(values[5].number == 0 || values[5].number == 1);
    check_lists(&values[6], &values[7]);
    check_text(&values[8], 1, 4);
}

/* A number and a name in a path. */
static void feed_slug(Slice text, Arena *arena)
{
    static const WebRoute route = {WEB_GET, "/{p}", nothing, .help = "x",
                                   .params = {{"p", WEB_PATH, WEB_SLUG, .help = "x"}}};
    WebInput input = {.captures = &text, .query = SLICE_EMPTY, .form = SLICE_EMPTY};
    WebValue value;
    if (route_values(&route, &input, arena, &value, NULL) == STATUS_OK)
        CHECK(value.number >= 1 && slice_is_utf8(value.text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ARENA_SCOPE Arena *arena = arena_new();
    JSON_SCOPE Json *json = NULL;
    Slice text = slice_of(data, size);
    feed_slug(text, arena);
    feed(&ROUTES[0], &(WebInput){.query = text, .form = SLICE_EMPTY}, arena);
    feed(&ROUTES[1], &(WebInput){.query = SLICE_EMPTY, .form = text}, arena);
    if (json_parse(text, (JsonBounds){9999, SIZE_MAX}, &json, NULL) == STATUS_OK)
        feed(&ROUTES[2], &(WebInput){.query = SLICE_EMPTY, .form = SLICE_EMPTY, .json = json},
             arena);
    return 0;
}
