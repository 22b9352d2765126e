/* logins.c -- the last log-ins of an account: row = account of table `logins`, column = y/ (it succeeded) or n/ and an id that sorts by time,
 * value = format and the sealed origin. See sessions.h. */
#include "access/access_private.h"

enum { COLUMN = 2 + ID_BYTES, DELETE_PAGE_CELLS = 2000 };

typedef struct StoredLogin {
    Login login;
    Slice sealed;
} StoredLogin;
static const RecordField LOGIN_FIELDS[] = {
    RECORD_I64(StoredLogin, login.time_us),
    RECORD_REST(StoredLogin, sealed, STORE_VALUE_MAX),
};
const Record LOGIN_RECORD = RECORD("log-in", StoredLogin, 1, LOGIN_FIELDS);
static const RecordField ORIGIN_FIELDS[] = {RECORD_TEXT16(SessionOrigin, address),
                                            RECORD_TEXT16(SessionOrigin, agent)};
const Record ORIGIN_RECORD = RECORD("origin", SessionOrigin, 0, ORIGIN_FIELDS);

static const char *const PURPOSE = "origin";

/* ---- Origins ------------------------------------------------------------------------------------------------ */

/* Headers are bytes from anywhere, and will be shown. */
static Slice clean(Slice text, size_t most, Arena *arena)
{
    size_t size = text.size < most ? text.size : most;
    char *bytes = arena_bytes(arena, size);
    for (size_t i = 0; i < size; i++)
        bytes[i] = text.data[i] >= ' ' && text.data[i] <= '~' ? text.data[i] : '?';
    return slice_of(bytes, size);
}

Slice origin_seal(const VaultCell *cell, const SessionOrigin *origin, Arena *arena)
{
    SessionOrigin seen = {.address = clean(origin->address, ORIGIN_ADDRESS_BYTES, arena),
                          .agent = clean(origin->agent, ORIGIN_AGENT_BYTES, arena)};
    return vault_seal_at(cell, PURPOSE, record_encode(&ORIGIN_RECORD, &seen, NULL, arena), arena);
}

Status origin_unseal(const VaultCell *cell, Slice sealed, Arena *arena, SessionOrigin *ret_origin)
{
    Slice plain;
    TRY(vault_unseal_at(cell, PURPOSE, sealed, arena, &plain));
    *ret_origin = (SessionOrigin){.remember = false};
    return record_decode(&ORIGIN_RECORD, plain, NULL, NULL, ret_origin);
}

static VaultCell cell_of(const Accounts *accounts, uint64_t account, Slice column, Arena *arena)
{
    return record_cell(accounts->vault, &TABLE_LOGINS, row_key(account, arena), column);
}

/* ---- Noting ------------------------------------------------------------------------------------------------- */

RowChange login_change(Accounts *accounts, uint64_t account, bool success,
                       const SessionOrigin *origin, Arena *arena)
{
    Id id = fresh_id(accounts);
    int64_t now_us = clock_now_us(accounts->world.clock);
    char *column = arena_bytes(arena, COLUMN);
    memcpy(column, success ? "y/" : "n/", 2);
    memcpy(column + 2, id.bytes, ID_BYTES);
    VaultCell cell = cell_of(accounts, account, slice_of(column, COLUMN), arena);
    StoredLogin stored = {{.time_us = now_us}, origin_seal(&cell, origin, arena)};
    Change change = {.column = slice_of(column, COLUMN),
                     .value = record_encode(&LOGIN_RECORD, &stored, NULL, arena),
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

static Status decode(const Accounts *accounts, uint64_t account, const Cell *cell, Arena *arena,
                     Login *ret_login)
{
    VaultCell at = cell_of(accounts, account, cell->column, arena);
    StoredLogin stored = {.login.success = cell->column.data[0] == 'y'};
    TRY(record_decode(&LOGIN_RECORD, cell->value, NULL, NULL, &stored));
    if (cell->column.size != COLUMN)
        return STATUS_CORRUPT;
    TRY(origin_unseal(&at, stored.sealed, arena, &stored.login.origin));
    *ret_login = stored.login;
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
            TRY(decode(accounts, account, &pages[i].cells[0], arena, &next[i]));
    while (at[0] < pages[0].count || at[1] < pages[1].count) {
        int kind = at[0] >= pages[0].count ||
                   (at[1] < pages[1].count && next[1].time_us >= next[0].time_us);
        logins[count++] = next[kind];
        if (++at[kind] < pages[kind].count)
            TRY(decode(accounts, account, &pages[kind].cells[at[kind]], arena, &next[kind]));
    }
    *ret_logins = logins;
    *ret_count = count;
    return STATUS_OK;
}

/* ---- Deleting old ones -------------------------------------------------------------------------------------- */

/* The time stands behind the format, as login_change writes it. */
static bool is_older(const Cell *cell, int64_t before_us)
{
    Reader reader = reader_of(cell->value);
    (void)reader_u8(&reader);
    int64_t time_us = reader_i64(&reader);
    return !reader.failed && time_us < before_us;
}

Status logins_delete_old(Accounts *accounts, int64_t days, Slice position, Arena *arena,
                         LoginsPage *ret_page)
{
    ScanPage scan;
    int64_t now_us = clock_now_us(accounts->world.clock);
    TRY(store_scan(accounts->store, &TABLE_LOGINS, position, DELETE_PAGE_CELLS, arena, &scan));
    RowChange *changes = ARENA_ARRAY(arena, scan.count, RowChange);
    size_t count = 0;
    for (size_t i = 0; i < scan.count; i++)
        if (is_older(&scan.cells[i].cell, now_us - days * S_PER_DAY * US_PER_S))
            changes[count++] = (RowChange){&TABLE_LOGINS, scan.cells[i].row,
                                           (Change){.column = scan.cells[i].cell.column,
                                                    .timestamp = now_us,
                                                    .is_delete = true}};
    if (count > 0)
        TRY(store_write(accounts->store, &(Batch){changes, count, false}));
    *ret_page = (LoginsPage){scan.position, scan.more, scan.count, count};
    return STATUS_OK;
}
