/* ranking_test.c -- the ranking in memory against everything added up from the voters' logs. */
#include "site.h"

TEST(whatever_happens_the_ranking_is_what_the_logs_say)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        site_begin(seed);
        for (int i = 0; i < 260; i++) {
            site_step();
            if (i % 20 == 19)
                site_check(site.ranking);
        }
        site_check(site.ranking);
        site_end();
    }
}

TEST(a_restart_and_a_second_load_change_nothing)
{
    site_begin(11);
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < 40; k++)
            site_step();
        if (i % 2 == 0)
            site_restart();
        else
            EXPECT_STATUS(ranking_load(site.ranking, site.votes), STATUS_OK);
        site_check(site.ranking);
    }
    site_end();
}

TEST(windows_move_on_at_midnight)
{
    site_begin(1);
    uint64_t early = site_create(1, 0), late = site_create(1, 0);
    int64_t noon = TEST_WORLD_START_US;
    test_world_set(&site.own, noon + DAY_US);
    site_hold(1, early, 50);
    test_world_set(&site.own, noon + 2 * DAY_US);
    site_hold(2, late, 40);
    site_hold(1, early, 45);
    /* Just before and at each midnight, without a save or a projection in between; also when the clock is set back. */
    for (int64_t day = 2; day < 40; day++) {
        test_world_set(&site.own, noon + day * DAY_US + 12 * HOUR_US - 1);
        site_check(site.ranking);
        test_world_set(&site.own, noon + day * DAY_US + 12 * HOUR_US);
        site_check(site.ranking);
    }
    test_world_set(&site.own, noon + 5 * DAY_US);
    site_check(site.ranking);
    site_end();
}

/* An entry may be dated some minutes ahead of the clock: after a move that another clock dated. */
TEST(an_entry_of_tomorrow_counts_tomorrow)
{
    site_begin(1);
    uint64_t first = site_create(1, 0), second = site_create(2, 0);
    int64_t midnight = (TEST_WORLD_START_US / DAY_US + 35) * DAY_US;
    for (int64_t day = 0; day < 34; day++) {
        test_world_set(&site.own, TEST_WORLD_START_US + day * DAY_US);
        site_hold(1, first, 10 + day);
    }
    test_world_set(&site.own, midnight - 60 * US_PER_S);
    site_hold_at(1, first, 90, midnight + 60 * US_PER_S);
    site_hold_at(2, second, 7, midnight + 60 * US_PER_S);
    site_check(site.ranking);
    site_project();
    EXPECT_STATUS(ranking_load(site.ranking, site.votes), STATUS_OK);
    site_check(site.ranking);
    test_world_set(&site.own, midnight);
    site_check(site.ranking);
    site_end();
}

TEST(a_tie_goes_to_the_lower_id)
{
    site_begin(1);
    uint64_t ids[3] = {site_create(1, 0), site_create(1, 0), site_create(1, 0)};
    RankPlace place;
    RankQuery all = {0};
    for (int i = 0; i < 3; i++) {
        EXPECT_STATUS(ranking_place(site.ranking, &all, ids[i], &place), STATUS_OK);
        EXPECT_I64(place.self.rank, i + 1);
        EXPECT_I64(place.to_beat, i > 0);
    }
    site_hold(1, ids[2], 5);
    EXPECT_STATUS(ranking_place(site.ranking, &all, ids[0], &place), STATUS_OK);
    EXPECT_I64(place.self.rank, 2);
    EXPECT_I64(place.to_beat, 5); /* the lower id: equal is enough */
    EXPECT_STATUS(ranking_place(site.ranking, &all, ids[1], &place), STATUS_OK);
    EXPECT_I64(place.to_beat, 1);
    site_end();
}

TEST(a_merge_is_no_jump_and_what_was_merged_is_in_no_list)
{
    site_begin(1);
    uint64_t root = site_create(1, 0), member = site_create(2, 1), nested = site_create(3, 0);
    site_hold(1, nested, 11);
    site_hold(2, member, 22);
    site_merge(nested, member);
    site_check(site.ranking);
    site_merge(member, root);
    site_check(site.ranking);
    RankPlace place;
    RankQuery all = {0};
    EXPECT_STATUS(ranking_place(site.ranking, &all, root, &place), STATUS_OK);
    EXPECT_I64(place.self.total, 333);
    EXPECT_STATUS(ranking_place(site.ranking, &all, nested, &place), STATUS_NOT_FOUND);
    site_hold(1, root, 4); /* takes from what was merged */
    site_check(site.ranking);
    EXPECT_STATUS(ranking_place(site.ranking, &all, root, &place), STATUS_OK);
    EXPECT_I64(place.self.total, 326);
    site_end();
}

TEST(a_new_policy_is_listed_when_it_is_active)
{
    site_begin(1);
    site_create(1, 0);
    RankPlace place;
    RankQuery all = {0};
    Reason reason = {.rule = ""};
    VoterState state;
    SaveResult result;
    PolicyText text = {.name = SLICE("Not told yet"), .description = SLICE("d"), .category = 1};
    EXPECT_STATUS(votes_show(site.votes, site.voters[0], site.arena, &state), STATUS_OK);
    SaveRequest request = {
        .voter = site.voters[0], .seen = state.version, .create = &text, .create_held = 130};
    EXPECT_STATUS(votes_save(site.votes, &request, site.arena, &result, &reason), STATUS_OK);
    EXPECT_I64(result.outcome, SAVE_SAVED);
    EXPECT_STATUS(ranking_place(site.ranking, &all, result.created, &place), STATUS_NOT_FOUND);
    EXPECT_STATUS(ranking_policy_changed(site.ranking, result.created), STATUS_OK);
    EXPECT_STATUS(ranking_place(site.ranking, &all, result.created, &place), STATUS_OK);
    EXPECT_I64(place.self.votes, 130);
    EXPECT_I64(place.self.rank, 1);
    EXPECT_STATUS(ranking_policy_changed(site.ranking, 12345), STATUS_NOT_FOUND);
    site_end();
}

