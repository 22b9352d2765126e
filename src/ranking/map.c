/* map.c -- see map.h. */
#include "ranking/map.h"

#include <stdlib.h>

enum { ROOM_FIRST = 64 };

void map_free(Map *map)
{
    free(map->slots);
    *map = (Map){0};
}

/* Ids are mostly consecutive; a multiplication spreads them. */
static size_t home_of(const Map *map, uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (map->room - 1);
}

/* Where the key is, or the free slot where it would be. */
static MapSlot *slot_of(const Map *map, uint64_t key)
{
    size_t at = home_of(map, key);
    while (map->slots[at].value != 0 && map->slots[at].key != key)
        at = (at + 1) & (map->room - 1);
    return &map->slots[at];
}

uint64_t map_get(const Map *map, uint64_t key)
{
    return map->room == 0 ? 0 : slot_of(map, key)->value;
}

static void grow(Map *map)
{
    Map larger = {.room = map->room == 0 ? ROOM_FIRST : 2 * map->room, .count = map->count};
    larger.slots = calloc(larger.room, sizeof *larger.slots);
    CHECK(larger.slots != NULL);
    for (size_t i = 0; i < map->room; i++)
        if (map->slots[i].value != 0)
            *slot_of(&larger, map->slots[i].key) = map->slots[i];
    free(map->slots);
    *map = larger;
}

void map_put(Map *map, uint64_t key, uint64_t value)
{
    CHECK(value != 0);
    if (2 * (map->count + 1) > map->room)
        grow(map);
    MapSlot *slot = slot_of(map, key);
    map->count += slot->value == 0;
    *slot = (MapSlot){key, value};
}

/* Closes the gap: whoever was pushed behind it by collisions moves up, so that no search ends too early. */
void map_remove(Map *map, uint64_t key)
{
    CHECK(map_get(map, key) != 0);
    size_t mask = map->room - 1, gap = (size_t)(slot_of(map, key) - map->slots);
    for (size_t at = (gap + 1) & mask; map->slots[at].value != 0; at = (at + 1) & mask) {
        size_t home = home_of(map, map->slots[at].key);
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            map->slots[gap] = map->slots[at];
            gap = at;
        }
    }
    map->slots[gap] = (MapSlot){0};
    map->count--;
}
