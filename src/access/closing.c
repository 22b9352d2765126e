/* closing.c -- closing an account: its row, the claims that it had, and its cells in the tables beside: sessions with the addresses
 * that they came from, the last log-ins, when tokens were used, keys of requests.
 *
 * All of the latter is of no use to anybody from the moment that the row says closed, and would expire by itself; so a crash in the
 * middle, or a store that is away, leaves only something that lives some weeks longer, and closing again takes it out. Sessions go
 * before the list that names them, for the same reason. */
#include "access/closing.h"

#include "access/access_private.h"

enum { FORGET_PAGE = 200 };

/* The cells of a row, page by page; deleted ones are not seen again. */
static Status read_page(Accounts *accounts, const Table *table, Slice row, Arena *arena,
                        Page *ret_page)
{
    Query query = {.table = table,
                   .row = row,
                   .from = SLICE_EMPTY,
                   .to = SLICE_EMPTY,
                   .after = SLICE_EMPTY,
                   .limit = FORGET_PAGE};
    return store_slice(accounts->store, &query, arena, ret_page);
}

/* No clock decides: what was written by one that is ahead goes, too. */
static Status delete_page(Accounts *accounts, const Table *table, Slice row, const Page *page)
{
    RowChange changes[FORGET_PAGE];
    int64_t now_us = clock_now_us(accounts->world.clock);
    for (size_t i = 0; i < page->count; i++) {
        const Cell *cell = &page->cells[i];
        Change change = {.column = cell->column,
                         .timestamp = cell->timestamp > now_us ? cell->timestamp : now_us,
                         .is_delete = true};
        changes[i] = (RowChange){table, row, change};
    }
    return page->count == 0 ? STATUS_OK
                            : store_write(accounts->store, &(Batch){changes, page->count, false});
}

static Status forget_row(Accounts *accounts, const Table *table, Slice row)
{
    for (bool more = true; more;) {
        ARENA_SCOPE Arena *arena = arena_new();
        Page page;
        TRY(read_page(accounts, table, row, arena, &page));
        TRY(delete_page(accounts, table, row, &page));
        more = page.more;
    }
    return STATUS_OK;
}

static Status forget_sessions(Accounts *accounts, uint64_t id)
{
    for (bool more = true; more;) {
        ARENA_SCOPE Arena *arena = arena_new();
        Slice list = session_list_row(id, arena);
        Page page;
        TRY(read_page(accounts, &TABLE_SESSIONS, list, arena, &page));
        for (size_t i = 0; i < page.count; i++) {
            TRY(forget_row(accounts, &TABLE_SESSIONS, session_row(page.cells[i].value, arena)));
            cached_rows_forget_session(accounts, page.cells[i].value);
        }
        TRY(delete_page(accounts, &TABLE_SESSIONS, list, &page));
        more = page.more;
    }
    return STATUS_OK;
}

static Status ways_forget(Accounts *accounts, uint64_t id)
{
    static const Table *const TABLES_BY_ACCOUNT[] = {&TABLE_LOGINS, &TABLE_TOKEN_USES,
                                                     &TABLE_REQUEST_KEYS};
    ARENA_SCOPE Arena *arena = arena_new();
    TRY(forget_sessions(accounts, id));
    for (size_t i = 0; i < sizeof TABLES_BY_ACCOUNT / sizeof TABLES_BY_ACCOUNT[0]; i++)
        TRY(forget_row(accounts, TABLES_BY_ACCOUNT[i], row_key(id, arena)));
    return STATUS_OK;
}

/* ---- Closing ----------------------------------------------------------------------------------------------- */

/* The address that the account leaves with it. */
typedef struct Closing {
    Accounts *accounts;
    bool has_entries;
    Slice entry; /* the one that stands for the account for certain */
} Closing;

