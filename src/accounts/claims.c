/* claims.c -- names, e-mails and linked log-ins as claims on rows of their own. See accounts_private.h.
 *
 * The cell `claim` holds: format | id of the write (16 bytes) | the account, 0 when it is free. It is never deleted, so "absent"
 * never comes back either. Whoever wants a claim that somebody holds reads the claim first and that account's row second, and
 * replaces exactly the claim it read. If the holder bore the label at any time in between, it has written it down before taking
 * the claim with a fresh id, and then either the row or the changed claim says so. That is why a holder takes its own claim again,
 * with a new id, when it wishes for a label that it holds already.
 *
 * An *entry* is an address that an account has left where the electorate goes by addresses (under a roll, or by domains): it stands for that account
 * for ever, so that nobody makes a second voter of it. The account claims it before its row stops bearing the address as its e-mail, and until then
 * the claim on the e-mail keeps everybody else away. Whoever takes that claim next therefore finds the entry. It counts without being borne, and
 * stops to do so once and for all: when its account is void, and return_days after it was closed. */
#include "accounts/accounts_private.h"
#include "base/mutant.h"

enum { NOBODY = 0 };

static const Slice CLAIM = {"claim", 5};

typedef struct Claim {
    Id write;
    uint64_t user;
    Slice value; /* as it was read; empty: there is none */
} Claim;

static const RecordField CLAIM_FIELDS[] = {RECORD_WRITE_ID(Claim, write), RECORD_U64(Claim, user)};
const Record CLAIM_RECORD = RECORD("claim", Claim, 1, CLAIM_FIELDS);

/* Names are public; the row of an e-mail, or of who somebody is elsewhere, is a keyed hash, which says nothing to who has only the data. */
static const struct {
    const char *prefix, *purpose; /* NULL: as it is */
} ROWS[] = {[CLAIM_NAME] = {"n/", NULL},
            [CLAIM_EMAIL] = {"e/", "email"},
            [CLAIM_EXTERNAL] = {"x/", "external"},
            [CLAIM_ENTRY] = {"r/", "entry"}};

static Slice claim_row(const Accounts *accounts, ClaimKind kind, Slice folded, Arena *arena)
{
    const char *purpose = ROWS[kind].purpose;
    Slice key = purpose == NULL ? folded : vault_hash(accounts->vault, purpose, folded, arena);
    char *row = arena_bytes(arena, 2 + key.size);
    memcpy(row, ROWS[kind].prefix, 2);
    memcpy(row + 2, key.data, key.size);
    return slice_of(row, 2 + key.size);
}

static Status read_claim(Accounts *accounts, Slice row, Arena *arena, Claim *ret_claim)
{
    Records records = accounts_records(accounts);
    RecordPlace place = {&CLAIM_RECORD, &TABLE_NAMES, row, CLAIM};
    return record_find(&records, &place, STORE_SERIAL, arena, ret_claim, &ret_claim->value);
}

/* CONFLICT: the claim is no longer what was read. */
static Status replace_claim(Accounts *accounts, Slice row, const Claim *before, uint64_t user,
                            Arena *arena)
{
    Id id = fresh_id(accounts);
    Claim claim = {.write = MUTANT(claim_without_id) ? (Id){{0}} : id, .user = user};
    Condition condition = {CLAIM, before->value, before->value.size == 0};
    if (MUTANT(names_without_condition) && user == NOBODY)
        condition = (Condition){SLICE("none"), SLICE_EMPTY, true};
    Slice receipt = store_receipt(id_slice(&id), arena);
    Change changes[] = {
        {.column = CLAIM, .value = record_encode(&CLAIM_RECORD, &claim, NULL, arena)},
        {.column = receipt, .value = id_slice(&id), .ttl_s = STORE_RECEIPT_TTL_S},
    };
    Update update = {.table = &TABLE_NAMES,
                     .row = row,
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = 2,
                     .proof = receipt};
    return store_update(accounts->store, &update, RECORD_UPDATE_TRIES, arena, NULL);
}

static bool entry_counts(const Accounts *accounts, const AccountRecord *head)
{
    if (head->state != ACCOUNT_CLOSED)
        return head->state != ACCOUNT_VOID;
    return clock_now_us(accounts->world.clock) - head->state_time_us <
           accounts->return_days * S_PER_DAY * US_PER_S;
}

/* Whether the claim counts for its holder. A claim is made after its account's row, so the row must be there. */
static Status claim_counts(Accounts *accounts, const Claim *claim, ClaimKind kind, Slice folded,
                           Arena *arena, bool *ret_counts)
{
    AccountRow holder;
    if (claim->user == NOBODY) {
        *ret_counts = false;
        return STATUS_OK;
    }
    Status status = row_read(accounts, claim->user, arena, &holder);
    if (status == STATUS_NOT_FOUND)
        return STATUS_CORRUPT;
    TRY(status);
    if (kind == CLAIM_ENTRY) {
        *ret_counts = entry_counts(accounts, &holder.head);
        return STATUS_OK;
    }
    if (kind == CLAIM_EXTERNAL &&
        account_record_is_alive(&holder.head)) /* who is not never will be */
        return linked_login_record_bears(accounts, claim->user, folded, arena, ret_counts);
    *ret_counts = kind != CLAIM_EXTERNAL && account_record_bears(&holder.head, kind, folded);
    return STATUS_OK;
}

Status claim_holder(Accounts *accounts, ClaimKind kind, Slice folded, Arena *arena,
                    uint64_t *ret_user)
{
    Claim claim;
    TRY(read_claim(accounts, claim_row(accounts, kind, folded, arena), arena, &claim));
    if (claim.user == NOBODY)
        return STATUS_NOT_FOUND;
    *ret_user = claim.user;
    return STATUS_OK;
}

Status claim_has_entries(Accounts *accounts, bool *ret_has)
{
    *ret_has = false;
    return accounts->entry_rule == NULL ? STATUS_OK : accounts->entry_rule(accounts, ret_has);
}

Status claim_check(Accounts *accounts, ClaimKind kind, Slice folded, uint64_t user)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Claim claim;
    bool taken = false;
    TRY(read_claim(accounts, claim_row(accounts, kind, folded, arena), arena, &claim));
    if (claim.user != user)
        TRY(claim_counts(accounts, &claim, kind, folded, arena, &taken));
    return taken ? STATUS_REFUSED : STATUS_OK;
}

Status claim_take(Accounts *accounts, ClaimKind kind, Slice folded, uint64_t user)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_CONFLICT;
    for (int i = 0; record_again(&status, i, arena, NULL); i++) {
        Claim claim;
        bool taken = false;
        Slice row = claim_row(accounts, kind, folded, arena);
        TRY(read_claim(accounts, row, arena, &claim));
        if (claim.user != user)
            TRY(claim_counts(accounts, &claim, kind, folded, arena, &taken));
        if (taken)
            return STATUS_REFUSED;
        status = replace_claim(accounts, row, &claim, user, arena);
    }
    return status;
}

Status claim_release(Accounts *accounts, ClaimKind kind, Slice folded)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice row = claim_row(accounts, kind, folded, arena);
    Claim claim;
    bool counts;
    TRY(read_claim(accounts, row, arena, &claim));
    TRY(claim_counts(accounts, &claim, kind, folded, arena, &counts));
    if (claim.user == NOBODY || counts)
        return STATUS_OK;
    Status status = replace_claim(accounts, row, &claim, NOBODY, arena);
    return status == STATUS_CONFLICT ? STATUS_OK : status; /* somebody took it over: also good */
}
