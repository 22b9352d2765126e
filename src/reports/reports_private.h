/* reports_private.h -- what the files of reports share:
 *   report_rules.c  states and who may move between them; pure
 *   rows.c          a report's row: its bytes, reading, writing
 *   marks.c         the rows of lists and letters
 *   reports.c       making and moving
 *   lists.c         asking, repairing, letters
 *   obliterate.c    what goes with a policy */
#pragma once

#include "reports/reports.h"
#include "store/record.h"

struct Reports {
    ReportsOptions options;
    Sequence *ids;
};

static inline int64_t reports_now_us(const Reports *reports)
{
    return clock_now_us(reports->options.world.clock);
}

/* ---- rows.c -------------------------------------------------------------------------------------------------- */

/* A report and the cell that it was read from, to be a condition; `value` is empty before the first write. */
typedef struct ReportRow {
    Id write;
    Report report;
    Slice value;
} ReportRow;
/* The cells, and what is in the sealed one. */
extern const Record REPORT_HEAD_RECORD, REPORT_WORDS_RECORD;

/* Serially, with words and e-mail. NOT_FOUND when there is none. */
MUST_USE Status report_row_read(Reports *reports, uint64_t id, Arena *arena, ReportRow *ret_row);
/* Many by normal reads; those that are not there have id 0. */
MUST_USE Status report_rows_read(Reports *reports, const uint64_t *ids, size_t count, Arena *arena,
                                 Report *ret_reports);
/* From what was read to `after`, with the marks that announce it; then the mark of the state before goes. CONFLICT: somebody was first. */
MUST_USE Status report_row_write(Reports *reports, const ReportRow *before, const Report *after,
                                 Arena *arena);
Slice report_key(uint64_t id, Arena *arena);

/* ---- marks.c ------------------------------------------------------------------------------------------------- */

/* A column of a list: when the report came into the state, and which it is. */
typedef struct ReportMark {
    int64_t since_us;
    uint64_t report;
} ReportMark;

enum { MARK_BYTES = 16, MARKS_MAX = 3 };
_Static_assert(MARK_BYTES == (int)ID_BYTES, "a position of a list is a mark");

/* How long what is in this state stays, counted from now; 0: for ever. At least a second. */
int64_t report_ttl_s(const Reports *reports, const Report *report);
Slice state_row(ReportState state, Arena *arena);
Slice policy_row(uint64_t policy, Arena *arena);
extern const Slice LETTERS_ROW;
Slice mark_column(ReportMark mark, Arena *arena);
MUST_USE Status mark_from(Slice column, ReportMark *ret_mark);
Slice letter_column(ReportLetterKind kind, uint64_t report, Arena *arena);
/* The marks of lists that a report must have: by state, and by policy. */
size_t report_list_marks(Reports *reports, const Report *report, Arena *arena,
                         RowChange ret_changes[MARKS_MAX]);
/* The letter that a move makes due, when there is one. */
bool report_letter_mark(Reports *reports, const Report *report, Arena *arena,
                        RowChange *ret_change);
/* Takes a mark away; what fails is met again. */
void report_unmark(Reports *reports, Slice row, Slice column);
