/* links.c -- see links.h. The content of a link's cell: used or not | epoch | when made | when over | hash of the secret (32 bytes) | what
 * it carries, sealed. A used one keeps its hash, so that it can be told from one that never was. */
#include "accounts/inside.h"

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

static Slice encode(const LinkCell *cell, Arena *arena)
{
    BUFFER_SCOPE Buffer content = {0};
    buffer_u8(&content, cell->used);
    buffer_u64(&content, cell->epoch);
    buffer_i64(&content, cell->made_us);
    buffer_i64(&content, cell->ends_us);
    buffer_bytes(&content, cell->hash);
    buffer_bytes(&content, cell->sealed);
    return arena_copy(arena, buffer_slice(&content));
}

static Status decode(Slice content, LinkCell *ret_cell)
{
    Reader reader = reader_of(content);
    LinkCell cell = {.used = reader_u8(&reader)};
    cell.epoch = reader_u64(&reader);
    cell.made_us = reader_i64(&reader);
    cell.ends_us = reader_i64(&reader);
    cell.hash = reader_bytes(&reader, VAULT_HASH_BYTES);
    cell.sealed = reader_rest(&reader);
    if (reader.failed || cell.used > USED)
        return STATUS_CORRUPT;
    *ret_cell = cell;
    return STATUS_OK;
}

/* ---- Making ------------------------------------------------------------------------------------------------- */

/* One attempt. */
static Status make_once(Accounts *accounts, const NewLink *link, Slice hash, Arena *arena)
{
    AccountRow row;
    SideCell before;
    bool of_account = link->kind != LINK_ADMIN;
    int64_t now_us = clock_now_us(accounts->world.clock);
    LinkCell cell = {
        .made_us = now_us, .ends_us = now_us + KINDS[link->kind].life_s * US_PER_S, .hash = hash};
    if (of_account) {
        TRY(row_read(accounts, link->account, arena, &row));
        TRY(refuse_dead(&row.head, NULL));
        cell.epoch = row.head.epoch;
    }
    cell.sealed = vault_seal(accounts->vault, SEALED, link->payload, arena);
    TRY(side_read(accounts, link->account, KINDS[link->kind].column, arena, &before));
    return side_replace(accounts, link->account, of_account ? &row : NULL, &before,
                        encode(&cell, arena), arena);
}

Status links_make(Accounts *accounts, const NewLink *link, Arena *arena, Slice *ret_secret)
{
    ARENA_SCOPE Arena *own = arena_new();
    char secret[SECRET_BYTES];
    CHECK(link->kind < LINK_KIND_COUNT && link->payload.size <= LINK_PAYLOAD_BYTES);
    CHECK((link->kind == LINK_ADMIN) == (link->account == 0));
    secret_make(accounts, link->account, secret);
    Slice hash = hash_of(accounts, link->kind, secret, arena);
    Status status = STATUS_CONFLICT;
    for (int i = 0; i < RACE_TRIES && status == STATUS_CONFLICT; i++) {
        arena_reset(own);
        status = make_once(accounts, link, hash, own);
    }
    TRY(status);
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
    Slice payload;
    if (!secret_bytes(secret, bytes))
        return no_such_link(reason);
    uint64_t account = bytes_get_u64(bytes);
    if ((kind == LINK_ADMIN) != (account == 0))
        return no_such_link(reason);
    TRY(side_read(accounts, account, KINDS[kind].column, arena, &side));
    if (side.content.size == 0)
        return no_such_link(reason);
    TRY(decode(side.content, &cell));
    if (!secret_equal(cell.hash, hash_of(accounts, kind, bytes, arena)))
        return no_such_link(reason);
    TRY(check_link(accounts, kind, account, &cell, reason));
    TRY(vault_unseal(accounts->vault, SEALED, cell.sealed, arena, &payload));
    *ret_link = (Link){.kind = kind,
                       .account = account,
                       .payload = payload,
                       .made_us = cell.made_us,
                       .ends_us = cell.ends_us,
                       .value = side.value};
    return STATUS_OK;
}

/* ---- Using -------------------------------------------------------------------------------------------------- */

/* What it carried is not kept. */
static Slice spent_content(const Link *link, Arena *arena)
{
    LinkCell cell;
    CHECK(decode(slice_after(link->value, 1 + ID_BYTES), &cell) == STATUS_OK);
    cell.used = USED;
    cell.sealed = SLICE_EMPTY;
    return encode(&cell, arena);
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
    SideCell before = {.column = KINDS[link->kind].column, .present = true, .value = link->value};
    CHECK(link->kind == LINK_ADMIN);
    Status status =
        side_replace(accounts, link->account, NULL, &before, spent_content(link, arena), arena);
    if (status == STATUS_CONFLICT)
        return reason_set(reason, STATUS_REFUSED, "link", "somebody else has just used it");
    return status;
}
