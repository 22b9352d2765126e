/* policy_test.c -- pure parts of a policy's pages: moments that people type, the ends of days, two edits put together, forms. */
#include "operations/rank_cache.h"
#include "site/policies/edit_views.h"
#include "test.h"

static void expect_hour(const char *text, int64_t seconds)
{
    uint32_t hour = 0;
    Reason reason = {0};
    EXPECT_STATUS(history_hour("until", slice_from(text), &hour, &reason), STATUS_OK);
    EXPECT_I64(hour, seconds / 3600 - 1);
}

TEST(a_day_means_its_end_and_an_hour_what_was_over_then)
{
    expect_hour("2026-01-31", 1769904000);
    expect_hour("2026-01-31T00:00", 1769817600);
    expect_hour("2026-01-31T12:59", 1769860800);
    expect_hour(" 2026-01-31 12:00 ", 1769860800);
    expect_hour("2024-02-29", 1709251200);
}

TEST(what_is_no_moment_is_told_with_an_example)
{
    static const char *const WRONG[] = {"",           "yesterday",    "2026-1-31",
                                        "2026-13-01", "2026-00-10",   "2026-01-31T24:00",
                                        "1969-12-31", "2026-01-31T1", "2026-01-31T12",
                                        "2026-01-32"};
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        uint32_t hour = 77;
        Reason reason = {0};
        EXPECT_STATUS(history_hour("until", slice_from(WRONG[i]), &hour, &reason), STATUS_INVALID);
        EXPECT(strcmp(reason.field, "until") == 0 && strstr(reason.rule, "2026-01-31") != NULL);
        EXPECT_I64(hour, 77);
    }
}

TEST(days_end_with_their_last_hour_and_today_with_the_last_that_is_over)
{
    uint32_t hours[5];
    EXPECT_I64(rank_curve_days(100 * 24 + 5, 3, hours), 3);
    EXPECT_I64(hours[0], 98 * 24 + 23);
    EXPECT_I64(hours[1], 99 * 24 + 23);
    EXPECT_I64(hours[2], 100 * 24 + 5);
    EXPECT_I64(rank_curve_days(24 + 23, 5, hours), 2);
    EXPECT_I64(hours[0], 23);
    EXPECT_I64(hours[1], 47);
}

TEST(two_edits_of_different_fields_are_put_together)
{
    PolicyText base = {.name = SLICE("Rivers"),
                       .description = SLICE("All."),
                       .rationale = SLICE("Why."),
                       .links = {SLICE("https://a.example")},
                       .link_count = 1,
                       .category = 1,
                       .party = 2};
    PolicyText now = base, mine = base, text;
    now.name = SLICE("Lakes");
    now.category = 3;
    now.links[0] = SLICE("https://b.example");
    mine.description = SLICE("Some.");
    mine.party = 0;
    edit_combine(&base, &now, &mine, &text);
    EXPECT_SLICE(text.name, SLICE("Lakes"));
    EXPECT_SLICE(text.description, SLICE("Some."));
    EXPECT_SLICE(text.rationale, SLICE("Why."));
    EXPECT_SLICE(text.links[0], SLICE("https://b.example"));
    EXPECT(text.link_count == 1 && text.category == 3 && text.party == 0);
}

TEST(a_field_that_both_changed_is_mine)
{
    PolicyText base = {
        .name = SLICE("Rivers"), .links = {SLICE("https://a.example")}, .link_count = 1};
    PolicyText now = base, mine = base, text;
    now.name = SLICE("Lakes");
    now.link_count = 0;
    mine.name = SLICE("Seas");
    mine.links[0] = SLICE("https://c.example");
    edit_combine(&base, &now, &mine, &text);
    EXPECT_SLICE(text.name, SLICE("Seas"));
    EXPECT_SLICE(text.links[0], SLICE("https://c.example"));
    EXPECT_I64(text.link_count, 1);
}

TEST(all_faults_of_a_text_are_told_in_the_order_of_the_form)
{
    PolicyText text = {.name = SLICE("ab"),
                       .description = SLICE("\x01"),
                       .rationale = SLICE_EMPTY,
                       .links = {SLICE("ftp://example.org")},
                       .link_count = 1};
    Reason reasons[OPERATION_FAULTS_MAX] = {0};
    EXPECT_I64(policy_text_faults(text, reasons), 4);
    EXPECT_SLICE(slice_from(reasons[0].field), SLICE("name"));
    EXPECT_SLICE(slice_from(reasons[1].field), SLICE("description"));
    EXPECT_SLICE(slice_from(reasons[2].field), SLICE("links"));
    EXPECT_SLICE(slice_from(reasons[3].field), SLICE("category"));
    text = (PolicyText){.name = SLICE("Clean rivers"),
                        .description = SLICE_EMPTY,
                        .rationale = SLICE_EMPTY,
                        .category = 1};
    EXPECT_I64(policy_text_faults(text, reasons), 0);
}
