/* rows.c -- an account's row: reading, replacing, changing under contention. See inside.h. */
#include "accounts/inside.h"

enum { SIDE_FORMAT = 1, SIDE_START = 1 + ID_BYTES };

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

Status row_read(Accounts *accounts, uint64_t id, Arena *arena, AccountRow *ret_row)
{
    AccountRow row;
    Cell cell;
    Read read = {&TABLE_ACCOUNTS, row_key(id, arena), HEAD, STORE_SERIAL};
    TRY(store_read(accounts->store, &read, arena, &cell));
    TRY(head_decode(cell.value, accounts->vault, arena, &row.head));
    row.value = cell.value;
    *ret_row = row;
    return STATUS_OK;
}

/* ---- Writing ------------------------------------------------------------------------------------------------ */

/* One update of the row: what must be, and what shall be; the receipt with the id of the write proves it. */
typedef struct RowWrite {
    Condition conditions[2];
    size_t condition_count;
    Change changes[2 + ROW_ALSO_MOST]; /* with room for the receipt */
    size_t change_count;
    Batch marks;
} RowWrite;

static Status write_row(Accounts *accounts, uint64_t id, RowWrite *write, Id write_id, Arena *arena)
{
    Slice receipt = store_receipt(id_slice(&write_id), arena);
    write->changes[write->change_count++] =
        (Change){.column = receipt, .value = id_slice(&write_id), .ttl_s = STORE_RECEIPT_TTL_S};
    Update update = {.table = &TABLE_ACCOUNTS,
                     .row = row_key(id, arena),
                     .conditions = write->conditions,
                     .condition_count = write->condition_count,
                     .changes = write->changes,
                     .change_count = write->change_count,
                     .proof = receipt,
                     .marks = write->marks};
    Status status = store_update(accounts->store, &update, UPDATE_TRIES, arena, NULL);
    recent_forget_account(accounts, id);
    return status;
}

/* The next version of the head, with a fresh id, and whatever else `write` holds. */
static Status write_head(Accounts *accounts, uint64_t id, AccountHead *head, RowWrite *write,
                         Arena *arena)
{
    head->id = fresh_id(accounts);
    head->version++;
    write->changes[write->change_count++] =
        (Change){.column = HEAD, .value = head_encode(head, accounts->vault, arena)};
    return write_row(accounts, id, write, head->id, arena);
}

Status row_create(Accounts *accounts, uint64_t id, AccountHead *head, Batch marks, Arena *arena)
{
    RowWrite write = {
        .conditions = {{HEAD, SLICE_EMPTY, true}}, .condition_count = 1, .marks = marks};
    CHECK(head->version == 0);
    return write_head(accounts, id, head, &write, arena);
}

/* ---- Editing ------------------------------------------------------------------------------------------------ */

/* Whether the other cell is as it was: REFUSED when it is not, and will never be again. */
static Status check_when(Accounts *accounts, uint64_t id, const Condition *when, Arena *arena,
                         Reason *reason)
{
    SideCell cell;
    if (when == NULL)
        return STATUS_OK;
    TRY(side_read(accounts, id, when->column, arena, &cell));
    if (cell.present && slice_equal(cell.value, when->value))
        return STATUS_OK;
    return reason_set(reason, STATUS_REFUSED, "", "somebody else has just used it");
}

static RowWrite write_of(const RowEdit *edit, const AccountRow *before)
{
    RowWrite write = {.conditions = {{HEAD, before->value, false}}, .condition_count = 1};
    if (edit->when != NULL)
        write.conditions[write.condition_count++] = *edit->when;
    CHECK(edit->also_count <= ROW_ALSO_MOST);
    for (size_t i = 0; i < edit->also_count; i++)
        write.changes[write.change_count++] = edit->also[i];
    return write;
}

