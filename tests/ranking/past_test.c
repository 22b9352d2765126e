/* past_test.c -- rankings of past hours against a naive replay, with entries that come late and days without a server. */
#include "ranking/checkpoints.h"

#include "base/bytes.h"
#include "site.h"

enum { WRITE_ALL = 10000 };

static uint32_t hour_now(void)
{
    return (uint32_t)(clock_now_us(site.world.clock) / HOUR_US);
}

static uint32_t write_due(uint32_t most)
{
    uint32_t written = 0;
    EXPECT_STATUS(ranking_checkpoint_due(site.ranking, most, &written), STATUS_OK);
    return written;
}

TEST(any_past_hour_is_what_the_logs_say)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        site_begin(seed);
        uint32_t first = hour_now();
        for (int i = 0; i < 300; i++) {
            site_step();
            if (site_below(10) == 0)
                write_due(1 + (uint32_t)site_below(3));
            if (i % 60 == 59) {
                test_world_pass(&site.own, HOUR_US);
                site_project();
                site_check_past(site.ranking, first);
            }
        }
        site_end();
    }
}

/* Somebody's save of three days ago is found today: projected late, by its own time. */
TEST(a_late_entry_changes_the_past_and_its_checkpoints)
{
    site_begin(3);
    uint32_t first = hour_now();
    uint64_t a = site_create(1, 0), b = site_create(2, 1);
    for (int day = 0; day < 6; day++) {
        site_hold(1, a, 10 + day);
        site_hold(2, b, 40 - 3 * day);
        site_project();
        test_world_pass(&site.own, DAY_US);
    }
    EXPECT_I64(write_due(WRITE_ALL), 6);
    EXPECT_I64(write_due(WRITE_ALL), 0);
    site_check_past(site.ranking, first);
    site_hold_at(7, a, 500, clock_now_us(site.world.clock) - 3 * DAY_US);
    site_check(site.ranking); /* at once, as own saves are */
    site_project();
    site_check_past(site.ranking, first); /* before any checkpoint is rewritten */
    EXPECT_I64(write_due(2), 2);
    site_check_past(site.ranking, first);
    EXPECT_I64(write_due(WRITE_ALL), 1);
    EXPECT_I64(write_due(WRITE_ALL), 0);
    site_check_past(site.ranking, first);
    site_end();
}

/* What was saved just before midnight is projected after a checkpoint was written. */
TEST(a_checkpoint_that_came_too_early_is_noticed)
{
    site_begin(3);
    uint32_t first = hour_now(), day = first / 24;
    uint64_t policy = site_create(1, 0);
    site_project();
    test_world_set(&site.own, (day + 1) * DAY_US - 1);
    site_hold(1, policy, 30);
    EXPECT_STATUS(ranking_checkpoint(site.ranking, day), STATUS_INVALID); /* the day is not over */
    test_world_set(&site.own, (day + 1) * DAY_US);
    EXPECT_STATUS(ranking_checkpoint(site.ranking, day), STATUS_OK);
    EXPECT_I64(write_due(WRITE_ALL), 0);
    site_project();
    test_world_pass(&site.own, HOUR_US);
    site_check_past(site.ranking, first);
    EXPECT_I64(write_due(WRITE_ALL), 1);
    site_check_past(site.ranking, first);
    site_end();
}

/* The projector's clock is behind, and another instance's is ahead: by less than the ledger tolerates. */
TEST(clocks_that_differ_by_minutes_hide_no_late_entry)
{
    site_begin(3);
    uint32_t first = hour_now(), day = first / 24;
    uint64_t policy = site_create(1, 0);
    site_project();
    test_world_set(&site.own, (day + 1) * DAY_US + 9 * 60 * US_PER_S);
    EXPECT_STATUS(ranking_checkpoint(site.ranking, day), STATUS_OK);
    test_world_set(&site.own, (day + 1) * DAY_US - 9 * 60 * US_PER_S);
    site_hold(1, policy, 30);
    site_project();
    test_world_set(&site.own, (day + 1) * DAY_US + HOUR_US);
    site_check_past(site.ranking, first);
    EXPECT_I64(write_due(WRITE_ALL), 1);
    site_end();
}

TEST(days_without_a_server_have_their_ranking)
{
    site_begin(6);
    uint32_t first = hour_now();
    for (int i = 0; i < 40; i++)
        site_step();
    test_world_pass(&site.own, 9 * DAY_US); /* some of it is not even projected */
    site_restart();
    uint32_t days = hour_now() / 24 - first / 24;
    EXPECT_I64(write_due(WRITE_ALL), days);
    site_check_past(site.ranking, first);
    for (int i = 0; i < 40; i++)
        site_step();
    test_world_pass(&site.own, HOUR_US);
    site_project();
    site_check_past(site.ranking, first);
    site_end();
}

/* A writer with old knowledge died in the middle: its pages are there, and are not taken for the others'. */
TEST(pages_of_two_writers_do_not_mix)
{
    site_begin(6);
    uint32_t first = hour_now();
    for (int i = 0; i < 60; i++)
        site_step();
    test_world_pass(&site.own, 2 * DAY_US);
    site_project();
    write_due(WRITE_ALL);
    BUFFER_SCOPE Buffer row = {0};
    BUFFER_SCOPE Buffer value = {0};
    uint32_t day = hour_now() / 24 - 1;
    buffer_u32(&row, votes_generation(site.votes));
    buffer_u32(&row, day);
    buffer_u8(&value, 1);
    buffer_u64(&value, 4711); /* no digest of ours */
    buffer_u64(&value, site.ids[0]);
    buffer_i64(&value, 1000000);
    char page[8] = {0};
    RowChange change = {&TABLE_RANK_CHECKPOINTS,
                        buffer_slice(&row),
                        {.column = slice_of(page, sizeof page),
                         .value = buffer_slice(&value),
                         .timestamp = clock_now_us(site.world.clock) + 1}};
    EXPECT_STATUS(store_write(site.store, &(Batch){&change, 1, false}), STATUS_OK);
    site_check_past(site.ranking, first);
    site_end();
}

