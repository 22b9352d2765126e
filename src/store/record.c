/* record.c -- see record.h. One loop over the table for each direction; a field's kind decides the case. */
#include "store/record.h"

typedef struct Decoding {
    Reader reader;
    const VaultCell *cell;
    Arena *arena;
} Decoding;

typedef struct Encoding {
    const VaultCell *cell;
    Arena *arena;
} Encoding;

static void encode_fields(const Record *record, const char *from, const Encoding *how, Buffer *out);
static bool decode_fields(const Record *record, size_t count, Decoding *from, char *to);

/* ---- Numbers ------------------------------------------------------------------------------------------------- */

static inline uint64_t load(const char *from, uint8_t size)
{
    uint64_t wide = 0;
    uint32_t narrow;
    switch (size) {
    case 1:
        return *(const unsigned char *)from;
    case 4:
        memcpy(&narrow, from, sizeof narrow);
        return narrow;
    default:
        CHECK(size == sizeof wide);
        memcpy(&wide, from, sizeof wide);
        return wide;
    }
}

static inline void keep(char *to, uint8_t size, uint64_t number)
{
    uint32_t narrow = (uint32_t)number;
    switch (size) {
    case 1:
        *to = (char)number;
        break;
    case 4:
        memcpy(to, &narrow, sizeof narrow);
        break;
    default:
        CHECK(size == sizeof number);
        memcpy(to, &number, sizeof number);
    }
}

static inline uint64_t take_number(Reader *reader, uint8_t width)
{
    uint64_t number = 0;
    uint32_t narrow;
    if (reader->rest.size < width) {
        reader->failed = true;
        reader->rest.size = 0;
        return 0;
    }
    const char *at = reader->rest.data;
    switch (width) {
    case 8:
        number = bytes_get_u64(at);
        break;
    case 4:
        memcpy(&narrow, at, sizeof narrow);
        number = __builtin_bswap32(narrow);
        break;
    case 2:
        number = bytes_get_u16(at);
        break;
    default:
        number = *(const unsigned char *)at;
    }
    reader->rest.data += width;
    reader->rest.size -= width;
    return number;
}

static inline void put_number(Buffer *out, uint8_t width, uint64_t number)
{
    char *to = buffer_reserve(out, 8);
    bytes_put_u64(to, number << (8 * (8 - width)));
    out->size += width;
}

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

static Slice default_slice(const Record *record, const RecordField *field)
{
    if (record->defaults == NULL)
        return SLICE_EMPTY;
    return *(const Slice *)(const void *)((const char *)record->defaults + field->offset);
}

static void clear_field(const Record *record, const RecordField *field, char *to)
{
    char *at = to + field->offset;
    const char *defaults = record->defaults;
    switch ((RecordKind)field->kind) {
    case RECORD_KIND_NUMBER:
    case RECORD_KIND_BITS:
        keep(at, field->size, defaults != NULL ? load(defaults + field->offset, field->size) : 0);
        break;
    case RECORD_KIND_FLAGS:
        *(bool *)at = *(bool *)(to + field->other) = false;
        break;
    case RECORD_KIND_ID:
    case RECORD_KIND_WRITE_ID:
        memset(at, 0, ID_BYTES);
        break;
    case RECORD_KIND_SLICE:
    case RECORD_KIND_FIXED:
        *(Slice *)(void *)at = default_slice(record, field);
        break;
    case RECORD_KIND_LIST:
        *(size_t *)(void *)(to + field->other) = 0;
        break;
    case RECORD_KIND_VALUES:
        if (defaults != NULL)
            memcpy(at, defaults + field->offset, field->most * sizeof(int64_t));
        else
            memset(at, 0, field->most * sizeof(int64_t));
        break;
    case RECORD_KIND_SEALED:
        record_clear(field->of, at);
        break;
    }
}

void record_clear(const Record *record, void *ret_record)
{
    for (size_t i = 0; i < record->field_count; i++)
        clear_field(record, &record->fields[i], ret_record);
}

static bool take_slice(const Record *record, const RecordField *field, Reader *reader, Slice *to)
{
    if (field->optional && reader->rest.size == 0) {
        *to = default_slice(record, field);
        return true;
    }
    size_t size = field->width == 0 ? reader->rest.size : take_number(reader, field->width);
    if (size > field->most || size > reader->rest.size || (field->optional && size == 0))
        return false;
    *to = slice_of(reader->rest.data, size);
    reader->rest = slice_after(reader->rest, size);
    return true;
}

