/* lists.c -- asking for reports, repairing their lists, and letters that are due. See reports.h. */
#include "reports/reports_private.h"

enum {
    SCAN_CELLS = 500,
    /* A mark is written before what it announces; a younger one may still come true. */
    MARK_SETTLES_S = 600,
};

static bool is_newest_first(ReportState state)
{
    return report_is_closed(state);
}

/* ---- By state -------------------------------------------------------------------------------------------------- */

static Status read_marks(Reports *reports, const ReportQuery *query, Arena *arena, Page *ret_page)
{
    Query asked = {.table = &TABLE_REPORT_INDEX,
                   .row = state_row(query->state, arena),
                   .from = SLICE_EMPTY,
                   .to = SLICE_EMPTY,
                   .after = id_slice(&query->after),
                   .resume = !id_is_zero(query->after),
                   .reverse = is_newest_first(query->state),
                   .limit = query->limit};
    return store_slice(reports->options.store, &asked, arena, ret_page);
}

static bool is_right(const Report *report, ReportState state, ReportMark mark)
{
    return report->id == mark.report && report->state == state && report->since_us == mark.since_us;
}

/* Keeps what the marks truly name. A wrong one that will not come true any more is taken away. */
static Status take_marks(Reports *reports, const ReportQuery *query, const Page *marks,
                         Arena *arena, ReportPage *page)
{
    uint64_t *ids = ARENA_ARRAY(arena, marks->count, uint64_t);
    Report *found = ARENA_ARRAY(arena, marks->count, Report);
    ReportMark *parsed = ARENA_ARRAY(arena, marks->count, ReportMark);
    int64_t settled_us = reports_now_us(reports) - MARK_SETTLES_S * US_PER_S;
    for (size_t i = 0; i < marks->count; i++) {
        TRY(mark_from(marks->cells[i].column, &parsed[i]));
        ids[i] = parsed[i].report;
    }
    TRY(report_rows_read(reports, ids, marks->count, arena, found));
    for (size_t i = 0; i < marks->count; i++) {
        if (is_right(&found[i], query->state, parsed[i]))
            page->reports[page->count++] = found[i];
        else if (parsed[i].since_us < settled_us)
            report_unmark(reports, state_row(query->state, arena), marks->cells[i].column);
    }
    return STATUS_OK;
}

Status reports_list(Reports *reports, const ReportQuery *query, Arena *arena, ReportPage *ret_page)
{
    Page marks;
    CHECK(query->state < REPORT_STATE_COUNT);
    if (query->limit == 0 || query->limit > REPORTS_LIST_MAX)
        return STATUS_INVALID;
    TRY(read_marks(reports, query, arena, &marks));
    ReportPage page = {.reports = ARENA_ARRAY(arena, marks.count, Report), .more = marks.more};
    TRY(take_marks(reports, query, &marks, arena, &page));
    if (marks.count > 0)
        TRY(id_from_bytes(marks.cells[marks.count - 1].column, &page.position));
    *ret_page = page;
    return STATUS_OK;
}

/* ---- By policy ------------------------------------------------------------------------------------------------- */

Status reports_of_policy(Reports *reports, uint64_t policy, Arena *arena, Report **ret_reports,
                         size_t *ret_count)
{
    Query query = {.table = &TABLE_REPORT_INDEX,
                   .row = policy_row(policy, arena),
                   .from = SLICE_EMPTY,
                   .to = SLICE_EMPTY,
                   .after = SLICE_EMPTY,
                   .reverse = true,
                   .limit = REPORTS_LIST_MAX};
    Page page;
    size_t count = 0;
    TRY(store_slice(reports->options.store, &query, arena, &page));
    uint64_t *ids = ARENA_ARRAY(arena, page.count, uint64_t);
    Report *found = ARENA_ARRAY(arena, page.count, Report);
    for (size_t i = 0; i < page.count; i++) {
        if (page.cells[i].column.size != sizeof *ids)
            return STATUS_CORRUPT;
        ids[i] = bytes_get_u64(page.cells[i].column.data);
    }
    TRY(report_rows_read(reports, ids, page.count, arena, found));
    for (size_t i = 0; i < page.count; i++)
        if (found[i].id != 0 && found[i].policy == policy)
            found[count++] = found[i];
    *ret_reports = found;
    *ret_count = count;
    return STATUS_OK;
}

/* ---- Repair ---------------------------------------------------------------------------------------------------- */

