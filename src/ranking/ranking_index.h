/* ranking_index.h -- the ranking in memory: policies, what they count, and the trees in which they stand. No store, no clock, no lock.
 *
 * A record stands for a policy: its own count, and the sum of that and of all policies that were merged into it. A record that leads
 * to another adds its sum to that one's, and so on up to the root. Only a root that is listed stands in trees: in those of
 * all policies, of its category and of its party (a *group* each), one tree for each window in use.
 *   1. Whatever is changed, the trees that exist are right when the call returns.
 *   2. Kept windows (all time and the default) have trees from ranking_index_build on; others when ranking_index_build_order made them,
 *      at most RANKING_INDEX_EXTRAS, of which the one that was used longest ago gives way.
 *   3. Facts of a policy are taken only if they are not older than those that are known (moves and revisions are numbered). */
#pragma once

#include "ranking/order.h"
#include "ranking/ranking.h"

enum {
    RANKING_INDEX_WINDOWS = 32, /* 0: all time; N: the last N days */
    RANKING_INDEX_KINDS = 3,    /* all, by category, by party */
    RANKING_INDEX_EXTRAS = 64,
    RANKING_INDEX_IDLE_S = 3600,
};

/* A total, and the days of it that a window can still see: NULL when nothing changed on them. */
typedef struct WindowTotals {
    int64_t total;
    Count *recent; /* only the days count */
} WindowTotals;

/* How a policy stood from a time on. */
typedef struct Step {
    int64_t time_us;
    uint64_t target; /* it was merged into, or 0 */
    bool listed;
} Step;

typedef struct RankingGroup {
    uint64_t count; /* of policies that stand in it */
    Order *orders[RANKING_INDEX_WINDOWS];
    _Atomic int64_t used_us[RANKING_INDEX_WINDOWS]; /* steady time of the last question */
} RankingGroup;

typedef struct Record {
    uint64_t id;
    size_t number; /* its place in ranking_index_at */
    uint64_t category, party;
    size_t move_count;
    int64_t moved_us; /* the last of them */
    uint32_t revision;
    bool listed;
    bool counted;          /* its count was read from the store, not only added up from news */
    struct Record *target; /* merged into; NULL: it is a root */
    WindowTotals sum;
    WindowTotals *own; /* NULL: nothing was merged into it, and its own is the sum */
    Step *steps;       /* oldest first */
    size_t step_count;
} Record;

typedef struct RankingIndex RankingIndex;

RankingIndex *ranking_index_new(uint32_t window_days, uint32_t today);
/* For another user of the same index; each user frees it. */
RankingIndex *ranking_index_share(RankingIndex *index);
void ranking_index_free(RankingIndex *index);

/* NULL when it is not known. */
Record *ranking_index_find(const RankingIndex *index, uint64_t policy);
/* Makes one that is not listed, when it is not known. */
Record *ranking_index_record(RankingIndex *index, uint64_t policy);
/* All records, in the order in which they came to be known. They never go away. */
size_t ranking_index_count(const RankingIndex *index);
Record *ranking_index_at(const RankingIndex *index, size_t number);
/* When the first policy was made; INT64_MAX without any. */
int64_t ranking_index_first_us(const RankingIndex *index);

void ranking_index_set_policy(RankingIndex *index, const Policy *policy);
/* The policy's own count, without members. */
void ranking_index_set_count(RankingIndex *index, uint64_t policy, const Count *count);
void ranking_index_add_count(RankingIndex *index, uint64_t policy, const Count *part);
void ranking_index_change(RankingIndex *index, uint64_t policy, int64_t time_us, int64_t change);

/* Makes the trees of the kept windows, and calls all counts known. Until then nothing stands in trees. */
void ranking_index_build(RankingIndex *index);
uint32_t ranking_index_today(const RankingIndex *index);
/* Windows end with this day from now on. */
void ranking_index_turn(RankingIndex *index, uint32_t today);

/* The votes of a record in a window, by the index's today. */
int64_t ranking_index_votes(const RankingIndex *index, const Record *record, uint32_t days);
/* Where the query's tree stands; its category or party is at most GROUPS_MAX. */
RankingGroup *ranking_index_group(const RankingIndex *index, const RankQuery *query);
bool ranking_index_in_group(const RankingIndex *index, const Record *record,
                            const RankQuery *query);
void ranking_index_build_order(RankingIndex *index, const RankQuery *query, int64_t steady_us);
/* Drops trees of other windows than the kept that nobody has used for RANKING_INDEX_IDLE_S. */
void ranking_index_drop_idle(RankingIndex *index, int64_t steady_us);
