/* sheets.h -- pages as everybody sees them, rendered once and kept for a moment, with gaps for what is the viewer's own.
 *
 *     CachedPage *sheet;
 *     TRY(sheets_get(site->sheets, &(SheetWish){.name = SLICE("front"), .draw = draw_front, …}, arena, &sheet));
 *     sheet_fill(sheet, out, fill_gap, request);      // the kept bytes, and in each gap what `fill_gap` writes
 *     page_release(sheet);
 * Promises:
 *   1. Nothing of any viewer is on a sheet: what draws one has neither request nor viewer. What is somebody's own (their name, balance and
 *      notices, their votes, forms with their token) is written for each request into the gaps.
 *   2. A sheet is drawn at most once each SHEET_MS and name, however many ask, but for changes by this process (3). It is at most that
 *      old, and seldom twice that.
 *   3. Who has saved here sees a sheet that was drawn after the save; and a policy that was changed here is drawn anew for everybody
 *      (sheets_changed).
 *   4. At most SHEETS_BYTES are kept; what was not asked for the longest goes first.
 * All calls may come from any thread. */
#pragma once

#include "base/arena.h"
#include "base/bytes.h"
#include "web/page_cache.h"

/* No longer than an open page waits to be told of a change. */
enum { SHEET_MS = 2000, SHEETS_BYTES = 64 << 20, GAPS_MOST = 64, SHEET_FACTS_MOST = 512 };

/*    what belongs there */
typedef enum GapKind {
    GAP_ME,     /* frame: the menu of who is logged in, or the way in */
    GAP_NOTICE, /* frame: what was just done */
    GAP_HERO,   /* front page: the own pollies, or the welcome */
    GAP_MINE,   /* a row of a ranking: what is held on policy `about` */
    GAP_VOTE,   /* policy: own votes and the form */
    GAP_OFFER,  /* policy: votes that would win a place; `about` is the index of the place */
    GAP_ACTS,   /* policy: what can be done */
} GapKind;

typedef struct Gap {
    size_t at; /* in the sheet's bytes */
    GapKind kind;
    uint64_t about;
} Gap;

typedef struct Gaps {
    size_t count;
    Gap list[GAPS_MOST];
} Gaps;

/* For templates: what belongs here is not for everybody. */
void gap_leave(Gaps *gaps, const Buffer *out, GapKind kind, uint64_t about);

/* A sheet while it is drawn. */
typedef struct SheetDraft {
    Buffer out;
    Gaps gaps;
    /* What those who fill the gaps need to know of it, at most SHEET_FACTS_MOST bytes without pointers; it is copied. */
    Slice facts;
} SheetDraft;

typedef struct Sheets Sheets;
typedef Status SheetDraw(void *self, uint64_t about, Arena *arena, SheetDraft *draft);

typedef struct SheetWish {
    const char *name; /* with `about`, which sheet */
    uint64_t about;
    SheetDraw *draw;
    void *self;
    uint64_t voter; /* who asks, for promise 3; 0: nobody in particular */
} SheetWish;

Sheets *sheets_new(World world);
void sheets_free(Sheets *sheets);
/* The caller holds the sheet. A status but OK is that of `draw`; nothing is kept then. */
MUST_USE Status sheets_get(Sheets *sheets, const SheetWish *wish, Arena *arena,
                           CachedPage **ret_sheet);
/* One that is not kept, because it is not for everybody. */
CachedPage *sheet_of(const SheetDraft *draft, int64_t made_us);

/* This process has changed something: of the voter, or of what sheets with this `about` show. */
void sheets_saved(Sheets *sheets, uint64_t voter);
void sheets_changed(Sheets *sheets, const char *name, uint64_t about);

const void *sheet_facts(const CachedPage *sheet);
typedef void GapFill(void *context, Buffer *out, const Gap *gap);
void sheet_fill(const CachedPage *sheet, Buffer *out, GapFill *fill, void *context);
