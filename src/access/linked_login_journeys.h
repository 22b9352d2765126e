/* linked_login_journeys.h -- somebody was sent to log in at another site and should come back: what was meant, for ten minutes, once.
 *
 * The state is a secret that goes there and comes back in addresses, which others may see; so it counts only in the browser that was sent, which has
 * another secret in a cookie. The store knows keyed hashes of both; the rest is sealed.
 *   1. Of all who come back with a state exactly one is let through, under any race: it is used up by a conditional update before anything else is done.
 *      A crash after that costs the person another try.
 *   2. A state that is used, older than LINKED_LOGIN_JOURNEY_S, of another browser or unknown lets nobody through. */
#pragma once

#include "accounts/accounts.h"

enum {
    LINKED_LOGIN_JOURNEY_S = 600,
    LINKED_LOGIN_JOURNEY_NEXT_BYTES = 2000,
    LINKED_LOGIN_JOURNEY_INVITATION_BYTES = 100
};

typedef struct LinkedLoginJourney {
    Slice provider;
    Slice nonce, verifier; /* secrets of the log-in there */
    Slice next;            /* where to go on afterwards */
    uint64_t account;      /* whose connection it shall be; 0: to log in */
    Slice invitation;      /* that somebody who joins came with; perhaps empty */
} LinkedLoginJourney;

/* `browser` is the secret of the cookie. */
MUST_USE Status linked_login_journey_begin(Accounts *accounts, const LinkedLoginJourney *journey,
                                           Slice browser, Arena *arena, Slice *ret_state);
/* REFUSED with the reason. */
MUST_USE Status linked_login_journey_end(Accounts *accounts, Slice state, Slice browser,
                                         Arena *arena, LinkedLoginJourney *ret_journey,
                                         Reason *reason);
/* A secret for the cookie. */
Slice linked_login_journey_browser(Accounts *accounts, Arena *arena);
