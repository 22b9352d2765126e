/* ranking_private.h -- what the files of ranking share:
 *   order, map         a tree that knows places; a map
 *   window_totals, ranking_index, ranking_groups  the ranking in memory, without store, clock or lock
 *   pending            saves under way
 *   ranking.c          the handle, and what saves tell
 *   load.c             reading counts and policies from the store
 *   follow.c           what other instances changed just now
 *   questions.c        pages and places
 *   past.c             rankings of past hours
 *   hour_cache         changes of past hours in memory
 *   checkpoints, checkpoint_task  totals at the ends of days */
#pragma once

#include <pthread.h>

#include "news/news.h"
#include "ranking/hour_cache.h"
#include "ranking/pending.h"
#include "ranking/ranking_index.h"

enum { S_PER_MINUTE = 60 };

struct Ranking {
    Store *store;
    World world;
    Policies *policies;
    uint32_t window_days;
    bool shared;
    HourCache *hour_cache; /* for questions about the past */

    /* Guards all below. Nobody uses the store while holding it. */
    pthread_rwlock_t lock;
    Votes *votes;        /* NULL before the first load */
    RankingIndex *live;  /* answers questions; NULL before the first load */
    uint32_t generation; /* of the counts that it was loaded from */
    RankingIndex *next;  /* while a load corrects its last counts: gets all news, too */
    bool loading;
    Pending pending;
    uint64_t *again; /* policies to read again: a read failed, or a load may have missed it */
    size_t again_count, again_room;
    int64_t behind_us;      /* since when a read is outstanding that failed; 0: none */
    ClockReading refreshed; /* when the last load or refresh began that went well */
    int64_t followed_us;    /* when the last look at others began that went well */
    int64_t dropped_us;     /* steady time when idle trees were last looked for */

    /* Of the thread that follows: when the counts of a policy were last read, in seconds. */
    Map followed;
};

uint32_t ranking_today(const Ranking *ranking);
/* Under the lock: up to when everything is in the ranking. */
int64_t ranking_as_of_us(const Ranking *ranking);
/* Under the lock: windows end today from now on. */
void ranking_turn(Ranking *ranking);
MUST_USE Status ranking_check_query(const RankQuery *query);
/* The counts of these, and those that are not known yet altogether. */
MUST_USE Status ranking_reread_changed(Ranking *ranking, Votes *votes, const RankingIndex *index,
                                       const uint64_t *policies, size_t count);
/* The ranking that answers now, for a reader that outlives it; NULL before the first load. Free it with ranking_index_free. */
RankingIndex *ranking_borrow(Ranking *ranking, Votes **ret_votes);
