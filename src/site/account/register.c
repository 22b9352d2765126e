/* register.c -- the pages to join: the form, by an invitation and by another site, the button behind the link of its e-mail; and the first
 * admin of a new site.
 *
 * Opening the link of an e-mail changes nothing, because mail scanners open links; the button's POST confirms. */
#include "access/links.h"
#include "electorate/invitations.h"
#include "mail/mail.h"
#include "operations/linked_log_in.h"
#include "site/account/people.h"
#include "site/pages.h"

/* ---- The form ---------------------------------------------------------------------------------------------------------------------- */

/* Whoever is logged in has joined. */
static Status fill_register(WebRequest *request, void *view, Frame *frame)
{
    OwnForm *page = view;
    const Site *site = site_of(request);
    if (site_viewer(request)->known) {
        web_redirect(request, 303, SLICE("/"));
        frame->title = SLICE_EMPTY;
        return STATUS_OK;
    }
    TRY(electorate_read(site->app->accounts, web_arena(request), &page->electorate));
    page->oidc = site->app->oidc;
    page->can_mail = mail_can_send(site->app->mail);
    page->invitation = form_typed(&page->form, "invitation");
    if (slice_equal(page->form.fault.field, SLICE("invitation"))) /* which nobody can correct */
        page->form.fault.field = SLICE_EMPTY;
    frame->address = SLICE("/register");
    return STATUS_OK;
}

FORM(account_register, OwnForm, .path = "/register", .title = "Join", .fill = fill_register,
     .draw = register_page, .to = "/register/sent", .help = "The form to join.");

enum { P_TOKEN };

/* The form as who was invited sees it: with the address that the invitation is for. */
static Status show_invitation(WebRequest *request)
{
    Invitation invitation;
    OwnForm *page = form_view(request, &FORM_account_register);
    if (!site_viewer(request)->known) {
        TRY(invitations_peek(site_of(request)->app->accounts, web_text(request, P_TOKEN),
                             web_arena(request), &invitation, web_reason(request)));
        form_type(&page->form, "invitation", web_text(request, P_TOKEN));
        form_type(&page->form, "email", invitation.email);
    }
    web_private(request);
    return form_draw(request, &FORM_account_register, page, 200);
}

/* ---- By another site ---------------------------------------------------------------------------------------------------------------- */

static Status fill_linked(WebRequest *request, void *view, Frame *frame)
{
    OwnForm *page = view;
    Operations *ops = site_of(request)->ops;
    Joining joining;
    Reason reason;
    if (linked_joining(ops, site_actor(request), web_arena(request), &joining, &reason) !=
        STATUS_OK) {
        web_redirect(request, 303, SLICE("/register"));
        frame->title = SLICE_EMPTY;
        return STATUS_OK;
    }
    page->can_mail = mail_can_send(ops->app->mail);
    page->provider = provider_title(ops, joining.who.provider);
    page->invitation = joining.invitation;
    if (page->form.status == STATUS_OK) {
        form_type(&page->form, "name", joining.name);
        form_type(&page->form, "email", joining.who.label);
    }
    if (page->form.status == STATUS_OK && joining.invitation.size > 0) {
        Invitation invitation;
        TRY(invitations_peek(ops->app->accounts, joining.invitation, web_arena(request),
                             &invitation, web_reason(request)));
        form_type(&page->form, "email", invitation.email);
    }
    web_private(request);
    return STATUS_OK;
}

FORM(register_linked, OwnForm, .path = "/register/with", .title = "Join", .fill = fill_linked,
     .draw = register_with_page, .to = "/register/sent",
     .help = "The form to join for who logs in by another site.");

/* ---- The e-mail ----------------------------------------------------------------------------------------------------------------------- */

static Status fill_sent(WebRequest *request, void *view, Frame *frame)
{
    (void)frame;
    OwnForm *page = view;
    page->is_demo = site_of(request)->options.is_demo;
    return STATUS_OK;
}

FORM(register_again, OwnForm, .path = "/register/sent", .title = "Check your e-mail",
     .fill = fill_sent, .draw = register_sent_page, .help = "Says that an e-mail is on its way.");

/* What a link in an e-mail, or of a new site, leads to. */
static Status fill_behind_link(WebRequest *request, const Form *form, LinkKind kind)
{
    Link link;
    Status status = links_peek(site_of(request)->app->accounts, kind, form_typed(form, "token"),
                               web_arena(request), &link, web_reason(request));
    web_private(request);
    return status == STATUS_NOT_FOUND
               ? reason_set(web_reason(request), status, "",
                            "this link is not known, or a newer e-mail was sent")
               : status;
}

static Status fill_confirm(WebRequest *request, void *view, Frame *frame)
{
    (void)frame;
    return fill_behind_link(request, view, LINK_CONFIRM);
}

FORM(account_confirm, OwnForm, .path = "/confirm", .title = "Confirm your e-mail address",
     .fill = fill_confirm, .draw = confirm_page, .to = "/login",
     .help = "A button that confirms; opening it changes nothing.");

static Status fill_first_admin(WebRequest *request, void *view, Frame *frame)
{
    (void)frame;
    return fill_behind_link(request, view, LINK_ADMIN);
}

FORM(first_admin, OwnForm, .path = "/first-admin", .title = "The first admin",
     .fill = fill_first_admin, .draw = first_admin_page, .to = "/login",
     .help = "The form for the first admin of a new site.");

static const WebRoute ROUTES[] = {
    {WEB_GET, "/invitation", show_invitation, .access = WEB_GUEST,
     .help = "The form to join, for who was invited; opening it uses nothing up.",
     .params = {[P_TOKEN] = {"token", WEB_QUERY, WEB_OPAQUE, .least = 1, .most = 100,
                             .help = "Of the link."}}},
};
ROUTE_TABLE(REGISTER, ROUTES);
