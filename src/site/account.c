/* account.c -- what people keep about their account: sessions, password, e-mail, tokens for programs, and leaving.
 *
 * Leaving is two steps that can both be repeated: the last save withdraws all votes and closes the chain, then the account closes and
 * frees its names. Cut off in between, the account still logs in, and sending the form again finishes it. */
#include "mail/mail.h"
#include "site/pages.h"
#include "site/people.h"

enum { FIELD_MOST = 1000, TOKEN_DAYS = 365 };
static const int64_t DAY_US = INT64_C(86400) * US_PER_S;

static Accounts *accounts_of(const WebRequest *request)
{
    return site_of(request)->app->accounts;
}

static const Account *me(const WebRequest *request)
{
    return &site_viewer(request)->account;
}

typedef void FormTemplate(Buffer *out, const PersonForm *form);

static Status answer_form(WebRequest *request, Slice title, FormTemplate *template,
                          const PersonForm *form)
{
    Frame frame = {.title = title, .is_narrow = true};
    if (form->fault.is_set)
        web_code(request, 422);
    Buffer *out = page_begin(request, &frame);
    template(out, form);
    page_end(request, out);
    return STATUS_OK;
}

Status people_check_own_password(WebRequest *request, const char *field, Account *ret_account)
{
    Tries tries;
    if (me(request)->password_hash.size == 0)
        return reason_set(web_reason(request), STATUS_REFUSED, field,
                          "You have no password yet; choose one by \"Forgotten your password?\"");
    TRY(tries_begin_inside(request, &tries));
    Status status = accounts_check_password(accounts_of(request), me(request)->name,
                                            web_text(request, 0), web_arena(request), ret_account);
    tries_end(request, &tries,
              status == STATUS_OK      ? TRY_RIGHT
              : status == STATUS_LOGIN ? TRY_WRONG
                                       : TRY_NONE);
    if (status == STATUS_LOGIN)
        return reason_set(web_reason(request), STATUS_REFUSED, field, "That is not your password");
    return status;
}

/* ---- Sessions ------------------------------------------------------------------------------------------------------------- */

