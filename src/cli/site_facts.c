/* site_facts.c -- see site_facts.h. The cell `state` holds: id of the write (16 bytes) | for maintenance 1 on or 0 off, and the message; for
 * the key its id. */
#include "cli/site_facts.h"

#include "base/bytes.h"
#include "base/ids.h"

enum { TRIES = 5 };

static const Read STATE = {&TABLE_SITE, {"maintenance", 11}, {"state", 5}, STORE_SERIAL};

static Status decode(Slice value, Slice *ret_message)
{
    Reader reader = reader_of(value);
    (void)reader_bytes(&reader, ID_BYTES);
    bool on = reader_u8(&reader) != 0;
    Slice message = reader_rest(&reader);
    if (reader.failed)
        return STATUS_CORRUPT;
    *ret_message = on ? message : (Slice){NULL, 0};
    return STATUS_OK;
}

Status site_maintenance(Store *store, Arena *arena, Slice *ret_message)
{
    Cell cell;
    Status status = store_read(store, &STATE, arena, &cell);
    if (status == STATUS_NOT_FOUND) {
        *ret_message = (Slice){NULL, 0};
        return STATUS_OK;
    }
    TRY(status);
    return decode(cell.value, ret_message);
}

Status site_check_message(Slice message, Reason *reason)
{
    if (message.size > SITE_MESSAGE_MOST)
        return reason_set(reason, STATUS_INVALID, "message", "the message has at most %d bytes",
                          SITE_MESSAGE_MOST);
    if (message.size > 0 && !slice_is_utf8(message))
        return reason_set(reason, STATUS_INVALID, "message",
                          "the message is UTF-8 text without NUL");
    return STATUS_OK;
}

/* Replaces a fact by a conditional update on what was read; `id` stands at the beginning of its value. */
static Status write_fact(Store *store, const Read *fact, const Cell *before, Id id, Slice value,
                         Arena *arena)
{
    Replacement next = {.table = fact->table,
                        .row = fact->row,
                        .column = fact->column,
                        .before = before != NULL ? before->value : SLICE_EMPTY,
                        .value = value,
                        .id = id};
    return store_replace(store, &next, TRIES, arena);
}

Status site_set_maintenance(Store *store, World world, Slice message, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    BUFFER_SCOPE Buffer value = {0};
    Cell before;
    TRY(site_check_message(message, reason));
    Status status = store_read(store, &STATE, arena, &before);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    Id id = id_new(world.clock, world.random);
    buffer_bytes(&value, id_slice(&id));
    buffer_u8(&value, message.data != NULL);
    buffer_bytes(&value, message);
    status = write_fact(store, &STATE, status == STATUS_OK ? &before : NULL, id,
                        buffer_slice(&value), arena);
    if (status == STATUS_CONFLICT)
        return reason_set(reason, status, "",
                          "somebody else changed maintenance mode in the same moment");
    return status;
}

/* ---- The key ------------------------------------------------------------------------------------------------ */

static const Read KEY = {&TABLE_SITE, {"key", 3}, {"state", 5}, STORE_SERIAL};

Status site_key(Store *store, Arena *arena, Slice *ret_id)
{
    Cell cell;
    Status status = store_read(store, &KEY, arena, &cell);
    if (status == STATUS_NOT_FOUND) {
        *ret_id = (Slice){NULL, 0};
        return STATUS_OK;
    }
    TRY(status);
    if (cell.value.size <= ID_BYTES)
        return STATUS_CORRUPT;
    *ret_id = slice_after(cell.value, ID_BYTES);
    return STATUS_OK;
}

Status site_set_key(Store *store, World world, Slice id)
{
    ARENA_SCOPE Arena *arena = arena_new();
    BUFFER_SCOPE Buffer value = {0};
    Id fresh = id_new(world.clock, world.random);
    buffer_bytes(&value, id_slice(&fresh));
    buffer_bytes(&value, id);
    return write_fact(store, &KEY, NULL, fresh, buffer_slice(&value), arena);
}

/* ---- Demo ------------------------------------------------------------------------------------------------------ */

static const Read DEMO = {&TABLE_SITE, {"demo", 4}, {"state", 5}, STORE_SERIAL};

Status site_is_demo(Store *store, bool *ret_demo)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Cell cell;
    Status status = store_read(store, &DEMO, arena, &cell);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    *ret_demo = status == STATUS_OK;
    return STATUS_OK;
}

Status site_set_demo(Store *store, World world)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Id id = id_new(world.clock, world.random);
    Status status = write_fact(store, &DEMO, NULL, id, id_slice(&id), arena);
    return status == STATUS_CONFLICT ? STATUS_OK : status; /* it is one already */
}
