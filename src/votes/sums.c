/* sums.c -- the sums that this handle wrote last.
 *
 * Most changes go to few policies, so most sums were written here a moment ago. What stands here may be old, when somebody else has
 * written since; that does no harm, because a sum counts only as the condition of an update, which fails then, and the sum is read. For
 * the same reason the change of the hour that came with it is right whenever the sum is.
 *
 * Bounded: one sum for each place; another one takes it over. */
#include <stdlib.h>

#include "votes/inside.h"

enum { PLACES = 1 << 16 };

typedef struct SumPlace {
    SumKey key;
    uint32_t hour;
    int64_t change;
    char *value; /* NULL: free */
    size_t size;
} SumPlace;

struct Sums {
    pthread_mutex_t lock;
    SumPlace places[PLACES];
};

Sums *sums_new(void)
{
    Sums *sums = calloc(1, sizeof *sums);
    CHECK(sums != NULL);
    pthread_mutex_init(&sums->lock, NULL);
    return sums;
}

void sums_free(Sums *sums)
{
    for (size_t i = 0; i < PLACES; i++)
        free(sums->places[i].value);
    pthread_mutex_destroy(&sums->lock);
    free(sums);
}

static SumPlace *place_of(Sums *sums, SumKey key)
{
    uint64_t number = key.policy * COUNT_BUCKETS + key.bucket + ((uint64_t)key.generation << 48);
    return &sums->places[number * UINT64_C(0x9E3779B97F4A7C15) >> 48];
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
    SumPlace *place = place_of(sums, key);
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
    }
    pthread_mutex_unlock(&sums->lock);
}
