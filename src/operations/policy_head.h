/* policy_head.h -- what every view of a policy begins with: the policy, what it is called and where, and what this viewer may do with it.
 *
 *   1. A policy that is not there is NOT_FOUND; so is one that never came to be (void), and for others than its creator one that
 *      is not there yet (pending).
 *   2. Of a policy that waits for its deletion only its owner and moderators see name and texts (`is_hidden` for all others:
 *      policy.text is empty then, so that no page can show it by mistake); of a deleted one nobody does. */
#pragma once

#include "operations/operation.h"
#include "operations/policy_summary.h"

/* How somebody is called in public. */
typedef struct PersonName {
    Slice name;      /* "ada", "a deleted account", "the site"; empty: there is nobody */
    Slice real_name; /* where they have it shown to everybody; else empty */
} PersonName;

typedef struct PolicyHead {
    int64_t now_us;
    Policy policy;
    PolicyState state;
    const PolicyMove *move; /* into that state */
    Slice address;          /* /policies/12-clean-rivers; of a hidden one without words */
    Slice category_name, category_address, party_name, party_address;
    PersonName owner; /* empty: it has none any more */
    bool is_hidden, is_owner;
    bool may_edit, may_retire; /* by right; the state may forbid it */
    bool leads;                /* merged or retired in favour of: */
    PolicySummary to;
} PolicyHead;
extern const ApiSchema SCHEMA_POLICY; /* a PolicyHead */

/* The same with its votes. */
typedef struct PolicyShown {
    PolicyHead head;
    int64_t votes;
} PolicyShown;

typedef struct PolicyRights {
    bool is_owner, may_edit, may_retire; /* as in PolicyHead */
    bool may_moderate, may_answer;
} PolicyRights;
PolicyRights policy_rights(uint64_t owner, const Actor *actor);
/* `actor`: who looks at it. */
MUST_USE Status policy_head(Operations *ops, uint64_t id, const Actor *actor, Arena *arena,
                            PolicyHead *ret_head);
/* "the site" for 0. */
PersonName person_public_name(Operations *ops, uint64_t account, Arena *arena);
/* Only what the account is called. */
Slice person_name(Operations *ops, uint64_t account, Arena *arena);
/* Whether the text can be changed now, by those who may. */
bool policy_is_open(PolicyState state);
/* A title that gives nothing hidden away. */
Slice policy_title(const PolicyHead *head);
/* Where a page below the policy's own is: "/policies/12-clean-rivers" and "/edit". */
Slice policy_path(const PolicyHead *head, const char *below, Arena *arena);
/* "/categories/3-environment", "/parties/2". */
Slice group_address(GroupKind kind, uint64_t id, Slice name, Arena *arena);
/* The rules in force now. */
MUST_USE Status operations_settings(Operations *ops, Arena *arena, VotingSettings *ret_settings);
