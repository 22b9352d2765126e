/* sessions.c -- see sessions.h.
 *
 * Row s/<hash of the secret> of table `sessions`: `begin` is written once, `end` once (its presence is the end), `seen` now and then,
 * `keep` names a later epoch in which the session is still good, `second` says that
 * the second factor was shown. Each is a cell of its own, so that no clock decides between an end and
 * anything else. Row a/<account> lists an account's sessions: its column is the session's id, its value the hash. */
#include "access/access_private.h"

enum { CELLS_MAX = 8 };

static const Slice BEGIN = {"begin", 5}, END = {"end", 3}, KEEP = {"keep", 4}, SEEN = {"seen", 4},
                   SECOND = {"second", 6};

/* A session's row, as read. */
typedef struct SessionRow {
    Session session;
    uint64_t epoch, kept_epoch;
    Slice sealed;
    bool begun, ended;
} SessionRow;

static const RecordField BEGIN_FIELDS[] = {
    RECORD_ID(SessionRow, session.id),
    RECORD_U64(SessionRow, session.account),
    RECORD_U64(SessionRow, epoch),
    RECORD_I64(SessionRow, session.begun_us),
    RECORD_BOOL(SessionRow, session.origin.remember),
    RECORD_REST(SessionRow, sealed, STORE_VALUE_MAX),
};
const Record SESSION_RECORD = RECORD("session", SessionRow, 1, BEGIN_FIELDS);

static Slice prefixed(const char *prefix, Slice key, Arena *arena)
{
    char *row = arena_bytes(arena, 2 + key.size);
    memcpy(row, prefix, 2);
    memcpy(row + 2, key.data, key.size);
    return slice_of(row, 2 + key.size);
}

Slice session_row(Slice key, Arena *arena)
{
    return prefixed("s/", key, arena);
}

Slice session_list_row(uint64_t account, Arena *arena)
{
    return prefixed("a/", row_key(account, arena), arena);
}

static VaultCell begin_cell(const Accounts *accounts, Slice key, Arena *arena)
{
    return record_cell(accounts->vault, &TABLE_SESSIONS, session_row(key, arena), BEGIN);
}

static Slice number_value(uint64_t number, Arena *arena)
{
    return row_key(number, arena);
}

/* ---- Writing ------------------------------------------------------------------------------------------------ */

/* All cells live as long as a session can, from when they were written: what ends a session outlives what began it. */
static RowChange cell_of(Accounts *accounts, Slice row, Slice column, Slice value)
{
    Change change = {.column = column,
                     .value = value,
                     .timestamp = clock_now_us(accounts->world.clock),
                     .ttl_s = accounts->limits.most_s};
    return (RowChange){&TABLE_SESSIONS, row, change};
}

static Status write_cell(Accounts *accounts, Slice key, Slice column, uint64_t number, bool lazy)
{
    ARENA_SCOPE Arena *arena = arena_new();
    RowChange change =
        cell_of(accounts, session_row(key, arena), column, number_value(number, arena));
    Status status = store_write(accounts->store, &(Batch){&change, 1, lazy});
    cached_rows_forget_session(accounts, key);
    return status;
}

static Slice key_of(const Accounts *accounts, const char *secret, Arena *arena)
{
    return vault_hash(accounts->vault, "session", slice_of(secret, SECRET_BYTES), arena);
}

Status sessions_begin(Accounts *accounts, const Account *account, const SessionOrigin *origin,
                      Arena *arena, Session *ret_session)
{
    char secret[SECRET_BYTES];
    if (!account_may(account, RIGHT_LOG_IN))
        return STATUS_DENIED;
    random_fill(accounts->world.random, secret, sizeof secret);
    int64_t now_us = clock_now_us(accounts->world.clock);
    Session session = {.id = fresh_id(accounts),
                       .account = account->id,
                       .begun_us = now_us,
                       .seen_us = now_us,
                       .origin = *origin,
                       .secret = secret_text(secret, arena),
                       .key = key_of(accounts, secret, arena)};
    VaultCell cell = begin_cell(accounts, session.key, arena);
    SessionRow row = {
        .session = session, .epoch = account->epoch, .sealed = origin_seal(&cell, origin, arena)};
    Slice begin = record_encode(&SESSION_RECORD, &row, NULL, arena);
    RowChange changes[] = {
        cell_of(accounts, session_list_row(account->id, arena), id_slice(&session.id), session.key),
        cell_of(accounts, session_row(session.key, arena), BEGIN, begin),
        login_change(accounts, account->id, true, origin, arena),
        cell_of(accounts, session_row(session.key, arena), SECOND, number_value(1, arena)),
    };
    TRY(store_write(accounts->store,
                    &(Batch){.changes = changes, .count = origin->second ? 4 : 3}));
    *ret_session = session;
    return STATUS_OK;
}

