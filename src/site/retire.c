/* retire.c -- retiring a policy: a page of its own that says what it does and what it costs, then the move.
 *
 * The form's token is the id of the move, so a form sent twice, also after an unknown answer, is one move. A crash between two
 * steps: the move is one conditional update; rankings learn of it by themselves. */
#include "site/edit_views.h"
#include "site/pages.h"

/* ---- What it means ------------------------------------------------------------------------------------------------------ */

/* What an owner holds, and loses of it. Nobody else is shown either. */
static Status fill_price(WebRequest *request, RetireView *view)
{
    const VoterState *state;
    SeenLine *lines;
    size_t count;
    uint64_t id = view->head.policy.id;
    if (!view->head.is_owner)
        return STATUS_OK;
    TRY(site_voter_state(request, &state));
    TRY(votes_seen(site_of(request)->app->votes, state, web_arena(request), &lines, &count));
    for (size_t i = 0; i < count; i++)
        if (lines[i].policy == id)
            view->held = lines[i].held;
    for (size_t i = 0; i < state->line_count; i++) {
        const VoteLine *line = &state->lines[i];
        VoteLine paid = {.withdrawn_centi = line->withdrawn_centi};
        if (line->policy == id)
            view->price =
                vote_retire_cost(line, view->percent) - vote_retire_cost(&paid, view->percent);
    }
    return STATUS_OK;
}

static Status begin(WebRequest *request, RetireView *view)
{
    VotingSettings settings;
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    TRY(policy_head(site, web_id(request, 0), site_account(request), arena, &view->head));
    if (!view->head.may_retire)
        return reason_set(web_reason(request), STATUS_DENIED, "",
                          "only its owner and moderators retire this policy");
    TRY(site_settings(site, arena, &settings));
    view->percent = settings.withdrawal_percent;
    view->viewer = site_viewer(request);
    view->other = view->reason = SLICE_EMPTY;
    return STATUS_OK;
}

static Status refuse_state(WebRequest *request, const RetireView *view)
{
    if (view->head.state == POLICY_ACTIVE)
        return STATUS_OK;
    return reason_set(web_reason(request), STATUS_REFUSED, "",
                      "a policy that is %s cannot be retired", policy_state_text(view->head.state));
}

static Status show(WebRequest *request, RetireView *view, int code)
{
    TRY(fill_price(request, view));
    Frame frame = {.title = arena_print(web_arena(request), "Retire %.*s",
                                        SLICE_ARG(view->head.policy.text.name)),
                   .is_narrow = true};
    Buffer *out = page_begin(request, &frame);
    retire_page(out, view);
    page_end(request, out);
    web_code(request, code);
    return STATUS_OK;
}

static Status show_form(WebRequest *request)
{
    RetireView view = {0};
    const World *world = &site_of(request)->app->world;
    TRY(begin(request, &view));
    TRY(refuse_state(request, &view));
    view.token = id_text(id_new(world->clock, world->random), web_arena(request));
    return show(request, &view, 200);
}

/* ---- In favour of which ------------------------------------------------------------------------------------------------- */

enum { P_POLICY, P_OTHER, P_CHOICE, P_REASON, P_TOKEN };

/* 0: none was named. */
static Status find_other(WebRequest *request, RetireView *view, uint64_t *ret_id, Reason *reason)
{
    uint64_t chosen = (uint64_t)web_number(request, P_CHOICE);
    Arena *arena = web_arena(request);
    view->choice.except = view->head.policy.id;
    view->choice.typed =
        chosen == 0 ? view->other : arena_print(arena, "%llu", (unsigned long long)chosen);
    if (view->choice.typed.size > 0)
        return choose_policy(site_of(request), &view->choice, arena, ret_id, reason);
    *ret_id = 0;
    return STATUS_OK;
}

/* ---- The move ------------------------------------------------------------------------------------------------------------ */

