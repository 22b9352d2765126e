/* tries.h -- how often strangers may try: passwords and codes, registrations, e-mails; and which browser belongs to whom.
 *
 * All of it counts by what the actor comes with: network address, name, known device (tries.c says how). A command counts as loopback
 * does: it is whoever runs the site. */
#pragma once

#include "operations/operation.h"

/* throttle_take for the network address that the actor comes from (IPv6: its /64), and for the networks around it (address_networks). Loopback is let through: it is this machine, or a proxy
 * that the settings do not name, behind which everybody would share one address. */
MUST_USE Status throttle_origin(Operations *ops, const Actor *actor, ThrottleRule rule,
                                Reason *reason);
/* Whether throttle_origin would let a try through now; counts none. For doors, before an operation takes a place that others need (Operation.origin_rule). */
MUST_USE Status throttle_origin_look(Operations *ops, const Actor *actor, ThrottleRule rule,
                                     Reason *reason);
/* throttle_take for a mailbox, before a link for it is made: a new link ends the older one, so an e-mail that will not go out must not
 * cost the one that did. */
MUST_USE Status throttle_mailbox(Operations *ops, Slice email, Arena *arena, Reason *reason);

/* ---- Tries with a password or a code -------------------------------------------------------------------------------------------- */

enum { TRIES_MAX = 5 };
typedef struct Try {
    ThrottleRule rule;
    unsigned times;
    Slice key;
} Try;
/* One try, and where it was counted. */
typedef struct Tries {
    Try taken[TRIES_MAX];
    size_t count;
} Tries;

/* Somebody who is logged in says their password once more. Whoever is not cannot use that up, and who only has the session cannot guess
 * without bound. THROTTLED counts nowhere. */
MUST_USE Status tries_begin_inside(Operations *ops, const Actor *actor, Arena *arena,
                                   Tries *ret_tries, Reason *reason);
/* Somebody who has shown the account's password, or is logged in as it, shows a code of its second factor. The account must outlive the
 * tries. */
MUST_USE Status tries_begin_code(Operations *ops, const Actor *actor, const Account *account,
                                 Arena *arena, Tries *ret_tries, Reason *reason);
/* OK takes the try back, `wrong` leaves it counted; anything else was none: it did not come to a comparison. Returns `status`. */
MUST_USE Status tries_end(Operations *ops, const Tries *tries, Status status, Status wrong);

/* ---- What is shown --------------------------------------------------------------------------------------------------------------- */

/* Where a session begins that this actor begins. */
SessionOrigin actor_session_origin(const Actor *actor);
/* Name or e-mail, and password, of somebody who wants to log in. REFUSED: they do not fit, which is the same for a name that nobody has. */
MUST_USE Status check_password(Operations *ops, const Actor *actor, Slice name, Slice password,
                               Arena *arena, Account *ret_account, Reason *reason);
/* The actor's own password, once more. REFUSED names `field`. */
MUST_USE Status check_own_password(Operations *ops, const Actor *actor, Slice password,
                                   const char *field, Arena *arena, Reason *reason);
/* The actor's own password, where the account has one, and with check_own_ways a code of its second factor, where it has one: for what opens another way into the
 * account, so that whoever sits before an open session makes none that outlives it. An operator shows neither. REFUSED names `password` or `code`. */
MUST_USE Status check_any_password(Operations *ops, const Actor *actor, Slice password,
                                   Arena *arena, Reason *reason);
typedef struct OwnWays {
    Slice password, code;
} OwnWays;
MUST_USE Status check_own_ways(Operations *ops, const Actor *actor, const OwnWays *shown,
                               Arena *arena, Reason *reason);
/* clang-format off */
enum { OWN_WAYS_MAX = 1000 };
#define OWN_PASSWORD_INPUT(type)                                                                                                       \
    INPUT("password", type, ways.password, SECRET, .optional = true, .least = 1, .most = OWN_WAYS_MAX, .no_command = true,             \
          .help = "Yours, where the account has one.")
#define OWN_CODE_INPUT(type)                                                                                                           \
    INPUT("code", type, ways.code, LINE, .optional = true, .least = 1, .most = OWN_WAYS_MAX, .no_command = true,                       \
          .help = "Of the second factor, where the account has one.")
/* clang-format on */
/* Uses up a code of the account's second factor. REFUSED, THROTTLED. */
MUST_USE Status check_code(Operations *ops, const Actor *actor, const Account *account, Slice code,
                           Arena *arena, Reason *reason);
/* This browser belongs to the account's owner, who has just shown a password or the link of an e-mail: its tries are counted apart from
 * those of strangers from now on. */
void know_device(Operations *ops, const Actor *actor, const Account *account, Arena *arena,
                 Cookies *cookies);
