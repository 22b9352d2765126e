/* reports.c -- making and moving reports. See reports.h. */
#include <stdlib.h>

#include "reports/reports_private.h"

Reports *reports_new(const ReportsOptions *options)
{
    Reports *reports = calloc(1, sizeof *reports);
    CHECK(reports != NULL && options->vault != NULL);
    reports->options = *options;
    reports->ids = sequence_new(options->store, options->world, "reports", options->id_block);
    return reports;
}

void reports_free(Reports *reports)
{
    if (reports == NULL)
        return;
    sequence_free(reports->ids);
    free(reports);
}

/* ---- Making ---------------------------------------------------------------------------------------------------- */

static Status check_words(const char *field, Slice words, size_t most, Reason *reason)
{
    if (slice_trim(words).size == 0)
        return reason_set(reason, STATUS_INVALID, field, "must say something");
    return policy_check_prose(field, words, most, reason);
}

static Status check_email(const NewReport *report, Arena *arena, Reason *reason)
{
    Slice folded;
    if (report->email.size == 0 && report->kind == REPORT_OF_TROUBLE && report->account == 0)
        return reason_set(reason, STATUS_INVALID, "email",
                          "must be an address that we can answer to");
    return report->email.size == 0 ? STATUS_OK
                                   : account_fold_email(report->email, arena, &folded, reason);
}

/* Visitors may report, so who is not confirmed yet may, too. */
static Status check_account(Reports *reports, const NewReport *report, Arena *arena, Reason *reason)
{
    Account account;
    if (report->account == 0)
        return STATUS_OK;
    TRY(accounts_read(reports->options.accounts, report->account, arena, &account));
    bool is_alive = account.state == ACCOUNT_CONFIRMED || account.state == ACCOUNT_PENDING;
    if (!is_alive)
        return reason_set(reason, STATUS_DENIED, "", "this account is %s",
                          account_state_text(account.state));
    return account_check_rights(&account, report->kind == REPORT_OF_POLICY ? 1u << RIGHT_REPORT : 0,
                                reason);
}

/* Whether this account waits for an answer about this policy already. Two at the same moment are two reports, which harms nobody. */
static Status check_first(Reports *reports, const NewReport *report, Arena *arena, Reason *reason)
{
    Report *others;
    size_t count;
    if (report->account == 0 || report->policy == 0)
        return STATUS_OK;
    TRY(reports_of_policy(reports, report->policy, arena, &others, &count));
    for (size_t i = 0; i < count; i++)
        if (others[i].account == report->account && others[i].kind == report->kind &&
            !report_is_closed(others[i].state))
            return reason_set(reason, STATUS_REFUSED, "words",
                              "you have reported this already; a moderator will look at it");
    return STATUS_OK;
}

/* None about a policy that is gone, or about to be: what is said of it would stay. */
static Status check_policy(Reports *reports, const NewReport *report, Arena *arena)
{
    Policy policy;
    bool is_of_policy = report->kind == REPORT_OF_POLICY || report->kind == REPORT_OF_APPEAL;
    CHECK(is_of_policy == (report->policy != 0));
    if (report->policy == 0)
        return STATUS_OK;
    TRY(policies_read(reports->options.policies, report->policy, arena, &policy));
    PolicyState state = policy.facts.moves[policy.facts.move_count - 1].state;
    return state == POLICY_DELETED || state == POLICY_VOID ? STATUS_NOT_FOUND : STATUS_OK;
}

Status reports_reserve(Reports *reports, uint64_t *ret_id)
{
    return sequence_next(reports->ids, ret_id);
}

Status reports_make(Reports *reports, const NewReport *report, uint64_t *ret_id, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    CHECK(report->kind < REPORT_KIND_COUNT);
    TRY(check_words("words", report->words, REPORT_WORDS_MAX, reason));
    TRY(check_email(report, arena, reason));
    TRY(check_account(reports, report, arena, reason));
    TRY(check_policy(reports, report, arena));
    TRY(check_first(reports, report, arena, reason));
    Report made = {.id = report->id,
                   .kind = report->kind,
                   .policy = report->policy,
                   .account = report->account,
                   .email = report->email,
                   .words = report->words,
                   .made_us = reports_now_us(reports),
                   .state = REPORT_OPEN,
                   .reason = SLICE_EMPTY};
    made.since_us = made.made_us;
    if (made.id == 0)
        TRY(reports_reserve(reports, &made.id));
    Status status = report_row_write(reports, NULL, &made, arena);
    if (status == STATUS_CONFLICT)
        return reason_set(reason, STATUS_REFUSED, "words",
                          "you have written already; a moderator looks at it");
    TRY(status);
    *ret_id = made.id;
    return STATUS_OK;
}

/* ---- Moving ---------------------------------------------------------------------------------------------------- */

Status reports_read(Reports *reports, uint64_t id, Arena *arena, Report *ret_report)
{
    ReportRow row;
    TRY(report_row_read(reports, id, arena, &row));
    *ret_report = row.report;
    return STATUS_OK;
}

static Report moved(const Reports *reports, const Report *before, const ReportMove *move)
{
    Report after = *before;
    int64_t now_us = reports_now_us(reports);
    after.state = move->state;
    after.moderator = move->state == REPORT_OPEN ? 0 : move->moderator;
    after.since_us = now_us > before->since_us ? now_us : before->since_us + 1;
    after.reason = report_is_closed(move->state) ? move->reason : SLICE_EMPTY;
    return after;
}

/* One attempt. *ret_raced: somebody wrote in between, so look again. */
static Status move_once(Reports *reports, uint64_t id, const ReportMove *move, Arena *arena,
                        Report *ret_report, bool *ret_raced, Reason *reason)
{
    ReportRow row;
    bool write = false;
    *ret_raced = false;
    TRY(report_row_read(reports, id, arena, &row));
    Status status = report_judge(&row.report, move, reports_now_us(reports), &write, reason);
    if (status == STATUS_OK && write) {
        Report after = moved(reports, &row.report, move);
        status = report_row_write(reports, &row, &after, arena);
        *ret_raced = status == STATUS_CONFLICT;
        row.report = after;
    }
    if (status == STATUS_OK || status == STATUS_CONFLICT)
        *ret_report = row.report;
    return status;
}

Status reports_move(Reports *reports, uint64_t id, const ReportMove *move, Arena *arena,
                    Report *ret_report, Reason *reason)
{
    if (report_is_closed(move->state))
        TRY(check_words("reason", move->reason, REPORT_REASON_MAX, reason));
    bool raced = true;
    Status status = STATUS_CONFLICT;
    for (int i = 0; raced && record_again(&status, i, NULL, reason); i++)
        status = move_once(reports, id, move, arena, ret_report, &raced, reason);
    return status;
}
