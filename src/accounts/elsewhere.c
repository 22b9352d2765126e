/* elsewhere.c -- see elsewhere.h. The content of the cell, sealed: for each its id, wished or connected, when, provider, subject, label. */
#include "accounts/elsewhere.h"

#include "accounts/inside.h"

const Slice CONNECTIONS_COLUMN = {"connections", 11};
static const char *const SEALED = "connections";

enum { WISHED = 0, CONNECTED = 1, ENTRIES_MOST = CONNECTIONS_MOST + 1 };

typedef struct Entry {
    Connection connection;
    uint8_t state;
} Entry;

typedef struct List {
    SideCell cell;
    Entry entries[ENTRIES_MOST]; /* room for one more */
    size_t count;
} List;

/* ---- The list ----------------------------------------------------------------------------------------------- */

static void put_text(Buffer *buffer, Slice text)
{
    buffer_u16(buffer, (uint16_t)text.size);
    buffer_bytes(buffer, text);
}

static Slice encode(const Accounts *accounts, const List *list, Arena *arena)
{
    BUFFER_SCOPE Buffer plain = {0};
    for (size_t i = 0; i < list->count; i++) {
        const Connection *connection = &list->entries[i].connection;
        buffer_bytes(&plain, id_slice(&connection->id));
        buffer_u8(&plain, list->entries[i].state);
        buffer_i64(&plain, connection->made_us);
        put_text(&plain, connection->provider);
        put_text(&plain, connection->subject);
        put_text(&plain, connection->label);
    }
    return list->count == 0 ? SLICE_EMPTY
                            : vault_seal(accounts->vault, SEALED, buffer_slice(&plain), arena);
}

static Entry take_entry(Reader *reader)
{
    Entry entry;
    Slice id = reader_bytes(reader, ID_BYTES);
    entry.state = reader_u8(reader);
    entry.connection.made_us = reader_i64(reader);
    entry.connection.provider = reader_bytes(reader, reader_u16(reader));
    entry.connection.subject = reader_bytes(reader, reader_u16(reader));
    entry.connection.label = reader_bytes(reader, reader_u16(reader));
    reader->failed |=
        entry.state > CONNECTED || id_from_bytes(id, &entry.connection.id) != STATUS_OK;
    return entry;
}

static Status read_list(Accounts *accounts, uint64_t account, Arena *arena, List *ret_list)
{
    Slice plain = SLICE_EMPTY;
    ret_list->count = 0;
    TRY(side_read(accounts, account, CONNECTIONS_COLUMN, arena, &ret_list->cell));
    if (ret_list->cell.content.size > 0)
        TRY(vault_unseal(accounts->vault, SEALED, ret_list->cell.content, arena, &plain));
    Reader reader = reader_of(plain);
    while (reader.rest.size > 0 && !reader.failed) {
        if (ret_list->count >= ENTRIES_MOST)
            return STATUS_CORRUPT;
        ret_list->entries[ret_list->count++] = take_entry(&reader);
    }
    return reader.failed ? STATUS_CORRUPT : STATUS_OK;
}

/* As it is claimed: "provider:id". */
static Slice folded_of(Slice provider, Slice subject, Arena *arena)
{
    return arena_print(arena, "%.*s:%.*s", SLICE_ARG(provider), SLICE_ARG(subject));
}

static bool is_of(const Entry *entry, Slice provider, Slice subject)
{
    return slice_equal(entry->connection.provider, provider) &&
           slice_equal(entry->connection.subject, subject);
}

Status elsewhere_borne(Accounts *accounts, uint64_t account, Arena *arena, Slice **ret_folded,
                       size_t *ret_count)
{
    List list;
    TRY(read_list(accounts, account, arena, &list));
    Slice *folded = ARENA_ARRAY(arena, list.count, Slice);
    for (size_t i = 0; i < list.count; i++)
        folded[i] = folded_of(list.entries[i].connection.provider,
                              list.entries[i].connection.subject, arena);
    *ret_folded = folded;
    *ret_count = list.count;
    return STATUS_OK;
}

Status elsewhere_bears(Accounts *accounts, uint64_t account, Slice folded, Arena *arena,
                       bool *ret_bears)
{
    Slice *borne;
    size_t count;
    bool bears = false;
    TRY(elsewhere_borne(accounts, account, arena, &borne, &count));
    for (size_t i = 0; i < count; i++)
        bears |= slice_equal(borne[i], folded);
    *ret_bears = bears;
    return STATUS_OK;
}

/* ---- Changing ------------------------------------------------------------------------------------------------ */

/* A change of the list that is made again on top of what others wrote; it says by *ret_write whether there is something to write. */
typedef Status ListEdit(Accounts *accounts, const AccountHead *head, List *list, void *context,
                        bool *ret_write, Reason *reason);

static void drop_entry(List *list, size_t at)
{
    list->count--;
    for (; at < list->count; at++)
        list->entries[at] = list->entries[at + 1];
}

