/* map.h -- from a 64-bit key to a number that is not 0: open addressing, at most half full.
 *
 * A map of zeros is empty. Values are places in an array of the caller's, + 1, or anything else but 0. Not safe for several
 * threads. */
#pragma once

#include "base/slice.h"

typedef struct MapSlot {
    uint64_t key, value;
} MapSlot;

typedef struct Map {
    MapSlot *slots;
    size_t room; /* a power of two, or 0 */
    size_t count;
} Map;

void map_free(Map *map);
/* 0 when the key is not there. */
uint64_t map_get(const Map *map, uint64_t key);
/* Adds or replaces. */
void map_put(Map *map, uint64_t key, uint64_t value);
/* Removing what is not there is a bug. */
void map_remove(Map *map, uint64_t key);
