/* page_cache.c -- see page_cache.h.
 *
 * Keys are spread over shards by a keyed hash, so that nobody can choose addresses that fall together; each shard is a hash table with
 * a list in the order of last use, under a lock that is held for a look and never while a page is rendered or sent. */
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>

#include "web/page_cache_private.h"

enum { SHARDS = 16, BUCKETS = 512, ENTRY_COST = 512, HEAD_COST = 1024, MOVE_PART = 8 };

typedef struct Entry {
    struct Entry *next;          /* in its bucket */
    struct Entry *newer, *older; /* in the order of use */
    uint64_t hash;
    PageKey key;
    CachedPage *page;
    bool is_rendering; /* somebody was told to make it anew */
    uint64_t moved;    /* how many pages had been put when it last moved in the order of use */
} Entry;

typedef struct Shard {
    pthread_mutex_t lock;
    Entry *buckets[BUCKETS];
    Entry order; /* a ring; its `older` is the newest entry; this one is none */
    size_t bytes, count;
    uint64_t puts, hits, renders;
} Shard;

struct PageCache {
    Clock clock;
    size_t shard_bytes;
    unsigned char hash_key[crypto_shorthash_KEYBYTES];
    Shard shards[SHARDS];
};

PageCache *page_cache_new(size_t bytes, World world)
{
    PageCache *cache = calloc(1, sizeof *cache);
    CHECK(cache != NULL);
    cache->clock = world.clock;
    cache->shard_bytes = bytes / SHARDS;
    random_fill(world.random, cache->hash_key, sizeof cache->hash_key);
    for (int i = 0; i < SHARDS; i++) {
        Shard *shard = &cache->shards[i];
        CHECK(pthread_mutex_init(&shard->lock, NULL) == 0);
        shard->order.newer = shard->order.older = &shard->order;
    }
    return cache;
}

/* ---- Entries, under their shard's lock ---- */

static size_t cost_of(const CachedPage *page, PageKey key)
{
    size_t heads = page->content_type != NULL ? (HTTP_IDENTITY + 1) * HEAD_COST : 0;
    return 2 * page->body.size + page->extra.size + key.name.size + ENTRY_COST + heads;
}

static void use(Shard *shard, Entry *entry)
{
    Entry *order = &shard->order;
    entry->newer = order;
    entry->older = order->older;
    order->older->newer = entry;
    order->older = entry;
}

static void unuse(Entry *entry)
{
    entry->newer->older = entry->older;
    entry->older->newer = entry->newer;
}

/* Only when so many pages came in since it last moved that it has fallen behind by a part of the list: moving writes to its neighbours, which
 * are rarely in the processor's cache. */
static void use_again(Shard *shard, Entry *entry)
{
    entry->moved = shard->puts;
    unuse(entry);
    use(shard, entry);
}

static bool is_key(const Entry *entry, PageKey key)
{
    return entry->key.is_json == key.is_json && slice_equal(entry->key.name, key.name);
}

static Entry **find(Shard *shard, uint64_t hash, PageKey key)
{
    Entry **place = &shard->buckets[hash / SHARDS % BUCKETS];
    while (*place != NULL && ((*place)->hash != hash || !is_key(*place, key)))
        place = &(*place)->next;
    return place;
}

static void drop(Shard *shard, Entry **place)
{
    Entry *entry = *place;
    *place = entry->next;
    unuse(entry);
    shard->bytes -= cost_of(entry->page, entry->key);
    shard->count--;
    page_release(entry->page);
    free(entry);
}

static void make_room(Shard *shard, size_t most)
{
    while (shard->bytes > most) {
        const Entry *oldest = shard->order.newer;
        drop(shard, find(shard, oldest->hash, oldest->key));
    }
}

static void insert(Shard *shard, uint64_t hash, PageKey key, CachedPage *page)
{
    Entry **bucket = &shard->buckets[hash / SHARDS % BUCKETS];
    Entry *entry = calloc(1, sizeof *entry + key.name.size);
    CHECK(entry != NULL);
    memcpy(entry + 1, key.name.data, key.name.size);
    entry->hash = hash;
    entry->key = (PageKey){slice_of(entry + 1, key.name.size), key.is_json};
    entry->page = page_hold(page);
    entry->next = *bucket;
    *bucket = entry;
    entry->moved = ++shard->puts;
    use(shard, entry);
    shard->bytes += cost_of(page, key);
    shard->count++;
}