TEST(checkpoints_of_many_policies_come_back_page_by_page)
{
    site_begin(1);
    ARENA_SCOPE Arena *arena = arena_new();
    Checkpoints checkpoints;
    Totals totals = {.hours = 24 * 101}, again = {0};
    site_create(1, 0);
    EXPECT_STATUS(checkpoints_open(site.ranking, site.votes, 0, arena, &checkpoints), STATUS_OK);
    totals.room = totals.count = 300000;
    totals.list = malloc(totals.room * sizeof *totals.list);
    for (size_t i = 0; i < totals.count; i++)
        totals.list[i] = (PolicyTotal){(totals.count - i) * 5, (int64_t)i - 1000};
    EXPECT_STATUS(checkpoints_write(&checkpoints, 100, &totals), STATUS_OK);
    EXPECT_STATUS(checkpoints_open(site.ranking, site.votes, 0, arena, &checkpoints), STATUS_OK);
    EXPECT(checkpoints_has(&checkpoints, 100) && !checkpoints_has(&checkpoints, 99));
    EXPECT_STATUS(checkpoints_advance(&checkpoints, &again, 24 * 101 + 3), STATUS_OK);
    EXPECT_I64(again.count, totals.count);
    for (size_t i = 0; i < totals.count; i++)
        EXPECT_I64(totals_of(&again, totals.list[i].policy), totals.list[i].total);
    totals_free(&totals);
    totals_free(&again);
    site_end();
}

TEST(bad_questions_about_the_past_are_refused)
{
    site_begin(1);
    uint64_t policy = site_create(1, 0);
    RankPage page;
    RankMoment moments[3];
    RankQuery all = {0}, bad = {.days = 40};
    uint32_t now = hour_now();
    test_world_pass(&site.own, 3 * HOUR_US);
    EXPECT_STATUS(ranking_page_at(site.ranking, &all, now + 3, 0, 9, site.arena, &page),
                  STATUS_INVALID);
    EXPECT_STATUS(ranking_page_at(site.ranking, &bad, now, 0, 9, site.arena, &page),
                  STATUS_INVALID);
    EXPECT_STATUS(ranking_page_at(site.ranking, &all, now, 0, 0, site.arena, &page),
                  STATUS_INVALID);
    EXPECT_STATUS(ranking_page_at(site.ranking, &all, now - 1, 0, 9, site.arena, &page), STATUS_OK);
    EXPECT_I64(page.policies, 0);
    EXPECT_STATUS(ranking_page_at(site.ranking, &all, 0, 0, 9, site.arena, &page), STATUS_OK);
    uint32_t same[] = {now, now}, down[] = {now, now - 1}, ahead[] = {now, now + 3};
    EXPECT_STATUS(ranking_history(site.ranking, &all, policy, same, 2, moments), STATUS_INVALID);
    EXPECT_STATUS(ranking_history(site.ranking, &all, policy, down, 2, moments), STATUS_INVALID);
    EXPECT_STATUS(ranking_history(site.ranking, &all, policy, ahead, 2, moments), STATUS_INVALID);
    EXPECT_STATUS(ranking_history(site.ranking, &all, policy, same, RANK_MOMENTS_MAX + 1, moments),
                  STATUS_INVALID);
    EXPECT_STATUS(ranking_history(site.ranking, &all, 999, same, 1, moments), STATUS_OK);
    EXPECT_I64(moments[0].rank, 0);
    EXPECT_STATUS(ranking_checkpoint(site.ranking, now / 24), STATUS_INVALID);
    site_end();
}

static void add_up(void *context, uint64_t policy, int64_t change)
{
    (void)policy;
    *(int64_t *)context += change;
}

/* Without a ledger nothing can be read: what comes then was kept. */
TEST(past_hours_are_read_once_as_long_as_nothing_comes_late)
{
    site_begin(3);
    uint32_t first = hour_now();
    uint64_t policy = site_create(1, 0);
    site_hold(1, policy, 30);
    site_project();
    test_world_pass(&site.own, DAY_US);
    Votes *votes;
    ranking_index_free(ranking_borrow(site.ranking, &votes));
    HourCache *hour_cache = hour_cache_new();
    HourSpan spans[] = {{votes_generation(votes), first, 1, 7},
                        {votes_generation(votes), first / 24 * 24, 24, 7}};
    for (size_t i = 0; i < 2; i++) {
        int64_t read = 0, kept = 0, again = 0;
        EXPECT_STATUS(hour_cache_changes(hour_cache, votes, &spans[i], add_up, &read), STATUS_OK);
        EXPECT_STATUS(hour_cache_changes(hour_cache, NULL, &spans[i], add_up, &kept), STATUS_OK);
        EXPECT(read > 0 && kept == read);
        HourSpan late = spans[i];
        late.digest = 8;
        site_hold_at(2 + i, policy, 5, (int64_t)first * HOUR_US);
        site_project();
        EXPECT_STATUS(hour_cache_changes(hour_cache, votes, &late, add_up, &again), STATUS_OK);
        EXPECT(again > read);
    }
    hour_cache_free(hour_cache);
    site_end();
}
