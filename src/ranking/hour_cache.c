/* hour_cache.c -- see hour_cache.h. A table of fixed size in which a span has one place, by its first hour and its length; of two that meet there the
 * later one stays. */
#include "ranking/hour_cache.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct HourChange {
    uint64_t policy;
    int64_t change;
} HourChange;

typedef struct HourSlot {
    HourSpan span; /* without hours: free */
    HourChange *changes;
    size_t count;
} HourSlot;

struct HourCache {
    pthread_mutex_t lock;
    HourSlot slots[HOUR_CACHE_SPANS];
};

HourCache *hour_cache_new(void)
{
    HourCache *hour_cache = calloc(1, sizeof *hour_cache);
    CHECK(hour_cache != NULL && pthread_mutex_init(&hour_cache->lock, NULL) == 0);
    return hour_cache;
}

void hour_cache_free(HourCache *hour_cache)
{
    if (hour_cache == NULL)
        return;
    for (size_t i = 0; i < HOUR_CACHE_SPANS; i++)
        free(hour_cache->slots[i].changes);
    pthread_mutex_destroy(&hour_cache->lock);
    free(hour_cache);
}

/* Days follow each other in one half of the table, hours in the other. */
static HourSlot *slot_of(HourCache *hour_cache, const HourSpan *span)
{
    enum { HALF = HOUR_CACHE_SPANS / 2 };
    size_t number = span->first / span->count % HALF;
    return &hour_cache->slots[span->count == 1 ? number : HALF + number];
}

static bool is_same(const HourSpan *a, const HourSpan *b)
{
    return a->generation == b->generation && a->first == b->first && a->count == b->count &&
           a->digest == b->digest;
}

static void visit_all(const HourSlot *slot, VotesChangeVisit *visit, void *context)
{
    for (size_t i = 0; i < slot->count; i++)
        visit(context, slot->changes[i].policy, slot->changes[i].change);
}

static bool visit_kept(HourCache *hour_cache, const HourSpan *span, VotesChangeVisit *visit,
                       void *context)
{
    pthread_mutex_lock(&hour_cache->lock);
    const HourSlot *slot = slot_of(hour_cache, span);
    bool is_kept = is_same(&slot->span, span);
    if (is_kept)
        visit_all(slot, visit, context);
    pthread_mutex_unlock(&hour_cache->lock);
    return is_kept;
}

/* ---- Reading ------------------------------------------------------------------------------------------------------------------ */

typedef struct HourSums {
    HourChange *list;
    size_t count, room;
    Map places; /* policy -> place in the list + 1 */
} HourSums;

static void add(void *context, uint64_t policy, int64_t change)
{
    HourSums *sums = context;
    uint64_t place = map_get(&sums->places, policy);
    if (place == 0) {
        if (sums->count == sums->room) {
            sums->room = 2 * sums->room + 64;
            sums->list = realloc(sums->list, sums->room * sizeof *sums->list);
            CHECK(sums->list != NULL);
        }
        sums->list[sums->count++] = (HourChange){.policy = policy};
        place = sums->count;
        map_put(&sums->places, policy, place);
    }
    sums->list[place - 1].change += change;
}

static Status read_span(Votes *votes, const HourSpan *span, HourSums *sums)
{
    for (uint32_t i = 0; i < span->count; i++)
        TRY(votes_hour_changes(votes, span->first + i, add, sums));
    return STATUS_OK;
}

/* The list belongs to the slot afterwards. */
static void keep(HourCache *hour_cache, const HourSlot *read)
{
    pthread_mutex_lock(&hour_cache->lock);
    HourSlot *slot = slot_of(hour_cache, &read->span);
    free(slot->changes);
    *slot = *read;
    pthread_mutex_unlock(&hour_cache->lock);
}

Status hour_cache_changes(HourCache *hour_cache, Votes *votes, const HourSpan *span,
                          VotesChangeVisit *visit, void *context)
{
    HourSums sums = {0};
    if (visit_kept(hour_cache, span, visit, context))
        return STATUS_OK;
    Status status = read_span(votes, span, &sums);
    HourSlot read = {*span, sums.list, sums.count};
    map_free(&sums.places);
    if (status == STATUS_OK)
        visit_all(&read, visit, context);
    /* Rows that were built anew meanwhile are of another generation. */
    if (status == STATUS_OK && sums.count <= HOUR_CACHE_CHANGES &&
        votes_generation(votes) == span->generation)
        keep(hour_cache, &read);
    else
        free(sums.list);
    return status;
}
