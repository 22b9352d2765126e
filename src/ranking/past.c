/* past.c -- rankings of past hours, from the ledger's changes by hour and from the moves of policies by time.
 *
 * A question copies from the index what it needs of the policies: ids, groups, and all steps of their lives in order of time.
 * Then it moves through time: changes of hours go to the sums of the roots of that time, steps list and unlist policies and join sums when
 * they were merged. So a history costs the changes on its way, and one pass over the sums for each moment; nothing is kept
 * between questions. Categories and parties are those of today: a ranking within a category means the category as it is now. */
#include <stdlib.h>

#include "ranking/checkpoints.h"

enum { HOURS_A_DAY = 24, CHUNK = 1024 };
#define HOUR_US (3600 * US_PER_S)

/* A step of a policy's life, with numbers for policies. */
typedef struct PastStep {
    int64_t time_us;
    size_t number;
    size_t target; /* its own number: not merged */
    bool listed;
} PastStep;

/* A policy at the moment where the question is. */
typedef struct PastPolicy {
    uint64_t id;
    int64_t votes, total; /* of a root, with its members */
    size_t target;        /* its own number: a root */
    bool in_group, listed;
} PastPolicy;

typedef struct Past {
    Checkpoints checkpoints;
    Totals now, before; /* of the moment, and of the moment before its window */
    PastPolicy *policies;
    size_t count;
    Map numbers;     /* policy -> number + 1 */
    PastStep *steps; /* ascending in time */
    size_t step_count, step_room, step_at;
    uint32_t days;
    int64_t end_us; /* the last moment of the hour */
} Past;

/* ---- What is copied from the index -------------------------------------------------------------------------------------- */

static void copy_policy(Past *past, const RankingIndex *index, const Record *record,
                        const RankQuery *query)
{
    past->policies[record->number] =
        (PastPolicy){.id = record->id,
                     .target = record->number,
                     .in_group = (query->category == 0 || record->category == query->category) &&
                                 (query->party == 0 || record->party == query->party)};
    map_put(&past->numbers, record->id, record->number + 1);
    for (size_t i = 0; i < record->step_count; i++) {
        const Step *step = &record->steps[i];
        const Record *target = step->target == 0 ? record : ranking_index_find(index, step->target);
        if (past->step_count == past->step_room) {
            past->step_room = 2 * past->step_room + 64;
            past->steps = realloc(past->steps, past->step_room * sizeof *past->steps);
            CHECK(past->steps != NULL);
        }
        past->steps[past->step_count++] =
            (PastStep){step->time_us, record->number,
                       target == NULL ? record->number : target->number, step->listed};
    }
}

static int by_time(const void *a, const void *b)
{
    const PastStep *left = a, *right = b;
    return (left->time_us > right->time_us) - (left->time_us < right->time_us);
}

/* ---- Moving through time ------------------------------------------------------------------------------------------------ */

static PastPolicy *root_from(const Past *past, size_t number)
{
    for (int i = 0; past->policies[number].target != number && i < POLICY_MERGE_DEPTH; i++)
        number = past->policies[number].target;
    return &past->policies[number];
}

/* Where the changes of a policy count; NULL for one that was made after the copy. */
static PastPolicy *root_of(const Past *past, uint64_t policy)
{
    uint64_t place = map_get(&past->numbers, policy);
    return place == 0 ? NULL : root_from(past, (size_t)place - 1);
}

static void add_now(void *context, uint64_t policy, int64_t change)
{
    PastPolicy *root = root_of(context, policy);
    if (root == NULL)
        return;
    root->votes += change;
    root->total += change;
}

static void add_before(void *context, uint64_t policy, int64_t change)
{
    PastPolicy *root = root_of(context, policy);
    if (root != NULL)
        root->votes -= change;
}

/* From the totals, when they did not come change by change. */
static void add_up_again(Past *past)
{
    for (size_t i = 0; i < past->count; i++)
        past->policies[i].votes = past->policies[i].total = 0;
    for (size_t i = 0; i < past->now.count; i++)
        add_now(past, past->now.list[i].policy, past->now.list[i].total);
    for (size_t i = 0; i < past->before.count; i++)
        add_before(past, past->before.list[i].policy, past->before.list[i].total);
    past->now.jumped = past->before.jumped = false;
}

static void take_step(Past *past, const PastStep *step)
{
    PastPolicy *policy = &past->policies[step->number];
    policy->listed = step->listed;
    if (step->target == step->number || step->target >= past->count)
        return;
    PastPolicy *root = root_from(past, step->target);
    if (root == policy)
        return; /* damaged: it leads back */
    policy->target = step->target;
    root->votes += policy->votes;
    root->total += policy->total;
    policy->votes = policy->total = 0;
}

/* To the end of an hour; hours ascend from call to call. */
static Status past_move(Past *past, uint32_t hour)
{
    uint32_t day = hour / HOURS_A_DAY;
    TRY(checkpoints_advance(&past->checkpoints, &past->now, hour + 1));
    if (past->days > 0 && day + 1 > past->days)
        TRY(checkpoints_advance(&past->checkpoints, &past->before,
                                (day + 1 - past->days) * HOURS_A_DAY));
    past->end_us = ((int64_t)hour + 1) * HOUR_US - 1;
    if (past->now.jumped || past->before.jumped)
        add_up_again(past);
    while (past->step_at < past->step_count && past->steps[past->step_at].time_us <= past->end_us)
        take_step(past, &past->steps[past->step_at++]);
    return STATUS_OK;
}

