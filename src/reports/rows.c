/* rows.c -- a report's row. See inside.h.
 *
 * reports, a row a report:
 *   head: format | id of the write | kind | state | policy | account | made | moderator | since | reason
 *   body: e-mail and words, sealed
 * The first write asks that there be no head. Heads of closed reports expire; ids are handed out once, so what comes late can only find the
 * row that it belongs to. */
#include "reports/inside.h"

enum { FORMAT = 1 };

static const Slice HEAD = {"head", 4};
static const Slice BODY = {"body", 4};
static const char PURPOSE[] = "report";

Slice report_key(uint64_t id, Arena *arena)
{
    char *key = arena_bytes(arena, sizeof id);
    bytes_put_u64(key, id);
    return slice_of(key, sizeof id);
}

/* ---- Bytes --------------------------------------------------------------------------------------------------- */

static Slice head_encode(const Report *report, Id write, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    buffer_u8(&out, FORMAT);
    buffer_bytes(&out, id_slice(&write));
    buffer_u8(&out, (uint8_t)report->kind);
    buffer_u8(&out, (uint8_t)report->state);
    buffer_u64(&out, report->policy);
    buffer_u64(&out, report->account);
    buffer_i64(&out, report->made_us);
    buffer_u64(&out, report->moderator);
    buffer_i64(&out, report->since_us);
    buffer_bytes(&out, report->reason);
    return arena_copy(arena, buffer_slice(&out));
}

Status report_head_decode(uint64_t id, Slice value, Report *ret_report)
{
    Reader reader = reader_of(value);
    bool known = reader_u8(&reader) == FORMAT;
    (void)reader_bytes(&reader, ID_BYTES);
    Report report = {.id = id, .email = SLICE_EMPTY, .words = SLICE_EMPTY};
    report.kind = (ReportKind)reader_u8(&reader);
    report.state = (ReportState)reader_u8(&reader);
    report.policy = reader_u64(&reader);
    report.account = reader_u64(&reader);
    report.made_us = reader_i64(&reader);
    report.moderator = reader_u64(&reader);
    report.since_us = reader_i64(&reader);
    report.reason = reader_rest(&reader);
    if (!known || reader.failed || report.kind >= REPORT_KIND_COUNT ||
        report.state >= REPORT_STATE_COUNT)
        return STATUS_CORRUPT;
    *ret_report = report;
    return STATUS_OK;
}

static Slice body_seal(const Reports *reports, const Report *report, Arena *arena)
{
    BUFFER_SCOPE Buffer plain = {0};
    buffer_u8(&plain, FORMAT);
    buffer_u16(&plain, (uint16_t)report->email.size);
    buffer_bytes(&plain, report->email);
    buffer_bytes(&plain, report->words);
    return vault_seal(reports->options.vault, PURPOSE, buffer_slice(&plain), arena);
}

static Status body_open(const Reports *reports, Slice sealed, Arena *arena, Report *report)
{
    Slice plain;
    TRY(vault_unseal(reports->options.vault, PURPOSE, sealed, arena, &plain));
    Reader reader = reader_of(plain);
    bool known = reader_u8(&reader) == FORMAT;
    Slice email = reader_bytes(&reader, reader_u16(&reader));
    Slice words = reader_rest(&reader);
    if (!known || reader.failed)
        return STATUS_CORRUPT;
    report->email = email;
    report->words = words;
    return STATUS_OK;
}

/* ---- Reading --------------------------------------------------------------------------------------------------- */

static Status decode(Reports *reports, uint64_t id, const ReadAnswer answers[2], Arena *arena,
                     Report *ret_report)
{
    Report report;
    TRY(answers[0].status);
    TRY(answers[1].status);
    TRY(report_head_decode(id, answers[0].cell.value, &report));
    TRY(body_open(reports, answers[1].cell.value, arena, &report));
    *ret_report = report;
    return STATUS_OK;
}

static void ask(Slice key, ReadMode mode, Read ret_reads[2])
{
    ret_reads[0] = (Read){&TABLE_REPORTS, key, HEAD, mode};
    ret_reads[1] = (Read){&TABLE_REPORTS, key, BODY, mode};
}

Status report_row_read(Reports *reports, uint64_t id, Arena *arena, ReportRow *ret_row)
{
    Read reads[2];
    ReadAnswer answers[2];
    ReportRow row;
    ask(report_key(id, arena), STORE_SERIAL, reads);
    TRY(store_read_many(reports->options.store, reads, 2, arena, answers));
    TRY(decode(reports, id, answers, arena, &row.report));
    row.value = answers[0].cell.value;
    *ret_row = row;
    return STATUS_OK;
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
        Status status = decode(reports, ids[i], &answers[2 * i], arena, &ret_reports[i]);
        if (status == STATUS_NOT_FOUND)
            ret_reports[i] = (Report){.id = 0};
        else
            TRY(status);
    }
    return STATUS_OK;
}

/* ---- Writing --------------------------------------------------------------------------------------------------- */

/* The body goes along with each move, since it lives as long as the head. */
Status report_row_write(Reports *reports, const ReportRow *before, const Report *after,
                        Arena *arena)
{
    World world = reports->options.world;
    Id write = id_new(world.clock, world.random);
    Slice receipt = store_receipt(id_slice(&write), arena);
    int64_t ttl_s = report_ttl_s(reports, after);
    RowChange marks[MARKS_MOST + 1];
    size_t mark_count = report_list_marks(reports, after, arena, marks);
    mark_count += report_letter_mark(reports, after, arena, &marks[mark_count]);
    bool is_first = before == NULL;
    Condition condition = {HEAD, is_first ? SLICE_EMPTY : before->value, is_first};
    Change changes[] = {
        {.column = HEAD, .value = head_encode(after, write, arena), .ttl_s = ttl_s},
        {.column = BODY, .value = body_seal(reports, after, arena), .ttl_s = ttl_s},
        {.column = receipt, .value = id_slice(&write), .ttl_s = STORE_RECEIPT_TTL_S},
    };
    Update update = {.table = &TABLE_REPORTS,
                     .row = report_key(after->id, arena),
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = 3,
                     .proof = receipt,
                     .marks = {.changes = marks, .count = mark_count}};
    TRY(store_update(reports->options.store, &update, UPDATE_TRIES, arena, NULL));
    if (!is_first) {
        ReportMark old = {before->report.since_us, before->report.id};
        report_unmark(reports, state_row(before->report.state, arena), mark_column(old, arena));
    }
    return STATUS_OK;
}
