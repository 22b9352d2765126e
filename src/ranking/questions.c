/* questions.c -- pages and places, from memory. */
#include "ranking/ranking_private.h"

Status ranking_check_query(const RankQuery *query)
{
    if (query->days >= RANKING_INDEX_WINDOWS || (query->category != 0 && query->party != 0) ||
        query->category > GROUPS_MAX || query->party > GROUPS_MAX)
        return STATUS_INVALID;
    return STATUS_OK;
}

/* Whether the index is of today and has the tree; a group where nothing stands needs none. */
static bool is_ready(const Ranking *ranking, const RankQuery *query)
{
    const RankingGroup *ranking_group = ranking_index_group(ranking->live, query);
    return ranking_index_today(ranking->live) == ranking_today(ranking) &&
           (ranking_group->orders[query->days] != NULL || ranking_group->count == 0);
}

/* Takes the lock for reading, with the tree of the query in place. Making it needs the lock for writing, after which
 * somebody else may come first, but hardly ever twice. */
static Status begin(Ranking *ranking, const RankQuery *query)
{
    TRY(ranking_check_query(query));
    pthread_rwlock_rdlock(&ranking->lock);
    while (ranking->live != NULL && !is_ready(ranking, query)) {
        pthread_rwlock_unlock(&ranking->lock);
        pthread_rwlock_wrlock(&ranking->lock);
        ranking_turn(ranking);
        ranking_index_build_order(ranking->live, query, clock_steady_us(ranking->world.clock));
        pthread_rwlock_unlock(&ranking->lock);
        pthread_rwlock_rdlock(&ranking->lock);
    }
    if (ranking->live == NULL) {
        pthread_rwlock_unlock(&ranking->lock);
        return STATUS_UNAVAILABLE;
    }
    ranking_index_group(ranking->live, query)->used_us[query->days] =
        clock_steady_us(ranking->world.clock);
    return STATUS_OK;
}

static void end(Ranking *ranking)
{
    pthread_rwlock_unlock(&ranking->lock);
}

static RankRow row_of(const RankingIndex *index, uint64_t place, OrderKey key)
{
    const Record *record = ranking_index_find(index, key.id);
    return (RankRow){place + 1, key.id, key.votes, record->sum.total};
}

Status ranking_page(Ranking *ranking, const RankQuery *query, uint64_t offset, uint32_t limit,
                    Arena *arena, RankPage *ret_page)
{
    OrderKey keys[RANK_PAGE_MAX];
    if (limit < 1 || limit > RANK_PAGE_MAX)
        return STATUS_INVALID;
    TRY(begin(ranking, query));
    const RankingGroup *ranking_group = ranking_index_group(ranking->live, query);
    const Order *order = ranking_group->orders[query->days];
    RankPage page = {.policies = ranking_group->count, .as_of_us = ranking_as_of_us(ranking)};
    page.count = order == NULL ? 0 : order_slice(order, offset, limit, keys);
    page.rows = ARENA_ARRAY(arena, page.count, RankRow);
    for (size_t i = 0; i < page.count; i++)
        page.rows[i] = row_of(ranking->live, offset + i, keys[i]);
    end(ranking);
    *ret_page = page;
    return STATUS_OK;
}

static RankPlace place_of(const RankingIndex *index, const Order *order, OrderKey key)
{
    OrderKey around[3]; /* above, itself, below */
    uint64_t at = order_place(order, key);
    size_t above = at > 0;
    size_t count = order_slice(order, at - above, 2 + above, around);
    RankPlace place = {.self = row_of(index, at, key), .policies = order_count(order)};
    if (above) {
        place.has_above = true;
        place.above = row_of(index, at - 1, around[0]);
        place.to_beat = around[0].votes - key.votes + (around[0].id < key.id);
    }
    if (count > above + 1) {
        place.has_below = true;
        place.below = row_of(index, at + 1, around[above + 1]);
    }
    return place;
}

/* What a policy is found by in the tree of the query; false when it is not there. */
static bool find_key(const RankingIndex *index, const RankQuery *query, uint64_t policy,
                     OrderKey *ret_key)
{
    const Record *record = ranking_index_find(index, policy);
    if (record == NULL || !ranking_index_in_group(index, record, query))
        return false;
    *ret_key = (OrderKey){ranking_index_votes(index, record, query->days), policy};
    return true;
}

Status ranking_place(Ranking *ranking, const RankQuery *query, uint64_t policy,
                     RankPlace *ret_place)
{
    OrderKey key;
    TRY(begin(ranking, query));
    const RankingIndex *index = ranking->live;
    bool found = find_key(index, query, policy, &key);
    if (found) {
        *ret_place = place_of(index, ranking_index_group(index, query)->orders[query->days], key);
        ret_place->as_of_us = ranking_as_of_us(ranking);
    }
    end(ranking);
    return found ? STATUS_OK : STATUS_NOT_FOUND;
}

Status ranking_ranks(Ranking *ranking, const RankQuery *query, const uint64_t *policies,
                     size_t count, uint64_t *ret_ranks)
{
    OrderKey key;
    TRY(begin(ranking, query));
    const Order *order = ranking_index_group(ranking->live, query)->orders[query->days];
    for (size_t i = 0; i < count; i++)
        ret_ranks[i] =
            find_key(ranking->live, query, policies[i], &key) ? order_place(order, key) + 1 : 0;
    end(ranking);
    return STATUS_OK;
}

Status ranking_days(Ranking *ranking, uint64_t policy, int64_t *ret_days, uint32_t count)
{
    RankQuery query = {0};
    if (count < 1 || count >= RANKING_INDEX_WINDOWS)
        return STATUS_INVALID;
    TRY(begin(ranking, &query));
    const Record *record = ranking_index_find(ranking->live, policy);
    for (uint32_t i = 0; record != NULL && i < count; i++)
        ret_days[count - 1 - i] = ranking_index_votes(ranking->live, record, i + 1) -
                                  (i > 0 ? ranking_index_votes(ranking->live, record, i) : 0);
    end(ranking);
    return record != NULL ? STATUS_OK : STATUS_NOT_FOUND;
}
