/* registration.c -- registering, confirming, renaming: the steps that cross rows. See accounts.h, and claims.c for why the order
 * of the steps matters: a row bears a label before the label is claimed. */
#include "accounts/accounts_private.h"

static const char *const FIELDS[CLAIM_KINDS] = {"name", "email"};
static const char *const TAKEN[CLAIM_KINDS] = {"this name is taken", "this e-mail is taken"};

static Status fold_label(ClaimKind kind, Slice text, Arena *arena, Label *ret_label, Reason *reason)
{
    Label label = {.text = kind == CLAIM_EMAIL ? slice_trim(text) : text};
    TRY(kind == CLAIM_EMAIL ? account_fold_email(text, arena, &label.folded, reason)
                            : account_check_new_name(text, arena, &label.folded, reason));
    *ret_label = label;
    return STATUS_OK;
}

static Status take_label(Accounts *accounts, ClaimKind kind, Slice folded, uint64_t id,
                         Reason *reason)
{
    Status status = claim_take(accounts, kind, folded, id);
    if (status == STATUS_REFUSED)
        return reason_set(reason, status, FIELDS[kind], "%s", TAKEN[kind]);
    return status;
}

Status accounts_check_name(Accounts *accounts, Slice name, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice folded;
    TRY(account_check_new_name(name, arena, &folded, reason));
    Status status = claim_check(accounts, CLAIM_NAME, folded, 0);
    if (status == STATUS_REFUSED)
        return reason_set(reason, status, FIELDS[CLAIM_NAME], "%s", TAKEN[CLAIM_NAME]);
    return status;
}

/* ---- Registering ------------------------------------------------------------------------------------------- */

static Status check_registration(const Registration *registration, int64_t now_us, Reason *reason)
{
    if (!registration->without_password)
        TRY(account_check_password(registration->password, reason));
    if ((registration->roles & ~(uint32_t)ACCOUNT_ROLES_ALL) != 0)
        return reason_set(reason, STATUS_INVALID, "roles", "there is no such role");
    if (registration->registered_us < 0 || registration->registered_us > now_us)
        return reason_set(reason, STATUS_INVALID, "registered",
                          "the time of registration is not in the future");
    return signals_check(registration, reason);
}

static Status draft_head(Accounts *accounts, const Registration *registration, Arena *arena,
                         AccountRecord *ret_head, Reason *reason)
{
    int64_t now_us = clock_now_us(accounts->world.clock);
    AccountRecord head = {.state = ACCOUNT_PENDING,
                          .state_time_us = now_us,
                          .registered_us = registration->registered_us,
                          .roles = registration->roles,
                          .password_hash = SLICE_EMPTY};
    account_record_forget(&head);
    if (head.registered_us == 0)
        head.registered_us = now_us;
    TRY(fold_label(CLAIM_NAME, registration->name, arena, &head.labels[CLAIM_NAME], reason));
    TRY(fold_label(CLAIM_EMAIL, registration->email, arena, &head.labels[CLAIM_EMAIL], reason));
    TRY(check_registration(registration, now_us, reason));
    if (!registration->without_password)
        TRY(password_hash(accounts, registration->password, arena, &head.password_hash));
    if (registration->only_name) { /* after the same work as for everybody */
        head.labels[CLAIM_EMAIL] = (Label){SLICE_EMPTY, SLICE_EMPTY};
        head.password_hash = SLICE_EMPTY;
    }
    *ret_head = head;
    return STATUS_OK;
}

static Status apply_void(AccountRecord *head, void *context, bool *ret_write, Reason *reason)
{
    (void)reason;
    if (head->state != ACCOUNT_PENDING)
        return head->state == ACCOUNT_VOID ? STATUS_OK : STATUS_CONFLICT;
    *ret_write = true;
    row_set_state(context, head, ACCOUNT_VOID);
    head->password_hash = SLICE_EMPTY;
    account_record_forget(head);
    return STATUS_OK;
}

/* A registration that failed with `why` after its row was made. Once the row is void, nothing of it can come to be: what was
 * unknown is then known not to be done. */
static Status give_up(Accounts *accounts, uint64_t id, Status why)
{
    Status voided =
        row_edit(accounts, id, (RowEdit){.apply = apply_void, .context = accounts}, NULL);
    if (voided == STATUS_OK)
        return why == STATUS_UNKNOWN ? STATUS_UNAVAILABLE : why;
    /* It stays pending until the clean-up comes. A claim that was refused stays refused; the rest may yet seem done. */
    return why == STATUS_REFUSED || why == STATUS_CORRUPT ? why : STATUS_UNKNOWN;
}

