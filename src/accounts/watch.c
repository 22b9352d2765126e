/* watch.c -- watch lists: the cell `watch` beside an account's head holds the policies, 8 bytes each, in the order in which they were
 * added. */
#include "accounts/accounts_private.h"

typedef struct WatchList {
    Id write;
    uint64_t policies[WATCH_MAX + 1];
    size_t count;
} WatchList;

static const RecordField POLICY_FIELDS[] = {RECORD_ITSELF_U64};
static const Record POLICY = RECORD("watched policy", uint64_t, 0, POLICY_FIELDS);
static const RecordField WATCH_FIELDS[] = {
    RECORD_WRITE_ID(WatchList, write),
    RECORD_LIST(WatchList, policies, count, 0, WATCH_MAX, &POLICY),
};
const Record WATCH_RECORD = RECORD("watch list", WatchList, 1, WATCH_FIELDS);
const Side WATCH_SIDE = {&WATCH_RECORD, {"watch", 5}};

static size_t find_policy(const WatchList *list, uint64_t policy)
{
    size_t at = 0;
    while (at < list->count && list->policies[at] != policy)
        at++;
    return at;
}

typedef struct Watching {
    uint64_t policy;
    bool on;
} Watching;

static Status apply_watch(RecordEditing *editing, void *context, Reason *reason)
{
    const Watching *watching = context;
    WatchList *list = editing->record;
    size_t at = find_policy(list, watching->policy);
    TRY(refuse_dead(editing->held, reason));
    if (watching->on == (at < list->count))
        return STATUS_OK;
    if (watching->on && list->count >= WATCH_MAX)
        return STATUS_REFUSED;
    editing->write = true;
    if (watching->on)
        list->policies[list->count++] = watching->policy;
    else
        memmove(&list->policies[at], &list->policies[at + 1],
                (--list->count - at) * sizeof list->policies[0]);
    return STATUS_OK;
}

Status accounts_watch(Accounts *accounts, uint64_t id, uint64_t policy, bool on)
{
    return side_edit(accounts, id, WATCH_SIDE, apply_watch, &(Watching){policy, on}, NULL);
}

Status accounts_watched(Accounts *accounts, uint64_t id, Arena *arena, uint64_t **ret_policies,
                        size_t *ret_count)
{
    WatchList list;
    CachedBytes copy;
    CopyKey key = copy_key_of(accounts, COPY_WATCH, id);
    if (!read_cache_find(accounts->read_cache, copy_key_slice(&key), arena, &copy)) {
        TRY(side_read(accounts, id, WATCH_SIDE, arena, &list, NULL));
        copy.bytes = slice_of(list.policies, list.count * sizeof list.policies[0]);
        read_cache_put(accounts->read_cache, copy_key_slice(&key), &copy);
    }
    uint64_t *policies = ARENA_ARRAY(arena, copy.bytes.size / sizeof *policies, uint64_t);
    if (copy.bytes.size > 0)
        memcpy(policies, copy.bytes.data, copy.bytes.size);
    *ret_policies = policies;
    *ret_count = copy.bytes.size / sizeof *policies;
    return STATUS_OK;
}
