/* overlay.h -- the cells that the open batch has read or changed, by key.
 *
 * The writer decides many requests before it writes once. A later request must see what an earlier one in the same batch
 * did, so every decision goes through here: a cell is loaded once, changed in place, and at the end the changed
 * ones become RocksDB's batch. Memory comes from the batch's arena and goes with it. */
#pragma once

#include "base/arena.h"
#include "store/rocksdb/codec.h"

typedef struct OverlayCell {
    Slice key;
    uint64_t hash;
    StoredCell cell;
    bool asked;   /* it had to be looked up to decide something */
    bool loaded;  /* `present` and `cell` are known */
    bool present; /* something is stored, dead or alive */
    bool changed; /* to be written: put, or removed when not present */
} OverlayCell;

typedef struct Overlay {
    Arena *arena;
    OverlayCell *cells;
    size_t count, capacity;
    uint32_t *slots; /* index + 1 into cells; 0 is free */
    size_t slot_count;
} Overlay;

uint64_t overlay_hash(Slice key);
void overlay_init(Overlay *overlay, Arena *arena);
void overlay_free(Overlay *overlay);
/* Forgets all cells, for the next batch. The caller resets the arena. */
void overlay_clear(Overlay *overlay);
/* The entry for this key, made when it is not there (not loaded then). Valid until the next call. */
OverlayCell *overlay_find(Overlay *overlay, Slice key);
/* The entry with the same key in another overlay, or NULL. */
const OverlayCell *overlay_peek(const Overlay *overlay, const OverlayCell *entry);
