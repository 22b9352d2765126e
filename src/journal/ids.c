/* ids.c -- see ids.h. */
#include "journal/ids.h"

#include <stdlib.h>

#include "base/status.h"

enum { SMALL = 65536, HOLES_LEAST = 1024 };

void ids_free(Ids *ids)
{
    free(ids->slots);
    *ids = (Ids){0};
}

static void resize(Ids *ids, size_t capacity)
{
    ids->slots = realloc(ids->slots, capacity * sizeof *ids->slots);
    CHECK(ids->slots != NULL);
    ids->capacity = capacity;
}

static void close_holes(Ids *ids)
{
    size_t kept = 0;
    for (size_t i = 0; i < ids->used; i++)
        if (ids->slots[i].item != NULL)
            ids->slots[kept++] = ids->slots[i];
    ids->used = kept;
    if (ids->capacity > SMALL && ids->used < ids->capacity / 4)
        resize(ids, ids->capacity / 2);
}

void ids_add(Ids *ids, uint64_t id, void *item)
{
    if (ids->used == ids->capacity)
        resize(ids,
               ids->capacity + (ids->capacity < SMALL ? ids->capacity + 64 : ids->capacity / 4));
    ids->slots[ids->used++] = (IdSlot){id, item};
    ids->count++;
}

static int by_id(const void *a, const void *b)
{
    uint64_t left = ((const IdSlot *)a)->id, right = ((const IdSlot *)b)->id;
    return left < right ? -1 : left > right;
}

void ids_sort(Ids *ids)
{
    close_holes(ids);
    if (ids->used > 0)
        qsort(ids->slots, ids->used, sizeof *ids->slots, by_id);
}

/* The place of the first id that is not below `id`. There are at most as many slots between two ids as their difference, which bounds
 * the place from both ends. */
static size_t place_of(const Ids *ids, uint64_t id)
{
    size_t low = 0, high = ids->used;
    if (high == 0 || id > ids->slots[high - 1].id)
        return high;
    if (id <= ids->slots[0].id)
        return 0;
    uint64_t from_first = id - ids->slots[0].id, to_last = ids->slots[high - 1].id - id;
    if (to_last < high - 1)
        low = high - 1 - (size_t)to_last;
    if (from_first < high)
        high = (size_t)from_first + 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ids->slots[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void *ids_find(const Ids *ids, uint64_t id)
{
    size_t place = place_of(ids, id);
    return place < ids->used && ids->slots[place].id == id ? ids->slots[place].item : NULL;
}

void ids_remove(Ids *ids, uint64_t id)
{
    size_t place = place_of(ids, id);
    CHECK(place < ids->used && ids->slots[place].id == id && ids->slots[place].item != NULL);
    ids->slots[place].item = NULL;
    ids->count--;
    while (ids->used > 0 && ids->slots[ids->used - 1].item == NULL)
        ids->used--;
    if (ids->used - ids->count > ids->count + HOLES_LEAST)
        close_holes(ids);
}

void *ids_next(const Ids *ids, size_t *place)
{
    while (*place < ids->used) {
        void *item = ids->slots[(*place)++].item;
        if (item != NULL)
            return item;
    }
    return NULL;
}

void *ids_first(const Ids *ids, uint64_t after, size_t *ret_place)
{
    *ret_place = after == UINT64_MAX ? ids->used : place_of(ids, after + 1);
    return ids_next(ids, ret_place);
}
