/* answers.h -- the official answer to a policy, and when one is due.
 *
 * Somebody with the role `respond` answers a policy: words and an outcome. A later answer takes its place and the earlier one stays
 * among its revisions, so what was once said officially can be read for as long as the policy can.
 * Promises:
 *   1. Every answer is a conditional update on the version that its author saw; of two at once one stands, and the other is told.
 *   2. Revisions are numbered through from 1, and their times increase. None is changed afterwards.
 *   3. That an answer is due is noted once for each policy, whoever finds it, on however many instances and however often. So is that
 *      those concerned were told: the letters go first, each with a name of its own (mail.h, `once`), then the note. A crash in between
 *      sends nothing twice and forgets nobody.
 *   4. With a policy's text its answers go, too (policies_obliterate).
 * Not promised: that an answer and a move of the policy at the same moment come in some order. Who may answer is checked by the caller. */
#pragma once

#include "policies/policies.h"

/*    outcome, word for scripts, words for people */
#define ANSWER_OUTCOME_LIST(X)                           \
    X(NONE, "none", "No outcome yet")                    \
    X(CONSIDERING, "considering", "Under consideration") \
    X(ACCEPTED, "accepted", "Accepted")                  \
    X(REJECTED, "rejected", "Rejected")                  \
    X(DONE, "done", "Done")
typedef enum AnswerOutcome {
#define X(name, word, text) OUTCOME_##name,
    ANSWER_OUTCOME_LIST(X)
#undef X
        OUTCOME_COUNT
} AnswerOutcome;

extern const char *const OUTCOME_WORDS[]; /* ended by NULL */
const char *outcome_text(AnswerOutcome outcome);

enum { ANSWER_MAX = 20000, ANSWER_REVISIONS_MAX = 500 };

typedef struct Answer {
    AnswerOutcome outcome;
    Slice text; /* Markdown */
    uint32_t revision;
    Id version;
    uint64_t author;           /* 0: the operator */
    int64_t time_us, first_us; /* of this one, and of revision 1 */
} Answer;

/* What there is to say about a policy's answer. */
typedef struct AnswerState {
    bool is_answered;
    Answer answer;
    bool
        is_due; /* its votes have passed the threshold; it stays so, also when they fall or the setting changes */
    int64_t due_us, due_votes;
    bool is_told; /* those who answer have been written to */
} AnswerState;

typedef struct AnswerRequest {
    Id seen; /* the version that this is a change of; zero: there is none yet */
    AnswerOutcome outcome;
    Slice text; /* 1 … ANSWER_MAX characters */
    uint64_t author;
} AnswerRequest;

/* INVALID names field and rule; REFUSED: the policy is hidden, deleted or not there yet; CONFLICT: another answer stands than the one seen. OK, and no new
 * revision, when it says just that already. After UNKNOWN the same call again finds out. NOT_FOUND: no such policy. */
MUST_USE Status answers_give(Policies *policies, uint64_t policy, const AnswerRequest *want,
                             Reason *reason);
/* Everything false for a policy without an answer, and for one that does not exist. */
MUST_USE Status answers_read(Policies *policies, uint64_t policy, Arena *arena,
                             AnswerState *ret_state);
/* NOT_FOUND: there is no such revision. */
MUST_USE Status answers_revision(Policies *policies, uint64_t policy, uint32_t revision,
                                 Arena *arena, Answer *ret_answer);

/* The last answer of each policy as news: revision 0 where there is none. What cannot be read is left out. */
typedef struct AnswerNews {
    uint32_t revision;
    uint64_t author;
    int64_t time_us;
} AnswerNews;
MUST_USE Status answers_news(Policies *policies, const uint64_t *ids, size_t count, Arena *arena,
                             AnswerNews *ret_news);

typedef struct RecentAnswer {
    uint64_t policy;
    Answer answer;
} RecentAnswer;
enum { ANSWERS_RECENT_MAX = 50, ANSWERS_RECENT_DAYS = 90 };
/* The answers of the last ANSWERS_RECENT_DAYS days that still stand, each policy once and the newest first; at most `limit`
 * (1 … ANSWERS_RECENT_MAX). */
MUST_USE Status answers_recent(Policies *policies, size_t limit, Arena *arena,
                               RecentAnswer *ret_answers, size_t *ret_count);

/* An answer is due, at these votes. OK also when somebody noted it before. */
MUST_USE Status answers_note_due(Policies *policies, uint64_t policy, int64_t votes);
/* Those concerned were told. */
MUST_USE Status answers_note_told(Policies *policies, uint64_t policy);
/* Of a policy whose text goes. */
MUST_USE Status answers_obliterate(Policies *policies, uint64_t policy);
