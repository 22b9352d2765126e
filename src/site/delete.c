/* delete.c -- deleting a policy for abuse, and restoring one that waits for its deletion: a page of its own for each, then the move. See acts.h.
 *
 * The form's token is the id of the move, so a form sent twice, also after an unknown answer, is one move. A crash between two steps: the
 * move is one conditional update; rankings learn of it by themselves, and the deletion becomes final by the task `moves`. The letter to the
 * owner comes after the move; when it is lost, the notice on the site is still there. */
#include "mail/letters.h"
#include "site/acts.h"
#include "site/pages.h"

/* ---- The acts ---------------------------------------------------------------------------------------------------------------- */

Status act_final_us(Site *site, int64_t hidden_us, Arena *arena, int64_t *ret_us)
{
    SettingsHistory settings;
    TRY(accounts_settings(site->app->accounts, arena, &settings));
    *ret_us = hidden_us + settings_at(&settings, hidden_us)->appeal_days * S_PER_DAY * US_PER_S;
    return STATUS_OK;
}

/* How the owner learns of it who does not come by. Nobody to write to, or no mail server: the notice remains. */
static void write_to_owner(WebRequest *request, const PolicyHead *head, const PolicyAct *act)
{
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    Slice home = web_public_url(request);
    VotingSettings settings;
    Account owner;
    MailMessage letter;
    Reason reason;
    if (head->policy.owner == 0 || head->is_owner || !mail_can_send(site->app->mail) ||
        site_settings(site, arena, &settings) != STATUS_OK ||
        accounts_read(site->app->accounts, head->policy.owner, arena, &owner) != STATUS_OK ||
        owner.state != ACCOUNT_CONFIRMED)
        return;
    LetterFacts facts = {.site = slice_from(site->options.config->site_name),
                         .home = home,
                         .name = owner.name,
                         .about = head->policy.text.name,
                         .link = arena_print(arena, "%.*s/policies/%llu", SLICE_ARG(home),
                                             (unsigned long long)head->policy.id),
                         .valid_s = settings.appeal_days * S_PER_DAY};
    if (letter_write(LETTER_POLICY_HIDDEN, &facts, arena, &letter, &reason) != STATUS_OK)
        return;
    letter.to = owner.email;
    letter.once = id_text(act->token, arena); /* of the move: one letter */
    (void)!mail_send(site->app->mail, &letter, &reason);
}

static Status begin_act(WebRequest *request, const PolicyAct *act, ActKind kind, PolicyHead *head,
                        Deed *deed, Reason *reason)
{
    TRY(deed_check_reason(act->reason, reason));
    TRY(policy_head(site_of(request), act->policy, site_account(request), web_arena(request),
                    head));
    *deed = (Deed){.act = {.kind = kind, .object = act->policy, .reason = act->reason},
                   .is_repeat = deed_stands(head, act->token),
                   .report = act->report};
    return deed_begin(request, deed, reason);
}

static Status end_act(WebRequest *request, const PolicyAct *act, const Deed *deed, Status status)
{
    policy_changed(site_of(request), act->policy);
    deed_end(request, deed, status);
    return status;
}

/* A move that stands already is found by its id, whatever the state is now. */
Status act_delete(WebRequest *request, const PolicyAct *act, Reason *reason)
{
    PolicyHead head;
    Deed deed;
    TRY(begin_act(request, act, ACT_POLICY_DELETE, &head, &deed, reason));
    PolicyMove move = {.state = POLICY_PENDING_DELETION,
                       .id = act->token,
                       .actor = site_account(request)->id,
                       .reason = act->reason};
    PolicyState from = head.state == POLICY_MERGING ? POLICY_ACTIVE : head.state;
    Status status =
        policies_move(site_of(request)->app->policies, act->policy, from, &move, reason);
    if (status == STATUS_OK && !deed.is_repeat)
        write_to_owner(request, &head, act);
    return end_act(request, act, &deed, status);
}

Status act_restore(WebRequest *request, const PolicyAct *act, Reason *reason)
{
    PolicyHead head;
    Deed deed;
    TRY(begin_act(request, act, ACT_POLICY_RESTORE, &head, &deed, reason));
    PolicyMove move = {.id = act->token, .actor = site_account(request)->id, .reason = act->reason};
    Status status = policies_restore(site_of(request)->app->policies, act->policy, &move, reason);
    return end_act(request, act, &deed, status);
}

/* ---- The pages --------------------------------------------------------------------------------------------------------------- */

enum { P_POLICY, P_REPORT, P_REASON, P_TOKEN };

static Status begin(WebRequest *request, bool is_restore, DeleteView *view)
{
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    VotingSettings settings;
    RankPlace place;
    *view = (DeleteView){.is_restore = is_restore,
                         .reason = SLICE_EMPTY,
                         .token = SLICE_EMPTY,
                         .report = (uint64_t)web_number(request, P_REPORT),
                         .viewer = site_viewer(request)};
    TRY(policy_head(site, web_id(request, P_POLICY), site_account(request), arena, &view->head));
    TRY(site_settings(site, arena, &settings));
    view->appeal_days = settings.appeal_days;
    if (view->head.state == POLICY_PENDING_DELETION)
        TRY(act_final_us(site, view->head.move->time_us, arena, &view->final_us));
    if (ranking_place(site->app->ranking, &(RankQuery){0}, view->head.policy.id, &place) ==
        STATUS_OK)
        view->total = place.self.total;
    return STATUS_OK;
}

