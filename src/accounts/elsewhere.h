/* elsewhere.h -- log-ins at other sites: who a provider says somebody is, and which account that is here.
 *
 * A person elsewhere is the key of a provider and its id there: "provider:id". It is a claim on a row of its own, as names and e-mails are
 * (accounts.h), and counts while the account is alive and its cell `connections` bears it. The cell, sealed, is written before the claim is taken: first as
 * a wish, which lets nobody in, then as connected.
 *   1. At any time at most one account has a person elsewhere, under any race, crash or late write.
 *   2. elsewhere_end never takes the last way in: an account without a password keeps one connection. Two who end two at the same moment: one is
 *      refused.
 *   3. A crash between two steps leaves a wish, which the next change of the account's connections drops when it is a day old.
 *   4. UNKNOWN is passed on; repeating the call finds out.
 * What a provider says of e-mails is kept only to show the owner which is which; nothing is ever linked by it. */
#pragma once

#include "accounts/accounts.h"

enum {
    CONNECTIONS_MOST = 10,
    CONNECTION_PROVIDER_BYTES = 32,
    CONNECTION_SUBJECT_BYTES = 255,
    CONNECTION_LABEL_BYTES = 254,
    CONNECTION_WISH_S = 86400,
};

typedef struct NewConnection {
    Slice provider, subject;
    Slice
        label; /* what its owner knows it by: an e-mail, a name; may be empty, and is cut at the bound */
} NewConnection;

typedef struct Connection {
    Id id; /* names it; no secret */
    Slice provider, subject, label;
    int64_t made_us;
} Connection;

/* REFUSED with the reason: another account has it, there are too many, or the account is void or closed. OK also when it was connected before. */
MUST_USE Status elsewhere_add(Accounts *accounts, uint64_t account, const NewConnection *connection,
                              Reason *reason);
/* A registration without a password whose owner logs in there. As accounts_register; what fails on the way is voided. */
MUST_USE Status elsewhere_register(Accounts *accounts, const Registration *registration,
                                   const NewConnection *connection, uint64_t *ret_id,
                                   Reason *reason);
/* Whose it is. NOT_FOUND: nobody's. */
MUST_USE Status elsewhere_find(Accounts *accounts, Slice provider, Slice subject, Arena *arena,
                               Account *ret_account);
/* In the order in which they were made. */
MUST_USE Status elsewhere_list(Accounts *accounts, uint64_t account, Arena *arena,
                               Connection **ret_connections, size_t *ret_count);
/* NOT_FOUND: the account has no such connection. REFUSED: it is the last way in. */
MUST_USE Status elsewhere_end(Accounts *accounts, uint64_t account, Id id, Reason *reason);
