/* parts.h -- what several pages are made of, apart from cards: pagers and small pictures. */
#pragma once

#include "base/arena.h"
#include "web/put.h"

typedef struct Pager {
    Slice before, after;    /* addresses; empty: there is nothing */
    uint64_t from, to, all; /* from 0: not said */
} Pager;

/* A curve of 60 by 16 without axes: what the days of a policy look like at a glance. It says nothing to a screen reader that the
 * figures beside it do not say. */
Markup sparkline(const int64_t *days, size_t count, Arena *arena);
