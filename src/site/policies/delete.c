/* delete.c -- the pages on which a policy is deleted for abuse, restored, or its deletion appealed against. See move_views.h. */
#include "site/pages.h"
#include "site/policies/move_views.h"

/* ---- What such pages share -------------------------------------------------------------------------------------------------- */

enum { P_POLICY };

Status move_page_head(WebRequest *request, const Form *form, AuditKind kind, PolicyHead *ret_head)
{
    TRY(policy_head(site_of(request)->ops, web_id(request, P_POLICY), site_actor(request),
                    web_arena(request), ret_head));
    return form->status == STATUS_OK ? policy_check_act(ret_head, kind, web_reason(request))
                                     : STATUS_OK;
}

Slice move_page_leads(WebRequest *request, const void *sent, const void *answer)
{
    (void)request, (void)sent;
    return ((const PolicyHead *)answer)->address;
}

static Frame frame_of(WebRequest *request, const char *verb, const PolicyHead *head)
{
    return (Frame){
        .title = arena_print(web_arena(request), "%s %.*s", verb, SLICE_ARG(policy_title(head))),
        .is_narrow = true};
}

/* ---- Deleting and restoring --------------------------------------------------------------------------------------------------- */

static Status fill_delete(WebRequest *request, void *view, Frame *frame)
{
    DeletePage *page = view;
    Site *site = site_of(request);
    VotingSettings settings;
    RankPlace place;
    TRY(move_page_head(request, &page->form, AUDIT_POLICY_DELETE, &page->head));
    TRY(operations_settings(site->ops, web_arena(request), &settings));
    page->form.focus = "reason";
    page->appeal_days = settings.appeal_days;
    if (ranking_place(site->app->ranking, &(RankQuery){0}, page->head.policy.id, &place) ==
        STATUS_OK)
        page->total = place.self.total;
    *frame = frame_of(request, "Delete", &page->head);
    return STATUS_OK;
}

static Status fill_restore(WebRequest *request, void *view, Frame *frame)
{
    DeletePage *page = view;
    TRY(move_page_head(request, &page->form, AUDIT_POLICY_RESTORE, &page->head));
    page->form.focus = "reason";
    if (page->head.state == POLICY_PENDING_DELETION)
        TRY(deletion_final_us(site_of(request)->ops, page->head.move->time_us, web_arena(request),
                              &page->final_us));
    *frame = frame_of(request, "Restore", &page->head);
    return STATUS_OK;
}

static void draw_delete(Buffer *out, const void *view)
{
    policy_delete_page(out, view);
}

static void draw_restore(Buffer *out, const void *view)
{
    policy_restore_page(out, view);
}

FORM(policy_delete, DeletePage, .path = "/policies/{policy}/delete", .fill = fill_delete,
     .draw = draw_delete, .leads = move_page_leads,
     .help = "What deleting a policy means, and the form to do it.");
FORM(policy_restore, DeletePage, .path = "/policies/{policy}/restore", .fill = fill_restore,
     .draw = draw_restore, .leads = move_page_leads,
     .help = "What restoring a hidden policy means, and the form to do it.");

/* ---- Appealing ------------------------------------------------------------------------------------------------------------------ */

/* The policy's own page has this form, too; here it is shown again when something is wrong with it. */
static Status fill_appeal(WebRequest *request, void *view, Frame *frame)
{
    AppealPage *page = view;
    TRY(policy_head(site_of(request)->ops, web_id(request, P_POLICY), site_actor(request),
                    web_arena(request), &page->head));
    if (!page->head.is_owner)
        return STATUS_DENIED;
    page->form.focus = "words";
    *frame = frame_of(request, "Appeal for", &page->head);
    return STATUS_OK;
}

static void draw_appeal(Buffer *out, const void *view)
{
    policy_appeal_page(out, view);
}

FORM(policy_appeal, AppealPage, .path = "/policies/{policy}/appeal", .fill = fill_appeal,
     .draw = draw_appeal, .leads = move_page_leads,
     .help = "The form to appeal against the deletion of one's own policy.");
