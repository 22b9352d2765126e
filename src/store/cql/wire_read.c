/* wire_read.c -- answers from bytes; see wire.h. A Reader bounds every step, so one check at the end of each message is enough;
 * only what is counted (columns, rows, members of a set) is held against the bytes that are left before it is allocated. */
#include "store/cql/wire.h"

enum { FLAG_COMPRESSED = 0x01, FLAG_TRACED = 0x02, FLAG_PAYLOAD = 0x04, FLAG_WARNINGS = 0x08 };
enum { RESULT_VOID = 1, RESULT_ROWS, RESULT_KEYSPACE, RESULT_PREPARED, RESULT_SCHEMA };
enum { ROWS_ONE_TABLE = 0x01, ROWS_MORE = 0x02, ROWS_NO_NAMES = 0x04 };
enum { TRACE_ID = 16, TYPE_DEPTH = 16 };

/* ---- Pieces ------------------------------------------------------------------------------------------------ */

static int32_t read_i32(Reader *reader)
{
    return (int32_t)reader_u32(reader);
}

static Slice read_string(Reader *reader)
{
    return reader_bytes(reader, reader_u16(reader));
}

/* A negative length is NULL. */
static CqlValue read_value(Reader *reader)
{
    int32_t size = read_i32(reader);
    if (size < 0)
        return (CqlValue){CQL_NULL, SLICE_EMPTY};
    return cql_bytes(reader_bytes(reader, (size_t)size));
}

/* A count of things that take at least `each` bytes; more than fit is a lie. */
static size_t read_count(Reader *reader, size_t each)
{
    int32_t count = read_i32(reader);
    if (count < 0 || (size_t)count > reader->rest.size / each)
        reader->failed = true;
    return reader->failed ? 0 : (size_t)count;
}

static Status end_of(const Reader *reader)
{
    return reader->failed ? STATUS_CORRUPT : STATUS_OK;
}

/* ---- Frames ------------------------------------------------------------------------------------------------ */

Status wire_read_head(Slice head, WireFrame *ret_frame)
{
    Reader reader = reader_of(head);
    WireFrame frame = {.version = reader_u8(&reader)};
    frame.flags = reader_u8(&reader);
    frame.stream = (int16_t)reader_u16(&reader);
    frame.opcode = reader_u8(&reader);
    frame.length = reader_u32(&reader);
    if (reader.failed || frame.length > WIRE_LENGTH_MAX || (frame.version & 0x80) == 0)
        return STATUS_CORRUPT;
    frame.body = SLICE_EMPTY;
    frame.too_large = frame.length > CQL_ANSWER_MAX;
    *ret_frame = frame;
    return STATUS_OK;
}

Status wire_read_body(const WireFrame *frame, Slice *ret_body)
{
    Reader reader = reader_of(frame->body);
    if (frame->flags & FLAG_COMPRESSED) /* we never agreed to any */
        return STATUS_CORRUPT;
    if (frame->flags & FLAG_TRACED)
        reader_bytes(&reader, TRACE_ID);
    if (frame->flags & FLAG_WARNINGS)
        for (unsigned i = reader_u16(&reader); i > 0 && !reader.failed; i--)
            read_string(&reader);
    if (frame->flags & FLAG_PAYLOAD)
        for (unsigned i = reader_u16(&reader); i > 0 && !reader.failed; i--) {
            read_string(&reader);
            read_value(&reader);
        }
    TRY(end_of(&reader));
    *ret_body = reader.rest;
    return STATUS_OK;
}

/* ---- Messages ---------------------------------------------------------------------------------------------- */

Status wire_read_error(Slice body, WireError *ret_error)
{
    Reader reader = reader_of(body);
    WireError error = {.code = read_i32(&reader), .unknown_id = SLICE_EMPTY};
    error.words = read_string(&reader);
    if (error.code == WIRE_ERROR_UNPREPARED)
        error.unknown_id = read_string(&reader);
    TRY(end_of(&reader));
    *ret_error = error;
    return STATUS_OK;
}

void wire_show_words(Slice words, char *ret_text, size_t size)
{
    size_t shown = words.size < size - 1 ? words.size : size - 1;
    for (size_t i = 0; i < shown; i++)
        ret_text[i] = words.data[i] >= ' ' && words.data[i] <= '~' ? words.data[i] : '?';
    ret_text[shown] = '\0';
}

Status wire_read_prepared(Slice body, Slice *ret_id)
{
    Reader reader = reader_of(body);
    int32_t kind = read_i32(&reader);
    Slice id = read_string(&reader);
    if (reader.failed || kind != RESULT_PREPARED || id.size == 0)
        return STATUS_CORRUPT;
    *ret_id = id;
    return STATUS_OK;
}

static void read_address(Reader *reader, WireEvent *event)
{
    event->address = reader_bytes(reader, reader_u8(reader));
    uint32_t port = reader_u32(reader);
    if ((event->address.size != 4 && event->address.size != 16) || port > UINT16_MAX)
        reader->failed = true;
    event->port = (uint16_t)port;
}

