/* known.h -- cells as they are stored, which the writer remembers from group to group.
 *
 * Only the writer changes the database, so what it wrote last is what is stored: a counter that changes in every group is read
 * once, and from then on compared with what is known. It holds what was both looked at and changed, since that will be looked at
 * again, and nothing else. When a write has failed, or the database is opened again, nothing is known any more.
 *
 * Bounded: sets of KNOWN_WAYS cells, none with more than KNOWN_BYTES of key and data. In a full set a newcomer takes the place
 * of a cell that was not asked for since the last newcomer, so that a crowd of voters who come once does not drive out the
 * counts that everybody changes. */
#pragma once

#include "store/rocksdb/overlay.h"

enum { KNOWN_WAYS = 4, KNOWN_BYTES = 512 };

typedef struct KnownCell KnownCell;

/* The hash stands beside the pointer, so that most questions end in one line of the processor's cache. */
typedef struct KnownPlace {
    uint64_t hash;
    KnownCell *cell; /* NULL: free */
} KnownPlace;

typedef struct Known {
    KnownPlace (*sets)[KNOWN_WAYS];
    size_t set_count; /* a power of two */
} Known;

/* For about this many cells. */
void known_init(Known *known, size_t cells);
void known_free(Known *known);
void known_clear(Known *known);
/* Fills in what is stored under the entry's key, and says whether it could. Its data lives until the next known_keep. */
bool known_load(Known *known, OverlayCell *entry);
/* The entry is stored now as it says. Who changes a cell tells it here, also one that was not looked at: then it is remembered
 * only if it was known before. */
void known_keep(Known *known, const OverlayCell *entry);
