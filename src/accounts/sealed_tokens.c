/* sealed_tokens.c -- what a link of an e-mail says, sealed and in letters that an address takes: see accounts_private.h. */
#include <sodium.h>

#include "accounts/accounts_private.h"

enum { TOKEN_TEXT = 200, VARIANT = sodium_base64_VARIANT_URLSAFE_NO_PADDING };

Slice sealed_token(const Accounts *accounts, const char *purpose, Slice plain, Arena *arena)
{
    Slice sealed = vault_seal(accounts->vault, purpose, plain, arena);
    size_t size = sodium_base64_encoded_len(sealed.size, VARIANT);
    char *text = arena_bytes(arena, size);
    CHECK(size <= TOKEN_TEXT);
    sodium_bin2base64(text, size, (const unsigned char *)sealed.data, sealed.size, VARIANT);
    return slice_of(text, size - 1);
}

Status sealed_token_open(const Accounts *accounts, const char *purpose, Slice token,
                         size_t plain_size, Arena *arena, Slice *ret_plain)
{
    unsigned char sealed[TOKEN_TEXT];
    size_t size = 0;
    Slice plain;
    if (token.size > TOKEN_TEXT ||
        sodium_base642bin(sealed, sizeof sealed, token.data, token.size, NULL, &size, NULL,
                          VARIANT) != 0 ||
        vault_unseal(accounts->vault, purpose, slice_of(sealed, size), arena, &plain) !=
            STATUS_OK ||
        plain.size != plain_size)
        return STATUS_INVALID;
    *ret_plain = plain;
    return STATUS_OK;
}
