/* signals.c -- what accounts have in common. See accounts.h.
 *
 * Each signal is noted twice: row s/<kind><hash> has a cell for each account, row a/<account> a cell for each of its signals. The
 * hash is keyed (base/vault.h), the value itself is nowhere. The notes are marks of the update that makes the account's row, so an account never stands without them. */
#include "accounts/accounts_private.h"

const char *account_signal_reason(AccountSignal signal)
{
    static const char *const REASONS[] = WORDS(ACCOUNT_SIGNAL_LIST, WORD_2);
    return word_of(REASONS, signal);
}

Status signals_check(const Registration *registration, Reason *reason)
{
    const struct {
        const char *field;
        Slice value;
    } INPUTS[] = {{"address", registration->address}, {"cookie", registration->cookie}};
    for (int i = 0; i < 2; i++)
        if (INPUTS[i].value.size > SIGNAL_BYTES)
            return reason_set(reason, STATUS_INVALID, INPUTS[i].field, "at most %d bytes",
                              SIGNAL_BYTES);
    return STATUS_OK;
}

/* The same value as two signals has two hashes. */
static Slice signal_hash(const Accounts *accounts, AccountSignal signal, Slice value, Arena *arena)
{
    static const char *const PURPOSES[] = {
        [SIGNAL_EMAIL] = "signal email",
        [SIGNAL_ADDRESS] = "signal address",
        [SIGNAL_COOKIE] = "signal cookie",
    };
    return vault_hash(accounts->vault, PURPOSES[signal], value, arena);
}

/* The kind as one byte, then the hash: a column of an account's row, and behind s/ a row of its own. */
static Slice signal_key(const char *prefix, AccountSignal signal, Slice hash, Arena *arena)
{
    size_t start = strlen(prefix);
    char *key = arena_bytes(arena, start + 1 + hash.size);
    memcpy(key, prefix, start);
    key[start] = (char)signal;
    memcpy(key + start + 1, hash.data, hash.size);
    return slice_of(key, start + 1 + hash.size);
}

static Slice account_row(uint64_t id, Arena *arena)
{
    char *row = arena_bytes(arena, 2 + sizeof id);
    memcpy(row, "a/", 2);
    bytes_put_u64(row + 2, id);
    return slice_of(row, 2 + sizeof id);
}

Batch signals_of(Accounts *accounts, uint64_t id, const Registration *registration,
                 Slice folded_email, Arena *arena)
{
    const Slice values[SIGNAL_COUNT] = {
        [SIGNAL_EMAIL] = account_email_signal(folded_email, arena),
        [SIGNAL_ADDRESS] = registration->address,
        [SIGNAL_COOKIE] = registration->cookie,
    };
    int64_t now_us = clock_now_us(accounts->world.clock);
    RowChange *changes = ARENA_ARRAY(arena, (size_t)2 * SIGNAL_COUNT, RowChange);
    int64_t ttl_s = atomic_load(&accounts->signals_days) * S_PER_DAY;
    char *time = arena_bytes(arena, sizeof now_us);
    size_t count = 0;
    bytes_put_u64(time, (uint64_t)now_us);
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        AccountSignal signal = (AccountSignal)i;
        if (values[i].size == 0)
            continue;
        Change change = {
            .value = slice_of(time, sizeof now_us), .timestamp = now_us, .ttl_s = ttl_s};
        Slice hash = signal_hash(accounts, signal, values[i], arena);
        change.column = row_key(id, arena);
        changes[count++] =
            (RowChange){&TABLE_SIGNALS, signal_key("s/", signal, hash, arena), change};
        change.column = signal_key("", signal, hash, arena);
        changes[count++] = (RowChange){&TABLE_SIGNALS, account_row(id, arena), change};
    }
    return (Batch){.changes = changes, .count = count};
}

/* ---- Reading ----------------------------------------------------------------------------------------------- */

typedef struct SharedList {
    SharedSignal *shared;
    size_t count;
} SharedList;

/* A registration that came to nothing is no duplicate. */
static Status is_void(Accounts *accounts, uint64_t id, Arena *arena, bool *ret_void)
{
    AccountRow row;
    Status status = row_read(accounts, id, arena, &row);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    *ret_void = status == STATUS_NOT_FOUND || row.head.state == ACCOUNT_VOID;
    return STATUS_OK;
}

static Slice tag_of(Slice hash, Arena *arena)
{
    BUFFER_SCOPE Buffer tag = {0};
    for (size_t i = 0; i < SIGNAL_TAG / 2; i++)
        buffer_print(&tag, "%02x", (unsigned char)hash.data[i]);
    return arena_copy(arena, buffer_slice(&tag));
}

static Status add_shared(Accounts *accounts, uint64_t id, AccountSignal signal, Slice hash,
                         Arena *arena, SharedList *list)
{
    Query query = {.table = &TABLE_SIGNALS,
                   .row = signal_key("s/", signal, hash, arena),
                   .from = SLICE_EMPTY,
                   .to = SLICE_EMPTY,
                   .after = SLICE_EMPTY,
                   .reverse = true,
                   .limit = SIGNAL_SHARED_MAX};
    Slice tag = tag_of(hash, arena);
    Page page;
    TRY(store_slice(accounts->store, &query, arena, &page));
    for (size_t i = 0; i < page.count; i++) {
        const Cell *cell = &page.cells[i];
        bool gone;
        if (cell->column.size != sizeof id || cell->value.size != sizeof(int64_t))
            return STATUS_CORRUPT;
        SharedSignal other = {.account = bytes_get_u64(cell->column.data),
                              .signal = signal,
                              .tag = tag,
                              .time_us = (int64_t)bytes_get_u64(cell->value.data)};
        if (other.account == id)
            continue;
        TRY(is_void(accounts, other.account, arena, &gone));
        if (!gone)
            list->shared[list->count++] = other;
    }
    return STATUS_OK;
}

Status accounts_signals(Accounts *accounts, uint64_t id, Arena *arena, SharedSignal **ret_shared,
                        size_t *ret_count)
{
    Query query = {.table = &TABLE_SIGNALS,
                   .row = account_row(id, arena),
                   .from = SLICE_EMPTY,
                   .to = SLICE_EMPTY,
                   .after = SLICE_EMPTY,
                   .limit = SIGNAL_COUNT};
    Page page;
    TRY(store_slice(accounts->store, &query, arena, &page));
    SharedList list = {ARENA_ARRAY(arena, page.count * SIGNAL_SHARED_MAX, SharedSignal), 0};
    for (size_t i = 0; i < page.count; i++) {
        Reader reader = reader_of(page.cells[i].column);
        AccountSignal signal = (AccountSignal)reader_u8(&reader);
        Slice hash = reader_rest(&reader);
        if (hash.size != VAULT_HASH_BYTES || signal >= SIGNAL_COUNT)
            return STATUS_CORRUPT;
        TRY(add_shared(accounts, id, signal, hash, arena, &list));
    }
    *ret_shared = list.shared;
    *ret_count = list.count;
    return STATUS_OK;
}
