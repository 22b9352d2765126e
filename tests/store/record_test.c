/* record_test.c -- a record is what its table says: bounds, older formats, parts, and edits that nobody loses. */
#include "store/record.h"

#include "contract.h"
#include "world.h"

typedef struct Thing {
    Id write;
    uint8_t kind;
    bool first, second;
    uint32_t bits;
    int64_t time_us;
    Slice name, note, extra;
    Slice words[3];
    size_t word_count;
    Slice secret;
    uint64_t later;
} Thing;

static const RecordField WORD_FIELDS[] = {RECORD_ITSELF_TEXT(1, 5)};
static const Record WORD = RECORD("word", Slice, 0, WORD_FIELDS);
static const RecordField SECRET_FIELDS[] = {RECORD_TEXT16(Thing, secret)};
static const Record SECRET = RECORD_PART("secret", Thing, 0, "test", SECRET_FIELDS);
static const RecordField FIELDS[] = {
    RECORD_WRITE_ID(Thing, write),
    RECORD_ENUM(Thing, kind, 3),
    RECORD_FLAGS(Thing, first, second),
    RECORD_BITS(Thing, bits, 6),
    RECORD_I64(Thing, time_us),
    RECORD_TEXT32(Thing, name, 4),
    RECORD_LIST(Thing, words, word_count, 1, 3, &WORD),
    RECORD_SEALED_IF_ANY(2, &SECRET),
    RECORD_U64(Thing, later),
    RECORD_OPTIONAL(Thing, extra, 2),
};
static const Thing DEFAULTS = {.later = 7, .extra = {"none", 4}};
static const Record THING = {RECORD_("thing", Thing, 2, FIELDS), .defaults = &DEFAULTS};
/* The same as it was before it had `later` and `extra`. */
static const Record OLD_THING = {.name = "old thing",
                                 .fields = FIELDS,
                                 .field_count = 8,
                                 .size = sizeof(Thing),
                                 .format = 1,
                                 .oldest = 1};
static const Record NEW_THING = {.name = "new thing",
                                 .fields = FIELDS,
                                 .defaults = &DEFAULTS,
                                 .field_count = 10,
                                 .size = sizeof(Thing),
                                 .format = 2,
                                 .oldest = 1,
                                 .older = {8}};

/* The cell of all of them. */
static const VaultCell *here(void)
{
    static VaultCell cell;
    cell = (VaultCell){test_vault(), SLICE("things"), SLICE("row"), SLICE("column")};
    return &cell;
}

static const Thing SOME = {.kind = 2,
                           .second = true,
                           .bits = 4,
                           .time_us = -5,
                           .name = {"name", 4},
                           .words = {{"one", 3}, {"three", 5}},
                           .word_count = 2,
                           .secret = {"hidden", 6},
                           .later = 9,
                           .extra = {"x", 1}};

TEST(what_is_encoded_is_decoded)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Thing thing = {.note = SLICE("untouched")};
    Slice value = record_encode(&THING, &SOME, here(), arena);
    EXPECT_STATUS(record_decode(&THING, value, here(), arena, &thing), STATUS_OK);
    EXPECT(thing.kind == 2 && !thing.first && thing.second && thing.bits == 4 &&
           thing.time_us == -5 && thing.word_count == 2 && thing.later == 9);
    EXPECT_SLICE(thing.name, SLICE("name"));
    EXPECT_SLICE(thing.words[1], SLICE("three"));
    EXPECT_SLICE(thing.secret, SLICE("hidden"));
    EXPECT_SLICE(thing.extra, SLICE("x"));
    EXPECT_SLICE(thing.note, SLICE("untouched"));
    EXPECT_SLICE(record_encode(&THING, &thing, here(), arena), value);
    for (size_t size = 0; size + 3 < value.size; size++)
        EXPECT_STATUS(record_decode(&THING, slice_of(value.data, size), here(), arena, &thing),
                      STATUS_CORRUPT);
}

/* The value with one byte changed. */
static Status decode_with(size_t at, char byte)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Thing thing;
    Slice value = record_encode(&THING, &SOME, here(), arena);
    char *bytes = arena_bytes(arena, value.size);
    memcpy(bytes, value.data, value.size);
    bytes[at] = byte;
    return record_decode(&THING, slice_of(bytes, value.size), here(), arena, &thing);
}

