/* password.c -- bcrypt through libxcrypt, which takes the salts from the kernel. The handle's `self` is the cost. */
#include "accounts/accounts.h"

#include <crypt.h>
#include <sodium.h>
#include <stdlib.h>

enum { COST_LEAST = 4, COST_MAX = 15 };

/* The scratch memory knows the password. */
typedef struct Scratch {
    void *data;
    int size;
} Scratch;

static void scratch_free(Scratch *scratch)
{
    if (scratch->data != NULL)
        sodium_memzero(scratch->data, (size_t)scratch->size);
    free(scratch->data);
}
#define SCRATCH_SCOPE __attribute__((cleanup(scratch_free)))

/* NULL when the setting is not one that libxcrypt knows. The result lives in `scratch`. */
static const char *compute(Slice password, const char *setting, Scratch *scratch)
{
    char phrase[ACCOUNT_PASSWORD_BYTES + 1];
    CHECK(password.size <= ACCOUNT_PASSWORD_BYTES);
    if (password.size > 0)
        memcpy(phrase, password.data, password.size);
    phrase[password.size] = '\0';
    const char *hash = crypt_ra(phrase, setting, &scratch->data, &scratch->size);
    sodium_memzero(phrase, sizeof phrase);
    return hash;
}

static Status bcrypt_hash(void *self, Slice password, Arena *arena, Slice *ret_hash)
{
    SCRATCH_SCOPE Scratch scratch = {NULL, 0};
    char setting[CRYPT_GENSALT_OUTPUT_SIZE];
    unsigned long cost = (unsigned long)(uintptr_t)self;
    if (crypt_gensalt_rn("$2b$", cost, NULL, 0, setting, sizeof setting) == NULL)
        return STATUS_UNAVAILABLE;
    const char *hash = compute(password, setting, &scratch);
    if (hash == NULL)
        return STATUS_UNAVAILABLE;
    *ret_hash = arena_copy(arena, slice_from(hash));
    return STATUS_OK;
}

static bool bcrypt_check(void *self, Slice password, Slice hash)
{
    SCRATCH_SCOPE Scratch scratch = {NULL, 0};
    char setting[CRYPT_OUTPUT_SIZE];
    (void)self; /* the hash says its own cost */
    if (hash.size == 0 || hash.size >= sizeof setting)
        return false;
    memcpy(setting, hash.data, hash.size);
    setting[hash.size] = '\0';
    const char *again = compute(password, setting, &scratch);
    return again != NULL && strlen(again) == hash.size &&
           sodium_memcmp(again, hash.data, hash.size) == 0;
}

PasswordHasher password_bcrypt(int cost)
{
    CHECK(cost >= COST_LEAST && cost <= COST_MAX);
    return (PasswordHasher){bcrypt_hash, bcrypt_check, (void *)(uintptr_t)cost};
}
