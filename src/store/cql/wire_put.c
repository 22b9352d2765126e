/* wire_put.c -- requests as bytes; see wire.h. */
#include "store/cql/wire.h"

enum { FLAG_VALUES = 0x01, FLAG_PAGE_SIZE = 0x04, FLAG_SERIAL = 0x10 };
enum { BATCH_UNLOGGED = 1, BATCH_PREPARED = 1 };

static void put_i32(Buffer *out, int32_t number)
{
    buffer_u32(out, (uint32_t)number);
}

static void put_string(Buffer *out, Slice text)
{
    CHECK(text.size <= UINT16_MAX);
    buffer_u16(out, (uint16_t)text.size);
    buffer_bytes(out, text);
}

static void put_long_string(Buffer *out, Slice text)
{
    CHECK(text.size <= WIRE_REQUEST_MAX);
    put_i32(out, (int32_t)text.size);
    buffer_bytes(out, text);
}

size_t wire_begin(Buffer *out, uint16_t stream, WireOpcode opcode)
{
    size_t frame = out->size;
    char *head = buffer_reserve(out, WIRE_HEAD);
    memset(head, 0, WIRE_HEAD);
    head[0] = WIRE_REQUEST;
    bytes_put_u16(head + 2, stream);
    head[4] = (char)opcode;
    out->size += WIRE_HEAD;
    return frame;
}

void wire_end(Buffer *out, size_t frame)
{
    size_t length = out->size - frame - WIRE_HEAD;
    CHECK(length <= WIRE_LENGTH_MAX);
    bytes_put_u16(out->data + frame + 5, (uint16_t)(length >> 16));
    bytes_put_u16(out->data + frame + 7, (uint16_t)length);
}

void wire_put_startup(Buffer *out)
{
    buffer_u16(out, 1);
    put_string(out, SLICE("CQL_VERSION"));
    put_string(out, SLICE("3.0.0"));
}

/* SASL PLAIN: who to act as (nobody else), who we are, the password. */
void wire_put_login(Buffer *out, Slice user, Slice password)
{
    put_i32(out, (int32_t)(user.size + password.size + 2));
    buffer_u8(out, 0);
    buffer_bytes(out, user);
    buffer_u8(out, 0);
    buffer_bytes(out, password);
}

void wire_put_register(Buffer *out)
{
    buffer_u16(out, 3);
    put_string(out, SLICE("TOPOLOGY_CHANGE"));
    put_string(out, SLICE("STATUS_CHANGE"));
    put_string(out, SLICE("SCHEMA_CHANGE"));
}

void wire_put_prepare(Buffer *out, Slice text)
{
    put_long_string(out, text);
}

static void put_values(Buffer *out, const CqlPart *part)
{
    buffer_u16(out, (uint16_t)part->count);
    for (size_t i = 0; i < part->count; i++) {
        const CqlValue *value = &part->values[i];
        if (value->kind == CQL_BYTES)
            put_long_string(out, value->bytes);
        else
            put_i32(out, value->kind == CQL_NULL ? -1 : -2);
    }
}

static uint16_t serial_beside(CqlConsistency consistency)
{
    return consistency == CQL_LOCAL_QUORUM ? CQL_LOCAL_SERIAL : CQL_SERIAL;
}

/* The parameters of QUERY and EXECUTE, in the order that the flags have. */
static void put_ask(Buffer *out, const CqlPart *part, const WireQuery *ask)
{
    bool values = part != NULL && part->count > 0;
    buffer_u16(out, (uint16_t)ask->consistency);
    buffer_u8(out,
              (uint8_t)((values ? FLAG_VALUES : 0) | (ask->page_size > 0 ? FLAG_PAGE_SIZE : 0) |
                        (ask->conditional ? FLAG_SERIAL : 0)));
    if (values)
        put_values(out, part);
    if (ask->page_size > 0)
        put_i32(out, ask->page_size);
    if (ask->conditional)
        buffer_u16(out, serial_beside(ask->consistency));
}

void wire_put_query(Buffer *out, Slice text, const WireQuery *ask)
{
    put_long_string(out, text);
    put_ask(out, NULL, ask);
}

void wire_put_execute(Buffer *out, Slice id, const CqlPart *part, const WireQuery *ask)
{
    put_string(out, id);
    put_ask(out, part, ask);
}

void wire_put_batch(Buffer *out, size_t parts)
{
    CHECK(parts <= WIRE_PARTS_MAX);
    buffer_u8(out, BATCH_UNLOGGED);
    buffer_u16(out, (uint16_t)parts);
}

void wire_put_batch_part(Buffer *out, Slice id, const CqlPart *part)
{
    buffer_u8(out, BATCH_PREPARED);
    put_string(out, id);
    put_values(out, part);
}

void wire_put_batch_end(Buffer *out, const WireQuery *ask)
{
    buffer_u16(out, (uint16_t)ask->consistency);
    buffer_u8(out, ask->conditional ? FLAG_SERIAL : 0);
    if (ask->conditional)
        buffer_u16(out, serial_beside(ask->consistency));
}

size_t wire_call_size(const CqlCall *call)
{
    enum { PART_MAX = 80, VALUE_HEAD = 4 }; /* an id is 16 bytes, and never over 64 */
    size_t size = 64 + (call->text != NULL ? strlen(call->text) : 0);
    for (size_t i = 0; i < call->part_count; i++) {
        const CqlPart *part = &call->parts[i];
        size += PART_MAX;
        for (size_t j = 0; j < part->count; j++)
            size +=
                VALUE_HEAD + (part->values[j].kind == CQL_BYTES ? part->values[j].bytes.size : 0);
    }
    return size;
}