/* ---- Reading ------------------------------------------------------------------------------------------------ */

static Status take_cell(const Cell *cell, SessionRow *row)
{
    if (slice_equal(cell->column, BEGIN)) {
        row->begun = true;
        return record_decode(&SESSION_RECORD, cell->value, NULL, NULL, row);
    }
    if (slice_equal(cell->column, END)) {
        row->ended = true;
        return STATUS_OK;
    }
    if (cell->value.size != sizeof(uint64_t))
        return STATUS_CORRUPT;
    if (slice_equal(cell->column, KEEP))
        row->kept_epoch = bytes_get_u64(cell->value.data);
    else if (slice_equal(cell->column, SEEN))
        row->session.seen_us = (int64_t)bytes_get_u64(cell->value.data);
    else if (slice_equal(cell->column, SECOND))
        row->session.origin.second = true;
    else
        return STATUS_CORRUPT;
    return STATUS_OK;
}

static Status read_session(Accounts *accounts, Slice key, Arena *arena, SessionRow *ret_row)
{
    Query query = {.table = &TABLE_SESSIONS,
                   .row = session_row(key, arena),
                   .from = SLICE_EMPTY,
                   .to = SLICE_EMPTY,
                   .after = SLICE_EMPTY,
                   .limit = CELLS_MAX};
    SessionRow row = {.session = {.key = key,
                                  .secret = SLICE_EMPTY,
                                  .origin = {.address = SLICE_EMPTY, .agent = SLICE_EMPTY}}};
    Page page;
    TRY(store_slice(accounts->store, &query, arena, &page));
    for (size_t i = 0; i < page.count; i++)
        TRY(take_cell(&page.cells[i], &row));
    if (row.session.seen_us < row.session.begun_us)
        row.session.seen_us = row.session.begun_us;
    *ret_row = row;
    return STATUS_OK;
}

/* The same, perhaps from a copy, which has all but what is sealed. What never began is not kept: strangers could fill the memory with
 * it. */
static Status recent_session(Accounts *accounts, Slice key, Arena *arena, SessionRow *ret_row)
{
    CachedBytes copy;
    CopyKey name = copy_key(accounts, COPY_SESSION, key);
    if (read_cache_find(accounts->read_cache, copy_key_slice(&name), arena, &copy)) {
        memcpy(ret_row, copy.bytes.data, sizeof *ret_row);
        ret_row->session.key = key;
        return STATUS_OK;
    }
    TRY(read_session(accounts, key, arena, ret_row));
    if (!ret_row->begun)
        return STATUS_OK;
    SessionRow kept = *ret_row;
    kept.sealed = kept.session.key = SLICE_EMPTY;
    copy.bytes = slice_of(&kept, sizeof kept);
    read_cache_put(accounts->read_cache, copy_key_slice(&name), &copy);
    return STATUS_OK;
}

/* By its own row. */
static bool is_open(const Accounts *accounts, const SessionRow *row)
{
    const SessionLimits *limits = &accounts->limits;
    const Session *session = &row->session;
    int64_t now_us = clock_now_us(accounts->world.clock);
    int64_t idle_s = session->origin.remember ? limits->idle_s : limits->brief_idle_s;
    return row->begun && !row->ended && now_us - session->begun_us < limits->most_s * US_PER_S &&
           now_us - session->seen_us < idle_s * US_PER_S;
}

static bool is_of_epoch(const SessionRow *row, const Account *account)
{
    return row->epoch == account->epoch || row->kept_epoch == account->epoch;
}

