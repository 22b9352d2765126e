/* writer_cache.h -- cells as they are stored, which the writer remembers from group to group.
 *
 * Only the writer changes the database, so what it wrote last is what is stored: a counter that changes in every group is read
 * once, and from then on compared with what is known. It holds what was both looked at and changed, since that will be looked at
 * again, and nothing else. When a write has failed, or the database is opened again, nothing is known any more.
 *
 * Bounded: sets of WRITER_CACHE_WAYS cells, none with more than WRITER_CACHE_BYTES of key and data. In a full set a newcomer takes the place
 * of a cell that was not asked for since the last newcomer, so that a crowd of voters who come once does not drive out the
 * counts that everybody changes. */
#pragma once

#include "store/rocksdb/overlay.h"

enum { WRITER_CACHE_WAYS = 4, WRITER_CACHE_BYTES = 512 };

typedef struct WriterCacheCell WriterCacheCell;

/* The hash stands beside the pointer, so that most questions end in one line of the processor's cache. */
typedef struct WriterCachePlace {
    uint64_t hash;
    WriterCacheCell *cell; /* NULL: free */
} WriterCachePlace;

typedef struct WriterCache {
    WriterCachePlace (*sets)[WRITER_CACHE_WAYS];
    size_t set_count; /* a power of two */
} WriterCache;

/* For about this many cells. */
void writer_cache_init(WriterCache *writer_cache, size_t cells);
void writer_cache_free(WriterCache *writer_cache);
void writer_cache_clear(WriterCache *writer_cache);
/* Fills in what is stored under the entry's key, and says whether it could. Its data lives until the next writer_cache_keep. */
bool writer_cache_load(WriterCache *writer_cache, OverlayCell *entry);
/* The entry is stored now as it says. Who changes a cell tells it here, also one that was not looked at: then it is remembered
 * only if it was known before. */
void writer_cache_keep(WriterCache *writer_cache, const OverlayCell *entry);
