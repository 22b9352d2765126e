/* follow.h -- following categories and parties: who does hears of each new policy there, in the notices and in the digest. */
#pragma once

#include "operations/operation.h"

typedef struct FollowedGroup {
    unsigned kind; /* GroupKind */
    uint64_t group;
    Slice name, address;
    int64_t since_us;
} FollowedGroup;

typedef struct Following {
    FollowedGroup *groups; /* in the order in which they were followed */
    size_t count;
} Following;

MUST_USE Status following_of(Operations *ops, const Actor *actor, Arena *arena,
                             Following *ret_following);
bool following_has(const Following *following, unsigned kind, uint64_t group);
extern const char *const GROUP_WORDS[]; /* "category", "party", NULL */
