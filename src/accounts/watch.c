/* watch.c -- watch lists. The cell `watch` of an account's row holds: format | id of the write (16 bytes) | the policies, 8 bytes each, in
 * the order in which they were added. A change is conditional on the head, too, so that a closed account's list stays empty. */
#include "accounts/inside.h"

enum { FORMAT = 1, POLICY_BYTES = 8, START = 1 + ID_BYTES };

static const Slice HEAD = {"head", 4};
static const Slice WATCH = {"watch", 5};

typedef struct WatchList {
    bool present;
    Slice value;
    uint64_t *policies; /* with room for one more */
    size_t count;
} WatchList;

static Status read_list(Accounts *accounts, uint64_t id, Arena *arena, WatchList *ret_list)
{
    Cell cell = {.value = SLICE_EMPTY};
    Read read = {&TABLE_ACCOUNTS, row_key(id, arena), WATCH, STORE_SERIAL};
    Status status = store_read(accounts->store, &read, arena, &cell);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    WatchList list = {.present = status == STATUS_OK, .value = cell.value};
    Slice policies = slice_after(cell.value, START);
    if (list.present && (cell.value.size < START || cell.value.data[0] != FORMAT ||
                         policies.size % POLICY_BYTES != 0))
        return STATUS_CORRUPT;
    list.count = policies.size / POLICY_BYTES;
    list.policies = ARENA_ARRAY(arena, list.count + 1, uint64_t);
    for (size_t i = 0; i < list.count; i++)
        list.policies[i] = bytes_get_u64(policies.data + i * POLICY_BYTES);
    *ret_list = list;
    return STATUS_OK;
}

static Slice encode_list(const WatchList *list, Id id, Arena *arena)
{
    size_t size = START + list->count * POLICY_BYTES;
    char *value = arena_bytes(arena, size);
    value[0] = FORMAT;
    memcpy(value + 1, id.bytes, ID_BYTES);
    for (size_t i = 0; i < list->count; i++)
        bytes_put_u64(value + START + i * POLICY_BYTES, list->policies[i]);
    return slice_of(value, size);
}

Change watch_nothing(const Accounts *accounts, Arena *arena)
{
    return (Change){.column = WATCH,
                    .value = encode_list(&(WatchList){.count = 0}, fresh_id(accounts), arena)};
}

/* CONFLICT: the list or the account is no longer what was read. */
static Status replace_list(Accounts *accounts, uint64_t id, const AccountRow *row,
                           const WatchList *before, const WatchList *after, Arena *arena)
{
    Id write = fresh_id(accounts);
    Condition conditions[] = {
        {HEAD, row->value, false},
        {WATCH, before->value, !before->present},
    };
    Slice receipt = store_receipt(id_slice(&write), arena);
    Change changes[] = {
        {.column = WATCH, .value = encode_list(after, write, arena)},
        {.column = receipt, .value = id_slice(&write), .ttl_s = STORE_RECEIPT_TTL_S},
    };
    Update update = {.table = &TABLE_ACCOUNTS,
                     .row = row_key(id, arena),
                     .conditions = conditions,
                     .condition_count = 2,
                     .changes = changes,
                     .change_count = 2,
                     .proof = receipt};
    return store_update(accounts->store, &update, UPDATE_TRIES, arena, NULL);
}

static size_t find_policy(const WatchList *list, uint64_t policy)
{
    size_t at = 0;
    while (at < list->count && list->policies[at] != policy)
        at++;
    return at;
}

/* One attempt. */
static Status watch_once(Accounts *accounts, uint64_t id, uint64_t policy, bool on, Arena *arena)
{
    AccountRow row;
    WatchList before;
    TRY(row_read(accounts, id, arena, &row));
    TRY(read_list(accounts, id, arena, &before));
    size_t at = find_policy(&before, policy);
    if (!head_is_alive(&row.head))
        return STATUS_REFUSED;
    if (on == (at < before.count))
        return STATUS_OK;
    if (on && before.count >= WATCH_MOST)
        return STATUS_REFUSED;
    WatchList after = before;
    if (on)
        after.policies[after.count++] = policy;
    else
        memmove(&after.policies[at], &after.policies[at + 1],
                (--after.count - at) * sizeof after.policies[0]);
    return replace_list(accounts, id, &row, &before, &after, arena);
}

Status accounts_watch(Accounts *accounts, uint64_t id, uint64_t policy, bool on)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_CONFLICT;
    for (int i = 0; i < RACE_TRIES && status == STATUS_CONFLICT; i++) {
        arena_reset(arena);
        status = watch_once(accounts, id, policy, on, arena);
    }
    return status;
}

Status accounts_watched(Accounts *accounts, uint64_t id, Arena *arena, uint64_t **ret_policies,
                        size_t *ret_count)
{
    WatchList list;
    TRY(read_list(accounts, id, arena, &list));
    *ret_policies = list.policies;
    *ret_count = list.count;
    return STATUS_OK;
}