TEST(what_is_out_of_bounds_is_corrupt)
{
    enum { KIND = 1 + ID_BYTES, FLAGS, BITS = FLAGS + 4, NAME = BITS + 12, COUNT = NAME + 5 };
    EXPECT_STATUS(decode_with(0, 3), STATUS_CORRUPT);
    EXPECT_STATUS(decode_with(0, 1), STATUS_CORRUPT);
    EXPECT_STATUS(decode_with(KIND, 1), STATUS_OK);
    EXPECT_STATUS(decode_with(KIND, 3), STATUS_CORRUPT);
    EXPECT_STATUS(decode_with(FLAGS, 4), STATUS_CORRUPT);
    EXPECT_STATUS(decode_with(BITS, 2), STATUS_OK);
    EXPECT_STATUS(decode_with(BITS, 1), STATUS_CORRUPT);
    EXPECT_STATUS(decode_with(NAME, 5), STATUS_CORRUPT);
    EXPECT_STATUS(decode_with(COUNT, 4), STATUS_CORRUPT);
}

TEST(an_older_cell_has_the_defaults_of_what_came_later)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Thing thing = {.kind = 0};
    Slice old = record_encode(&OLD_THING, &SOME, here(), arena);
    EXPECT_STATUS(record_decode(&NEW_THING, old, here(), arena, &thing), STATUS_OK);
    EXPECT(thing.kind == 2 && thing.later == 7);
    EXPECT_SLICE(thing.extra, SLICE("none"));
    Slice now = record_encode(&NEW_THING, &thing, here(), arena);
    EXPECT_I64(now.data[0], 2);
    EXPECT_STATUS(record_decode(&OLD_THING, now, here(), arena, &thing), STATUS_CORRUPT);
}

/* ---- Edits ------------------------------------------------------------------------------------------------------- */

typedef struct Rivals {
    const Records *records;
    int left;  /* that get ahead of us */
    int calls; /* of apply */
} Rivals;

static const RecordPlace PLACE = {&THING, &TABLE_SITE, {"thing", 5}, {"state", 5}};

static Status count_up(RecordEditing *editing, void *context, Reason *reason)
{
    Rivals *rivals = context;
    Thing *thing = editing->record;
    (void)reason;
    rivals->calls++;
    thing->later++;
    editing->write = true;
    if (rivals->left > 0) {
        Rivals nobody = {rivals->records, 0, 0};
        RecordEdit edit = {.place = PLACE, .apply = count_up, .context = &nobody};
        rivals->left--;
        return record_edit(rivals->records, &edit, NULL);
    }
    return STATUS_OK;
}

TEST(an_edit_that_is_overtaken_is_made_again)
{
    Store *store = contract_fresh_site();
    Records records = {store, contract_world(), test_vault()};
    Rivals rivals = {&records, 3, 0};
    RecordEdit edit = {.place = PLACE, .apply = count_up, .context = &rivals};
    Thing thing;
    EXPECT_STATUS(record_read(&records, &PLACE, STORE_SERIAL, contract_arena(), &thing, NULL),
                  STATUS_NOT_FOUND);
    EXPECT_STATUS(record_edit(&records, &edit, NULL), STATUS_OK);
    EXPECT_I64(rivals.calls, 4);
    EXPECT_STATUS(record_read(&records, &PLACE, STORE_SERIAL, contract_arena(), &thing, NULL),
                  STATUS_OK);
    EXPECT_I64(thing.later, 7 + 4);
    EXPECT(!id_is_zero(thing.write));
    contract_end();
}

TEST(an_edit_that_is_always_overtaken_gives_up)
{
    Store *store = contract_fresh_site();
    Records records = {store, contract_world(), test_vault()};
    Rivals rivals = {&records, 1000, 0};
    RecordEdit edit = {.place = PLACE, .apply = count_up, .context = &rivals};
    Reason reason = {.rule = ""};
    EXPECT_STATUS(record_edit(&records, &edit, &reason), STATUS_UNAVAILABLE);
    EXPECT_I64(rivals.calls, RECORD_RACE_TRIES);
    EXPECT_SLICE(slice_from(reason.rule), SLICE("others change this all the time; try again"));
    contract_end();
}

static Status refuse(RecordEditing *editing, void *context, Reason *reason)
{
    (void)context;
    editing->write = true;
    return reason_set(reason, STATUS_CONFLICT, "", "no");
}

TEST(what_apply_refuses_is_not_written_nor_tried_again)
{
    Store *store = contract_fresh_site();
    Records records = {store, contract_world(), test_vault()};
    RecordEdit edit = {.place = PLACE, .apply = refuse};
    Thing thing;
    EXPECT_STATUS(record_edit(&records, &edit, NULL), STATUS_CONFLICT);
    edit.must_exist = true;
    EXPECT_STATUS(record_edit(&records, &edit, NULL), STATUS_NOT_FOUND);
    EXPECT_STATUS(record_read(&records, &PLACE, STORE_SERIAL, contract_arena(), &thing, NULL),
                  STATUS_NOT_FOUND);
    contract_end();
}
