/* api_account.c -- /api/v1/me: what somebody does about their account itself: password, e-mail address, leaving.
 *
 * All of it needs a session: a token acts for its owner, but must not take the account over, nor outlive its own end. What is done is what the
 * pages do (account.c), and can be sent again after a crash as there. */
#include "site/api.h"
#include "site/people.h"

enum { FIELD_MOST = 1000, SECRET_MOST = 100 };

static Status change_password(WebRequest *request)
{
    TRY(api_refuse_token(request));
    TRY(people_change_password(request));
    return api_answer_done(request);
}

static Status begin_email(WebRequest *request)
{
    TRY(api_refuse_token(request));
    TRY(people_begin_email(request));
    return api_answer_done(request);
}

static Status finish_email(WebRequest *request)
{
    TRY(api_refuse_token(request));
    TRY(people_finish_email(request));
    return api_answer_done(request);
}

static Status leave(WebRequest *request)
{
    TRY(api_refuse_token(request));
    TRY(people_leave(request));
    return api_answer_done(request);
}

/* clang-format off */
#define MINE(how, where, what)                                                                      \
    {how, API_PATH where, what, .access = WEB_LOGIN, .body_bytes = WEB_BODY_DEFAULT, .tag = "me", .answers = "Done"
#define LINE_ROW(name, words) {name, WEB_JSON, WEB_LINE, .least = 1, .most = FIELD_MOST, .help = words}

static const WebRoute ROUTES[] = {
    MINE(WEB_PUT, "me/password", change_password), .threads = WEB_PASSWORD,
     .help = "Changes your password, and ends your other sessions. Not by a token.",
     .params = {LINE_ROW("old", "The present one."), LINE_ROW("password", "The new one, at least 10 characters.")}},
    MINE(WEB_POST, "me/email", begin_email),
     .help = "Sends a letter to your new e-mail address, which counts when its link is used. Not by a token.",
     .params = {LINE_ROW("email", "The new one; shown to nobody.")}},
    MINE(WEB_POST, "me/email/confirm", finish_email), .help = "Confirms your new e-mail address. Not by a token.",
     .params = {{"token", WEB_JSON, WEB_OPAQUE, .least = 1, .most = SECRET_MOST, .help = "Of the link in the letter."}}},
    MINE(WEB_POST, "me/delete", leave), .threads = WEB_PASSWORD,
     .help = "Withdraws all your votes and deletes your account, for good. Not by a token.",
     .params = {LINE_ROW("password", "Yours.")}},
};
/* clang-format on */
const Room ROOM_API_ACCOUNT = ROOM(ROUTES);