static bool is_in(const PastPolicy *policy)
{
    return policy->listed && policy->in_group;
}

/* ---- Beginning and end -------------------------------------------------------------------------------------------------- */

static Status past_open(Past *past, Ranking *ranking, const RankQuery *query, Arena *arena)
{
    Votes *votes;
    *past = (Past){.days = query->days};
    past->now = (Totals){.changed = add_now, .context = past};
    past->before = (Totals){.changed = add_before, .context = past};
    TRY(ranking_check_query(query));
    RankingIndex *index = ranking_borrow(ranking, &votes);
    if (index == NULL)
        return STATUS_UNAVAILABLE;
    /* The lock is taken for some policies at a time, so that saves need not wait for all of it. What is made meanwhile is later than
     * any moment that can be asked for. */
    pthread_rwlock_rdlock(&ranking->lock);
    past->count = ranking_index_count(index);
    pthread_rwlock_unlock(&ranking->lock);
    past->policies = calloc(past->count + 1, sizeof *past->policies);
    CHECK(past->policies != NULL);
    for (size_t start = 0; start < past->count; start += CHUNK) {
        pthread_rwlock_rdlock(&ranking->lock);
        for (size_t i = start; i < past->count && i < start + CHUNK; i++)
            copy_policy(past, index, ranking_index_at(index, i), query);
        pthread_rwlock_unlock(&ranking->lock);
    }
    if (past->step_count > 0)
        qsort(past->steps, past->step_count, sizeof *past->steps, by_time);
    pthread_rwlock_rdlock(&ranking->lock);
    int64_t first_us = ranking_index_first_us(index);
    pthread_rwlock_unlock(&ranking->lock);
    ranking_index_free(index);
    return checkpoints_open(ranking, votes, first_us, arena, &past->checkpoints);
}

static void past_close(Past *past)
{
    totals_free(&past->now);
    totals_free(&past->before);
    map_free(&past->numbers);
    free(past->policies);
    free(past->steps);
}

static bool is_over(const Ranking *ranking, uint32_t hour)
{
    return hour < clock_now_us(ranking->world.clock) / HOUR_US;
}

/* ---- Questions ---------------------------------------------------------------------------------------------------------- */

static Order *order_of(const Past *past)
{
    size_t count = 0;
    OrderKey *keys = malloc((past->count + 1) * sizeof *keys);
    CHECK(keys != NULL);
    for (size_t i = 0; i < past->count; i++)
        if (is_in(&past->policies[i]))
            keys[count++] = (OrderKey){past->policies[i].votes, past->policies[i].id};
    Order *order = order_build(keys, count);
    free(keys);
    return order;
}

static Status page_of(Past *past, uint32_t hour, uint64_t offset, uint32_t limit, Arena *arena,
                      RankPage *ret_page)
{
    OrderKey found[RANK_PAGE_MAX];
    TRY(past_move(past, hour));
    Order *order = order_of(past);
    RankPage page = {.policies = order_count(order), .as_of_us = past->end_us + 1};
    page.count = order_slice(order, offset, limit, found);
    order_free(order);
    page.rows = ARENA_ARRAY(arena, page.count, RankRow);
    for (size_t i = 0; i < page.count; i++) {
        const PastPolicy *policy = &past->policies[map_get(&past->numbers, found[i].id) - 1];
        page.rows[i] = (RankRow){offset + i + 1, policy->id, policy->votes, policy->total};
    }
    *ret_page = page;
    return STATUS_OK;
}

Status ranking_page_at(Ranking *ranking, const RankQuery *query, uint32_t hour, uint64_t offset,
                       uint32_t limit, Arena *arena, RankPage *ret_page)
{
    ARENA_SCOPE Arena *own = arena_new();
    Past past;
    if (limit < 1 || limit > RANK_PAGE_MAX || !is_over(ranking, hour))
        return STATUS_INVALID;
    Status status = past_open(&past, ranking, query, own);
    if (status == STATUS_OK)
        status = page_of(&past, hour, offset, limit, arena, ret_page);
    past_close(&past);
    return status;
}

static RankMoment moment_of(const Past *past, uint32_t hour, uint64_t policy)
{
    RankMoment moment = {.hour = hour};
    uint64_t place = map_get(&past->numbers, policy);
    if (place == 0 || !is_in(&past->policies[place - 1]))
        return moment;
    const PastPolicy *self = &past->policies[place - 1];
    moment = (RankMoment){hour, 1, self->votes, self->total};
    for (size_t i = 0; i < past->count; i++) {
        const PastPolicy *other = &past->policies[i];
        if (is_in(other) &&
            (other->votes > self->votes || (other->votes == self->votes && other->id < self->id)))
            moment.rank++;
    }
    return moment;
}

static Status history_of(Past *past, uint64_t policy, const uint32_t *hours, size_t count,
                         RankMoment *moments)
{
    for (size_t i = 0; i < count; i++) {
        TRY(past_move(past, hours[i]));
        moments[i] = moment_of(past, hours[i], policy);
    }
    return STATUS_OK;
}

Status ranking_history(Ranking *ranking, const RankQuery *query, uint64_t policy,
                       const uint32_t *hours, size_t count, RankMoment *ret_moments)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Past past;
    if (count > RANK_MOMENTS_MAX)
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
