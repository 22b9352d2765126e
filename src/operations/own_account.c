/* own_account.c -- somebody's own account: another e-mail address, and deleting it.
 *
 * Another address asks for the password, and the second factor where there is one. It counts in the update that uses its link up, and in which the
 * way back of the old address begins, which also takes back what was set up since: whoever has the account for a while keeps no way into it, and cannot keep its owner out. The e-mail with that way is queued before: a crash in between leaves an e-mail whose link does nothing, never a
 * change that nobody was told of. Deleting is account_close: cut off in the middle, the task `leaving` finishes it. A crash before the e-mail that tells of either leaves out only that e-mail. */
#include "electorate/electorate.h"
#include "operations/account_close.h"
#include "operations/account_mail.h"
#include "operations/schema_list.h"
#include "operations/tries.h"
#include "web/request.h"

enum { FIELD_MAX = 1000, TOKEN_MAX = 100, FLOOR_MS = 500 };

/* ---- Another address --------------------------------------------------------------------------------------------------------------- */

typedef struct EmailChange {
    Slice email;
    OwnWays ways;
} EmailChange;

static Status email_change(Operations *ops, const Actor *actor, const EmailChange *request,
                           Arena *arena, Done *ret_done, Reason *reason)
{
    LinkMail mail = {.name = actor->account->name, .email = slice_trim(request->email)};
    Slice folded;
    TRY(throttle_origin(ops, actor, THROTTLE_MAIL, reason));
    TRY(account_fold_email(request->email, arena, &folded, reason));
    TRY(check_own_ways(ops, actor, &request->ways, arena, reason));
    if (!actor->is_operator && actor->account->password_hash.size ==
                                   0) /* it is chosen first, by the address that is there */
        return check_own_password(ops, actor, request->ways.password, "password", arena, reason);
    TRY(throttle_mailbox(ops, request->email, arena, reason));
    ret_done->done = true;
    Status status = electorate_admit_change(ops->app->accounts, request->email, reason);
    if (status == STATUS_REFUSED && strcmp(reason->field, "roll") == 0)
        return account_mail(ops, LETTER_NEW_EMAIL_NOT_ON_ROLL, &mail, "/", arena, reason);
    TRY(status);
    TRY(credentials_begin_email(ops->app->accounts, actor->account->id, request->email, arena,
                                &mail, reason));
    return account_mail(ops, LETTER_NEW_EMAIL, &mail, "/my/email/confirm", arena, reason);
}

/* clang-format off */
OPERATION(email_change, EmailChange, Done,
    .help = "Send an e-mail to your new address, which counts when its link is used. Not by a token.",
    .access = WEB_LOGIN, .by_session = true, .threads = WEB_PASSWORD, .least_ms = FLOOR_MS, .no_audits = "it is one's own",
    .api = {WEB_POST, "me/email", .tag = "me"},
    .page = {"/my/email", "email-sent", "We sent an e-mail to the new address. It says what to do next."},
    .command = {"email change", .done = "the e-mail with the link is on its way to the new address"},
    .inputs = {
        INPUT("email", EmailChange, email, LINE, .operand = true, .least = 1, .most = FIELD_MAX, .help = "The new one."),
        INPUT("password", EmailChange, ways.password, SECRET, .least = 1, .most = FIELD_MAX, .no_command = true, .help = "Yours."),
        OWN_CODE_INPUT(EmailChange),
    });
/* clang-format on */

typedef struct EmailConfirm {
    Slice token;
} EmailConfirm;

static Status email_confirm(Operations *ops, const Actor *actor, const EmailConfirm *request,
                            Arena *arena, Done *ret_done, Reason *reason)
{
    Link link;
    LinkMail back;
    TRY(links_peek(ops->app->accounts, LINK_EMAIL, request->token, arena, &link, reason));
    if (link.account != actor->account->id)
        return STATUS_DENIED;
    TRY(throttle_origin(ops, actor, THROTTLE_MAIL, reason));
    TRY(electorate_admit_change(ops->app->accounts, link.payload, reason));
    TRY(credentials_begin_back(ops->app->accounts, request->token, arena, &back, reason));
    TRY(account_mail(ops, LETTER_EMAIL_CHANGED, &back, "/email/back", arena, reason));
    EmailMove move = {request->token, back.secret, actor->session};
    TRY(credentials_finish_email(ops->app->accounts, &move, reason));
    ret_done->done = true;
    return STATUS_OK;
}

/* clang-format off */
OPERATION(email_confirm, EmailConfirm, Done, .help = "Confirm your new e-mail address. Not by a token.",
    .access = WEB_LOGIN, .by_session = true, .no_audits = "it is one's own", .api = {WEB_POST, "me/email/confirm", .tag = "me"},
    .page = {"/my/email/confirm", "email", "Your new e-mail address is confirmed."}, .no_command = "the link proves that the new address is theirs",
    .inputs = {INPUT("token", EmailConfirm, token, OPAQUE, .least = 1, .most = TOKEN_MAX, .help = "Of the link in the e-mail.")});
/* clang-format on */

/* ---- Back to the one before --------------------------------------------------------------------------------------------------------- */

typedef struct EmailBack {
    Slice token;
} EmailBack;

static Status email_back(Operations *ops, const Actor *actor, const EmailBack *request,
                         Arena *arena, Done *ret_done, Reason *reason)
{
    (void)actor, (void)arena;
    TRY(credentials_finish_back(ops->app->accounts, request->token, reason));
    ret_done->done = true;
    return STATUS_OK;
}

/* clang-format off */
OPERATION(email_back, EmailBack, Done, .help = "Take a change of your e-mail address back, and all that was set up since: second factor, linked log-ins, tokens, sessions.", .access = WEB_GUEST,
    .no_audits = "it is one's own", .api = {WEB_POST, "accounts/email-back", .tag = "accounts"}, .no_command = "the link is for the person alone",
    .page = {"/email/back", "email-back",
             "Your account has its old e-mail address again. A second factor and log-ins at other sites that were set up since the change are gone, and all sessions and tokens are ended. Choose a new password now: whoever changed the address knows the present one."},
    .inputs = {INPUT("token", EmailBack, token, OPAQUE, .least = 1, .most = TOKEN_MAX, .help = "Of the link in the e-mail.")});
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
    cookies_end(&ret_done->cookies, COOKIE_SESSION);
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
