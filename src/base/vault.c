/* vault.c -- see vault.h. A sealed value: format | nonce (24 bytes) | ciphertext and tag; the associated data is the purpose, and the cell. */
#include "base/vault.h"

#include "base/bytes.h"

#include <sodium.h>
#include <stdlib.h>

enum {
    KEY = 32,
    FREE = 1,  /* formats: bound to the purpose alone, */
    BOUND = 2, /* or to a cell, too */
    NONCE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    OTHERS = 077, /* mode bits that a key file has not */
    PURPOSE_MAX = 40,
};

_Static_assert(VAULT_SEAL_EXTRA == 1 + NONCE + TAG, "what sealing adds");
_Static_assert(KEY == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "one size of keys");

static const char MARK[] = "ostraka-key-1 ";

struct Vault {
    unsigned char key[KEY], seal_key[KEY];
    char id[VAULT_ID_TEXT + 1];
    Random random; /* fill is NULL in tests: nonces from what is sealed */
};

/* ---- Keys -------------------------------------------------------------------------------------------------- */

/* A subkey or hash: BLAKE2b of a kind and a text, keyed. Kinds end in 0, so that no two pairs are the same bytes. */
static void derive(const unsigned char *key, const char *kind, Slice text, unsigned char *to)
{
    crypto_generichash_state state;
    CHECK(strlen(kind) <= PURPOSE_MAX);
    CHECK(crypto_generichash_init(&state, key, KEY, VAULT_HASH_BYTES) == 0);
    crypto_generichash_update(&state, (const unsigned char *)kind, strlen(kind) + 1);
    crypto_generichash_update(&state, (const unsigned char *)text.data, text.size);
    crypto_generichash_final(&state, to, VAULT_HASH_BYTES);
}

static Vault *vault_new(const unsigned char *key, Random random)
{
    Vault *vault = calloc(1, sizeof *vault);
    unsigned char id[VAULT_HASH_BYTES];
    CHECK(vault != NULL && sodium_init() >= 0);
    memcpy(vault->key, key, KEY);
    vault->random = random;
    derive(key, "seal", SLICE_EMPTY, vault->seal_key);
    derive(key, "id", SLICE_EMPTY, id);
    sodium_bin2hex(vault->id, sizeof vault->id, id, VAULT_ID_TEXT / 2);
    return vault;
}

void vault_free(Vault *vault)
{
    if (vault == NULL)
        return;
    sodium_memzero(vault, sizeof *vault);
    free(vault);
}

const char *vault_id(const Vault *vault)
{
    return vault->id;
}

Vault *vault_for_tests(uint64_t seed)
{
    unsigned char key[KEY] = {0};
    memcpy(key, &seed, sizeof seed);
    return vault_new(key, (Random){NULL, NULL});
}

/* ---- The file ---------------------------------------------------------------------------------------------- */

static bool parse_key(Slice text, unsigned char *ret_key)
{
    size_t mark = sizeof MARK - 1, size = 0;
    const char *end = NULL;
    return text.size == VAULT_FILE_BYTES && text.data[text.size - 1] == '\n' &&
           slice_starts_with(text, slice_of(MARK, mark)) &&
           sodium_hex2bin(ret_key, KEY, text.data + mark, (size_t)2 * KEY, NULL, &size, &end) ==
               0 &&
           size == KEY && end == text.data + mark + (size_t)2 * KEY;
}

static Status check_mode(Disk disk, const char *path, Reason *reason)
{
    int mode;
    TRY(disk_mode(disk, path, &mode, reason));
    if ((mode & OTHERS) == 0)
        return STATUS_OK;
    return reason_set(reason, STATUS_INVALID, "key_file",
                      "others may read %s (mode %03o); `chmod 600` it, and think about who has",
                      path, (unsigned)mode);
}

Status vault_open(World world, const char *path, Vault **ret_vault, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    unsigned char key[KEY];
    Slice text;
    Status status = disk_read(world.disk, path, VAULT_FILE_BYTES, arena, &text, reason);
    if (status != STATUS_OK && status != STATUS_TOO_LARGE)
        return status;
    TRY(check_mode(world.disk, path, reason));
    if (status == STATUS_TOO_LARGE || !parse_key(text, key))
        return reason_set(reason, STATUS_INVALID, "key_file",
                          "%s is not a key file; put the one that belongs to this data there",
                          path);
    *ret_vault = vault_new(key, world.random);
    sodium_memzero(key, sizeof key);
    return STATUS_OK;
}

