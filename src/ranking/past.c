/* past.c -- rankings of past hours, from the ledger's changes by hour and from the moves of policies by time.
 *
 * Nothing is kept for a question: it reads a checkpoint or two and at most some days of hours, adds members to the roots of that
 * time and sorts. Categories and parties are those of today: texts have revisions, but a ranking within a category means the
 * category as it is now. */
#include <stdlib.h>

#include "ranking/checkpoints.h"

enum { HOURS_A_DAY = 24, CHUNK = 1024 };
#define HOUR_US (3600 * US_PER_S)

typedef struct Past {
    Ranking *ranking;
    Votes *votes;
    Book *book;
    Arena *arena;
    const RankQuery *query;
    Checkpoints checkpoints;
    Totals now, before;         /* of the moment, and of the moment before its window */
    size_t policies;            /* records that are looked at */
    int64_t end_us;             /* the last moment of the hour */
    int64_t *votes_of, *totals; /* of roots, by number of the record */
} Past;

static Status past_open(Past *past, Ranking *ranking, const RankQuery *query, Arena *arena)
{
    *past = (Past){.ranking = ranking, .arena = arena, .query = query};
    TRY(ranking_check_query(query));
    past->book = ranking_borrow(ranking, &past->votes);
    if (past->book == NULL)
        return STATUS_UNAVAILABLE;
    pthread_rwlock_rdlock(&ranking->lock);
    past->policies = book_count(past->book);
    int64_t first_us = book_first_us(past->book);
    pthread_rwlock_unlock(&ranking->lock);
    past->votes_of = ARENA_ARRAY(arena, past->policies, int64_t);
    past->totals = ARENA_ARRAY(arena, past->policies, int64_t);
    return checkpoints_open(ranking, past->votes, first_us, arena, &past->checkpoints);
}

static void past_close(Past *past)
{
    totals_free(&past->now);
    totals_free(&past->before);
    book_free(past->book);
}

static bool is_over(const Ranking *ranking, uint32_t hour)
{
    return hour < clock_now_us(ranking->world.clock) / HOUR_US;
}

/* ---- One moment ------------------------------------------------------------------------------------------------------- */

static void add_to_root(Past *past, const PolicyTotal *own)
{
    const Record *record = book_find(past->book, own->policy);
    const Record *root = record == NULL ? NULL : book_root_at(past->book, record, past->end_us);
    if (root == NULL || root->number >= past->policies)
        return;
    past->totals[root->number] += own->total;
    past->votes_of[root->number] += own->total - totals_of(&past->before, own->policy);
}

/* The end of an hour; hours ascend from call to call. The lock is taken for a while at a time, so that saves need not wait
 * for all of it; what changes meanwhile is later than the moment. */
static Status past_set_hour(Past *past, uint32_t hour)
{
    uint32_t day = hour / HOURS_A_DAY, days = past->query->days;
    TRY(checkpoints_advance(&past->checkpoints, &past->now, hour + 1));
    if (days > 0 && day + 1 > days)
        TRY(checkpoints_advance(&past->checkpoints, &past->before, (day + 1 - days) * HOURS_A_DAY));
    past->end_us = ((int64_t)hour + 1) * HOUR_US - 1;
    memset(past->totals, 0, past->policies * sizeof(int64_t));
    memset(past->votes_of, 0, past->policies * sizeof(int64_t));
    for (size_t start = 0; start < past->now.count; start += CHUNK) {
        pthread_rwlock_rdlock(&past->ranking->lock);
        for (size_t i = start; i < past->now.count && i < start + CHUNK; i++)
            add_to_root(past, &past->now.list[i]);
        pthread_rwlock_unlock(&past->ranking->lock);
    }
    return STATUS_OK;
}

static bool is_in(const Past *past, const Record *record)
{
    const Step *step = book_step_at(record, past->end_us);
    return step != NULL && step->listed &&
           (past->query->category == 0 || record->category == past->query->category) &&
           (past->query->party == 0 || record->party == past->query->party);
}

/* All that were in the ranking at that moment. */
static size_t past_keys(const Past *past, OrderKey *keys)
{
    size_t count = 0;
    for (size_t start = 0; start < past->policies; start += CHUNK) {
        pthread_rwlock_rdlock(&past->ranking->lock);
        for (size_t i = start; i < past->policies && i < start + CHUNK; i++) {
            const Record *record = book_at(past->book, i);
            if (is_in(past, record))
                keys[count++] = (OrderKey){past->votes_of[i], record->id};
        }
        pthread_rwlock_unlock(&past->ranking->lock);
    }
    return count;
}

static RankRow past_row(const Past *past, uint64_t place, OrderKey key)
{
    pthread_rwlock_rdlock(&past->ranking->lock);
    size_t number = book_find(past->book, key.id)->number;
    pthread_rwlock_unlock(&past->ranking->lock);
    return (RankRow){place + 1, key.id, key.votes, past->totals[number]};
}

