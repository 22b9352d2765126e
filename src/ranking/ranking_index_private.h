/* ranking_index_private.h -- what ranking_index.c (records and counts) and ranking_groups.c (trees) share. */
#pragma once

#include "ranking/map.h"
#include "ranking/window_totals.h"

/* A tree that somebody asked for, of another window than the kept. */
typedef struct Extra {
    RankingGroup *ranking_group;
    uint32_t days;
} Extra;

struct RankingIndex {
    _Atomic int users;
    uint32_t today;
    uint32_t window_days;
    bool built;
    Record **records;
    size_t count, room;
    Map numbers; /* policy -> number + 1 */
    int64_t first_us;
    RankingGroup
        *ranking_groups[RANKING_INDEX_KINDS]; /* of all: one; of categories and of parties: by id */
    uint32_t windows;                         /* bit N: some group has a tree for the last N days */
    Extra extras[RANKING_INDEX_EXTRAS];
    size_t extra_count;
};

/* Where a record stands, to be compared with where it stood before a change. */
typedef struct Standing {
    RankingGroup *ranking_groups[RANKING_INDEX_KINDS]; /* NULL: not in one of this kind */
    int64_t votes[RANKING_INDEX_WINDOWS];
} Standing;

void ranking_groups_new(RankingIndex *index);
void ranking_groups_free(RankingIndex *index);
Standing ranking_groups_standing(const RankingIndex *index, const Record *record);
/* Moves a policy within the trees and between groups. */
void ranking_groups_move(RankingIndex *index, uint64_t policy, const Standing *before,
                         const Standing *after);
