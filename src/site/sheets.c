/* sheets.c -- see sheets.h. Sheets are kept by a page cache of their own; beside it stands a table of when something was last changed by
 * this process, by hash of what it was. Two that meet in one place of it cost a drawing now and then. */
#include "site/sheets.h"

#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { CHANGES_BITS = 12, CHANGES = 1 << CHANGES_BITS, NAME_MOST = 64 };

static const char *const VOTER = "voter";

struct Sheets {
    World world;
    PageCache *cache;
    unsigned char hash_key[crypto_shorthash_KEYBYTES];
    _Atomic int64_t changed_us[CHANGES]; /* of the steady clock; 0: never */
};

/* What is kept beside the bytes. */
typedef struct SheetExtra {
    Gaps gaps;
    char facts[SHEET_FACTS_MOST];
} SheetExtra;

Sheets *sheets_new(World world)
{
    Sheets *sheets = calloc(1, sizeof *sheets);
    CHECK(sheets != NULL);
    sheets->world = world;
    sheets->cache = page_cache_new(SHEETS_BYTES, world);
    random_fill(world.random, sheets->hash_key, sizeof sheets->hash_key);
    return sheets;
}

void sheets_free(Sheets *sheets)
{
    if (sheets == NULL)
        return;
    page_cache_free(sheets->cache);
    free(sheets);
}

/* ---- Names and changes -------------------------------------------------------------------------------------------------- */

typedef struct SheetName {
    char text[NAME_MOST];
    size_t size;
} SheetName;

static SheetName name_of(const char *name, uint64_t about)
{
    SheetName full = {.size = strlen(name) + sizeof about};
    CHECK(full.size <= NAME_MOST);
    memcpy(full.text, &about, sizeof about);
    memcpy(full.text + sizeof about, name, full.size - sizeof about);
    return full;
}

static _Atomic int64_t *change_of(Sheets *sheets, const SheetName *name)
{
    unsigned char hash[crypto_shorthash_BYTES];
    uint64_t number;
    crypto_shorthash(hash, (const unsigned char *)name->text, name->size, sheets->hash_key);
    memcpy(&number, hash, sizeof number);
    return &sheets->changed_us[number % CHANGES];
}

void sheets_changed(Sheets *sheets, const char *name, uint64_t about)
{
    SheetName full = name_of(name, about);
    atomic_store(change_of(sheets, &full), clock_steady_us(sheets->world.clock));
}

void sheets_saved(Sheets *sheets, uint64_t voter)
{
    sheets_changed(sheets, VOTER, voter);
}

/* ---- Sheets ------------------------------------------------------------------------------------------------------------- */

void gap_leave(Gaps *gaps, const Buffer *out, GapKind kind, uint64_t about)
{
    CHECK(gaps->count < GAPS_MOST);
    gaps->list[gaps->count++] = (Gap){out->size, kind, about};
}

CachedPage *sheet_of(const SheetDraft *draft, int64_t made_us)
{
    SheetExtra extra = {.gaps = draft->gaps};
    CHECK(draft->facts.size <= sizeof extra.facts);
    if (draft->facts.size > 0)
        memcpy(extra.facts, draft->facts.data, draft->facts.size);
    return page_new(&(PageContent){.body = buffer_slice(&draft->out),
                                   .made_us = made_us,
                                   .extra = slice_of(&extra, sizeof extra)});
}

static Status draw(Sheets *sheets, const SheetWish *wish, PageKey key, Arena *arena,
                   CachedPage **ret_sheet)
{
    SheetDraft draft = {0};
    int64_t made_us = clock_steady_us(sheets->world.clock);
    Status status = wish->draw(wish->self, wish->about, arena, &draft);
    if (status == STATUS_OK) {
        *ret_sheet = sheet_of(&draft, made_us);
        page_cache_put(sheets->cache, key, *ret_sheet);
    } else {
        page_cache_skip(sheets->cache, key);
    }
    buffer_free(&draft.out);
    return status;
}

Status sheets_get(Sheets *sheets, const SheetWish *wish, Arena *arena, CachedPage **ret_sheet)
{
    SheetName name = name_of(wish->name, wish->about), voter = name_of(VOTER, wish->voter);
    PageKey key = {slice_of(name.text, name.size), false};
    int64_t changed_us = atomic_load(change_of(sheets, &name));
    int64_t saved_us = wish->voter != 0 ? atomic_load(change_of(sheets, &voter)) : 0;
    PageAge age = {SHEET_MS * US_PER_MS, changed_us > saved_us ? changed_us : saved_us};
    CachedPage *sheet = page_cache_get(sheets->cache, key, age);
    if (sheet == NULL)
        return draw(sheets, wish, key, arena, ret_sheet);
    *ret_sheet = sheet;
    return STATUS_OK;
}

static const SheetExtra *extra_of(const CachedPage *sheet)
{
    return (const void *)page_extra(sheet).data;
}

const void *sheet_facts(const CachedPage *sheet)
{
    return extra_of(sheet)->facts;
}

void sheet_fill(const CachedPage *sheet, Buffer *out, GapFill *fill, void *context)
{
    Slice body = page_body(sheet);
    const Gaps *gaps = &extra_of(sheet)->gaps;
    size_t from = 0;
    for (size_t i = 0; i < gaps->count; i++) {
        const Gap *gap = &gaps->list[i];
        buffer_bytes(out, slice_of(body.data + from, gap->at - from));
        fill(context, out, gap);
        from = gap->at;
    }
    buffer_bytes(out, slice_after(body, from));
}
