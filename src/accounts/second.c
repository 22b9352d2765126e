/* second.c -- see second.h. The content of the cell `second`, sealed: offered or on | since when | the last step used | secret | how many codes
 * on paper are left | their hashes. */
#include "accounts/second.h"

#include "accounts/inside.h"

enum { OFFERED = 1, ON = 2, CODE_LETTERS = SECOND_CODE_TEXT - 1 };

const Slice SECOND_COLUMN = {"second", 6};
static const char *const SEALED = "second";

typedef struct Kept {
    SideCell cell;
    uint8_t state; /* 0: none */
    int64_t since_us, last_step;
    Slice secret;
    Slice hashes[SECOND_CODES];
    uint8_t hash_count;
} Kept;

/* ---- The cell ----------------------------------------------------------------------------------------------- */

static Slice encode(const Accounts *accounts, const Kept *kept, Arena *arena)
{
    BUFFER_SCOPE Buffer plain = {0};
    buffer_u8(&plain, kept->state);
    buffer_i64(&plain, kept->since_us);
    buffer_i64(&plain, kept->last_step);
    buffer_bytes(&plain, kept->secret);
    buffer_u8(&plain, kept->hash_count);
    for (size_t i = 0; i < kept->hash_count; i++)
        buffer_bytes(&plain, kept->hashes[i]);
    return vault_seal(accounts->vault, SEALED, buffer_slice(&plain), arena);
}

static Status decode(const Accounts *accounts, Kept *kept, Arena *arena)
{
    Slice plain;
    TRY(vault_unseal(accounts->vault, SEALED, kept->cell.content, arena, &plain));
    Reader reader = reader_of(plain);
    kept->state = reader_u8(&reader);
    kept->since_us = reader_i64(&reader);
    kept->last_step = reader_i64(&reader);
    kept->secret = reader_bytes(&reader, TOTP_SECRET_BYTES);
    kept->hash_count = reader_u8(&reader);
    if ((kept->state != OFFERED && kept->state != ON) || kept->hash_count > SECOND_CODES)
        return STATUS_CORRUPT;
    for (size_t i = 0; i < kept->hash_count; i++)
        kept->hashes[i] = reader_bytes(&reader, VAULT_HASH_BYTES);
    return reader_done(&reader) ? STATUS_OK : STATUS_CORRUPT;
}

static Status read_kept(Accounts *accounts, uint64_t id, Arena *arena, Kept *ret_kept)
{
    Kept kept = {.secret = SLICE_EMPTY};
    TRY(side_read(accounts, id, SECOND_COLUMN, arena, &kept.cell));
    if (kept.cell.content.size > 0)
        TRY(decode(accounts, &kept, arena));
    *ret_kept = kept;
    return STATUS_OK;
}

static SecondFactor factor_of(const Kept *kept)
{
    return (SecondFactor){.is_on = kept->state == ON,
                          .is_offered = kept->state == OFFERED,
                          .secret = kept->state == OFFERED ? kept->secret : SLICE_EMPTY,
                          .since_us = kept->since_us,
                          .codes_left = kept->hash_count};
}

