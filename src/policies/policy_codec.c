/* policy_codec.c -- see policy_codec.h. */
#include "policies/policy_codec.h"

enum { FORMAT = 1, UTF8_MOST = 4 /* bytes of a character */ };

static Id read_id(Reader *reader)
{
    Id id = {{0}};
    Slice bytes = reader_bytes(reader, ID_BYTES);
    if (bytes.size == ID_BYTES)
        memcpy(id.bytes, bytes.data, ID_BYTES);
    return id;
}

/* A reader behind the format byte; failed when that is not ours. */
static Reader open_value(Slice value)
{
    Reader reader = reader_of(value);
    reader.failed |= reader_u8(&reader) != FORMAT;
    return reader;
}

/* ---- Head, origin, owner ------------------------------------------------------------------------------------- */

void policy_encode_head(Buffer *to, const PolicyHead *head)
{
    buffer_u8(to, FORMAT);
    buffer_u32(to, head->count);
    buffer_bytes(to, id_slice(&head->last));
}

Status policy_decode_head(Slice value, PolicyHead *ret_head)
{
    Reader reader = open_value(value);
    uint32_t count = reader_u32(&reader);
    Id last = read_id(&reader);
    if (!reader_done(&reader) || count == 0 || count > POLICY_MOVES_MOST)
        return STATUS_CORRUPT;
    *ret_head = (PolicyHead){count, last};
    return STATUS_OK;
}

void policy_encode_origin(Buffer *to, const PolicyOrigin *origin)
{
    buffer_u8(to, FORMAT);
    buffer_u64(to, origin->creator);
    buffer_u64(to, origin->seq);
    buffer_bytes(to, id_slice(&origin->version));
    buffer_i64(to, origin->created_us);
}

Status policy_decode_origin(Slice value, PolicyOrigin *ret_origin)
{
    Reader reader = open_value(value);
    PolicyOrigin origin;
    origin.creator = reader_u64(&reader);
    origin.seq = reader_u64(&reader);
    origin.version = read_id(&reader);
    origin.created_us = reader_i64(&reader);
    if (!reader_done(&reader))
        return STATUS_CORRUPT;
    *ret_origin = origin;
    return STATUS_OK;
}

void policy_encode_owner(Buffer *to, const PolicyOwner *owner)
{
    buffer_u8(to, FORMAT);
    buffer_bytes(to, id_slice(&owner->id));
    buffer_u64(to, owner->owner);
}

Status policy_decode_owner(Slice value, PolicyOwner *ret_owner)
{
    Reader reader = open_value(value);
    PolicyOwner owner;
    owner.id = read_id(&reader);
    owner.owner = reader_u64(&reader);
    if (!reader_done(&reader))
        return STATUS_CORRUPT;
    *ret_owner = owner;
    return STATUS_OK;
}

/* ---- Moves --------------------------------------------------------------------------------------------------- */

void policy_encode_move(Buffer *to, const PolicyMove *move)
{
    buffer_u8(to, FORMAT);
    buffer_u8(to, (uint8_t)move->state);
    buffer_i64(to, move->time_us);
    buffer_bytes(to, id_slice(&move->id));
    buffer_u64(to, move->actor);
    buffer_u64(to, move->other);
    buffer_u64(to, move->payer);
    buffer_u8(to, (uint8_t)move->percent);
    buffer_bytes(to, move->reason);
}

Status policy_decode_move(Slice value, PolicyMove *ret_move)
{
    Reader reader = open_value(value);
    PolicyMove move;
    uint8_t state = reader_u8(&reader);
    move.time_us = reader_i64(&reader);
    move.id = read_id(&reader);
    move.actor = reader_u64(&reader);
    move.other = reader_u64(&reader);
    move.payer = reader_u64(&reader);
    move.percent = reader_u8(&reader);
    move.reason = reader_rest(&reader);
    if (!reader_done(&reader) || state >= POLICY_STATE_COUNT || move.percent > 100 ||
        move.reason.size > (size_t)UTF8_MOST * POLICY_REASON_MOST)
        return STATUS_CORRUPT;
    move.state = (PolicyState)state;
    *ret_move = move;
    return STATUS_OK;
}

void policy_encode_edit(Buffer *to, const PolicyEdit *edit)
{
    buffer_u8(to, FORMAT);
    buffer_u32(to, edit->revision);
    buffer_u64(to, edit->editor);
    buffer_i64(to, edit->time_us);
}

Status policy_decode_edit(Slice value, PolicyEdit *ret_edit)
{
    Reader reader = open_value(value);
    PolicyEdit edit = {.revision = reader_u32(&reader)};
    edit.editor = reader_u64(&reader);
    edit.time_us = reader_i64(&reader);
    if (!reader_done(&reader) || edit.revision < 2 || edit.revision > POLICY_REVISIONS_MOST)
        return STATUS_CORRUPT;
    *ret_edit = edit;
    return STATUS_OK;
}

void policy_encode_target(Buffer *to, uint64_t target)
{
    buffer_u8(to, FORMAT);
    buffer_u64(to, target);
}

