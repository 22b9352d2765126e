/* vault_test.c -- sealing, hashing, and the key's file. */
#include "base/vault.h"

#include <sys/stat.h>

#include "test.h"

static Arena *arena;

static Vault *fresh(const char *path)
{
    Vault *vault = NULL;
    Reason reason = {.rule = ""};
    EXPECT_STATUS(vault_create(world_real(), path, &vault, &reason), STATUS_OK);
    return vault;
}

static const char *key_path(void)
{
    return arena_text(arena, arena_print(arena, "%s/data.key", test_directory()));
}

TEST(what_is_sealed_opens_for_its_purpose_and_no_other)
{
    arena = arena_new();
    Vault *vault = fresh(key_path());
    Slice plain, texts[] = {SLICE(""), SLICE("a"), SLICE("alice@example.org")};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        Slice sealed = vault_seal(vault, "account", texts[i], arena);
        EXPECT_I64(sealed.size, texts[i].size + VAULT_SEAL_EXTRA);
        EXPECT_STATUS(vault_unseal(vault, "account", sealed, arena, &plain), STATUS_OK);
        EXPECT_SLICE(plain, texts[i]);
        EXPECT_STATUS(vault_unseal(vault, "mail", sealed, arena, &plain), STATUS_CORRUPT);
        EXPECT(!slice_equal(sealed, vault_seal(vault, "account", texts[i], arena)));
    }
    vault_free(vault);
    arena_free(arena);
}

TEST(any_byte_that_changes_is_noticed)
{
    arena = arena_new();
    Vault *vault = vault_for_tests(1), *other = vault_for_tests(2);
    Slice plain = SLICE("unchanged"), sealed = vault_seal(vault, "p", SLICE("some text"), arena);
    for (size_t i = 0; i < sealed.size; i++) {
        char *changed = arena_bytes(arena, sealed.size);
        memcpy(changed, sealed.data, sealed.size);
        changed[i] = (char)(changed[i] ^ 1);
        EXPECT_STATUS(vault_unseal(vault, "p", slice_of(changed, sealed.size), arena, &plain),
                      STATUS_CORRUPT);
        EXPECT_STATUS(vault_unseal(vault, "p", slice_of(sealed.data, i), arena, &plain),
                      STATUS_CORRUPT);
    }
    EXPECT_STATUS(vault_unseal(other, "p", sealed, arena, &plain), STATUS_CORRUPT);
    EXPECT_SLICE(plain, SLICE("unchanged"));
    vault_free(vault);
    vault_free(other);
    arena_free(arena);
}

TEST(hashes_are_equal_for_equal_text_purpose_and_key_only)
{
    arena = arena_new();
    Vault *vault = vault_for_tests(1), *same = vault_for_tests(1), *other = vault_for_tests(2);
    Slice hash = vault_hash(vault, "email", SLICE("a@example.org"), arena);
    EXPECT_I64(hash.size, VAULT_HASH_BYTES);
    EXPECT_SLICE(vault_hash(same, "email", SLICE("a@example.org"), arena), hash);
    EXPECT(!slice_equal(hash, vault_hash(vault, "email", SLICE("b@example.org"), arena)));
    EXPECT(!slice_equal(hash, vault_hash(vault, "signal", SLICE("a@example.org"), arena)));
    EXPECT(!slice_equal(hash, vault_hash(other, "email", SLICE("a@example.org"), arena)));
    EXPECT(strcmp(vault_id(vault), vault_id(same)) == 0);
    EXPECT(strcmp(vault_id(vault), vault_id(other)) != 0);
    EXPECT_I64(strlen(vault_id(vault)), VAULT_ID_TEXT);
    vault_free(vault);
    vault_free(same);
    vault_free(other);
    arena_free(arena);
}

