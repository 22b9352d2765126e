/* watching.h -- the policies that somebody watches, as every door shows them. */
#pragma once

#include "operations/my_policy.h"

typedef struct MyWatched {
    MyPolicy policy;
    bool has_place;
    RankPlace place; /* in the window of the front page */
} MyWatched;

typedef struct MyWatching {
    MyWatched *policies; /* the last added first */
    size_t count;
    uint32_t window_days;
} MyWatching;

MUST_USE Status my_watching(Operations *ops, uint64_t account, Arena *arena,
                            MyWatching *ret_watching);
