/* follow.c -- counts that other instances changed in the last seconds.
 *
 * A mark carries the second of its writer's clock, and may be visible before what it announces. So a marked policy is read again at each
 * look, until a look began FOLLOW_AGAIN_S after the mark's second. The next refresh finds what comes later than that, or from a clock
 * that is off by more than FOLLOW_BACK_S. */
#include <stdlib.h>

#include "base/mutant.h"
#include "ranking/ranking_private.h"

enum { FOLLOW_BACK_S = 6, FOLLOW_AGAIN_S = 3, FOLLOWED_MAX = 20000 };

typedef struct Follow {
    Map *followed; /* policy -> second in which it was last read */
    int64_t now_s, minute;
    Map seen; /* in this look */
    uint64_t *policies;
    size_t count, room;
} Follow;

/* Adds what has not been read since long enough after its mark. */
static void take(void *context, VotesMark mark)
{
    Follow *follow = context;
    int64_t marked_s = follow->minute * S_PER_MINUTE + mark.second;
    int64_t read_s = (int64_t)map_get(follow->followed, mark.policy);
    int64_t again_s = MUTANT(follower_looks_once) ? 0 : FOLLOW_AGAIN_S;
    if (marked_s < follow->now_s - FOLLOW_BACK_S || read_s >= marked_s + again_s ||
        map_get(&follow->seen, mark.policy) != 0)
        return;
    map_put(&follow->seen, mark.policy, 1);
    if (follow->count == follow->room) {
        follow->room = 2 * follow->room + 64;
        follow->policies = realloc(follow->policies, follow->room * sizeof *follow->policies);
        CHECK(follow->policies != NULL);
    }
    follow->policies[follow->count++] = mark.policy;
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
        TRY(votes_changed(votes, (uint32_t)at, from, take, follow));
    }
    return STATUS_OK;
}

Status ranking_follow(Ranking *ranking, int64_t began_us, bool *ret_changed)
{
    Votes *votes;
    Follow follow = {.followed = &ranking->followed,
                     .now_s = clock_now_us(ranking->world.clock) / US_PER_S};
    RankingIndex *index = ranking_borrow(ranking, &votes);
    *ret_changed = false;
    if (index == NULL)
        return STATUS_UNAVAILABLE;
    Status status = read_marks(&follow, votes);
    if (status == STATUS_OK)
        status = ranking_reread_changed(ranking, votes, index, follow.policies, follow.count);
    ranking_index_free(index);
    if (status == STATUS_OK) {
        if (ranking->followed.count > FOLLOWED_MAX)
            map_free(&ranking->followed); /* costs some reads more */
        for (size_t i = 0; i < follow.count; i++)
            map_put(&ranking->followed, follow.policies[i], (uint64_t)follow.now_s);
        pthread_rwlock_wrlock(&ranking->lock);
        ranking->followed_us = began_us;
        pthread_rwlock_unlock(&ranking->lock);
    }
    *ret_changed = follow.count > 0;
    map_free(&follow.seen);
    free(follow.policies);
    return status;
}
