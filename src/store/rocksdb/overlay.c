/* overlay.c -- open addressing over a dense array: the array keeps the order in which cells came, which is the order
 * in which they are written. */
#include "store/rocksdb/overlay.h"

#include <stdlib.h>

enum { SLOTS_AT_FIRST = 1024 };

void overlay_init(Overlay *overlay, Arena *arena)
{
    *overlay = (Overlay){.arena = arena, .slot_count = SLOTS_AT_FIRST};
    overlay->slots = calloc(overlay->slot_count, sizeof *overlay->slots);
    CHECK(overlay->slots != NULL);
}

void overlay_free(Overlay *overlay)
{
    free(overlay->cells);
    free(overlay->slots);
}

void overlay_clear(Overlay *overlay)
{
    if (overlay->count > 0)
        memset(overlay->slots, 0, overlay->slot_count * sizeof *overlay->slots);
    overlay->count = 0;
}

uint64_t overlay_hash(Slice key)
{
    uint64_t hash = key.size * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = 0;
    for (; at + 8 <= key.size; at += 8) {
        hash = (hash ^ bytes_get_u64(key.data + at)) * UINT64_C(0xD6E8FEB86659FD93);
        hash ^= hash >> 32;
    }
    for (; at < key.size; at++)
        hash = (hash ^ (unsigned char)key.data[at]) * UINT64_C(0x100000001B3);
    return hash ^ hash >> 29;
}

static void place(Overlay *overlay, uint64_t hash, size_t index)
{
    size_t slot = hash & (overlay->slot_count - 1);
    while (overlay->slots[slot] != 0)
        slot = (slot + 1) & (overlay->slot_count - 1);
    overlay->slots[slot] = (uint32_t)index + 1;
}

static OverlayCell *add(Overlay *overlay, Slice key, uint64_t hash)
{
    if (2 * (overlay->count + 1) > overlay->slot_count) {
        free(overlay->slots);
        overlay->slot_count *= 2;
        overlay->slots = calloc(overlay->slot_count, sizeof *overlay->slots);
        CHECK(overlay->slots != NULL);
        for (size_t i = 0; i < overlay->count; i++)
            place(overlay, overlay->cells[i].hash, i);
    }
    if (overlay->count == overlay->capacity) {
        overlay->capacity = overlay->capacity == 0 ? 256 : 2 * overlay->capacity;
        overlay->cells = realloc(overlay->cells, overlay->capacity * sizeof *overlay->cells);
        CHECK(overlay->cells != NULL);
    }
    OverlayCell *cell = &overlay->cells[overlay->count];
    *cell = (OverlayCell){.key = arena_copy(overlay->arena, key), .hash = hash};
    place(overlay, hash, overlay->count++);
    return cell;
}

/* NULL: not there. */
static OverlayCell *find(const Overlay *overlay, Slice key, uint64_t hash)
{
    size_t slot = hash & (overlay->slot_count - 1);
    for (; overlay->slots[slot] != 0; slot = (slot + 1) & (overlay->slot_count - 1)) {
        OverlayCell *cell = &overlay->cells[overlay->slots[slot] - 1];
        if (cell->hash == hash && slice_equal(cell->key, key))
            return cell;
    }
    return NULL;
}

OverlayCell *overlay_find(Overlay *overlay, Slice key)
{
    uint64_t hash = overlay_hash(key);
    OverlayCell *cell = find(overlay, key, hash);
    return cell != NULL ? cell : add(overlay, key, hash);
}

const OverlayCell *overlay_peek(const Overlay *overlay, const OverlayCell *entry)
{
    return find(overlay, entry->key, entry->hash);
}