/* An owner's own policy is theirs; of another's it is noted. */
Status retire_policy(WebRequest *request, const PolicyHead *head, PolicyMove *move, Reason *reason)
{
    Site *site = site_of(request);
    uint64_t id = head->policy.id;
    Deed deed = {.act = {.kind = ACT_POLICY_RETIRE,
                         .object = id,
                         .other = move->other,
                         .reason = move->reason},
                 .is_repeat = head->is_owner || deed_stands(head, move->id)};
    TRY(deed_begin(request, &deed, reason));
    Status status = policies_move(site->app->policies, id, POLICY_ACTIVE, move, reason);
    policy_changed(site, id);
    deed_end(request, &deed, status);
    return status;
}

static Status show_unknown(WebRequest *request, const RetireView *view)
{
    Frame frame = {.title = SLICE("We do not know whether it was retired"), .is_narrow = true};
    Buffer *out = page_begin(request, &frame);
    retire_unknown_page(out, view);
    page_end(request, out);
    web_code(request, 503);
    return STATUS_OK;
}

static Status answer(WebRequest *request, RetireView *view, Status status, const Reason *reason)
{
    if (status == STATUS_UNKNOWN)
        return show_unknown(request, view);
    if (form_can_be_corrected(status)) {
        view->fault = form_fault(reason);
        return show(request, view, 422);
    }
    *web_reason(request) = *reason;
    TRY(status);
    site_done(request, view->head.address, "retired", 0);
    return STATUS_OK;
}

/* A move that stands already is answered by its id, so the state is not asked about here. */
static Status take_form(WebRequest *request)
{
    RetireView view = {0};
    Reason reason = {0};
    TRY(begin(request, &view));
    PolicyMove move = {
        .state = POLICY_RETIRED, .actor = site_account(request)->id, .percent = view.percent};
    view.other = slice_trim(web_text(request, P_OTHER));
    view.reason = move.reason = slice_trim(web_text(request, P_REASON));
    view.token = web_text(request, P_TOKEN);
    if (id_from_text(view.token, &move.id) != STATUS_OK)
        return reason_set(web_reason(request), STATUS_INVALID, "token",
                          "must be what the form came with");
    Status status = find_other(request, &view, &move.other, &reason);
    if (move.other != 0) /* what a repeat sends */
        view.other = arena_print(web_arena(request), "%llu", (unsigned long long)move.other);
    if (status == STATUS_OK)
        status = retire_policy(request, &view.head, &move, &reason);
    return answer(request, &view, status, &reason);
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/policies/{policy}/retire", show_form, .access = WEB_LOGIN, .whose = WEB_OWN_OR_ROLE,
     .roles = 1u << ROLE_MODERATE_POLICIES,
     .help = "What retiring a policy means, and the form to do it.",
     .params = {{"policy", WEB_PATH, WEB_SLUG, .help = "The policy."}}},
    {WEB_POST, "/policies/{policy}/retire", take_form, .access = WEB_LOGIN,
     .whose = WEB_OWN_OR_ROLE, .roles = 1u << ROLE_MODERATE_POLICIES,
     .body_bytes = WEB_BODY_DEFAULT, .help = "Retires a policy.",
     .params = {{"policy", WEB_PATH, WEB_SLUG, .help = "The policy."},
                {"other", WEB_FORM, WEB_LINE, .fallback = "", .most = 500,
                 .help = "In favour of which: its number, or the beginning of its name."},
                {"choice", WEB_FORM, WEB_NUMBER, .fallback = "0", .most = INT64_MAX,
                 .help = "The same, chosen from a list."},
                {"reason", WEB_FORM, WEB_TEXT, .fallback = "", .most = 20000,
                 .help = "Why; shown on its page."},
                {"token", WEB_FORM, WEB_OPAQUE, .least = 1, .most = 64,
                 .help = "Of the form: sent twice, it is done once."}}},
};
const Room ROOM_RETIRE = ROOM(ROUTES);
