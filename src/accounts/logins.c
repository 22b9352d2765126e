/* logins.c -- the last log-ins of an account: row = account of table `logins`, column = y/ (it succeeded) or n/ and an id that sorts by time,
 * value = format and the sealed origin. See sessions.h. */
#include "accounts/inside.h"

enum { FORMAT = 1, COLUMN = 2 + ID_BYTES };

static const char *const PURPOSE = "origin";

/* ---- Origins ------------------------------------------------------------------------------------------------ */

/* Headers are bytes from anywhere, and will be shown. */
static void put_clean(Buffer *buffer, Slice text, size_t most)
{
    size_t size = text.size < most ? text.size : most;
    buffer_u16(buffer, (uint16_t)size);
    for (size_t i = 0; i < size; i++)
        buffer_u8(buffer, text.data[i] >= ' ' && text.data[i] <= '~' ? (uint8_t)text.data[i] : '?');
}

Slice origin_seal(const Accounts *accounts, const SessionOrigin *origin, Arena *arena)
{
    BUFFER_SCOPE Buffer plain = {0};
    put_clean(&plain, origin->address, ORIGIN_ADDRESS_BYTES);
    put_clean(&plain, origin->agent, ORIGIN_AGENT_BYTES);
    return vault_seal(accounts->vault, PURPOSE, buffer_slice(&plain), arena);
}

Status origin_unseal(const Accounts *accounts, Slice sealed, Arena *arena,
                     SessionOrigin *ret_origin)
{
    Slice plain;
    TRY(vault_unseal(accounts->vault, PURPOSE, sealed, arena, &plain));
    Reader reader = reader_of(plain);
    SessionOrigin origin = {.address = reader_bytes(&reader, reader_u16(&reader))};
    origin.agent = reader_bytes(&reader, reader_u16(&reader));
    if (!reader_done(&reader))
        return STATUS_CORRUPT;
    *ret_origin = origin;
    return STATUS_OK;
}

/* ---- Noting ------------------------------------------------------------------------------------------------- */

RowChange login_change(Accounts *accounts, uint64_t account, bool success,
                       const SessionOrigin *origin, Arena *arena)
{
    Id id = fresh_id(accounts);
    int64_t now_us = clock_now_us(accounts->world.clock);
    char *column = arena_bytes(arena, COLUMN);
    BUFFER_SCOPE Buffer value = {0};
    memcpy(column, success ? "y/" : "n/", 2);
    memcpy(column + 2, id.bytes, ID_BYTES);
    buffer_u8(&value, FORMAT);
    buffer_i64(&value, now_us);
    buffer_bytes(&value, origin_seal(accounts, origin, arena));
    Change change = {.column = slice_of(column, COLUMN),
                     .value = arena_copy(arena, buffer_slice(&value)),
                     .timestamp = now_us,
                     .ttl_s = atomic_load(&accounts->logins_days) * S_PER_DAY};
    return (RowChange){&TABLE_LOGINS, row_key(account, arena), change};
}

Status logins_note_failure(Accounts *accounts, uint64_t account, const SessionOrigin *origin)
{
    ARENA_SCOPE Arena *arena = arena_new();
    RowChange change = login_change(accounts, account, false, origin, arena);
    return store_write(accounts->store, &(Batch){&change, 1, true});
}

/* ---- Listing ------------------------------------------------------------------------------------------------ */

static Status decode(const Accounts *accounts, const Cell *cell, Arena *arena, Login *ret_login)
{
    Reader reader = reader_of(cell->value);
    bool known = reader_u8(&reader) == FORMAT && cell->column.size == COLUMN;
    Login login = {.time_us = reader_i64(&reader)};
    Slice sealed = reader_rest(&reader);
    if (!known || reader.failed)
        return STATUS_CORRUPT;
    login.success = cell->column.data[0] == 'y';
    TRY(origin_unseal(accounts, sealed, arena, &login.origin));
    *ret_login = login;
    return STATUS_OK;
}

static Status read_kind(Accounts *accounts, uint64_t account, bool success, Arena *arena,
                        Page *ret_page)
{
    Query query = {.table = &TABLE_LOGINS,
                   .row = row_key(account, arena),
                   .from = success ? SLICE("y/") : SLICE("n/"),
                   .to = success ? SLICE("y0") : SLICE("n0"),
                   .after = SLICE_EMPTY,
                   .reverse = true,
                   .limit = LOGINS_LISTED};
    return store_slice(accounts->store, &query, arena, ret_page);
}

Status logins_list(Accounts *accounts, uint64_t account, Arena *arena, Login **ret_logins,
                   size_t *ret_count)
{
    Page pages[2];
    size_t at[2] = {0, 0}, count = 0;
    for (int i = 0; i < 2; i++)
        TRY(read_kind(accounts, account, i == 1, arena, &pages[i]));
    Login *logins = ARENA_ARRAY(arena, pages[0].count + pages[1].count, Login);
    Login next[2];
    for (int i = 0; i < 2; i++)
        if (pages[i].count > 0)
            TRY(decode(accounts, &pages[i].cells[0], arena, &next[i]));
    while (at[0] < pages[0].count || at[1] < pages[1].count) {
        int kind = at[0] >= pages[0].count ||
                   (at[1] < pages[1].count && next[1].time_us >= next[0].time_us);
        logins[count++] = next[kind];
        if (++at[kind] < pages[kind].count)
            TRY(decode(accounts, &pages[kind].cells[at[kind]], arena, &next[kind]));
    }
    *ret_logins = logins;
    *ret_count = count;
    return STATUS_OK;
}
