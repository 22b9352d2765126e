/* invitations.c -- see invitations.h. The row is INVITATION_ROW bytes of a keyed hash of the folded address. Its cell `head` holds: format | id of the
 * write (16 bytes) | state | when made | when over | by whom | account | the address, sealed. A secret is the row and as many bytes of a keyed hash
 * of the row and the id that stood there when the invitation was made, which later writes keep as `maker`. */
#include "electorate/electorate_private.h"

enum { INVITATION_ROW = 16, COLUMN = 8 + INVITATION_ROW };
_Static_assert((int)SECRET_BYTES == 2 * (int)INVITATION_ROW, "a secret is a row and a proof");

static const Slice HEAD = {"head", 4};
static const Slice LIST = {"all", 3};
static const char *const SEALED = "invitation";

const char *const INVITATION_STATE_WORDS[] = WORDS(INVITATION_STATE_LIST, WORD_2);

const char *invitation_state_text(InvitationState state)
{
    return word_of(INVITATION_STATE_WORDS, state);
}

/* ---- Bytes --------------------------------------------------------------------------------------------------- */

typedef struct InvitationHead {
    Id write;
    Id maker; /* the id of the write that made it: what its secret comes from */
    InvitationState state;
    int64_t made_us, ends_us;
    uint64_t by, account;
    Slice sealed;
} InvitationHead;

static const RecordField HEAD_FIELDS[] = {
    RECORD_WRITE_ID(InvitationHead, write),
    RECORD_ID(InvitationHead, maker),
    RECORD_ENUM(InvitationHead, state, INVITATION_STATES),
    RECORD_I64(InvitationHead, made_us),
    RECORD_I64(InvitationHead, ends_us),
    RECORD_U64(InvitationHead, by),
    RECORD_U64(InvitationHead, account),
    RECORD_REST(InvitationHead, sealed, STORE_VALUE_MAX),
};
const Record INVITATION_RECORD = RECORD("invitation", InvitationHead, 1, HEAD_FIELDS);

static Status decode(Slice value, InvitationHead *ret_head)
{
    return record_decode(&INVITATION_RECORD, value, NULL, NULL, ret_head);
}

static Slice row_of(const Accounts *accounts, Slice folded, Arena *arena)
{
    Slice hash = vault_hash(accounts->vault, "invitation", folded, arena);
    return slice_of(hash.data, INVITATION_ROW);
}

/* The bytes of the secret. */
static void make_secret(const Accounts *accounts, Slice row, Id maker, Arena *arena,
                        char *ret_bytes)
{
    char text[INVITATION_ROW + ID_BYTES];
    memcpy(text, row.data, INVITATION_ROW);
    memcpy(text + INVITATION_ROW, maker.bytes, ID_BYTES);
    Slice proof =
        vault_hash(accounts->vault, "invitation secret", slice_of(text, sizeof text), arena);
    memcpy(ret_bytes, row.data, INVITATION_ROW);
    memcpy(ret_bytes + INVITATION_ROW, proof.data, SECRET_BYTES - INVITATION_ROW);
}

/* ---- The row ------------------------------------------------------------------------------------------------- */

static Status invitation_of(const Accounts *accounts, Slice row, Slice value, Arena *arena,
                            Invitation *ret_invitation)
{
    InvitationHead head;
    Slice email;
    char secret[SECRET_BYTES];
    TRY(decode(value, &head));
    VaultCell cell = record_cell(accounts->vault, &TABLE_INVITATIONS, row, HEAD);
    TRY(vault_unseal_at(&cell, SEALED, head.sealed, arena, &email));
    make_secret(accounts, row, head.maker, arena, secret);
    *ret_invitation = (Invitation){
        .email = email,
        .state = head.state,
        .made_us = head.made_us,
        .ends_us = head.ends_us,
        .by = head.by,
        .account = head.account,
        .secret = head.state == INVITATION_OPEN ? secret_text(secret, arena) : SLICE_EMPTY,
        .row = row,
        .value = value};
    return STATUS_OK;
}

/* A registration that was never confirmed did not use it up. */
static Status reopen_when_void(Accounts *accounts, Arena *arena, Invitation *invitation)
{
    AccountRow row;
    InvitationHead head;
    char secret[SECRET_BYTES];
    if (invitation->state != INVITATION_USED)
        return STATUS_OK;
    Status status = row_read(accounts, invitation->account, arena, &row);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    if (status == STATUS_OK && row.head.state != ACCOUNT_VOID)
        return STATUS_OK;
    TRY(decode(invitation->value, &head));
    make_secret(accounts, invitation->row, head.maker, arena, secret);
    invitation->state = INVITATION_OPEN;
    invitation->account = 0;
    invitation->secret = secret_text(secret, arena);
    return STATUS_OK;
}

