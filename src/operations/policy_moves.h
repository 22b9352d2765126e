/* policy_moves.h -- what moderators and owners do to a policy: hide, restore, retire, merge, and appeal. The operations are in
 * policy_moves.c and policy_merge.c.
 *
 * The token of a request is the id of its move: the same token is the same act, however often it is sent, and has one audit entry, which is
 * written before anything is done. An act is one conditional update for each policy; rankings, lists and notices are made from that. A
 * crash between two steps leaves an entry whose outcome is not known, and at worst a merge that the sweep ends. */
#pragma once

#include "operations/policy_head.h"

typedef struct PolicyMoveRequest {
    uint64_t policy;
    uint64_t other; /* retiring: in favour of which; 0: none */
    Slice reason;
    uint64_t report; /* that led to it, and is closed by it; 0: none */
    Id token;
} PolicyMoveRequest;

/* REFUSED where a policy in this state cannot be retired, deleted, restored or merged: AUDIT_POLICY_RETIRE and so on. */
MUST_USE Status policy_check_act(const PolicyHead *head, AuditKind kind, Reason *reason);
/* The policy that a request names beside its own: INVALID at `other` unless it is another one, and active. */
MUST_USE Status policy_check_other(Operations *ops, uint64_t policy, uint64_t other, Arena *arena,
                                   Reason *reason);
/* Whether the move of this id is there already. */
bool policy_has_move(const PolicyHead *head, Id id);
/* When the deletion of a policy that was hidden then becomes final. */
MUST_USE Status deletion_final_us(Operations *ops, int64_t hidden_us, Arena *arena,
                                  int64_t *ret_us);

/* Of every such operation: who may, its inputs, what a command prints. */
#define MODERATORS_ONLY \
    .access = WEB_ROLE, .whose = WEB_ANYBODYS, .roles = 1u << ROLE_MODERATE_POLICIES
#define MOVE_REASON_INPUT(type, ...)                                                    \
    INPUT("reason", type, reason, TEXT, .most = POLICY_REASON_MAX,                      \
          .missing = "say why: everyone can read it", .help = "Why; everyone sees it.", \
          __VA_ARGS__)
#define REPORT_INPUT(type)                              \
    INPUT("report", type, report, ID, .optional = true, \
          .help = "The report that led to it, and is closed by it.")
#define TOKEN_INPUT(type) \
    INPUT("token", type, token, ONCE, .help = "The same one again is the same act.")
void policy_print_state(const void *head, Arena *arena, Buffer *out);

/* ---- Merging (policy_merge.c) ------------------------------------------------------------------------------------------------ */

/*    into which, word */
#define MERGE_INTO_LIST(X) \
    X(OTHER, "other")      \
    X(THIS, "this")        \
    X(NEW, "new")
typedef enum MergeInto {
#define X(name, word) MERGE_INTO_##name,
    MERGE_INTO_LIST(X)
#undef X
        MERGE_INTO_COUNT
} MergeInto;
extern const char *const MERGE_INTO_WORDS[]; /* ended by NULL */

/* One of the two, or what they become. */
typedef struct MergeSide {
    uint64_t policy; /* 0: it is not there yet */
    Slice name, address;
    int64_t total, recent;      /* votes ever, and in the window */
    uint64_t rank, recent_rank; /* 0: in no ranking */
    uint64_t voters;
} MergeSide;

enum { MERGE_VOTERS_MAX = 100000 };

/* What merging two policies would do. */
typedef struct MergeView {
    MergeSide self, other, result;
    bool has_voters; /* there are few enough to count them */
    uint64_t both;   /* voters who hold something on both */
    uint32_t window_days;
    int64_t percent; /* what taking back costs where it is not free */
    int64_t as_of_us;
} MergeView;
MUST_USE Status merge_view(Operations *ops, const Actor *actor, uint64_t policy, uint64_t other,
                           Arena *arena, MergeView *ret_view, Reason *reason);
