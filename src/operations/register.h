/* register.h -- joining, as register.c and linked_log_in.c do it. */
#pragma once

#include "access/linked_logins.h"
#include "operations/operation.h"

/* Somebody who wants to join: with a password, or by a log-in at another site. */
typedef struct Joiner {
    Slice name, email, password;
    const NewLinkedLogin *linked; /* NULL: by a password */
    Slice verified;               /* the address that the other site vouches for; empty: none */
    Slice invitation;             /* the secret of its link; empty: none */
} Joiner;

enum { JOIN_FLOOR_MS = 500 }; /* what joining takes at least, whatever comes of it */

/* Registers and sends the e-mail. OK also when the address is taken or not on the roll; then an e-mail tells its owner so. Where the rule
 * goes by addresses (domain, roll) and the other site vouches for one, the account's address must be that one; where it vouches for none,
 * our e-mail proves the address, as everybody's. */
MUST_USE Status join(Operations *ops, const Actor *actor, const Joiner *joiner, Arena *arena,
                     Reason *reason);
/* Operation.faults of those who join. */
size_t join_faults(Operations *ops, const Joiner *joiner, Arena *arena, Reason *ret_reasons);
