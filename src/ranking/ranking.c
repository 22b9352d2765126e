/* ranking.c -- the handle, and what saves tell: see ranking.h. */
#include <stdlib.h>

#include "base/mutant.h"
#include "ranking/ranking_private.h"

Ranking *ranking_new(const RankingOptions *options)
{
    pthread_rwlockattr_t kind;
    Ranking *ranking = calloc(1, sizeof *ranking);
    CHECK(ranking != NULL);
    CHECK(options->window_days >= 1 && options->window_days < RANKING_INDEX_WINDOWS);
    *ranking = (Ranking){.store = options->store,
                         .world = options->world,
                         .policies = options->policies,
                         .window_days = options->window_days,
                         .shared = options->shared,
                         .hour_cache = hour_cache_new()};
    /* The usual kind lets readers pass a waiting writer: many visitors would keep saves from being answered. */
    pthread_rwlockattr_init(&kind);
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&ranking->lock, &kind);
    pthread_rwlockattr_destroy(&kind);
    return ranking;
}

void ranking_free(Ranking *ranking)
{
    if (ranking == NULL)
        return;
    CHECK(!ranking->loading);
    ranking_index_free(ranking->live);
    pending_free(&ranking->pending);
    pthread_rwlock_destroy(&ranking->lock);
    free(ranking->again);
    map_free(&ranking->followed);
    hour_cache_free(ranking->hour_cache);
    free(ranking);
}

uint32_t ranking_today(const Ranking *ranking)
{
    return count_day(clock_now_us(ranking->world.clock));
}

int64_t ranking_as_of_us(const Ranking *ranking)
{
    if (ranking->behind_us != 0)
        return ranking->behind_us;
    if (!ranking->shared)
        return clock_now_us(ranking->world.clock);
    return ranking->followed_us > ranking->refreshed.now_us ? ranking->followed_us
                                                            : ranking->refreshed.now_us;
}

void ranking_turn(Ranking *ranking)
{
    uint32_t today = ranking_today(ranking);
    if (ranking->live != NULL && ranking_index_today(ranking->live) != today)
        ranking_index_turn(ranking->live, today);
}

RankingIndex *ranking_borrow(Ranking *ranking, Votes **ret_votes)
{
    pthread_rwlock_rdlock(&ranking->lock);
    RankingIndex *index = ranking->live == NULL ? NULL : ranking_index_share(ranking->live);
    *ret_votes = ranking->votes;
    pthread_rwlock_unlock(&ranking->lock);
    return index;
}

/* ---- News ----------------------------------------------------------------------------------------------------------- */

static void add_noted(void *context, const Noted *noted)
{
    Ranking *ranking = context;
    if (ranking->live != NULL)
        ranking_index_change(ranking->live, noted->policy, noted->time_us, noted->change);
    if (ranking->next != NULL)
        ranking_index_change(ranking->next, noted->policy, noted->time_us, noted->change);
}

/* Trees that nobody asks for must go though nobody asks; saves come anyway. */
static void drop_idle(Ranking *ranking)
{
    enum { EVERY_S = 60 };
    int64_t steady_us = clock_steady_us(ranking->world.clock);
    if (ranking->live == NULL || steady_us - ranking->dropped_us < EVERY_S * US_PER_S)
        return;
    ranking->dropped_us = steady_us;
    ranking_index_drop_idle(ranking->live, steady_us);
}

static void told(void *self, VoteStep step, const VoteNews *news)
{
    Ranking *ranking = self;
    pthread_rwlock_wrlock(&ranking->lock);
    switch (step) {
    case VOTE_SENT:
        pending_sent(&ranking->pending, news);
        break;
    case VOTE_SAVED:
        ranking_turn(ranking);
        pending_saved(&ranking->pending, news, add_noted, ranking);
        drop_idle(ranking);
        break;
    case VOTE_DROPPED:
        if (MUTANT(ranking_adds_dropped))
            pending_saved(&ranking->pending, news, add_noted, ranking);
        pending_dropped(&ranking->pending, news);
        break;
    }
    pthread_rwlock_unlock(&ranking->lock);
}

static void projected(void *self, uint64_t voter, uint64_t seq)
{
    Ranking *ranking = self;
    pthread_rwlock_wrlock(&ranking->lock);
    pending_projected(&ranking->pending, voter, seq);
    pthread_rwlock_unlock(&ranking->lock);
}

VoteListener ranking_listener(Ranking *ranking)
{
    return (VoteListener){told, projected, ranking};
}
