/* policy_rules.h -- the states of a policy and the moves between them: pure.
 *
 * A policy's life is a short list of moves, each with a time, an actor, a reason and a fresh id; the last one is its state.
 * Times in the list strictly increase, whatever the clocks say. Judging something at a time means: by the
 * last move that is not after it. A merged policy leads to another one; the end of that way is its root, and the root's state
 * is the member's effective state.
 *
 * No move lowers anyone's balance (tests/votes shows it over random histories). That is why a cache of moves that is
 * behind is safe to judge by: it can only be too strict. */
#pragma once

#include "base/ids.h"
#include "base/words.h"

/*    name, visible in lists, votes count in the balance, word for people */
#define POLICY_STATE_LIST(X)                       \
    X(PENDING, false, "pending")                   \
    X(ACTIVE, true, "active")                      \
    X(MERGING, true, "merging")                    \
    X(MERGED, false, "merged")                     \
    X(RETIRED, false, "retired")                   \
    X(PENDING_DELETION, false, "pending-deletion") \
    X(DELETED, false, "deleted")                   \
    X(VOID, false, "void")

typedef enum PolicyState {
#define X(name, listed, text) POLICY_##name,
    POLICY_STATE_LIST(X)
#undef X
        POLICY_STATE_COUNT
} PolicyState;

extern const char *const POLICY_STATE_WORDS[];
const char *policy_state_text(PolicyState state);
/* Shown in rankings and lists. */
bool policy_state_listed(PolicyState state);

typedef struct PolicyMove {
    PolicyState state;
    int64_t time_us;
    Id id;           /* of this move; for a merge, the merge's id, which the target lists too */
    uint64_t actor;  /* 0: the system */
    uint64_t other;  /* merging, merged: the target; retired: the policy in favour of which, or 0 */
    uint64_t payer;  /* retired: the owner at that time, who pays; 0: nobody */
    int64_t percent; /* retired: the withdrawal percent at that time */
    Slice reason;
} PolicyMove;

/* What rules need to know of a policy. */
typedef struct PolicyFacts {
    uint64_t id;
    const PolicyMove *moves; /* oldest first, at least one */
    size_t move_count;
} PolicyFacts;

/* How rules ask for another policy; NULL when it does not exist. */
typedef struct PolicyLookup {
    const PolicyFacts *(*find)(void *self, uint64_t id);
    void *self;
} PolicyLookup;

enum {
    POLICY_MERGE_DEPTH = 64, /* policies on the way from a member to its root, both included */
    POLICY_MOVES_MAX = 200,
    /* From here on no detours (a merge that may fall back, an appeal), so that a policy can always be retired and
     * deleted, and none is stuck between two states. */
    POLICY_MOVES_DETOUR = POLICY_MOVES_MAX - 4,
};

/* The last move that is not after `time_us`, or NULL when the policy was not there yet. */
const PolicyMove *policy_move_at(const PolicyFacts *facts, int64_t time_us);

typedef struct PolicyStanding {
    uint64_t root;     /* the policy itself, unless it is merged */
    PolicyState state; /* of the root; for pending-deletion see `before` */
    PolicyState
        before; /* pending-deletion: the state to which an appeal leads back; else = state */
    const PolicyMove *move; /* the root's move into `before` (retired: who pays what) */
} PolicyStanding;

/* Where a policy stands at a time, through all merges. false when it, or a policy on the way, is not there. */
bool policy_standing(const PolicyLookup *lookup, uint64_t id, int64_t time_us,
                     PolicyStanding *ret_standing);

/* The latest move on the way from the policy to its root: whoever relies on a standing is not earlier than this. */
int64_t policy_standing_time(const PolicyLookup *lookup, uint64_t id);

/* Whether the list may go on with `to` after its last move; REFUSED with the rule otherwise. An appeal is a move back to the
 * state before the pending deletion. */
MUST_USE Status policy_check_move(const PolicyFacts *facts, PolicyState to, Reason *reason);
/* The time of the next move: not before the clock, after the last move. */
int64_t policy_move_time(const PolicyFacts *facts, int64_t clock_us);
