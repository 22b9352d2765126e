/* policy_codec.c -- see policy_codec.h. */
#include "policies/policy_codec.h"

enum { UTF8_MAX = 4 /* bytes of a character */ };

static const RecordField HEAD_FIELDS[] = {
    RECORD_RANGE(PolicyHead, count, 4, 1, POLICY_MOVES_MAX),
    RECORD_ID(PolicyHead, last),
};
const Record POLICY_HEAD_RECORD = RECORD("policy head", PolicyHead, 1, HEAD_FIELDS);

static const RecordField ORIGIN_FIELDS[] = {
    RECORD_U64(PolicyOrigin, creator),
    RECORD_U64(PolicyOrigin, seq),
    RECORD_ID(PolicyOrigin, version),
    RECORD_I64(PolicyOrigin, created_us),
};
const Record POLICY_ORIGIN_RECORD = RECORD("policy origin", PolicyOrigin, 1, ORIGIN_FIELDS);

static const RecordField OWNER_FIELDS[] = {
    RECORD_WRITE_ID(PolicyOwner, id),
    RECORD_U64(PolicyOwner, owner),
};
const Record POLICY_OWNER_RECORD = RECORD("policy owner", PolicyOwner, 1, OWNER_FIELDS);

static const RecordField MOVE_FIELDS[] = {
    RECORD_ENUM(PolicyMove, state, POLICY_STATE_COUNT),
    RECORD_I64(PolicyMove, time_us),
    RECORD_ID(PolicyMove, id),
    RECORD_U64(PolicyMove, actor),
    RECORD_U64(PolicyMove, other),
    RECORD_U64(PolicyMove, payer),
    RECORD_RANGE(PolicyMove, percent, 1, 0, 100),
    RECORD_REST(PolicyMove, reason, UTF8_MAX *POLICY_REASON_MAX),
};
const Record POLICY_MOVE_RECORD = RECORD("policy move", PolicyMove, 1, MOVE_FIELDS);

static const RecordField EDIT_FIELDS[] = {
    RECORD_RANGE(PolicyEdit, revision, 4, 2, POLICY_REVISIONS_MAX),
    RECORD_U64(PolicyEdit, editor),
    RECORD_I64(PolicyEdit, time_us),
};
const Record POLICY_EDIT_RECORD = RECORD("policy edit", PolicyEdit, 1, EDIT_FIELDS);

static const RecordField TARGET_FIELDS[] = {RECORD_RANGE(PolicyTarget, policy, 8, 1, UINT64_MAX)};
const Record POLICY_TARGET_RECORD = RECORD("policy target", PolicyTarget, 1, TARGET_FIELDS);

/* A text of more bytes than its characters can have was not written by us. */
static const RecordField LINK_FIELDS[] = {RECORD_ITSELF_TEXT(4, UTF8_MAX *POLICY_LINK_MAX)};
static const Record LINK_RECORD = RECORD("policy link", Slice, 0, LINK_FIELDS);
static const RecordField REVISION_FIELDS[] = {
    RECORD_WRITE_ID(PolicyRevision, version),
    RECORD_RANGE(PolicyRevision, revision, 4, 1, POLICY_REVISIONS_MAX),
    RECORD_U64(PolicyRevision, editor),
    RECORD_I64(PolicyRevision, time_us),
    RECORD_U64(PolicyRevision, text.category),
    RECORD_U64(PolicyRevision, text.party),
    RECORD_TEXT32(PolicyRevision, text.name, UTF8_MAX *POLICY_NAME_MAX),
    RECORD_TEXT32(PolicyRevision, text.description, UTF8_MAX *POLICY_TEXT_MAX),
    RECORD_TEXT32(PolicyRevision, text.rationale, UTF8_MAX *POLICY_TEXT_MAX),
    RECORD_LIST(PolicyRevision, text.links, text.link_count, 1, POLICY_LINKS_MAX, &LINK_RECORD),
};
const Record POLICY_REVISION_RECORD = RECORD("policy text", PolicyRevision, 1, REVISION_FIELDS);

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
    PolicySource source = {.source = reader_u64(&reader)};
    if (!slice_starts_with(column, SLICE("l/")) ||
        id_from_bytes(reader_rest(&reader), &source.merge) != STATUS_OK)
        return STATUS_CORRUPT;
    *ret_source = source;
    return STATUS_OK;
}
