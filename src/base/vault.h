/* vault.h -- the site's key: personal data is sealed with it, and looked up by hashes that need it.
 *
 * One key of 32 bytes stands in a file beside the data directory and never in the store or in a backup of it: who has a copy of the
 * data alone reads no e-mail and cannot try addresses against the hashes. Everything else is made from that key: a key for sealing,
 * and one for hashing for each purpose. A *purpose* is a short constant word of the module that uses it ("account", "session"); what was
 * sealed for one opens for no other, and the hashes of one say nothing about those of another.
 *   1. vault_unseal gives back exactly what was sealed for that purpose, and CORRUPT for anything else; vault_unseal_at only in the cell that it was
 *      sealed for, so that who can write to the store, but has no key, cannot move it to another row, table or column. What was sealed before cells
 *      were bound to their place (the first byte tells) is still opened anywhere; it is bound when it is written again.
 *   2. Two seals of the same text differ (a nonce of 24 random bytes), two hashes of it are equal.
 *   3. A key file is 0600 when it is made; one that others can read is refused, as is one that is no key.
 * Not promised: that a sealed value is the newest that stood in its cell; who can write to the store can put an old one back.
 * XChaCha20-Poly1305 and BLAKE2b by libsodium. All calls but vault_free may come from any thread. */
#pragma once

#include "base/world.h"

typedef struct Vault Vault;

enum {
    VAULT_HASH_BYTES = 32,
    VAULT_SEAL_EXTRA = 1 + 24 + 16, /* what sealing adds: format, nonce, tag */
    VAULT_ID_TEXT = 16,             /* characters of vault_id */
    VAULT_FILE_BYTES = 14 + 64 + 1, /* "ostraka-key-1 ", hexadecimal digits, line end */
};

/* NOT_FOUND when there is no such file; INVALID with what to do when it is not a key or when others may read it. */
MUST_USE Status vault_open(World world, const char *path, Vault **ret_vault, Reason *reason);
/* Makes a new key and its file, in whose place nothing of value may stand; durable after OK. */
MUST_USE Status vault_create(World world, const char *path, Vault **ret_vault, Reason *reason);
/* The same seed is the same key; nonces are made from what is sealed, so that runs can be repeated. For tests, simulator, benchmarks. */
Vault *vault_for_tests(uint64_t seed);
void vault_free(Vault *vault);

/* Names the key without telling it: 16 hexadecimal digits. The store keeps it, so that a foreign key is noticed at the start. */
const char *vault_id(const Vault *vault);

/* For what is in no cell: cookies, and addresses in e-mails. */
Slice vault_seal(const Vault *vault, const char *purpose, Slice plain, Arena *arena);
MUST_USE Status vault_unseal(const Vault *vault, const char *purpose, Slice sealed, Arena *arena,
                             Slice *ret_plain);
/* A cell of the store: what is sealed for it opens there alone. */
typedef struct VaultCell {
    const Vault *vault;
    Slice table, row, column;
} VaultCell;
Slice vault_seal_at(const VaultCell *cell, const char *purpose, Slice plain, Arena *arena);
MUST_USE Status vault_unseal_at(const VaultCell *cell, const char *purpose, Slice sealed,
                                Arena *arena, Slice *ret_plain);
/* VAULT_HASH_BYTES bytes. */
Slice vault_hash(const Vault *vault, const char *purpose, Slice text, Arena *arena);
