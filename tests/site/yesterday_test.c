/* yesterday_test.c -- the ranks of a day ago, on a whole ledger with a clock of the test's own. */
#include "operations/yesterday.h"

#include "site.h"

static bool has_arrow(Yesterday *yesterday, uint64_t policy, uint32_t days)
{
    PolicySummary summary = {.id = policy, .rank = 1};
    RankQuery query = {.days = days};
    yesterday_compare(yesterday, &query, &summary);
    return summary.has_change;
}

TEST(arrows_are_of_the_window_in_force_now)
{
    site_begin(1);
    uint64_t first = site_create(1, 0), second = site_create(1, 0);
    site_hold(0, first, 30);
    site_hold(1, second, 20);
    site_project();
    test_world_pass(&site.own, 30 * HOUR_US);
    App app = {.world = site.world, .accounts = site.accounts, .ranking = site.ranking};
    Yesterday *yesterday = yesterday_new(&app);
    EXPECT(!has_arrow(yesterday, first, SITE_WINDOW)); /* nothing is known yet */
    EXPECT_STATUS(yesterday_refresh(yesterday), STATUS_OK);
    EXPECT(has_arrow(yesterday, first, SITE_WINDOW) && has_arrow(yesterday, second, 0));
    EXPECT(!has_arrow(yesterday, first, 7));
    Reason reason = {.rule = ""};
    EXPECT_STATUS(settings_set(accounts_settings(site.accounts), SLICE("window_days"), SLICE("7"),
                               0, &reason),
                  STATUS_OK);
    EXPECT_STATUS(yesterday_refresh(yesterday), STATUS_OK);
    EXPECT(!has_arrow(yesterday, first, 7)); /* not in force yet */
    test_world_pass(&site.own, 20 * 60 * US_PER_S);
    EXPECT_STATUS(yesterday_refresh(yesterday), STATUS_OK);
    EXPECT(has_arrow(yesterday, first, 7) && has_arrow(yesterday, second, 0));
    EXPECT(!has_arrow(yesterday, first, SITE_WINDOW));
    yesterday_free(yesterday);
    site_end();
}
