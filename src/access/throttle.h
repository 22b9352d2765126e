/* throttle.h -- how often somebody may try: log-ins, registrations, letters.
 *
 * Each rule allows a number of tries at once and then one each so many seconds, for each key: a name, a network address, a device, a
 * mailbox. The key is only ever a hash here.
 *   1. What a rule allows is never exceeded on this instance, but for promise 2. (Each instance counts for itself: three allow three
 *      times as much. The limits leave room for that.)
 *   2. Memory is bounded: THROTTLE_SLOTS keys. When more are in use, those that are nearest to being free again are forgotten first.
 *   3. A try that is refused does not make the wait longer, so that somebody who is attacked under their own name gets in again.
 * Not promised: anything across a restart. All calls may come from any thread. */
#pragma once

#include "base/arena.h"
#include "base/world.h"

/*    rule, tries at once, seconds for one more, of what. LOGIN counts a name from one network address, LOGIN_DEVICE a name on a device
 * that it has logged in on, LOGIN_NAME a name from everywhere else, LOGIN_ADDRESS a network address with its wider networks, as all rules that count
 * those (address_networks), PASSWORD an account by who is logged in, CODE and
 * CODE_DEVICE the second factor of an account, from elsewhere and on such a device (operations/tries.c). */
#define THROTTLE_LIST(X)                                                      \
    X(LOGIN, 10, 90, "log-ins for this name")                                 \
    X(LOGIN_DEVICE, 10, 90, "log-ins for this name")                          \
    X(LOGIN_NAME, 40, 60, "log-ins for this name")                            \
    X(LOGIN_ADDRESS, 100, 9, "log-ins from your network address")             \
    X(PASSWORD, 10, 90, "tries with your password")                           \
    X(CODE, 5, 300, "codes for this account")                                 \
    X(CODE_DEVICE, 5, 300, "codes for this account")                          \
    X(REGISTER, 10, 360, "registrations from your network address")           \
    X(MAIL, 20, 180, "letters that were asked for from your network address") \
    X(MAIL_TO, 5, 720, "letters to this address")                             \
    X(REPORT, 10, 360, "reports from your network address")                   \
    X(REPORT_ACCOUNT, 10, 600, "reports from your account")
typedef enum ThrottleRule {
#define X(name, burst, period_s, of_what) THROTTLE_##name,
    THROTTLE_LIST(X)
#undef X
        THROTTLE_RULES
} ThrottleRule;

enum { THROTTLE_SLOTS = 65536 };

typedef struct Throttle Throttle;

Throttle *throttle_new(World world);
void throttle_free(Throttle *throttle);

/* THROTTLED says how long to wait. `reason` may be NULL. */
MUST_USE Status throttle_take(Throttle *throttle, ThrottleRule rule, Slice key, Reason *reason);
/* The same for a key that stands for several, and may do so many times as much: 1 … THROTTLE_TIMES_MAX. */
enum { THROTTLE_TIMES_MAX = 8 };
MUST_USE Status throttle_take_times(Throttle *throttle, ThrottleRule rule, unsigned times,
                                    Slice key, Reason *reason);
void throttle_return_times(Throttle *throttle, ThrottleRule rule, unsigned times, Slice key);
/* Whether a try would be let through now. Counts none. */
MUST_USE Status throttle_look(Throttle *throttle, ThrottleRule rule, unsigned times, Slice key,
                              Reason *reason);
/* As if the key had never tried: after a log-in that succeeded. */
void throttle_forget(Throttle *throttle, ThrottleRule rule, Slice key);
/* Takes back one try that was allowed: it was none after all. */
void throttle_return(Throttle *throttle, ThrottleRule rule, Slice key);

/* The rule itself, pure. `free_us` is when all tries so far are used up and forgotten again (0: never tried). Returns 0 and the new one
 * when a try is allowed now, else how many µs to wait. */
int64_t throttle_judge(ThrottleRule rule, unsigned times, int64_t free_us, int64_t now_us,
                       int64_t *ret_free_us);
