/* read_hints.c -- see read_hints.h. */
#include "store/rocksdb/read_hints.h"

#include <stdlib.h>

enum { PLACES = 1 << 16, CHANGED = 1 << 18 };

struct ReadHint {
    uint64_t hash, stamp;
    StoredCell cell; /* its data stands behind the key */
    uint32_t key_size;
    bool used, present;
    char bytes[READ_HINTS_BYTES];
};

void read_hints_init(ReadHints *read_hints)
{
    *read_hints = (ReadHints){.places = calloc(PLACES, sizeof *read_hints->places),
                              .changed = calloc(CHANGED, sizeof *read_hints->changed)};
    CHECK(read_hints->places != NULL && read_hints->changed != NULL);
    for (size_t i = 0; i < READ_HINTS_LOCKS; i++)
        pthread_mutex_init(&read_hints->locks[i], NULL);
}

void read_hints_free(ReadHints *read_hints)
{
    for (size_t i = 0; i < READ_HINTS_LOCKS; i++)
        pthread_mutex_destroy(&read_hints->locks[i]);
    free(read_hints->places);
    free(read_hints->changed);
}

static size_t place_of(uint64_t hash)
{
    return (hash >> 24) % PLACES;
}

static uint64_t *changed_of(const ReadHints *read_hints, uint64_t hash)
{
    return &read_hints->changed[(hash >> 24) % CHANGED];
}

/* ---- Readers ----------------------------------------------------------------------------------------------- */

uint64_t read_hints_stamp(const ReadHints *read_hints)
{
    return atomic_load_explicit(&read_hints->ended, memory_order_acquire);
}

void read_hints_keep(ReadHints *read_hints, uint64_t stamp, Slice key, const StoredCell *cell)
{
    size_t size = cell != NULL ? cell->data.size : 0;
    if (key.size + size > READ_HINTS_BYTES)
        return;
    uint64_t hash = overlay_hash(key);
    ReadHint *place = &read_hints->places[place_of(hash)];
    pthread_mutex_t *lock = &read_hints->locks[place_of(hash) % READ_HINTS_LOCKS];
    pthread_mutex_lock(lock);
    place->hash = hash;
    place->stamp = stamp;
    place->key_size = (uint32_t)key.size;
    place->used = true;
    place->present = cell != NULL;
    memcpy(place->bytes, key.data, key.size);
    if (cell != NULL) {
        place->cell = *cell;
        place->cell.data = slice_of(place->bytes + key.size, size);
        if (size > 0)
            memcpy(place->bytes + key.size, cell->data.data, size);
    }
    pthread_mutex_unlock(lock);
}

/* ---- The writer -------------------------------------------------------------------------------------------- */

static bool is_for(const ReadHint *place, const OverlayCell *entry)
{
    return place->used && place->hash == entry->hash &&
           slice_equal(slice_of(place->bytes, place->key_size), entry->key);
}

bool read_hints_load(ReadHints *read_hints, OverlayCell *entry, Arena *arena)
{
    const ReadHint *place = &read_hints->places[place_of(entry->hash)];
    pthread_mutex_t *lock = &read_hints->locks[place_of(entry->hash) % READ_HINTS_LOCKS];
    pthread_mutex_lock(lock);
    bool valid = is_for(place, entry) && place->stamp >= read_hints->since &&
                 place->stamp >= *changed_of(read_hints, entry->hash);
    if (valid) {
        entry->present = place->present;
        if (place->present) {
            entry->cell = place->cell;
            entry->cell.data = arena_copy(arena, place->cell.data);
        }
    }
    pthread_mutex_unlock(lock);
    entry->loaded |= valid;
    return valid;
}

void read_hints_begin(ReadHints *read_hints)
{
    read_hints->opened++;
}

void read_hints_changed(ReadHints *read_hints, const OverlayCell *entry)
{
    *changed_of(read_hints, entry->hash) = read_hints->opened;
}

void read_hints_end(ReadHints *read_hints)
{
    atomic_fetch_add_explicit(&read_hints->ended, 1, memory_order_release);
}

void read_hints_clear(ReadHints *read_hints)
{
    read_hints->since = ++read_hints->opened;
    atomic_store_explicit(&read_hints->ended, read_hints->opened, memory_order_release);
}