/* NOT_FOUND when the row has none. */
static Status read_row(Accounts *accounts, Slice row, Arena *arena, Invitation *ret_invitation)
{
    Cell cell;
    Read read = {&TABLE_INVITATIONS, row, HEAD, STORE_SERIAL};
    TRY(store_read(accounts->store, &read, arena, &cell));
    TRY(invitation_of(accounts, row, cell.value, arena, ret_invitation));
    return reopen_when_void(accounts, arena, ret_invitation);
}

static int64_t ttl_s(const Accounts *accounts, int64_t ends_us)
{
    int64_t left_s = (ends_us - clock_now_us(accounts->world.clock)) / US_PER_S;
    return (left_s > 0 ? left_s : 0) + INVITATION_KEPT_DAYS * S_PER_DAY;
}

/* On top of `before`, or of nothing. An attempt that comes late, when the row has expired, brings back an invitation that is over. */
static Status replace(Accounts *accounts, Slice row, const Invitation *before, InvitationHead *head,
                      Batch marks, Arena *arena)
{
    Records records = accounts_records(accounts);
    head->write = fresh_id(accounts);
    if (id_is_zero(head->maker))
        head->maker = head->write;
    RecordWrite write = {.place = {&INVITATION_RECORD, &TABLE_INVITATIONS, row, HEAD},
                         .record = head,
                         .keep_id = true,
                         .before = before != NULL ? before->value : SLICE_EMPTY,
                         .ttl_s = ttl_s(accounts, head->ends_us),
                         .marks = marks};
    return record_write(&records, &write, arena, NULL);
}

/* ---- Making -------------------------------------------------------------------------------------------------- */

/* The place in the list by time. */
static RowChange list_change(const Accounts *accounts, Slice row, const InvitationHead *head,
                             Arena *arena)
{
    char *column = arena_bytes(arena, COLUMN);
    bytes_put_u64(column, (uint64_t)head->made_us);
    memcpy(column + 8, row.data, INVITATION_ROW);
    return (RowChange){&TABLE_INVITATION_LIST, LIST,
                       (Change){.column = slice_of(column, COLUMN),
                                .value = SLICE_EMPTY,
                                .timestamp = clock_now_us(accounts->world.clock),
                                .ttl_s = ttl_s(accounts, head->ends_us)}};
}

static Status make_once(Accounts *accounts, const NewInvitation *want, Slice row, Arena *arena,
                        Invitation *ret_invitation, bool *ret_new)
{
    Invitation before;
    int64_t now_us = clock_now_us(accounts->world.clock);
    Status status = read_row(accounts, row, arena, &before);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    bool is_there = status == STATUS_OK;
    if (is_there && before.state == INVITATION_OPEN && before.ends_us > now_us) {
        *ret_invitation = before;
        *ret_new = false;
        return STATUS_OK;
    }
    VaultCell cell = record_cell(accounts->vault, &TABLE_INVITATIONS, row, HEAD);
    InvitationHead head = {.made_us = now_us,
                           .ends_us = now_us + want->days * S_PER_DAY * US_PER_S,
                           .by = want->by,
                           .sealed = vault_seal_at(&cell, SEALED, want->email, arena)};
    RowChange listed = list_change(accounts, row, &head, arena);
    TRY(replace(accounts, row, is_there ? &before : NULL, &head, (Batch){&listed, 1, false},
                arena));
    TRY(read_row(accounts, row, arena, ret_invitation));
    *ret_new = true;
    return STATUS_OK;
}

static Status refuse_account(Accounts *accounts, Slice email, Arena *arena, Reason *reason)
{
    Account account;
    Status status = accounts_find(accounts, email, arena, &account);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    return reason_set(reason, STATUS_REFUSED, "email", "somebody has an account with this address");
}

Status invitations_make(Accounts *accounts, const NewInvitation *given, Arena *arena,
                        Invitation *ret_invitation, bool *ret_new, Reason *reason)
{
    NewInvitation want = *given;
    Slice folded;
    want.email = slice_trim(given->email);
    want.days = given->days == 0 ? INVITATION_DAYS : given->days;
    TRY(account_fold_email(want.email, arena, &folded, reason));
    if (want.days < 1 || want.days > INVITATION_DAYS_MAX)
        return reason_set(reason, STATUS_INVALID, "days", "an invitation lasts 1 to %d days",
                          INVITATION_DAYS_MAX);
    TRY(refuse_account(accounts, folded, arena, reason));
    Slice row = row_of(accounts, folded, arena);
    Status status = STATUS_CONFLICT;
    for (int i = 0; record_again(&status, i, NULL, reason); i++)
        status = make_once(accounts, &want, row, arena, ret_invitation, ret_new);
    return status;
}