void registration_undo(Accounts *accounts, uint64_t id)
{
    (void)!give_up(accounts, id, STATUS_REFUSED);
}

/* For an account that holds the claim on the e-mail: nobody else can leave that address any more (claims.c). */
static Status check_entry(Accounts *accounts, Slice folded, uint64_t id, Reason *reason)
{
    bool has_entries;
    TRY(claim_has_entries(accounts, &has_entries));
    Status status = has_entries ? claim_check(accounts, CLAIM_ENTRY, folded, id) : STATUS_OK;
    if (status == STATUS_REFUSED)
        return reason_set(reason, status, "entry", "this address stands for another account");
    return status;
}

static Status claim_and_confirm(Accounts *accounts, const AccountRecord *head, uint64_t id,
                                const Registration *registration, Reason *reason)
{
    Slice email = head->labels[CLAIM_EMAIL].folded;
    TRY(take_label(accounts, CLAIM_NAME, head->labels[CLAIM_NAME].folded, id, reason));
    if (registration->only_name)
        return STATUS_OK;
    TRY(take_label(accounts, CLAIM_EMAIL, email, id, reason));
    TRY(check_entry(accounts, email, id, reason));
    return registration->confirmed ? accounts_confirm(accounts, id, reason) : STATUS_OK;
}

Status accounts_register(Accounts *accounts, const Registration *registration, uint64_t *ret_id,
                         Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    AccountRecord head;
    uint64_t id;
    TRY(draft_head(accounts, registration, arena, &head, reason));
    TRY(sequence_next(accounts->ids, &id));
    Batch signals = signals_of(accounts, id, registration, head.labels[CLAIM_EMAIL].folded, arena);
    uint64_t before = store_effects();
    TRY(row_create(accounts, id, &head, signals, arena));
    Status status = claim_and_confirm(accounts, &head, id, registration, reason);
    if (status != STATUS_OK) {
        status = give_up(accounts, id, status);
        if (status != STATUS_UNKNOWN)
            store_effects_forget(before); /* it is void */
        return status;
    }
    *ret_id = id;
    return STATUS_OK;
}

/* ---- Confirming -------------------------------------------------------------------------------------------- */

static Status apply_confirm(AccountRecord *head, void *context, bool *ret_write, Reason *reason)
{
    if (head->state == ACCOUNT_CONFIRMED)
        return STATUS_OK;
    if (head->state != ACCOUNT_PENDING)
        return reason_set(reason, STATUS_REFUSED, "", "this registration is %s",
                          account_state_text(head->state));
    *ret_write = true;
    row_set_state(context, head, ACCOUNT_CONFIRMED);
    return STATUS_OK;
}

/* A pending account keeps a claim that it once had, so looking once is enough. */
static Status check_claims(Accounts *accounts, uint64_t id, const AccountRecord *head, Arena *arena,
                           Reason *reason)
{
    for (int kind = 0; kind < CLAIM_KINDS; kind++) {
        uint64_t holder = 0;
        Status status =
            claim_holder(accounts, (ClaimKind)kind, head->labels[kind].folded, arena, &holder);
        if (status != STATUS_OK && status != STATUS_NOT_FOUND)
            return status;
        if (holder != id)
            return reason_set(reason, STATUS_REFUSED, FIELDS[kind],
                              "this registration did not get its %s", FIELDS[kind]);
    }
    return STATUS_OK;
}

/* The entry is looked at again: a crash may have come before registering did so. */
Status registration_confirm_by(Accounts *accounts, uint64_t id, RowEdit by, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    AccountRow row;
    TRY(row_read(accounts, id, arena, &row));
    if (row.head.state == ACCOUNT_PENDING) {
        TRY(check_claims(accounts, id, &row.head, arena, reason));
        TRY(check_entry(accounts, row.head.labels[CLAIM_EMAIL].folded, id, reason));
    }
    by.apply = apply_confirm;
    by.context = accounts;
    return row_edit(accounts, id, by, reason);
}

Status accounts_confirm(Accounts *accounts, uint64_t id, Reason *reason)
{
    return registration_confirm_by(accounts, id, (RowEdit){.apply = NULL}, reason);
}

/* ---- Another name or e-mail -------------------------------------------------------------------------------- */

