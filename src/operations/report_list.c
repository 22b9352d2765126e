/* report_list.c -- the queue of reports: its list, one of them, and the moves of moderators (report_moves.h).
 *
 * A move is one conditional update, written to the audit log before. A crash in between leaves an entry whose outcome is not known; the
 * same request again is safe. E-mails follow from marks that are durable with the move (app/report_letters.h), whichever door moved it. */
#include "operations/report_list.h"

#include "operations/policy_head.h"
#include "operations/report_moves.h"
#include "operations/schema_macros.h"

/* clang-format off */
static const ApiMember REPORT[] = {
    FIELD("id", ReportView, report.id, .help = "The report."),
    WORD("kind", ReportView, report.kind, REPORT_KIND_WORDS, .help = "What it is about."),
    FIELD("policy", ReportView, report.policy, WHEN(ReportView, has_policy), .help = "The policy."),
    FIELD("policy_name", ReportView, policy_name, WHEN(ReportView, has_policy), .help = "What that is called."),
    FIELD("reporter", ReportView, report.account, OR_NULL, .help = "The account that reported; null: a visitor."),
    FIELD("email", ReportView, report.email, OR_NULL, .help = "Where a visitor wants the answer."),
    FIELD("words", ReportView, report.words, .help = "What they wrote."),
    TIME("made", ReportView, report.made_us, .help = "When it was made."),
    WORD("state", ReportView, report.state, REPORT_STATE_WORDS, .help = "Where it stands."),
    TIME("since", ReportView, report.since_us, .help = "Since when."),
    FIELD("moderator", ReportView, report.moderator, OR_NULL, .help = "Who has taken or closed it; null: nobody, or the operator."),
    FIELD("moderator_name", ReportView, moderator, WHEN(ReportView, has_moderator), .help = "What they are called."),
    FIELD("reason", ReportView, report.reason, OR_NULL, .help = "Why it was closed."),
};
SCHEMA(REPORT, "Report", ReportView, REPORT, .help = "What somebody told the moderators.");

static const ApiMember REPORTS[] = {
    LIST("reports", ReportList, reports, count, REPORT, .help = "Open and taken ones the oldest first, closed ones the newest first."),
    NEXT(ReportList),
};
SCHEMA(REPORTS, "Reports", ReportList, REPORTS, .help = "Reports in one state.");
/* clang-format on */

/* ---- Showing ------------------------------------------------------------------------------------------------------------------ */

/* A moderator sees names that are hidden from others; one that is gone is called by its number. */
static void name_policy(Operations *ops, ReportView *view, Arena *arena)
{
    PolicySummary summary;
    uint64_t policy = view->report.policy;
    view->has_policy = policy != 0;
    view->policy_state = POLICY_DELETED;
    view->policy_name = arena_print(arena, "Policy %llu", (unsigned long long)policy);
    view->policy_address = arena_print(arena, "/policies/%llu", (unsigned long long)policy);
    if (policy == 0 || policy_summary_name(ops->summaries, policy, arena, &summary) != STATUS_OK)
        return;
    view->policy_state = summary.state;
    view->policy_name = summary.name;
    view->policy_address = summary.address;
}

ReportView report_view(Operations *ops, const Report *report, const Actor *viewer, Arena *arena)
{
    ReportView view = {.report = *report};
    name_policy(ops, &view, arena);
    view.reporter =
        report->account != 0 ? person_name(ops, report->account, arena) : SLICE("a visitor");
    view.has_moderator = report->state != REPORT_OPEN;
    view.moderator = view.has_moderator ? person_name(ops, report->moderator, arena) : SLICE_EMPTY;
    view.is_mine = report->state == REPORT_TAKEN && report->moderator == actor_id(viewer);
    return view;
}

Status report_lines(Operations *ops, const ReportListQuery *want, const Actor *viewer, Arena *arena,
                    ReportList *ret_list)
{
    ReportPage page;
    ReportQuery query = {
        .state = (ReportState)want->state, .after = want->after, .limit = REPORT_ROWS};
    TRY(reports_list(ops->app->reports, &query, arena, &page));
    ReportList list = {.reports = ARENA_ARRAY(arena, page.count, ReportView), .next = SLICE_EMPTY};
    for (size_t i = 0; i < page.count; i++)
        if (report_admit(viewer, &page.reports[i], NULL) == STATUS_OK)
            list.reports[list.count++] = report_view(ops, &page.reports[i], viewer, arena);
    if (page.more) {
        Slice position = id_text(page.position, arena);
        list.next = arena_print(arena, "?state=%s&after=%.*s", report_state_word(query.state),
                                SLICE_ARG(position));
    }
    *ret_list = list;
    return STATUS_OK;
}

static Status report_list(Operations *ops, const Actor *actor, const ReportListQuery *request,
                          Arena *arena, ReportList *ret_list, Reason *reason)
{
    (void)reason;
    TRY(report_lines(ops, request, actor, arena, ret_list));
    if (ret_list->next.size > 0)
        ret_list->next =
            arena_print(arena, "/api/v1/moderation/reports%.*s", SLICE_ARG(ret_list->next));
    return STATUS_OK;
}

typedef struct ReportNamed {
    uint64_t report;
    Slice reason;
    bool all;
} ReportNamed;