static Status show_sessions(WebRequest *request)
{
    const Viewer *viewer = site_viewer(request);
    Arena *arena = web_arena(request);
    SessionsView view = {.csrf = viewer->csrf,
                         .own = viewer->session.id,
                         .now_us = site_now_us(request),
                         .arena = arena};
    Frame frame = {.title = SLICE("Where you are logged in")};
    TRY(sessions_list(accounts_of(request), me(request), arena, &view.sessions,
                      &view.session_count));
    TRY(logins_list(accounts_of(request), viewer->account.id, arena, &view.logins,
                    &view.login_count));
    Buffer *out = page_begin(request, &frame);
    sessions_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

static Status do_end_session(WebRequest *request)
{
    Id id;
    TRY(id_from_text(web_text(request, 0), &id));
    TRY(sessions_end_named(accounts_of(request), me(request)->id, id));
    site_done(request, SLICE("/my/sessions"), "session-ended", 0);
    return STATUS_OK;
}

static Status do_end_others(WebRequest *request)
{
    TRY(sessions_end_others(accounts_of(request), &site_viewer(request)->session));
    site_done(request, SLICE("/my/sessions"), "sessions-ended", 0);
    return STATUS_OK;
}

/* ---- Password and e-mail ---------------------------------------------------------------------------------------------------- */

static Status show_password(WebRequest *request)
{
    PersonForm form = {.csrf = site_viewer(request)->csrf};
    return answer_form(request, SLICE("Change your password"), password_page, &form);
}

static LinkMail mail_to_me(const WebRequest *request)
{
    const Account *account = me(request);
    return (LinkMail){.account = account->id, .name = account->name, .email = account->email};
}

Status people_change_password(WebRequest *request)
{
    const Viewer *viewer = site_viewer(request);
    PasswordChange change = {.account = viewer->account.id,
                             .old = web_text(request, 0),
                             .password = web_text(request, 1),
                             .keep = &viewer->session};
    LinkMail mail = mail_to_me(request);
    Tries tries;
    TRY(tries_begin_inside(request, &tries));
    Status status = accounts_change_password(accounts_of(request), &change, web_reason(request));
    tries_end(request, &tries,
              status == STATUS_OK        ? TRY_RIGHT
              : status == STATUS_REFUSED ? TRY_WRONG
                                         : TRY_NONE);
    TRY(status);
    (void)!people_letter(request, LETTER_PASSWORD_CHANGED, &mail, "/forgotten"); /* a courtesy */
    return STATUS_OK;
}

/* The new one is looked at first, without asking for the old one; on the form both are said at once. */
static FormFault password_faults(WebRequest *request, Status status)
{
    Account account;
    Arena *arena = web_arena(request);
    Reason *reason = web_reason(request), first = *reason;
    FormFault faults = {.is_set = false};
    if (status == STATUS_INVALID &&
        people_check_own_password(request, "old", &account) != STATUS_OK)
        form_fault_add(&faults, form_fault(reason), arena);
    form_fault_add(&faults, form_fault(&first), arena);
    return faults;
}

static Status do_password(WebRequest *request)
{
    PersonForm form = {.csrf = site_viewer(request)->csrf};
    Status status = people_change_password(request);
    if (form_can_be_corrected(status)) {
        form.fault = password_faults(request, status);
        return answer_form(request, SLICE("Change your password"), password_page, &form);
    }
    TRY(status);
    site_done(request, SLICE("/my/profile"), "password", 0);
    return STATUS_OK;
}

static Status show_email(WebRequest *request)
{
    PersonForm form = {.csrf = site_viewer(request)->csrf, .name = me(request)->email};
    return answer_form(request, SLICE("Change your e-mail address"), email_page, &form);
}

Status people_begin_email(WebRequest *request)
{
    LinkMail mail;
    Slice email = web_text(request, 0);
    TRY(people_throttle(request, THROTTLE_MAIL));
    TRY(people_throttle_letters(request, email));
    TRY(accounts_begin_email(accounts_of(request), me(request)->id, email, web_arena(request),
                             &mail, web_reason(request)));
    return people_letter(request, LETTER_NEW_EMAIL, &mail, "/my/email/confirm");
}

static Status do_email(WebRequest *request)
{
    PersonForm form = {.csrf = site_viewer(request)->csrf,
                       .name = me(request)->email,
                       .email = web_text(request, 0)};
    Status status = people_begin_email(request);
    if (form_can_be_corrected(status)) {
        form.fault = form_fault(web_reason(request));
        return answer_form(request, SLICE("Change your e-mail address"), email_page, &form);
    }
    TRY(status);
    site_done(request, SLICE("/my/profile"), "email-sent", 0);
    return STATUS_OK;
}

static Status show_email_confirm(WebRequest *request)
{
    Link link;
    PersonForm form = {.csrf = site_viewer(request)->csrf, .token = web_text(request, 0)};
    TRY(links_peek(accounts_of(request), LINK_EMAIL, form.token, web_arena(request), &link,
                   web_reason(request)));
    if (link.account != me(request)->id)
        return reason_set(web_reason(request), STATUS_DENIED, "",
                          "this link is for another account; log in there first");
    form.email = link.payload;
    return answer_form(request, SLICE("Confirm your new e-mail address"), email_confirm_page,
                       &form);
}

Status people_finish_email(WebRequest *request)
{
    Link link;
    LinkMail mail = mail_to_me(request); /* the old address */
    TRY(links_peek(accounts_of(request), LINK_EMAIL, web_text(request, 0), web_arena(request),
                   &link, web_reason(request)));
    if (link.account != me(request)->id)
        return STATUS_DENIED;
    TRY(accounts_finish_email(accounts_of(request), web_text(request, 0),
                              &site_viewer(request)->session, web_reason(request)));
    (void)!people_letter(request, LETTER_EMAIL_CHANGED, &mail, "/help"); /* a courtesy */
    return STATUS_OK;
}

static Status do_email_confirm(WebRequest *request)
{
    TRY(people_finish_email(request));
    site_done(request, SLICE("/my/profile"), "email", 0);
    return STATUS_OK;
}

/* ---- Tokens ------------------------------------------------------------------------------------------------------------------ */

static Status answer_tokens(WebRequest *request, TokensView *view)
{
    Frame frame = {.title = SLICE("Tokens for programs")};
    view->csrf = site_viewer(request)->csrf;
    view->now_us = site_now_us(request);
    view->arena = web_arena(request);
    TRY(tokens_list(accounts_of(request), me(request)->id, web_arena(request), &view->tokens,
                    &view->count));
    if (view->fault.is_set)
        web_code(request, 422);
    Buffer *out = page_begin(request, &frame);
    tokens_page(out, view);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_tokens(WebRequest *request)
{
    TokensView view = {0};
    return answer_tokens(request, &view);
}

/* The page itself shows the secret, once; nothing that is kept or redirected to does. */
static Status do_make_token(WebRequest *request)
{
    Token token;
    TokensView view = {.name = web_text(request, 0)};
    NewToken wanted = {.name = view.name,
                       .scope = (TokenScope)web_word(request, 1),
                       .second = site_viewer(request)->session.origin.second,
                       .ends_us = site_now_us(request) + web_number(request, 2) * DAY_US};
    Status status = tokens_make(accounts_of(request), me(request)->id, &wanted, web_arena(request),
                                &token, web_reason(request));
    if (form_can_be_corrected(status)) {
        view.fault = form_fault(web_reason(request));
        return answer_tokens(request, &view);
    }
    TRY(status);
    view.made = token.secret;
    return answer_tokens(request, &view);
}

static Status do_end_token(WebRequest *request)
{
    Id id;
    TRY(id_from_text(web_text(request, 0), &id));
    TRY(tokens_end(accounts_of(request), me(request)->id, id));
    site_done(request, SLICE("/my/tokens"), "token-ended", 0);
    return STATUS_OK;
}

/* ---- Leaving ------------------------------------------------------------------------------------------------------------------ */

static const Slice LEAVING = {"Delete your account and withdraw all your votes", 47};

static Status show_delete(WebRequest *request)
{
    PersonForm form = {.csrf = site_viewer(request)->csrf, .name = me(request)->name};
    return answer_form(request, LEAVING, delete_page, &form);
}

Status people_leave(WebRequest *request)
{
    Account account;
    Reason *reason = web_reason(request);
    LinkMail mail = mail_to_me(request);
    TRY(people_check_own_password(request, "password", &account));
    if (account.state == ACCOUNT_CONFIRMED)
        TRY(votes_leave(site_of(request)->app->votes, account.id, reason));
    TRY(accounts_close(accounts_of(request), account.id, reason));
    (void)!people_letter(request, LETTER_ACCOUNT_DELETED, &mail, "/"); /* a courtesy */
    web_set_cookie(request, DOOR_SESSION, SLICE_EMPTY, WEB_COOKIE_GONE);
    return STATUS_OK;
}

static Status do_delete(WebRequest *request)
{
    PersonForm form = {.csrf = site_viewer(request)->csrf, .name = me(request)->name};
    Status status = people_leave(request);
    if (form_can_be_corrected(status)) {
        form.fault = form_fault(web_reason(request));
        return answer_form(request, LEAVING, delete_page, &form);
    }
    TRY(status);
    site_done(request, SLICE("/"), "left", 0);
    return STATUS_OK;
}

/* ---- Letters of a demo ---------------------------------------------------------------------------------------------------------- */

static Status show_letters(WebRequest *request)
{
    LettersView view = {.now_us = site_now_us(request), .arena = web_arena(request)};
    Frame frame = {.title = SLICE("Letters of this demo")};
    Mail *mail = site_of(request)->app->mail;
    if (!site_of(request)->options.is_demo || !mail_has_outbox(mail) ||
        !address_is_loopback(web_client(request)) ||
        web_head(request, HEAD_FORWARDED_FOR).size > 0) /* a proxy asks for somebody else */
        return STATUS_NOT_FOUND;
    TRY(mail_outbox(mail, web_arena(request), &view.letters, &view.count));
    web_private(request);
    Buffer *out = page_begin(request, &frame);
    letters_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

static const char *const SCOPES[] = {"read", "write", NULL};
#define NAMED_BY_ID                                                              \
    {                                                                            \
        "id", WEB_PATH, WEB_OPAQUE, .least = 1, .most = 64, .help = "Which one." \
    }
#define LINK_TOKEN(from)                                                           \
    {                                                                              \
        "token", from, WEB_OPAQUE, .least = 1, .most = 100, .help = "Of the link." \
    }

static const WebRoute ROUTES[] = {
    {WEB_GET, "/my/sessions", show_sessions, .access = WEB_LOGIN,
     .help = "Where I am logged in, and my last log-ins."},
    {WEB_POST, "/my/sessions/others", do_end_others, .access = WEB_LOGIN,
     .body_bytes = WEB_BODY_DEFAULT, .help = "Ends all my other sessions."},
    {WEB_POST, "/my/sessions/{id}", do_end_session, .access = WEB_LOGIN, .whose = WEB_OWN,
     .body_bytes = WEB_BODY_DEFAULT, .help = "Ends one of my sessions.", .params = {NAMED_BY_ID}},
    {WEB_GET, "/my/password", show_password, .access = WEB_LOGIN,
     .help = "The form for a new password."},
    {WEB_POST, "/my/password", do_password, .threads = WEB_PASSWORD, .access = WEB_LOGIN,
     .body_bytes = WEB_BODY_DEFAULT, .help = "Changes my password.",
     .params = {{"old", WEB_FORM, WEB_LINE, .most = FIELD_MOST, .help = "The present one."},
                {"password", WEB_FORM, WEB_LINE, .most = FIELD_MOST, .help = "The new one."}}},
    {WEB_GET, "/my/email", show_email, .access = WEB_LOGIN,
     .help = "The form for another e-mail address."},
    {WEB_POST, "/my/email", do_email, .access = WEB_LOGIN, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Sends a letter to the new address.",
     .params = {{"email", WEB_FORM, WEB_LINE, .most = FIELD_MOST, .help = "The new one."}}},
    {WEB_GET, "/my/email/confirm", show_email_confirm, .access = WEB_LOGIN,
     .help = "A button that confirms the new address.", .params = {LINK_TOKEN(WEB_QUERY)}},
    {WEB_POST, "/my/email/confirm", do_email_confirm, .access = WEB_LOGIN,
     .body_bytes = WEB_BODY_DEFAULT, .help = "Confirms my new address.",
     .params = {LINK_TOKEN(WEB_FORM)}},
    {WEB_GET, "/my/tokens", show_tokens, .access = WEB_VOTER, .help = "My tokens for programs."},
    {WEB_POST, "/my/tokens", do_make_token, .access = WEB_VOTER, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Makes a token, and shows it once.",
     .params = {{"name", WEB_FORM, WEB_LINE, .most = FIELD_MOST, .help = "What it is for."},
                {"scope", WEB_FORM, WEB_WORD, .words = SCOPES, .fallback = "read",
                 .help = "Whether it may change things."},
                {"days", WEB_FORM, WEB_NUMBER, .least = 1, .most = 3660, .fallback = "365",
                 .help = "How long it works."}}},
    {WEB_POST, "/my/tokens/{id}", do_end_token, .access = WEB_VOTER, .whose = WEB_OWN,
     .body_bytes = WEB_BODY_DEFAULT, .help = "Ends a token.", .params = {NAMED_BY_ID}},
    {WEB_GET, "/my/delete", show_delete, .access = WEB_LOGIN,
     .help = "Says what deleting my account does, and asks."},
    {WEB_POST, "/my/delete", do_delete, .threads = WEB_PASSWORD, .access = WEB_LOGIN,
     .body_bytes = WEB_BODY_DEFAULT, .help = "Withdraws my votes and deletes my account.",
     .params = {{"password", WEB_FORM, WEB_LINE, .most = FIELD_MOST, .help = "My password."}}},
    {WEB_GET, "/demo/letters", show_letters,
     .help = "On a demo: what would have been sent by mail."},
};
const Room ROOM_ACCOUNT = ROOM(ROUTES);
