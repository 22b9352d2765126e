/* groups.h -- categories and parties as every door shows them. The operations are in groups.c. */
#pragma once

#include "operations/operation.h"
#include "operations/policy_summary.h"

typedef struct GroupEntry {
    PolicyGroup group;
    Slice address;
    uint64_t policies; /* in the ranking */
    bool has_leader;
    PolicySummary leader; /* by all votes */
} GroupEntry;

typedef struct GroupsView {
    GroupKind kind;
    GroupEntry *entries; /* in the order in which they were added */
    size_t count;
} GroupsView;
/* All of them, also those that take no new policies. */
MUST_USE Status groups_view(Operations *ops, GroupKind kind, Arena *arena, GroupsView *ret_view);
/* The ranking of a group's policies. */
RankQuery group_query(GroupKind kind, uint64_t id, uint32_t days);
