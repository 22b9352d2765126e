/* answer.c -- the official answer to a policy: all that it ever was, and the form for those who answer. */
#include "operations/answers.h"
#include "site/pages.h"
#include "site/policies/policy_views.h"

enum { P_POLICY, P_BEFORE };

static Status show_answers(WebRequest *request)
{
    AnswersView view;
    Arena *arena = web_arena(request);
    Pager page = {.before = SLICE_EMPTY, .after = SLICE_EMPTY};
    TRY(answers_view(site_of(request)->ops, web_id(request, P_POLICY),
                     (uint32_t)web_number(request, P_BEFORE), site_actor(request), arena, &view));
    if (view.before > 0)
        page.after =
            arena_print(arena, "%.*s/answers?before=%u", SLICE_ARG(view.head.address), view.before);
    Frame frame = {.title =
                       arena_print(arena, "Answers to %.*s", SLICE_ARG(policy_title(&view.head))),
                   .is_narrow = true};
    Buffer *out = page_begin(request, &frame);
    answers_page(out, &view, &page);
    page_end(request, out);
    return STATUS_OK;
}

/* After a conflict the form goes on from the answer that is stored now. */
static Status fill_form(WebRequest *request, void *view, Frame *frame)
{
    AnswerPage *page = view;
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    Form *form = &page->form;
    const Answer *now = &page->now.answer;
    TRY(policy_head(site->ops, web_id(request, P_POLICY), site_actor(request), arena, &page->head));
    if (page->head.is_hidden || page->head.state == POLICY_PENDING_DELETION ||
        page->head.state == POLICY_PENDING)
        return reason_set(web_reason(request), STATUS_REFUSED, "",
                          "a policy that is %s cannot be answered",
                          policy_state_text(page->head.state));
    TRY(answer_view(site->ops, page->head.policy.id, arena, &page->now));
    if (form->status == STATUS_OK) {
        form_type(form, "text", now->text);
        form_type(form, "outcome", slice_from(OUTCOME_WORDS[now->outcome]));
    }
    if (form->status == STATUS_OK || form->status == STATUS_CONFLICT)
        form_type(form, "seen", id_text(now->version, arena));
    *frame =
        (Frame){.title = arena_print(arena, "Answer %.*s", SLICE_ARG(policy_title(&page->head))),
                .is_narrow = true};
    return STATUS_OK;
}

static void draw_form(Buffer *out, const void *view)
{
    answer_page(out, view);
}

static Slice to_policy(WebRequest *request, const void *sent, const void *answer)
{
    (void)request, (void)sent;
    return ((const AnswerView *)answer)->address;
}

FORM(answer_give, AnswerPage, .path = "/policies/{policy}/answer", .fill = fill_form,
     .draw = draw_form, .leads = to_policy,
     .help = "The form for the official answer to a policy.");

static const WebRoute ROUTES[] = {
    {WEB_GET, "/policies/{policy}/answers", show_answers, .shows = "answer_list", .cache_ms = 1000,
     .help = "The official answer to a policy, and what it was before.",
     .params = {[P_POLICY] = {"policy", WEB_PATH, WEB_SLUG, .help = "The policy."},
                [P_BEFORE] = {"before", WEB_QUERY, WEB_NUMBER, .least = 0, .most = INT32_MAX,
                              .fallback = "0",
                              .help = "Only answers before this one; 0: from the newest."}}},
};
ROUTE_TABLE(ANSWER, ROUTES);
