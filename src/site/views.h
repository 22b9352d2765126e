/* views.h -- what pages show, and programs get as JSON: filled by one function each, written by a template or by the API. */
#pragma once

#include "site/inside.h"
#include "site/parts.h"

typedef struct FrontView {
    int64_t now_us;
    Arena *arena; /* for what templates draw */
    VotingSettings settings;
    CardPage recent, ever;
} FrontView;
MUST_USE Status front_view(Site *site, Arena *arena, FrontView *ret_view);
