/* log_in.h -- logging in: what the operations of log_in.c and linked_logins.c share, and what their pages ask. */
#pragma once

#include "operations/operation.h"

/* Where a log-in leads, and what the browser keeps of it. */
typedef struct LoggedIn {
    bool done;
    Slice next; /* a path of ours */
    Cookies cookies;
} LoggedIn;

/* A path of ours, or "/". */
Slice log_in_next(Slice next);
/* The account's owner has shown the password, or a provider vouches for them: begins a session and leads on to `next`, or where there is a
 * second factor to the page that asks for it. */
MUST_USE Status log_in_continue(Operations *ops, const Actor *actor, const Account *account,
                                bool remember, Slice next, Arena *arena, LoggedIn *ret_in);
/* Whose password this browser has shown lately, where only the second factor is missing. REFUSED: nobody's. */
MUST_USE Status log_in_half(Operations *ops, const Actor *actor, Arena *arena, Account *ret_account,
                            bool *ret_remember, Reason *reason);
