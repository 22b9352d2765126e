/* linked_logins.c -- see linked_logins.h. The cell that holds them is in accounts/linked_login_record.c. */
#include "access/linked_logins.h"

#include "access/access_private.h"

static bool is_of(const LinkedLoginEntry *entry, Slice provider, Slice subject)
{
    return slice_equal(entry->connection.provider, provider) &&
           slice_equal(entry->connection.subject, subject);
}

/* ---- Changing ------------------------------------------------------------------------------------------------ */

/* A change of the list that is made again on top of what others wrote; it says by *ret_write whether there is something to write. */
typedef Status ListEdit(Accounts *accounts, const AccountRecord *head, LinkedLoginList *list,
                        void *context, bool *ret_write, Reason *reason);

static void drop_entry(LinkedLoginList *list, size_t at)
{
    list->count--;
    for (; at < list->count; at++)
        list->entries[at] = list->entries[at + 1];
}

static void drop_old_wishes(Accounts *accounts, LinkedLoginList *list)
{
    int64_t now_us = clock_now_us(accounts->world.clock);
    for (size_t i = list->count; i-- > 0;)
        if (list->entries[i].state == LINKED_LOGIN_WISHED &&
            now_us - list->entries[i].connection.made_us > LINKED_LOGIN_WISH_S * US_PER_S)
            drop_entry(list, i);
}

typedef struct ListEditing {
    Accounts *accounts;
    ListEdit *edit;
    void *context;
} ListEditing;

static Status apply_list(RecordEditing *editing, void *context, Reason *reason)
{
    const ListEditing *how = context;
    TRY(refuse_dead(editing->held, reason));
    TRY(how->edit(how->accounts, editing->held, editing->record, how->context, &editing->write,
                  reason));
    drop_old_wishes(how->accounts, editing->record);
    return STATUS_OK;
}

static Status edit_list(Accounts *accounts, uint64_t account, ListEdit *edit, void *context,
                        Reason *reason)
{
    ListEditing how = {accounts, edit, context};
    return side_edit(accounts, account, LINKED_LOGINS_SIDE, apply_list, &how, reason);
}

/* ---- Connecting ------------------------------------------------------------------------------------------------ */

typedef struct Adding {
    LinkedLogin connection; /* its id is fresh */
    bool joins;             /* of an account that is being registered; others are confirmed */
    bool is_done;           /* it was connected before */
} Adding;

static Status wish_for(Accounts *accounts, const AccountRecord *head, LinkedLoginList *list,
                       void *context, bool *ret_write, Reason *reason)
{
    Adding *adding = context;
    LinkedLogin *wish = &adding->connection;
    (void)accounts;
    if (!adding->joins && head->state != ACCOUNT_CONFIRMED)
        return reason_set(reason, STATUS_REFUSED, "", "this account is %s",
                          account_state_text(head->state));
    adding->is_done = false;
    for (size_t i = list->count; i-- > 0;) {
        if (!is_of(&list->entries[i], wish->provider, wish->subject))
            continue;
        adding->is_done = list->entries[i].state == LINKED_LOGIN_CONNECTED;
        if (adding->is_done)
            return STATUS_OK;
        drop_entry(list, i); /* an older wish; this one is claimed anew */
    }
    if (list->count >= LINKED_LOGINS_MAX)
        return reason_set(reason, STATUS_REFUSED, "", "at most %d connections; end one first",
                          LINKED_LOGINS_MAX);
    list->entries[list->count++] = (LinkedLoginEntry){*wish, LINKED_LOGIN_WISHED};
    *ret_write = true;
    return STATUS_OK;
}

/* The wish stood all the time if it is still this one, and so nobody took the claim away. */
static Status fulfil(Accounts *accounts, const AccountRecord *head, LinkedLoginList *list,
                     void *context, bool *ret_write, Reason *reason)
{
    const Adding *adding = context;
    (void)accounts, (void)head;
    for (size_t i = 0; i < list->count; i++) {
        LinkedLoginEntry *entry = &list->entries[i];
        if (!id_equal(entry->connection.id, adding->connection.id))
            continue;
        *ret_write = entry->state == LINKED_LOGIN_WISHED;
        entry->state = LINKED_LOGIN_CONNECTED;
        return STATUS_OK;
    }
    return reason_set(reason, STATUS_UNAVAILABLE, "",
                      "another change of your connections came in between; try again");
}