TEST(a_key_file_is_private_and_opens_to_the_same_key)
{
    arena = arena_new();
    const char *path = key_path();
    Vault *made = fresh(path), *again = NULL;
    struct stat info;
    Slice plain, sealed = vault_seal(made, "p", SLICE("text"), arena);
    EXPECT(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
    EXPECT_STATUS(vault_open(world_real(), path, &again, NULL), STATUS_OK);
    EXPECT(strcmp(vault_id(made), vault_id(again)) == 0);
    EXPECT_STATUS(vault_unseal(again, "p", sealed, arena, &plain), STATUS_OK);
    EXPECT_SLICE(plain, SLICE("text"));
    vault_free(made);
    vault_free(again);
    arena_free(arena);
}

/* Refused with a sentence that names the file; and nothing is handed out. */
static void expect_refused(const char *path, Status status)
{
    Vault *vault = NULL;
    Reason reason = {.rule = ""};
    EXPECT_STATUS(vault_open(world_real(), path, &vault, &reason), status);
    EXPECT(vault == NULL && strstr(reason.rule, "data.key") != NULL);
}

TEST(a_key_that_is_missing_damaged_or_open_to_others_is_refused)
{
    arena = arena_new();
    const char *path = key_path();
    Disk disk = world_real().disk;
    Slice text;
    expect_refused(path, STATUS_NOT_FOUND);
    vault_free(fresh(path));
    EXPECT_STATUS(disk_read(disk, path, 1000, arena, &text, NULL), STATUS_OK);
    EXPECT_I64(text.size, VAULT_FILE_BYTES);
    static const int MODES[] = {0640, 0604, 0660, 0644};
    for (size_t i = 0; i < sizeof MODES / sizeof MODES[0]; i++) {
        EXPECT(chmod(path, (mode_t)MODES[i]) == 0);
        expect_refused(path, STATUS_INVALID);
    }
    Slice bad[] = {SLICE_EMPTY,
                   SLICE("\n"),
                   slice_of(text.data, text.size - 1),
                   slice_after(text, 1),
                   arena_print(arena, "%.*s\n", SLICE_ARG(text)),
                   arena_print(arena, "ostraka-key-2 %.*s", SLICE_ARG(slice_after(text, 14))),
                   arena_print(arena, "%.*sg\n", (int)text.size - 2, text.data)};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        EXPECT_STATUS(disk_replace(disk, path, 0600, bad[i], NULL), STATUS_OK);
        expect_refused(path, STATUS_INVALID);
    }
    arena_free(arena);
}

TEST(what_is_sealed_for_a_cell_opens_there_alone)
{
    arena = arena_new();
    Vault *vault = vault_for_tests(1);
    const VaultCell cell = {vault, SLICE("accounts"), SLICE("row 1"), SLICE("head")};
    const VaultCell others[] = {
        {vault, SLICE("reports"), SLICE("row 1"), SLICE("head")},
        {vault, SLICE("accounts"), SLICE("row 2"), SLICE("head")},
        {vault, SLICE("accounts"), SLICE("row 1"), SLICE("tokens")},
        {vault, SLICE("accountsr"), SLICE("ow 1"), SLICE("head")},
        {vault, SLICE("accounts"), SLICE("row 1h"), SLICE("ead")},
    };
    Slice plain = SLICE("unchanged"), sealed = vault_seal_at(&cell, "p", SLICE("text"), arena);
    EXPECT_STATUS(vault_unseal_at(&cell, "p", sealed, arena, &plain), STATUS_OK);
    EXPECT_SLICE(plain, SLICE("text"));
    EXPECT_STATUS(vault_unseal_at(&cell, "q", sealed, arena, &plain), STATUS_CORRUPT);
    EXPECT_STATUS(vault_unseal(vault, "p", sealed, arena, &plain), STATUS_CORRUPT);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        EXPECT_STATUS(vault_unseal_at(&others[i], "p", sealed, arena, &plain), STATUS_CORRUPT);
    char *older = arena_bytes(arena, sealed.size); /* another format is no way around it */
    memcpy(older, sealed.data, sealed.size);
    older[0] = 1;
    EXPECT_STATUS(vault_unseal_at(&cell, "p", slice_of(older, sealed.size), arena, &plain),
                  STATUS_CORRUPT);
    /* What was sealed before there were cells. */
    Slice old = vault_seal(vault, "p", SLICE("older"), arena);
    EXPECT_STATUS(vault_unseal_at(&cell, "p", old, arena, &plain), STATUS_OK);
    EXPECT_SLICE(plain, SLICE("older"));
    vault_free(vault);
    arena_free(arena);
}
