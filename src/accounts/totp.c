/* totp.c -- see totp.h. */
#include "accounts/totp.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sodium.h>

#include "base/bytes.h"
#include "base/world.h"

enum { MODULUS = 1000000, MAC_BYTES = 20 };

/* Dynamic truncation: the low four bits of the MAC say where in it the number stands. */
uint32_t totp_code(Slice secret, int64_t step)
{
    unsigned char message[sizeof step], mac[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    bytes_put_u64((char *)message, (uint64_t)step);
    CHECK(HMAC(EVP_sha1(), secret.data, (int)secret.size, message, sizeof message, mac, &size) !=
              NULL &&
          size == MAC_BYTES);
    const unsigned char *at = mac + (mac[MAC_BYTES - 1] & 15);
    uint32_t number = (uint32_t)(at[0] & 127) << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 |
                      (uint32_t)at[3];
    return number % MODULUS;
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

static void write_digits(uint32_t number, char ret_digits[TOTP_DIGITS])
{
    for (int i = TOTP_DIGITS - 1; i >= 0; i--, number /= 10)
        ret_digits[i] = (char)('0' + number % 10);
}

bool totp_match(Slice secret, Slice code, int64_t now_us, int64_t last_step, int64_t *ret_step)
{
    char typed[TOTP_DIGITS], right[TOTP_DIGITS];
    int64_t now = totp_step(now_us), found = -1;
    if (!read_digits(code, typed))
        return false;
    for (int64_t step = now - TOTP_SKEW; step <= now + TOTP_SKEW; step++) {
        write_digits(totp_code(secret, step), right);
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
    static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    char *text = arena_bytes(arena, TOTP_SECRET_TEXT);
    uint64_t bits = 0;
    unsigned held = 0;
    size_t size = 0;
    CHECK(secret.size == TOTP_SECRET_BYTES);
    for (size_t i = 0; i < secret.size; i++) {
        bits = bits << 8 | (unsigned char)secret.data[i];
        for (held += 8; held >= 5; held -= 5)
            text[size++] = LETTERS[bits >> (held - 5) & 31];
    }
    CHECK(size == TOTP_SECRET_TEXT && held == 0);
    return slice_of(text, size);
}

static void put_escaped(Buffer *out, Slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '.' || c == '_' || c == '~';
        if (plain)
            buffer_u8(out, c);
        else
            buffer_print(out, "%%%02X", c);
    }
}

Slice totp_link(Slice secret, Slice site, Slice name, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    Slice text = totp_secret_text(secret, arena);
    buffer_text(&out, "otpauth://totp/");
    put_escaped(&out, site);
    buffer_text(&out, ":");
    put_escaped(&out, name);
    buffer_print(&out, "?secret=%.*s&issuer=", SLICE_ARG(text));
    put_escaped(&out, site);
    return arena_copy(arena, buffer_slice(&out));
}
