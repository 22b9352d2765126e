/* rows.c -- an account's row: reading, replacing, changing under contention. See inside.h. */
#include "accounts/inside.h"

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
    TRY(head_decode(cell.value, &row.head));
    row.value = cell.value;
    *ret_row = row;
    return STATUS_OK;
}

/* One write of the head: the value with a fresh id, and the receipt that proves it. */
typedef struct HeadWrite {
    Condition condition;
    const Change *also;
    Batch marks;
} HeadWrite;

static Status write_head(Accounts *accounts, uint64_t id, AccountHead *head, const HeadWrite *how,
                         Arena *arena)
{
    BUFFER_SCOPE Buffer value = {0};
    head->id = fresh_id(accounts);
    head->version++;
    head_encode(head, &value);
    Slice receipt = store_receipt(id_slice(&head->id), arena);
    Change changes[3] = {
        {.column = HEAD, .value = buffer_slice(&value)},
        {.column = receipt, .value = id_slice(&head->id), .ttl_s = STORE_RECEIPT_TTL_S},
    };
    if (how->also != NULL)
        changes[2] = *how->also;
    Update update = {.table = &TABLE_ACCOUNTS,
                     .row = row_key(id, arena),
                     .conditions = &how->condition,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = how->also != NULL ? 3 : 2,
                     .proof = receipt,
                     .marks = how->marks};
    return store_update(accounts->store, &update, UPDATE_TRIES, arena, NULL);
}

Status row_create(Accounts *accounts, uint64_t id, AccountHead *head, Batch marks, Arena *arena)
{
    HeadWrite how = {.condition = {HEAD, SLICE_EMPTY, true}, .marks = marks};
    CHECK(head->version == 0);
    return write_head(accounts, id, head, &how, arena);
}

Status row_replace(Accounts *accounts, uint64_t id, const AccountRow *before, AccountHead *after,
                   const Change *also, Arena *arena)
{
    HeadWrite how = {.condition = {HEAD, before->value, false}, .also = also};
    return write_head(accounts, id, after, &how, arena);
}

Status row_edit(Accounts *accounts, uint64_t id, RowEdit edit, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    for (int i = 0; i < RACE_TRIES; i++) {
        AccountRow row;
        bool write = false;
        arena_reset(arena);
        TRY(row_read(accounts, id, arena, &row));
        AccountHead head = row.head;
        TRY(edit.apply(&head, edit.context, &write, reason));
        if (!write)
            return STATUS_OK;
        Status status = row_replace(accounts, id, &row, &head, edit.also, arena);
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
