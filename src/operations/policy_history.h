/* policy_history.h -- the past of a policy as every door shows it. The operation is in policy_history.c. */
#pragma once

#include "operations/policy_head.h"
#include "operations/rank_cache.h"

enum { HISTORY_DAYS_MAX = 366, HISTORY_HOURS_MAX = 744 };

typedef struct HistoryQuery {
    uint64_t policy;
    RankQuery query; /* of the ranks */
    bool by_hour;
    size_t count;  /* 0: as many as are usual */
    uint32_t last; /* the hour at whose end it ends, and that is over; 0: the last one */
} HistoryQuery;

typedef struct HistoryPoint {
    int64_t time_us; /* the day or hour that ended then begins here */
    int64_t end_us;
    bool is_there; /* it was in the ranking */
    int64_t votes; /* of this day or hour */
    uint64_t rank;
    int64_t window_votes, total;
} HistoryPoint;

typedef struct PolicyHistory {
    uint64_t policy;
    RankQuery query;
    bool has_window;
    unsigned by;    /* HISTORY_BY */
    uint32_t count; /* 0: as many as are usual */
    Slice until;
} PolicyHistory;
extern const char *const HISTORY_BY[];

typedef struct PolicyPast {
    PolicyHead head;
    HistoryQuery want; /* with what was left out filled in */
    bool is_until;     /* the moment at which it ends was asked for */
    HistoryPoint *points;
    size_t count;
} PolicyPast;

/* INVALID names the field. */
MUST_USE Status policy_past(Operations *ops, const PolicyHistory *request, const Actor *viewer,
                            Arena *arena, PolicyPast *ret_past, Reason *reason);
