/* my_policy.h -- what a policy is called on the pages and lists of one's own.
 *
 * A policy that waits for its deletion, or is deleted, has no name there ("Policy 12"), but for its owner as long as there is a text. */
#pragma once

#include "operations/operation.h"
#include "operations/policy_summary.h"

typedef struct MyPolicy {
    uint64_t id;
    Slice name, address;
    PolicyState state; /* its own, also when it leads elsewhere */
} MyPolicy;

MUST_USE Status my_policy(Operations *ops, uint64_t policy, uint64_t voter, Arena *arena,
                          MyPolicy *ret_policy);
/* Its number where its name cannot be read: for what must be said in any case. */
MyPolicy my_policy_or_number(Operations *ops, uint64_t policy, uint64_t voter, Arena *arena);
/* Why a line in this state cannot be changed, as a sentence; NULL for ACTIVE. */
const char *my_state_reason(PolicyState state);

/* For schemas. */
#define MY_STATE(type, path) \
    WORD("state", type, path, POLICY_STATE_WORDS, .help = "The state of the policy.")
