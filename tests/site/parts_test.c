/* parts_test.c -- rows, small curves, addresses, topics: what pages are made of, without a store. */
#include "draw/markdown.h"
#include "site/live.h"
#include "site/pages.h"
#include "site/views.h"
#include "test.h"

static bool has(Slice text, const char *part)
{
    return memmem(text.data, text.size, part, strlen(part)) != NULL;
}

static PolicySummary summary(void)
{
    return (PolicySummary){.id = 12,
                           .name = SLICE("<script>\"x\"</script>"),
                           .address = SLICE("/policies/12-script-x-script"),
                           .category_name = SLICE("A & B"),
                           .party_name = SLICE("<i>"),
                           .summary = SLICE("<b>bold</b>"),
                           .rank = 3,
                           .votes = -12345,
                           .total = 7};
}

TEST(a_row_says_rank_name_votes_and_what_is_mine_and_nothing_becomes_markup)
{
    ARENA_SCOPE Arena *arena = arena_new();
    BUFFER_SCOPE Buffer out = {0};
    PolicySummary row = summary();
    row.mine = 40;
    ranking_row(&out, &row, &(RankList){.arena = arena});
    Slice text = buffer_slice(&out);
    EXPECT(has(text, "&lt;script&gt;&quot;x&quot;&lt;/script&gt;"));
    EXPECT(has(text, "A &amp; B") && has(text, "&lt;i&gt;"));
    EXPECT(!has(text, "<script") && !has(text, "<i>"));
    EXPECT(has(text, "data-policy=\"12\"") && has(text, "href=\"/policies/12-script-x-script\""));
    EXPECT(has(text, "<strong data-votes>\u221212\u202f345</strong>"));
    EXPECT(has(text, "you hold 40"));
}

TEST(what_is_mine_stands_only_where_something_is)
{
    ARENA_SCOPE Arena *arena = arena_new();
    BUFFER_SCOPE Buffer out = {0};
    PolicySummary row = summary();
    ranking_row(&out, &row, &(RankList){.arena = arena});
    EXPECT(!has(buffer_slice(&out), "you hold"));
}

TEST(an_item_of_a_list_escapes_name_and_summary)
{
    BUFFER_SCOPE Buffer out = {0};
    PolicySummary item = summary();
    policy_item(&out, &item, 0);
    EXPECT(has(buffer_slice(&out), "&lt;b&gt;bold&lt;/b&gt;"));
    EXPECT(!has(buffer_slice(&out), "<script"));
}

TEST(arrows_have_words)
{
    static const struct {
        PolicySummary summary;
        const char *words;
    } CASES[] = {
        {{.is_new = true}, "new"},
        {{.has_change = true, .change = 3}, "up </span>3"},
        {{.has_change = true, .change = -2}, "down </span>2"},
        {{.has_change = true}, "same place as yesterday"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        BUFFER_SCOPE Buffer out = {0};
        rank_change(&out, &CASES[i].summary);
        EXPECT(has(buffer_slice(&out), CASES[i].words));
    }
    BUFFER_SCOPE Buffer none = {0};
    rank_change(&none, &(PolicySummary){0});
    EXPECT_I64(none.size, 0);
}

TEST(a_curve_stays_in_its_frame)
{
    ARENA_SCOPE Arena *arena = arena_new();
    static const int64_t FLAT[3] = {0, 0, 0}, LOST[3] = {-5, -5, -5};
    static const int64_t HUGE_DAYS[3] = {0, INT64_MAX, INT64_MAX / 2};
    EXPECT(has(sparkline(FLAT, 3, arena).html, "points=\"1,14 29,14 57,14 \""));
    EXPECT(has(sparkline(LOST, 3, arena).html, "points=\"1,14 29,14 57,14 \""));
    EXPECT(has(sparkline(HUGE_DAYS, 3, arena).html, "points=\"1,14 29,2 57,8 \""));
    EXPECT(has(sparkline(FLAT, 1, arena).html, "points=\"1,14 \""));
    EXPECT(has(sparkline(FLAT, 0, arena).html, "points=\"\"/></svg>"));
}

TEST(addresses_are_readable_and_can_stand_in_a_header)
{
    ARENA_SCOPE Arena *arena = arena_new();
    EXPECT_SLICE(policy_address(7, SLICE("Clean rivers!"), arena),
                 SLICE("/policies/7-clean-rivers"));
    EXPECT_SLICE(policy_address(7, SLICE("Öffentliche Bäder"), arena),
                 SLICE("/policies/7-offentliche-bader"));
    EXPECT_SLICE(policy_address(7, SLICE("!?"), arena), SLICE("/policies/7"));
    EXPECT_SLICE(policy_address(7, SLICE("\u0438"), arena), SLICE("/policies/7-%D0%B8"));
    EXPECT_SLICE(group_address(GROUP_PARTY, 3, SLICE("Green Shard"), arena),
                 SLICE("/parties/3-green-shard"));
}

TEST(a_text_is_cut_between_words_and_never_inside_a_character)
{
    ARENA_SCOPE Arena *arena = arena_new();
    EXPECT_SLICE(text_cut(SLICE("short"), 20, arena), SLICE("short"));
    EXPECT_SLICE(text_cut(SLICE("clean rivers for all"), 18, arena), SLICE("clean rivers\u2026"));
    Slice cut = text_cut(SLICE("\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4"), 10, arena);
    EXPECT(cut.size <= 10 && slice_is_utf8(cut));
}

TEST(more_heat_comes_first_and_the_lower_id_on_a_tie)
{
    TrendingGroup votes = {.id = 2, .moved = 25}, fresh = {.id = 1, .moved = 6, .fresh = 2};
    TrendingGroup same = {.id = 3, .moved = 25};
    EXPECT(trending_order(&fresh, &votes) < 0 && trending_order(&votes, &fresh) > 0);
    EXPECT(trending_order(&votes, &same) < 0 && trending_order(&same, &votes) > 0);
}

TEST(topics_have_one_name_each)
{
    LiveTopic topic;
    EXPECT(live_parse(SLICE("front"), &topic) && topic.kind == LIVE_FRONT);
    EXPECT(live_parse(SLICE("ranking/0"), &topic) && topic.query.days == 0);
    EXPECT(live_parse(SLICE("ranking/31"), &topic) && topic.query.days == 31);
    EXPECT(live_parse(SLICE("ranking/3/category/5"), &topic) && topic.query.category == 5);
    EXPECT(live_parse(SLICE("ranking/3/party/9"), &topic) && topic.query.party == 9);
    EXPECT(live_parse(SLICE("policy/12"), &topic) && topic.policy == 12);
    static const char *const NONE[] = {"",
                                       "Front",
                                       "fronts",
                                       "ranking",
                                       "ranking/",
                                       "ranking/32",
                                       "ranking/03",
                                       "ranking/-1",
                                       "ranking/3/",
                                       "ranking/3/category/",
                                       "policy/",
                                       "policy/0",
                                       "policy/012",
                                       "policy/12/",
                                       "ranking/3/category/5/x",
                                       "policy/x",
                                       "ranking/3/tag/5",
                                       "policy/18446744073709551615",
                                       "ranking//category/3"};
    for (size_t i = 0; i < sizeof NONE / sizeof NONE[0]; i++)
        if (live_parse(slice_from(NONE[i]), &topic))
            test_fail(__FILE__, __LINE__, "%s is no topic", NONE[i]);
}
