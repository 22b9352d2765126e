/* credentials.h -- what a password or a one-time link lets people do: confirm, choose a new password, move to another e-mail, become the
 * first admin.
 *
 * `begin` makes a link and says where to mail it; `finish` uses it up in the same update that does what it is for (links.h). Nothing is mailed
 * here. A page shows a button after links_peek, and only the button's POST calls `finish`.
 *   1. A new password or e-mail ends all sessions, but for the one that is passed as `keep` (it may be NULL). A new password for a forgotten one, or
 *      by an operator, ends all tokens, too.
 *   2. Taking back a change of the e-mail also ends all tokens, and removes a second factor and linked log-ins that were set up since the change, in the same update.
 *   3. What fails leaves the link as it was, so that the person can try again; UNKNOWN: the same call again finds out.
 * The answers of credentials_begin_reset differ for those who are there and those who are not; a page must not let visitors see that. */
#pragma once

#include "access/links.h"
#include "access/sessions.h"

/* What to write to whom. */
typedef struct LinkMail {
    uint64_t account;
    Slice name;   /* of the account */
    Slice email;  /* where it goes */
    Slice secret; /* for the link */
} LinkMail;

/* REFUSED: the account is not pending. */
MUST_USE Status credentials_begin_confirm(Accounts *accounts, uint64_t id, Arena *arena,
                                          LinkMail *ret_mail);
/* As accounts_confirm. */
MUST_USE Status credentials_finish_confirm(Accounts *accounts, Slice secret, uint64_t *ret_id,
                                           Reason *reason);

/* For a forgotten password. NOT_FOUND: nobody is called that, or they may not log in. */
MUST_USE Status credentials_begin_reset(Accounts *accounts, Slice name_or_email, Arena *arena,
                                        LinkMail *ret_mail);
MUST_USE Status credentials_finish_reset(Accounts *accounts, Slice secret, Slice password,
                                         Reason *reason);

/* The mail goes to the new address; whether somebody has it already is told to who finishes, not to who begins. REFUSED: it is theirs
 * already, the account is not confirmed, or its e-mail was changed within ACCOUNT_EMAIL_BACK_DAYS. */
MUST_USE Status credentials_begin_email(Accounts *accounts, uint64_t id, Slice email, Arena *arena,
                                        LinkMail *ret_mail, Reason *reason);
/* The way back to the address that will be left: to be mailed there before credentials_finish_email, so that no change is without it. The link does
 * nothing until then. REFUSED: what would refuse the change, as far as it is known. */
MUST_USE Status credentials_begin_back(Accounts *accounts, Slice secret, Arena *arena,
                                       LinkMail *ret_mail, Reason *reason);
typedef struct EmailMove {
    Slice secret; /* of the link */
    Slice back;   /* of the way back; empty: there is none */
    const Session *keep;
} EmailMove;
/* As accounts_change_email. */
MUST_USE Status credentials_finish_email(Accounts *accounts, const EmailMove *move, Reason *reason);
/* The address before counts again, and all sessions and tokens end. REFUSED: it was taken back already, or is too late. */
MUST_USE Status credentials_finish_back(Accounts *accounts, Slice secret, Reason *reason);

/* LOGIN when the password is wrong or the account does not exist, in the same time; DENIED when logging in was taken away; THROTTLED
 * when too many passwords wait to be computed. */
MUST_USE Status credentials_check_password(Accounts *accounts, Slice name_or_email, Slice password,
                                           Arena *arena, Account *ret_account);
/* By an operator: no old one is asked for. All sessions and tokens end. */
MUST_USE Status credentials_set_password(Accounts *accounts, uint64_t id, Slice password,
                                         Reason *reason);

typedef struct PasswordChange {
    uint64_t account;
    Slice old, password;
    const Session *keep;
} PasswordChange;
/* REFUSED, field `old`: that is not their password. CONFLICT: it has changed in between. */
MUST_USE Status credentials_change_password(Accounts *accounts, const PasswordChange *change,
                                            Reason *reason);

/* For a site without accounts: whoever has the secret registers as its admin. REFUSED: there are accounts. */
MUST_USE Status credentials_begin_first_admin(Accounts *accounts, Arena *arena, Slice *ret_secret);
/* As accounts_register; `roles` and `confirmed` do not matter. The registration is made first, then the link is used, then the account gets its
 * role: when that is cut off, the account waits to be confirmed and given its rights on the command line, and the answer is UNKNOWN. */
MUST_USE Status credentials_finish_first_admin(Accounts *accounts, Slice secret,
                                               const Registration *registration, uint64_t *ret_id,
                                               Reason *reason);
