/* api_people.c -- /api/v1: joining, logging in and out, a forgotten password; for scripts of this site's own pages.
 *
 * These requests rely on cookies, so they need the token that GET /api/v1/session tells, as forms do. Programs use a personal token
 * instead, and none of this. What is done is what the pages do (register.c, login.c). */
#include "site/api.h"
#include "site/people.h"

enum { FIELD_MOST = 1000, SECRET_MOST = 100 };

static Status give_session(WebRequest *request)
{
    const Viewer *viewer = site_viewer(request);
    ApiVisit view = {.known = viewer->known,
                     .name = viewer->known ? viewer->account.name : SLICE_EMPTY,
                     .csrf = viewer->by_token ? SLICE_EMPTY : site_form_token(request)};
    return api_answer(request, &SCHEMA_VISIT, &view);
}

/* Row 3, where the account has a second factor. */
static Status check_second(WebRequest *request, const Account *account, SessionOrigin *origin)
{
    if (!account->second)
        return STATUS_OK;
    if (!web_has(request, 3))
        return reason_set(web_reason(request), STATUS_REFUSED, "code",
                          "this account has a second factor; send its code, too");
    TRY(people_check_code(request, account, web_text(request, 3), origin));
    origin->second = true;
    return STATUS_OK;
}

static Status log_in(WebRequest *request)
{
    Account account;
    SessionOrigin origin = people_origin(request);
    origin.remember = web_switch(request, 2);
    TRY(people_check_password(request, &origin, &account));
    TRY(check_second(request, &account, &origin));
    TRY(people_log_in(request, &account, &origin));
    return api_answer_done(request);
}

static Status log_out(WebRequest *request)
{
    TRY(people_log_out(request));
    return api_answer_done(request);
}

static Status join(WebRequest *request)
{
    TRY(people_register(request));
    web_code(request, 201);
    return api_answer_done(request);
}

static Status confirm(WebRequest *request)
{
    uint64_t id;
    TRY(accounts_finish_confirm(site_of(request)->app->accounts, web_text(request, 0), &id,
                                web_reason(request)));
    return api_answer_done(request);
}

static Status forget(WebRequest *request)
{
    TRY(people_forgotten(request));
    return api_answer_done(request);
}

static Status reset(WebRequest *request)
{
    TRY(people_reset(request));
    return api_answer_done(request);
}

/* clang-format off */
#define OPEN(how, where, what, schema)                                                              \
    {how, API_PATH where, what, .access = WEB_GUEST, .body_bytes = WEB_BODY_DEFAULT, .tag = "accounts", .answers = schema
#define SECRET_ROW {"token", WEB_JSON, WEB_OPAQUE, .least = 1, .most = SECRET_MOST, .help = "Of the link in the letter."}
#define PASSWORD_ROW {"password", WEB_JSON, WEB_LINE, .least = 1, .most = FIELD_MOST, .help = "The password."}

static const WebRoute ROUTES[] = {
    {WEB_GET, API_PATH "session", give_session, .access = WEB_GUEST, .tag = "accounts", .answers = "Visit",
     .help = "Whether somebody is logged in, and the token for requests that rely on cookies."},
    OPEN(WEB_POST, "session", log_in, "Done"), .threads = WEB_PASSWORD, .help = "Logs in, for browsers: the answer sets a cookie.",
     .params = {{"name", WEB_JSON, WEB_LINE, .least = 1, .most = FIELD_MOST, .help = "Name or e-mail address."}, PASSWORD_ROW,
                {"remember", WEB_JSON, WEB_SWITCH, .fallback = "off", .help = "Stay logged in."},
                {"code", WEB_JSON, WEB_LINE, .optional = true, .least = 1, .most = 100, .help = "Of the second factor, where the account has one."}}},
    {WEB_DELETE, API_PATH "session", log_out, .access = WEB_LOGIN, .tag = "accounts", .answers = "Done",
     .help = "Logs out."},
    OPEN(WEB_POST, "accounts", join, "Done"), .threads = WEB_PASSWORD,
     .help = "Registers. A letter with a link goes to the address; the answer is the same when it is taken.",
     .params = {{"name", WEB_JSON, WEB_LINE, .least = 1, .most = FIELD_MOST, .help = "3 to 30 letters and digits; public."},
                {"email", WEB_JSON, WEB_LINE, .least = 1, .most = FIELD_MOST, .help = "Shown to nobody."}, PASSWORD_ROW,
                {"invitation", WEB_JSON, WEB_OPAQUE, .optional = true, .most = SECRET_MOST,
                 .help = "Of the link of an invitation, where only who was invited may join."}}},
    OPEN(WEB_POST, "accounts/confirm", confirm, "Done"), .help = "Confirms a registration.", .params = {SECRET_ROW}},
    OPEN(WEB_POST, "accounts/forgotten", forget, "Done"), .threads = WEB_PASSWORD,
     .help = "Sends a letter with a link for a new password; the answer is the same when nobody is called that.",
     .params = {{"name", WEB_JSON, WEB_LINE, .least = 1, .most = FIELD_MOST, .help = "Name or e-mail address."}}},
    OPEN(WEB_POST, "accounts/reset", reset, "Done"), .threads = WEB_PASSWORD, .help = "Sets a new password.", .params = {SECRET_ROW, PASSWORD_ROW}},
};
/* clang-format on */
const Room ROOM_API_PEOPLE = ROOM(ROUTES);
