/* merge.c -- merging a policy with another: choosing it, seeing what would happen, then the act. See acts.h.
 *
 * The form's token is the merge's id, so a form sent twice, also after an unknown answer, is one merge; a new policy that it leads to
 * is known by the same id. A crash between two steps: a merge that has begun is ended by the sweep; a new policy to which nothing
 * came yet is found by sending the form again, and is otherwise one without votes, that moderators delete. */
#include "site/acts.h"
#include "site/pages.h"

/* ---- The act -------------------------------------------------------------------------------------------------------------- */

static Status merge_one(WebRequest *request, const MergeAct *act, uint64_t source, uint64_t target,
                        Reason *reason)
{
    Site *site = site_of(request);
    PolicyMerge merge = {.id = act->token,
                         .source = source,
                         .target = target,
                         .actor = site_account(request)->id,
                         .reason = act->reason};
    Status status = policies_merge_named(site->app->policies, &merge, reason);
    policy_changed(site, source);
    policy_changed(site, target);
    return status;
}

/* Both go to a new one, with the text of the first. */
static Status merge_to_new(WebRequest *request, const MergeAct *act, const PolicyHead *head,
                           uint64_t *ret_target, Reason *reason)
{
    PolicyMerge merge = {.id = act->token, .source = act->policy};
    PolicyText text = head->policy.text;
    if (act->name.size > 0)
        text.name = act->name;
    TRY(policies_merge_target(site_of(request)->app->policies, &merge, &text, ret_target, reason));
    policy_changed(site_of(request), *ret_target);
    TRY(merge_one(request, act, act->policy, *ret_target, reason));
    Reason why = {0};
    Status status = merge_one(request, act, act->other, *ret_target, &why);
    if (status == STATUS_OK || status == STATUS_UNKNOWN)
        return status;
    return reason_set(reason, status, "other",
                      "policy %llu is merged into the new policy %llu; policy %llu is not: %s",
                      (unsigned long long)act->policy, (unsigned long long)*ret_target,
                      (unsigned long long)act->other, why.rule);
}

static Status merge_all(WebRequest *request, const MergeAct *act, const PolicyHead *head,
                        uint64_t *ret_target, Reason *reason)
{
    if (act->into == MERGE_INTO_NEW)
        return merge_to_new(request, act, head, ret_target, reason);
    bool away = act->into == MERGE_INTO_OTHER;
    *ret_target = away ? act->other : act->policy;
    return merge_one(request, act, away ? act->policy : act->other, *ret_target, reason);
}

/* What can be said before anything is noted. A repeat of what has begun is not asked about states: they have changed by it. */
static Status check_merge(WebRequest *request, const MergeAct *act, PolicyHead *head,
                          bool *ret_begun, Reason *reason)
{
    PolicyHead other;
    MergeView view;
    Arena *arena = web_arena(request);
    Site *site = site_of(request);
    TRY(deed_check_reason(act->reason, reason));
    TRY(policy_head(site, act->policy, site_account(request), arena, head));
    TRY(policy_head(site, act->other, site_account(request), arena, &other));
    *ret_begun = deed_stands(head, act->token) || deed_stands(&other, act->token);
    if (act->policy == act->other)
        return reason_set(reason, STATUS_INVALID, "other", "must be another policy");
    if (*ret_begun)
        return STATUS_OK;
    return merge_view(site, act->policy, act->other, site_account(request), arena, &view, reason);
}

Status act_merge(WebRequest *request, const MergeAct *act, uint64_t *ret_target, Reason *reason)
{
    PolicyHead head;
    bool begun;
    uint64_t target = 0;
    TRY(check_merge(request, act, &head, &begun, reason));
    bool away = act->into != MERGE_INTO_THIS;
    bool is_new = act->into == MERGE_INTO_NEW;
    Deed deed = {.act = {.kind = is_new ? ACT_POLICY_MERGE_NEW : ACT_POLICY_MERGE,
                         .object = away ? act->policy : act->other,
                         .other = away ? act->other : act->policy,
                         .reason = act->reason},
                 .is_repeat = begun,
                 .report = act->report};
    TRY(deed_begin(request, &deed, reason));
    Status status = merge_all(request, act, &head, &target, reason);
    deed_end(request, &deed, status);
    TRY(status);
    *ret_target = target;
    return STATUS_OK;
}

/* ---- The page -------------------------------------------------------------------------------------------------------------- */

static Status show(WebRequest *request, MergeView *view, int code)
{
    Frame frame = {.title = arena_print(web_arena(request), "Merge %.*s",
                                        SLICE_ARG(policy_title(&view->head))),
                   .is_narrow = true};
    view->viewer = site_viewer(request);
    Buffer *out = page_begin(request, &frame);
    if (view->has_other)
        merge_page(out, view);
    else
        merge_choose_page(out, view);
    page_end(request, out);
    web_code(request, code);
    return STATUS_OK;
}

enum { G_POLICY, G_OTHER, G_REPORT };

static Status show_form(WebRequest *request)
{
    MergeView view;
    Reason reason = {0};
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    uint64_t policy = web_id(request, G_POLICY), other = 0;
    PolicyChoice choice = {.except = policy, .typed = slice_trim(web_text(request, G_OTHER))};
    Status status =
        choice.typed.size == 0 ? STATUS_OK : choose_policy(site, &choice, arena, &other, &reason);
    if (status != STATUS_OK && status != STATUS_INVALID)
        return status;
    TRY(merge_view(site, policy, other, site_account(request), arena, &view, web_reason(request)));
    if (view.head.state != POLICY_ACTIVE)
        return reason_set(web_reason(request), STATUS_REFUSED, "",
                          "a policy that is %s cannot be merged",
                          policy_state_text(view.head.state));
    view.choice = choice;
    view.report = web_id(request, G_REPORT);
    view.token = id_text(id_new(site->app->world.clock, site->app->world.random), arena);
    if (status == STATUS_OK)
        return show(request, &view, 200);
    view.fault = form_fault(&reason);
    return show(request, &view, 422);
}

