/* second_factor.c -- see second_factor.h. The content of the cell `second`, sealed: offered or on | since when | the last step used | secret | how many codes
 * on paper are left | their hashes. */
#include "access/second_factor.h"

#include "access/access_private.h"

enum { OFFERED = 1, ON = 2, CODE_LETTERS = SECOND_FACTOR_CODE_TEXT - 1 };

typedef struct Kept {
    Id write;
    uint8_t state; /* 0: none */
    int64_t since_us, last_step;
    Slice secret;
    Slice hashes[SECOND_FACTOR_CODES];
    size_t hash_count;
} Kept;

/* ---- The cell ----------------------------------------------------------------------------------------------- */

static const RecordField HASH_FIELDS[] = {RECORD_ITSELF_FIXED(VAULT_HASH_BYTES)};
static const Record HASH = RECORD("code on paper", Slice, 0, HASH_FIELDS);
static const RecordField PLAIN_FIELDS[] = {
    RECORD_RANGE(Kept, state, 1, OFFERED, ON),
    RECORD_I64(Kept, since_us),
    RECORD_I64(Kept, last_step),
    RECORD_FIXED(Kept, secret, TOTP_SECRET_BYTES),
    RECORD_LIST(Kept, hashes, hash_count, 1, SECOND_FACTOR_CODES, &HASH),
};
const Record SECOND_FACTOR_PLAIN =
    RECORD_PART("second factor, open", Kept, 0, "second", PLAIN_FIELDS);
static const RecordField KEPT_FIELDS[] = {RECORD_WRITE_ID(Kept, write),
                                          RECORD_SEALED_IF_ANY(0, &SECOND_FACTOR_PLAIN)};
const Record SECOND_FACTOR_RECORD = RECORD("second factor", Kept, 1, KEPT_FIELDS);
const Side SECOND_FACTOR_SIDE = {&SECOND_FACTOR_RECORD, {"second", 6}};

static SecondFactor factor_of(const Kept *kept)
{
    return (SecondFactor){.is_on = kept->state == ON,
                          .is_offered = kept->state == OFFERED,
                          .secret = kept->state == OFFERED ? kept->secret : SLICE_EMPTY,
                          .since_us = kept->since_us,
                          .codes_left = kept->hash_count};
}

Status second_factor_read(Accounts *accounts, uint64_t id, Arena *arena, SecondFactor *ret_second)
{
    Kept kept;
    TRY(side_read(accounts, id, SECOND_FACTOR_SIDE, arena, &kept, NULL));
    *ret_second = factor_of(&kept);
    return STATUS_OK;
}

/* ---- Codes on paper ------------------------------------------------------------------------------------------ */

static Slice hash_of(const Accounts *accounts, uint64_t id, const char *letters, Arena *arena)
{
    char text[sizeof id + CODE_LETTERS];
    bytes_put_u64(text, id);
    memcpy(text + sizeof id, letters, CODE_LETTERS);
    return vault_hash(accounts->vault, "recovery", slice_of(text, sizeof text), arena);
}

/* Ten of 32 letters that are not mistaken for each other: 50 bits, which nobody guesses through a throttle. */
static void make_codes(Accounts *accounts, uint64_t id, Kept *kept, Arena *arena,
                       RecoveryCodes *ret_codes)
{
    static const char LETTERS[] = "abcdefghjkmnpqrstuvwxyz023456789";
    _Static_assert(sizeof LETTERS == 33, "five bits a letter");
    for (size_t i = 0; i < SECOND_FACTOR_CODES; i++) {
        unsigned char luck[CODE_LETTERS];
        char letters[CODE_LETTERS];
        random_fill(accounts->world.random, luck, sizeof luck);
        for (size_t j = 0; j < CODE_LETTERS; j++)
            letters[j] = LETTERS[luck[j] & 31];
        kept->hashes[i] = hash_of(accounts, id, letters, arena);
        ret_codes->codes[i] = arena_print(arena, "%.5s-%.5s", letters, letters + 5);
    }
    kept->hash_count = SECOND_FACTOR_CODES;
}

