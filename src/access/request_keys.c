/* request_keys.c -- see request_keys.h. Row = account of table `request_keys`, column = keyed hash of the key, value = keyed hash of the request. */
#include "access/request_keys.h"

#include "access/access_private.h"

static Slice column_of(const Accounts *accounts, const RequestKey *key, Arena *arena)
{
    return vault_hash(accounts->vault, "request-key", key->key, arena);
}

static Slice value_of(const Accounts *accounts, const RequestKey *key, Arena *arena)
{
    return vault_hash(accounts->vault, "request", key->request, arena);
}

Status request_key_check(Accounts *accounts, const RequestKey *key, Reason *reason)
{
    bool is_used;
    return request_key_look(accounts, key, &is_used, reason);
}

Status request_key_look(Accounts *accounts, const RequestKey *key, bool *ret_used, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Read read = {&TABLE_REQUEST_KEYS, row_key(key->account, arena), column_of(accounts, key, arena),
                 STORE_NORMAL};
    Cell cell;
    Status status = store_read(accounts->store, &read, arena, &cell);
    *ret_used = false;
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    *ret_used = true;
    if (slice_equal(cell.value, value_of(accounts, key, arena)))
        return STATUS_OK;
    return reason_set(reason, STATUS_REFUSED, "Idempotency-Key",
                      "was used for another request; a new request has a new key");
}

Status request_key_note(Accounts *accounts, const RequestKey *key)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Change change = {.column = column_of(accounts, key, arena),
                     .value = value_of(accounts, key, arena),
                     .timestamp = clock_now_us(accounts->world.clock),
                     .ttl_s = REQUEST_KEY_DAYS * S_PER_DAY};
    RowChange note = {&TABLE_REQUEST_KEYS, row_key(key->account, arena), change};
    return store_write(accounts->store, &(Batch){&note, 1, true});
}
