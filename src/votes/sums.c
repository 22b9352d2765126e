/* sums.c -- the sums that this handle wrote last.
 *
 * Most changes go to few policies, so most sums were written here a moment ago. What stands here may be old, when somebody else has
 * written since; that does no harm, because a sum counts only as the condition of an update, which fails then, and the sum is read. For
 * the same reason the change of the hour that came with it is right whenever the sum is.
 *
 * Bounded: one sum for each place; another one takes it over. There are as many places as are used, about, up to half a million. */
#include <stdlib.h>

#include "votes/votes_private.h"

enum { BITS_FIRST = 10, BITS_MAX = 19, BITS_GROW = 3 };

typedef struct SumPlace {
    SumKey key;
    uint32_t hour;
    int64_t change;
    char *value; /* NULL: free */
    size_t size;
} SumPlace;

struct Sums {
    pthread_mutex_t lock;
    SumPlace *places;
    size_t used;
    unsigned bits; /* of the number of places */
};

static SumPlace *places_new(unsigned bits)
{
    SumPlace *places = calloc((size_t)1 << bits, sizeof *places);
    CHECK(places != NULL);
    return places;
}

Sums *sums_new(void)
{
    Sums *sums = calloc(1, sizeof *sums);
    CHECK(sums != NULL);
    pthread_mutex_init(&sums->lock, NULL);
    sums->bits = BITS_FIRST;
    sums->places = places_new(sums->bits);
    return sums;
}

void sums_free(Sums *sums)
{
    for (size_t i = 0; i < (size_t)1 << sums->bits; i++)
        free(sums->places[i].value);
    free(sums->places);
    pthread_mutex_destroy(&sums->lock);
    free(sums);
}

static SumPlace *place_of(Sums *sums, SumKey key)
{
    uint64_t number = key.policy * COUNT_BUCKETS + key.bucket + ((uint64_t)key.generation << 48);
    return &sums->places[number * UINT64_C(0x9E3779B97F4A7C15) >> (64 - sums->bits)];
}

/* More places, each sum in its new one; two that shared an old one were not both there. */
static void grow(Sums *sums)
{
    SumPlace *old = sums->places;
    size_t count = (size_t)1 << sums->bits;
    sums->bits += BITS_GROW;
    sums->places = places_new(sums->bits);
    for (size_t i = 0; i < count; i++)
        if (old[i].value != NULL)
            *place_of(sums, old[i].key) = old[i];
    free(old);
}

static bool is_for(const SumPlace *place, SumKey key)
{
    return place->value != NULL && place->key.policy == key.policy &&
           place->key.bucket == key.bucket && place->key.generation == key.generation;
}

bool sums_find(Sums *sums, SumKey key, Arena *arena, KnownSum *ret_known)
{
    pthread_mutex_lock(&sums->lock);
    const SumPlace *place = place_of(sums, key);
    bool found = is_for(place, key);
    if (found)
        *ret_known = (KnownSum){arena_copy(arena, slice_of(place->value, place->size)), place->hour,
                                place->change};
    pthread_mutex_unlock(&sums->lock);
    return found;
}

void sums_keep(Sums *sums, SumKey key, KnownSum known)
{
    pthread_mutex_lock(&sums->lock);
    if (sums->bits < BITS_MAX && 2 * sums->used > (size_t)1 << sums->bits)
        grow(sums);
    SumPlace *place = place_of(sums, key);
    sums->used += place->value == NULL;
    if (place->value == NULL || place->size < known.value.size) {
        free(place->value);
        place->value = malloc(known.value.size);
        CHECK(place->value != NULL);
    }
    memcpy(place->value, known.value.data, known.value.size);
    place->size = known.value.size;
    place->key = key;
    place->hour = known.hour;
    place->change = known.change;
    pthread_mutex_unlock(&sums->lock);
}

void sums_forget(Sums *sums, SumKey key)
{
    pthread_mutex_lock(&sums->lock);
    SumPlace *place = place_of(sums, key);
    if (is_for(place, key)) {
        free(place->value);
        place->value = NULL;
        sums->used--;
    }
    pthread_mutex_unlock(&sums->lock);
}
