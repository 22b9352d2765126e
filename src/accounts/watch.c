/* watch.c -- watch lists: the cell `watch` beside an account's head holds the policies, 8 bytes each, in the order in which they were
 * added. */
#include "accounts/inside.h"

enum { POLICY_BYTES = 8 };

const Slice WATCH_COLUMN = {"watch", 5};

typedef struct WatchList {
    SideCell cell;
    uint64_t *policies; /* with room for one more */
    size_t count;
} WatchList;

static Status read_list(Accounts *accounts, uint64_t id, Arena *arena, WatchList *ret_list)
{
    WatchList list;
    TRY(side_read(accounts, id, WATCH_COLUMN, arena, &list.cell));
    Slice content = list.cell.content;
    if (content.size % POLICY_BYTES != 0)
        return STATUS_CORRUPT;
    list.count = content.size / POLICY_BYTES;
    list.policies = ARENA_ARRAY(arena, list.count + 1, uint64_t);
    for (size_t i = 0; i < list.count; i++)
        list.policies[i] = bytes_get_u64(content.data + i * POLICY_BYTES);
    *ret_list = list;
    return STATUS_OK;
}

static Slice encode_list(const WatchList *list, Arena *arena)
{
    char *content = arena_bytes(arena, list->count * POLICY_BYTES);
    for (size_t i = 0; i < list->count; i++)
        bytes_put_u64(content + i * POLICY_BYTES, list->policies[i]);
    return slice_of(content, list->count * POLICY_BYTES);
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
    WatchList list;
    TRY(row_read(accounts, id, arena, &row));
    TRY(read_list(accounts, id, arena, &list));
    size_t at = find_policy(&list, policy);
    TRY(refuse_dead(&row.head, NULL));
    if (on == (at < list.count))
        return STATUS_OK;
    if (on && list.count >= WATCH_MOST)
        return STATUS_REFUSED;
    if (on)
        list.policies[list.count++] = policy;
    else
        memmove(&list.policies[at], &list.policies[at + 1],
                (--list.count - at) * sizeof list.policies[0]);
    return side_replace(accounts, id, &row, &list.cell, encode_list(&list, arena), arena);
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
    Copy copy;
    CopyKey key = copy_key_of(accounts, COPY_WATCH, id);
    if (!copies_find(accounts->copies, copy_key_slice(&key), arena, &copy)) {
        TRY(read_list(accounts, id, arena, &list));
        copy.bytes = slice_of(list.policies, list.count * sizeof list.policies[0]);
        copies_put(accounts->copies, copy_key_slice(&key), &copy);
    }
    uint64_t *policies = ARENA_ARRAY(arena, copy.bytes.size / sizeof *policies, uint64_t);
    if (copy.bytes.size > 0)
        memcpy(policies, copy.bytes.data, copy.bytes.size);
    *ret_policies = policies;
    *ret_count = copy.bytes.size / sizeof *policies;
    return STATUS_OK;
}
