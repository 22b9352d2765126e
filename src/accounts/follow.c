/* follow.c -- the categories and parties that somebody follows: the cell `follow` beside an account's head. See accounts.h. */
#include "accounts/accounts_private.h"

typedef struct FollowList {
    Id write;
    Followed entries[FOLLOW_MAX + 1];
    size_t count;
} FollowList;

static const RecordField ENTRY_FIELDS[] = {RECORD_U8(Followed, kind), RECORD_U64(Followed, group),
                                           RECORD_I64(Followed, since_us)};
static const Record ENTRY = RECORD("followed", Followed, 0, ENTRY_FIELDS);
static const RecordField FOLLOW_FIELDS[] = {
    RECORD_WRITE_ID(FollowList, write),
    RECORD_LIST(FollowList, entries, count, 0, FOLLOW_MAX, &ENTRY)};
const Record FOLLOW_RECORD = RECORD("followed groups", FollowList, 1, FOLLOW_FIELDS);
const Side FOLLOW_SIDE = {&FOLLOW_RECORD, {"follow", 6}};

typedef struct Following {
    const Followed *what;
    bool on;
} Following;

static Status apply_follow(RecordEditing *editing, void *context, Reason *reason)
{
    const Following *following = context;
    FollowList *list = editing->record;
    Followed what = *following->what, *at = list->entries, *end = at + list->count;
    TRY(refuse_dead(editing->held, reason));
    while (at < end && (at->kind != what.kind || at->group != what.group))
        at++;
    editing->write = following->on == (at == end);
    if (editing->write && following->on)
        list->entries[list->count++] = what;
    else if (editing->write)
        memmove(at, at + 1, (size_t)(end - at - 1) * sizeof what), list->count--;
    return list->count > FOLLOW_MAX ? STATUS_REFUSED : STATUS_OK;
}

Status accounts_follow(Accounts *accounts, uint64_t id, const Followed *what, bool on)
{
    return side_edit(accounts, id, FOLLOW_SIDE, apply_follow, &(Following){what, on}, NULL);
}

Status accounts_followed(Accounts *accounts, uint64_t id, Arena *arena, Followed **ret_list,
                         size_t *ret_count)
{
    FollowList *list = ARENA_NEW(arena, FollowList);
    TRY(side_read(accounts, id, FOLLOW_SIDE, arena, list, NULL));
    *ret_list = list->entries;
    *ret_count = list->count;
    return STATUS_OK;
}
