/* hot.h -- where something happens: categories by the votes that moved in them and the policies that are new.
 *
 *     heat = votes moved + HOT_NEW * new policies, both of the window's days
 * Votes moved are the changes of each policy over the window without their signs, so that a category that people leave is hot,
 * too. Computed each ten seconds by the site's own thread from the ranking, and kept; a category without any heat is not listed. At
 * most HOT_ROWS policies at either end of a category's ranking are added up: beyond them the votes are few. */
#pragma once

#include "app/app.h"

typedef struct Hot Hot;

enum { HOT_NEW = 10, HOT_ROWS = 5000, HOT_NEW_MOST = 1000 };

typedef struct HotGroup {
    uint64_t id;
    Slice name, address;
    int64_t moved;
    uint64_t fresh; /* new policies */
} HotGroup;

Hot *hot_new(App *app);
void hot_free(Hot *hot);
/* Computes anew; a failure leaves what was there. */
MUST_USE Status hot_refresh(Hot *hot);
/* The hottest first, at most `most`. */
void hot_categories(Hot *hot, size_t most, Arena *arena, HotGroup **ret_groups, size_t *ret_count);

/* The order of the list: more heat first, the lower id on a tie. For qsort; pure. */
int hot_order(const void *a, const void *b);
