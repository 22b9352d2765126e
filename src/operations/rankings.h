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

/* A ranking as it was when the moment `at` was over, as history_hour reads it. Names and groups are those of today; a policy whose text is gone is left
 * out. INVALID at `at`: it is no moment, or is not over. UNAVAILABLE: another question about the past is being answered. It takes up to a second. */
MUST_USE Status ranking_past(Operations *ops, const RankQuery *query, Slice at, uint64_t offset,
                             uint32_t limit, Arena *arena, PolicySummaryPage *ret_page,
                             Reason *reason);

/* "2026-01-31" (the end of that day) or "2026-01-31T12:00": the last hour that was over then. INVALID at `field` names the rule. Pure. */
MUST_USE Status history_hour(const char *field, Slice text, uint32_t *ret_hour, Reason *reason);