/* ---- Questions ---------------------------------------------------------------------------------------------------------- */

static Status page_of(Past *past, uint32_t hour, uint64_t offset, uint32_t limit, Arena *arena,
                      RankPage *ret_page)
{
    OrderKey found[RANK_PAGE_MOST];
    TRY(past_set_hour(past, hour));
    OrderKey *keys = ARENA_ARRAY(past->arena, past->policies, OrderKey);
    size_t count = past_keys(past, keys);
    Order *order = order_build(keys, count);
    RankPage page = {.policies = count, .as_of_us = past->end_us + 1};
    page.count = order_slice(order, offset, limit, found);
    order_free(order);
    page.rows = ARENA_ARRAY(arena, page.count, RankRow);
    for (size_t i = 0; i < page.count; i++)
        page.rows[i] = past_row(past, offset + i, found[i]);
    *ret_page = page;
    return STATUS_OK;
}

Status ranking_page_at(Ranking *ranking, const RankQuery *query, uint32_t hour, uint64_t offset,
                       uint32_t limit, Arena *arena, RankPage *ret_page)
{
    ARENA_SCOPE Arena *own = arena_new();
    Past past;
    if (limit < 1 || limit > RANK_PAGE_MOST || !is_over(ranking, hour))
        return STATUS_INVALID;
    Status status = past_open(&past, ranking, query, own);
    if (status == STATUS_OK)
        status = page_of(&past, hour, offset, limit, arena, ret_page);
    past_close(&past);
    return status;
}

static RankMoment moment_of(const Past *past, uint32_t hour, uint64_t policy, OrderKey *keys)
{
    size_t count = past_keys(past, keys), self = 0;
    RankMoment moment = {.hour = hour};
    while (self < count && keys[self].id != policy)
        self++;
    if (self == count)
        return moment;
    RankRow row = past_row(past, 0, keys[self]);
    moment.votes = row.votes;
    moment.total = row.total;
    moment.rank = 1;
    for (size_t i = 0; i < count; i++)
        moment.rank +=
            keys[i].votes > row.votes || (keys[i].votes == row.votes && keys[i].id < policy);
    return moment;
}

static Status history_of(Past *past, uint64_t policy, const uint32_t *hours, size_t count,
                         RankMoment *moments)
{
    OrderKey *keys = ARENA_ARRAY(past->arena, past->policies, OrderKey);
    for (size_t i = 0; i < count; i++) {
        TRY(past_set_hour(past, hours[i]));
        moments[i] = moment_of(past, hours[i], policy, keys);
    }
    return STATUS_OK;
}

Status ranking_history(Ranking *ranking, const RankQuery *query, uint64_t policy,
                       const uint32_t *hours, size_t count, RankMoment *ret_moments)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Past past;
    if (count > RANK_MOMENTS_MOST)
        return STATUS_INVALID;
    for (size_t i = 0; i < count; i++)
        if (!is_over(ranking, hours[i]) || (i > 0 && hours[i] <= hours[i - 1]))
            return STATUS_INVALID;
    RankMoment *moments = ARENA_ARRAY(arena, count, RankMoment);
    Status status = past_open(&past, ranking, query, arena);
    if (status == STATUS_OK)
        status = history_of(&past, policy, hours, count, moments);
    past_close(&past);
    if (status == STATUS_OK && count > 0)
        memcpy(ret_moments, moments, count * sizeof *moments);
    return status;
}

/* ---- Checkpoints -------------------------------------------------------------------------------------------------------- */

static Status write_missing(Past *past, uint32_t first, uint32_t last, uint32_t most,
                            uint32_t *written)
{
    for (uint32_t day = first; day <= last && *written < most; day++) {
        if (checkpoints_has(&past->checkpoints, day))
            continue;
        TRY(checkpoints_advance(&past->checkpoints, &past->now, (day + 1) * HOURS_A_DAY));
        TRY(checkpoints_write(&past->checkpoints, day, &past->now));
        ++*written;
    }
    return STATUS_OK;
}

Status ranking_checkpoint(Ranking *ranking, uint32_t day)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Past past;
    uint32_t written = 0;
    if (day >= ranking_today(ranking))
        return STATUS_INVALID;
    Status status = past_open(&past, ranking, &(RankQuery){0}, arena);
    if (status == STATUS_OK)
        status = write_missing(&past, day, day, 1, &written);
    past_close(&past);
    return status;
}

Status ranking_checkpoint_due(Ranking *ranking, uint32_t most, uint32_t *ret_written)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Past past;
    uint32_t written = 0, today = ranking_today(ranking);
    Status status = past_open(&past, ranking, &(RankQuery){0}, arena);
    if (status == STATUS_OK && past.checkpoints.first_hour < today * HOURS_A_DAY)
        status = write_missing(&past, past.checkpoints.first_hour / HOURS_A_DAY, today - 1, most,
                               &written);
    past_close(&past);
    if (status == STATUS_OK)
        *ret_written = written;
    return status;
}
