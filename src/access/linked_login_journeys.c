/* linked_login_journeys.c -- see linked_login_journeys.h. The cell `journey`: format | id of the write | used or not | when it was made | hash of the browser's secret | the rest,
 * sealed, until it is used. */
#include "access/linked_login_journeys.h"

#include "access/access_private.h"

static const Slice JOURNEY = {"journey", 7};

typedef struct JourneyCell {
    Id write;
    bool used;
    int64_t made_us;
    Slice browser;
    LinkedLoginJourney journey; /* gone when it was used */
} JourneyCell;

static const RecordField PLAIN_FIELDS[] = {
    RECORD_TEXT16(JourneyCell, journey.provider),
    RECORD_TEXT16(JourneyCell, journey.nonce),
    RECORD_TEXT16(JourneyCell, journey.verifier),
    RECORD_TEXT16(JourneyCell, journey.next),
    RECORD_U64(JourneyCell, journey.account),
    RECORD_OPTIONAL(JourneyCell, journey.invitation, 2),
};
const Record JOURNEY_PLAIN = RECORD_PART("journey, open", JourneyCell, 0, "journey", PLAIN_FIELDS);
static const RecordField JOURNEY_FIELDS[] = {
    RECORD_WRITE_ID(JourneyCell, write),     RECORD_BOOL(JourneyCell, used),
    RECORD_I64(JourneyCell, made_us),        RECORD_FIXED(JourneyCell, browser, VAULT_HASH_BYTES),
    RECORD_SEALED_IF_ANY(0, &JOURNEY_PLAIN),
};
const Record JOURNEY_RECORD = RECORD("journey", JourneyCell, 1, JOURNEY_FIELDS);

/* ---- There and back --------------------------------------------------------------------------------------------- */

static Slice hash_of(const Accounts *accounts, const char *purpose, Slice text, Arena *arena)
{
    return vault_hash(accounts->vault, purpose, text, arena);
}

/* From what was read, or from nothing, to `cell`. */
static Status replace(Accounts *accounts, Slice row, Slice before, JourneyCell *cell, Arena *arena)
{
    Records records = accounts_records(accounts);
    RecordWrite write = {.place = {&JOURNEY_RECORD, &TABLE_JOURNEYS, row, JOURNEY},
                         .record = cell,
                         .before = before,
                         .ttl_s = cell->used ? STORE_RECEIPT_TTL_S : LINKED_LOGIN_JOURNEY_S};
    return record_write(&records, &write, arena, NULL);
}

Slice linked_login_journey_browser(Accounts *accounts, Arena *arena)
{
    char bytes[SECRET_BYTES];
    random_fill(accounts->world.random, bytes, sizeof bytes);
    return secret_text(bytes, arena);
}

Status linked_login_journey_begin(Accounts *accounts, const LinkedLoginJourney *journey,
                                  Slice browser, Arena *arena, Slice *ret_state)
{
    CHECK(journey->next.size <= LINKED_LOGIN_JOURNEY_NEXT_BYTES &&
          journey->invitation.size <= LINKED_LOGIN_JOURNEY_INVITATION_BYTES);
    Slice state = linked_login_journey_browser(accounts, arena);
    JourneyCell cell = {.made_us = clock_now_us(accounts->world.clock),
                        .browser = hash_of(accounts, "browser", browser, arena),
                        .journey = *journey};
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
    if (cell->used)
        return lost("this log-in was finished already", reason);
    if (age_us < 0 || age_us > LINKED_LOGIN_JOURNEY_S * US_PER_S)
        return lost("this log-in took too long", reason);
    return STATUS_OK;
}

Status linked_login_journey_end(Accounts *accounts, Slice state, Slice browser, Arena *arena,
                                LinkedLoginJourney *ret_journey, Reason *reason)
{
    Slice row = hash_of(accounts, "journey", state, arena), value;
    Records records = accounts_records(accounts);
    RecordPlace place = {&JOURNEY_RECORD, &TABLE_JOURNEYS, row, JOURNEY};
    JourneyCell cell;
    Status status = record_read(&records, &place, STORE_SERIAL, arena, &cell, &value);
    if (status == STATUS_NOT_FOUND)
        return lost("this log-in is not known, or took too long", reason);
    TRY(status);
    TRY(judge(accounts, &cell, browser, arena, reason));
    LinkedLoginJourney meant = cell.journey;
    cell.used = true;
    cell.journey = (LinkedLoginJourney){.account = 0};
    status = replace(accounts, row, value, &cell, arena);
    if (status == STATUS_CONFLICT)
        return lost("this log-in was finished already", reason);
    TRY(status);
    *ret_journey = meant;
    return STATUS_OK;
}
