/* second_factor.h -- the second factor of an account: codes of a device (totp.h), and ten codes on paper for when it is lost.
 *
 * An account has none, has been offered one (a secret that its owner has not yet shown to have), or has one. All of it stands in one sealed cell
 * of the account's row, and the head says whether it is on (Account.second), changed in the same update.
 *   1. A code counts once, also when it comes twice at the same moment: the step that it was for, or the code on paper, is used up by a
 *      conditional update before anybody is let in. A crash after that costs the person one code.
 *   2. Turning it on and off ends all sessions of the account but the one passed as `keep`, which then counts as begun with it.
 *   3. The store knows codes on paper only as keyed hashes; they are told once.
 *   4. UNKNOWN is passed on: the code may be used up; the next one finds out.
 * Not promised: a bound on tries; callers throttle. */
#pragma once

#include "access/sessions.h"
#include "access/totp.h"

enum { SECOND_FACTOR_CODES = 10, SECOND_FACTOR_CODE_TEXT = 11 /* "abcde-fghij" */ };

typedef struct SecondFactor {
    bool is_on, is_offered;
    Slice secret;      /* offered: TOTP_SECRET_BYTES; otherwise empty */
    int64_t since_us;  /* when it was offered, or turned on */
    size_t codes_left; /* on paper */
} SecondFactor;

typedef struct RecoveryCodes {
    Slice codes[SECOND_FACTOR_CODES];
} RecoveryCodes;

typedef struct SecondFactorChange {
    uint64_t account;
    Slice code; /* of the device; where it says so, also one on paper */
    const Session *keep;
} SecondFactorChange;

MUST_USE Status second_factor_read(Accounts *accounts, uint64_t id, Arena *arena,
                                   SecondFactor *ret_second);
/* A new secret, or the one that was offered before. REFUSED: it is on already, or the account is not confirmed. */
MUST_USE Status second_factor_offer(Accounts *accounts, uint64_t id, Arena *arena,
                                    SecondFactor *ret_second, Reason *reason);
/* Turns on what was offered, by a code of the device. REFUSED, field `code`: that is none. */
MUST_USE Status second_factor_confirm(Accounts *accounts, const SecondFactorChange *change,
                                      Arena *arena, RecoveryCodes *ret_codes, Reason *reason);
/* Uses a code up, of the device or on paper, for a log-in. REFUSED, field `code`. */
MUST_USE Status second_factor_check(Accounts *accounts, uint64_t id, Slice code, Reason *reason);
/* Ten new codes on paper for a code of the device or on paper; the old ones are over. */
MUST_USE Status second_factor_renew(Accounts *accounts, uint64_t id, Slice code, Arena *arena,
                                    RecoveryCodes *ret_codes, Reason *reason);
/* Turns it off, by a code of the device or on paper; the caller has asked for the password. */
MUST_USE Status second_factor_drop(Accounts *accounts, const SecondFactorChange *change,
                                   Reason *reason);
/* By an operator, for who has lost both. OK also when there was none. */
MUST_USE Status second_factor_remove(Accounts *accounts, uint64_t id, Reason *reason);
