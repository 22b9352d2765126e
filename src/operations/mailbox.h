/* mailbox.h -- which e-mails somebody gets, as every door shows it. */
#pragma once

#include "accounts/digests.h"
#include "mail/suppress.h"
#include "operations/operation.h"

typedef struct MyMailbox {
    DigestChoice choice;
    Slice email;
    bool is_suppressed;
    Suppressed suppressed;
} MyMailbox;

MUST_USE Status my_mailbox(Operations *ops, const Account *account, Arena *arena,
                           MyMailbox *ret_mailbox);
/* Whose e-mails the link ends. NOT_FOUND. */
MUST_USE Status unsubscribe_whose(Operations *ops, Slice token, uint64_t *ret_account,
                                  Reason *reason);