/* The letters of what was typed, without blanks and dashes, in whatever case. */
static bool read_letters(Slice code, char ret_letters[CODE_LETTERS])
{
    size_t count = 0;
    for (size_t i = 0; i < code.size; i++) {
        char c = code.data[i];
        if (c == ' ' || c == '-')
            continue;
        if (count == CODE_LETTERS)
            return false;
        ret_letters[count++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return count == CODE_LETTERS;
}

static bool spend_paper(const Accounts *accounts, uint64_t id, Slice code, Kept *kept, Arena *arena)
{
    char letters[CODE_LETTERS];
    if (!read_letters(code, letters))
        return false;
    Slice hash = hash_of(accounts, id, letters, arena);
    for (size_t i = 0; i < kept->hash_count; i++)
        if (secret_equal(kept->hashes[i], hash)) {
            kept->hashes[i] = kept->hashes[--kept->hash_count];
            return true;
        }
    return false;
}

/* ---- Using one ----------------------------------------------------------------------------------------------- */

static bool spend_device(const Accounts *accounts, Slice code, Kept *kept)
{
    return totp_match(kept->secret, code, clock_now_us(accounts->world.clock), kept->last_step,
                      &kept->last_step);
}

static Status wrong_code(Reason *reason)
{
    return reason_set(reason, STATUS_REFUSED, "code",
                      "this code is not right, or was used already; wait for the next one");
}

/* In `kept`, the code is used up. */
static Status spend(const Accounts *accounts, uint64_t id, Slice code, Kept *kept, Arena *arena,
                    Reason *reason)
{
    if (kept->state != ON)
        return reason_set(reason, STATUS_REFUSED, "", "there is no second factor");
    return spend_device(accounts, code, kept) || spend_paper(accounts, id, code, kept, arena)
               ? STATUS_OK
               : wrong_code(reason);
}

typedef struct Using {
    Accounts *accounts;
    uint64_t id;
    Slice code;
    Arena *arena;         /* for what is returned */
    RecoveryCodes *codes; /* or NULL: new ones on paper */
    SecondFactor *second; /* what was offered */
} Using;

static Status apply_use(RecordEditing *editing, void *context, Reason *reason)
{
    const Using *use = context;
    Kept *kept = editing->record;
    TRY(refuse_dead(editing->held, reason));
    TRY(spend(use->accounts, use->id, use->code, kept, editing->arena, reason));
    if (use->codes != NULL)
        make_codes(use->accounts, use->id, kept, use->arena, use->codes);
    editing->write = true;
    return STATUS_OK;
}

Status second_factor_check(Accounts *accounts, uint64_t id, Slice code, Reason *reason)
{
    Using use = {.accounts = accounts, .id = id, .code = code};
    return side_edit(accounts, id, SECOND_FACTOR_SIDE, apply_use, &use, reason);
}

Status second_factor_renew(Accounts *accounts, uint64_t id, Slice code, Arena *arena,
                           RecoveryCodes *ret_codes, Reason *reason)
{
    RecoveryCodes codes;
    Using use = {.accounts = accounts, .id = id, .code = code, .arena = arena, .codes = &codes};
    TRY(side_edit(accounts, id, SECOND_FACTOR_SIDE, apply_use, &use, reason));
    *ret_codes = codes;
    return STATUS_OK;
}

/* ---- On and off ----------------------------------------------------------------------------------------------- */

/* Whose address is not known yet could keep its owner out by it. */
static Status refuse_unconfirmed(const AccountRecord *head, Reason *reason)
{
    if (head->state == ACCOUNT_CONFIRMED)
        return STATUS_OK;
    return reason_set(reason, STATUS_REFUSED, "", "this account is %s",
                      account_state_text(head->state));
}

static Status apply_offer(RecordEditing *editing, void *context, Reason *reason)
{
    const Using *use = context;
    Kept *kept = editing->record;
    TRY(refuse_unconfirmed(editing->held, reason));
    if (kept->state == ON)
        return reason_set(reason, STATUS_REFUSED, "", "you have a second factor already");
    editing->write = kept->state == 0;
    if (editing->write) {
        char *secret = arena_bytes(editing->arena, TOTP_SECRET_BYTES);
        random_fill(use->accounts->world.random, secret, TOTP_SECRET_BYTES);
        kept->secret = slice_of(secret, TOTP_SECRET_BYTES);
        kept->since_us = clock_now_us(use->accounts->world.clock);
        kept->state = OFFERED;
    }
    *use->second = factor_of(kept);
    use->second->secret = arena_copy(use->arena, kept->secret);
    return STATUS_OK;
}

Status second_factor_offer(Accounts *accounts, uint64_t id, Arena *arena, SecondFactor *ret_second,
                           Reason *reason)
{
    SecondFactor second;
    Using use = {.accounts = accounts, .id = id, .arena = arena, .second = &second};
    TRY(side_edit(accounts, id, SECOND_FACTOR_SIDE, apply_offer, &use, reason));
    *ret_second = second;
    return STATUS_OK;
}

typedef struct Switch {
    bool on;
    uint64_t epoch; /* out */
} Switch;

static Status apply_switch(AccountRecord *head, void *context, bool *ret_write, Reason *reason)
{
    Switch *turned = context;
    TRY(turned->on ? refuse_unconfirmed(head, reason) : refuse_dead(head, reason));
    head->second = turned->on;
    turned->epoch = ++head->epoch;
    *ret_write = true;
    return STATUS_OK;
}

/* The cell becomes `next`, or empty, and the head says which, if the cell is still `before`. */
static Status turn(Accounts *accounts, const SecondFactorChange *change, Slice before, Kept *next,
                   Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Switch turned = {.on = next != NULL};
    Condition same = {SECOND_FACTOR_SIDE.column, before, false};
    Change cell = side_change(SECOND_FACTOR_SIDE.column, fresh_id(accounts), SLICE_EMPTY, arena);
    if (next != NULL) {
        next->write = fresh_id(accounts);
        VaultCell at = record_cell(accounts->vault, &TABLE_ACCOUNTS,
                                   row_key(change->account, arena), SECOND_FACTOR_SIDE.column);
        cell.value = record_encode(&SECOND_FACTOR_RECORD, next, &at, arena);
    }
    RowEdit edit = {.apply = apply_switch,
                    .context = &turned,
                    .when = &same,
                    .when_count = 1,
                    .also = &cell,
                    .also_count = 1};
    TRY(row_edit(accounts, change->account, edit, reason));
    if (change->keep != NULL)
        session_keep(accounts, change->keep, turned.epoch);
    return STATUS_OK;
}

Status second_factor_confirm(Accounts *accounts, const SecondFactorChange *change, Arena *arena,
                             RecoveryCodes *ret_codes, Reason *reason)
{
    Kept kept;
    Slice value;
    RecoveryCodes codes;
    TRY(side_read(accounts, change->account, SECOND_FACTOR_SIDE, arena, &kept, &value));
    if (kept.state != OFFERED)
        return reason_set(reason, STATUS_REFUSED, "",
                          kept.state == ON ? "you have a second factor already"
                                           : "begin with a new secret");
    if (!spend_device(accounts, change->code, &kept))
        return wrong_code(reason);
    kept.state = ON;
    kept.since_us = clock_now_us(accounts->world.clock);
    make_codes(accounts, change->account, &kept, arena, &codes);
    TRY(turn(accounts, change, value, &kept, reason));
    if (change->keep != NULL)
        session_mark_second(accounts, change->keep);
    *ret_codes = codes;
    return STATUS_OK;
}

Status second_factor_drop(Accounts *accounts, const SecondFactorChange *change, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Kept kept;
    Slice value;
    TRY(side_read(accounts, change->account, SECOND_FACTOR_SIDE, arena, &kept, &value));
    TRY(spend(accounts, change->account, change->code, &kept, arena, reason));
    return turn(accounts, change, value, NULL, reason);
}

Status second_factor_remove(Accounts *accounts, uint64_t id, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Kept kept;
    Slice value;
    TRY(side_read(accounts, id, SECOND_FACTOR_SIDE, arena, &kept, &value));
    if (kept.state == 0)
        return STATUS_OK;
    return turn(accounts, &(SecondFactorChange){.account = id}, value, NULL, reason);
}

Status second_factor_undo(Accounts *accounts, uint64_t id, int64_t since_us, Arena *arena,
                          SideUndo *ret_undo)
{
    Kept kept;
    Slice value;
    Slice column = SECOND_FACTOR_SIDE.column;
    TRY(side_read(accounts, id, SECOND_FACTOR_SIDE, arena, &kept, &value));
    *ret_undo = (SideUndo){.when = {column, value, value.size == 0},
                           .change = side_change(column, fresh_id(accounts), SLICE_EMPTY, arena),
                           .drops = kept.state != 0 && kept.since_us >= since_us};
    return STATUS_OK;
}
