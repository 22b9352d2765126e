/* featured.h -- policies that those with the role `feature` put on the front page: in their order, each from when and until when.
 *
 * One cell holds the whole list, so there is one order. Promises:
 *   1. A change is a conditional update on the list that was read, with a fresh id; two at once come one after the other, and none is lost.
 *   2. Setting a policy again moves it or changes its times; it never stands twice.
 *   3. UNKNOWN is passed on; the same again is safe. UNAVAILABLE, REFUSED, INVALID: not done.
 *   4. What is over stays in the list, where it is seen to be over, until somebody removes it or the list is full: then the longest over
 *      goes first.
 * Whether a policy can still be seen is for the page to find out. Roles are checked by the caller. */
#pragma once

#include "policies/policies.h"

enum { FEATURED_MAX = 12 };

typedef struct Featured {
    uint64_t policy;
    int64_t from_us;  /* 0: at once */
    int64_t until_us; /* 0: without an end */
    uint64_t actor;   /* who set it; 0: the operator */
    int64_t set_us;
} Featured;

/* In their order. Room for FEATURED_MAX; *ret_count may be 0. */
MUST_USE Status policies_featured(Policies *policies, Arena *arena, Featured **ret_list,
                                  size_t *ret_count);
/* Shown at this moment; pure. */
bool featured_is_shown(const Featured *featured, int64_t now_us);
/* Over at this moment; pure. */
bool featured_is_over(const Featured *featured, int64_t now_us);

typedef struct FeatureRequest {
    uint64_t policy;
    uint32_t
        place; /* 1 … FEATURED_MAX; beyond the end: at the end; 0: where it is, or at the end */
    int64_t from_us, until_us;
    uint64_t actor;
} FeatureRequest;

/* What policies_feature asks first; nothing is written. */
MUST_USE Status policies_feature_check(Policies *policies, const FeatureRequest *want,
                                       Reason *reason);
/* INVALID names place, from or until. REFUSED: the policy is not active, or FEATURED_MAX others are not over. NOT_FOUND: no such policy. */
MUST_USE Status policies_feature(Policies *policies, const FeatureRequest *want, Reason *reason);
/* OK also when it does not stand there. */
MUST_USE Status policies_unfeature(Policies *policies, uint64_t policy);
