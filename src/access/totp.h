/* totp.h -- codes that change every half minute (RFC 6238, over RFC 4226): pure.
 *
 * Of a secret that a person's device and the site share, and of the time, both compute the same 6 digits: HMAC-SHA-1, steps of 30 seconds
 * since 1970, as every authenticator app knows them. liboath computes them; which of them count is decided here.
 *   1. A code counts for its own step, the one before and the one after: clocks differ, and people type slowly.
 *   2. totp_match takes no code of a step that is not later than the last one used: a code counts once.
 *   3. It takes the same time for every code. */
#pragma once

#include "base/arena.h"

enum {
    TOTP_SECRET_BYTES = 20,
    TOTP_SECRET_TEXT = 32, /* in base32 */
    TOTP_STEP_S = 30,
    TOTP_DIGITS = 6,
    TOTP_SKEW = 1, /* steps before and after */
};

/* Its digits and a NUL. */
void totp_code(Slice secret, int64_t step, char ret_code[TOTP_DIGITS + 1]);
int64_t totp_step(int64_t now_us);
/* Whether `code` (6 digits, blanks within it do not count) is right now; *ret_step is the step that it is used for. */
bool totp_match(Slice secret, Slice code, int64_t now_us, int64_t last_step, int64_t *ret_step);

/* RFC 4648 base32 without padding: what people type into an app that cannot see the picture. */
Slice totp_secret_text(Slice secret, Arena *arena);
/* What apps read from the picture or open as a link: otpauth://totp/… */
Slice totp_link(Slice secret, Slice site, Slice name, Arena *arena);