void page_cache_free(PageCache *cache)
{
    if (cache == NULL)
        return;
    for (int i = 0; i < SHARDS; i++) {
        make_room(&cache->shards[i], 0);
        pthread_mutex_destroy(&cache->shards[i].lock);
    }
    free(cache);
}

/* ---- The calls ---- */

static uint64_t hash_of(const PageCache *cache, PageKey key)
{
    unsigned char hash[crypto_shorthash_BYTES];
    uint64_t number;
    crypto_shorthash(hash, (const unsigned char *)key.name.data, key.name.size, cache->hash_key);
    memcpy(&number, hash, sizeof number);
    return number;
}

static Shard *lock_shard(PageCache *cache, uint64_t hash)
{
    Shard *shard = &cache->shards[hash % SHARDS];
    pthread_mutex_lock(&shard->lock);
    return shard;
}

/* The entry's page when it may be sent. */
static CachedPage *usable(const Entry *entry, int64_t now_us, PageAge age, bool is_rendering)
{
    int64_t made_us = entry->page->made_us, age_us = now_us - made_us;
    bool is_young = age_us < age.most_us || (is_rendering && age_us < 2 * age.most_us);
    return is_young && (age.since_us == 0 || made_us > age.since_us) ? page_hold(entry->page)
                                                                     : NULL;
}

/* By the one who was told to render it. */
CachedPage *page_cache_find(PageCache *cache, PageKey key, PageAge age)
{
    int64_t now_us = clock_steady_us(cache->clock);
    uint64_t hash = hash_of(cache, key);
    Shard *shard = lock_shard(cache, hash);
    Entry *entry = *find(shard, hash, key);
    CachedPage *page = entry != NULL ? usable(entry, now_us, age, false) : NULL;
    pthread_mutex_unlock(&shard->lock);
    return page;
}

CachedPage *page_cache_get(PageCache *cache, PageKey key, PageAge age)
{
    int64_t now_us = clock_steady_us(cache->clock);
    uint64_t hash = hash_of(cache, key);
    Shard *shard = lock_shard(cache, hash);
    Entry *entry = *find(shard, hash, key);
    CachedPage *page = NULL;
    if (entry != NULL) {
        page = usable(entry, now_us, age, entry->is_rendering);
        entry->is_rendering |= page == NULL;
        if (shard->puts - entry->moved >= shard->count / MOVE_PART)
            use_again(shard, entry);
    }
    shard->hits += page != NULL;
    shard->renders += page == NULL;
    pthread_mutex_unlock(&shard->lock);
    return page;
}

void page_cache_put(PageCache *cache, PageKey key, CachedPage *page)
{
    uint64_t hash = hash_of(cache, key);
    Shard *shard = lock_shard(cache, hash);
    Entry **place = find(shard, hash, key);
    if (*place != NULL && (*place)->page->made_us > page->made_us) {
        (*place)->is_rendering = false; /* somebody who began later was faster */
    } else {
        if (*place != NULL)
            drop(shard, place);
        insert(shard, hash, key, page);
        make_room(shard, cache->shard_bytes);
    }
    pthread_mutex_unlock(&shard->lock);
}

void page_cache_skip(PageCache *cache, PageKey key)
{
    uint64_t hash = hash_of(cache, key);
    Shard *shard = lock_shard(cache, hash);
    Entry *entry = *find(shard, hash, key);
    if (entry != NULL)
        entry->is_rendering = false;
    pthread_mutex_unlock(&shard->lock);
}

PageCacheFigures page_cache_figures(PageCache *cache)
{
    PageCacheFigures figures = {0};
    for (int i = 0; i < SHARDS; i++) {
        Shard *shard = &cache->shards[i];
        pthread_mutex_lock(&shard->lock);
        figures.hits += shard->hits;
        figures.renders += shard->renders;
        figures.entries += shard->count;
        figures.bytes += shard->bytes;
        pthread_mutex_unlock(&shard->lock);
    }
    return figures;
}
