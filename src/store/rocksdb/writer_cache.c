/* writer_cache.c -- see writer_cache.h. A hash table of small sets; a cell is one allocation, used again while the next one fits. */
#include "store/rocksdb/writer_cache.h"

#include <stdlib.h>

struct WriterCacheCell {
    StoredCell cell; /* its data stands behind the key */
    uint32_t key_size, room;
    bool asked; /* since the last newcomer to the set */
    char bytes[];
};

void writer_cache_init(WriterCache *writer_cache, size_t cells)
{
    writer_cache->set_count = 1;
    while (writer_cache->set_count * WRITER_CACHE_WAYS < cells)
        writer_cache->set_count *= 2;
    writer_cache->sets = calloc(writer_cache->set_count, sizeof *writer_cache->sets);
    CHECK(writer_cache->sets != NULL);
}

void writer_cache_free(WriterCache *writer_cache)
{
    writer_cache_clear(writer_cache);
    free(writer_cache->sets);
}

void writer_cache_clear(WriterCache *writer_cache)
{
    for (size_t i = 0; i < writer_cache->set_count; i++)
        for (size_t k = 0; k < WRITER_CACHE_WAYS; k++) {
            free(writer_cache->sets[i][k].cell);
            writer_cache->sets[i][k].cell = NULL;
        }
}

/* The overlay uses the lower bits of the hash. */
static WriterCachePlace *set_of(const WriterCache *writer_cache, uint64_t hash)
{
    return writer_cache->sets[(hash >> 40) & (writer_cache->set_count - 1)];
}

/* NULL: not known. */
static WriterCachePlace *find(const WriterCache *writer_cache, const OverlayCell *entry)
{
    WriterCachePlace *set = set_of(writer_cache, entry->hash);
    for (size_t i = 0; i < WRITER_CACHE_WAYS; i++) {
        const WriterCacheCell *cell = set[i].cell;
        if (cell != NULL && set[i].hash == entry->hash &&
            slice_equal(slice_of(cell->bytes, cell->key_size), entry->key))
            return &set[i];
    }
    return NULL;
}

bool writer_cache_load(WriterCache *writer_cache, OverlayCell *entry)
{
    const WriterCachePlace *place = find(writer_cache, entry);
    if (place == NULL)
        return false;
    place->cell->asked = true;
    entry->cell = place->cell->cell;
    entry->loaded = entry->present = true;
    return true;
}

/* A free place, or that of a cell that nobody has asked for lately. */
static WriterCachePlace *place_for_newcomer(const WriterCache *writer_cache, uint64_t hash)
{
    WriterCachePlace *set = set_of(writer_cache, hash), *place = NULL;
    for (size_t i = 0; i < WRITER_CACHE_WAYS; i++)
        if (set[i].cell == NULL)
            return &set[i];
    for (size_t i = 0; i < WRITER_CACHE_WAYS; i++) {
        if (place == NULL && !set[i].cell->asked)
            place = &set[i];
        set[i].cell->asked = false;
    }
    return place != NULL ? place : set;
}

static void put(WriterCachePlace *place, const OverlayCell *entry)
{
    Slice data = entry->cell.data;
    size_t size = entry->key.size + data.size;
    WriterCacheCell *cell = place->cell;
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
    *place = (WriterCachePlace){entry->hash, cell};
}

void writer_cache_keep(WriterCache *writer_cache, const OverlayCell *entry)
{
    WriterCachePlace *place = find(writer_cache, entry);
    if (!entry->present || entry->key.size + entry->cell.data.size > WRITER_CACHE_BYTES) {
        if (place != NULL) {
            free(place->cell);
            place->cell = NULL;
        }
        return;
    }
    if (place == NULL && entry->asked)
        place = place_for_newcomer(writer_cache, entry->hash);
    if (place != NULL)
        put(place, entry);
}
