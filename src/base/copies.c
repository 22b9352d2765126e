/* copies.c -- see copies.h. A table of fixed size by hash of the key. Each place counts how often something in it was forgotten; the
 * count of when a reader asked is its ticket, and a put with another one comes too late. */
#include "base/copies.h"

#include <pthread.h>
#include <stdlib.h>

enum { LOCKS = 64 };

typedef struct Kept {
    int64_t asked_us;
    size_t key_size, size;
    char bytes[]; /* the key, then what is kept */
} Kept;

typedef struct Place {
    Kept *kept;
    uint64_t forgotten;
} Place;

struct Copies {
    Clock clock;
    unsigned bits;
    int64_t valid_us;
    _Atomic bool
        is_used; /* something was put: a table that nobody touched has no memory to look through */
    pthread_mutex_t locks[LOCKS];
    Place places[];
};

Copies *copies_new(Clock clock, unsigned bits, int64_t valid_us)
{
    CHECK(bits >= 1 && bits <= 24);
    if (valid_us == 0) /* no place is ever taken: one would do */
        bits = 1;
    Copies *copies = calloc(1, sizeof *copies + sizeof(Place) * ((size_t)1 << bits));
    CHECK(copies != NULL);
    copies->clock = clock;
    copies->bits = bits;
    copies->valid_us = valid_us;
    for (int i = 0; i < LOCKS; i++)
        CHECK(pthread_mutex_init(&copies->locks[i], NULL) == 0);
    return copies;
}

void copies_free(Copies *copies)
{
    if (copies == NULL)
        return;
    for (size_t i = 0; copies->is_used && i < (size_t)1 << copies->bits; i++)
        free(copies->places[i].kept);
    for (int i = 0; i < LOCKS; i++)
        CHECK(pthread_mutex_destroy(&copies->locks[i]) == 0);
    free(copies);
}

/* Eight bytes at a time; the product's uppermost bits are those that all of the key went into. */
static size_t place_of(const Copies *copies, Slice key)
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
    return (size_t)(hash * UINT64_C(0x9E3779B97F4A7C15) >> (64 - copies->bits));
}

static Place *lock_place(Copies *copies, Slice key, pthread_mutex_t **ret_lock)
{
    size_t place = place_of(copies, key);
    *ret_lock = &copies->locks[place % LOCKS];
    CHECK(pthread_mutex_lock(*ret_lock) == 0);
    return &copies->places[place];
}

static bool is_of(const Kept *kept, Slice key)
{
    return kept != NULL && slice_equal(slice_of(kept->bytes, kept->key_size), key);
}

static Slice bytes_of(const Kept *kept, Arena *arena)
{
    char *bytes = arena_alloc(arena, kept->size);
    memcpy(bytes, kept->bytes + kept->key_size, kept->size);
    return slice_of(bytes, kept->size);
}

bool copies_find(Copies *copies, Slice key, Arena *arena, Copy *ret_copy)
{
    pthread_mutex_t *lock;
    int64_t now_us = clock_steady_us(copies->clock);
    Place *place = lock_place(copies, key, &lock);
    const Kept *kept = place->kept;
    bool found = is_of(kept, key) && now_us - kept->asked_us < copies->valid_us;
    *ret_copy = (Copy){.bytes = found ? bytes_of(kept, arena) : SLICE_EMPTY,
                       .ticket = place->forgotten,
                       .asked_us = now_us};
    CHECK(pthread_mutex_unlock(lock) == 0);
    return found;
}

static Kept *kept_new(Slice key, const Copy *copy)
{
    Kept *kept = malloc(sizeof *kept + key.size + copy->bytes.size);
    CHECK(kept != NULL);
    *kept = (Kept){copy->asked_us, key.size, copy->bytes.size};
    memcpy(kept->bytes, key.data, key.size);
    if (copy->bytes.size > 0)
        memcpy(kept->bytes + key.size, copy->bytes.data, copy->bytes.size);
    return kept;
}

void copies_put(Copies *copies, Slice key, const Copy *copy)
{
    pthread_mutex_t *lock;
    if (copies->valid_us == 0 || key.size + copy->bytes.size > COPY_MOST)
        return;
    Kept *kept = kept_new(key, copy);
    copies->is_used = true;
    Place *place = lock_place(copies, key, &lock);
    if (place->forgotten == copy->ticket) {
        Kept *before = place->kept;
        place->kept = kept;
        kept = before;
    }
    CHECK(pthread_mutex_unlock(lock) == 0);
    free(kept);
}

void copies_forget(Copies *copies, Slice key)
{
    pthread_mutex_t *lock;
    Kept *gone = NULL;
    Place *place = lock_place(copies, key, &lock);
    place->forgotten++;
    if (is_of(place->kept, key)) {
        gone = place->kept;
        place->kept = NULL;
    }
    CHECK(pthread_mutex_unlock(lock) == 0);
    free(gone);
}
