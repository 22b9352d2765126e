/* passwords.c -- a forgotten password, and changing the one that one has.
 *
 * A new password ends all other sessions in the same update that sets it, and one for a forgotten password all tokens, too (credentials.h). A crash before the e-mail that tells of it
 * leaves out only that e-mail. */
#include "operations/account_mail.h"
#include "operations/schema_list.h"
#include "operations/tries.h"

enum { FIELD_MAX = 1000, TOKEN_MAX = 100, FLOOR_MS = 150 };

/* ---- Forgotten -------------------------------------------------------------------------------------------------------------------- */

typedef struct PasswordForgotten {
    Slice name;
} PasswordForgotten;

static Status send_reset(Operations *ops, Slice name_or_email, Arena *arena, Reason *reason)
{
    Account account;
    LinkMail mail;
    Accounts *accounts = ops->app->accounts;
    TRY(accounts_find(accounts, name_or_email, arena, &account));
    if (!account_may(&account, RIGHT_LOG_IN)) /* who has not confirmed has no mailbox yet */
        return STATUS_NOT_FOUND;
    TRY(throttle_mailbox(ops, account.email, arena, reason));
    TRY(credentials_begin_reset(accounts, name_or_email, arena, &mail));
    return account_mail(ops, LETTER_RESET, &mail, "/reset", arena, reason);
}

/* The answer is the same whether somebody is called that or not. */
static Status password_forgotten(Operations *ops, const Actor *actor,
                                 const PasswordForgotten *request, Arena *arena, Done *ret_done,
                                 Reason *reason)
{
    TRY(throttle_origin(ops, actor, THROTTLE_MAIL, reason));
    Status status = send_reset(ops, request->name, arena, reason);
    bool is_secret = status == STATUS_NOT_FOUND || status == STATUS_INVALID ||
                     status == STATUS_THROTTLED; /* the mailbox got enough e-mails already */
    if (!is_secret)
        TRY(status);
    ret_done->done = true;
    return STATUS_OK;
}

/* clang-format off */
OPERATION(password_forgotten, PasswordForgotten, Done,
    .help = "Send an e-mail with a link for a new password; the answer is the same when nobody is called that.",
    .access = WEB_GUEST, .threads = WEB_PASSWORD, .origin_rule = THROTTLE_MAIL, .least_ms = FLOOR_MS, .no_audits = "it is one's own",
    .api = {WEB_POST, "accounts/forgotten", .tag = "accounts"}, .page = {.path = "/forgotten"}, .no_command = "anybody can ask for it on the page, and the link is for the person alone",
    .inputs = {INPUT("name", PasswordForgotten, name, LINE, .least = 1, .most = FIELD_MAX, .help = "Name or e-mail address.")});
/* clang-format on */

/* ---- By its link ------------------------------------------------------------------------------------------------------------------- */

typedef struct PasswordReset {
    Slice token, password;
} PasswordReset;

typedef struct PasswordWasReset {
    bool done;
    Cookies cookies;
} PasswordWasReset;

/* Who has the e-mail is the owner: when strangers have used up the tries for this name, they do not stand in the way of the new password's
 * first use. */
static Status password_reset(Operations *ops, const Actor *actor, const PasswordReset *request,
                             Arena *arena, PasswordWasReset *ret_done, Reason *reason)
{
    Link link;
    Account account;
    Accounts *accounts = ops->app->accounts;
    bool is_known =
        links_peek(accounts, LINK_RESET, request->token, arena, &link, NULL) == STATUS_OK &&
        accounts_read(accounts, link.account, arena, &account) == STATUS_OK;
    TRY(credentials_finish_reset(accounts, request->token, request->password, reason));
    if (is_known)
        know_device(ops, actor, &account, arena, &ret_done->cookies);
    ret_done->done = true;
    return STATUS_OK;
}

/* clang-format off */
OPERATION(password_reset, PasswordReset, PasswordWasReset, .help = "Set a new password, and end all sessions and tokens.", .access = WEB_GUEST, .threads = WEB_PASSWORD,
    .no_audits = "it is one's own", .answers = &SCHEMA_DONE, .cookies = offsetof(PasswordWasReset, cookies),
    .api = {WEB_POST, "accounts/reset", .tag = "accounts"}, .no_command = "the link is for the person alone",
    .page = {"/reset", "password-set", "Your new password is set, and all your sessions and tokens are ended. Log in with it."},
    .inputs = {
        INPUT("token", PasswordReset, token, OPAQUE, .least = 1, .most = TOKEN_MAX, .help = "Of the link in the e-mail."),
        INPUT("password", PasswordReset, password, SECRET, .least = 1, .most = FIELD_MAX, .help = "The new one, at least 10 characters."),
    });
/* clang-format on */

/* ---- Changing it ------------------------------------------------------------------------------------------------------------------- */

typedef struct PasswordChangeRequest {
    Slice old, password;
} PasswordChangeRequest;

static Status password_change(Operations *ops, const Actor *actor,
                              const PasswordChangeRequest *request, Arena *arena, Done *ret_done,
                              Reason *reason)
{
    PasswordChange change = {.account = actor->account->id,
                             .old = request->old,
                             .password = request->password,
                             .keep = actor->session};
    Tries tries;
    TRY(tries_begin_inside(ops, actor, arena, &tries, reason));
    TRY(tries_end(ops, &tries, credentials_change_password(ops->app->accounts, &change, reason),
                  STATUS_REFUSED));
    account_mail_actor(ops, actor, LETTER_PASSWORD_CHANGED, "/forgotten", arena);
    ret_done->done = true;
    return STATUS_OK;
}

/* The new one is looked at first, without asking for the old one; on the form both are said at once. */
static size_t change_faults(Operations *ops, const Actor *actor, const void *request, Arena *arena,
                            Reason *ret_reasons)
{
    const PasswordChangeRequest *sent = request;
    size_t count = 0;
    if (account_check_password(sent->password, &ret_reasons[0]) == STATUS_OK)
        return 0;
    count += check_own_password(ops, actor, sent->old, "old", arena, &ret_reasons[0]) != STATUS_OK;
    (void)!account_check_password(sent->password, &ret_reasons[count]);
    return count + 1;
}

/* clang-format off */
OPERATION(password_change, PasswordChangeRequest, Done, .help = "Change your password, and end your other sessions. Not by a token.",
    .access = WEB_LOGIN, .by_session = true, .threads = WEB_PASSWORD, .no_audits = "it is one's own", .faults = change_faults,
    .api = {WEB_PUT, "me/password", .tag = "me"}, .no_command = "nobody else may know a password; the link of a forgotten one sets another",
    .page = {"/my/password", "password", "Your password is changed, and your other sessions are ended."},
    .inputs = {
        INPUT("old", PasswordChangeRequest, old, SECRET, .least = 1, .most = FIELD_MAX, .help = "The present one."),
        INPUT("password", PasswordChangeRequest, password, SECRET, .least = 1, .most = FIELD_MAX, .help = "The new one, at least 10 characters."),
    });
/* clang-format on */
