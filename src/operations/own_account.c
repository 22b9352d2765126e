/* own_account.c -- somebody's own account: another e-mail address, and deleting it.
 *
 * A new address counts in the update that uses its link up. Deleting is account_close: cut off in the middle, the task
 * `leaving` finishes it. A crash before the e-mail that tells of either leaves out only that e-mail. */
#include "operations/account_close.h"
#include "operations/account_mail.h"
#include "operations/schema_list.h"
#include "operations/tries.h"
#include "web/request.h"

enum { FIELD_MAX = 1000, TOKEN_MAX = 100 };

/* ---- Another address --------------------------------------------------------------------------------------------------------------- */

typedef struct EmailChange {
    Slice email;
} EmailChange;

static Status email_change(Operations *ops, const Actor *actor, const EmailChange *request,
                           Arena *arena, Done *ret_done, Reason *reason)
{
    LinkMail mail;
    TRY(throttle_origin(ops, actor, THROTTLE_MAIL, reason));
    TRY(throttle_mailbox(ops, request->email, arena, reason));
    TRY(credentials_begin_email(ops->app->accounts, actor->account->id, request->email, arena,
                                &mail, reason));
    TRY(account_mail(ops, LETTER_NEW_EMAIL, &mail, "/my/email/confirm", arena, reason));
    ret_done->done = true;
    return STATUS_OK;
}

/* clang-format off */
OPERATION(email_change, EmailChange, Done,
    .help = "Send an e-mail to your new address, which counts when its link is used. Not by a token.",
    .access = WEB_LOGIN, .by_session = true, .no_audits = "it is one's own", .api = {WEB_POST, "me/email", .tag = "me"},
    .page = {"/my/email", "email-sent", "We sent an e-mail to the new address. The address changes when you open its link."},
    .command = {"email change", .done = "the e-mail with the link is on its way to the new address"},
    .inputs = {INPUT("email", EmailChange, email, LINE, .operand = true, .least = 1, .most = FIELD_MAX, .help = "The new one; shown to nobody.")});
/* clang-format on */

typedef struct EmailConfirm {
    Slice token;
} EmailConfirm;

static Status email_confirm(Operations *ops, const Actor *actor, const EmailConfirm *request,
                            Arena *arena, Done *ret_done, Reason *reason)
{
    Link link;
    TRY(links_peek(ops->app->accounts, LINK_EMAIL, request->token, arena, &link, reason));
    if (link.account != actor->account->id)
        return STATUS_DENIED;
    TRY(credentials_finish_email(ops->app->accounts, request->token, actor->session, reason));
    account_mail_actor(ops, actor, LETTER_EMAIL_CHANGED, "/help", arena); /* to the old address */
    ret_done->done = true;
    return STATUS_OK;
}

/* clang-format off */
OPERATION(email_confirm, EmailConfirm, Done, .help = "Confirm your new e-mail address. Not by a token.",
    .access = WEB_LOGIN, .by_session = true, .no_audits = "it is one's own", .api = {WEB_POST, "me/email/confirm", .tag = "me"},
    .page = {"/my/email/confirm", "email", "Your new e-mail address is confirmed."}, .no_command = "the link proves that the new address is theirs",
    .inputs = {INPUT("token", EmailConfirm, token, OPAQUE, .least = 1, .most = TOKEN_MAX, .help = "Of the link in the e-mail.")});
/* clang-format on */

/* ---- Deleting it ------------------------------------------------------------------------------------------------------------------- */

typedef struct AccountDelete {
    Slice password;
} AccountDelete;

typedef struct AccountDeleted {
    bool done;
    Cookies cookies;
} AccountDeleted;

static Status account_delete(Operations *ops, const Actor *actor, const AccountDelete *request,
                             Arena *arena, AccountDeleted *ret_done, Reason *reason)
{
    TRY(check_own_password(ops, actor, request->password, "password", arena, reason));
    TRY(account_close(ops, actor->account->id, reason));
    account_mail_actor(ops, actor, LETTER_ACCOUNT_DELETED, "/", arena);
    cookies_add(&ret_done->cookies, COOKIE_SESSION, SLICE_EMPTY, WEB_COOKIE_GONE);
    ret_done->done = true;
    return STATUS_OK;
}

/* clang-format off */
OPERATION(account_delete, AccountDelete, AccountDeleted,
    .help = "Withdraw all your votes and delete your account, for good. Not by a token.",
    .access = WEB_LOGIN, .by_session = true, .threads = WEB_PASSWORD, .no_audits = "it is one's own",
    .answers = &SCHEMA_DONE, .cookies = offsetof(AccountDeleted, cookies),
    .api = {WEB_POST, "me/delete", .tag = "me"}, .no_command = "\"user delete\" does it for somebody",
    .page = {"/my/delete", "left", "Your account is deleted, and your votes are withdrawn."},
    .inputs = {INPUT("password", AccountDelete, password, SECRET, .least = 1, .most = FIELD_MAX, .help = "Yours.")});
/* clang-format on */
