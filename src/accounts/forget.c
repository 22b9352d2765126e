/* forget.c -- what closing an account takes out of the tables beside its row: sessions with the addresses that they came from, the last log-ins,
 * when tokens were used, keys of requests.
 *
 * All of it is of no use to anybody from the moment that the row says closed, and would expire by itself; so a crash in the middle, or a store
 * that is away, leaves only something that lives some weeks longer, and closing again takes it out. Sessions go before the list that names them, for
 * the same reason. */
#include "accounts/inside.h"

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
            recent_forget_session(accounts, page.cells[i].value);
        }
        TRY(delete_page(accounts, &TABLE_SESSIONS, list, &page));
        more = page.more;
    }
    return STATUS_OK;
}

Status ways_forget(Accounts *accounts, uint64_t id)
{
    static const Table *const TABLES_BY_ACCOUNT[] = {&TABLE_LOGINS, &TABLE_TOKEN_USES,
                                                     &TABLE_REQUEST_KEYS};
    ARENA_SCOPE Arena *arena = arena_new();
    TRY(forget_sessions(accounts, id));
    for (size_t i = 0; i < sizeof TABLES_BY_ACCOUNT / sizeof TABLES_BY_ACCOUNT[0]; i++)
        TRY(forget_row(accounts, TABLES_BY_ACCOUNT[i], row_key(id, arena)));
    return STATUS_OK;
}