/* ---- Looking and using --------------------------------------------------------------------------------------- */

static Status no_such(Reason *reason)
{
    return reason_set(reason, STATUS_NOT_FOUND, "invitation", "there is no such invitation");
}

static Status check_open(const Accounts *accounts, const Invitation *invitation, Reason *reason)
{
    if (invitation->state == INVITATION_USED)
        return reason_set(reason, STATUS_REFUSED, "invitation", "this invitation was used already");
    if (invitation->state == INVITATION_WITHDRAWN)
        return reason_set(reason, STATUS_REFUSED, "invitation", "this invitation was withdrawn");
    if (clock_now_us(accounts->world.clock) >= invitation->ends_us)
        return reason_set(reason, STATUS_REFUSED, "invitation", "this invitation is too old");
    return STATUS_OK;
}

Status invitations_peek(Accounts *accounts, Slice secret, Arena *arena, Invitation *ret_invitation,
                        Reason *reason)
{
    char given[SECRET_BYTES], own[SECRET_BYTES];
    Invitation invitation;
    InvitationHead head;
    if (!secret_bytes(secret, given))
        return no_such(reason);
    Slice row = arena_copy(arena, slice_of(given, INVITATION_ROW));
    Status status = read_row(accounts, row, arena, &invitation);
    if (status == STATUS_NOT_FOUND)
        return no_such(reason);
    TRY(status);
    TRY(decode(invitation.value, &head));
    make_secret(accounts, row, head.maker, arena, own);
    if (!secret_equal(slice_of(given, sizeof given), slice_of(own, sizeof own)))
        return no_such(reason);
    TRY(check_open(accounts, &invitation, reason));
    *ret_invitation = invitation;
    return STATUS_OK;
}

/* To another state, with the rest as it is. */
static Status move(Accounts *accounts, const Invitation *invitation, InvitationState state,
                   uint64_t account)
{
    ARENA_SCOPE Arena *arena = arena_new();
    InvitationHead head;
    TRY(decode(invitation->value, &head));
    head.state = state;
    head.account = account;
    return replace(accounts, invitation->row, invitation, &head, (Batch){0}, arena);
}

Status invitations_use(Accounts *accounts, const Invitation *invitation, uint64_t account)
{
    return move(accounts, invitation, INVITATION_USED, account);
}

Status invitations_withdraw(Accounts *accounts, Slice email, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice folded;
    TRY(account_fold_email(email, arena, &folded, reason));
    Slice row = row_of(accounts, folded, arena);
    Status status = STATUS_CONFLICT;
    for (int i = 0; record_again(&status, i, NULL, reason); i++) {
        Invitation invitation;
        status = read_row(accounts, row, arena, &invitation);
        if (status == STATUS_NOT_FOUND)
            return reason_set(reason, status, "email", "nobody invited this address");
        TRY(status);
        if (invitation.state != INVITATION_OPEN)
            return STATUS_OK;
        status = move(accounts, &invitation, INVITATION_WITHDRAWN, 0);
    }
    return status;
}

/* ---- Listing ------------------------------------------------------------------------------------------------- */

/* A place in the list whose invitation was made again since, or has expired, is passed over. */
static Status add_listed(Accounts *accounts, const Cell *cell, Arena *arena, InvitationPage *page)
{
    Invitation invitation;
    if (cell->column.size != COLUMN)
        return STATUS_CORRUPT;
    int64_t made_us = (int64_t)bytes_get_u64(cell->column.data);
    Status status = read_row(accounts, slice_after(cell->column, 8), arena, &invitation);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    if (invitation.made_us == made_us)
        page->invitations[page->count++] = invitation;
    return STATUS_OK;
}

Status invitations_list(Accounts *accounts, Slice position, Arena *arena, InvitationPage *ret_page)
{
    Query query = {.table = &TABLE_INVITATION_LIST,
                   .row = LIST,
                   .from = SLICE_EMPTY,
                   .to = SLICE_EMPTY,
                   .after = position,
                   .resume = position.size > 0,
                   .reverse = true,
                   .limit = INVITATIONS_LISTED};
    Page cells;
    if (position.size != 0 && position.size != COLUMN)
        return STATUS_INVALID;
    TRY(store_slice(accounts->store, &query, arena, &cells));
    InvitationPage page = {.invitations = ARENA_ARRAY(arena, cells.count, Invitation),
                           .position = SLICE_EMPTY,
                           .more = cells.more};
    for (size_t i = 0; i < cells.count; i++)
        TRY(add_listed(accounts, &cells.cells[i], arena, &page));
    if (cells.count > 0)
        page.position = cells.cells[cells.count - 1].column;
    *ret_page = page;
    return STATUS_OK;
}