static void drop_old_wishes(Accounts *accounts, List *list)
{
    int64_t now_us = clock_now_us(accounts->world.clock);
    for (size_t i = list->count; i-- > 0;)
        if (list->entries[i].state == WISHED &&
            now_us - list->entries[i].connection.made_us > CONNECTION_WISH_S * US_PER_S)
            drop_entry(list, i);
}

/* One attempt. */
static Status edit_once(Accounts *accounts, uint64_t account, ListEdit *edit, void *context,
                        Arena *arena, Reason *reason)
{
    AccountRow row;
    List *list = ARENA_NEW(arena, List);
    bool write = false;
    TRY(row_read(accounts, account, arena, &row));
    TRY(refuse_dead(&row.head, reason));
    TRY(read_list(accounts, account, arena, list));
    TRY(edit(accounts, &row.head, list, context, &write, reason));
    if (!write)
        return STATUS_OK;
    drop_old_wishes(accounts, list);
    return side_replace(accounts, account, &row, &list->cell, encode(accounts, list, arena), arena);
}

static Status edit_list(Accounts *accounts, uint64_t account, ListEdit *edit, void *context,
                        Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_CONFLICT;
    for (int i = 0; i < RACE_TRIES && status == STATUS_CONFLICT; i++) {
        arena_reset(arena);
        status = edit_once(accounts, account, edit, context, arena, reason);
    }
    return status;
}

/* ---- Connecting ------------------------------------------------------------------------------------------------ */

typedef struct Adding {
    Connection connection; /* its id is fresh */
    bool is_done;          /* it was connected before */
} Adding;

static Status wish_for(Accounts *accounts, const AccountHead *head, List *list, void *context,
                       bool *ret_write, Reason *reason)
{
    Adding *adding = context;
    Connection *wish = &adding->connection;
    (void)accounts, (void)head;
    adding->is_done = false;
    for (size_t i = list->count; i-- > 0;) {
        if (!is_of(&list->entries[i], wish->provider, wish->subject))
            continue;
        adding->is_done = list->entries[i].state == CONNECTED;
        if (adding->is_done)
            return STATUS_OK;
        drop_entry(list, i); /* an older wish; this one is claimed anew */
    }
    if (list->count >= CONNECTIONS_MOST)
        return reason_set(reason, STATUS_REFUSED, "", "at most %d connections; end one first",
                          CONNECTIONS_MOST);
    list->entries[list->count++] = (Entry){*wish, WISHED};
    *ret_write = true;
    return STATUS_OK;
}

/* The wish stood all the time if it is still this one, and so nobody took the claim away. */
static Status fulfil(Accounts *accounts, const AccountHead *head, List *list, void *context,
                     bool *ret_write, Reason *reason)
{
    const Adding *adding = context;
    (void)accounts, (void)head;
    for (size_t i = 0; i < list->count; i++) {
        Entry *entry = &list->entries[i];
        if (!id_equal(entry->connection.id, adding->connection.id))
            continue;
        *ret_write = entry->state == WISHED;
        entry->state = CONNECTED;
        return STATUS_OK;
    }
    return reason_set(reason, STATUS_UNAVAILABLE, "",
                      "another change of your connections came in between; try again");
}

static Status withdraw(Accounts *accounts, const AccountHead *head, List *list, void *context,
                       bool *ret_write, Reason *reason)
{
    const Adding *adding = context;
    (void)accounts, (void)head, (void)reason;
    for (size_t i = list->count; i-- > 0;)
        if (list->entries[i].state == WISHED &&
            id_equal(list->entries[i].connection.id, adding->connection.id)) {
            drop_entry(list, i);
            *ret_write = true;
        }
    return STATUS_OK;
}

static Status take_claim(Accounts *accounts, uint64_t account, Slice folded, Reason *reason)
{
    Status status = claim_take(accounts, CLAIM_EXTERNAL, folded, account);
    if (status == STATUS_REFUSED)
        return reason_set(reason, status, "", "this log-in belongs to another account here");
    return status == STATUS_UNKNOWN ? STATUS_UNAVAILABLE : status; /* the claim is; we are not */
}

static bool is_new_sound(const NewConnection *connection)
{
    return connection->provider.size > 0 && connection->subject.size > 0 &&
           connection->provider.size <= CONNECTION_PROVIDER_BYTES &&
           connection->subject.size <= CONNECTION_SUBJECT_BYTES &&
           slice_find(connection->provider, ':') == connection->provider.size;
}

/* Cut between two characters; what is not text is left out. */
static Slice label_of(Slice label)
{
    size_t size = 0;
    for (size_t next; (next = slice_utf8_length(slice_after(label, size))) > 0 &&
                      size + next <= CONNECTION_LABEL_BYTES;)
        size += next;
    return slice_of(label.data, size);
}

