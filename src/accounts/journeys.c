/* journeys.c -- see journeys.h. The cell `journey`: format | id of the write | used or not | when it was made | hash of the browser's secret | the rest,
 * sealed, until it is used. */
#include "accounts/journeys.h"

#include "accounts/inside.h"

enum { FORMAT = 1, UNUSED = 0, USED = 1 };

static const Slice JOURNEY = {"journey", 7};
static const char *const SEALED = "journey";

typedef struct JourneyCell {
    uint8_t used;
    int64_t made_us;
    Slice browser, sealed;
} JourneyCell;

/* ---- The cell ------------------------------------------------------------------------------------------------- */

static Slice encode(Id id, const JourneyCell *cell, Arena *arena)
{
    BUFFER_SCOPE Buffer value = {0};
    buffer_u8(&value, FORMAT);
    buffer_bytes(&value, id_slice(&id));
    buffer_u8(&value, cell->used);
    buffer_i64(&value, cell->made_us);
    buffer_bytes(&value, cell->browser);
    buffer_bytes(&value, cell->sealed);
    return arena_copy(arena, buffer_slice(&value));
}

static Status decode(Slice value, JourneyCell *ret_cell)
{
    Reader reader = reader_of(value);
    bool known = reader_u8(&reader) == FORMAT;
    (void)reader_bytes(&reader, ID_BYTES);
    JourneyCell cell = {.used = reader_u8(&reader)};
    cell.made_us = reader_i64(&reader);
    cell.browser = reader_bytes(&reader, VAULT_HASH_BYTES);
    cell.sealed = reader_rest(&reader);
    if (!known || reader.failed || cell.used > USED)
        return STATUS_CORRUPT;
    *ret_cell = cell;
    return STATUS_OK;
}

static void put_text(Buffer *buffer, Slice text)
{
    CHECK(text.size <= UINT16_MAX);
    buffer_u16(buffer, (uint16_t)text.size);
    buffer_bytes(buffer, text);
}

static Slice seal(const Accounts *accounts, const Journey *journey, Arena *arena)
{
    BUFFER_SCOPE Buffer plain = {0};
    put_text(&plain, journey->provider);
    put_text(&plain, journey->nonce);
    put_text(&plain, journey->verifier);
    put_text(&plain, journey->next);
    buffer_u64(&plain, journey->account);
    if (journey->invitation.size > 0) /* else as an older version reads it */
        put_text(&plain, journey->invitation);
    return vault_seal(accounts->vault, SEALED, buffer_slice(&plain), arena);
}

static Status unseal(const Accounts *accounts, Slice sealed, Arena *arena, Journey *ret_journey)
{
    Slice plain;
    Journey journey;
    TRY(vault_unseal(accounts->vault, SEALED, sealed, arena, &plain));
    Reader reader = reader_of(plain);
    journey.provider = reader_bytes(&reader, reader_u16(&reader));
    journey.nonce = reader_bytes(&reader, reader_u16(&reader));
    journey.verifier = reader_bytes(&reader, reader_u16(&reader));
    journey.next = reader_bytes(&reader, reader_u16(&reader));
    journey.account = reader_u64(&reader);
    journey.invitation = SLICE_EMPTY;
    if (!reader.failed && !reader_done(&reader))
        journey.invitation = reader_bytes(&reader, reader_u16(&reader));
    if (!reader_done(&reader))
        return STATUS_CORRUPT;
    *ret_journey = journey;
    return STATUS_OK;
}

/* ---- There and back --------------------------------------------------------------------------------------------- */

static Slice hash_of(const Accounts *accounts, const char *purpose, Slice text, Arena *arena)
{
    return vault_hash(accounts->vault, purpose, text, arena);
}

/* From what was read, or from nothing, to `cell`. */
static Status replace(Accounts *accounts, Slice row, Slice before, const JourneyCell *cell,
                      Arena *arena)
{
    Id id = fresh_id(accounts);
    Replacement next = {.table = &TABLE_JOURNEYS,
                        .row = row,
                        .column = JOURNEY,
                        .before = before,
                        .value = encode(id, cell, arena),
                        .ttl_s = cell->used == USED ? STORE_RECEIPT_TTL_S : JOURNEY_S,
                        .id = id};
    return store_replace(accounts->store, &next, UPDATE_TRIES, arena);
}

Slice journeys_browser(Accounts *accounts, Arena *arena)
{
    char bytes[SECRET_BYTES];
    random_fill(accounts->world.random, bytes, sizeof bytes);
    return secret_text(bytes, arena);
}

Status journeys_begin(Accounts *accounts, const Journey *journey, Slice browser, Arena *arena,
                      Slice *ret_state)
{
    CHECK(journey->next.size <= JOURNEY_NEXT_BYTES &&
          journey->invitation.size <= JOURNEY_INVITATION_BYTES);
    Slice state = journeys_browser(accounts, arena);
    JourneyCell cell = {.used = UNUSED,
                        .made_us = clock_now_us(accounts->world.clock),
                        .browser = hash_of(accounts, "browser", browser, arena),
                        .sealed = seal(accounts, journey, arena)};
    TRY(replace(accounts, hash_of(accounts, "journey", state, arena), SLICE_EMPTY, &cell, arena));
    *ret_state = state;
    return STATUS_OK;
}

static Status lost(const char *rule, Reason *reason)
{
    return reason_set(reason, STATUS_REFUSED, "state", "%s; begin again", rule);
}

static Status judge(Accounts *accounts, const JourneyCell *cell, Slice browser, Arena *arena,
                    Reason *reason)
{
    int64_t age_us = clock_now_us(accounts->world.clock) - cell->made_us;
    if (!secret_equal(cell->browser, hash_of(accounts, "browser", browser, arena)))
        return lost("this log-in was begun in another browser", reason);
    if (cell->used == USED)
        return lost("this log-in was finished already", reason);
    if (age_us < 0 || age_us > JOURNEY_S * US_PER_S)
        return lost("this log-in took too long", reason);
    return STATUS_OK;
}

Status journeys_end(Accounts *accounts, Slice state, Slice browser, Arena *arena,
                    Journey *ret_journey, Reason *reason)
{
    Slice row = hash_of(accounts, "journey", state, arena);
    Read read = {&TABLE_JOURNEYS, row, JOURNEY, STORE_SERIAL};
    Cell cell;
    JourneyCell journey;
    Journey meant;
    Status status = store_read(accounts->store, &read, arena, &cell);
    if (status == STATUS_NOT_FOUND)
        return lost("this log-in is not known, or took too long", reason);
    TRY(status);
    TRY(decode(cell.value, &journey));
    TRY(judge(accounts, &journey, browser, arena, reason));
    TRY(unseal(accounts, journey.sealed, arena, &meant));
    journey.used = USED;
    journey.sealed = SLICE_EMPTY;
    status = replace(accounts, row, cell.value, &journey, arena);
    if (status == STATUS_CONFLICT)
        return lost("this log-in was finished already", reason);
    TRY(status);
    *ret_journey = meant;
    return STATUS_OK;
}