static Status show_unknown(WebRequest *request, const MergeAct *act, MergeView *view)
{
    view->other.policy = act->other;
    view->into = act->into;
    view->name = act->name;
    view->reason = act->reason;
    view->report = act->report;
    Frame frame = {.title = SLICE("We do not know whether they were merged"), .is_narrow = true};
    Buffer *out = page_begin(request, &frame);
    merge_unknown_page(out, view);
    page_end(request, out);
    web_code(request, 503);
    return STATUS_OK;
}

/* The form again, with what was typed; or, when nothing can be merged any more, the head alone. */
static Status show_again(WebRequest *request, const MergeAct *act, MergeView *typed,
                         const Reason *reason)
{
    MergeView view;
    Site *site = site_of(request);
    const Account *viewer = site_account(request);
    Arena *arena = web_arena(request);
    Status status = merge_view(site, act->policy, act->other, viewer, arena, &view, NULL);
    if (status != STATUS_OK)
        TRY(merge_view(site, act->policy, 0, viewer, arena, &view, web_reason(request)));
    view.into = act->into;
    view.name = act->name;
    view.reason = act->reason;
    view.report = act->report;
    view.token = typed->token;
    view.fault = form_fault(reason);
    return show(request, &view, 422);
}

static Status lead_to(WebRequest *request, uint64_t target)
{
    PolicyHead head;
    TRY(policy_head(site_of(request), target, site_account(request), web_arena(request), &head));
    site_done(request, head.address, "merged", 0);
    return STATUS_OK;
}

enum { P_POLICY, P_OTHER, P_INTO, P_NAME, P_REASON, P_TOKEN, P_REPORT };

static Status take_form(WebRequest *request)
{
    MergeView view = {.viewer = site_viewer(request), .token = web_text(request, P_TOKEN)};
    MergeAct act = {.policy = web_id(request, P_POLICY),
                    .other = web_id(request, P_OTHER),
                    .into = (MergeInto)web_word(request, P_INTO),
                    .name = slice_trim(web_text(request, P_NAME)),
                    .reason = slice_trim(web_text(request, P_REASON)),
                    .report = (uint64_t)web_number(request, P_REPORT)};
    Reason reason = {0};
    uint64_t target;
    if (id_from_text(view.token, &act.token) != STATUS_OK || id_is_zero(act.token))
        return reason_set(web_reason(request), STATUS_INVALID, "token",
                          "must be what the form came with");
    TRY(policy_head(site_of(request), act.policy, site_account(request), web_arena(request),
                    &view.head)); /* before it: a page in doubt asks the store nothing */
    Status status = act_merge(request, &act, &target, &reason);
    if (status == STATUS_OK)
        return lead_to(request, target);
    if (status == STATUS_UNKNOWN)
        return show_unknown(request, &act, &view);
    if (form_can_be_corrected(status))
        return show_again(request, &act, &view, &reason);
    *web_reason(request) = reason;
    return status;
}

/* clang-format off */
#define POLICY_ROW {"policy", WEB_PATH, WEB_SLUG, .help = "The policy."}
#define MODERATORS .access = WEB_ROLE, .roles = 1u << ROLE_MODERATE_POLICIES, .whose = WEB_ANYBODYS

static const WebRoute ROUTES[] = {
    {WEB_GET, "/policies/{policy}/merge", show_form, MODERATORS,
     .help = "What merging a policy with another would do, and the form to do it.",
     .params = {[G_POLICY] = POLICY_ROW,
                [G_OTHER] = {"other", WEB_QUERY, WEB_LINE, .fallback = "", .most = 500,
                             .help = "With which: its number, or the beginning of its name."},
                [G_REPORT] = {"report", WEB_QUERY, WEB_ID, .optional = true, .help = "The report that led here."}}},
    {WEB_POST, "/policies/{policy}/merge", take_form, MODERATORS, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Merges a policy with another.",
     .params = {[P_POLICY] = POLICY_ROW,
                [P_OTHER] = {"other", WEB_FORM, WEB_ID, .help = "With which."},
                [P_INTO] = {"into", WEB_FORM, WEB_WORD, .words = MERGE_INTO_WORDS, .fallback = "other",
                            .help = "What both become: the other one, this one, or a new policy."},
                [P_NAME] = {"name", WEB_FORM, WEB_LINE, .fallback = "", .most = 500, .help = "What a new policy is called."},
                [P_REASON] = {"reason", WEB_FORM, WEB_TEXT, .fallback = "", .most = 20000, .help = "Why; everybody sees it."},
                [P_TOKEN] = {"token", WEB_FORM, WEB_OPAQUE, .least = 1, .most = 64,
                             .help = "Of the form: sent twice, it is done once."},
                [P_REPORT] = {"report", WEB_FORM, WEB_NUMBER, .fallback = "0", .most = INT64_MAX,
                              .help = "The report that led here; 0: none."}}},
};
/* clang-format on */
const Room ROOM_MERGE = ROOM(ROUTES);