Status second_read(Accounts *accounts, uint64_t id, Arena *arena, SecondFactor *ret_second)
{
    Kept kept;
    TRY(read_kept(accounts, id, arena, &kept));
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
    for (size_t i = 0; i < SECOND_CODES; i++) {
        unsigned char luck[CODE_LETTERS];
        char letters[CODE_LETTERS];
        random_fill(accounts->world.random, luck, sizeof luck);
        for (size_t j = 0; j < CODE_LETTERS; j++)
            letters[j] = LETTERS[luck[j] & 31];
        kept->hashes[i] = hash_of(accounts, id, letters, arena);
        ret_codes->codes[i] = arena_print(arena, "%.5s-%.5s", letters, letters + 5);
    }
    kept->hash_count = SECOND_CODES;
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

/* One attempt. With `ret_codes`, new ones on paper are made. */
static Status use_once(Accounts *accounts, uint64_t id, Slice code, Arena *arena,
                       RecoveryCodes *ret_codes, Reason *reason)
{
    AccountRow row;
    Kept kept;
    TRY(row_read(accounts, id, arena, &row));
    TRY(refuse_dead(&row.head, reason));
    TRY(read_kept(accounts, id, arena, &kept));
    TRY(spend(accounts, id, code, &kept, arena, reason));
    if (ret_codes != NULL)
        make_codes(accounts, id, &kept, arena, ret_codes);
    return side_replace(accounts, id, &row, &kept.cell, encode(accounts, &kept, arena), arena);
}

Status second_check(Accounts *accounts, uint64_t id, Slice code, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_CONFLICT;
    for (int i = 0; i < RACE_TRIES && status == STATUS_CONFLICT; i++) {
        arena_reset(arena);
        status = use_once(accounts, id, code, arena, NULL, reason);
    }
    return status;
}

Status second_renew(Accounts *accounts, uint64_t id, Slice code, Arena *arena,
                    RecoveryCodes *ret_codes, Reason *reason)
{
    RecoveryCodes codes;
    Status status = STATUS_CONFLICT;
    for (int i = 0; i < RACE_TRIES && status == STATUS_CONFLICT; i++)
        status = use_once(accounts, id, code, arena, &codes, reason);
    TRY(status);
    *ret_codes = codes;
    return STATUS_OK;
}

/* ---- On and off ----------------------------------------------------------------------------------------------- */

/* One attempt. */
static Status offer_once(Accounts *accounts, uint64_t id, Arena *arena, Kept *ret_kept,
                         Reason *reason)
{
    AccountRow row;
    Kept kept;
    char *secret = arena_bytes(arena, TOTP_SECRET_BYTES);
    TRY(row_read(accounts, id, arena, &row));
    TRY(refuse_dead(&row.head, reason));
    TRY(read_kept(accounts, id, arena, &kept));
    if (kept.state == ON)
        return reason_set(reason, STATUS_REFUSED, "", "you have a second factor already");
    if (kept.state == 0) {
        random_fill(accounts->world.random, secret, TOTP_SECRET_BYTES);
        kept.secret = slice_of(secret, TOTP_SECRET_BYTES);
        kept.since_us = clock_now_us(accounts->world.clock);
        kept.state = OFFERED;
        TRY(side_replace(accounts, id, &row, &kept.cell, encode(accounts, &kept, arena), arena));
    }
    *ret_kept = kept;
    return STATUS_OK;
}

Status second_offer(Accounts *accounts, uint64_t id, Arena *arena, SecondFactor *ret_second,
                    Reason *reason)
{
    Kept kept;
    Status status = STATUS_CONFLICT;
    for (int i = 0; i < RACE_TRIES && status == STATUS_CONFLICT; i++)
        status = offer_once(accounts, id, arena, &kept, reason);
    TRY(status);
    *ret_second = factor_of(&kept);
    return STATUS_OK;
}

typedef struct Switch {
    bool on;
    uint64_t epoch; /* out */
} Switch;

static Status apply_switch(AccountHead *head, void *context, bool *ret_write, Reason *reason)
{
    Switch *turned = context;
    TRY(refuse_dead(head, reason));
    head->second = turned->on;
    turned->epoch = ++head->epoch;
    *ret_write = true;
    return STATUS_OK;
}

/* The cell becomes `content` and the head says `on`, if the cell is still what was read. */
static Status turn(Accounts *accounts, const SecondChange *change, const Kept *kept, bool on,
                   Slice content, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Switch turned = {.on = on};
    Condition same = {SECOND_COLUMN, kept->cell.value, false};
    Change next = side_change(SECOND_COLUMN, fresh_id(accounts), content, arena);
    RowEdit edit = {
        .apply = apply_switch, .context = &turned, .when = &same, .also = &next, .also_count = 1};
    TRY(row_edit(accounts, change->account, edit, reason));
    if (change->keep != NULL)
        session_keep(accounts, change->keep, turned.epoch);
    return STATUS_OK;
}

Status second_confirm(Accounts *accounts, const SecondChange *change, Arena *arena,
                      RecoveryCodes *ret_codes, Reason *reason)
{
    Kept kept;
    RecoveryCodes codes;
    TRY(read_kept(accounts, change->account, arena, &kept));
    if (kept.state != OFFERED)
        return reason_set(reason, STATUS_REFUSED, "",
                          kept.state == ON ? "you have a second factor already"
                                           : "begin with a new secret");
    if (!spend_device(accounts, change->code, &kept))
        return wrong_code(reason);
    kept.state = ON;
    kept.since_us = clock_now_us(accounts->world.clock);
    make_codes(accounts, change->account, &kept, arena, &codes);
    TRY(turn(accounts, change, &kept, true, encode(accounts, &kept, arena), reason));
    if (change->keep != NULL)
        session_mark_second(accounts, change->keep);
    *ret_codes = codes;
    return STATUS_OK;
}

Status second_drop(Accounts *accounts, const SecondChange *change, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Kept kept;
    TRY(read_kept(accounts, change->account, arena, &kept));
    TRY(spend(accounts, change->account, change->code, &kept, arena, reason));
    return turn(accounts, change, &kept, false, SLICE_EMPTY, reason);
}

Status second_remove(Accounts *accounts, uint64_t id, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Kept kept;
    TRY(read_kept(accounts, id, arena, &kept));
    if (kept.state == 0)
        return STATUS_OK;
    return turn(accounts, &(SecondChange){.account = id}, &kept, false, SLICE_EMPTY, reason);
}
