/* answers.h -- the official answer to a policy as every door shows it. The operations are in answers.c. */
#pragma once

#include "operations/policy_head.h"
#include "policies/answers.h"
#include "web/put.h"

enum { ANSWERS_PAGE = 10, ANSWERS_DUE_MAX = 20, ANSWERS_DUE_LOOKED = 200 };

typedef struct AnswerView {
    uint64_t policy;
    Slice address; /* of the policy */
    bool is_answered;
    const char *outcome_text;
    Answer answer;
    PersonName author;
    Markup text;
    bool is_due;
    int64_t due_us, due_votes;
} AnswerView;
/* Whatever the state of the policy is. */
MUST_USE Status answer_view(Operations *ops, uint64_t policy, Arena *arena, AnswerView *ret_view);

typedef struct AnswersView {
    PolicyHead head;
    AnswerView *answers; /* the newest first */
    size_t count;
    uint32_t before; /* ask for the next page with this; 0: there is none */
    Slice next;      /* the same as an address for programs */
} AnswersView;
/* Answers before revision `before` (0: from the newest). NOT_FOUND: the policy is hidden, or was never answered. */
MUST_USE Status answers_view(Operations *ops, uint64_t policy, uint32_t before, const Actor *viewer,
                             Arena *arena, AnswersView *ret_view);

/* A policy whose votes have passed the threshold and that waits for an answer. */
typedef struct AnswerDue {
    PolicySummary summary;
    int64_t due_us, due_votes;
} AnswerDue;
/* Those with most votes first: at most ANSWERS_DUE_MAX, among the first ANSWERS_DUE_LOOKED of the ranking. */
MUST_USE Status answers_due(Operations *ops, Arena *arena, AnswerDue *ret_due, size_t *ret_count);