static Status refuse_state(WebRequest *request, const DeleteView *view)
{
    PolicyState state = view->head.state;
    bool can = view->is_restore ? state == POLICY_PENDING_DELETION
                                : state == POLICY_ACTIVE || state == POLICY_RETIRED;
    if (can)
        return STATUS_OK;
    return reason_set(web_reason(request), STATUS_REFUSED, "", "a policy that is %s cannot be %s",
                      policy_state_text(state), view->is_restore ? "restored" : "deleted");
}

static Status show(WebRequest *request, const DeleteView *view, int code)
{
    Slice name = policy_title(&view->head);
    Frame frame = {.title = arena_print(web_arena(request), "%s %.*s",
                                        view->is_restore ? "Restore" : "Delete", SLICE_ARG(name)),
                   .is_narrow = true};
    Buffer *out = page_begin(request, &frame);
    if (view->is_restore)
        policy_restore_page(out, view);
    else
        policy_delete_page(out, view);
    page_end(request, out);
    web_code(request, code);
    return STATUS_OK;
}

static Status show_form(WebRequest *request, bool is_restore)
{
    DeleteView view;
    const World *world = &site_of(request)->app->world;
    TRY(begin(request, is_restore, &view));
    TRY(refuse_state(request, &view));
    view.token = id_text(id_new(world->clock, world->random), web_arena(request));
    return show(request, &view, 200);
}

static Status show_delete(WebRequest *request)
{
    return show_form(request, false);
}

static Status show_restore(WebRequest *request)
{
    return show_form(request, true);
}

static Status show_unknown(WebRequest *request, const DeleteView *view)
{
    Frame frame = {.title = SLICE("We do not know whether it was done"), .is_narrow = true};
    Buffer *out = page_begin(request, &frame);
    policy_doubt_page(out, view);
    page_end(request, out);
    web_code(request, 503);
    return STATUS_OK;
}

static Status take_form(WebRequest *request, bool is_restore)
{
    DeleteView view;
    Reason reason = {0};
    TRY(begin(request, is_restore, &view));
    view.reason = slice_trim(web_text(request, P_REASON));
    view.token = web_text(request, P_TOKEN);
    PolicyAct act = {.policy = view.head.policy.id, .reason = view.reason, .report = view.report};
    if (id_from_text(view.token, &act.token) != STATUS_OK || id_is_zero(act.token))
        return reason_set(web_reason(request), STATUS_INVALID, "token",
                          "must be what the form came with");
    Status status =
        is_restore ? act_restore(request, &act, &reason) : act_delete(request, &act, &reason);
    if (status == STATUS_UNKNOWN)
        return show_unknown(request, &view);
    if (form_can_be_corrected(status)) {
        view.fault = form_fault(&reason);
        return show(request, &view, 422);
    }
    *web_reason(request) = reason;
    TRY(status);
    site_done(request, view.head.address, is_restore ? "restored" : "hidden", 0);
    return STATUS_OK;
}

static Status take_delete(WebRequest *request)
{
    return take_form(request, false);
}

static Status take_restore(WebRequest *request)
{
    return take_form(request, true);
}

/* clang-format off */
#define POLICY_ROW [P_POLICY] = {"policy", WEB_PATH, WEB_SLUG, .help = "The policy."}
#define REPORT_ROW(from) [P_REPORT] = {"report", from, WEB_NUMBER, .fallback = "0", .most = INT64_MAX, .help = "The report that led here; 0: none."}
#define FORM_ROWS                                                                                   \
    POLICY_ROW, REPORT_ROW(WEB_FORM),                                                               \
    [P_REASON] = {"reason", WEB_FORM, WEB_TEXT, .fallback = "", .most = 20000, .help = "Why; everybody sees it."}, \
    [P_TOKEN] = {"token", WEB_FORM, WEB_OPAQUE, .least = 1, .most = 64, .help = "Of the form: sent twice, it is done once."}
#define MODERATORS .access = WEB_ROLE, .roles = 1u << ROLE_MODERATE_POLICIES, .whose = WEB_ANYBODYS

static const WebRoute ROUTES[] = {
    {WEB_GET, "/policies/{policy}/delete", show_delete, MODERATORS,
     .help = "What deleting a policy means, and the form to do it.", .params = {POLICY_ROW, REPORT_ROW(WEB_QUERY)}},
    {WEB_POST, "/policies/{policy}/delete", take_delete, MODERATORS, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Hides a policy at once, to be deleted after the time for appeals.", .params = {FORM_ROWS}},
    {WEB_GET, "/policies/{policy}/restore", show_restore, MODERATORS,
     .help = "What restoring a hidden policy means, and the form to do it.", .params = {POLICY_ROW, REPORT_ROW(WEB_QUERY)}},
    {WEB_POST, "/policies/{policy}/restore", take_restore, MODERATORS, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Brings a policy back that waits for its deletion.", .params = {FORM_ROWS}},
};
/* clang-format on */
const Room ROOM_DELETE = ROOM(ROUTES);