static Status withdraw(Accounts *accounts, const AccountRecord *head, LinkedLoginList *list,
                       void *context, bool *ret_write, Reason *reason)
{
    const Adding *adding = context;
    (void)accounts, (void)head, (void)reason;
    for (size_t i = list->count; i-- > 0;)
        if (list->entries[i].state == LINKED_LOGIN_WISHED &&
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

static bool is_new_sound(const NewLinkedLogin *connection)
{
    return connection->provider.size > 0 && connection->subject.size > 0 &&
           connection->provider.size <= LINKED_LOGIN_PROVIDER_BYTES &&
           connection->subject.size <= LINKED_LOGIN_SUBJECT_BYTES &&
           slice_find(connection->provider, ':') == connection->provider.size;
}

/* Cut between two characters; what is not text is left out. */
static Slice label_of(Slice label)
{
    size_t size = 0;
    for (size_t next; (next = slice_utf8_length(slice_after(label, size))) > 0 &&
                      size + next <= LINKED_LOGIN_LABEL_BYTES;)
        size += next;
    return slice_of(label.data, size);
}

static Status add(Accounts *accounts, uint64_t account, const NewLinkedLogin *connection,
                  bool joins, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    if (!is_new_sound(connection))
        return reason_set(reason, STATUS_INVALID, "subject", "1 to %d bytes",
                          LINKED_LOGIN_SUBJECT_BYTES);
    Adding adding = {.connection = {.id = fresh_id(accounts),
                                    .provider = connection->provider,
                                    .subject = connection->subject,
                                    .label = label_of(connection->label),
                                    .made_us = clock_now_us(accounts->world.clock)},
                     .joins = joins};
    Slice folded = linked_login_record_folded(connection->provider, connection->subject, arena);
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

Status linked_login_add(Accounts *accounts, uint64_t account, const NewLinkedLogin *connection,
                        Reason *reason)
{
    return add(accounts, account, connection, false, reason);
}

Status linked_login_register(Accounts *accounts, const Registration *registration,
                             const NewLinkedLogin *connection, uint64_t *ret_id, Reason *reason)
{
    Registration person = *registration;
    uint64_t id;
    person.without_password = true;
    TRY(accounts_register(accounts, &person, &id, reason));
    Status status = add(accounts, id, connection, true, reason);
    if (status != STATUS_OK) {
        registration_undo(accounts, id);
        return status;
    }
    *ret_id = id;
    return STATUS_OK;
}

/* ---- Finding and ending ------------------------------------------------------------------------------------------ */

Status linked_login_find(Accounts *accounts, Slice provider, Slice subject, Arena *arena,
                         Account *ret_account)
{
    uint64_t holder;
    LinkedLoginList *list = ARENA_NEW(arena, LinkedLoginList);
    Account account;
    TRY(claim_holder(accounts, CLAIM_EXTERNAL, linked_login_record_folded(provider, subject, arena),
                     arena, &holder));
    TRY(linked_login_record_read(accounts, holder, arena, list));
    TRY(accounts_read(accounts, holder, arena, &account));
    bool is_alive = account.state == ACCOUNT_PENDING || account.state == ACCOUNT_CONFIRMED;
    for (size_t i = 0; is_alive && i < list->count; i++)
        if (list->entries[i].state == LINKED_LOGIN_CONNECTED &&
            is_of(&list->entries[i], provider, subject)) {
            *ret_account = account;
            return STATUS_OK;
        }
    return STATUS_NOT_FOUND;
}

Status linked_login_list(Accounts *accounts, uint64_t account, Arena *arena,
                         LinkedLogin **ret_connections, size_t *ret_count)
{
    LinkedLoginList *list = ARENA_NEW(arena, LinkedLoginList);
    size_t count = 0;
    TRY(linked_login_record_read(accounts, account, arena, list));
    LinkedLogin *connections = ARENA_ARRAY(arena, list->count, LinkedLogin);
    for (size_t i = 0; i < list->count; i++)
        if (list->entries[i].state == LINKED_LOGIN_CONNECTED)
            connections[count++] = list->entries[i].connection;
    *ret_connections = connections;
    *ret_count = count;
    return STATUS_OK;
}

typedef struct Ending {
    Id id;
    char folded[LINKED_LOGIN_PROVIDER_BYTES + 1 + LINKED_LOGIN_SUBJECT_BYTES];
    size_t folded_size;
} Ending;

static void note_folded(Ending *ending, const LinkedLogin *connection)
{
    size_t size = connection->provider.size;
    CHECK(size + 1 + connection->subject.size <= sizeof ending->folded);
    memcpy(ending->folded, connection->provider.data, size);
    ending->folded[size] = ':';
    memcpy(ending->folded + size + 1, connection->subject.data, connection->subject.size);
    ending->folded_size = size + 1 + connection->subject.size;
}

static Status end_one(Accounts *accounts, const AccountRecord *head, LinkedLoginList *list,
                      void *context, bool *ret_write, Reason *reason)
{
    Ending *ending = context;
    size_t ways = head->password_hash.size > 0, at = list->count;
    (void)accounts;
    for (size_t i = 0; i < list->count; i++) {
        ways += list->entries[i].state == LINKED_LOGIN_CONNECTED;
        if (list->entries[i].state == LINKED_LOGIN_CONNECTED &&
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

Status linked_login_end(Accounts *accounts, uint64_t account, Id id, Reason *reason)
{
    Ending ending = {.id = id};
    TRY(edit_list(accounts, account, end_one, &ending, reason));
    /* It counts for nobody now and can be taken over, freed or not. */
    (void)!claim_release(accounts, CLAIM_EXTERNAL, slice_of(ending.folded, ending.folded_size));
    return STATUS_OK;
}

Status linked_logins_undo(Accounts *accounts, uint64_t account, int64_t since_us, Arena *arena,
                          SideUndo *ret_undo, UndoneLogins *ret_logins)
{
    LinkedLoginList *list = ARENA_NEW(arena, LinkedLoginList);
    Slice column = LINKED_LOGINS_SIDE.column, value;
    TRY(side_read(accounts, account, LINKED_LOGINS_SIDE, arena, list, &value));
    ret_logins->count = 0;
    for (size_t i = list->count; i-- > 0;) {
        const LinkedLogin *one = &list->entries[i].connection;
        if (one->made_us < since_us)
            continue;
        ret_logins->folded[ret_logins->count++] =
            linked_login_record_folded(one->provider, one->subject, arena);
        drop_entry(list, i);
    }
    list->write = fresh_id(accounts);
    VaultCell at = record_cell(accounts->vault, &TABLE_ACCOUNTS, row_key(account, arena), column);
    *ret_undo =
        (SideUndo){.when = {column, value, value.size == 0},
                   .change = {.column = column,
                              .value = record_encode(&LINKED_LOGINS_RECORD, list, &at, arena)},
                   .drops = ret_logins->count > 0};
    return STATUS_OK;
}
