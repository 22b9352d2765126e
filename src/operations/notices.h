/* notices.h -- what happened to the policies that somebody has to do with, as every door shows it. */
#pragma once

#include "operations/my_policy.h"
#include "votes/notices.h"

typedef struct MyNotice {
    Slice key; /* names it for dismissing */
    NoticeKind kind;
    bool has_policy; /* else it is about the account */
    bool has_name;
    MyPolicy policy;
    Slice command,
        shown; /* what a command was called, and what of the person it shows; may be empty */
    bool has_other;
    MyPolicy other; /* where its votes went, or in favour of which it was retired */
    int64_t time_us;
    Slice reason;    /* empty: none */
    bool may_appeal; /* it is the viewer's own policy, and is hidden still */
} MyNotice;

typedef struct MyNotices {
    int64_t now_us;
    MyNotice *notices; /* the newest first */
    size_t count;
    int64_t until_us; /* dismissing all of them goes up to here */
} MyNotices;

MUST_USE Status my_notices(Operations *ops, uint64_t account, Arena *arena, MyNotices *ret_notices);
