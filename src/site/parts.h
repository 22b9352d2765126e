/* parts.h -- what several pages are made of, apart from summaries: choosers, pagers, small pictures. Templates in pages/parts.html. */
#pragma once

#include "base/arena.h"
#include "site/cached/shared_page.h"
#include "web/put.h"

typedef struct Pager {
    Slice before, after;    /* addresses; empty: there is nothing */
    uint64_t from, to, all; /* from 0: not said */
} Pager;

/* One of a few ways to see a page; each is a link. */
typedef struct Choice {
    Slice text, address;
    bool is_chosen;
} Choice;

typedef struct Chooser {
    const char *label; /* what is chosen, for who cannot see it */
    Choice *choices;
    size_t count;
} Chooser;

/* How a page of a ranking is shown. */
typedef struct RankList {
    const char *name; /* of the list in live events: "rows", "ever"; an empty one is not live */
    uint32_t days;    /* 0: all votes, which need no second column */
    bool is_past;     /* without the curves, which are those of the last days */
    Arena *arena;
    PageSlots *
        slots; /* of a shared page, for what the viewer holds on each; or NULL: the summaries say it */
} RankList;

/* A curve of 60 by 16 without axes: what the days of a policy look like at a glance. It says nothing to a screen reader that the
 * figures beside it do not say. */
Markup sparkline(const int64_t *days, size_t count, Arena *arena);