static Status report_show(Operations *ops, const Actor *actor, const ReportNamed *request,
                          Arena *arena, ReportView *ret_view, Reason *reason)
{
    Report report;
    Status status = reports_read(ops->app->reports, request->report, arena, &report);
    if (status == STATUS_NOT_FOUND)
        return reason_set(reason, status, "report", "there is no report %llu",
                          (unsigned long long)request->report);
    TRY(status);
    TRY(report_admit(actor, &report, reason));
    *ret_view = report_view(ops, &report, actor, arena);
    return STATUS_OK;
}

/* clang-format off */
#define FOR_REPORTS .access = WEB_ROLE, .whose = WEB_ANYBODYS, .roles = REPORT_ROLES, .answers = &SCHEMA_REPORT
#define NUMBER INPUT("report", ReportNamed, report, ID, .operand = true, .help = "The report.")

OPERATION(report_list, ReportListQuery, ReportList, .help = "List what people told the moderators.",
    .access = WEB_ROLE, .roles = REPORT_ROLES, .asks = true, .shows = SHOWS(REPORTS), .answers = &SCHEMA_REPORTS,
    .api = {WEB_GET, "moderation/reports", .tag = "moderation"}, .command = {.words = "report list"}, .no_page = "the moderators' page has those about one policy together",
    .inputs = {
        INPUT("state", ReportListQuery, state, WORD, .words = REPORT_STATE_WORDS, .fallback = "open", .help = "Which."),
        INPUT("after", ReportListQuery, after, VERSION, .optional = true, .help = "Where the page before ended, as `next` names it."),
    });
OPERATION(report_show, ReportNamed, ReportView, .help = "Show a report.", FOR_REPORTS, .asks = true, .shows = SHOWS(REPORTS),
    .api = {WEB_GET, "moderation/reports/{report}", .tag = "moderation"}, .command = {.words = "report show"}, .no_page = "the page that closes it shows it",
    .inputs = {NUMBER});
/* clang-format on */

/* ---- Moving ------------------------------------------------------------------------------------------------------------------- */

static Status move(Operations *ops, const Actor *actor, const ReportNamed *request,
                   ReportState state, Arena *arena, ReportView *ret_view, Reason *reason)
{
    Report after;
    ReportMoveRequest wanted = {
        .report = request->report, .state = state, .reason = request->reason, .all = request->all};
    TRY(report_move(ops, actor, &wanted, arena, &after, reason));
    *ret_view = report_view(ops, &after, actor, arena);
    return STATUS_OK;
}

#define MOVE(name, state)                                                               \
    static Status name(Operations *ops, const Actor *actor, const ReportNamed *request, \
                       Arena *arena, ReportView *ret_view, Reason *reason)              \
    {                                                                                   \
        return move(ops, actor, request, state, arena, ret_view, reason);               \
    }
MOVE(report_take, REPORT_TAKEN)
MOVE(report_return, REPORT_OPEN)
MOVE(report_dismiss, REPORT_DISMISSED)
MOVE(report_act, REPORT_ACTED)

/* clang-format off */
#define CLOSING {NUMBER,                                                                            \
        INPUT("reason", ReportNamed, reason, TEXT, .least = 1, .most = REPORT_REASON_MAX, .missing = "say why", .help = "Why; the person who reported reads it."), \
        INPUT("all", ReportNamed, all, SWITCH, .fallback = "off", .help = "Also the others about the same policy that nobody else has.")}

OPERATION(report_take, ReportNamed, ReportView, .help = "Take a report on.", FOR_REPORTS, .audits = AUDITS(REPORT_TAKE),
    .api = {WEB_POST, "moderation/reports/{report}/take", .tag = "moderation"}, .command = {.words = "report take"},
    .page = {"/desk/reports/{report}/take", "report-taken", "You have taken this report on."}, .inputs = {NUMBER});
OPERATION(report_return, ReportNamed, ReportView, .help = "Give a report back to the queue.", FOR_REPORTS, .audits = AUDITS(REPORT_RETURN),
    .api = {WEB_POST, "moderation/reports/{report}/return", .tag = "moderation"}, .command = {.words = "report return"},
    .page = {"/desk/reports/{report}/return", "report-returned", "The report is back in the queue."}, .inputs = {NUMBER});
OPERATION(report_dismiss, ReportNamed, ReportView, .help = "Dismiss a report; the person who reported is told why.", FOR_REPORTS,
    .audits = AUDITS(REPORT_DISMISS) | AUDITS(TROUBLE_DISMISS) | AUDITS(APPEAL_DISMISS),
    .api = {WEB_POST, "moderation/reports/{report}/dismiss", .tag = "moderation"}, .command = {.words = "report dismiss"},
    .page = {"/desk/reports/{report}/dismiss", "report-dismissed", "The report is dismissed, and the person who reported is told."}, .inputs = CLOSING);
OPERATION(report_act, ReportNamed, ReportView, .help = "Close a report upon which something was done.", FOR_REPORTS, .audits = AUDITS(REPORT_ACT),
    .api = {WEB_POST, "moderation/reports/{report}/act", .tag = "moderation"}, .command = {.words = "report act"},
    .page = {"/desk/reports/{report}/act", "report-acted", "The report is closed, and the person who reported is told."}, .inputs = CLOSING);
/* clang-format on */
