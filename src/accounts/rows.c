/* rows.c -- an account's row: reading, replacing, changing under contention. See accounts_private.h. */
#include "accounts/accounts_private.h"

static const Slice HEAD = {"head", 4};

Slice row_key(uint64_t id, Arena *arena)
{
    char *key = arena_bytes(arena, sizeof id);
    bytes_put_u64(key, id);
    return slice_of(key, sizeof id);
}

Id fresh_id(const Accounts *accounts)
{
    return id_new(accounts->world.clock, accounts->world.random);
}

static RecordPlace place_of(const Record *record, uint64_t id, Slice column, Arena *arena)
{
    return (RecordPlace){record, &TABLE_ACCOUNTS, row_key(id, arena), column};
}

Status row_read(Accounts *accounts, uint64_t id, Arena *arena, AccountRow *ret_row)
{
    Records records = accounts_records(accounts);
    RecordPlace place = place_of(&ACCOUNT_RECORD, id, HEAD, arena);
    return record_read(&records, &place, STORE_SERIAL, arena, &ret_row->head, &ret_row->value);
}

Status row_create(Accounts *accounts, uint64_t id, AccountRecord *head, Batch marks, Arena *arena)
{
    Records records = accounts_records(accounts);
    CHECK(head->version == 0);
    head->version = 1;
    RecordWrite write = {.place = place_of(&ACCOUNT_RECORD, id, HEAD, arena),
                         .record = head,
                         .before = SLICE_EMPTY,
                         .marks = marks};
    Status status = record_write(&records, &write, arena, NULL);
    cached_rows_forget_account(accounts, id);
    return status;
}

/* ---- Editing ------------------------------------------------------------------------------------------------ */

/* Reads, applies, writes until nobody came in between. */
static Status edit_cell(Accounts *accounts, uint64_t id, const RecordEdit *edit, Reason *reason)
{
    Records records = accounts_records(accounts);
    Status status = record_edit(&records, edit, reason);
    cached_rows_forget_account(accounts, id);
    return status;
}

typedef struct RowEditing {
    Accounts *accounts;
    uint64_t id;
    const RowEdit *edit;
} RowEditing;

/* Whether the other cells are as they were. The first never is again once it is not. */
static Status check_when(const RowEditing *row, Arena *arena, Reason *reason)
{
    for (size_t i = 0; i < row->edit->when_count; i++) {
        const Condition *when = &row->edit->when[i];
        Cell cell;
        Read read = {&TABLE_ACCOUNTS, row_key(row->id, arena), when->column, STORE_SERIAL};
        Status status = store_read(row->accounts->store, &read, arena, &cell);
        if (status != STATUS_NOT_FOUND)
            TRY(status);
        if (when->absent ? status == STATUS_NOT_FOUND
                         : status == STATUS_OK && slice_equal(cell.value, when->value))
            continue;
        return reason_set(reason, i == 0 ? STATUS_REFUSED : STATUS_CONFLICT, "",
                          "somebody else has just used it");
    }
    return STATUS_OK;
}

static Status apply_row(RecordEditing *editing, void *context, Reason *reason)
{
    const RowEditing *row = context;
    AccountRecord *head = editing->record;
    TRY(check_when(row, editing->arena, reason));
    TRY(row->edit->apply(head, row->edit->context, &editing->write, reason));
    head->version++;
    editing->also = (RecordWrite){.when = row->edit->when,
                                  .when_count = row->edit->when_count,
                                  .also = row->edit->also,
                                  .also_count = row->edit->also_count};
    return STATUS_OK;
}

Status row_edit(Accounts *accounts, uint64_t id, RowEdit edit, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    RowEditing row = {accounts, id, &edit};
    RecordEdit change = {.place = place_of(&ACCOUNT_RECORD, id, HEAD, arena),
                         .must_exist = true,
                         .apply = apply_row,
                         .context = &row};
    return edit_cell(accounts, id, &change, reason);
}

void row_set_state(Accounts *accounts, AccountRecord *head, AccountState state)
{
    int64_t now_us = clock_now_us(accounts->world.clock);
    head->state = state;
    head->state_time_us = now_us > head->state_time_us ? now_us : head->state_time_us + 1;
}

Status refuse_dead(const AccountRecord *head, Reason *reason)
{
    if (account_record_is_alive(head))
        return STATUS_OK;
    return reason_set(reason, STATUS_REFUSED, "", "this account is %s",
                      account_state_text(head->state));
}

/* ---- Beside the head ---------------------------------------------------------------------------------------- */

static const RecordField SIDE_FIELDS[] = {
    RECORD_WRITE_ID(SideCell, write),
    RECORD_REST(SideCell, content, STORE_VALUE_MAX),
};
const Record SIDE_RECORD = RECORD("side cell", SideCell, 1, SIDE_FIELDS);

RecordPlace side_place(uint64_t id, Side side, Arena *arena)
{
    return place_of(side.record, id, side.column, arena);
}

Status side_read(Accounts *accounts, uint64_t id, Side side, Arena *arena, void *ret_record,
                 Slice *ret_value)
{
    Records records = accounts_records(accounts);
    RecordPlace place = side_place(id, side, arena);
    return record_find(&records, &place, STORE_SERIAL, arena, ret_record, ret_value);
}

Status side_edit(Accounts *accounts, uint64_t id, Side side, RecordApply *apply, void *context,
                 Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    RecordPlace head = place_of(&ACCOUNT_RECORD, id, HEAD, arena);
    RecordEdit edit = {.place = side_place(id, side, arena),
                       .held = id != 0 ? &head : NULL,
                       .apply = apply,
                       .context = context};
    return edit_cell(accounts, id, &edit, reason);
}

Change side_change(Slice column, Id fresh, Slice content, Arena *arena)
{
    SideCell cell = {fresh, content};
    return (Change){.column = column, .value = record_encode(&SIDE_RECORD, &cell, NULL, arena)};
}
