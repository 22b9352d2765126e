/* secrets.c -- secrets that people carry: 32 bytes, as text for cookies and links. See access_private.h. */
#include "access/access_private.h"

#include <sodium.h>

enum { VARIANT = sodium_base64_VARIANT_URLSAFE_NO_PADDING };

_Static_assert(sodium_base64_ENCODED_LEN(SECRET_BYTES, VARIANT) == SECRET_TEXT + 1, "and a NUL");

Slice secret_text(const char *bytes, Arena *arena)
{
    char *text = arena_bytes(arena, SECRET_TEXT + 1);
    sodium_bin2base64(text, SECRET_TEXT + 1, (const unsigned char *)bytes, SECRET_BYTES, VARIANT);
    return slice_of(text, SECRET_TEXT);
}

bool secret_bytes(Slice text, char *ret_bytes)
{
    size_t size = 0;
    const char *end = NULL;
    return text.size == SECRET_TEXT &&
           sodium_base642bin((unsigned char *)ret_bytes, SECRET_BYTES, text.data, text.size, NULL,
                             &size, &end, VARIANT) == 0 &&
           size == SECRET_BYTES && end == text.data + text.size;
}

void secret_make(const Accounts *accounts, uint64_t account, char *ret_bytes)
{
    bytes_put_u64(ret_bytes, account);
    random_fill(accounts->world.random, ret_bytes + sizeof account, SECRET_BYTES - sizeof account);
}

bool secret_equal(Slice a, Slice b)
{
    return a.size == b.size && sodium_memcmp(a.data, b.data, a.size) == 0;
}
