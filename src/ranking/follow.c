/* follow.c -- what other instances changed in the last seconds.
 *
 * A mark bears the second in which its writer's clock stood, and may be seen before what it announces. So what is marked is read
 * again at each look, until a look began FOLLOW_AGAIN_S after the mark's second; what comes later than that, or from a clock that is further off
 * than FOLLOW_BACK_S, is found by the next refresh. */
#include <stdlib.h>

#include "ranking/ranking_private.h"

enum { FOLLOW_BACK_S = 6, FOLLOW_AGAIN_S = 3, FOLLOWED_MAX = 20000, S_PER_MINUTE = 60 };

typedef struct Follow {
    Ranking *ranking;
    Map *followed; /* policy -> second in which it was last read */
    int64_t now_s, minute;
    Map seen; /* in this look */
    uint64_t *policies;
    size_t count, room;
} Follow;

/* Adds what has not been read since long enough after its mark. */
static void take(Follow *follow, uint64_t policy, uint8_t second)
{
    int64_t marked_s = follow->minute * S_PER_MINUTE + second;
    int64_t read_s = (int64_t)map_get(follow->followed, policy);
    if (marked_s < follow->now_s - FOLLOW_BACK_S || read_s >= marked_s + FOLLOW_AGAIN_S)
        return;
    if (map_get(&follow->seen, policy) != 0)
        return;
    map_put(&follow->seen, policy, 1);
    if (follow->count == follow->room) {
        follow->room = 2 * follow->room + 64;
        follow->policies = realloc(follow->policies, follow->room * sizeof *follow->policies);
        CHECK(follow->policies != NULL);
    }
    follow->policies[follow->count++] = policy;
}

static void take_count(void *context, VotesMark mark)
{
    take(context, mark.policy, mark.second);
}

static void take_news(void *context, uint64_t policy, uint8_t second)
{
    take(context, policy, second);
}

/* The marks of the last seconds, and of those ahead: clocks differ. */
static Status read_marks(Follow *follow, Votes *votes)
{
    int64_t first_s = follow->now_s - FOLLOW_BACK_S, last_s = follow->now_s + FOLLOW_BACK_S;
    for (int64_t at = first_s / S_PER_MINUTE; at <= last_s / S_PER_MINUTE; at++) {
        uint8_t from = 0;
        if (at == first_s / S_PER_MINUTE)
            from = (uint8_t)(first_s % S_PER_MINUTE);
        follow->minute = at;
        if (votes != NULL)
            TRY(votes_changed(votes, (uint32_t)at, from, take_count, follow));
        else
            TRY(policies_changed(follow->ranking->policies, (uint32_t)at, from, take_news, follow));
    }
    return STATUS_OK;
}

static void remember(Follow *follow)
{
    if (follow->followed->count > FOLLOWED_MAX)
        map_free(follow->followed); /* costs some reads more */
    for (size_t i = 0; i < follow->count; i++)
        map_put(follow->followed, follow->policies[i], (uint64_t)follow->now_s);
}

static void end(Follow *follow)
{
    map_free(&follow->seen);
    free(follow->policies);
}

/* ---- Policies ------------------------------------------------------------------------------------------------- */

static Status follow_policies(Ranking *ranking, const RankingHeard *heard, bool *changed)
{
    Follow follow = {.ranking = ranking,
                     .followed = &ranking->followed_policies,
                     .now_s = clock_now_us(ranking->world.clock) / US_PER_S};
    Status status = read_marks(&follow, NULL);
    for (size_t i = 0; status == STATUS_OK && i < follow.count; i++) {
        policies_forget(ranking->policies, follow.policies[i]);
        status = ranking_policy_changed(ranking, follow.policies[i]);
        if (status == STATUS_NOT_FOUND)
            status = STATUS_OK;
        if (heard->policy != NULL)
            heard->policy(heard->self, follow.policies[i]);
    }
    if (status == STATUS_OK)
        remember(&follow);
    *changed |= follow.count > 0;
    end(&follow);
    return status;
}

/* ---- Counts --------------------------------------------------------------------------------------------------- */

static Status follow_counts(Ranking *ranking, Votes *votes, const RankingIndex *index,
                            bool *changed)
{
    Follow follow = {.ranking = ranking,
                     .followed = &ranking->followed_counts,
                     .now_s = clock_now_us(ranking->world.clock) / US_PER_S};
    Status status = read_marks(&follow, votes);
    if (status == STATUS_OK)
        status = ranking_reread_changed(ranking, votes, index, follow.policies, follow.count);
    if (status == STATUS_OK)
        remember(&follow);
    *changed |= follow.count > 0;
    end(&follow);
    return status;
}

Status ranking_follow(Ranking *ranking, const RankingHeard *heard, bool *ret_changed)
{
    Votes *votes;
    int64_t began_us = clock_now_us(ranking->world.clock);
    bool changed = false;
    RankingIndex *index = ranking_borrow(ranking, &votes);
    if (index == NULL)
        return STATUS_UNAVAILABLE;
    Status status = follow_policies(ranking, heard, &changed);
    if (status == STATUS_OK)
        status = follow_counts(ranking, votes, index, &changed);
    ranking_index_free(index);
    if (status == STATUS_OK) {
        pthread_rwlock_wrlock(&ranking->lock);
        ranking->followed_us = began_us;
        pthread_rwlock_unlock(&ranking->lock);
    }
    *ret_changed = changed;
    return status;
}
