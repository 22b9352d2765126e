/* reports.h -- "report this": what people tell moderators, and the queue in which moderators work it off.
 *
 * A report's row decides: open -> taken -> acted or dismissed (report_rules.h), each by a conditional update with a fresh id. Lists are
 * plain rows beside it. Promises:
 *   1. Of two who take, give back or close one report exactly one does; the other is told CONFLICT and who has it.
 *   2. A report that was answered by OK is durable, is in the queue, and waits to be told to moderators (reports_letters) until somebody says
 *      that it was. So does the outcome, for who reported.
 *   3. UNKNOWN is passed on, never guessed; the same move again finds out, and is done once. UNAVAILABLE, CONFLICT and REFUSED: not done.
 *   4. A list shows nothing that is wrong: what it names is read. It may lack for a while what a crash or a late write left out
 *      (reports_reindex_page brings it back).
 *   5. Words and e-mail are sealed (base/vault.h). A closed report expires after REPORT_KEPT_DAYS. With its policy its words, e-mail and reason
 *      go (reports_obliterate).
 * A crash between two steps: the marks of lists and letters are durable no later than the row, so there may be a mark too many, which
 * readers leave out; the mark of the state before is taken away afterwards, or by a reader.
 * Not promised: that two reports with the same words are one; a bound on how many somebody makes (callers throttle).
 * Who is a moderator is checked by the caller. All calls may come from any thread. */
#pragma once

#include "accounts/accounts.h"
#include "policies/policies.h"
#include "reports/report_rules.h"
#include "store/sequence.h"

typedef struct Reports Reports;

typedef struct ReportsOptions {
    Store *store;
    World world;
    const Vault *vault;
    Accounts *accounts;
    Policies *policies;
    uint32_t id_block; /* ids taken at once */
} ReportsOptions;

Reports *reports_new(const ReportsOptions *options);
void reports_free(Reports *reports);

typedef struct NewReport {
    uint64_t id; /* of reports_reserve, so that it is made once; 0: a new one */
    ReportKind kind;
    uint64_t policy;  /* POLICY, APPEAL */
    uint64_t account; /* 0: a visitor. APPEAL: the policy's owner; RIGHTS: whose they are */
    Slice email;      /* of a visitor who wants an answer; may be empty, but for TROUBLE */
    Slice words;
} NewReport;

/* An id that no other report has or gets. */
MUST_USE Status reports_reserve(Reports *reports, uint64_t *ret_id);
/* INVALID: words or e-mail break a rule. DENIED: the right to report was taken from the account. NOT_FOUND: no such
 * policy. REFUSED: this account has an open report about it, or the report of this id is there. UNKNOWN: perhaps made; again may make a second one, unless
 * it has an id. */
MUST_USE Status reports_make(Reports *reports, const NewReport *report, uint64_t *ret_id,
                             Reason *reason);

/* NOT_FOUND: there is none, or it has expired. */
MUST_USE Status reports_read(Reports *reports, uint64_t id, Arena *arena, Report *ret_report);
/* Take (TAKEN), give back (OPEN), close (ACTED, DISMISSED, with a reason of 1 … REPORT_REASON_MAX characters). On OK and CONFLICT
 * *ret_report is what stands now. INVALID names `reason`. */
MUST_USE Status reports_move(Reports *reports, uint64_t id, const ReportMove *move, Arena *arena,
                             Report *ret_report, Reason *reason);

/* ---- Lists -------------------------------------------------------------------------------------------------- */

enum { REPORTS_LIST_MAX = 100 };

/* Open and taken ones the oldest first, closed ones the newest first. */
typedef struct ReportQuery {
    ReportState state;
    Id after;       /* ReportPage.position of the page before; zero: from the beginning */
    uint32_t limit; /* 1 … REPORTS_LIST_MAX */
} ReportQuery;

typedef struct ReportPage {
    Report *reports;
    size_t count; /* may be less than the limit though more follow */
    bool more;
    Id position;
} ReportPage;

MUST_USE Status reports_list(Reports *reports, const ReportQuery *query, Arena *arena,
                             ReportPage *ret_page);
/* The newest REPORTS_LIST_MAX about a policy, in whatever state, newest first. */
MUST_USE Status reports_of_policy(Reports *reports, uint64_t policy, Arena *arena,
                                  Report **ret_reports, size_t *ret_count);
/* One page of the repair of these lists: adds what is missing. Begin with an empty position, go on while *ret_more. */
MUST_USE Status reports_reindex_page(Reports *reports, Slice position, Arena *arena,
                                     Slice *ret_position, bool *ret_more, size_t *ret_added);

/* ---- The end -------------------------------------------------------------------------------------------------- */

/* Ids of reports about a policy, open and closed, in order; at most REPORTS_LIST_MAX. Begin with `after` = 0; more may follow while the page is full. */
MUST_USE Status reports_ids_of_policy(Reports *reports, uint64_t policy, uint64_t after,
                                      uint64_t ret_ids[REPORTS_LIST_MAX], size_t *ret_count);
/* Of a policy that was obliterated: from all reports about it words, e-mail and reason are removed; those that are open are closed as acted upon, and
 * nobody is written to about them. Anything but OK: perhaps not from all. Repeating it is fine. */
MUST_USE Status reports_obliterate(Reports *reports, uint64_t policy);

/* ---- Letters ------------------------------------------------------------------------------------------------ */

typedef enum ReportLetterKind {
    REPORT_LETTER_NEW = 'n',     /* to moderators: there is a report */
    REPORT_LETTER_OUTCOME = 'o', /* to who reported: what came of it */
} ReportLetterKind;

typedef struct ReportLetter {
    ReportLetterKind kind;
    Report report;
} ReportLetter;

/* What waits to be told, at most REPORTS_LIST_MAX. Sending twice must be harmless (mail's `once`): a crash before reports_told repeats it,
 * and two instances may send the same. */
MUST_USE Status reports_letters(Reports *reports, Arena *arena, ReportLetter **ret_letters,
                                size_t *ret_count);
/* It was sent, or will never be. A failure is told again. */
void reports_told(Reports *reports, const ReportLetter *letter);
