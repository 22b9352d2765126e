/* trending.h -- where something happens: categories by the votes that moved in them and the policies that are new.
 *
 *     heat = votes moved + TRENDING_NEW * new policies, both of the window's days
 * Votes moved are the changes of each policy over the window without their signs, so that a category that people leave is hot,
 * too. Computed each ten seconds by the site's own thread from the ranking, and kept; a category without any heat is not listed. At
 * most TRENDING_ROWS policies at either end of a category's ranking are added up: beyond them the votes are few. */
#pragma once

#include "app/app.h"

typedef struct Trending Trending;

enum { TRENDING_NEW = 10, TRENDING_ROWS = 5000, TRENDING_NEW_MAX = 1000 };

typedef struct TrendingGroup {
    uint64_t id;
    Slice name, address;
    int64_t moved;
    uint64_t fresh; /* new policies */
} TrendingGroup;

Trending *trending_new(App *app);
void trending_free(Trending *trending);
/* Computes anew; a failure leaves what was there. */
MUST_USE Status trending_refresh(Trending *trending);
/* The hottest first, at most `most`. */
void trending_categories(Trending *trending, size_t most, Arena *arena, TrendingGroup **ret_groups,
                         size_t *ret_count);

/* The order of the list: more heat first, the lower id on a tie. For qsort; pure. */
int trending_order(const void *a, const void *b);