Status elsewhere_add(Accounts *accounts, uint64_t account, const NewConnection *connection,
                     Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    if (!is_new_sound(connection))
        return reason_set(reason, STATUS_INVALID, "subject", "1 to %d bytes",
                          CONNECTION_SUBJECT_BYTES);
    Adding adding = {.connection = {.id = fresh_id(accounts),
                                    .provider = connection->provider,
                                    .subject = connection->subject,
                                    .label = label_of(connection->label),
                                    .made_us = clock_now_us(accounts->world.clock)}};
    Slice folded = folded_of(connection->provider, connection->subject, arena);
    TRY(edit_list(accounts, account, wish_for, &adding, reason));
    if (adding.is_done)
        return STATUS_OK;
    Status status = take_claim(accounts, account, folded, reason);
    if (status == STATUS_OK)
        status = edit_list(accounts, account, fulfil, &adding, reason);
    if (status != STATUS_OK && status != STATUS_UNKNOWN) { /* tidiness: a wish lets nobody in */
        (void)!edit_list(accounts, account, withdraw, &adding, NULL);
        (void)!claim_release(accounts, CLAIM_EXTERNAL, folded);
    }
    return status;
}

Status elsewhere_register(Accounts *accounts, const Registration *registration,
                          const NewConnection *connection, uint64_t *ret_id, Reason *reason)
{
    Registration person = *registration;
    uint64_t id;
    person.without_password = true;
    TRY(accounts_register(accounts, &person, &id, reason));
    Status status = elsewhere_add(accounts, id, connection, reason);
    if (status != STATUS_OK) {
        register_undo(accounts, id);
        return status;
    }
    *ret_id = id;
    return STATUS_OK;
}

/* ---- Finding and ending ------------------------------------------------------------------------------------------ */

Status elsewhere_find(Accounts *accounts, Slice provider, Slice subject, Arena *arena,
                      Account *ret_account)
{
    uint64_t holder;
    List *list = ARENA_NEW(arena, List);
    Account account;
    TRY(claim_holder(accounts, CLAIM_EXTERNAL, folded_of(provider, subject, arena), arena,
                     &holder));
    TRY(read_list(accounts, holder, arena, list));
    TRY(accounts_read(accounts, holder, arena, &account));
    bool is_alive = account.state == ACCOUNT_PENDING || account.state == ACCOUNT_CONFIRMED;
    for (size_t i = 0; is_alive && i < list->count; i++)
        if (list->entries[i].state == CONNECTED && is_of(&list->entries[i], provider, subject)) {
            *ret_account = account;
            return STATUS_OK;
        }
    return STATUS_NOT_FOUND;
}

Status elsewhere_list(Accounts *accounts, uint64_t account, Arena *arena,
                      Connection **ret_connections, size_t *ret_count)
{
    List *list = ARENA_NEW(arena, List);
    size_t count = 0;
    TRY(read_list(accounts, account, arena, list));
    Connection *connections = ARENA_ARRAY(arena, list->count, Connection);
    for (size_t i = 0; i < list->count; i++)
        if (list->entries[i].state == CONNECTED)
            connections[count++] = list->entries[i].connection;
    *ret_connections = connections;
    *ret_count = count;
    return STATUS_OK;
}

typedef struct Ending {
    Id id;
    char folded[CONNECTION_PROVIDER_BYTES + 1 + CONNECTION_SUBJECT_BYTES];
    size_t folded_size;
} Ending;

static void note_folded(Ending *ending, const Connection *connection)
{
    size_t size = connection->provider.size;
    CHECK(size + 1 + connection->subject.size <= sizeof ending->folded);
    memcpy(ending->folded, connection->provider.data, size);
    ending->folded[size] = ':';
    memcpy(ending->folded + size + 1, connection->subject.data, connection->subject.size);
    ending->folded_size = size + 1 + connection->subject.size;
}

static Status end_one(Accounts *accounts, const AccountHead *head, List *list, void *context,
                      bool *ret_write, Reason *reason)
{
    Ending *ending = context;
    size_t ways = head->password_hash.size > 0, at = list->count;
    (void)accounts;
    for (size_t i = 0; i < list->count; i++) {
        ways += list->entries[i].state == CONNECTED;
        if (list->entries[i].state == CONNECTED &&
            id_equal(list->entries[i].connection.id, ending->id))
            at = i;
    }
    if (at == list->count)
        return STATUS_NOT_FOUND;
    if (ways == 1)
        return reason_set(reason, STATUS_REFUSED, "",
                          "this is your only way to log in; choose a password first");
    note_folded(ending, &list->entries[at].connection);
    drop_entry(list, at);
    *ret_write = true;
    return STATUS_OK;
}

Status elsewhere_end(Accounts *accounts, uint64_t account, Id id, Reason *reason)
{
    Ending ending = {.id = id};
    TRY(edit_list(accounts, account, end_one, &ending, reason));
    /* It counts for nobody now and can be taken over, freed or not. */
    (void)!claim_release(accounts, CLAIM_EXTERNAL, slice_of(ending.folded, ending.folded_size));
    return STATUS_OK;
}
