/* marks.c -- the rows of lists and letters, in table report_index. See reports_private.h.
 *
 *   s/state   when it came into the state, report: nothing
 *   p/policy  report: nothing
 *   letters   kind, report: nothing
 * The time in a mark of a state differs for each move, so a mark that was left by a move that did not come to be is never right again. */
#include "reports/reports_private.h"

enum { LETTER_TTL_S = 30 * 86400 };

const Slice LETTERS_ROW = {"letters", 7};

int64_t report_ttl_s(const Reports *reports, const Report *report)
{
    int64_t left_us =
        report->since_us + REPORT_KEPT_DAYS * S_PER_DAY * US_PER_S - reports_now_us(reports);
    if (!report_is_closed(report->state))
        return 0;
    return left_us > US_PER_S ? left_us / US_PER_S : 1;
}

Slice state_row(ReportState state, Arena *arena)
{
    return arena_print(arena, "s/%s", report_state_word(state));
}

Slice policy_row(uint64_t policy, Arena *arena)
{
    char *row = arena_bytes(arena, 2 + sizeof policy);
    memcpy(row, "p/", 2);
    bytes_put_u64(row + 2, policy);
    return slice_of(row, 2 + sizeof policy);
}

Slice mark_column(ReportMark mark, Arena *arena)
{
    char *column = arena_bytes(arena, MARK_BYTES);
    bytes_put_u64(column, (uint64_t)mark.since_us);
    bytes_put_u64(column + 8, mark.report);
    return slice_of(column, MARK_BYTES);
}

Status mark_from(Slice column, ReportMark *ret_mark)
{
    if (column.size != MARK_BYTES)
        return STATUS_CORRUPT;
    *ret_mark = (ReportMark){(int64_t)bytes_get_u64(column.data), bytes_get_u64(column.data + 8)};
    return STATUS_OK;
}

Slice letter_column(ReportLetterKind kind, uint64_t report, Arena *arena)
{
    char *column = arena_bytes(arena, 1 + sizeof report);
    column[0] = (char)kind;
    bytes_put_u64(column + 1, report);
    return slice_of(column, 1 + sizeof report);
}

static RowChange mark(const Reports *reports, Slice row, Slice column, int64_t ttl_s)
{
    return (RowChange){&TABLE_REPORT_INDEX, row,
                       (Change){.column = column,
                                .value = SLICE_EMPTY,
                                .timestamp = reports_now_us(reports),
                                .ttl_s = ttl_s}};
}

size_t report_list_marks(Reports *reports, const Report *report, Arena *arena,
                         RowChange ret_changes[MARKS_MAX])
{
    int64_t ttl_s = report_ttl_s(reports, report);
    ReportMark at = {report->since_us, report->id};
    size_t count = 0;
    ret_changes[count++] =
        mark(reports, state_row(report->state, arena), mark_column(at, arena), ttl_s);
    if (report->policy != 0)
        ret_changes[count++] =
            mark(reports, policy_row(report->policy, arena), report_key(report->id, arena), ttl_s);
    return count;
}

bool report_letter_mark(Reports *reports, const Report *report, Arena *arena, RowChange *ret_change)
{
    bool is_new = report->state == REPORT_OPEN && report->since_us == report->made_us;
    bool is_awaited = report->account != 0 || report->email.size > 0;
    if (report_is_obliterated(report))
        return false;
    if (!is_new && !(report_is_closed(report->state) && is_awaited))
        return false;
    ReportLetterKind kind = is_new ? REPORT_LETTER_NEW : REPORT_LETTER_OUTCOME;
    *ret_change = mark(reports, LETTERS_ROW, letter_column(kind, report->id, arena), LETTER_TTL_S);
    return true;
}

void report_unmark(Reports *reports, Slice row, Slice column)
{
    RowChange change = {&TABLE_REPORT_INDEX, row,
                        (Change){.column = column,
                                 .value = SLICE_EMPTY,
                                 .timestamp = reports_now_us(reports),
                                 .is_delete = true}};
    (void)!store_write(reports->options.store,
                       &(Batch){.changes = &change, .count = 1, .lazy = true});
}
