/* shared_page.h -- pages as everybody sees them, rendered once and kept for a moment, with slots for what is the viewer's own.
 *
 *     CachedPage *shared_page;
 *     TRY(shared_pages_get(site->shared_pages, &(SharedPageQuery){.name = SLICE("front"), .draw = draw_front, …}, arena, &shared_page));
 *     shared_page_fill(shared_page, out, fill_slot, request);      // the kept bytes, and in each slot what `fill_slot` writes
 *     page_release(shared_page);
 * Promises:
 *   1. Nothing of any viewer is on a shared page: what draws one has neither request nor viewer. What is somebody's own (their name, balance and
 *      notices, their votes, forms with their token) is written for each request into the slots.
 *   2. A shared page is drawn at most once each SHARED_PAGE_MS and name, however many ask, but for changes by this process (3). It is at most that
 *      old, and seldom twice that.
 *   3. Who has saved here sees a shared page that was drawn after the save; and a policy that was changed here is drawn anew for everybody
 *      (shared_pages_changed).
 *   4. At most SHARED_PAGES_BYTES are kept; what was not asked for the longest goes first.
 * All calls may come from any thread. */
#pragma once

#include "base/arena.h"
#include "base/bytes.h"
#include "web/page_cache.h"

/* No longer than an open page waits to be told of a change. */
enum {
    SHARED_PAGE_MS = 2000,
    SHARED_PAGES_BYTES = 64 << 20,
    PAGE_SLOTS_MAX = 64,
    SHARED_PAGE_FACTS_MAX = 512
};

/*    what belongs there */
typedef enum PageSlotKind {
    SLOT_ME,      /* frame: the menu of who is logged in, or the way in */
    SLOT_NOTICE,  /* frame: what was just done */
    SLOT_HERO,    /* front page: the own pollies, or the welcome */
    SLOT_MINE,    /* a row of a ranking: what is held on policy `about` */
    SLOT_VOTE,    /* policy: own votes and the form */
    SLOT_OFFER,   /* policy: votes that would win a place; `about` is the index of the place */
    SLOT_ACTIONS, /* policy: what can be done */
} PageSlotKind;

typedef struct PageSlot {
    size_t at; /* in the shared page's bytes */
    PageSlotKind kind;
    uint64_t about;
} PageSlot;

typedef struct PageSlots {
    size_t count;
    PageSlot list[PAGE_SLOTS_MAX];
} PageSlots;

/* For templates: what belongs here is not for everybody. */
void slot_leave(PageSlots *slots, const Buffer *out, PageSlotKind kind, uint64_t about);

/* A shared page while it is drawn. */
typedef struct SharedPageDraft {
    Buffer out;
    PageSlots slots;
    /* What those who fill the slots need to know of it, at most SHARED_PAGE_FACTS_MAX bytes without pointers; it is copied. */
    Slice facts;
} SharedPageDraft;

typedef struct SharedPages SharedPages;
typedef Status SharedPageDraw(void *self, uint64_t about, Arena *arena, SharedPageDraft *draft);

typedef struct SharedPageQuery {
    const char *name; /* with `about`, which shared page */
    uint64_t about;
    SharedPageDraw *draw;
    void *self;
    uint64_t voter; /* who asks, for promise 3; 0: nobody in particular */
} SharedPageQuery;

SharedPages *shared_pages_new(World world);
void shared_pages_free(SharedPages *shared_pages);
/* The caller holds the shared page. A status but OK is that of `draw`; nothing is kept then. */
MUST_USE Status shared_pages_get(SharedPages *shared_pages, const SharedPageQuery *want,
                                 Arena *arena, CachedPage **ret_shared_page);
/* One that is not kept, because it is not for everybody. */
CachedPage *shared_page_of(const SharedPageDraft *draft, int64_t made_us);

#define SHARED_PAGES_ALL UINT64_MAX /* in place of `about`: all shared pages of the name */

/* This process has changed something: of the voter, or of what shared pages with this `about` show. */
void shared_pages_saved(SharedPages *shared_pages, uint64_t voter);
void shared_pages_changed(SharedPages *shared_pages, const char *name, uint64_t about);

const void *shared_page_facts(const CachedPage *shared_page);
typedef void PageSlotFill(void *context, Buffer *out, const PageSlot *slot);
void shared_page_fill(const CachedPage *shared_page, Buffer *out, PageSlotFill *fill,
                      void *context);