static bool take_list(const RecordField *field, Decoding *from, char *to)
{
    Reader *reader = &from->reader;
    size_t size = field->of->size, count = 0;
    uint64_t wanted = field->width == 0 ? UINT64_MAX : take_number(reader, field->width);
    char *elements = to + field->offset;
    if (field->width != 0 && wanted > field->most)
        return false;
    if (field->optional) {
        /* An element has at least one byte. */
        size_t room = wanted < reader->rest.size ? (size_t)wanted : reader->rest.size;
        elements = arena_zeroed(from->arena, room, size);
        memcpy(to + field->offset, &elements, sizeof elements);
    }
    while (count < wanted && (field->width != 0 || reader->rest.size > 0)) {
        char *element = elements + count * size;
        if (count++ == field->most)
            return false;
        memset(element, 0, size);
        if (!decode_fields(field->of, field->of->field_count, from, element))
            return false;
    }
    memcpy(to + field->other, &count, sizeof count);
    return true;
}

static bool take_values(const Record *record, const RecordField *field, Reader *reader, char *to)
{
    size_t count = take_number(reader, 1);
    clear_field(record, field, to);
    for (size_t i = 0; i < count; i++) {
        uint64_t number = take_number(reader, 8);
        if (i < field->most)
            keep(to + field->offset + i * 8, 8, number);
    }
    return count <= field->most || field->optional;
}

static bool take_sealed(const RecordField *field, Decoding *from, char *to)
{
    Slice sealed, plain;
    const RecordField whole = {.width = field->width, .most = UINT32_MAX};
    if (!take_slice(NULL, &whole, &from->reader, &sealed))
        return false;
    if (field->optional && sealed.size == 0) {
        record_clear(field->of, to + field->offset);
        return true;
    }
    return vault_unseal_at(from->cell, field->of->purpose, sealed, from->arena, &plain) ==
               STATUS_OK &&
           record_decode(field->of, plain, from->cell, from->arena, to + field->offset) ==
               STATUS_OK;
}

static bool take_field(const Record *record, const RecordField *field, Decoding *from, char *to)
{
    Reader *reader = &from->reader;
    char *at = to + field->offset;
    uint64_t number;
    switch ((RecordKind)field->kind) {
    case RECORD_KIND_NUMBER:
        number = take_number(reader, field->width);
        keep(at, field->size, number);
        return number >= field->least && number <= field->most;
    case RECORD_KIND_BITS:
        number = take_number(reader, field->width);
        keep(at, field->size, number);
        return (number & ~field->most) == 0;
    case RECORD_KIND_FLAGS:
        number = take_number(reader, 1);
        *(bool *)at = number & 1;
        *(bool *)(to + field->other) = number >> 1 & 1;
        return number <= 3;
    case RECORD_KIND_ID:
    case RECORD_KIND_WRITE_ID:
        if (reader->rest.size < ID_BYTES)
            return false;
        memcpy(at, reader->rest.data, ID_BYTES);
        reader->rest = slice_after(reader->rest, ID_BYTES);
        return true;
    case RECORD_KIND_SLICE:
        return take_slice(record, field, reader, (Slice *)(void *)at);
    case RECORD_KIND_FIXED:
        *(Slice *)(void *)at = reader_bytes(reader, field->most);
        return true;
    case RECORD_KIND_LIST:
        return take_list(field, from, to);
    case RECORD_KIND_VALUES:
        return take_values(record, field, reader, to);
    case RECORD_KIND_SEALED:
        return take_sealed(field, from, to);
    }
    return false;
}

/* The first `count` fields, and defaults for the others. */
static bool decode_fields(const Record *record, size_t count, Decoding *from, char *to)
{
    for (size_t i = 0; i < count; i++)
        if (!take_field(record, &record->fields[i], from, to))
            return false;
    for (size_t i = count; i < record->field_count; i++)
        clear_field(record, &record->fields[i], to);
    return !from->reader.failed;
}

Status record_decode(const Record *record, Slice value, const VaultCell *cell, Arena *arena,
                     void *ret_record)
{
    Decoding from = {reader_of(value), cell, arena};
    uint64_t format = record->format == 0 ? 0 : take_number(&from.reader, 1);
    if (format < record->oldest || format > record->format)
        return STATUS_CORRUPT;
    size_t count =
        format == record->format ? record->field_count : record->older[format - record->oldest];
    if (!decode_fields(record, count, &from, ret_record) || !reader_done(&from.reader))
        return STATUS_CORRUPT;
    return STATUS_OK;
}

/* ---- Encoding ------------------------------------------------------------------------------------------------ */