Status vault_create(World world, const char *path, Vault **ret_vault, Reason *reason)
{
    unsigned char key[KEY];
    char text[VAULT_FILE_BYTES + 1];
    size_t mark = sizeof MARK - 1;
    random_fill(world.random, key, sizeof key);
    memcpy(text, MARK, mark);
    sodium_bin2hex(text + mark, sizeof text - mark, key, sizeof key);
    text[VAULT_FILE_BYTES - 1] = '\n';
    Status status = disk_replace(world.disk, path, 0600, slice_of(text, VAULT_FILE_BYTES), reason);
    if (status == STATUS_OK)
        *ret_vault = vault_new(key, world.random);
    sodium_memzero(key, sizeof key);
    sodium_memzero(text, sizeof text);
    return status;
}

/* ---- Sealing ----------------------------------------------------------------------------------------------- */

static void make_nonce(const Vault *vault, Slice plain, unsigned char *nonce)
{
    unsigned char hash[VAULT_HASH_BYTES];
    if (vault->random.fill != NULL) {
        random_fill(vault->random, nonce, NONCE);
        return;
    }
    derive(vault->key, "nonce", plain, hash);
    memcpy(nonce, hash, NONCE);
}

static Slice seal(const Vault *vault, unsigned char format, Slice bound, Slice plain, Arena *arena)
{
    unsigned char *sealed = (unsigned char *)arena_bytes(arena, VAULT_SEAL_EXTRA + plain.size);
    sealed[0] = format;
    make_nonce(vault, plain, sealed + 1);
    CHECK(crypto_aead_xchacha20poly1305_ietf_encrypt(sealed + 1 + NONCE, NULL,
                                                     (const unsigned char *)plain.data, plain.size,
                                                     (const unsigned char *)bound.data, bound.size,
                                                     NULL, sealed + 1, vault->seal_key) == 0);
    return slice_of(sealed, VAULT_SEAL_EXTRA + plain.size);
}

static Status unseal(const Vault *vault, Slice bound, Slice sealed, Arena *arena, Slice *ret_plain)
{
    const unsigned char *bytes = (const unsigned char *)sealed.data;
    size_t size = sealed.size - VAULT_SEAL_EXTRA;
    char *plain = arena_bytes(arena, size);
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(
            (unsigned char *)plain, NULL, NULL, bytes + 1 + NONCE, size + TAG,
            (const unsigned char *)bound.data, bound.size, bytes + 1, vault->seal_key) != 0)
        return STATUS_CORRUPT;
    *ret_plain = slice_of(plain, size);
    return STATUS_OK;
}

static bool has_format(Slice sealed, char format)
{
    return sealed.size >= VAULT_SEAL_EXTRA && sealed.data[0] == format;
}

Slice vault_seal(const Vault *vault, const char *purpose, Slice plain, Arena *arena)
{
    return seal(vault, FREE, slice_from(purpose), plain, arena);
}

Status vault_unseal(const Vault *vault, const char *purpose, Slice sealed, Arena *arena,
                    Slice *ret_plain)
{
    return has_format(sealed, FREE) ? unseal(vault, slice_from(purpose), sealed, arena, ret_plain)
                                    : STATUS_CORRUPT;
}

/* Each part ends by 0 or has its size before it, so that no two cells are the same bytes. */
static void put_cell(Buffer *out, const VaultCell *cell, const char *purpose)
{
    buffer_bytes(out, slice_of(purpose, strlen(purpose) + 1));
    const Slice parts[] = {cell->table, cell->row, cell->column};
    for (int i = 0; i < 3; i++) {
        buffer_u32(out, (uint32_t)parts[i].size);
        buffer_bytes(out, parts[i]);
    }
}

Slice vault_seal_at(const VaultCell *cell, const char *purpose, Slice plain, Arena *arena)
{
    BUFFER_SCOPE Buffer bound = {0};
    put_cell(&bound, cell, purpose);
    return seal(cell->vault, BOUND, buffer_slice(&bound), plain, arena);
}

Status vault_unseal_at(const VaultCell *cell, const char *purpose, Slice sealed, Arena *arena,
                       Slice *ret_plain)
{
    BUFFER_SCOPE Buffer bound = {0};
    if (!has_format(sealed, BOUND))
        return vault_unseal(cell->vault, purpose, sealed, arena, ret_plain);
    put_cell(&bound, cell, purpose);
    return unseal(cell->vault, buffer_slice(&bound), sealed, arena, ret_plain);
}

/* ---- Hashing ----------------------------------------------------------------------------------------------- */

Slice vault_hash(const Vault *vault, const char *purpose, Slice text, Arena *arena)
{
    unsigned char subkey[VAULT_HASH_BYTES];
    unsigned char *hash = (unsigned char *)arena_bytes(arena, VAULT_HASH_BYTES);
    derive(vault->key, "hash", slice_from(purpose), subkey);
    derive(subkey, purpose, text, hash);
    sodium_memzero(subkey, sizeof subkey);
    return slice_of(hash, VAULT_HASH_BYTES);
}
