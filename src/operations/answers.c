/* answers.c -- the official answer to a policy: giving it, showing it, and all that it ever was.
 *
 * An answer is one conditional update on the version that its author saw, written to the audit log before. The same answer again changes
 * nothing. A crash in between leaves an entry whose outcome is not known; notices and e-mails are made from the answer itself (news). */
#include "operations/answers.h"

#include "draw/markdown.h"
#include "operations/schema_macros.h"

/* clang-format off */

static const ApiMember ANSWER[] = {
    FIELD("policy", AnswerView, policy, .help = "The policy."),
    FIELD("answered", AnswerView, is_answered, .help = "Whether there is an official answer."),
    WORD("outcome", AnswerView, answer.outcome, OUTCOME_WORDS, WHEN(AnswerView, is_answered), .help = "What comes of it."),
    FIELD("text", AnswerView, answer.text, WHEN(AnswerView, is_answered), .help = "The answer, in Markdown."),
    FIELD("revision", AnswerView, answer.revision, WHEN(AnswerView, is_answered), .help = "1 for the first answer, 2 for the next."),
    FIELD("version", AnswerView, answer.version, WHEN(AnswerView, is_answered), .help = "What a change names as `seen`."),
    FIELD("author", AnswerView, author.name, WHEN(AnswerView, is_answered), .help = "By whom."),
    FIELD("author_real_name", AnswerView, author.real_name, OR_NULL, .help = "Their real name, where they have it shown to everybody."),
    TIME("time", AnswerView, answer.time_us, WHEN(AnswerView, is_answered), .help = "When it was given."),
    TIME("first", AnswerView, answer.first_us, WHEN(AnswerView, is_answered), .help = "When the first one was given."),
    FIELD("due", AnswerView, is_due, .help = "There is none, and its votes have passed the setting answer_threshold."),
};
SCHEMA(ANSWER, "Answer", AnswerView, ANSWER, .help = "The official answer to a policy.");

static const ApiMember ANSWERS[] = {
    FIELD("policy", AnswersView, head.policy.id, .help = "The policy."),
    LIST("answers", AnswersView, answers, count, ANSWER, .help = "The newest first."),
    NEXT(AnswersView),
};
SCHEMA(ANSWERS, "Answers", AnswersView, ANSWERS, .help = "An official answer, and what it was before.");
/* clang-format on */

static void fill_answer(Operations *ops, const Answer *answer, Arena *arena, AnswerView *view)
{
    view->is_answered = true;
    view->answer = *answer;
    view->outcome_text = outcome_text(answer->outcome);
    view->author = person_public_name(ops, answer->author, arena);
    view->text = markdown_html(answer->text, arena);
}

Status answer_view(Operations *ops, uint64_t policy, Arena *arena, AnswerView *ret_view)
{
    AnswerState state;
    TRY(answers_read(ops->app->policies, policy, arena, &state));
    AnswerView view = {.policy = policy,
                       .address = SLICE_EMPTY,
                       .author = {SLICE_EMPTY, SLICE_EMPTY},
                       .answer.text = SLICE_EMPTY,
                       .is_due = state.is_due && !state.is_answered,
                       .due_us = state.due_us,
                       .due_votes = state.due_votes};
    if (state.is_answered)
        fill_answer(ops, &state.answer, arena, &view);
    *ret_view = view;
    return STATUS_OK;
}

Status answers_due(Operations *ops, Arena *arena, AnswerDue *ret_due, size_t *ret_count)
{
    RankPage page;
    size_t count = 0;
    TRY(ranking_page(ops->app->ranking, &(RankQuery){0}, 0, ANSWERS_DUE_LOOKED, arena, &page));
    for (size_t i = 0; i < page.count && count < ANSWERS_DUE_MAX; i++) {
        AnswerState state;
        AnswerDue *due = &ret_due[count];
        TRY(answers_read(ops->app->policies, page.rows[i].policy, arena, &state));
        if (!state.is_due || state.is_answered ||
            policy_summary_get(ops->summaries, page.rows[i].policy, arena, &due->summary) !=
                STATUS_OK)
            continue;
        due->summary.total = page.rows[i].total;
        due->due_us = state.due_us;
        due->due_votes = state.due_votes;
        count++;
    }
    *ret_count = count;
    return STATUS_OK;
}

