/* text_test.c -- what a policy's text may be, at the exact bounds. */
#include "policies/policies_private.h"
#include "test.h"

static Arena *arena;

/* `count` times a character of one to four bytes. */
static Slice repeated(const char *character, size_t count)
{
    size_t size = strlen(character);
    char *text = arena_bytes(arena, size * count);
    for (size_t i = 0; i < count; i++)
        memcpy(text + i * size, character, size);
    return slice_of(text, size * count);
}

static PolicyText good_text(void)
{
    if (arena == NULL)
        arena = arena_new();
    arena_reset(arena);
    return (PolicyText){.name = SLICE("Free buses"),
                        .description = SLICE("All of them.\r\n\nAlways."),
                        .rationale = SLICE_EMPTY,
                        .category = 1};
}

static void expect_text(const PolicyText *text, Status expected, const char *field)
{
    Reason reason = {.field = "", .rule = ""};
    EXPECT_STATUS(policy_check_text(text, &reason), expected);
    EXPECT_SLICE(slice_from(reason.field), slice_from(field));
    EXPECT((reason.rule[0] == '\0') == (expected == STATUS_OK));
}

static const char *const CHARACTERS[] = {"x", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x97\xB3"};

TEST(bounds_are_in_characters)
{
    for (int i = 0; i < 4; i++) {
        PolicyText text = good_text();
        text.name = repeated(CHARACTERS[i], POLICY_NAME_LEAST);
        expect_text(&text, STATUS_OK, "");
        text.name = repeated(CHARACTERS[i], POLICY_NAME_LEAST - 1);
        expect_text(&text, STATUS_INVALID, "name");
        text.name = repeated(CHARACTERS[i], POLICY_NAME_MAX);
        expect_text(&text, STATUS_OK, "");
        text.name = repeated(CHARACTERS[i], POLICY_NAME_MAX + 1);
        expect_text(&text, STATUS_INVALID, "name");
        text = good_text();
        text.description = repeated(CHARACTERS[i], POLICY_TEXT_MAX);
        text.rationale = text.description;
        expect_text(&text, STATUS_OK, "");
        text.rationale = repeated(CHARACTERS[i], POLICY_TEXT_MAX + 1);
        expect_text(&text, STATUS_INVALID, "rationale");
        text.description = text.rationale;
        expect_text(&text, STATUS_INVALID, "description");
    }
}

TEST(a_name_is_one_line_that_shows_something)
{
    static const char *const bad[] = {
        "",
        "   ",
        " abc",
        "abc ",
        "a\nbc",
        "a\tbc",
        "a\x7F"
        "bc",
        "a\xC2\x85"
        "bc",
        "a\xFF"
        "bc",
        "\xE2\x80\x8B\xE2\x80\x8B\xE2\x80\x8B",
        "\xED\xA0\x80xx",
        "\xE1\x85\x9F\xE1\x85\x9F\xE1\x85\x9F",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        PolicyText text = good_text();
        text.name = slice_from(bad[i]);
        expect_text(&text, STATUS_INVALID, "name");
    }
    PolicyText text = good_text();
    text.name = slice_of("a\0b", 3);
    expect_text(&text, STATUS_INVALID, "name");
}

TEST(prose_has_line_ends_and_no_other_control_characters)
{
    for (int byte = 0; byte < 0x80; byte++) {
        PolicyText text = good_text();
        char c = (char)byte;
        text.description = slice_of(&c, 1);
        bool good = byte == '\n' || byte == '\r' || (byte >= ' ' && byte != 0x7F);
        expect_text(&text, good ? STATUS_OK : STATUS_INVALID, good ? "" : "description");
    }
}

TEST(links_are_http_and_bounded)
{
    static const struct {
        const char *link;
        bool good;
    } links[] = {
        {"http://a", true},
        {"https://example.org/a?b=c#d", true},
        {"HTTPS://EXAMPLE.ORG", true},
        {"https://b\xC3\xBC"
         "cher.example/",
         true},
        {"", false},
        {"http://", false},
        {"https:///path", false},
        {"https://?q", false},
        {"https://@host", false},
        {"javascript:alert(1)", false},
        {"ftp://example.org", false},
        {"//example.org", false},
        {"example.org", false},
        {"https://a b", false},
        {"https://a\"b", false},
        {"https://a<b", false},
        {"https://a>b", false},
        {"https://a\nb", false},
        {" https://a", false},
    };
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        PolicyText text = good_text();
        text.links[0] = slice_from(links[i].link);
        text.link_count = 1;
        expect_text(&text, links[i].good ? STATUS_OK : STATUS_INVALID,
                    links[i].good ? "" : "links");
    }
}

TEST(there_are_at_most_ten_links_of_510_characters)
{
    PolicyText text = good_text();
    char *link = arena_bytes(arena, POLICY_LINK_MAX + 1);
    memset(link, 'x', POLICY_LINK_MAX + 1);
    memcpy(link, "https://", 8);
    for (size_t i = 0; i < POLICY_LINKS_MAX; i++)
        text.links[i] = slice_of(link, POLICY_LINK_MAX);
    text.link_count = POLICY_LINKS_MAX;
    expect_text(&text, STATUS_OK, "");
    text.links[POLICY_LINKS_MAX - 1].size++;
    expect_text(&text, STATUS_INVALID, "links");
    text.link_count = POLICY_LINKS_MAX + 1;
    expect_text(&text, STATUS_INVALID, "links");
}

TEST(a_category_is_a_must)
{
    PolicyText text = good_text();
    text.category = 0;
    expect_text(&text, STATUS_INVALID, "category");
}

TEST(names_that_look_alike_fold_to_the_same)
{
    static const char *const pairs[][2] = {
        {"Stra\xC3\x9F"
         "e",
         "STRASSE"},                        /* sharp s */
        {"\xC3\x89tat", "e\xCC\x81tat"},    /* composed and not */
        {"\xEF\xBC\xA1\xEF\xBC\xA2", "ab"}, /* full width */
        {"a\xC2\xAD"
         "b",
         "AB"}, /* soft hyphen */
    };
    (void)good_text();
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        EXPECT_SLICE(policy_fold(slice_from(pairs[i][0]), arena),
                     policy_fold(slice_from(pairs[i][1]), arena));
    EXPECT(!slice_equal(policy_fold(SLICE("ab"), arena), policy_fold(SLICE("ac"), arena)));
}
