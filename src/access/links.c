/* links.c -- see links.h. The content of a link's cell: used or not | epoch | when made | when over | hash of the secret (32 bytes) | what
 * it carries, sealed. A used one keeps its hash, so that it can be told from one that never was. */
#include "access/access_private.h"

enum { UNUSED = 0, USED = 1 };

static const struct {
    Slice column;
    int64_t life_s;
    bool epoch;
} KINDS[] = {
#define X(name, column, life_s, epoch) {{column, sizeof(column) - 1}, life_s, epoch},
    LINK_KIND_LIST(X)
#undef X
};

static const char *const SEALED = "link";

/* A link's cell, as read. */
typedef struct LinkCell {
    uint8_t used;
    uint64_t epoch;
    int64_t made_us, ends_us;
    Slice hash, sealed;
} LinkCell;

Slice link_column(LinkKind kind)
{
    return KINDS[kind].column;
}

/* Of one kind and secret; what is a link of one kind opens no other. */
static Slice hash_of(const Accounts *accounts, LinkKind kind, const char *secret, Arena *arena)
{
    char text[1 + SECRET_BYTES];
    text[0] = (char)kind;
    memcpy(text + 1, secret, SECRET_BYTES);
    return vault_hash(accounts->vault, "link", slice_of(text, sizeof text), arena);
}

static const RecordField LINK_FIELDS[] = {
    RECORD_RANGE(LinkCell, used, 1, UNUSED, USED),
    RECORD_U64(LinkCell, epoch),
    RECORD_I64(LinkCell, made_us),
    RECORD_I64(LinkCell, ends_us),
    RECORD_FIXED(LinkCell, hash, VAULT_HASH_BYTES),
    RECORD_REST(LinkCell, sealed, STORE_VALUE_MAX),
};
const Record LINK_RECORD = RECORD("link", LinkCell, 0, LINK_FIELDS);

static Side side_of(LinkKind kind)
{
    return (Side){&SIDE_RECORD, KINDS[kind].column};
}

static VaultCell cell_of(const Accounts *accounts, LinkKind kind, uint64_t account, Arena *arena)
{
    return record_cell(accounts->vault, &TABLE_ACCOUNTS, row_key(account, arena),
                       KINDS[kind].column);
}

/* ---- Making ------------------------------------------------------------------------------------------------- */

typedef struct Making {
    Accounts *accounts;
    const NewLink *link;
    Slice hash;
} Making;

static Slice content_of(const Making *making, uint64_t epoch, Arena *arena)
{
    const Accounts *accounts = making->accounts;
    VaultCell cell = cell_of(accounts, making->link->kind, making->link->account, arena);
    int64_t now_us = clock_now_us(accounts->world.clock);
    LinkCell link = {.epoch = epoch,
                     .made_us = now_us,
                     .ends_us = now_us + KINDS[making->link->kind].life_s * US_PER_S,
                     .hash = making->hash,
                     .sealed = vault_seal_at(&cell, SEALED, making->link->payload, arena)};
    return record_encode(&LINK_RECORD, &link, NULL, arena);
}

static Status apply_making(RecordEditing *editing, void *context, Reason *reason)
{
    const Making *making = context;
    const AccountRecord *head = editing->held;
    SideCell *cell = editing->record;
    if (head != NULL)
        TRY(refuse_dead(head, reason));
    cell->content = content_of(making, head != NULL ? head->epoch : 0, editing->arena);
    editing->write = true;
    return STATUS_OK;
}

Change link_change(Accounts *accounts, const NewLink *link, Slice secret, Arena *arena)
{
    char bytes[SECRET_BYTES];
    CHECK(secret_bytes(secret, bytes) && !KINDS[link->kind].epoch);
    Making making = {accounts, link, hash_of(accounts, link->kind, bytes, arena)};
    return side_change(KINDS[link->kind].column, fresh_id(accounts), content_of(&making, 0, arena),
                       arena);
}

