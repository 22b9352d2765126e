/* journeys.h -- somebody was sent to log in at another site and should come back: what was meant, for ten minutes, once.
 *
 * The state is a secret that goes there and comes back in addresses, which others may see; so it counts only in the browser that was sent, which has
 * another secret in a cookie. The store knows keyed hashes of both; the rest is sealed.
 *   1. Of all who come back with a state exactly one is let through, under any race: it is used up by a conditional update before anything else is done.
 *      A crash after that costs the person another try.
 *   2. A state that is used, older than JOURNEY_S, of another browser or unknown lets nobody through. */
#pragma once

#include "accounts/accounts.h"

enum { JOURNEY_S = 600, JOURNEY_NEXT_BYTES = 2000, JOURNEY_INVITATION_BYTES = 100 };

typedef struct Journey {
    Slice provider;
    Slice nonce, verifier; /* secrets of the log-in there */
    Slice next;            /* where to go on afterwards */
    uint64_t account;      /* whose connection it shall be; 0: to log in */
    Slice invitation;      /* that somebody who joins came with; perhaps empty */
} Journey;

/* `browser` is the secret of the cookie. */
MUST_USE Status journeys_begin(Accounts *accounts, const Journey *journey, Slice browser,
                               Arena *arena, Slice *ret_state);
/* REFUSED with the reason. */
MUST_USE Status journeys_end(Accounts *accounts, Slice state, Slice browser, Arena *arena,
                             Journey *ret_journey, Reason *reason);
/* A secret for the cookie. */
Slice journeys_browser(Accounts *accounts, Arena *arena);
