/* linked_logins.h -- log-ins at other sites: who a provider says somebody is, and which account that is here.
 *
 * A linked log-in is the key of a provider and its id there: "provider:id". It is a claim on a row of its own, as names and e-mails are
 * (accounts.h), and counts while the account is alive and its cell `connections` bears it. The cell, sealed, is written before the claim is taken: first as
 * a wish, which lets nobody in, then as connected.
 *   1. At any time at most one account has a linked log-in, under any race, crash or late write.
 *   2. linked_login_end never takes the last way in: an account without a password keeps one connection. Two who end two at the same moment: one is
 *      refused.
 *   3. A crash between two steps leaves a wish, which the next change of the account's connections drops when it is a day old.
 *   4. UNKNOWN is passed on; repeating the call finds out.
 * What a provider says of e-mails is kept only to show the owner which is which; nothing is ever linked by it. */
#pragma once

#include "accounts/linked_login.h"

typedef struct NewLinkedLogin {
    Slice provider, subject;
    Slice
        label; /* what its owner knows it by: an e-mail, a name; may be empty, and is cut at the bound */
} NewLinkedLogin;

/* REFUSED with the reason: another account has it, there are too many, or the account is void or closed. OK also when it was connected before. */
MUST_USE Status linked_login_add(Accounts *accounts, uint64_t account,
                                 const NewLinkedLogin *connection, Reason *reason);
/* A registration without a password whose owner logs in there. As accounts_register; what fails on the way is voided. */
MUST_USE Status linked_login_register(Accounts *accounts, const Registration *registration,
                                      const NewLinkedLogin *connection, uint64_t *ret_id,
                                      Reason *reason);
/* Whose it is. NOT_FOUND: nobody's. */
MUST_USE Status linked_login_find(Accounts *accounts, Slice provider, Slice subject, Arena *arena,
                                  Account *ret_account);
/* In the order in which they were made. */
MUST_USE Status linked_login_list(Accounts *accounts, uint64_t account, Arena *arena,
                                  LinkedLogin **ret_connections, size_t *ret_count);
/* NOT_FOUND: the account has no such connection. REFUSED: it is the last way in. */
MUST_USE Status linked_login_end(Accounts *accounts, uint64_t account, Id id, Reason *reason);