/* How an e-mail is left. While it is the account's own, nobody else can have the claim on it.
 *   1. The new one is wished for and claimed; nothing is lost yet.
 *   2. Where entries count, the old one becomes the account's entry (claims.c). A crash after that leaves an account whose own address is its entry.
 *   3. The row moves. With a link it goes on to bear the old one for some days, as if it wished for it, so that nobody can take it and stand in the
 *      way of whoever takes the change back. */
typedef struct LabelChange {
    Accounts *accounts;
    ClaimKind kind;
    ClaimRequest want;
    bool same;               /* as compared; only the writing changes */
    char old[STORE_ROW_MAX]; /* the label that is left, folded */
    size_t old_size;
    bool keeps_old;
    bool drops_second;
    RowEdit by;     /* the link that it is done by, if any, which is used up by the move */
    uint64_t epoch; /* after the move */
} LabelChange;

static void note_old(LabelChange *change, Slice folded)
{
    CHECK(folded.size <= sizeof change->old);
    if (folded.size > 0)
        memcpy(change->old, folded.data, folded.size);
    change->old_size = folded.size;
}

static Slice old_of(const LabelChange *change)
{
    return slice_of(change->old, change->old_size);
}

static Status apply_wish(AccountRecord *head, void *context, bool *ret_write, Reason *reason)
{
    LabelChange *change = context;
    Label *label = &head->labels[change->kind];
    if (head->state != ACCOUNT_CONFIRMED)
        return reason_set(reason, STATUS_REFUSED, "", "this account is %s",
                          account_state_text(head->state));
    *ret_write = true;
    change->same = slice_equal(label->folded, change->want.label.folded);
    note_old(change, label->folded);
    if (!change->same && change->kind == CLAIM_EMAIL) {
        if (head->email_back_us > clock_now_us(change->accounts->world.clock))
            return reason_set(reason, STATUS_REFUSED, "email",
                              "your e-mail was changed within the last %d days, and the one "
                              "before is kept for as long; change it again after that",
                              ACCOUNT_EMAIL_BACK_DAYS);
        head->email_back_us = 0;
    }
    if (!change->same) {
        head->claim_requests[change->kind] = change->want;
        return STATUS_OK;
    }
    *ret_write = !slice_equal(label->text, change->want.label.text);
    *label = change->want.label;
    return STATUS_OK;
}

/* The wish has stood all the time if it is still this one, and so nobody took the claim away. */
static Status apply_move(AccountRecord *head, void *context, bool *ret_write, Reason *reason)
{
    LabelChange *change = context;
    Label *label = &head->labels[change->kind];
    ClaimRequest *want = &head->claim_requests[change->kind];
    if (head->state != ACCOUNT_CONFIRMED || !id_equal(want->id, change->want.id))
        return reason_set(reason, STATUS_CONFLICT, FIELDS[change->kind],
                          "another change of this account came in between");
    const Label left = *label;
    *label = want->label;
    *want = (ClaimRequest){.label = {SLICE_EMPTY, SLICE_EMPTY}};
    *ret_write = true;
    if (change->keeps_old) {
        int64_t now_us = clock_now_us(change->accounts->world.clock);
        *want = (ClaimRequest){fresh_id(change->accounts), left, now_us};
        head->email_back_us = now_us + ACCOUNT_EMAIL_BACK_DAYS * S_PER_DAY * US_PER_S;
    }
    if (change->kind == CLAIM_EMAIL)
        head->epoch++;
    change->epoch = head->epoch;
    return STATUS_OK;
}

static Status apply_withdrawal(AccountRecord *head, void *context, bool *ret_write, Reason *reason)
{
    const LabelChange *change = context;
    ClaimRequest *want = &head->claim_requests[change->kind];
    (void)reason;
    *ret_write = id_equal(want->id, change->want.id);
    if (*ret_write)
        *want = (ClaimRequest){.label = {SLICE_EMPTY, SLICE_EMPTY}};
    return STATUS_OK;
}

/* The account was surely not moved. The wish and perhaps a claim that are left behind hinder others only until the clean-up, so
 * withdrawing them is tidiness, whose failure changes nothing. */
static void withdraw(Accounts *accounts, uint64_t id, LabelChange *change)
{
    (void)!row_edit(accounts, id, (RowEdit){.apply = apply_withdrawal, .context = change}, NULL);
    (void)!claim_release(accounts, change->kind, change->want.label.folded);
}

