/* fuzz_site.c -- any bytes as a topic of live events, and any text as what a person writes.
 *
 * A topic that is accepted has one name: written again it is the same. A text becomes HTML in which nothing runs, one line of words,
 * and an address, all within their bounds. */
#include "draw/markdown.h"
#include "fuzz.h"
#include "operations/policy_summary.h"
#include "site/live.h"

static void check_topic(Slice text, Arena *arena)
{
    LiveTopic topic;
    Slice name = SLICE("front");
    if (!live_parse(text, &topic))
        return;
    uint64_t group = topic.query.category != 0 ? topic.query.category : topic.query.party;
    if (topic.kind == LIVE_POLICY)
        name = arena_print(arena, "policy/%llu", (unsigned long long)topic.policy);
    else if (topic.kind == LIVE_RANKING && group == 0)
        name = arena_print(arena, "ranking/%u", topic.query.days);
    else if (topic.kind == LIVE_RANKING)
        name = arena_print(arena, "ranking/%u/%s/%llu", topic.query.days,
                           topic.query.category != 0 ? "category" : "party",
                           (unsigned long long)group);
    CHECK(slice_equal(name, text));
}

static bool has(Slice text, const char *part)
{
    return memmem(text.data, text.size, part, strlen(part)) != NULL;
}

static void check_text(Slice text, Arena *arena)
{
    Slice html = markdown_html(text, arena).html, words = markdown_words(text, 200, arena);
    Slice address = policy_address(1, text, arena);
    CHECK(!has(html, "<script") && !has(html, "<img") && !has(html, "href=\"javascript:"));
    CHECK(words.size <= 200 && slice_is_utf8(words));
    CHECK(address.size <= sizeof "/policies/1-" + 3 * 60);
    for (size_t i = 0; i < address.size; i++)
        CHECK(address.data[i] > ' ' && address.data[i] < 0x7F);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice text = slice_of(data, size);
    check_topic(text, arena);
    if (slice_is_utf8(text))
        check_text(text, arena);
    return 0;
}
