/* totp.c -- see totp.h. */
#include "access/totp.h"

#include <liboath/oath.h>
#include <sodium.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/world.h"

void totp_code(Slice secret, int64_t step, char ret_code[TOTP_DIGITS + 1])
{
    CHECK(oath_hotp_generate(secret.data, secret.size, (uint64_t)step, TOTP_DIGITS, false,
                             OATH_HOTP_DYNAMIC_TRUNCATION, ret_code) == OATH_OK);
}

int64_t totp_step(int64_t now_us)
{
    return now_us / (TOTP_STEP_S * US_PER_S);
}

/* Apps show "123 456", and people copy it so. */
static bool read_digits(Slice code, char ret_digits[TOTP_DIGITS])
{
    size_t count = 0;
    for (size_t i = 0; i < code.size; i++) {
        char c = code.data[i];
        if (c == ' ')
            continue;
        if (c < '0' || c > '9' || count == TOTP_DIGITS)
            return false;
        ret_digits[count++] = c;
    }
    return count == TOTP_DIGITS;
}

/* Not by oath_totp_validate: it stops at the first code that fits, compares by strcmp, and does not know which steps were used. */
bool totp_match(Slice secret, Slice code, int64_t now_us, int64_t last_step, int64_t *ret_step)
{
    char typed[TOTP_DIGITS], right[TOTP_DIGITS + 1];
    int64_t now = totp_step(now_us), found = -1;
    if (!read_digits(code, typed))
        return false;
    for (int64_t step = now - TOTP_SKEW; step <= now + TOTP_SKEW; step++) {
        totp_code(secret, step, right);
        if (sodium_memcmp(typed, right, TOTP_DIGITS) == 0 && step > last_step && found < 0)
            found = step;
    }
    if (found < 0)
        return false;
    *ret_step = found;
    return true;
}

Slice totp_secret_text(Slice secret, Arena *arena)
{
    char *text = NULL;
    size_t size = 0;
    CHECK(secret.size == TOTP_SECRET_BYTES);
    CHECK(oath_base32_encode(secret.data, secret.size, &text, &size) == OATH_OK &&
          size == TOTP_SECRET_TEXT);
    Slice kept = arena_copy(arena, slice_of(text, size));
    sodium_memzero(text, size);
    free(text);
    return kept;
}

Slice totp_link(Slice secret, Slice site, Slice name, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    Slice text = totp_secret_text(secret, arena);
    buffer_text(&out, "otpauth://totp/");
    buffer_url_escaped(&out, site);
    buffer_text(&out, ":");
    buffer_url_escaped(&out, name);
    buffer_print(&out, "?secret=%.*s&issuer=", SLICE_ARG(text));
    buffer_url_escaped(&out, site);
    return arena_copy(arena, buffer_slice(&out));
}
