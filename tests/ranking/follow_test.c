/* follow_test.c -- another instance follows the marks of counts: a mark may be there before the count that it announces. */
#include "site.h"

static Other other;

static void follow(void)
{
    bool changed;
    EXPECT_STATUS(ranking_follow(other.ranking, clock_now_us(site.world.clock), &changed),
                  STATUS_OK);
}

/* It looks between any two calls of the projection, so also when the mark is there and the count is not; all in one second. */
TEST(who_saw_the_mark_before_the_count_looks_again)
{
    site_is_shared = true;
    site_begin(7);
    uint64_t policy = site_create(1, 0);
    other = site_other();
    site_project();
    EXPECT_STATUS(ranking_load(other.ranking, other.votes), STATUS_OK);
    for (int i = 1; i <= 5; i++) {
        site_hold((size_t)i, policy, 10 * i);
        site.between.happen = follow;
        site.between.armed = true;
        site_project();
        site.between.armed = false;
        test_world_pass(&site.own, US_PER_S);
        follow();
        site_check(other.ranking);
        test_world_pass(&site.own, 10 * US_PER_S);
    }
    site_part(&other);
    site_end();
}