/* ---- Showing it --------------------------------------------------------------------------------------------------------------- */

typedef struct AnswerShow {
    uint64_t policy;
} AnswerShow;

static Status answer_show(Operations *ops, const Actor *actor, const AnswerShow *request,
                          Arena *arena, AnswerView *ret_view, Reason *reason)
{
    PolicyHead head;
    (void)reason;
    TRY(policy_head(ops, request->policy, actor, arena, &head));
    if (head.is_hidden)
        return STATUS_NOT_FOUND;
    TRY(answer_view(ops, request->policy, arena, ret_view));
    ret_view->address = head.address;
    return STATUS_OK;
}

/* clang-format off */
#define POLICY(type) INPUT("policy", type, policy, POLICY, .operand = true, .help = "The policy.")
OPERATION(answer_show, AnswerShow, AnswerView, .help = "Show the official answer to a policy, or whether one is due.",
    .asks = true, .answers = &SCHEMA_ANSWER, .api = {WEB_GET, "policies/{policy}/answer", .tag = "policies", .cache_ms = 1000},
    .no_page = "the policy's page shows it", .no_command = "policy answer shows it when there is nothing to change",
    .inputs = {POLICY(AnswerShow)});
/* clang-format on */

/* ---- All that it was ---------------------------------------------------------------------------------------------------------- */

Status answers_view(Operations *ops, uint64_t policy, uint32_t before, const Actor *viewer,
                    Arena *arena, AnswersView *ret_view)
{
    AnswersView view = {.next = SLICE_EMPTY};
    AnswerState state;
    TRY(policy_head(ops, policy, viewer, arena, &view.head));
    TRY(answers_read(ops->app->policies, policy, arena, &state));
    if (view.head.is_hidden || !state.is_answered)
        return STATUS_NOT_FOUND;
    uint32_t last = state.answer.revision;
    uint32_t from = before == 0 || before > last ? last : before - 1;
    view.answers = ARENA_ARRAY(arena, ANSWERS_PAGE, AnswerView);
    for (uint32_t i = from; i > 0 && view.count < ANSWERS_PAGE; i--) {
        Answer answer;
        TRY(answers_revision(ops->app->policies, policy, i, arena, &answer));
        view.answers[view.count].policy = policy;
        fill_answer(ops, &answer, arena, &view.answers[view.count++]);
    }
    view.before = from > ANSWERS_PAGE ? from - ANSWERS_PAGE + 1 : 0;
    if (view.before > 0)
        view.next = arena_print(arena, API_PATH "policies/%llu/answers?before=%u",
                                (unsigned long long)policy, view.before);
    *ret_view = view;
    return STATUS_OK;
}

typedef struct AnswerList {
    uint64_t policy;
    uint32_t before;
} AnswerList;

static Status answer_list(Operations *ops, const Actor *actor, const AnswerList *request,
                          Arena *arena, AnswersView *ret_view, Reason *reason)
{
    (void)reason;
    return answers_view(ops, request->policy, request->before, actor, arena, ret_view);
}

/* clang-format off */
OPERATION(answer_list, AnswerList, AnswersView, .help = "List the official answers to a policy, the newest first.",
    .asks = true, .answers = &SCHEMA_ANSWERS, .api = {WEB_GET, "policies/{policy}/answers", .tag = "policies", .cache_ms = 1000},
    .no_page = "/policies/{policy}/answers shows them", .command = {.words = "policy answers"},
    .inputs = {POLICY(AnswerList), INPUT("before", AnswerList, before, SMALL, .fallback = "0", .most = INT32_MAX, .help = "Only answers before this one; 0: from the newest.")});
/* clang-format on */

