/* read_cache.c -- see read_cache.h. A table of fixed size by hash of the key, of places with room for a few copies. Each place counts how often
 * something in it was forgotten; the count of when a reader asked is its ticket, and a put with another one comes too late. */
#include "base/read_cache.h"

#include <pthread.h>
#include <stdlib.h>

enum { LOCKS = 64, ROOM_BITS = 2, ROOM = 1 << ROOM_BITS };

typedef struct Kept {
    ClockReading asked;
    size_t key_size, size;
    char bytes[]; /* the key, then what is kept */
} Kept;

typedef struct Place {
    Kept *kept[ROOM];
    uint64_t forgotten;
} Place;

struct ReadCache {
    Clock clock;
    unsigned bits; /* of the number of places */
    int64_t valid_us;
    _Atomic bool
        is_used; /* something was put: a table that nobody touched has no memory to look through */
    pthread_mutex_t locks[LOCKS];
    Place places[];
};

ReadCache *read_cache_new(Clock clock, unsigned bits, int64_t valid_us)
{
    CHECK(bits > ROOM_BITS && bits <= 24);
    bits = valid_us == 0 ? 1 : bits - ROOM_BITS; /* where nothing is kept, one place would do */
    ReadCache *read_cache = calloc(1, sizeof *read_cache + sizeof(Place) * ((size_t)1 << bits));
    CHECK(read_cache != NULL);
    read_cache->clock = clock;
    read_cache->bits = bits;
    read_cache->valid_us = valid_us;
    for (int i = 0; i < LOCKS; i++)
        CHECK(pthread_mutex_init(&read_cache->locks[i], NULL) == 0);
    return read_cache;
}

void read_cache_free(ReadCache *read_cache)
{
    if (read_cache == NULL)
        return;
    for (size_t i = 0; read_cache->is_used && i < (size_t)1 << read_cache->bits; i++)
        for (int k = 0; k < ROOM; k++)
            free(read_cache->places[i].kept[k]);
    for (int i = 0; i < LOCKS; i++)
        CHECK(pthread_mutex_destroy(&read_cache->locks[i]) == 0);
    free(read_cache);
}

/* Eight bytes at a time; the product's uppermost bits are those that all of the key went into. */
static size_t place_of(const ReadCache *read_cache, Slice key)
{
    uint64_t hash = key.size;
    while (key.size > 0) {
        uint64_t part = 0;
        size_t size = key.size < sizeof part ? key.size : sizeof part;
        memcpy(&part, key.data, size);
        hash = (hash ^ part) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
        key = slice_after(key, size);
    }
    return (size_t)(hash * UINT64_C(0x9E3779B97F4A7C15) >> (64 - read_cache->bits));
}

static Place *lock_place(ReadCache *read_cache, Slice key, pthread_mutex_t **ret_lock)
{
    size_t place = place_of(read_cache, key);
    *ret_lock = &read_cache->locks[place % LOCKS];
    CHECK(pthread_mutex_lock(*ret_lock) == 0);
    return &read_cache->places[place];
}

/* Where in its place the copy of this key is; NULL when it is not there. */
static Kept **find_kept(Place *place, Slice key)
{
    for (int i = 0; i < ROOM; i++) {
        const Kept *kept = place->kept[i];
        if (kept != NULL && slice_equal(slice_of(kept->bytes, kept->key_size), key))
            return &place->kept[i];
    }
    return NULL;
}

/* Where the next copy of this key goes: to the one before it, or where nothing is, or to the one that was asked for first. */
static Kept **find_room(Place *place, Slice key)
{
    Kept **room = find_kept(place, key);
    if (room != NULL)
        return room;
    room = &place->kept[0];
    for (int i = 1; i < ROOM && *room != NULL; i++)
        if (place->kept[i] == NULL || place->kept[i]->asked.steady_us < (*room)->asked.steady_us)
            room = &place->kept[i];
    return room;
}

static Slice bytes_of(const Kept *kept, Arena *arena)
{
    char *bytes = arena_alloc(arena, kept->size);
    memcpy(bytes, kept->bytes + kept->key_size, kept->size);
    return slice_of(bytes, kept->size);
}

bool read_cache_find(ReadCache *read_cache, Slice key, Arena *arena, CachedBytes *ret_copy)
{
    pthread_mutex_t *lock;
    ClockReading asked = clock_reading(read_cache->clock);
    Place *place = lock_place(read_cache, key, &lock);
    Kept **kept = find_kept(place, key);
    bool found =
        kept != NULL && clock_age_us(read_cache->clock, (*kept)->asked) < read_cache->valid_us;
    *ret_copy = (CachedBytes){.bytes = found ? bytes_of(*kept, arena) : SLICE_EMPTY,
                              .ticket = place->forgotten,
                              .asked = asked};
    CHECK(pthread_mutex_unlock(lock) == 0);
    return found;
}

static Kept *kept_new(Slice key, const CachedBytes *copy)
{
    Kept *kept = malloc(sizeof *kept + key.size + copy->bytes.size);
    CHECK(kept != NULL);
    *kept = (Kept){copy->asked, key.size, copy->bytes.size};
    memcpy(kept->bytes, key.data, key.size);
    if (copy->bytes.size > 0)
        memcpy(kept->bytes + key.size, copy->bytes.data, copy->bytes.size);
    return kept;
}

void read_cache_put(ReadCache *read_cache, Slice key, const CachedBytes *copy)
{
    pthread_mutex_t *lock;
    if (read_cache->valid_us == 0 || key.size + copy->bytes.size > CACHED_BYTES_MAX)
        return;
    Kept *kept = kept_new(key, copy);
    read_cache->is_used = true;
    Place *place = lock_place(read_cache, key, &lock);
    if (place->forgotten == copy->ticket) {
        Kept **room = find_room(place, key), *before = *room;
        *room = kept;
        kept = before;
    }
    CHECK(pthread_mutex_unlock(lock) == 0);
    free(kept);
}

void read_cache_forget(ReadCache *read_cache, Slice key)
{
    pthread_mutex_t *lock;
    Kept *gone = NULL;
    Place *place = lock_place(read_cache, key, &lock);
    Kept **kept = find_kept(place, key);
    place->forgotten++;
    if (kept != NULL) {
        gone = *kept;
        *kept = NULL;
    }
    CHECK(pthread_mutex_unlock(lock) == 0);
    free(gone);
}