TEST(another_instance_learns_by_refreshing)
{
    site_begin(5);
    for (int i = 0; i < 30; i++)
        site_step();
    Other other = site_other();
    site_project();
    EXPECT_STATUS(ranking_load(other.ranking, other.votes), STATUS_OK);
    for (int i = 0; i < 10; i++) {
        uint64_t policy = site_create(1 + site_below(3), 0);
        for (size_t voter = 0; voter < SITE_VOTERS; voter++)
            site_hold(voter, policy, (int64_t)site_below(40));
        site_project();
        EXPECT_STATUS(ranking_refresh(other.ranking), STATUS_OK);
        EXPECT_STATUS(ranking_refresh(site.ranking), STATUS_OK);
        site_check(other.ranking);
        site_check(site.ranking);
        test_world_pass(&site.own, 60 * US_PER_S);
    }
    site_part(&other);
    site_end();
}

/* It slept, or the store did not answer: marks of half an hour ago are read, and after hours, when they are gone, everything is. */
TEST(an_instance_that_was_away_learns_what_it_missed)
{
    static const int64_t MINUTES[] = {1, 10, 12, 30, 39, 41, 60, 300, 3000};
    site_begin(6);
    uint64_t policy = site_create(1, 0);
    Other other = site_other();
    site_project();
    EXPECT_STATUS(ranking_load(other.ranking, other.votes), STATUS_OK);
    for (size_t i = 0; i < sizeof MINUTES / sizeof MINUTES[0]; i++) {
        for (size_t voter = 0; voter < SITE_VOTERS; voter++)
            site_hold(voter, policy, (int64_t)(1 + i + site_below(20)));
        site_project();
        test_world_pass(&site.own, MINUTES[i] * 60 * US_PER_S);
        EXPECT_STATUS(ranking_refresh(other.ranking), STATUS_OK);
        site_check(other.ranking);
    }
    site_part(&other);
    site_end();
}

static Other elsewhere;

/* The marks of what is built are old when it comes to be read. */
static void refresh_meanwhile(void *self, uint64_t voters)
{
    (void)self;
    (void)voters;
    for (int i = 0; i < 2; i++) {
        test_world_pass(&site.own, 13 * 60 * US_PER_S);
        EXPECT_STATUS(ranking_refresh(elsewhere.ranking), STATUS_OK);
    }
}

TEST(a_refresh_shows_the_counts_of_another_generation)
{
    site_begin(8);
    uint64_t policy = site_create(1, 0);
    elsewhere = site_other();
    site_project();
    EXPECT_STATUS(ranking_load(elsewhere.ranking, elsewhere.votes), STATUS_OK);
    site_hold(1, policy, 30); /* not projected: in the new counts alone */
    RebuildOptions rebuild = {.settle_s = GENERATIONS_CACHE_S + 5, .progress = refresh_meanwhile};
    EXPECT_STATUS(votes_rebuild(site.votes, &rebuild), STATUS_OK);
    EXPECT_STATUS(ranking_refresh(elsewhere.ranking), STATUS_OK);
    EXPECT_I64(ranking_generation(elsewhere.ranking), votes_generation(elsewhere.votes));
    site_check(elsewhere.ranking);
    site_part(&elsewhere);
    site_end();
}

TEST(bad_questions_are_refused)
{
    site_begin(1);
    uint64_t policy = site_create(1, 0);
    RankPage page;
    RankPlace place;
    const RankQuery bad[] = {{.days = 32},
                             {.category = 1, .party = 1},
                             {.category = GROUPS_MAX + 1},
                             {.party = UINT64_MAX},
                             {.days = UINT32_MAX}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        EXPECT_STATUS(ranking_page(site.ranking, &bad[i], 0, 10, site.arena, &page),
                      STATUS_INVALID);
        EXPECT_STATUS(ranking_place(site.ranking, &bad[i], policy, &place), STATUS_INVALID);
    }
    RankQuery all = {0};
    EXPECT_STATUS(ranking_page(site.ranking, &all, 0, 0, site.arena, &page), STATUS_INVALID);
    EXPECT_STATUS(ranking_page(site.ranking, &all, 0, RANK_PAGE_MAX + 1, site.arena, &page),
                  STATUS_INVALID);
    EXPECT_STATUS(ranking_page(site.ranking, &all, UINT64_MAX, RANK_PAGE_MAX, site.arena, &page),
                  STATUS_OK);
    EXPECT_I64(page.count, 0);
    EXPECT_I64(page.policies, 1);
    EXPECT_STATUS(ranking_place(site.ranking, &all, 999, &place), STATUS_NOT_FOUND);
    Other other = site_other();
    EXPECT_STATUS(ranking_page(other.ranking, &all, 0, 10, site.arena, &page), STATUS_UNAVAILABLE);
    EXPECT_STATUS(ranking_policy_changed(other.ranking, policy), STATUS_UNAVAILABLE);
    EXPECT_STATUS(ranking_refresh(other.ranking), STATUS_UNAVAILABLE);
    site_part(&other);
    site_end();
}
