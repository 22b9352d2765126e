/* linked_login_record.c -- the cell `connections` of an account's row. See accounts_private.h. Its content, sealed: for each log-in its
 * id, wished or connected, when, provider, subject, label. */
#include "accounts/accounts_private.h"

static const RecordField ENTRY_FIELDS[] = {
    RECORD_ID(LinkedLoginEntry, connection.id),
    RECORD_RANGE(LinkedLoginEntry, state, 1, LINKED_LOGIN_WISHED, LINKED_LOGIN_CONNECTED),
    RECORD_I64(LinkedLoginEntry, connection.made_us),
    RECORD_TEXT16(LinkedLoginEntry, connection.provider),
    RECORD_TEXT16(LinkedLoginEntry, connection.subject),
    RECORD_TEXT16(LinkedLoginEntry, connection.label),
};
static const Record ENTRY = RECORD("connection", LinkedLoginEntry, 0, ENTRY_FIELDS);
static const RecordField PLAIN_FIELDS[] = {
    RECORD_LIST(LinkedLoginList, entries, count, 0, LINKED_LOGIN_ENTRIES_MAX, &ENTRY)};
const Record LINKED_LOGINS_PLAIN =
    RECORD_PART("connections, open", LinkedLoginList, 0, "connections", PLAIN_FIELDS);
static const RecordField LIST_FIELDS[] = {RECORD_WRITE_ID(LinkedLoginList, write),
                                          RECORD_SEALED_IF_ANY(0, &LINKED_LOGINS_PLAIN)};
const Record LINKED_LOGINS_RECORD = RECORD("connections", LinkedLoginList, 1, LIST_FIELDS);
const Side LINKED_LOGINS_SIDE = {&LINKED_LOGINS_RECORD, {"connections", 11}};

Status linked_login_record_read(Accounts *accounts, uint64_t account, Arena *arena,
                                LinkedLoginList *ret_list)
{
    return side_read(accounts, account, LINKED_LOGINS_SIDE, arena, ret_list, NULL);
}

/* As it is claimed: "provider:id". */
Slice linked_login_record_folded(Slice provider, Slice subject, Arena *arena)
{
    return arena_print(arena, "%.*s:%.*s", SLICE_ARG(provider), SLICE_ARG(subject));
}

Status linked_login_record_borne(Accounts *accounts, uint64_t account, Arena *arena,
                                 Slice **ret_folded, size_t *ret_count)
{
    LinkedLoginList list;
    TRY(linked_login_record_read(accounts, account, arena, &list));
    Slice *folded = ARENA_ARRAY(arena, list.count, Slice);
    for (size_t i = 0; i < list.count; i++)
        folded[i] = linked_login_record_folded(list.entries[i].connection.provider,
                                               list.entries[i].connection.subject, arena);
    *ret_folded = folded;
    *ret_count = list.count;
    return STATUS_OK;
}

Status linked_login_record_bears(Accounts *accounts, uint64_t account, Slice folded, Arena *arena,
                                 bool *ret_bears)
{
    Slice *borne;
    size_t count;
    bool bears = false;
    TRY(linked_login_record_borne(accounts, account, arena, &borne, &count));
    for (size_t i = 0; i < count; i++)
        bears |= slice_equal(borne[i], folded);
    *ret_bears = bears;
    return STATUS_OK;
}
