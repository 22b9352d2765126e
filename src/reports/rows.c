/* rows.c -- a report's row. See reports_private.h.
 *
 * reports, a row a report:
 *   head: format | id of the write | kind | state | policy | account | made | moderator | since | reason
 *   body: e-mail and words, sealed
 * The first write asks that there be no head. Heads of closed reports expire; ids are handed out once, so what comes late can only find the
 * row that it belongs to. */
#include "reports/reports_private.h"

#define REASON_BYTES ((size_t)4 * REPORT_REASON_MAX)

static const RecordField HEAD_FIELDS[] = {
    RECORD_WRITE_ID(ReportRow, write),
    RECORD_ENUM(ReportRow, report.kind, REPORT_KIND_COUNT),
    RECORD_ENUM(ReportRow, report.state, REPORT_STATE_COUNT),
    RECORD_U64(ReportRow, report.policy),
    RECORD_U64(ReportRow, report.account),
    RECORD_I64(ReportRow, report.made_us),
    RECORD_U64(ReportRow, report.moderator),
    RECORD_I64(ReportRow, report.since_us),
    RECORD_REST(ReportRow, report.reason, REASON_BYTES),
};
const Record REPORT_HEAD_RECORD = RECORD("report head", ReportRow, 1, HEAD_FIELDS);

static const RecordField PLAIN_FIELDS[] = {RECORD_TEXT16(ReportRow, report.email),
                                           RECORD_REST(ReportRow, report.words, UINT16_MAX)};
const Record REPORT_WORDS_RECORD =
    RECORD_PART("report words", ReportRow, 1, "report", PLAIN_FIELDS);
static const RecordField BODY_FIELDS[] = {RECORD_SEALED(&REPORT_WORDS_RECORD)};
static const Record BODY_RECORD = RECORD_PART("report body", ReportRow, 0, NULL, BODY_FIELDS);

static const Slice HEAD = {"head", 4};
static const Slice BODY = {"body", 4};

Slice report_key(uint64_t id, Arena *arena)
{
    char *key = arena_bytes(arena, sizeof id);
    bytes_put_u64(key, id);
    return slice_of(key, sizeof id);
}

static VaultCell body_cell(const Reports *reports, uint64_t id, Arena *arena)
{
    return record_cell(reports->options.vault, &TABLE_REPORTS, report_key(id, arena), BODY);
}

/* ---- Reading --------------------------------------------------------------------------------------------------- */

static void ask(Slice key, ReadMode mode, Read ret_reads[2])
{
    ret_reads[0] = (Read){&TABLE_REPORTS, key, HEAD, mode};
    ret_reads[1] = (Read){&TABLE_REPORTS, key, BODY, mode};
}

static Status decode(const Reports *reports, uint64_t id, const ReadAnswer answers[2], Arena *arena,
                     ReportRow *ret_row)
{
    VaultCell cell = body_cell(reports, id, arena);
    TRY(answers[0].status);
    TRY(answers[1].status);
    *ret_row = (ReportRow){.report.id = id, .value = answers[0].cell.value};
    TRY(record_decode(&REPORT_HEAD_RECORD, answers[0].cell.value, NULL, NULL, ret_row));
    return record_decode(&BODY_RECORD, answers[1].cell.value, &cell, arena, ret_row);
}

Status report_row_read(Reports *reports, uint64_t id, Arena *arena, ReportRow *ret_row)
{
    Read reads[2];
    ReadAnswer answers[2];
    ask(report_key(id, arena), STORE_SERIAL, reads);
    TRY(store_read_many(reports->options.store, reads, 2, arena, answers));
    return decode(reports, id, answers, arena, ret_row);
}

Status report_rows_read(Reports *reports, const uint64_t *ids, size_t count, Arena *arena,
                        Report *ret_reports)
{
    Read *reads = ARENA_ARRAY(arena, 2 * count, Read);
    ReadAnswer *answers = ARENA_ARRAY(arena, 2 * count, ReadAnswer);
    for (size_t i = 0; i < count; i++)
        ask(report_key(ids[i], arena), STORE_NORMAL, &reads[2 * i]);
    TRY(store_read_many(reports->options.store, reads, 2 * count, arena, answers));
    for (size_t i = 0; i < count; i++) {
        ReportRow row = {.report.id = 0};
        Status status = decode(reports, ids[i], &answers[2 * i], arena, &row);
        if (status != STATUS_NOT_FOUND)
            TRY(status);
        ret_reports[i] = row.report;
    }
    return STATUS_OK;
}

/* ---- Writing --------------------------------------------------------------------------------------------------- */

/* The body goes along with each move, since it lives as long as the head. */
Status report_row_write(Reports *reports, const ReportRow *before, const Report *after,
                        Arena *arena)
{
    Records records = {reports->options.store, reports->options.world, reports->options.vault};
    ReportRow row = {.report = *after};
    RowChange marks[MARKS_MAX + 1];
    size_t mark_count = report_list_marks(reports, after, arena, marks);
    mark_count += report_letter_mark(reports, after, arena, &marks[mark_count]);
    int64_t ttl_s = report_ttl_s(reports, after);
    VaultCell cell = body_cell(reports, after->id, arena);
    Change body = {
        .column = BODY, .value = record_encode(&BODY_RECORD, &row, &cell, arena), .ttl_s = ttl_s};
    RecordWrite write = {
        .place = {&REPORT_HEAD_RECORD, &TABLE_REPORTS, report_key(after->id, arena), HEAD},
        .record = &row,
        .before = before != NULL ? before->value : SLICE_EMPTY,
        .ttl_s = ttl_s,
        .also = &body,
        .also_count = 1,
        .marks = {.changes = marks, .count = mark_count}};
    TRY(record_write(&records, &write, arena, NULL));
    if (before != NULL && before->report.since_us != after->since_us) {
        ReportMark old = {before->report.since_us, before->report.id};
        report_unmark(reports, state_row(before->report.state, arena), mark_column(old, arena));
    }
    return STATUS_OK;
}
