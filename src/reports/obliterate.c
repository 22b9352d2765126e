/* obliterate.c -- what goes from reports when their policy was obliterated. See reports.h. */
#include "reports/reports_private.h"

Status reports_ids_of_policy(Reports *reports, uint64_t policy, uint64_t after,
                             uint64_t ret_ids[REPORTS_LIST_MAX], size_t *ret_count)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Query query = {.table = &TABLE_REPORT_INDEX,
                   .row = policy_row(policy, arena),
                   .from = SLICE_EMPTY,
                   .to = SLICE_EMPTY,
                   .after = report_key(after, arena),
                   .resume = true,
                   .limit = REPORTS_LIST_MAX};
    Page page;
    TRY(store_slice(reports->options.store, &query, arena, &page));
    for (size_t i = 0; i < page.count; i++) {
        if (page.cells[i].column.size != sizeof *ret_ids)
            return STATUS_CORRUPT;
        ret_ids[i] = bytes_get_u64(page.cells[i].column.data);
    }
    *ret_count = page.count;
    return STATUS_OK;
}

static bool is_silent(const Report *report)
{
    return report_is_closed(report->state) && report->words.size == 0 && report->email.size == 0 &&
           report->reason.size == 0;
}

static Status silence(Reports *reports, uint64_t id, uint64_t policy, Arena *arena)
{
    ReportRow row;
    TRY(report_row_read(reports, id, arena, &row));
    if (row.report.policy != policy || is_silent(&row.report))
        return STATUS_OK;
    Report after = row.report;
    after.words = after.email = after.reason = SLICE_EMPTY;
    if (!report_is_closed(after.state)) {
        int64_t now_us = reports_now_us(reports);
        after.state = REPORT_ACTED;
        after.moderator = 0;
        after.since_us = now_us > after.since_us ? now_us : after.since_us + 1;
    }
    return report_row_write(reports, &row, &after, arena);
}

Status reports_obliterate(Reports *reports, uint64_t policy)
{
    ARENA_SCOPE Arena *arena = arena_new();
    uint64_t ids[REPORTS_LIST_MAX], after = 0;
    size_t count = REPORTS_LIST_MAX;
    while (count == REPORTS_LIST_MAX) {
        TRY(reports_ids_of_policy(reports, policy, after, ids, &count));
        for (size_t i = 0; i < count; i++) {
            Status status = STATUS_CONFLICT;
            for (int k = 0; record_again(&status, k, arena, NULL); k++)
                status = silence(reports, ids[i], policy, arena);
            if (status != STATUS_NOT_FOUND) /* never came to be, or has expired */
                TRY(status);
        }
        after = count > 0 ? ids[count - 1] : after;
    }
    return STATUS_OK;
}