/* A note that fails makes the session seem idle for some minutes more. */
void sessions_note_seen(Accounts *accounts, Session *session)
{
    int64_t now_us = clock_now_us(accounts->world.clock);
    if (now_us - session->seen_us < SESSION_SEEN_S * US_PER_S)
        return;
    if (write_cell(accounts, session->key, SEEN, (uint64_t)now_us, true) == STATUS_OK)
        session->seen_us = now_us;
}

Status sessions_find(Accounts *accounts, Slice secret, Arena *arena, Session *ret_session,
                     Account *ret_account)
{
    char bytes[SECRET_BYTES];
    SessionRow row;
    Account account;
    if (!secret_bytes(secret, bytes))
        return STATUS_LOGIN;
    TRY(recent_session(accounts, key_of(accounts, bytes, arena), arena, &row));
    if (!is_open(accounts, &row))
        return STATUS_LOGIN;
    TRY(accounts_recent(accounts, row.session.account, arena, &account));
    if (!is_of_epoch(&row, &account) || !account_may(&account, RIGHT_LOG_IN))
        return STATUS_LOGIN;
    *ret_session = row.session;
    *ret_account = account;
    return STATUS_OK;
}

/* ---- Lists -------------------------------------------------------------------------------------------------- */

Status sessions_list(Accounts *accounts, const Account *account, Arena *arena,
                     Session **ret_sessions, size_t *ret_count)
{
    Query query = {.table = &TABLE_SESSIONS,
                   .row = session_list_row(account->id, arena),
                   .from = SLICE_EMPTY,
                   .to = SLICE_EMPTY,
                   .after = SLICE_EMPTY,
                   .reverse = true,
                   .limit = SESSIONS_LISTED};
    Page page;
    size_t count = 0;
    TRY(store_slice(accounts->store, &query, arena, &page));
    Session *sessions = ARENA_ARRAY(arena, page.count, Session);
    for (size_t i = 0; i < page.count; i++) {
        SessionRow row;
        TRY(read_session(accounts, page.cells[i].value, arena, &row));
        if (!is_open(accounts, &row) || !is_of_epoch(&row, account))
            continue;
        SessionOrigin origin;
        VaultCell cell = begin_cell(accounts, row.session.key, arena);
        TRY(origin_unseal(&cell, row.sealed, arena, &origin));
        row.session.origin.address = origin.address;
        row.session.origin.agent = origin.agent;
        sessions[count++] = row.session;
    }
    *ret_sessions = sessions;
    *ret_count = count;
    return STATUS_OK;
}

/* ---- Ending ------------------------------------------------------------------------------------------------- */

Status sessions_end(Accounts *accounts, const Session *session)
{
    return write_cell(accounts, session->key, END, 1, false);
}

Status sessions_end_named(Accounts *accounts, uint64_t account, Id id)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Read read = {&TABLE_SESSIONS, session_list_row(account, arena), id_slice(&id), STORE_NORMAL};
    Cell cell;
    TRY(store_read(accounts->store, &read, arena, &cell));
    return write_cell(accounts, cell.value, END, 1, false);
}

void session_keep(Accounts *accounts, const Session *session, uint64_t epoch)
{
    (void)!write_cell(accounts, session->key, KEEP, epoch, false);
}

void session_mark_second(Accounts *accounts, const Session *session)
{
    (void)!write_cell(accounts, session->key, SECOND, 1, false);
}

static Status apply_epoch(AccountRecord *head, void *context, bool *ret_write, Reason *reason)
{
    uint64_t *epoch = context;
    TRY(refuse_dead(head, reason));
    *epoch = ++head->epoch;
    *ret_write = true;
    return STATUS_OK;
}

static Status end_everywhere(Accounts *accounts, uint64_t account, uint64_t *ret_epoch,
                             Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Change tokens = tokens_ended(accounts, arena);
    RowEdit edit = {.apply = apply_epoch, .context = ret_epoch, .also = &tokens, .also_count = 1};
    return row_edit(accounts, account, edit, reason);
}

Status sessions_end_all(Accounts *accounts, uint64_t account, Reason *reason)
{
    uint64_t epoch = 0;
    return end_everywhere(accounts, account, &epoch, reason);
}

Status sessions_end_others(Accounts *accounts, const Session *session)
{
    uint64_t epoch = 0;
    TRY(end_everywhere(accounts, session->account, &epoch, NULL));
    session_keep(accounts, session, epoch);
    return STATUS_OK;
}
