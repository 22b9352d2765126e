/* policy_cache.c -- see policy_cache.h. A hash table with chains, and one list of all entries in order of use. */
#include "policies/policy_cache.h"

#include <pthread.h>
#include <stdlib.h>

enum { MOVE_PART = 8 };

typedef struct Entry {
    struct Entry *chain;         /* the next one in its bucket */
    struct Entry *newer, *older; /* by use */
    ClockReading read_at;
    PolicyKnown known; /* arrays behind the entry, in the same allocation */
    size_t weight;
    uint64_t moved; /* how many entries had been put when it last became the newest */
} Entry;

struct PolicyCache {
    Clock clock;
    int64_t valid_us;
    size_t capacity, weight;
    pthread_mutex_t lock;
    Entry **buckets;
    unsigned
        bucket_shift; /* the highest bits of the product are those that all of an id went into */
    Entry *newest, *oldest;
    size_t count;
    uint64_t puts;
    uint64_t generation; /* of the store, that all entries are of */
};

PolicyCache *policy_cache_new(Clock clock, uint32_t capacity, int64_t valid_us)
{
    PolicyCache *cache = calloc(1, sizeof *cache);
    CHECK(cache != NULL && capacity > 0);
    unsigned bits = 4;
    while (((size_t)1 << bits) < capacity)
        bits++;
    cache->clock = clock;
    cache->capacity = capacity;
    cache->valid_us = valid_us;
    cache->bucket_shift = 64 - bits;
    cache->buckets = calloc((size_t)1 << bits, sizeof *cache->buckets);
    CHECK(cache->buckets != NULL && pthread_mutex_init(&cache->lock, NULL) == 0);
    return cache;
}

/* Ids are numbered through, so their low bits alone would do; multiplying spreads ids that come in strides. */
static Entry **bucket_of(PolicyCache *cache, uint64_t id)
{
    return &cache->buckets[id * UINT64_C(0x9E3779B97F4A7C15) >> cache->bucket_shift];
}

static Entry **find(PolicyCache *cache, uint64_t id)
{
    Entry **at = bucket_of(cache, id);
    while (*at != NULL && (*at)->known.facts.id != id)
        at = &(*at)->chain;
    return at;
}

static void unlink_use(PolicyCache *cache, Entry *entry)
{
    *(entry->newer != NULL ? &entry->newer->older : &cache->newest) = entry->older;
    *(entry->older != NULL ? &entry->older->newer : &cache->oldest) = entry->newer;
}

static void link_newest(PolicyCache *cache, Entry *entry)
{
    entry->moved = cache->puts;
    entry->newer = NULL;
    entry->older = cache->newest;
    *(cache->newest != NULL ? &cache->newest->newer : &cache->oldest) = entry;
    cache->newest = entry;
}

static void drop(PolicyCache *cache, Entry **at)
{
    Entry *entry = *at;
    CHECK(entry != NULL);
    *at = entry->chain;
    unlink_use(cache, entry);
    cache->weight -= entry->weight;
    cache->count--;
    free(entry);
}

static void drop_all(PolicyCache *cache)
{
    while (cache->oldest != NULL)
        drop(cache, find(cache, cache->oldest->known.facts.id));
}

void policy_cache_free(PolicyCache *cache)
{
    if (cache == NULL)
        return;
    drop_all(cache);
    free(cache->buckets);
    CHECK(pthread_mutex_destroy(&cache->lock) == 0);
    free(cache);
}

/* Under the lock. Generations only grow. */
static void turn_to(PolicyCache *cache, uint64_t generation)
{
    if (generation <= cache->generation)
        return;
    drop_all(cache);
    cache->generation = generation;
}

PolicyAsked policy_cache_ask(PolicyCache *cache, uint64_t generation)
{
    return (PolicyAsked){clock_reading(cache->clock), generation};
}

/* Copies the arrays to `moves`, which has room for both, and lets `to` point at them. */
static void copy_known(const PolicyKnown *from, PolicyMove *moves, PolicyKnown *to)
{
    PolicySource *sources = (PolicySource *)(void *)(moves + from->facts.move_count);
    for (size_t i = 0; i < from->facts.move_count; i++) {
        moves[i] = from->facts.moves[i];
        moves[i].reason = SLICE_EMPTY;
    }
    for (size_t i = 0; i < from->source_count; i++)
        sources[i] = from->sources[i];
    *to = (PolicyKnown){.facts = {from->facts.id, moves, from->facts.move_count},
                        .sources = sources,
                        .source_count = from->source_count,
                        .edit = from->edit};
}