Status row_edit(Accounts *accounts, uint64_t id, RowEdit edit, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    for (int i = 0; i < RACE_TRIES; i++) {
        AccountRow row;
        bool write = false;
        arena_reset(arena);
        TRY(row_read(accounts, id, arena, &row));
        TRY(check_when(accounts, id, edit.when, arena, reason));
        AccountHead head = row.head;
        TRY(edit.apply(&head, edit.context, &write, reason));
        if (!write)
            return STATUS_OK;
        RowWrite how = write_of(&edit, &row);
        Status status = write_head(accounts, id, &head, &how, arena);
        if (status != STATUS_CONFLICT)
            return status;
    }
    return reason_set(reason, STATUS_CONFLICT, "", "others change this account all the time");
}

void row_set_state(Accounts *accounts, AccountHead *head, AccountState state)
{
    int64_t now_us = clock_now_us(accounts->world.clock);
    head->state = state;
    head->state_time_us = now_us > head->state_time_us ? now_us : head->state_time_us + 1;
}

Status refuse_dead(const AccountHead *head, Reason *reason)
{
    if (head_is_alive(head))
        return STATUS_OK;
    return reason_set(reason, STATUS_REFUSED, "", "this account is %s",
                      account_state_text(head->state));
}

/* ---- Beside the head ---------------------------------------------------------------------------------------- */

Status side_read(Accounts *accounts, uint64_t id, Slice column, Arena *arena, SideCell *ret_cell)
{
    Cell cell = {.value = SLICE_EMPTY};
    Read read = {&TABLE_ACCOUNTS, row_key(id, arena), column, STORE_SERIAL};
    Status status = store_read(accounts->store, &read, arena, &cell);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    bool present = status == STATUS_OK;
    if (present && (cell.value.size < SIDE_START || cell.value.data[0] != SIDE_FORMAT))
        return STATUS_CORRUPT;
    *ret_cell = (SideCell){.column = column,
                           .present = present,
                           .value = cell.value,
                           .content = slice_after(cell.value, SIDE_START)};
    return STATUS_OK;
}

static Slice side_value(Id id, Slice content, Arena *arena)
{
    char *value = arena_bytes(arena, SIDE_START + content.size);
    value[0] = SIDE_FORMAT;
    memcpy(value + 1, id.bytes, ID_BYTES);
    if (content.size > 0)
        memcpy(value + SIDE_START, content.data, content.size);
    return slice_of(value, SIDE_START + content.size);
}

Change side_change(Slice column, Id fresh, Slice content, Arena *arena)
{
    return (Change){.column = column, .value = side_value(fresh, content, arena)};
}

Status side_replace(Accounts *accounts, uint64_t id, const AccountRow *row, const SideCell *before,
                    Slice content, Arena *arena)
{
    Id fresh = fresh_id(accounts);
    RowWrite write = {
        .conditions = {{before->column, before->value, !before->present}},
        .condition_count = 1,
        .changes = {{.column = before->column, .value = side_value(fresh, content, arena)}},
        .change_count = 1};
    if (row != NULL)
        write.conditions[write.condition_count++] = (Condition){HEAD, row->value, false};
    return write_row(accounts, id, &write, fresh, arena);
}

/* ---- A live setting ------------------------------------------------------------------------------------------------ */

static const Slice STATE = {"state", 5};

Status state_read(Accounts *accounts, const StateRow *state, Arena *arena, Slice *ret_value)
{
    Cell cell = {.value = SLICE_EMPTY};
    Read read = {state->table, state->row, STATE, STORE_SERIAL};
    Status status = store_read(accounts->store, &read, arena, &cell);
    if (status != STATUS_NOT_FOUND)
        TRY(status);
    *ret_value = cell.value;
    return STATUS_OK;
}

Status state_replace(Accounts *accounts, const StateRow *state, Slice before,
                     const StateValue *value, Arena *arena)
{
    Replacement next = {.table = state->table,
                        .row = state->row,
                        .column = STATE,
                        .before = before,
                        .value = value->bytes,
                        .id = value->id};
    return store_replace(accounts->store, &next, UPDATE_TRIES, arena);
}
