/* site_facts.c -- see site_facts.h. The cell `state` holds: id of the write (16 bytes) | for maintenance 1 on or 0 off, and the message; for
 * the key its id. */
#include "cli/site_facts.h"

#include "store/record.h"

typedef struct Maintenance {
    Id write;
    bool on;
    Slice message;
} Maintenance;
static const RecordField MAINTENANCE_FIELDS[] = {
    RECORD_WRITE_ID(Maintenance, write),
    RECORD_BOOL(Maintenance, on),
    RECORD_REST(Maintenance, message, STORE_VALUE_MAX),
};
static const Record MAINTENANCE = RECORD("maintenance", Maintenance, 0, MAINTENANCE_FIELDS);
static const RecordPlace STATE = {&MAINTENANCE, &TABLE_SITE, {"maintenance", 11}, {"state", 5}};

/* The key and the demo. */
typedef struct Fact {
    Id write;
    Slice value;
} Fact;
static const RecordField FACT_FIELDS[] = {
    RECORD_WRITE_ID(Fact, write),
    RECORD_REST(Fact, value, STORE_VALUE_MAX),
};
static const Record FACT = RECORD("fact", Fact, 0, FACT_FIELDS);

Status site_maintenance(Store *store, Arena *arena, Slice *ret_message)
{
    Maintenance now;
    TRY(record_find(&(Records){.store = store}, &STATE, STORE_SERIAL, arena, &now, NULL));
    *ret_message = now.on ? now.message : (Slice){NULL, 0};
    return STATUS_OK;
}

Status site_set_maintenance(Store *store, World world, Slice message, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Records records = {store, world, NULL};
    Maintenance before, next = {.on = message.data != NULL, .message = message};
    RecordWrite write = {.place = STATE, .record = &next};
    if (message.size > SITE_MESSAGE_MAX)
        return reason_set(reason, STATUS_INVALID, "message", "the message has at most %d bytes",
                          SITE_MESSAGE_MAX);
    if (message.size > 0 && !slice_is_utf8(message))
        return reason_set(reason, STATUS_INVALID, "message",
                          "the message is UTF-8 text without NUL");
    TRY(record_find(&records, &STATE, STORE_SERIAL, arena, &before, &write.before));
    Status status = record_write(&records, &write, arena, NULL);
    if (status == STATUS_CONFLICT)
        return reason_set(reason, status, "",
                          "somebody else changed maintenance mode in the same moment");
    return status;
}

/* One that is written once. CONFLICT: it is there. */
static Status write_fact(Store *store, World world, const RecordPlace *place, Slice value)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Fact fact = {.value = value};
    RecordWrite write = {.place = *place, .record = &fact, .before = SLICE_EMPTY};
    return record_write(&(Records){store, world, NULL}, &write, arena, NULL);
}

/* ---- The key ------------------------------------------------------------------------------------------------ */

static const RecordPlace KEY = {&FACT, &TABLE_SITE, {"key", 3}, {"state", 5}};

Status site_key(Store *store, Arena *arena, Slice *ret_id)
{
    Fact fact;
    Slice value;
    TRY(record_find(&(Records){.store = store}, &KEY, STORE_SERIAL, arena, &fact, &value));
    if (value.size > 0 && fact.value.size == 0)
        return STATUS_CORRUPT;
    *ret_id = value.size > 0 ? fact.value : (Slice){NULL, 0};
    return STATUS_OK;
}

Status site_set_key(Store *store, World world, Slice id)
{
    return write_fact(store, world, &KEY, id);
}

/* ---- Demo ------------------------------------------------------------------------------------------------------ */

static const RecordPlace DEMO = {&FACT, &TABLE_SITE, {"demo", 4}, {"state", 5}};

Status site_is_demo(Store *store, bool *ret_demo)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Fact fact;
    Slice value;
    TRY(record_find(&(Records){.store = store}, &DEMO, STORE_SERIAL, arena, &fact, &value));
    *ret_demo = value.size > 0;
    return STATUS_OK;
}

Status site_set_demo(Store *store, World world)
{
    Status status = write_fact(store, world, &DEMO, SLICE_EMPTY);
    return status == STATUS_CONFLICT ? STATUS_OK : status; /* it is one already */
}
