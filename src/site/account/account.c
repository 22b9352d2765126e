/* account.c -- the pages where people keep their account: sessions, password, e-mail address, tokens for programs, second factor, log-ins at
 * other sites, and deleting it. */
#include "access/links.h"
#include "draw/qr.h"
#include "site/account/people.h"
#include "site/pages.h"

static const Account *me(const WebRequest *request)
{
    return &site_viewer(request)->account;
}

/* ---- Sessions ------------------------------------------------------------------------------------------------------------- */

static Status fill_sessions(WebRequest *request, void *view, Frame *frame)
{
    SessionsPage *page = view;
    page->own = site_viewer(request)->session.id;
    page->now_us = site_now_us(request);
    page->arena = web_arena(request);
    *frame = (Frame){.title = SLICE("Where you are logged in")};
    TRY(own_sessions(site_of(request)->ops, me(request), page->arena, &page->list));
    return logins_list(site_of(request)->app->accounts, me(request)->id, page->arena, &page->logins,
                       &page->login_count);
}

FORM(session_end_others, SessionsPage, .path = "/my/sessions", .fill = fill_sessions,
     .draw = sessions_page, .help = "Where I am logged in, and my last log-ins.");
FORM(session_end, BareForm, .to = "/my/sessions");

/* ---- Password and e-mail ---------------------------------------------------------------------------------------------------- */

FORM(password_change, OwnForm, .path = "/my/password", .title = "Change your password",
     .draw = password_page, .to = "/my/profile", .help = "The form for a new password.");

static Status fill_email(WebRequest *request, void *view, Frame *frame)
{
    (void)frame;
    OwnForm *page = view;
    page->email = me(request)->email;
    page->me = me(request);
    return STATUS_OK;
}

FORM(email_change, OwnForm, .path = "/my/email", .title = "Change your e-mail address",
     .fill = fill_email, .draw = email_page, .to = "/my/profile",
     .help = "The form for another e-mail address.");

static Status fill_email_confirm(WebRequest *request, void *view, Frame *frame)
{
    (void)frame;
    Link link;
    OwnForm *page = view;
    TRY(links_peek(site_of(request)->app->accounts, LINK_EMAIL, form_typed(&page->form, "token"),
                   web_arena(request), &link, web_reason(request)));
    if (link.account != me(request)->id)
        return reason_set(web_reason(request), STATUS_DENIED, "",
                          "this link is for another account; log in there first");
    page->email = link.payload;
    return STATUS_OK;
}

FORM(email_confirm, OwnForm, .path = "/my/email/confirm",
     .title = "Confirm your new e-mail address", .fill = fill_email_confirm,
     .draw = email_confirm_page, .to = "/my/profile",
     .help = "A button that confirms the new address.");

static Status fill_email_back(WebRequest *request, void *view, Frame *frame)
{
    (void)frame;
    Link link;
    Status status =
        links_peek(site_of(request)->app->accounts, LINK_BACK, form_typed(view, "token"),
                   web_arena(request), &link, web_reason(request));
    if (status == STATUS_NOT_FOUND)
        return reason_set(web_reason(request), status, "", "this link is not known");
    TRY(status);
    web_private(request);
    return STATUS_OK;
}

FORM(email_back, OwnForm, .path = "/email/back", .title = "Take a change back",
     .fill = fill_email_back, .draw = email_back_page, .to = "/forgotten",
     .help = "A button that takes a change of the e-mail address back.");

/* ---- Tokens ------------------------------------------------------------------------------------------------------------------ */

static Status fill_tokens(WebRequest *request, void *view, Frame *frame)
{
    TokensPage *page = view;
    page->me = me(request);
    page->now_us = site_now_us(request);
    page->arena = web_arena(request);
    *frame = (Frame){.title = SLICE("Tokens for programs")};
    return own_tokens(site_of(request)->ops, me(request), page->arena, &page->list);
}

FORM(token_make, TokensPage, .path = "/my/tokens", .fill = fill_tokens, .draw = tokens_page,
     .shows_answer = true, .help = "My tokens for programs.");
FORM(token_end, BareForm, .to = "/my/tokens");

/* ---- Second factor -------------------------------------------------------------------------------------------------------------- */

static Status fill_second(WebRequest *request, void *view, Frame *frame)
{
    SecondPage *page = view;
    page->me = me(request);
    page->now_us = site_now_us(request);
    if (page->form.answer != NULL) {
        frame->title = SLICE("Your recovery codes");
        return STATUS_OK;
    }
    TRY(own_second(site_of(request)->ops, me(request), web_arena(request), &page->second));
    page->has_picture = qr_svg(page->second.link, "QR code with the secret below",
                               web_arena(request), &page->picture);
    return STATUS_OK;
}

#define SECOND_PAGE .title = "Second factor", .fill = fill_second, .draw = second_page
FORM(second_begin, SecondPage, SECOND_PAGE, .path = "/my/second-factor",
     .help = "My second factor: whether it is on, and how to set it up.");
FORM(second_confirm, SecondPage, SECOND_PAGE, .shows_answer = true);
FORM(second_codes, SecondPage, SECOND_PAGE, .shows_answer = true);

FORM(second_off, OwnForm, .path = "/my/second-factor/off", .title = "Turn your second factor off",
     .draw = second_off_page, .to = "/my/second-factor",
     .help = "Asks before the second factor is turned off.");

/* ---- Log-ins at other sites ------------------------------------------------------------------------------------------------------ */

static Status fill_linked(WebRequest *request, void *view, Frame *frame)
{
    LinkedPage *page = view;
    if (page->form.answer != NULL)
        return people_fill_leave(request, view, frame);
    page->me = me(request);
    page->oidc = site_of(request)->app->oidc;
    page->now_us = site_now_us(request);
    page->arena = web_arena(request);
    *frame = (Frame){.title = SLICE("Log-ins at other sites")};
    return own_linked(site_of(request)->ops, me(request), page->arena, &page->list);
}

FORM(linked_connect, LinkedPage, .path = "/my/connections", .fill = fill_linked,
     .draw = connections_page, .shows_answer = true, .help = "Which other sites I can log in by.");
FORM(linked_end, LinkedPage, .fill = fill_linked, .draw = connections_page,
     .to = "/my/connections");

/* ---- Deleting it ---------------------------------------------------------------------------------------------------------------- */

FORM(account_delete, OwnForm, .path = "/my/delete",
     .title = "Delete your account and withdraw all your votes", .draw = delete_page, .to = "/",
     .help = "Says what deleting my account does, and asks.");
