/* rankings.h -- a ranking and a policy's place in it as every door shows them. The operations are in rankings.c. */
#pragma once

#include "operations/operation.h"
#include "operations/policy_summary.h"

enum { RANKING_LIMIT_MAX = 100, HISTORY_UNTIL_MAX = 40 };
#define RANKING_OFFSET_MAX INT64_C(1000000000)

typedef struct RankingList {
    RankQuery query;
    PolicySummaryPage page;
    Slice next; /* the address of the next page, for programs */
} RankingList;

typedef struct RankingPlace {
    bool is_there;
    uint32_t days;
    RankPlace place;
} RankingPlace;

typedef struct RankingStanding {
    uint64_t policy;
    int64_t total;
    RankingPlace recent, ever;
} RankingStanding;

/* "2026-01-31" (the end of that day) or "2026-01-31T12:00": the last hour that was over then. INVALID at `field` names the rule. Pure. */
MUST_USE Status history_hour(const char *field, Slice text, uint32_t *ret_hour, Reason *reason);
