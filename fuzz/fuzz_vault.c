/* fuzz_vault.c -- opening what somebody put in place of a sealed value.
 *
 * Any bytes are CORRUPT, but for what this key sealed; a sealed text opens to itself, and not when one byte of it differs. */
#include "base/vault.h"
#include "fuzz.h"

static Vault *vault;

static void check_round_trip(Slice input, Arena *arena)
{
    Slice plain, sealed = vault_seal(vault, "fuzz", input, arena);
    CHECK(vault_unseal(vault, "fuzz", sealed, arena, &plain) == STATUS_OK);
    CHECK(slice_equal(plain, input));
    size_t at = input.size > 0 ? (unsigned char)input.data[0] % sealed.size : 0;
    char *changed = arena_bytes(arena, sealed.size);
    memcpy(changed, sealed.data, sealed.size);
    changed[at] = (char)(changed[at] ^ 0x20);
    CHECK(vault_unseal(vault, "fuzz", slice_of(changed, sealed.size), arena, &plain) ==
          STATUS_CORRUPT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice plain, input = slice_of(data, size);
    if (vault == NULL)
        vault = vault_for_tests(1);
    CHECK(vault_unseal(vault, "fuzz", input, arena, &plain) == STATUS_CORRUPT);
    check_round_trip(input, arena);
    return 0;
}
