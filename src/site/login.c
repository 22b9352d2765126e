/* login.c -- coming in and going out; a forgotten password.
 *
 * A wrong name and a wrong password get the same answer in the same time. Logging in begins a new session and ends the one that this
 * browser had, so that nobody can prepare one for somebody else. */
#include "site/pages.h"
#include "site/people.h"

enum { FIELD_MOST = 1000, NEXT_MOST = 2000, TOKEN_MOST = 100, REMEMBER_S = 60 * 86400 };

static Status answer_login(WebRequest *request, const PersonForm *form, int code)
{
    Frame frame = {.title = SLICE("Log in"), .address = SLICE("/login"), .is_narrow = true};
    web_code(request, code);
    Buffer *out = page_begin(request, &frame);
    login_page(out, form);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_login(WebRequest *request)
{
    PersonForm form = {.csrf = site_form_token(request),
                       .next = people_next(web_text(request, 0)),
                       .gone = web_switch(request, 1),
                       .oidc = site_of(request)->app->oidc,
                       .is_demo = site_of(request)->options.is_demo};
    if (site_viewer(request)->known) {
        web_redirect(request, 303, form.next);
        return STATUS_OK;
    }
    return answer_login(request, &form, 200);
}

Status people_check_password(WebRequest *request, const SessionOrigin *origin, Account *ret_account)
{
    Site *site = site_of(request);
    Slice name = web_text(request, 0), password = web_text(request, 1);
    Account known;
    Tries tries;
    Reason *reason = web_reason(request);
    TRY(tries_begin(request, name, &tries));
    Status status = accounts_check_password(site->app->accounts, name, password, web_arena(request),
                                            ret_account);
    tries_end(request, &tries,
              status == STATUS_OK      ? TRY_RIGHT
              : status == STATUS_LOGIN ? TRY_WRONG
                                       : TRY_NONE);
    if (status != STATUS_LOGIN)
        return status;
    if (accounts_find(site->app->accounts, name, web_arena(request), &known) == STATUS_OK)
        (void)!logins_note_failure(site->app->accounts, known.id, origin);
    return reason_set(reason, STATUS_REFUSED, "name", "The name or the password is not right");
}

Status people_log_in(WebRequest *request, const Account *account, const SessionOrigin *origin)
{
    Session session;
    Viewer *viewer = site_viewer(request);
    Accounts *accounts = site_of(request)->app->accounts;
    TRY(sessions_begin(accounts, account, origin, web_arena(request), &session));
    if (viewer->known && !viewer->by_token)
        (void)!sessions_end(accounts, &viewer->session); /* it would end by itself, later */
    web_set_cookie(request, DOOR_SESSION, session.secret,
                   origin->remember ? REMEMBER_S : WEB_COOKIE_SESSION);
    tries_know_device(request, account);
    return STATUS_OK;
}

static Status do_login(WebRequest *request)
{
    Account account;
    SessionOrigin origin = people_origin(request);
    PersonForm form = {.name = web_text(request, 0),
                       .next = people_next(web_text(request, 3)),
                       .oidc = site_of(request)->app->oidc,
                       .is_demo = site_of(request)->options.is_demo};
    origin.remember = web_switch(request, 2);
    Status status = people_check_password(request, &origin, &account);
    if (form_can_be_corrected(status)) {
        form.csrf = site_form_token(request);
        form.fault = form_fault(web_reason(request));
        return answer_login(request, &form, status == STATUS_THROTTLED ? 429 : 422);
    }
    TRY(status);
    return people_come_in(request, &account, &origin, form.next);
}

Status people_log_out(WebRequest *request)
{
    const Viewer *viewer = site_viewer(request);
    if (viewer->known && !viewer->by_token)
        TRY(sessions_end(site_of(request)->app->accounts, &viewer->session));
    web_set_cookie(request, DOOR_SESSION, SLICE_EMPTY, WEB_COOKIE_GONE);
    return STATUS_OK;
}

static Status do_logout(WebRequest *request)
{
    TRY(people_log_out(request));
    site_done(request, SLICE("/"), "logged-out", 0);
    return STATUS_OK;
}

/* ---- A forgotten password -------------------------------------------------------------------------------------------------- */

static Status show_forgotten(WebRequest *request)
{
    PersonForm form = {.csrf = site_form_token(request)};
    Frame frame = {.title = SLICE("Forgotten your password?"), .is_narrow = true};
    Buffer *out = page_begin(request, &frame);
    forgotten_page(out, &form);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_forgotten_sent(WebRequest *request)
{
    Frame frame = {.title = SLICE("Look into your mailbox"), .is_narrow = true};
    PersonForm form = {.is_demo = site_of(request)->options.is_demo};
    Buffer *out = page_begin(request, &frame);
    forgotten_sent_page(out, &form);
    page_end(request, out);
    return STATUS_OK;
}

static Status send_reset(WebRequest *request, Slice name_or_email)
{
    Account account;
    LinkMail mail;
    Accounts *accounts = site_of(request)->app->accounts;
    TRY(accounts_find(accounts, name_or_email, web_arena(request), &account));
    TRY(people_throttle_letters(request, account.email));
    TRY(accounts_begin_reset(accounts, name_or_email, web_arena(request), &mail));
    return people_letter(request, LETTER_RESET, &mail, "/reset");
}

Status people_forgotten(WebRequest *request)
{
    int64_t begun_us = clock_steady_us(site_of(request)->app->world.clock);
    TRY(people_throttle(request, THROTTLE_MAIL));
    Status status = send_reset(request, web_text(request, 0));
    people_floor(request, begun_us);
    bool is_secret = status == STATUS_NOT_FOUND || status == STATUS_INVALID ||
                     status == STATUS_THROTTLED; /* the mailbox got enough letters already */
    return is_secret ? STATUS_OK : status;
}

/* The answer is the same whether somebody is called that or not. */
static Status do_forgotten(WebRequest *request)
{
    TRY(people_forgotten(request));
    web_redirect(request, 303, SLICE("/forgotten/sent"));
    return STATUS_OK;
}

static Status answer_reset(WebRequest *request, const PersonForm *form)
{
    Frame frame = {.title = SLICE("Choose a new password"), .is_narrow = true};
    if (form->fault.is_set)
        web_code(request, 422);
    web_private(request);
    Buffer *out = page_begin(request, &frame);
    reset_page(out, form);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_reset(WebRequest *request)
{
    Link link;
    PersonForm form = {.csrf = site_form_token(request), .token = web_text(request, 0)};
    Status status = links_peek(site_of(request)->app->accounts, LINK_RESET, form.token,
                               web_arena(request), &link, web_reason(request));
    if (status == STATUS_NOT_FOUND)
        return reason_set(web_reason(request), status, "",
                          "this link is not known, or a newer letter was sent");
    TRY(status);
    return answer_reset(request, &form);
}

/* Who has the letter is the owner: when strangers have used up the tries for this name, they do not stand in the way of the new
 * password's first use. */
Status people_reset(WebRequest *request)
{
    Link link;
    Account account;
    Accounts *accounts = site_of(request)->app->accounts;
    Slice secret = web_text(request, 0);
    bool is_known =
        links_peek(accounts, LINK_RESET, secret, web_arena(request), &link, NULL) == STATUS_OK &&
        accounts_read(accounts, link.account, web_arena(request), &account) == STATUS_OK;
    TRY(accounts_finish_reset(accounts, secret, web_text(request, 1), web_reason(request)));
    if (is_known)
        tries_know_device(request, &account);
    return STATUS_OK;
}

static Status do_reset(WebRequest *request)
{
    PersonForm form = {.csrf = site_form_token(request), .token = web_text(request, 0)};
    Status status = people_reset(request);
    if (status == STATUS_INVALID) {
        form.fault = form_fault(web_reason(request));
        return answer_reset(request, &form);
    }
    TRY(status);
    site_done(request, SLICE("/login"), "password-set", 0);
    return STATUS_OK;
}

#define LINK_TOKEN(from)                                                                  \
    {                                                                                     \
        "token", from, WEB_OPAQUE, .least = 1, .most = TOKEN_MOST, .help = "Of the link." \
    }

static const WebRoute ROUTES[] = {
    {WEB_GET, "/login", show_login, .access = WEB_GUEST, .always = true,
     .help = "The form to log in.",
     .params = {{"next", WEB_QUERY, WEB_LINE, .optional = true, .most = NEXT_MOST,
                 .help = "Where to go afterwards."},
                {"gone", WEB_QUERY, WEB_SWITCH, .fallback = "off",
                 .help = "Whether a session has ended."}}},
    {WEB_POST, "/login", do_login, .threads = WEB_PASSWORD, .access = WEB_GUEST, .always = true,
     .body_bytes = WEB_BODY_DEFAULT, .help = "Logs in.",
     .params = {{"name", WEB_FORM, WEB_LINE, .most = FIELD_MOST, .help = "Name or e-mail address."},
                {"password", WEB_FORM, WEB_LINE, .most = FIELD_MOST, .help = "The password."},
                {"remember", WEB_FORM, WEB_SWITCH, .fallback = "off",
                 .help = "Stay logged in on this device."},
                {"next", WEB_FORM, WEB_LINE, .optional = true, .most = NEXT_MOST,
                 .help = "Where to go afterwards."}}},
    {WEB_POST, "/logout", do_logout, .body_bytes = WEB_BODY_DEFAULT, .help = "Ends this session."},
    {WEB_GET, "/forgotten", show_forgotten, .access = WEB_GUEST,
     .help = "The form for a forgotten password."},
    {WEB_POST, "/forgotten", do_forgotten, .threads = WEB_PASSWORD, .access = WEB_GUEST,
     .body_bytes = WEB_BODY_DEFAULT, .help = "Sends a letter with a link.",
     .params = {{"name", WEB_FORM, WEB_LINE, .most = FIELD_MOST,
                 .help = "Name or e-mail address."}}},
    {WEB_GET, "/forgotten/sent", show_forgotten_sent, .access = WEB_GUEST,
     .help = "Says that a letter is on its way."},
    {WEB_GET, "/reset", show_reset, .help = "The form behind the link.",
     .params = {LINK_TOKEN(WEB_QUERY)}},
    {WEB_POST, "/reset", do_reset, .threads = WEB_PASSWORD, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Sets a new password.",
     .params = {LINK_TOKEN(WEB_FORM),
                {"password", WEB_FORM, WEB_LINE, .most = FIELD_MOST, .help = "The new one."}}},
};
const Room ROOM_LOGIN = ROOM(ROUTES);