Status links_make(Accounts *accounts, const NewLink *link, Arena *arena, Slice *ret_secret)
{
    char secret[SECRET_BYTES];
    CHECK(link->kind < LINK_KIND_COUNT && link->payload.size <= LINK_PAYLOAD_BYTES);
    CHECK((link->kind == LINK_ADMIN) == (link->account == 0));
    secret_make(accounts, link->account, secret);
    Making making = {accounts, link, hash_of(accounts, link->kind, secret, arena)};
    TRY(side_edit(accounts, link->account, side_of(link->kind), apply_making, &making, NULL));
    *ret_secret = secret_text(secret, arena);
    return STATUS_OK;
}

/* ---- Looking ------------------------------------------------------------------------------------------------ */

/* Whether a link that is there still counts. */
static Status check_link(Accounts *accounts, LinkKind kind, uint64_t account, const LinkCell *cell,
                         Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    AccountRow row;
    if (cell->used == USED)
        return reason_set(reason, STATUS_REFUSED, "link", "this link was used already");
    if (clock_now_us(accounts->world.clock) >= cell->ends_us)
        return reason_set(reason, STATUS_REFUSED, "link",
                          "this link is too old; ask for a new one");
    if (kind == LINK_ADMIN)
        return STATUS_OK;
    TRY(row_read(accounts, account, arena, &row));
    TRY(refuse_dead(&row.head, reason));
    if (KINDS[kind].epoch && row.head.epoch != cell->epoch)
        return reason_set(reason, STATUS_REFUSED, "link",
                          "the account has changed since; ask for a new link");
    return STATUS_OK;
}

static Status no_such_link(Reason *reason)
{
    return reason_set(reason, STATUS_NOT_FOUND, "link",
                      "there is no such link, or a newer one was sent");
}

Status links_peek(Accounts *accounts, LinkKind kind, Slice secret, Arena *arena, Link *ret_link,
                  Reason *reason)
{
    char bytes[SECRET_BYTES];
    SideCell side;
    LinkCell cell;
    Slice payload, value;
    if (!secret_bytes(secret, bytes))
        return no_such_link(reason);
    uint64_t account = bytes_get_u64(bytes);
    if ((kind == LINK_ADMIN) != (account == 0))
        return no_such_link(reason);
    TRY(side_read(accounts, account, side_of(kind), arena, &side, &value));
    if (side.content.size == 0)
        return no_such_link(reason);
    TRY(record_decode(&LINK_RECORD, side.content, NULL, NULL, &cell));
    if (!secret_equal(cell.hash, hash_of(accounts, kind, bytes, arena)))
        return no_such_link(reason);
    TRY(check_link(accounts, kind, account, &cell, reason));
    VaultCell at = cell_of(accounts, kind, account, arena);
    TRY(vault_unseal_at(&at, SEALED, cell.sealed, arena, &payload));
    *ret_link = (Link){.kind = kind,
                       .account = account,
                       .payload = payload,
                       .made_us = cell.made_us,
                       .ends_us = cell.ends_us,
                       .value = value};
    return STATUS_OK;
}

/* ---- Using -------------------------------------------------------------------------------------------------- */

/* What it carried is not kept. */
static Slice spent_content(const Link *link, Arena *arena)
{
    LinkCell cell;
    CHECK(record_decode(&LINK_RECORD, slice_after(link->value, 1 + ID_BYTES), NULL, NULL, &cell) ==
          STATUS_OK);
    cell.used = USED;
    cell.sealed = SLICE_EMPTY;
    return record_encode(&LINK_RECORD, &cell, NULL, arena);
}

Change link_spent(const Accounts *accounts, const Link *link, Arena *arena)
{
    return side_change(KINDS[link->kind].column, fresh_id(accounts), spent_content(link, arena),
                       arena);
}

Condition link_unspent(const Link *link)
{
    return (Condition){KINDS[link->kind].column, link->value, false};
}

Status links_use(Accounts *accounts, const Link *link, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Records records = accounts_records(accounts);
    SideCell spent = {.content = spent_content(link, arena)};
    CHECK(link->kind == LINK_ADMIN);
    RecordWrite write = {.place = side_place(link->account, side_of(link->kind), arena),
                         .record = &spent,
                         .before = link->value};
    Status status = record_write(&records, &write, arena, NULL);
    if (status == STATUS_CONFLICT)
        return reason_set(reason, STATUS_REFUSED, "link", "somebody else has just used it");
    return status;
}