static void put_slice(Buffer *out, const RecordField *field, Slice slice)
{
    if (field->optional && slice.size == 0)
        return;
    CHECK(slice.size <= field->most);
    if (field->width != 0)
        put_number(out, field->width, slice.size);
    buffer_bytes(out, slice);
}

static void put_fixed(Buffer *out, const RecordField *field, Slice slice)
{
    CHECK(slice.size == field->most || slice.size == 0);
    memset(buffer_reserve(out, field->most), 0, field->most);
    if (slice.size > 0)
        memcpy(out->data + out->size, slice.data, slice.size);
    out->size += field->most;
}

static void put_list(const RecordField *field, const char *from, const Encoding *how, Buffer *out)
{
    size_t count;
    const char *elements = from + field->offset;
    if (field->optional)
        memcpy(&elements, from + field->offset, sizeof elements);
    memcpy(&count, from + field->other, sizeof count);
    CHECK(count <= field->most);
    if (field->width != 0)
        put_number(out, field->width, count);
    for (size_t i = 0; i < count; i++)
        encode_fields(field->of, elements + i * field->of->size, how, out);
}

static bool is_zero(Slice bytes)
{
    for (size_t i = 0; i < bytes.size; i++)
        if (bytes.data[i] != 0)
            return false;
    return true;
}

static void put_sealed(const RecordField *field, const char *from, const Encoding *how, Buffer *out)
{
    BUFFER_SCOPE Buffer plain = {0};
    const RecordField whole = {.width = field->width, .most = UINT32_MAX};
    if (field->of->format != 0)
        buffer_u8(&plain, field->of->format);
    encode_fields(field->of, from + field->offset, how, &plain);
    Slice bytes = buffer_slice(&plain);
    put_slice(out, &whole,
              field->optional && is_zero(bytes)
                  ? SLICE_EMPTY
                  : vault_seal_at(how->cell, field->of->purpose, bytes, how->arena));
}

static void put_field(const RecordField *field, const char *from, const Encoding *how, Buffer *out)
{
    const char *at = from + field->offset;
    switch ((RecordKind)field->kind) {
    case RECORD_KIND_NUMBER:
    case RECORD_KIND_BITS:
        put_number(out, field->width, load(at, field->size));
        break;
    case RECORD_KIND_FLAGS:
        buffer_u8(out, (uint8_t)(*(const bool *)at | *(const bool *)(from + field->other) << 1));
        break;
    case RECORD_KIND_ID:
    case RECORD_KIND_WRITE_ID:
        buffer_bytes(out, slice_of(at, ID_BYTES));
        break;
    case RECORD_KIND_SLICE:
        put_slice(out, field, *(const Slice *)(const void *)at);
        break;
    case RECORD_KIND_FIXED:
        put_fixed(out, field, *(const Slice *)(const void *)at);
        break;
    case RECORD_KIND_LIST:
        put_list(field, from, how, out);
        break;
    case RECORD_KIND_VALUES:
        buffer_u8(out, (uint8_t)field->most);
        for (size_t i = 0; i < field->most; i++)
            put_number(out, 8, load(at + i * 8, 8));
        break;
    case RECORD_KIND_SEALED:
        put_sealed(field, from, how, out);
        break;
    }
}

static void encode_fields(const Record *record, const char *from, const Encoding *how, Buffer *out)
{
    for (size_t i = 0; i < record->field_count; i++)
        put_field(&record->fields[i], from, how, out);
}

Slice record_encode(const Record *record, const void *from, const VaultCell *cell, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    if (record->format != 0)
        buffer_u8(&out, record->format);
    encode_fields(record, from, &(Encoding){cell, arena}, &out);
    return arena_copy(arena, buffer_slice(&out));
}

/* ---- Cells --------------------------------------------------------------------------------------------------- */

Status record_read(const Records *records, const RecordPlace *place, ReadMode mode, Arena *arena,
                   void *ret_record, Slice *ret_value)
{
    Cell cell;
    Read read = {place->table, place->row, place->column, mode};
    VaultCell sealed = record_cell(records->vault, place->table, place->row, place->column);
    TRY(store_read(records->store, &read, arena, &cell));
    TRY(record_decode(place->record, cell.value, &sealed, arena, ret_record));
    if (ret_value != NULL)
        *ret_value = cell.value;
    return STATUS_OK;
}