static size_t arrays_size(const PolicyKnown *known)
{
    return known->facts.move_count * sizeof(PolicyMove) +
           known->source_count * sizeof(PolicySource);
}

/* Only when so many came in since it last was the newest that it has fallen behind by a part of the list: moving writes to its neighbours,
 * which are rarely in the processor's cache. */
static void use(PolicyCache *cache, Entry *entry)
{
    if (cache->puts - entry->moved < cache->count / MOVE_PART)
        return;
    unlink_use(cache, entry);
    link_newest(cache, entry);
}

bool policy_cache_get(PolicyCache *cache, uint64_t generation, uint64_t id, Arena *arena,
                      PolicyKnown *ret_known)
{
    CHECK(pthread_mutex_lock(&cache->lock) == 0);
    turn_to(cache, generation);
    Entry **at = find(cache, id), *entry = *at;
    if (entry != NULL && clock_age_us(cache->clock, entry->read_at) >= cache->valid_us) {
        drop(cache, at);
        entry = NULL;
    }
    if (entry != NULL) {
        use(cache, entry);
        copy_known(&entry->known, arena_alloc(arena, arrays_size(&entry->known)), ret_known);
    }
    CHECK(pthread_mutex_unlock(&cache->lock) == 0);
    return entry != NULL;
}

static Entry *entry_new(const PolicyKnown *known, ClockReading read_at)
{
    Entry *entry = malloc(sizeof *entry + arrays_size(known));
    CHECK(entry != NULL);
    entry->read_at = read_at;
    entry->weight = 1 + (known->facts.move_count + known->source_count) / 8;
    copy_known(known, (PolicyMove *)(void *)(entry + 1), &entry->known);
    return entry;
}

/* Of each list the longer one, since neither ever gets shorter; as old as the older of the pictures that it is made of. */
static Entry *newest_of(const Entry *old, const PolicyKnown *known, ClockReading read_at)
{
    PolicyKnown best = *known;
    if (old != NULL && old->known.facts.move_count > best.facts.move_count)
        best.facts = old->known.facts;
    if (old != NULL && old->known.source_count > best.source_count) {
        best.sources = old->known.sources;
        best.source_count = old->known.source_count;
    }
    if (old != NULL && old->known.edit.revision > best.edit.revision)
        best.edit = old->known.edit;
    bool mixed = best.facts.moves != known->facts.moves || best.sources != known->sources ||
                 best.edit.revision != known->edit.revision;
    return entry_new(&best, mixed ? clock_earlier(old->read_at, read_at) : read_at);
}

void policy_cache_put(PolicyCache *cache, const PolicyKnown *known, PolicyAsked asked)
{
    CHECK(pthread_mutex_lock(&cache->lock) == 0);
    turn_to(cache, asked.generation);
    if (asked.generation < cache->generation) {
        CHECK(pthread_mutex_unlock(&cache->lock) == 0);
        return;
    }
    Entry **at = find(cache, known->facts.id);
    Entry *fresh = newest_of(*at, known, asked.at);
    if (*at != NULL)
        drop(cache, at);
    Entry **bucket = bucket_of(cache, known->facts.id);
    fresh->chain = *bucket;
    *bucket = fresh;
    cache->puts++;
    link_newest(cache, fresh);
    cache->weight += fresh->weight;
    cache->count++;
    while (cache->weight > cache->capacity)
        drop(cache, find(cache, cache->oldest->known.facts.id));
    CHECK(pthread_mutex_unlock(&cache->lock) == 0);
}

void policy_cache_forget(PolicyCache *cache, uint64_t id)
{
    CHECK(pthread_mutex_lock(&cache->lock) == 0);
    Entry **at = find(cache, id);
    if (*at != NULL)
        drop(cache, at);
    CHECK(pthread_mutex_unlock(&cache->lock) == 0);
}

size_t policy_cache_weight(PolicyCache *cache)
{
    CHECK(pthread_mutex_lock(&cache->lock) == 0);
    size_t weight = cache->weight;
    CHECK(pthread_mutex_unlock(&cache->lock) == 0);
    return weight;
}
