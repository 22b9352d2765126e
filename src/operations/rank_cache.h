/* rank_cache.h -- the past of policies for pages: ranks of the last days, kept in memory, and any past asked for, a few at a time.
 *
 * A question about the past reads and sorts all policies for each moment (ranking.h); on a page that many people open that would be
 * felt. So
 *   1. the first RANK_CACHE_PLACES places at the ends of the last RANK_CURVE_DAYS days are kept for all policies, in the ranking of the default
 *      window; the site's own thread reads them, one day at a time;
 *   2. what is not among them is asked for when a page needs it, and kept until the next hour is over, for RANK_CACHE_MAX policies;
 *   3. at most `at_once` questions about the past are answered at once, and nobody waits for them to end: threads that wait are
 *      threads that answer nobody else.
 * Entries that are found late change the past: what is kept is read again after a day. */
#pragma once

#include "app/app.h"

typedef struct RankCache RankCache;

enum {
    RANK_CURVE_DAYS = 30,
    RANK_CACHE_PLACES = RANK_PAGE_MAX,
    RANK_CACHE_BITS = 12,
    RANK_CACHE_MAX = 1 << RANK_CACHE_BITS,
    DAY_HOURS = 24,
};
static const int64_t HOUR_US = INT64_C(3600) * US_PER_S;

typedef struct RankCurvePoint {
    uint32_t hour; /* since 1970; its end is the moment */
    uint64_t rank; /* 0: not in the ranking */
} RankCurvePoint;

/* The ranks of one policy at the ends of the last days; the last moment is that of the last hour that is over. */
typedef struct RankCurve {
    RankCurvePoint points[RANK_CURVE_DAYS];
    size_t count;
} RankCurve;

/* Questions about the past never hold more than half of the threads that answer. */
RankCache *rank_cache_new(App *app, const Config *config);
void rank_cache_free(RankCache *rank_cache);
/* From memory, or read. UNAVAILABLE: not now, because others ask, or the store does not answer. Does not wait for others. */
MUST_USE Status rank_cache_ranks(RankCache *rank_cache, uint32_t window, uint64_t policy,
                                 RankCurve *ret_curve);
/* ranking_history; UNAVAILABLE when there is no room for one more question. */
typedef struct RankHistoryQuery {
    RankQuery query;
    uint64_t policy;
    const uint32_t *hours;
    size_t count;
} RankHistoryQuery;
MUST_USE Status rank_cache_history(RankCache *rank_cache, const RankHistoryQuery *question,
                                   RankMoment *ret_moments);
/* Reads one day that is missing or old, if there is one; false when all is there. By one thread. */
bool rank_cache_refresh(RankCache *rank_cache, uint32_t window);

/* The hours at whose ends days end, up to and including `last`, at most `count` of them, ascending: the last is `last` itself. Pure. */
size_t rank_curve_days(uint32_t last, size_t count, uint32_t *ret_hours);
