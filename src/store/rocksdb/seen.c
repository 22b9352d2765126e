/* seen.c -- see seen.h. */
#include "store/rocksdb/seen.h"

#include <stdlib.h>

enum { PLACES = 1 << 16, CHANGED = 1 << 18 };

struct SeenPlace {
    uint64_t hash, stamp;
    StoredCell cell; /* its data stands behind the key */
    uint32_t key_size;
    bool used, present;
    char bytes[SEEN_BYTES];
};

void seen_init(Seen *seen)
{
    *seen = (Seen){.places = calloc(PLACES, sizeof *seen->places),
                   .changed = calloc(CHANGED, sizeof *seen->changed)};
    CHECK(seen->places != NULL && seen->changed != NULL);
    for (size_t i = 0; i < SEEN_LOCKS; i++)
        pthread_mutex_init(&seen->locks[i], NULL);
}

void seen_free(Seen *seen)
{
    for (size_t i = 0; i < SEEN_LOCKS; i++)
        pthread_mutex_destroy(&seen->locks[i]);
    free(seen->places);
    free(seen->changed);
}

static size_t place_of(uint64_t hash)
{
    return (hash >> 24) % PLACES;
}

static uint64_t *changed_of(const Seen *seen, uint64_t hash)
{
    return &seen->changed[(hash >> 24) % CHANGED];
}

/* ---- Readers ----------------------------------------------------------------------------------------------- */

uint64_t seen_stamp(const Seen *seen)
{
    return atomic_load_explicit(&seen->ended, memory_order_acquire);
}

void seen_keep(Seen *seen, uint64_t stamp, Slice key, const StoredCell *cell)
{
    size_t size = cell != NULL ? cell->data.size : 0;
    if (key.size + size > SEEN_BYTES)
        return;
    uint64_t hash = overlay_hash(key);
    SeenPlace *place = &seen->places[place_of(hash)];
    pthread_mutex_t *lock = &seen->locks[place_of(hash) % SEEN_LOCKS];
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

static bool is_for(const SeenPlace *place, const OverlayCell *entry)
{
    return place->used && place->hash == entry->hash &&
           slice_equal(slice_of(place->bytes, place->key_size), entry->key);
}

bool seen_load(Seen *seen, OverlayCell *entry, Arena *arena)
{
    const SeenPlace *place = &seen->places[place_of(entry->hash)];
    pthread_mutex_t *lock = &seen->locks[place_of(entry->hash) % SEEN_LOCKS];
    pthread_mutex_lock(lock);
    bool valid = is_for(place, entry) && place->stamp >= seen->since &&
                 place->stamp >= *changed_of(seen, entry->hash);
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

void seen_begin(Seen *seen)
{
    seen->opened++;
}

void seen_changed(Seen *seen, const OverlayCell *entry)
{
    *changed_of(seen, entry->hash) = seen->opened;
}

void seen_end(Seen *seen)
{
    atomic_fetch_add_explicit(&seen->ended, 1, memory_order_release);
}

void seen_clear(Seen *seen)
{
    seen->since = ++seen->opened;
    atomic_store_explicit(&seen->ended, seen->opened, memory_order_release);
}