Status record_find(const Records *records, const RecordPlace *place, ReadMode mode, Arena *arena,
                   void *ret_record, Slice *ret_value)
{
    Status status = record_read(records, place, mode, arena, ret_record, ret_value);
    if (status != STATUS_NOT_FOUND)
        return status;
    record_clear(place->record, ret_record);
    if (ret_value != NULL)
        *ret_value = SLICE_EMPTY;
    return STATUS_OK;
}

/* Where the id of the write is in the record; every record that is a condition has one. */
static Id *write_id(const Record *record, void *in)
{
    size_t at = 0;
    while (at < record->field_count && record->fields[at].kind != RECORD_KIND_WRITE_ID)
        at++;
    CHECK(at < record->field_count);
    return (Id *)(void *)((char *)in + record->fields[at].offset);
}

Status record_write(const Records *records, const RecordWrite *write, Arena *arena,
                    Slice *ret_value)
{
    const RecordPlace *place = &write->place;
    Id *id = write_id(place->record, write->record);
    if (!write->keep_id)
        *id = id_new(records->world.clock, records->world.random);
    VaultCell sealed = record_cell(records->vault, place->table, place->row, place->column);
    Slice value = record_encode(place->record, write->record, &sealed, arena);
    Condition conditions[1 + RECORD_WHEN_MAX] = {
        {place->column, write->before, write->before.size == 0}};
    CHECK(write->when_count <= RECORD_WHEN_MAX);
    for (size_t i = 0; i < write->when_count; i++)
        conditions[1 + i] = write->when[i];
    Change *changes = ARENA_ARRAY(arena, write->also_count + 2, Change);
    size_t count = 0;
    changes[count++] = (Change){.column = place->column, .value = value, .ttl_s = write->ttl_s};
    for (size_t i = 0; i < write->also_count; i++)
        changes[count++] = write->also[i];
    Slice receipt = store_receipt(id_slice(id), arena);
    if (write->proof.size == 0)
        changes[count++] =
            (Change){.column = receipt, .value = id_slice(id), .ttl_s = STORE_RECEIPT_TTL_S};
    Update update = {.table = place->table,
                     .row = place->row,
                     .conditions = conditions,
                     .condition_count = 1 + write->when_count,
                     .changes = changes,
                     .change_count = count,
                     .proof = write->proof.size == 0 ? receipt : write->proof,
                     .marks = write->marks};
    TRY(store_update(records->store, &update, RECORD_UPDATE_TRIES, arena, NULL));
    if (ret_value != NULL)
        *ret_value = value;
    return STATUS_OK;
}

/* ---- Editing ------------------------------------------------------------------------------------------------- */

bool record_again(Status *status, int attempt, Arena *arena, Reason *reason)
{
    if (*status != STATUS_CONFLICT)
        return false;
    if (attempt == RECORD_RACE_TRIES) {
        *status = reason_set(reason, STATUS_UNAVAILABLE, "",
                             "others change this all the time; try again");
        return false;
    }
    if (arena != NULL)
        arena_reset(arena);
    return true;
}

/* One attempt. *ret_raced: somebody wrote in between, so it is made again. */
static Status edit_once(const Records *records, const RecordEdit *edit, Arena *arena,
                        bool *ret_raced, Reason *reason)
{
    const RecordPlace *held = edit->held;
    RecordEditing editing = {.record = arena_zeroed(arena, 1, edit->place.record->size),
                             .arena = arena};
    Slice before, held_value = SLICE_EMPTY;
    *ret_raced = false;
    if (held != NULL) {
        void *record = arena_zeroed(arena, 1, held->record->size);
        TRY(record_read(records, held, STORE_SERIAL, arena, record, &held_value));
        editing.held = record;
    }
    TRY((edit->must_exist ? record_read : record_find)(records, &edit->place, STORE_SERIAL, arena,
                                                       editing.record, &before));
    editing.present = before.size > 0;
    TRY(edit->apply(&editing, edit->context, reason));
    if (!editing.write)
        return STATUS_OK;
    RecordWrite write = editing.also;
    Condition same = {.value = held_value};
    write.place = edit->place;
    write.record = editing.record;
    write.before = before;
    if (held != NULL) {
        CHECK(write.when_count == 0);
        same.column = held->column;
        write.when = &same;
        write.when_count = 1;
    }
    Status status = record_write(records, &write, arena, NULL);
    *ret_raced = status == STATUS_CONFLICT;
    return status;
}

Status record_edit(const Records *records, const RecordEdit *edit, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    bool raced = true;
    Status status = STATUS_CONFLICT;
    for (int i = 0; raced && record_again(&status, i, arena, reason); i++)
        status = edit_once(records, edit, arena, &raced, reason);
    return status;
}
