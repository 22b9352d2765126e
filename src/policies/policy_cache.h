/* policy_cache.h -- what rules need to know of policies, kept in memory for a while.
 *
 * An entry has a policy's moves, without their reasons, its listings, and the number of its text. All only ever grow, so of two pictures
 * the longer list is the newer, and an entry keeps the longer of each while it lives: an own move that was put here stays,
 * whatever a slow reader brings.
 * Bounded: an entry weighs 1, and 1 more for every 8 moves and listings; when all together weigh more than the
 * capacity, the entries unused for longest go, by about an eighth of all. Safe from any thread; nothing is called while the lock is held. */
#pragma once

#include "policies/policy_codec.h"

typedef struct PolicyCache PolicyCache;

/* What there is to know for rules and for following merges. */
typedef struct PolicyKnown {
    PolicyFacts facts;
    const PolicySource *sources;
    size_t source_count;
    PolicyEdit edit;
} PolicyKnown;

/* Entries count for `valid_us`. */
PolicyCache *policy_cache_new(Clock clock, uint32_t capacity, int64_t valid_us);
void policy_cache_free(PolicyCache *cache);
/* From when what is put later is: to be asked before the store is. `generation` is the store's (store_generation): in another one nothing
 * counts that was asked for before. */
typedef struct PolicyAsked {
    ClockReading at;
    uint64_t generation;
} PolicyAsked;
PolicyAsked policy_cache_ask(PolicyCache *cache, uint64_t generation);
/* false when it is not there or too old; otherwise a copy in the arena. */
bool policy_cache_get(PolicyCache *cache, uint64_t generation, uint64_t id, Arena *arena,
                      PolicyKnown *ret_known);
void policy_cache_put(PolicyCache *cache, const PolicyKnown *known, PolicyAsked asked);
void policy_cache_forget(PolicyCache *cache, uint64_t id);
/* For tests and metrics. */
size_t policy_cache_weight(PolicyCache *cache);