/* The claim on the new one is held. When the old one stands for another account already, it goes on to do so. */
static Status keep_entry(Accounts *accounts, uint64_t id, const LabelChange *change, Reason *reason)
{
    bool has_entries = false;
    if (change->kind == CLAIM_EMAIL)
        TRY(claim_has_entries(accounts, &has_entries));
    if (!has_entries)
        return STATUS_OK;
    TRY(check_entry(accounts, change->want.label.folded, id, reason));
    Status status = claim_take(accounts, CLAIM_ENTRY, old_of(change), id);
    return status == STATUS_REFUSED ? STATUS_OK : status;
}

static Status change_label(Accounts *accounts, uint64_t id, LabelChange *change, Reason *reason)
{
    Slice folded = change->want.label.folded;
    TRY(row_edit(accounts, id, (RowEdit){.apply = apply_wish, .context = change}, reason));
    if (change->same)
        return STATUS_OK;
    Status status = take_label(accounts, change->kind, folded, id, reason);
    if (status == STATUS_OK)
        status = keep_entry(accounts, id, change, reason);
    if (status == STATUS_UNKNOWN) /* the claims are; the change is not */
        status = STATUS_UNAVAILABLE;
    if (status == STATUS_OK) {
        RowEdit edit = change->by;
        edit.apply = apply_move;
        edit.context = change;
        status = row_edit(accounts, id, edit, reason);
    }
    if (status != STATUS_OK && status != STATUS_UNKNOWN)
        withdraw(accounts, id, change);
    TRY(status);
    /* The old label, unless it is kept, counts for nobody now and can be taken over, freed or not. */
    (void)!claim_release(accounts, change->kind, old_of(change));
    return STATUS_OK;
}

static Status start_change(Accounts *accounts, uint64_t id, LabelChange *change, Slice text,
                           Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    change->accounts = accounts;
    change->want.id = fresh_id(accounts);
    change->want.time_us = clock_now_us(accounts->world.clock);
    TRY(fold_label(change->kind, text, arena, &change->want.label, reason));
    return change_label(accounts, id, change, reason);
}

Status accounts_rename(Accounts *accounts, uint64_t id, Slice name, Reason *reason)
{
    return start_change(accounts, id, &(LabelChange){.kind = CLAIM_NAME}, name, reason);
}

Status accounts_change_email(Accounts *accounts, uint64_t id, Slice email, Reason *reason)
{
    return start_change(accounts, id, &(LabelChange){.kind = CLAIM_EMAIL}, email, reason);
}

Status registration_check_email(Accounts *accounts, uint64_t id, Slice email, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice folded;
    TRY(account_fold_email(email, arena, &folded, reason));
    return check_entry(accounts, folded, id, reason);
}

Status registration_change_email_by(Accounts *accounts, uint64_t id, Slice email, RowEdit by,
                                    uint64_t *ret_epoch, Reason *reason)
{
    LabelChange change = {.kind = CLAIM_EMAIL, .keeps_old = true, .by = by};
    TRY(start_change(accounts, id, &change, email, reason));
    *ret_epoch = change.epoch;
    return STATUS_OK;
}

/* The row has borne the address without a gap, so the claim on it is still the account's. */
static Status apply_restore(AccountRecord *head, void *context, bool *ret_write, Reason *reason)
{
    LabelChange *change = context;
    Label *label = &head->labels[CLAIM_EMAIL];
    ClaimRequest *kept = &head->claim_requests[CLAIM_EMAIL];
    if (head->state != ACCOUNT_CONFIRMED || id_is_zero(kept->id) ||
        head->email_back_us <= clock_now_us(change->accounts->world.clock))
        return reason_set(reason, STATUS_REFUSED, "",
                          "there is no change of the e-mail that could be taken back");
    note_old(change, label->folded);
    *label = kept->label;
    *kept = (ClaimRequest){.label = {SLICE_EMPTY, SLICE_EMPTY}};
    head->email_back_us = 0;
    head->second &= !change->drops_second;
    head->epoch++;
    *ret_write = true;
    return STATUS_OK;
}

Status registration_restore_email_by(Accounts *accounts, uint64_t id, RowEdit by, bool drops_second,
                                     Reason *reason)
{
    LabelChange change = {.accounts = accounts, .kind = CLAIM_EMAIL, .drops_second = drops_second};
    by.apply = apply_restore;
    by.context = &change;
    TRY(row_edit(accounts, id, by, reason));
    (void)!claim_release(accounts, CLAIM_EMAIL, old_of(&change));
    return STATUS_OK;
}
