/* acts.h -- what is done to a policy by a role: merging, deleting, restoring, answering; for pages and for programs.
 *
 * An act has three parts: a view that says what it would do, the act itself with a reason, and an entry in the log of acts, which is there
 * before anything is done. The token of an act is the id of its move: the same token is the same act, however often it is
 * sent, and is noted once. What the act leaves (a move, an answer) is one conditional update for each policy; rankings, lists and notices
 * are made from that, so a crash between two steps leaves an entry whose outcome is not known, and at worst a merge that the sweep
 * ends. */
#pragma once

#include "policies/answers.h"
#include "site/policy_views.h"

enum { ACT_CHOICES = 10, ACT_VOTERS_MOST = 100000 };

/* ---- The log (deed.c) ------------------------------------------------------------------------------------------------------------ */

/* Something that is done by a role. */
typedef struct Deed {
    Act act;
    bool is_repeat;  /* it stands already, by its token: it was noted then */
    uint64_t report; /* that led to it, and is closed by it; or 0 */
    Id id;           /* of its entry */
} Deed;
/* Anything but OK: do not do it; the reason says why. */
MUST_USE Status deed_begin(WebRequest *request, Deed *deed, Reason *reason);
/* A report that somebody else has taken stays with them. */
void deed_end(WebRequest *request, const Deed *deed, Status outcome);
/* Whether the policy has a move of this id. */
bool deed_stands(const PolicyHead *head, Id token);
/* INVALID unless somebody wrote why, in at most POLICY_REASON_MOST characters. */
MUST_USE Status deed_check_reason(Slice text, Reason *reason);

/* ---- Choosing a policy (acts_choose.c) ---------------------------------------------------------------------------------------- */

/* Another policy that somebody typed: its number, or the beginning of its name. */
typedef struct PolicyChoice {
    uint64_t except; /* is not meant */
    Slice typed;
    PolicyCard cards[ACT_CHOICES]; /* when several may be meant */
    size_t count;
} PolicyChoice;
/* INVALID at field "other", with the cards to choose from where there are several. Only active policies. */
MUST_USE Status choose_policy(Site *site, PolicyChoice *choice, Arena *arena, uint64_t *ret_id,
                              Reason *reason);

/* ---- Merging (merge_view.c, merge.c) -------------------------------------------------------------------------------------------- */

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

typedef struct MergeView {
    PolicyHead head;
    bool has_other; /* the rest is filled */
    MergeSide self, other, result;
    bool has_voters; /* they could be counted in a moment */
    uint64_t both;   /* voters who hold something on both */
    uint32_t window_days;
    int64_t percent; /* what taking back costs where it is not free */
    int64_t as_of_us;

    /* The form. */
    PolicyChoice choice;
    MergeInto into;
    Slice name, reason, token;
    uint64_t report;
    FormFault fault;
    const Viewer *viewer;
} MergeView;

/* What merging two policies would do. `other` 0: only the head. REFUSED: one of them cannot be merged. */
MUST_USE Status merge_view(Site *site, uint64_t policy, uint64_t other, const Account *viewer,
                           Arena *arena, MergeView *ret_view, Reason *reason);

typedef struct MergeAct {
    uint64_t policy, other;
    MergeInto into;
    Slice name; /* of the new policy; empty: that of `policy` */
    Slice reason;
    Id token;
    uint64_t report; /* that led to it, or 0 */
} MergeAct;
/* *ret_target is where both lead to. As policies_merge_named; of two sources one may stand when the other was refused, and the reason
 * says so. */
MUST_USE Status act_merge(WebRequest *request, const MergeAct *act, uint64_t *ret_target,
                          Reason *reason);

/* ---- Deleting and restoring (delete.c) -------------------------------------------------------------------------------------------- */

typedef struct DeleteView {
    PolicyHead head;
    bool is_restore;
    int64_t total;
    int64_t appeal_days;
    int64_t final_us; /* restore: when the deletion becomes final */
    Slice reason, token;
    uint64_t report;
    FormFault fault;
    const Viewer *viewer;
} DeleteView;

typedef struct PolicyAct {
    uint64_t policy;
    Slice reason;
    Id token;
    uint64_t report;
} PolicyAct;
/* As policies_move and policies_restore; both take a reason. */
MUST_USE Status act_delete(WebRequest *request, const PolicyAct *act, Reason *reason);
MUST_USE Status act_restore(WebRequest *request, const PolicyAct *act, Reason *reason);
/* When a deletion that was asked for then becomes final. */
MUST_USE Status act_final_us(Site *site, int64_t hidden_us, Arena *arena, int64_t *ret_us);

/* ---- Answering (answer.c) ------------------------------------------------------------------------------------------------------------ */

enum { ANSWERS_PAGE = 10 };

/* An answer as it is shown. */
typedef struct AnswerView {
    uint64_t policy;
    Slice address; /* of the policy */
    bool is_answered;
    const char *outcome, *outcome_text;
    Answer answer;
    Slice author;
    Markup text;
    bool is_due;
    int64_t due_us, due_votes;
} AnswerView;
MUST_USE Status answer_view(Site *site, uint64_t policy, Arena *arena, AnswerView *ret_view);

typedef struct AnswersView {
    PolicyHead head;
    AnswerView *answers; /* the newest first */
    size_t count;
    Pager pager;
    uint32_t before; /* ask for the next page with this; 0: there is none */
} AnswersView;
/* Answers before revision `before` (0: from the newest). */
MUST_USE Status answers_view(Site *site, uint64_t policy, uint32_t before, const Account *viewer,
                             Arena *arena, AnswersView *ret_view);

typedef struct AnswerForm {
    PolicyHead head;
    AnswerView stands;
    Slice text, seen;
    AnswerOutcome outcome;
    bool is_conflict, is_unknown;
    FormFault fault;
    const Viewer *viewer;
} AnswerForm;
/* As answers_give. */
MUST_USE Status act_answer(WebRequest *request, uint64_t policy, const AnswerWish *wish,
                           Reason *reason);

/* Policies whose votes have passed the threshold and that wait for an answer: those with most votes first. */
typedef struct AnswerDue {
    PolicyCard card;
    int64_t due_us, due_votes;
} AnswerDue;
enum { ANSWERS_DUE_MOST = 20, ANSWERS_DUE_LOOKED = 200 };
/* At most ANSWERS_DUE_MOST, among the first ANSWERS_DUE_LOOKED of the ranking. */
MUST_USE Status answers_due(Site *site, Arena *arena, AnswerDue *ret_due, size_t *ret_count);
