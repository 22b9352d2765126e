/* policies_private.h -- what the files of this module share: the handle, and a policy's row as it was read. */
#pragma once

#include <stdatomic.h>

#include "base/read_cache.h"
#include "news/news.h"
#include "policies/policy_cache.h"

enum {
    POLICIES_TRIES = 5
}; /* of an update whose outcome is not known, and of a step that others keep changing */

struct Policies {
    Store *store;
    World world;
    const ClockGuard *clock_guard; /* or NULL */
    Sequence *ids;
    PolicyCache *cache;
    ReadCache *group_names;                   /* by kind and id */
    _Atomic uint64_t left[POLICIES_LEFT_MAX]; /* sources of merges that wait to be ended; 0: none */
};

/* Before the store is asked for what the cache then keeps. */
static inline PolicyAsked policies_ask(const Policies *policies)
{
    return policy_cache_ask(policies->cache, store_generation(policies->store));
}

static inline Records policies_records(const Policies *policies)
{
    return (Records){policies->store, policies->world, NULL};
}
/* What is stored, for the tests and fuzzers of all records. */
extern const Record FEATURED_RECORD, GROUP_HEAD_RECORD, GROUP_RECORD, ANSWER_RECORD,
    ANSWER_NOTE_RECORD, ANSWER_NEWS_RECORD, POLICY_GONE_RECORD;

/* All but old texts, from one slice: a picture of one moment. */
typedef struct PolicyRow {
    PolicyKnown known;
    PolicyOrigin origin;
    PolicyOwner owner;
    PolicyHead head;
    PolicyRevision text; /* zero when obliterated: has_text */
    bool has_text;
    Slice state_value, owner_value, text_value; /* as stored, for conditions */
} PolicyRow;

/* NOT_FOUND when there is no such policy; CORRUPT when the parts do not fit together. */
MUST_USE Status policy_row_read(Policies *policies, uint64_t id, ReadMode mode, Arena *arena,
                                PolicyRow *ret_row);
/* Moves and listings only, from the cache or by a normal read, which then is in the cache. */
MUST_USE Status policy_known(Policies *policies, uint64_t id, Arena *arena, PolicyKnown *ret_known);
/* The same by a serial read in any case. */
MUST_USE Status policy_known_fresh(Policies *policies, uint64_t id, Arena *arena,
                                   PolicyKnown *ret_known);
/* The last move of the row. */
const PolicyMove *policy_last(const PolicyRow *row);
/* The move of this state and id, or NULL. */
const PolicyMove *policy_find_move(const PolicyFacts *facts, PolicyState state, Id id);

/* Fills in table, row and mark, and runs the update by the rule for UNKNOWN. */
MUST_USE Status policy_update(Policies *policies, uint64_t id, Update *update, Arena *arena);
/* Appends a move, which the rules must allow, to the row as it was read, at the earliest at `not_before_us`; then the
 * cache and the lists know of it. CONFLICT: the row moved on without it. move->id must be set. */
MUST_USE Status policy_append(Policies *policies, const PolicyRow *row, PolicyMove *move,
                              int64_t not_before_us);
/* Whether a move can be dated now. UNAVAILABLE: the clock is in doubt, or the last move is too far ahead. */
MUST_USE Status policy_check_clock(Policies *policies, const PolicyFacts *facts, Reason *reason);
MUST_USE Status policy_check_reason(Slice text, Reason *reason);

/* What a policy shows: for policies_read and for pages. */
void policy_of_row(const PolicyRow *row, Policy *ret_policy);

/* ---- Texts and groups ---------------------------------------------------------------------------------------- */

/* NFKC and case folding: by this form names are compared and sorted. The text must be UTF-8. */
Slice policy_fold(Slice text, Arena *arena);
/* 1 … `most` characters on one line, not blank at the ends. INVALID names the field. */
MUST_USE Status policy_check_line(const char *field, Slice text, size_t least, size_t most,
                                  Reason *reason);
/* REFUSED unless the groups are there and take policies. `before` (or NULL) is the text that stands: what does not change
 * need not be active any more. */
MUST_USE Status policy_check_groups(Policies *policies, const PolicyText *text,
                                    const PolicyText *before, Reason *reason);

/* ---- Lists --------------------------------------------------------------------------------------------------- */

/* Brings the lists from how a policy stood in them to how it stands now; either may be NULL: not in lists. Errors are
 * left to the repair. */
void policy_index_change(Policies *policies, const Policy *before, const Policy *after);
/* Out of every list that a policy with this text may be in, whatever its state. UNKNOWN, UNAVAILABLE: do it again. */
MUST_USE Status policy_index_remove(Policies *policies, const Policy *policy);
