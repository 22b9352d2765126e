/* answer.c -- the official answer to a policy: on its page, all that it ever was, and the form for those who answer. See acts.h.
 *
 * An answer is one conditional update on the version that its author saw. Sent twice it is one: what says the same changes nothing. A crash
 * after it leaves pages that are a second behind. */
#include "site/acts.h"
#include "site/markdown.h"
#include "site/pages.h"

/* ---- Views -------------------------------------------------------------------------------------------------------------------- */

static void fill_answer(Site *site, const Answer *answer, Arena *arena, AnswerView *view)
{
    view->is_answered = true;
    view->answer = *answer;
    view->outcome = OUTCOME_WORDS[answer->outcome];
    view->outcome_text = outcome_text(answer->outcome);
    view->author = person_name(site, answer->author, arena);
    view->text = markdown_html(answer->text, arena);
}

Status answer_view(Site *site, uint64_t policy, Arena *arena, AnswerView *ret_view)
{
    AnswerState state;
    TRY(answers_read(site->app->policies, policy, arena, &state));
    AnswerView view = {.policy = policy,
                       .author = SLICE_EMPTY,
                       .answer.text = SLICE_EMPTY,
                       .is_due = state.is_due && !state.is_answered,
                       .due_us = state.due_us,
                       .due_votes = state.due_votes};
    if (state.is_answered)
        fill_answer(site, &state.answer, arena, &view);
    *ret_view = view;
    return STATUS_OK;
}

Status answers_view(Site *site, uint64_t policy, uint32_t before, const Account *viewer,
                    Arena *arena, AnswersView *ret_view)
{
    AnswersView view = {.pager = {.before = SLICE_EMPTY, .after = SLICE_EMPTY}};
    AnswerState state;
    TRY(policy_head(site, policy, viewer, arena, &view.head));
    TRY(answers_read(site->app->policies, policy, arena, &state));
    if (view.head.is_hidden || !state.is_answered)
        return STATUS_NOT_FOUND;
    uint32_t last = state.answer.revision;
    uint32_t from = before == 0 || before > last ? last : before - 1;
    view.answers = ARENA_ARRAY(arena, ANSWERS_PAGE, AnswerView);
    for (uint32_t i = from; i > 0 && view.count < ANSWERS_PAGE; i--) {
        Answer answer;
        TRY(answers_revision(site->app->policies, policy, i, arena, &answer));
        view.answers[view.count].policy = policy;
        fill_answer(site, &answer, arena, &view.answers[view.count++]);
    }
    view.before = from > ANSWERS_PAGE ? from - ANSWERS_PAGE + 1 : 0;
    if (view.before > 0)
        view.pager.after =
            arena_print(arena, "%.*s/answers?before=%u", SLICE_ARG(view.head.address), view.before);
    *ret_view = view;
    return STATUS_OK;
}

Status answers_due(Site *site, Arena *arena, AnswerDue *ret_due, size_t *ret_count)
{
    RankPage page;
    size_t count = 0;
    TRY(ranking_page(site->app->ranking, &(RankQuery){0}, 0, ANSWERS_DUE_LOOKED, arena, &page));
    for (size_t i = 0; i < page.count && count < ANSWERS_DUE_MOST; i++) {
        AnswerState state;
        AnswerDue *due = &ret_due[count];
        TRY(answers_read(site->app->policies, page.rows[i].policy, arena, &state));
        if (!state.is_due || state.is_answered ||
            cards_one(site->cards, page.rows[i].policy, arena, &due->card) != STATUS_OK)
            continue;
        due->card.total = page.rows[i].total;
        due->due_us = state.due_us;
        due->due_votes = state.due_votes;
        count++;
    }
    *ret_count = count;
    return STATUS_OK;
}

/* ---- The act ------------------------------------------------------------------------------------------------------------------ */

/* The log says what came out of it; the words are on the page. */
Status act_answer(WebRequest *request, uint64_t policy, const AnswerWish *wish, Reason *reason)
{
    Site *site = site_of(request);
    AnswerState state;
    TRY(answers_read(site->app->policies, policy, web_arena(request), &state));
    const Answer *stands = &state.answer;
    Deed deed = {.act = {.kind = ACT_POLICY_ANSWER,
                         .object = policy,
                         .reason = slice_from(outcome_text(wish->outcome))},
                 .is_repeat = state.is_answered && stands->outcome == wish->outcome &&
                              slice_equal(stands->text, wish->text)};
    TRY(deed_begin(request, &deed, reason));
    Status status = answers_give(site->app->policies, policy, wish, reason);
    policy_changed(site, policy);
    deed_end(request, &deed, status);
    return status;
}

/* ---- Pages -------------------------------------------------------------------------------------------------------------------- */

