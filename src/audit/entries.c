/* entries.c -- an entry's bytes, and the rows that name it. See audit_private.h.
 *
 * audit, a row an entry:
 *   act: format | time | kind's word | actor | object | other | instance | reason | details | origin (sealed)
 *   end: format | time | name of the status
 * Kinds and statuses are kept by name, so that their numbers may change. Texts have their length before them. */
#include "audit/audit_private.h"

const Slice AUDIT_ACT_COLUMN = {"act", 3};
const Slice AUDIT_END_COLUMN = {"end", 3};
static const char PURPOSE[] = "audit";

/* An entry, and where it came from as it is stored. */
typedef struct StoredEntry {
    AuditEntry entry;
    Slice sealed;
} StoredEntry;

static const RecordField ENTRY_FIELDS[] = {
    RECORD_I64(StoredEntry, entry.time_us),
    RECORD_TEXT16(StoredEntry, entry.word),
    RECORD_U64(StoredEntry, entry.act.actor),
    RECORD_U64(StoredEntry, entry.act.object),
    RECORD_U64(StoredEntry, entry.act.other),
    RECORD_TEXT16(StoredEntry, entry.instance),
    RECORD_TEXT16(StoredEntry, entry.act.reason),
    RECORD_TEXT16(StoredEntry, entry.act.details),
    RECORD_REST(StoredEntry, sealed, STORE_VALUE_MAX),
};
const Record AUDIT_ENTRY_RECORD = RECORD("audit entry", StoredEntry, 1, ENTRY_FIELDS);
static const RecordField END_FIELDS[] = {
    RECORD_I64(AuditEntry, ended_us),
    RECORD_REST(AuditEntry, status, STORE_VALUE_MAX),
};
const Record AUDIT_END_RECORD = RECORD("audit end", AuditEntry, 1, END_FIELDS);

/* ---- Entries ----------------------------------------------------------------------------------------------- */

static VaultCell cell_of(const Audit *audit, const Id *id)
{
    return record_cell(audit->options.vault, &TABLE_AUDIT, id_slice(id), AUDIT_ACT_COLUMN);
}

Slice entry_encode(const Audit *audit, const AuditAct *act, const Id *id, Arena *arena)
{
    VaultCell cell = cell_of(audit, id);
    StoredEntry stored = {.entry = {.time_us = index_time_us(*id),
                                    .word = slice_from(audit_kind_word(act->kind)),
                                    .act = *act,
                                    .instance = slice_of(audit->instance, audit->instance_size)},
                          .sealed = vault_seal_at(&cell, PURPOSE, act->origin, arena)};
    return record_encode(&AUDIT_ENTRY_RECORD, &stored, NULL, arena);
}

Status entry_decode(const Audit *audit, Slice value, Arena *arena, AuditEntry *entry)
{
    StoredEntry stored = {.entry = *entry};
    VaultCell cell = cell_of(audit, &entry->id);
    AuditAct *act = &stored.entry.act;
    TRY(record_decode(&AUDIT_ENTRY_RECORD, value, NULL, NULL, &stored));
    act->kind = AUDIT_KIND_COUNT;
    act->origin = SLICE_EMPTY;
    (void)!word_find(AUDIT_KIND_WORDS, stored.entry.word, "", &act->kind, NULL); /* stays unknown */
    (void)!vault_unseal_at(&cell, PURPOSE, stored.sealed, arena, &act->origin);
    *entry = stored.entry;
    return STATUS_OK;
}

Status entry_without_reason(Slice value, Arena *arena, Slice *ret_value, bool *ret_has)
{
    StoredEntry stored = {.sealed = SLICE_EMPTY};
    TRY(record_decode(&AUDIT_ENTRY_RECORD, value, NULL, NULL, &stored));
    *ret_has = stored.entry.act.reason.size > 0;
    stored.entry.act.reason = SLICE_EMPTY;
    *ret_value = record_encode(&AUDIT_ENTRY_RECORD, &stored, NULL, arena);
    return STATUS_OK;
}

Slice entry_end_encode(Status outcome, int64_t time_us, Arena *arena)
{
    AuditEntry ended = {.ended_us = time_us, .status = slice_from(status_name(outcome))};
    return record_encode(&AUDIT_END_RECORD, &ended, NULL, arena);
}

Status entry_end_decode(Slice value, AuditEntry *entry)
{
    TRY(record_decode(&AUDIT_END_RECORD, value, NULL, NULL, entry));
    bool done = slice_equal(entry->status, slice_from(status_name(STATUS_OK)));
    entry->outcome = done ? AUDIT_DONE : AUDIT_NOT_DONE;
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
    buffer_u16(&out, (uint16_t)row->word.size);
    buffer_bytes(&out, row->word);
    buffer_u64(&out, row->number);
    buffer_i64(&out, piece);
    return arena_copy(arena, buffer_slice(&out));
}

size_t index_rows(const Audit *audit, const AuditAct *act, IndexRow ret_rows[INDEX_ROWS_MAX])
{
    size_t count = 0;
    Slice none = SLICE_EMPTY, sort = slice_from(audit_kind_object(act->kind));
    ret_rows[count++] = (IndexRow){INDEX_ALL, none, 0};
    ret_rows[count++] = (IndexRow){INDEX_ACTOR, none, act->actor};
    ret_rows[count++] = (IndexRow){INDEX_KIND, slice_from(audit_kind_word(act->kind)), 0};
    ret_rows[count++] =
        (IndexRow){INDEX_INSTANCE, slice_of(audit->instance, audit->instance_size), 0};
    if (audit_kind_is_public(act->kind))
        ret_rows[count++] = (IndexRow){INDEX_PUBLIC, none, 0};
    if (sort.size > 0 && act->object != 0)
        ret_rows[count++] = (IndexRow){INDEX_OBJECT, sort, act->object};
    if (sort.size > 0 && act->other != 0 && act->other != act->object)
        ret_rows[count++] = (IndexRow){INDEX_OBJECT, sort, act->other};
    if (act->policy != 0)
        ret_rows[count++] = (IndexRow){INDEX_OBJECT, SLICE(AUDIT_ABOUT_POLICY), act->policy};
    return count;
}
