/* shared_page.c -- see shared_page.h. Shared pages are kept by a page cache of their own; beside it stands a table of when something was last changed by
 * this process, by hash of what it was. Two that meet in one place of it cost a drawing now and then. */
#include "site/cached/shared_page.h"

#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { CHANGES_BITS = 12, CHANGES = 1 << CHANGES_BITS, SHARED_PAGE_NAME_MAX = 64 };

static const char *const VOTER = "voter";

struct SharedPages {
    World world;
    PageCache *cache;
    unsigned char hash_key[crypto_shorthash_KEYBYTES];
    _Atomic int64_t changed_us[CHANGES]; /* of the steady clock; 0: never */
};

/* What is kept beside the bytes. */
typedef struct SharedPageExtra {
    PageSlots slots;
    char facts[SHARED_PAGE_FACTS_MAX];
} SharedPageExtra;

SharedPages *shared_pages_new(World world)
{
    SharedPages *shared_pages = calloc(1, sizeof *shared_pages);
    CHECK(shared_pages != NULL);
    shared_pages->world = world;
    shared_pages->cache = page_cache_new(SHARED_PAGES_BYTES, world);
    random_fill(world.random, shared_pages->hash_key, sizeof shared_pages->hash_key);
    return shared_pages;
}

void shared_pages_free(SharedPages *shared_pages)
{
    if (shared_pages == NULL)
        return;
    page_cache_free(shared_pages->cache);
    free(shared_pages);
}

/* ---- Names and changes -------------------------------------------------------------------------------------------------- */

typedef struct SharedPageName {
    char text[SHARED_PAGE_NAME_MAX];
    size_t size;
} SharedPageName;

static SharedPageName name_of(const char *name, uint64_t about)
{
    SharedPageName full = {.size = strlen(name) + sizeof about};
    CHECK(full.size <= SHARED_PAGE_NAME_MAX);
    memcpy(full.text, &about, sizeof about);
    memcpy(full.text + sizeof about, name, full.size - sizeof about);
    return full;
}

static _Atomic int64_t *change_of(SharedPages *shared_pages, const SharedPageName *name)
{
    unsigned char hash[crypto_shorthash_BYTES];
    uint64_t number;
    crypto_shorthash(hash, (const unsigned char *)name->text, name->size, shared_pages->hash_key);
    memcpy(&number, hash, sizeof number);
    return &shared_pages->changed_us[number % CHANGES];
}

void shared_pages_changed(SharedPages *shared_pages, const char *name, uint64_t about)
{
    SharedPageName full = name_of(name, about);
    atomic_store(change_of(shared_pages, &full), clock_steady_us(shared_pages->world.clock));
}

void shared_pages_saved(SharedPages *shared_pages, uint64_t voter)
{
    shared_pages_changed(shared_pages, VOTER, voter);
}

/* ---- Shared pages ------------------------------------------------------------------------------------------------------------- */

void slot_leave(PageSlots *slots, const Buffer *out, PageSlotKind kind, uint64_t about)
{
    CHECK(slots->count < PAGE_SLOTS_MAX);
    slots->list[slots->count++] = (PageSlot){out->size, kind, about};
}

CachedPage *shared_page_of(const SharedPageDraft *draft, int64_t made_us)
{
    SharedPageExtra extra = {.slots = draft->slots};
    CHECK(draft->facts.size <= sizeof extra.facts);
    if (draft->facts.size > 0)
        memcpy(extra.facts, draft->facts.data, draft->facts.size);
    return page_new(&(PageContent){.body = buffer_slice(&draft->out),
                                   .made_us = made_us,
                                   .extra = slice_of(&extra, sizeof extra)});
}

static Status draw(SharedPages *shared_pages, const SharedPageQuery *want, PageKey key,
                   Arena *arena, CachedPage **ret_shared_page)
{
    SharedPageDraft draft = {0};
    int64_t made_us = clock_steady_us(shared_pages->world.clock);
    Status status = want->draw(want->self, want->about, arena, &draft);
    if (status == STATUS_OK) {
        *ret_shared_page = shared_page_of(&draft, made_us);
        page_cache_put(shared_pages->cache, key, *ret_shared_page);
    } else {
        page_cache_skip(shared_pages->cache, key);
    }
    buffer_free(&draft.out);
    return status;
}

Status shared_pages_get(SharedPages *shared_pages, const SharedPageQuery *want, Arena *arena,
                        CachedPage **ret_shared_page)
{
    SharedPageName name = name_of(want->name, want->about), voter = name_of(VOTER, want->voter),
                   all = name_of(want->name, SHARED_PAGES_ALL);
    PageKey key = {slice_of(name.text, name.size), false};
    int64_t changed_us = atomic_load(change_of(shared_pages, &name));
    int64_t all_us = atomic_load(change_of(shared_pages, &all));
    int64_t saved_us = want->voter != 0 ? atomic_load(change_of(shared_pages, &voter)) : 0;
    int64_t since_us = changed_us > saved_us ? changed_us : saved_us;
    PageAge age = {SHARED_PAGE_MS * US_PER_MS, since_us > all_us ? since_us : all_us};
    CachedPage *shared_page = page_cache_get(shared_pages->cache, key, age);
    if (shared_page == NULL)
        return draw(shared_pages, want, key, arena, ret_shared_page);
    *ret_shared_page = shared_page;
    return STATUS_OK;
}

static const SharedPageExtra *extra_of(const CachedPage *shared_page)
{
    return (const void *)page_extra(shared_page).data;
}

const void *shared_page_facts(const CachedPage *shared_page)
{
    return extra_of(shared_page)->facts;
}

void shared_page_fill(const CachedPage *shared_page, Buffer *out, PageSlotFill *fill, void *context)
{
    Slice body = page_body(shared_page);
    const PageSlots *slots = &extra_of(shared_page)->slots;
    size_t from = 0;
    for (size_t i = 0; i < slots->count; i++) {
        const PageSlot *slot = &slots->list[i];
        buffer_bytes(out, slice_of(body.data + from, slot->at - from));
        fill(context, out, slot);
        from = slot->at;
    }
    buffer_bytes(out, slice_after(body, from));
}
