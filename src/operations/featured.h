/* featured.h -- the policies that stand first on the front page, as every door shows them. The operations are in featured.c. */
#pragma once

#include "operations/operation.h"
#include "policies/featured.h"

typedef struct FeaturedView {
    Featured featured;
    uint32_t place; /* 1 for the first */
    Slice name, address;
    bool is_shown, is_over; /* now; and its policy can be seen */
    bool is_there;
} FeaturedView;

typedef struct FeaturedList {
    int64_t now_us;
    FeaturedView *entries;
    size_t count;
} FeaturedList;

MUST_USE Status featured_list(Operations *ops, Arena *arena, FeaturedList *ret_list);