/* The marks that are not there are written. The report may move meanwhile: that leaves a mark too many, which readers take away. */
static Status add_missing(Reports *reports, const Report *report, Arena *arena, size_t *added)
{
    RowChange marks[MARKS_MAX], missing[MARKS_MAX];
    size_t count = report_list_marks(reports, report, arena, marks), missing_count = 0;
    for (size_t i = 0; i < count; i++) {
        Cell cell;
        Read read = {marks[i].table, marks[i].row, marks[i].change.column, STORE_NORMAL};
        Status status = store_read(reports->options.store, &read, arena, &cell);
        if (status == STATUS_NOT_FOUND)
            missing[missing_count++] = marks[i];
        else
            TRY(status);
    }
    *added += missing_count;
    return missing_count == 0 ? STATUS_OK
                              : store_write(reports->options.store,
                                            &(Batch){.changes = missing, .count = missing_count});
}

Status reports_reindex_page(Reports *reports, Slice position, Arena *arena, Slice *ret_position,
                            bool *ret_more, size_t *ret_added)
{
    ScanPage page;
    size_t added = 0;
    TRY(store_scan(reports->options.store, &TABLE_REPORTS, position, SCAN_CELLS, arena, &page));
    for (size_t i = 0; i < page.count; i++) {
        const ScanCell *cell = &page.cells[i];
        ReportRow row = {.report.email = SLICE_EMPTY};
        if (!slice_equal(cell->cell.column, SLICE("head")))
            continue;
        if (cell->row.size != sizeof row.report.id)
            return STATUS_CORRUPT;
        row.report.id = bytes_get_u64(cell->row.data);
        TRY(record_decode(&REPORT_HEAD_RECORD, cell->cell.value, NULL, NULL, &row));
        TRY(add_missing(reports, &row.report, arena, &added));
    }
    *ret_position = page.position;
    *ret_more = page.more;
    *ret_added = added;
    return STATUS_OK;
}

/* ---- Letters --------------------------------------------------------------------------------------------------- */

/* A mark whose report never came to be or was obliterated, or whose outcome did not come to be, goes when it cannot come true any more. */
static bool is_due(const ReportLetter *letter)
{
    return letter->report.id != 0 && !report_is_obliterated(&letter->report) &&
           (letter->kind == REPORT_LETTER_NEW || report_is_closed(letter->report.state));
}

static Status letter_from(const Cell *cell, ReportLetter *ret_letter)
{
    Reader reader = reader_of(cell->column);
    ReportLetterKind kind = (ReportLetterKind)reader_u8(&reader);
    uint64_t id = reader_u64(&reader);
    if (!reader_done(&reader) || (kind != REPORT_LETTER_NEW && kind != REPORT_LETTER_OUTCOME))
        return STATUS_CORRUPT;
    *ret_letter = (ReportLetter){.kind = kind, .report = {.id = id}};
    return STATUS_OK;
}

Status reports_letters(Reports *reports, Arena *arena, ReportLetter **ret_letters,
                       size_t *ret_count)
{
    Query query = {.table = &TABLE_REPORT_INDEX,
                   .row = LETTERS_ROW,
                   .from = SLICE_EMPTY,
                   .to = SLICE_EMPTY,
                   .after = SLICE_EMPTY,
                   .limit = REPORTS_LIST_MAX};
    Page page;
    size_t count = 0;
    int64_t settled_us = reports_now_us(reports) - MARK_SETTLES_S * US_PER_S;
    TRY(store_slice(reports->options.store, &query, arena, &page));
    ReportLetter *letters = ARENA_ARRAY(arena, page.count, ReportLetter);
    for (size_t i = 0; i < page.count; i++) {
        ReportLetter letter;
        TRY(letter_from(&page.cells[i], &letter));
        TRY(report_rows_read(reports, &letter.report.id, 1, arena, &letter.report));
        if (is_due(&letter))
            letters[count++] = letter;
        else if (page.cells[i].timestamp < settled_us)
            report_unmark(reports, LETTERS_ROW, page.cells[i].column);
    }
    *ret_letters = letters;
    *ret_count = count;
    return STATUS_OK;
}

void reports_told(Reports *reports, const ReportLetter *letter)
{
    ARENA_SCOPE Arena *arena = arena_new();
    report_unmark(reports, LETTERS_ROW, letter_column(letter->kind, letter->report.id, arena));
}
