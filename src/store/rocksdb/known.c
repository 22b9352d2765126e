/* known.c -- see known.h. A hash table of small sets; a cell is one allocation, used again while the next one fits. */
#include "store/rocksdb/known.h"

#include <stdlib.h>

struct KnownCell {
    StoredCell cell; /* its data stands behind the key */
    uint32_t key_size, room;
    bool asked; /* since the last newcomer to the set */
    char bytes[];
};

void known_init(Known *known, size_t cells)
{
    known->set_count = 1;
    while (known->set_count * KNOWN_WAYS < cells)
        known->set_count *= 2;
    known->sets = calloc(known->set_count, sizeof *known->sets);
    CHECK(known->sets != NULL);
}

void known_free(Known *known)
{
    known_clear(known);
    free(known->sets);
}

void known_clear(Known *known)
{
    for (size_t i = 0; i < known->set_count; i++)
        for (size_t k = 0; k < KNOWN_WAYS; k++) {
            free(known->sets[i][k].cell);
            known->sets[i][k].cell = NULL;
        }
}

/* The overlay uses the lower bits of the hash. */
static KnownPlace *set_of(const Known *known, uint64_t hash)
{
    return known->sets[(hash >> 40) & (known->set_count - 1)];
}

/* NULL: not known. */
static KnownPlace *find(const Known *known, const OverlayCell *entry)
{
    KnownPlace *set = set_of(known, entry->hash);
    for (size_t i = 0; i < KNOWN_WAYS; i++) {
        const KnownCell *cell = set[i].cell;
        if (cell != NULL && set[i].hash == entry->hash &&
            slice_equal(slice_of(cell->bytes, cell->key_size), entry->key))
            return &set[i];
    }
    return NULL;
}

bool known_load(Known *known, OverlayCell *entry)
{
    const KnownPlace *place = find(known, entry);
    if (place == NULL)
        return false;
    place->cell->asked = true;
    entry->cell = place->cell->cell;
    entry->loaded = entry->present = true;
    return true;
}

/* A free place, or that of a cell that nobody has asked for lately. */
static KnownPlace *place_for_newcomer(const Known *known, uint64_t hash)
{
    KnownPlace *set = set_of(known, hash), *place = NULL;
    for (size_t i = 0; i < KNOWN_WAYS; i++)
        if (set[i].cell == NULL)
            return &set[i];
    for (size_t i = 0; i < KNOWN_WAYS; i++) {
        if (place == NULL && !set[i].cell->asked)
            place = &set[i];
        set[i].cell->asked = false;
    }
    return place != NULL ? place : set;
}

static void put(KnownPlace *place, const OverlayCell *entry)
{
    Slice data = entry->cell.data;
    size_t size = entry->key.size + data.size;
    KnownCell *cell = place->cell;
    if (cell == NULL || cell->room < size) {
        free(cell);
        cell = malloc(sizeof *cell + size);
        CHECK(cell != NULL);
        cell->room = (uint32_t)size;
        cell->asked = false;
    }
    memcpy(cell->bytes, entry->key.data, entry->key.size);
    if (data.size > 0)
        memcpy(cell->bytes + entry->key.size, data.data, data.size);
    cell->key_size = (uint32_t)entry->key.size;
    cell->cell = entry->cell;
    cell->cell.data = slice_of(cell->bytes + entry->key.size, data.size);
    *place = (KnownPlace){entry->hash, cell};
}

void known_keep(Known *known, const OverlayCell *entry)
{
    KnownPlace *place = find(known, entry);
    if (!entry->present || entry->key.size + entry->cell.data.size > KNOWN_BYTES) {
        if (place != NULL) {
            free(place->cell);
            place->cell = NULL;
        }
        return;
    }
    if (place == NULL && entry->asked)
        place = place_for_newcomer(known, entry->hash);
    if (place != NULL)
        put(place, entry);
}
