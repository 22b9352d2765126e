/* linked_log_in.h -- logging in by another site, as its pages need it. The operations are in linked_log_in.c. */
#pragma once

#include "access/linked_logins.h"
#include "operations/log_in.h"

/* On the way to a provider. */
typedef struct LinkedLeave {
    bool done;
    Slice title, address;
    Cookies cookies;
} LinkedLeave;

/* Back from one, by its link: where to go on, logged in, joining, or with one more linked log-in. No row of the table: only a browser that
 * was sent there comes back. The state is used up first, whatever the provider says; REFUSED: it does not vouch for anybody. */
typedef struct LinkedReturn {
    Slice provider, state;
    Slice code; /* what it vouches by; empty: it does not */
} LinkedReturn;
MUST_USE Status linked_return(Operations *ops, const Actor *actor, const LinkedReturn *request,
                              Arena *arena, LoggedIn *ret_in, Reason *reason);

/* Somebody whom a provider knows, and who is new here. */
typedef struct Joining {
    NewLinkedLogin who;
    Slice name;       /* for the form */
    Slice verified;   /* the address that the provider vouches for; empty: none */
    Slice invitation; /* that they came with; empty: none */
} Joining;
/* What this browser brought back within the last half hour. REFUSED: nothing. */
MUST_USE Status linked_joining(Operations *ops, const Actor *actor, Arena *arena,
                               Joining *ret_joining, Reason *reason);