Status policy_decode_target(Slice value, uint64_t *ret_target)
{
    Reader reader = open_value(value);
    uint64_t target = reader_u64(&reader);
    if (!reader_done(&reader) || target == 0)
        return STATUS_CORRUPT;
    *ret_target = target;
    return STATUS_OK;
}

/* ---- Texts --------------------------------------------------------------------------------------------------- */

static void put_text(Buffer *to, Slice text)
{
    buffer_u32(to, (uint32_t)text.size);
    buffer_bytes(to, text);
}

/* A text of more bytes than its characters can have was not written by us. */
static Slice take_text(Reader *reader, size_t most)
{
    uint32_t size = reader_u32(reader);
    reader->failed |= size > UTF8_MOST * most;
    return reader_bytes(reader, size);
}

void policy_encode_revision(Buffer *to, const PolicyRevision *revision)
{
    const PolicyText *text = &revision->text;
    buffer_u8(to, FORMAT);
    buffer_bytes(to, id_slice(&revision->version));
    buffer_u32(to, revision->revision);
    buffer_u64(to, revision->editor);
    buffer_i64(to, revision->time_us);
    buffer_u64(to, text->category);
    buffer_u64(to, text->party);
    put_text(to, text->name);
    put_text(to, text->description);
    put_text(to, text->rationale);
    buffer_u8(to, (uint8_t)text->link_count);
    for (size_t i = 0; i < text->link_count; i++)
        put_text(to, text->links[i]);
}

Status policy_decode_revision(Slice value, PolicyRevision *ret_revision)
{
    Reader reader = open_value(value);
    PolicyRevision revision = {.revision = 0};
    PolicyText *text = &revision.text;
    revision.version = read_id(&reader);
    revision.revision = reader_u32(&reader);
    revision.editor = reader_u64(&reader);
    revision.time_us = reader_i64(&reader);
    text->category = reader_u64(&reader);
    text->party = reader_u64(&reader);
    text->name = take_text(&reader, POLICY_NAME_MOST);
    text->description = take_text(&reader, POLICY_TEXT_MOST);
    text->rationale = take_text(&reader, POLICY_TEXT_MOST);
    text->link_count = reader_u8(&reader);
    if (text->link_count > POLICY_LINKS_MOST)
        return STATUS_CORRUPT;
    for (size_t i = 0; i < text->link_count; i++)
        text->links[i] = take_text(&reader, POLICY_LINK_MOST);
    if (!reader_done(&reader) || revision.revision == 0 ||
        revision.revision > POLICY_REVISIONS_MOST)
        return STATUS_CORRUPT;
    *ret_revision = revision;
    return STATUS_OK;
}

/* ---- Columns ----------------------------------------------------------------------------------------------- */

static Slice column_of(const char *prefix, uint32_t number, Arena *arena)
{
    char *column = arena_bytes(arena, 6);
    memcpy(column, prefix, 2);
    bytes_put_u16(column + 2, (uint16_t)(number >> 16));
    bytes_put_u16(column + 4, (uint16_t)number);
    return slice_of(column, 6);
}

Slice policy_row_key(uint64_t id, Arena *arena)
{
    char *row = arena_bytes(arena, 8);
    bytes_put_u64(row, id);
    return slice_of(row, 8);
}

Status policy_decode_row_key(Slice row, uint64_t *ret_id)
{
    if (row.size != 8)
        return STATUS_CORRUPT;
    *ret_id = bytes_get_u64(row.data);
    return STATUS_OK;
}

Slice policy_move_column(uint32_t number, Arena *arena)
{
    return column_of("m/", number, arena);
}

Status policy_decode_move_column(Slice column, uint32_t *ret_number)
{
    Reader reader = reader_of(slice_after(column, 2));
    uint32_t number = reader_u32(&reader);
    if (!slice_starts_with(column, SLICE("m/")) || !reader_done(&reader))
        return STATUS_CORRUPT;
    *ret_number = number;
    return STATUS_OK;
}

Slice policy_revision_column(uint32_t revision, Arena *arena)
{
    return column_of("v/", revision, arena);
}

Slice policy_target_column(Id merge, Arena *arena)
{
    char *column = arena_bytes(arena, 2 + ID_BYTES);
    memcpy(column, "f/", 2);
    memcpy(column + 2, merge.bytes, ID_BYTES);
    return slice_of(column, 2 + ID_BYTES);
}

Slice policy_source_column(const PolicySource *source, Arena *arena)
{
    char *column = arena_bytes(arena, 2 + 8 + ID_BYTES);
    memcpy(column, "l/", 2);
    bytes_put_u64(column + 2, source->source);
    memcpy(column + 10, source->merge.bytes, ID_BYTES);
    return slice_of(column, 2 + 8 + ID_BYTES);
}

Status policy_decode_source_column(Slice column, PolicySource *ret_source)
{
    Reader reader = reader_of(slice_after(column, 2));
    PolicySource source;
    source.source = reader_u64(&reader);
    source.merge = read_id(&reader);
    if (!slice_starts_with(column, SLICE("l/")) || !reader_done(&reader))
        return STATUS_CORRUPT;
    *ret_source = source;
    return STATUS_OK;
}
