/* curves.h -- the past of policies for pages: ranks of the last days, kept for an hour, and any past asked for, a few at a time.
 *
 * A question about the past reads and sorts all policies for each moment (ranking.h); on a page that many people open that would be
 * felt. So the ranks by day that every policy page draws are kept until the next hour is over, for CURVES_MOST policies;
 * and at most CURVES_AT_ONCE questions about the past are answered at once, so that they never hold all threads. */
#pragma once

#include "app/app.h"

typedef struct Curves Curves;

enum {
    CURVES_MOST = 4096,
    CURVES_AT_ONCE = 2,
    CURVES_WAIT_MS = 2000, /* for others to end, before it is given up */
    CURVE_DAYS = 30,
};
static const int64_t HOUR_US = INT64_C(3600) * US_PER_S;
enum { DAY_HOURS = 24 };

/* The ranks of one policy at the ends of the last days; the last moment is that of the last hour that is over. */
typedef struct Curve {
    RankMoment moments[CURVE_DAYS];
    size_t count;
} Curve;

Curves *curves_new(App *app);
void curves_free(Curves *curves);
/* From memory, or read. UNAVAILABLE: not now, because others ask, or the store does not answer. Does not wait for others. */
MUST_USE Status curves_ranks(Curves *curves, const RankQuery *query, uint64_t policy,
                             Curve *ret_curve);
/* ranking_history, when there is room for one more question. */
typedef struct CurveQuestion {
    RankQuery query;
    uint64_t policy;
    const uint32_t *hours;
    size_t count;
} CurveQuestion;
MUST_USE Status curves_history(Curves *curves, const CurveQuestion *question,
                               RankMoment *ret_moments);

/* The hours at whose ends days end, up to and including `last`, at most `count` of them, ascending: the last is `last` itself. Pure. */
size_t curve_days(uint32_t last, size_t count, uint32_t *ret_hours);
