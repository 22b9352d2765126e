/* news_test.c -- marks of changes: which seconds a read covers, whatever the hour, shard or number of marks. */
#include "news/news.h"

#include "contract.h"

enum { SEEN_MAX = 3000 };

typedef struct Seen {
    News list[SEEN_MAX];
    size_t count;
} Seen;

static void see(void *context, const News *news)
{
    Seen *seen = context;
    if (seen->count < SEEN_MAX)
        seen->list[seen->count] = *news;
    seen->count++;
}

static int64_t now_s(void)
{
    return contract_now_us() / US_PER_S;
}

static void mark(NewsKind kind, uint64_t id)
{
    Batch batch = news_mark(contract_world().clock, kind, id, contract_arena());
    EXPECT_STATUS(store_write(contract_store(), &batch), STATUS_OK);
}

static Seen read_all(int64_t first_s, int64_t last_s)
{
    Seen seen = {.count = 0};
    EXPECT_STATUS(news_read(contract_store(), first_s, last_s, see, &seen), STATUS_OK);
    return seen;
}

TEST(a_mark_is_read_with_its_second_kind_and_id)
{
    contract_fresh_site();
    mark(NEWS_TEXT, UINT64_MAX);
    Seen seen = read_all(now_s(), now_s());
    EXPECT_I64(seen.count, 1);
    EXPECT_I64(seen.list[0].second, now_s());
    EXPECT_I64(seen.list[0].kind, NEWS_TEXT);
    EXPECT(seen.list[0].id == UINT64_MAX);
    contract_end();
}

TEST(both_ends_of_a_read_are_included_and_nothing_else)
{
    contract_fresh_site();
    int64_t begin_s = now_s();
    for (uint64_t id = 0; id < 5; id++) {
        mark(NEWS_POLICY, id);
        contract_pass_s(1);
    }
    int64_t took_s = now_s() - begin_s; /* where the engine has a clock of its own */
    EXPECT_I64(read_all(begin_s, begin_s + took_s).count, 5);
    if (!contract_has_clock()) {
        contract_end();
        return;
    }
    EXPECT_I64(read_all(begin_s + 1, begin_s + 3).count, 3);
    EXPECT_I64(read_all(begin_s + 1, begin_s + 1).list[0].id, 1);
    EXPECT_I64(read_all(begin_s + 5, begin_s + 9).count, 0);
    EXPECT_I64(read_all(begin_s - 9, begin_s - 1).count, 0);
    contract_end();
}

TEST(a_read_goes_on_over_the_end_of_an_hour)
{
    contract_fresh_site();
    if (!contract_has_clock()) {
        contract_end();
        return;
    }
    int64_t hour_us = 3600 * US_PER_S, border_us = (contract_now_us() / hour_us + 1) * hour_us;
    contract_set_now_us(border_us - US_PER_S);
    mark(NEWS_POLICY, 1);
    contract_set_now_us(border_us);
    mark(NEWS_POLICY, 2);
    contract_set_now_us(border_us + hour_us);
    mark(NEWS_FRONT, 3);
    Seen seen = read_all(border_us / US_PER_S - 1, border_us / US_PER_S + 3600);
    EXPECT_I64(seen.count, 3);
    for (uint64_t i = 0; i < seen.count; i++)
        EXPECT_I64(seen.list[i].id, i + 1);
    EXPECT_I64(read_all(border_us / US_PER_S - 1, border_us / US_PER_S - 1).count, 1);
    EXPECT_I64(read_all(border_us / US_PER_S, border_us / US_PER_S + 3599).count, 1);
    contract_end();
}

TEST(several_pages_of_one_shard_are_read_to_their_end)
{
    contract_fresh_site();
    int64_t begin_s = now_s();
    bool found[2500] = {false};
    for (uint64_t i = 0; i < 2500; i++) /* most of them in shard 0 */
        mark(NEWS_POLICY, i * NEWS_SHARDS + (i >= 2400));
    Seen seen = read_all(begin_s, now_s());
    EXPECT_I64(seen.count, 2500);
    for (size_t i = 0; i < seen.count; i++) {
        uint64_t at = seen.list[i].id / NEWS_SHARDS;
        EXPECT(at < 2500 && !found[at]);
        found[at] = true;
    }
    contract_end();
}

TEST(the_same_thing_twice_in_a_second_is_one_mark)
{
    contract_fresh_site();
    if (!contract_has_clock()) {
        contract_end();
        return;
    }
    mark(NEWS_POLICY, 7);
    mark(NEWS_POLICY, 7);
    mark(NEWS_GROUPS, 7);
    EXPECT_I64(read_all(now_s(), now_s()).count, 2);
    contract_end();
}
