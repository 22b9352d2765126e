/* entries.c -- an entry's bytes, and the rows that name it. See inside.h.
 *
 * audit, a row an entry:
 *   act: format | time | kind's word | actor | object | other | instance | reason | details | origin (sealed)
 *   end: format | time | name of the status
 * Kinds and statuses are kept by name, so that their numbers may change. Texts have their length before them. */
#include "audit/inside.h"

enum { FORMAT = 1 };

const Slice AUDIT_ACT_COLUMN = {"act", 3};
const Slice AUDIT_END_COLUMN = {"end", 3};
static const char PURPOSE[] = "audit";

static void put_text(Buffer *out, Slice text)
{
    buffer_u16(out, (uint16_t)text.size);
    buffer_bytes(out, text);
}

static Slice get_text(Reader *reader)
{
    return reader_bytes(reader, reader_u16(reader));
}

/* ---- Entries ----------------------------------------------------------------------------------------------- */

Slice entry_encode(const Audit *audit, const Act *act, int64_t time_us, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    buffer_u8(&out, FORMAT);
    buffer_i64(&out, time_us);
    put_text(&out, slice_from(act_kind_word(act->kind)));
    buffer_u64(&out, act->actor);
    buffer_u64(&out, act->object);
    buffer_u64(&out, act->other);
    put_text(&out, slice_of(audit->instance, audit->instance_size));
    put_text(&out, act->reason);
    put_text(&out, act->details);
    buffer_bytes(&out, vault_seal(audit->options.vault, PURPOSE, act->origin, arena));
    return arena_copy(arena, buffer_slice(&out));
}

Status entry_decode(const Audit *audit, Slice value, Arena *arena, AuditEntry *entry)
{
    Reader reader = reader_of(value);
    Act act = {.kind = ACT_KIND_COUNT, .origin = SLICE_EMPTY};
    bool known = reader_u8(&reader) == FORMAT;
    int64_t time_us = reader_i64(&reader);
    Slice word = get_text(&reader);
    act.actor = reader_u64(&reader);
    act.object = reader_u64(&reader);
    act.other = reader_u64(&reader);
    Slice instance = get_text(&reader);
    act.reason = get_text(&reader);
    act.details = get_text(&reader);
    Slice sealed = reader_rest(&reader);
    if (!known || reader.failed)
        return STATUS_CORRUPT;
    (void)!act_kind_from(word, &act.kind); /* stays unknown */
    (void)!vault_unseal(audit->options.vault, PURPOSE, sealed, arena, &act.origin);
    entry->time_us = time_us;
    entry->act = act;
    entry->word = word;
    entry->instance = instance;
    return STATUS_OK;
}

Slice entry_end_encode(Status outcome, int64_t time_us, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    buffer_u8(&out, FORMAT);
    buffer_i64(&out, time_us);
    buffer_text(&out, status_name(outcome));
    return arena_copy(arena, buffer_slice(&out));
}

Status entry_end_decode(Slice value, AuditEntry *entry)
{
    Reader reader = reader_of(value);
    bool known = reader_u8(&reader) == FORMAT;
    int64_t time_us = reader_i64(&reader);
    Slice name = reader_rest(&reader);
    if (!known || reader.failed)
        return STATUS_CORRUPT;
    bool done = slice_equal(name, slice_from(status_name(STATUS_OK)));
    entry->outcome = done ? AUDIT_DONE : AUDIT_NOT_DONE;
    entry->status = name;
    entry->ended_us = time_us;
    return STATUS_OK;
}

/* ---- The index --------------------------------------------------------------------------------------------- */

int64_t index_piece(int64_t time_us)
{
    return time_us / (INDEX_PIECE_DAYS * S_PER_DAY * US_PER_S);
}

int64_t index_time_us(Id id)
{
    char wide[8] = {0};
    memcpy(wide + 2, id.bytes, 6); /* 48 bits of milliseconds, big-endian (ids.h) */
    return (int64_t)bytes_get_u64(wide) * US_PER_MS;
}

Slice index_row(const IndexRow *row, int64_t piece, Arena *arena)
{
    static const char LETTERS[] = {
        [INDEX_ALL] = 'a',   [INDEX_PUBLIC] = 'p', [INDEX_OBJECT] = 'o',
        [INDEX_ACTOR] = 'w', [INDEX_KIND] = 'k',   [INDEX_INSTANCE] = 'i'};
    BUFFER_SCOPE Buffer out = {0};
    buffer_u8(&out, (uint8_t)LETTERS[row->kind]);
    buffer_u8(&out, '/');
    put_text(&out, row->word);
    buffer_u64(&out, row->number);
    buffer_i64(&out, piece);
    return arena_copy(arena, buffer_slice(&out));
}

size_t index_rows(const Audit *audit, const Act *act, IndexRow ret_rows[INDEX_ROWS_MOST])
{
    size_t count = 0;
    Slice none = SLICE_EMPTY, sort = slice_from(act_kind_object(act->kind));
    ret_rows[count++] = (IndexRow){INDEX_ALL, none, 0};
    ret_rows[count++] = (IndexRow){INDEX_ACTOR, none, act->actor};
    ret_rows[count++] = (IndexRow){INDEX_KIND, slice_from(act_kind_word(act->kind)), 0};
    ret_rows[count++] =
        (IndexRow){INDEX_INSTANCE, slice_of(audit->instance, audit->instance_size), 0};
    if (act_kind_is_public(act->kind))
        ret_rows[count++] = (IndexRow){INDEX_PUBLIC, none, 0};
    if (sort.size > 0 && act->object != 0)
        ret_rows[count++] = (IndexRow){INDEX_OBJECT, sort, act->object};
    if (sort.size > 0 && act->other != 0 && act->other != act->object)
        ret_rows[count++] = (IndexRow){INDEX_OBJECT, sort, act->other};
    return count;
}