Status wire_read_event(Slice body, WireEvent *ret_event)
{
    Reader reader = reader_of(body);
    WireEvent event = {.kind = WIRE_EVENT_OTHER, .address = SLICE_EMPTY};
    Slice type = read_string(&reader), change = read_string(&reader);
    if (slice_equal(type, SLICE("STATUS_CHANGE"))) {
        event.kind = slice_equal(change, SLICE("UP"))     ? WIRE_EVENT_UP
                     : slice_equal(change, SLICE("DOWN")) ? WIRE_EVENT_DOWN
                                                          : WIRE_EVENT_OTHER;
        read_address(&reader, &event);
    } else if (slice_equal(type, SLICE("TOPOLOGY_CHANGE"))) {
        event.kind = WIRE_EVENT_TOPOLOGY;
    } else if (slice_equal(type, SLICE("SCHEMA_CHANGE"))) {
        if (slice_equal(read_string(&reader), SLICE("KEYSPACE")))
            event.kind = WIRE_EVENT_KEYSPACE;
    }
    TRY(end_of(&reader));
    *ret_event = event;
    return STATUS_OK;
}

/* ---- Rows -------------------------------------------------------------------------------------------------- */

/* The types of columns are passed over: who asks knows them. They nest, but not deeply. */
static void skip_type(Reader *reader, int depth)
{
    enum { CUSTOM = 0x00, LIST = 0x20, MAP = 0x21, SET = 0x22, UDT = 0x30, TUPLE = 0x31 };
    unsigned type = reader_u16(reader), members = 0;
    if (depth == TYPE_DEPTH)
        reader->failed = true;
    if (reader->failed)
        return;
    if (type == CUSTOM) {
        read_string(reader);
    } else if (type == UDT) {
        read_string(reader);
        read_string(reader);
        members = reader_u16(reader);
    } else {
        members = type == TUPLE ? reader_u16(reader)
                  : type == MAP ? 2
                                : type == LIST || type == SET;
    }
    for (; members > 0 && !reader->failed; members--) {
        if (type == UDT)
            read_string(reader);
        skip_type(reader, depth + 1);
    }
}

static void read_names(Reader *reader, uint32_t flags, Arena *arena, CqlRows *rows)
{
    const char **names = arena_alloc(arena, rows->columns * sizeof *names);
    if (flags & ROWS_ONE_TABLE) {
        read_string(reader);
        read_string(reader);
    }
    for (size_t i = 0; i < rows->columns; i++) {
        if (!(flags & ROWS_ONE_TABLE)) {
            read_string(reader);
            read_string(reader);
        }
        names[i] = arena_text(arena, read_string(reader));
        skip_type(reader, 0);
        if (reader->failed)
            return;
    }
    rows->names = names;
}

static Status read_rows(Reader *reader, Arena *arena, CqlRows *ret_rows)
{
    enum { COLUMN_LEAST = 4 };
    CqlRows rows = {0};
    uint32_t flags = reader_u32(reader);
    /* The count stands before the bytes that it counts, but for the paging state. */
    rows.columns = read_count(reader, COLUMN_LEAST);
    rows.more = (flags & ROWS_MORE) != 0;
    if (rows.more)
        read_value(reader); /* the paging state: callers go on from the last row that they have */
    if (reader->failed || rows.columns == 0 || (flags & ROWS_NO_NAMES))
        return STATUS_CORRUPT;
    read_names(reader, flags, arena, &rows);
    TRY(end_of(reader));
    enum { VALUE_LEAST = 4 };
    rows.count = read_count(reader, rows.columns * VALUE_LEAST);
    size_t total = rows.count * rows.columns;
    CqlValue *values = arena_alloc(arena, total * sizeof *values);
    for (size_t i = 0; i < total; i++)
        values[i] = read_value(reader);
    rows.values = values;
    TRY(end_of(reader));
    *ret_rows = rows;
    return STATUS_OK;
}

Status wire_read_result(Slice body, Arena *arena, CqlRows *ret_rows)
{
    Reader reader = reader_of(body);
    int32_t kind = read_i32(&reader);
    TRY(end_of(&reader));
    if (kind == RESULT_ROWS)
        return read_rows(&reader, arena, ret_rows);
    if (kind != RESULT_VOID && kind != RESULT_KEYSPACE && kind != RESULT_SCHEMA)
        return STATUS_CORRUPT;
    *ret_rows = (CqlRows){0};
    return STATUS_OK;
}

/* ---- Values ------------------------------------------------------------------------------------------------ */

/* `each` texts a member: 1 of a set, 2 of a map. */
static Status read_members(Slice value, size_t each, Arena *arena, Slice **ret_texts,
                           size_t *ret_count)
{
    Reader reader = reader_of(value);
    size_t count = each * read_count(&reader, each * 4);
    Slice *texts = arena_alloc(arena, count * sizeof *texts);
    for (size_t i = 0; i < count; i++)
        texts[i] = read_value(&reader).bytes;
    TRY(end_of(&reader));
    *ret_texts = texts;
    *ret_count = count;
    return STATUS_OK;
}

Status wire_read_texts(Slice value, Arena *arena, Slice **ret_texts, size_t *ret_count)
{
    return read_members(value, 1, arena, ret_texts, ret_count);
}

Status wire_read_text_map(Slice value, Arena *arena, Slice **ret_texts, size_t *ret_count)
{
    return read_members(value, 2, arena, ret_texts, ret_count);
}
