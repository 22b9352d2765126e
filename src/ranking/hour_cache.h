/* hour_cache.h -- the changes of past hours and days, kept in memory: questions about the past read the same ones again and again, and reading
 * an hour is a look into the store for each of its shards.
 *
 * What is kept is kept by name: the generation of the ledger's derived rows, the hours, and the digest of the marks of late days that was seen
 * before they were read (checkpoints.h). As long as the digest is the same, so are the hours, provided that they were over: the caller sees to
 * that. At most HOUR_CACHE_SPANS spans of HOUR_CACHE_CHANGES policies each are kept, 32 MB in all; what is larger is read again each time.
 * All functions may be called from any thread. */
#pragma once

#include "ranking/map.h"
#include "votes/votes.h"

typedef struct HourCache HourCache;

enum { HOUR_CACHE_SPANS = 2048, HOUR_CACHE_CHANGES = 1024 };

typedef struct HourSpan {
    uint32_t generation;
    uint32_t first, count; /* hours since 1970 */
    uint64_t digest;
} HourSpan;

HourCache *hour_cache_new(void);
void hour_cache_free(HourCache *hour_cache);
/* As votes_hour_changes for each of these hours; a policy comes once. From memory, or read and kept. */
MUST_USE Status hour_cache_changes(HourCache *hour_cache, Votes *votes, const HourSpan *span,
                                   VotesChangeVisit *visit, void *context);