static Status show_answers(WebRequest *request)
{
    AnswersView view;
    TRY(answers_view(site_of(request), web_id(request, 0), (uint32_t)web_number(request, 1),
                     site_account(request), web_arena(request), &view));
    Frame frame = {.title = arena_print(web_arena(request), "Answers to %.*s",
                                        SLICE_ARG(policy_title(&view.head))),
                   .is_narrow = true};
    Buffer *out = page_begin(request, &frame);
    answers_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

static Status begin(WebRequest *request, AnswerForm *form)
{
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    *form = (AnswerForm){.text = SLICE_EMPTY, .viewer = site_viewer(request)};
    TRY(policy_head(site, web_id(request, 0), site_account(request), arena, &form->head));
    if (form->head.is_hidden || form->head.state == POLICY_PENDING_DELETION ||
        form->head.state == POLICY_PENDING)
        return reason_set(web_reason(request), STATUS_REFUSED, "",
                          "a policy that is %s is not answered",
                          policy_state_text(form->head.state));
    TRY(answer_view(site, form->head.policy.id, arena, &form->stands));
    form->seen = id_text(form->stands.answer.version, arena);
    return STATUS_OK;
}

static Status show(WebRequest *request, const AnswerForm *form, int code)
{
    Frame frame = {.title = arena_print(web_arena(request), "Answer %.*s",
                                        SLICE_ARG(policy_title(&form->head))),
                   .is_narrow = true};
    Buffer *out = page_begin(request, &frame);
    answer_page(out, form);
    page_end(request, out);
    web_code(request, code);
    return STATUS_OK;
}

static Status show_form(WebRequest *request)
{
    AnswerForm form;
    TRY(begin(request, &form));
    form.text = form.stands.answer.text;
    form.outcome = form.stands.answer.outcome;
    return show(request, &form, 200);
}

enum { P_POLICY, P_TEXT, P_OUTCOME, P_SEEN };

static Status take_form(WebRequest *request)
{
    AnswerForm form;
    Reason reason = {0};
    AnswerWish wish = {.outcome = (AnswerOutcome)web_word(request, P_OUTCOME),
                       .text = slice_trim(web_text(request, P_TEXT)),
                       .author = site_account(request)->id};
    TRY(begin(request, &form));
    form.text = wish.text;
    form.outcome = wish.outcome;
    if (id_from_text(web_text(request, P_SEEN), &wish.seen) != STATUS_OK)
        return reason_set(web_reason(request), STATUS_INVALID, "seen",
                          "must be what the form came with");
    Status status = act_answer(request, form.head.policy.id, &wish, &reason);
    if (status == STATUS_OK) {
        site_done(request, form.head.address, "answered", 0);
        return STATUS_OK;
    }
    form.is_conflict = status == STATUS_CONFLICT;
    form.is_unknown = status == STATUS_UNKNOWN;
    if (form.is_unknown)
        form.seen = web_text(request, P_SEEN); /* the same again */
    if (form.is_conflict)
        return show(request, &form, 409);
    if (form.is_unknown)
        return show(request, &form, 503);
    if (form_can_be_corrected(status)) {
        form.fault = form_fault(&reason);
        return show(request, &form, 422);
    }
    *web_reason(request) = reason;
    return status;
}

/* clang-format off */
#define POLICY_ROW {"policy", WEB_PATH, WEB_SLUG, .help = "The policy."}
#define OFFICES .access = WEB_ROLE, .roles = 1u << ROLE_RESPOND, .whose = WEB_ANYBODYS

static const WebRoute ROUTES[] = {
    {WEB_GET, "/policies/{policy}/answers", show_answers, .cache_ms = 1000,
     .help = "The official answer to a policy, and what it was before.",
     .params = {POLICY_ROW, {"before", WEB_QUERY, WEB_NUMBER, .least = 0, .most = INT32_MAX, .fallback = "0",
                             .help = "Only answers before this one; 0: from the newest."}}},
    {WEB_GET, "/policies/{policy}/answer", show_form, OFFICES,
     .help = "The form in which a policy is officially answered.", .params = {POLICY_ROW}},
    {WEB_POST, "/policies/{policy}/answer", take_form, OFFICES, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Answers a policy officially.",
     .params = {[P_POLICY] = POLICY_ROW,
                [P_TEXT] = {"text", WEB_FORM, WEB_TEXT, .fallback = "", .most = 100000, .help = "The answer, in Markdown."},
                [P_OUTCOME] = {"outcome", WEB_FORM, WEB_WORD, .words = OUTCOME_WORDS, .fallback = "none", .help = "What comes of it."},
                [P_SEEN] = {"seen", WEB_FORM, WEB_OPAQUE, .least = 1, .most = 64,
                            .help = "The version of the answer that this is a change of."}}},
};
/* clang-format on */
const Room ROOM_ANSWER = ROOM(ROUTES);
