/* count_update.h -- carries changes of entries into the buckets of policies, many at once: one half of project.c.
 *
 * All changes to one bucket of one policy are one conditional update; the buckets of a call do not depend on each other, so their
 * round trips overlap. A change is taken only if the stored seq of that voter is lower, so carrying twice, in parallel, or after a
 * crash at any point adds nothing twice; the plain cells are written also for what was taken before, because whoever took it may
 * have died in between. */
#pragma once

#include "votes/votes_private.h"

/* One change of one entry. A voter has at most one for each policy in a call. */
typedef struct CountUpdateItem {
    uint64_t policy;
    uint64_t voter;
    const Entry *entry;
    const EntryChange *change;
    Status
        *status; /* the voter's: set when it could not be carried with all its cells acknowledged */
} CountUpdateItem;

typedef struct CountUpdate {
    Votes *votes;
    uint32_t generation;
    Arena *arena;
    CountUpdateItem *items; /* any order; it is changed */
    size_t count;
} CountUpdate;

void votes_update_counts(const CountUpdate *count_update);
