/* cached_rows.c -- what is kept in memory of accounts and sessions, for pages: see accounts.h, promise 5, and base/read_cache.h.
 *
 * Every write to an account's row goes through rows.c, and every write to a session's through sessions.c; both drop the copy when the
 * store has answered, whatever it said. A crash leaves nothing behind: copies die with the process. */
#include "accounts/accounts_private.h"

CopyKey copy_key(const Accounts *accounts, CopyKind kind, Slice key)
{
    uint64_t generation = store_generation(accounts->store);
    CopyKey name = {.size = 1 + sizeof generation + key.size};
    CHECK(name.size <= COPY_KEY);
    name.bytes[0] = (char)kind;
    memcpy(name.bytes + 1, &generation, sizeof generation);
    memcpy(name.bytes + 1 + sizeof generation, key.data, key.size);
    return name;
}

CopyKey copy_key_of(const Accounts *accounts, CopyKind kind, uint64_t account)
{
    return copy_key(accounts, kind, slice_of(&account, sizeof account));
}

static void forget(Accounts *accounts, CopyKey key)
{
    read_cache_forget(accounts->read_cache, copy_key_slice(&key));
}

void cached_rows_forget_account(Accounts *accounts, uint64_t id)
{
    forget(accounts, copy_key_of(accounts, COPY_ACCOUNT, id));
    forget(accounts, copy_key_of(accounts, COPY_WATCH, id));
}

/* What stands in the store as a key and is none was never kept. */
void cached_rows_forget_session(Accounts *accounts, Slice key)
{
    if (key.size > COPY_OF)
        return;
    forget(accounts, copy_key(accounts, COPY_SESSION, key));
}

/* ---- Accounts ------------------------------------------------------------------------------------------------ */

enum { TEXTS = 4 };

static void texts_of(Account *account, Slice *texts[TEXTS])
{
    texts[0] = &account->name;
    texts[1] = &account->email;
    texts[2] = &account->real_name;
    texts[3] = &account->password_hash;
}

/* The struct, then its texts one after the other; where they point to is set when it is taken out. */
static Slice pack(Account account, Arena *arena)
{
    Slice *texts[TEXTS];
    size_t size = sizeof account;
    texts_of(&account, texts);
    for (int i = 0; i < TEXTS; i++)
        size += texts[i]->size;
    char *bytes = arena_bytes(arena, size), *at = bytes + sizeof account;
    memcpy(bytes, &account, sizeof account);
    for (int i = 0; i < TEXTS; i++) {
        if (texts[i]->size > 0)
            memcpy(at, texts[i]->data, texts[i]->size);
        at += texts[i]->size;
    }
    return slice_of(bytes, size);
}

static Account unpack(Slice bytes)
{
    Account account;
    Slice *texts[TEXTS];
    memcpy(&account, bytes.data, sizeof account);
    texts_of(&account, texts);
    const char *at = bytes.data + sizeof account;
    for (int i = 0; i < TEXTS; i++) {
        *texts[i] = slice_of(at, texts[i]->size);
        at += texts[i]->size;
    }
    return account;
}

Status accounts_recent(Accounts *accounts, uint64_t id, Arena *arena, Account *ret_account)
{
    CachedBytes copy;
    CopyKey key = copy_key_of(accounts, COPY_ACCOUNT, id);
    if (read_cache_find(accounts->read_cache, copy_key_slice(&key), arena, &copy)) {
        *ret_account = unpack(copy.bytes);
        return STATUS_OK;
    }
    TRY(accounts_read(accounts, id, arena, ret_account));
    copy.bytes = pack(*ret_account, arena);
    read_cache_put(accounts->read_cache, copy_key_slice(&key), &copy);
    return STATUS_OK;
}