/* ---- Giving it ---------------------------------------------------------------------------------------------------------------- */

typedef struct AnswerGive {
    uint64_t policy;
    Slice text;
    AnswerOutcome outcome;
    Id seen;
    bool has_text, has_outcome, has_seen; /* what was not given stays as it is */
} AnswerGive;

/* The audit log says what came out of it; the words are on the page. */
static Status give(Operations *ops, const Actor *actor, uint64_t policy, const Answer *now,
                   const AnswerRequest *want, Reason *reason)
{
    Id id;
    AuditAct act = {.kind = AUDIT_POLICY_ANSWER,
                    .object = policy,
                    .reason = slice_from(outcome_text(want->outcome))};
    bool is_repeat =
        now->revision > 0 && now->outcome == want->outcome && slice_equal(now->text, want->text);
    if (is_repeat)
        return answers_give(ops->app->policies, policy, want, reason);
    TRY(operation_audit(ops, actor, &act, &id, reason));
    return operation_audit_end(ops, id, answers_give(ops->app->policies, policy, want, reason));
}

static Status answer_give(Operations *ops, const Actor *actor, const AnswerGive *request,
                          Arena *arena, AnswerView *ret_view, Reason *reason)
{
    AnswerState state;
    AnswerShow shown = {request->policy};
    TRY(answers_read(ops->app->policies, request->policy, arena, &state));
    const Answer *now = &state.answer;
    AnswerRequest want = {.seen = request->has_seen ? request->seen : now->version,
                          .outcome = request->has_outcome ? request->outcome : now->outcome,
                          .text = request->has_text   ? request->text
                                  : state.is_answered ? now->text
                                                      : SLICE_EMPTY,
                          .author = actor_id(actor)};
    if (request->has_text || request->has_outcome) {
        Status status = give(ops, actor, request->policy, now, &want, reason);
        operations_notify(ops, CHANGE_POLICY, request->policy);
        TRY(status);
        operation_done();
    }
    return answer_show(ops, actor, &shown, arena, ret_view, reason);
}

/* As much as an answer says, in lines. */
static void print_answer(const void *answer, Arena *arena, Buffer *out)
{
    const AnswerView *view = answer;
    (void)arena;
    if (view->is_answered)
        buffer_print(out, "policy %llu: %s (answer %u)\n%.*s\n", (unsigned long long)view->policy,
                     view->outcome_text, view->answer.revision, SLICE_ARG(view->answer.text));
    else
        buffer_print(out, "policy %llu has no official answer%s\n",
                     (unsigned long long)view->policy, view->is_due ? ", and one is due" : "");
}

/* clang-format off */
OPERATION(answer_give, AnswerGive, AnswerView, .help = "Give a policy its official answer, or change it; an earlier one stays among its revisions.",
    .access = WEB_ROLE, .whose = WEB_ANYBODYS, .roles = 1u << ROLE_RESPOND, .audits = AUDITS(POLICY_ANSWER), .answers = &SCHEMA_ANSWER,
    .body_bytes = 512 * 1024, .api = {WEB_PUT, "moderation/policies/{policy}/answer", .tag = "moderation"},
    .command = {"policy answer", .print = print_answer},
    .page = {"/policies/{policy}/answer", "answered", "The answer is published."},
    .inputs = {
        POLICY(AnswerGive),
        INPUT("text", AnswerGive, text, TEXT, .command_optional = true, .least = 1, .most = ANSWER_MAX, GIVEN(AnswerGive, has_text), .missing = "must say something", .help = "The answer, in Markdown."),
        INPUT("outcome", AnswerGive, outcome, WORD, .optional = true, .words = OUTCOME_WORDS, GIVEN(AnswerGive, has_outcome), .help = "What comes of it; left out: what it was."),
        INPUT("seen", AnswerGive, seen, VERSION, .command_optional = true, GIVEN(AnswerGive, has_seen), .help = "The version of the answer that this is a change of; 32 zeros for the first."),
    });
/* clang-format on */
