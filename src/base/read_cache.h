/* read_cache.h -- copies of what the store says, kept in memory for readers that may see it a little late.
 *
 *     Copy copy;
 *     if (!read_cache_find(copies, key, arena, &copy)) {
 *         TRY(… read it …);
 *         copy.bytes = …;
 *         read_cache_put(copies, key, &copy);
 *     }
 * and whoever writes calls read_cache_forget after the write, whatever it answered. Who knows what stands there then may put that, with one more
 * than the ticket from before the write. Promises:
 *   1. What read_cache_find gives was asked of the store less than `valid_us` ago.
 *   2. After read_cache_forget has returned, read_cache_find gives nothing that was asked for before the call: what a slow reader brings later is
 *      dropped. So in the process that writes, a write counts at once; a write of another process counts after `valid_us`, and so does
 *      one whose outcome is unknown and that lands later.
 *   3. At most 2^bits copies of at most CACHED_BYTES_MAX bytes each, key included; a larger one is not kept. Of keys that meet in one place the
 *      youngest stay.
 * All calls may come from any thread. */
#pragma once

#include "base/arena.h"
#include "base/world.h"

typedef struct ReadCache ReadCache;

enum { CACHED_BYTES_MAX = 1024 };

/* What was found; or, when nothing was, what admits the bytes that are read from now on. */
typedef struct CachedBytes {
    Slice bytes;
    uint64_t ticket;
    ClockReading asked;
} CachedBytes;

/* valid_us 0: nothing is kept. READ_CACHE_EXACT: for as long as there is room, where this process alone writes, and keys hold the store's
 * generation (store_generation): what is found is then what stands in the store. */
#define READ_CACHE_EXACT INT64_MAX
ReadCache *read_cache_new(Clock clock, unsigned bits, int64_t valid_us);
void read_cache_free(ReadCache *read_cache);
/* The bytes are copied into the arena, aligned for any type. */
bool read_cache_find(ReadCache *read_cache, Slice key, Arena *arena, CachedBytes *ret_copy);
void read_cache_put(ReadCache *read_cache, Slice key, const CachedBytes *copy);
void read_cache_forget(ReadCache *read_cache, Slice key);
