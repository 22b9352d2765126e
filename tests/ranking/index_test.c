/* index_test.c -- the ranking in memory alone: windows that come and go, facts that come in any order. */
#include "ranking/ranking_index.h"

#include "test.h"
#include "world.h"

enum { TODAY = 20000 };
#define NOON(day) ((int64_t)(day)*S_PER_DAY * US_PER_S + S_PER_DAY * US_PER_S / 2)

static RankingIndex *ranking_index;

static void set_moves(uint64_t id, const PolicyMove *moves, size_t count, uint64_t category,
                      uint32_t revision)
{
    Policy policy = {.id = id,
                     .facts = {id, moves, count},
                     .text = {.category = category},
                     .revision = revision};
    ranking_index_set_policy(ranking_index, &policy);
}

static void make(uint64_t id, uint64_t category, int64_t votes)
{
    const PolicyMove moves[] = {{.state = POLICY_PENDING, .time_us = NOON(TODAY - 50)},
                                {.state = POLICY_ACTIVE, .time_us = NOON(TODAY - 50) + 1}};
    set_moves(id, moves, 2, category, 1);
    ranking_index_change(ranking_index, id, NOON(TODAY), votes);
}

static const Order *order_of(uint32_t days, uint64_t category)
{
    RankQuery query = {.days = days, .category = category};
    return ranking_index_group(ranking_index, &query)->orders[days];
}

static void ask(uint32_t days, uint64_t category, int64_t steady_us)
{
    RankQuery query = {.days = days, .category = category};
    ranking_index_build_order(ranking_index, &query, steady_us);
}

static void expect_first(uint32_t days, uint64_t category, uint64_t id, int64_t votes)
{
    OrderKey key = {0};
    EXPECT_I64(order_slice(order_of(days, category), 0, 1, &key), 1);
    EXPECT_I64(key.id, id);
    EXPECT_I64(key.votes, votes);
}

TEST(other_windows_are_built_when_asked_for_and_dropped_when_idle)
{
    ranking_index = ranking_index_new(3, TODAY);
    make(1, 1, 5);
    make(2, 2, 7);
    ranking_index_build(ranking_index);
    EXPECT(order_of(0, 0) != NULL && order_of(3, 0) != NULL && order_of(0, 2) != NULL);
    EXPECT(order_of(9, 0) == NULL);
    ask(9, 0, 100);
    expect_first(9, 0, 2, 7);
    ranking_index_change(ranking_index, 1, NOON(TODAY - 8), 50); /* kept right from now on */
    expect_first(9, 0, 1, 55);
    expect_first(3, 0, 2, 7);
    ranking_index_drop_idle(ranking_index, 100 + RANKING_INDEX_IDLE_S * US_PER_S - 1);
    EXPECT(order_of(9, 0) != NULL);
    ranking_index_drop_idle(ranking_index, 100 + RANKING_INDEX_IDLE_S * US_PER_S);
    EXPECT(order_of(9, 0) == NULL && order_of(3, 0) != NULL);
    ask(9, 5, 100); /* nothing stands there: nothing is built */
    EXPECT(order_of(9, 5) == NULL);
    ranking_index_free(ranking_index);
}

TEST(there_are_never_more_than_the_bound_and_the_oldest_gives_way)
{
    ranking_index = ranking_index_new(3, TODAY);
    for (uint64_t id = 1; id <= RANKING_INDEX_EXTRAS + 10; id++)
        make(id, id, (int64_t)id);
    ranking_index_build(ranking_index);
    for (uint64_t category = 1; category <= RANKING_INDEX_EXTRAS + 10; category++)
        ask(7, category, (int64_t)category);
    for (uint64_t category = 1; category <= RANKING_INDEX_EXTRAS + 10; category++)
        EXPECT((order_of(7, category) != NULL) == (category > 10));
    ranking_index_turn(ranking_index, TODAY + 7);
    expect_first(7, 11, 11, 0);
    ranking_index_free(ranking_index);
}

/* Two readers of one policy may arrive in the wrong order. */
TEST(older_facts_do_not_replace_newer_ones)
{
    const PolicyMove moves[] = {{.state = POLICY_PENDING, .time_us = 1},
                                {.state = POLICY_ACTIVE, .time_us = 2},
                                {.state = POLICY_RETIRED, .time_us = 3}};
    ranking_index = ranking_index_new(3, TODAY);
    ranking_index_build(ranking_index);
    set_moves(1, moves, 3, 4, 2);
    set_moves(1, moves, 2, 5, 1);
    EXPECT(!ranking_index_find(ranking_index, 1)->listed);
    EXPECT_I64(ranking_index_find(ranking_index, 1)->category, 4);
    ranking_index_free(ranking_index);
}

TEST(a_way_that_leads_back_is_not_followed)
{
    const PolicyMove to_two[] = {{.state = POLICY_ACTIVE, .time_us = 1},
                                 {.state = POLICY_MERGED, .time_us = 2, .other = 2}};
    const PolicyMove to_one[] = {{.state = POLICY_ACTIVE, .time_us = 1},
                                 {.state = POLICY_MERGED, .time_us = 2, .other = 1}};
    ranking_index = ranking_index_new(3, TODAY);
    ranking_index_build(ranking_index);
    set_moves(1, to_two, 2, 1, 1);
    set_moves(2, to_one, 2, 1, 1);
    ranking_index_change(ranking_index, 1, NOON(TODAY), 5);
    ranking_index_change(ranking_index, 2, NOON(TODAY), 6);
    EXPECT_I64(ranking_index_find(ranking_index, 2)->sum.total, 11);
    ranking_index_free(ranking_index);
}