static Status apply_close(AccountRecord *head, void *context, bool *ret_write, Reason *reason)
{
    const Closing *closing = context;
    if (head->state == ACCOUNT_CLOSED)
        return STATUS_OK;
    if (head->state != ACCOUNT_CONFIRMED)
        return reason_set(reason, STATUS_REFUSED, "", "this account is %s",
                          account_state_text(head->state));
    if (closing->has_entries && !slice_equal(head->labels[CLAIM_EMAIL].folded, closing->entry))
        return STATUS_CONFLICT;
    *ret_write = true;
    row_set_state(closing->accounts, head, ACCOUNT_CLOSED);
    head->password_hash = head->real_name = SLICE_EMPTY;
    head->roles = head->denied = 0;
    head->second = false;
    head->epoch++;
    return STATUS_OK;
}

static Status apply_forget(AccountRecord *head, void *context, bool *ret_write, Reason *reason)
{
    (void)context;
    (void)reason;
    *ret_write = head->labels[CLAIM_NAME].folded.size > 0;
    account_record_forget(head);
    return STATUS_OK;
}

/* The labels stay in the closed row until they are released, so that a repeat finds them. */
static Status release_labels(Accounts *accounts, uint64_t id, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    AccountRow row;
    TRY(row_read(accounts, id, arena, &row));
    for (int kind = 0; kind < CLAIM_KINDS; kind++) {
        const Slice folded[] = {row.head.labels[kind].folded,
                                row.head.claim_requests[kind].label.folded};
        for (int i = 0; i < 2; i++)
            if (folded[i].size > 0)
                TRY(claim_release(accounts, (ClaimKind)kind, folded[i]));
    }
    return row_edit(accounts, id, (RowEdit){.apply = apply_forget}, reason);
}

/* The entry first: from the moment that the row says closed, anybody can claim the e-mail. CONFLICT: it was changed in between. */
static Status close_row(Accounts *accounts, uint64_t id, RowEdit edit, Arena *arena, Reason *reason)
{
    AccountRow row;
    Closing closing = {.accounts = accounts};
    TRY(claim_has_entries(accounts, &closing.has_entries));
    TRY(row_read(accounts, id, arena, &row));
    closing.entry = row.head.labels[CLAIM_EMAIL].folded;
    if (closing.has_entries && row.head.state == ACCOUNT_CONFIRMED) {
        Status status = claim_take(accounts, CLAIM_ENTRY, closing.entry, id);
        if (status != STATUS_REFUSED) /* it goes on to stand for another */
            TRY(status);
    }
    edit.apply = apply_close;
    edit.context = &closing;
    return row_edit(accounts, id, edit, reason);
}

Status access_close_account(Accounts *accounts, uint64_t id, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    const Slice columns[] = {WATCH_SIDE.column,         FOLLOW_SIDE.column,
                             TOKENS_SIDE.column,        SECOND_FACTOR_SIDE.column,
                             LINKED_LOGINS_SIDE.column, RIGHTS_SIDE.column,
                             link_column(LINK_EMAIL)};
    enum { COLUMNS = sizeof columns / sizeof columns[0] };
    Change emptied[COLUMNS];
    Id fresh = fresh_id(accounts);
    for (int i = 0; i < COLUMNS; i++)
        emptied[i] = side_change(columns[i], fresh, SLICE_EMPTY, arena);
    RowEdit edit = {.also = emptied, .also_count = COLUMNS};
    Slice *linked;
    size_t count;
    TRY(linked_login_record_borne(accounts, id, arena, &linked, &count));
    Status closed = STATUS_CONFLICT;
    for (int i = 0; record_again(&closed, i, NULL, reason); i++)
        closed = close_row(accounts, id, edit, arena, reason);
    TRY(closed);
    (void)!ways_forget(accounts, id); /* what stays expires */
    for (size_t i = 0; i < count;
         i++) /* what is not freed counts for nobody, and can be taken over */
        (void)!claim_release(accounts, CLAIM_EXTERNAL, linked[i]);
    Status status = release_labels(accounts, id, reason);
    /* It is closed; only a repeat can tell whether all of it is done. */
    return status == STATUS_OK || status == STATUS_CORRUPT ? status : STATUS_UNKNOWN;
}
