/* reports.c -- /desk and /desk/reports: what waits for moderators, and what they do about it.
 *
 * A move of a report is one conditional update, noted before in the log of acts (move.c). The same move again is done once, so an
 * unknown answer is mended by sending it again. */
#include "site/acts.h"
#include "site/desk/desk.h"
#include "site/pages.h"

/* ---- The desk ---------------------------------------------------------------------------------------------------------------- */

static Status count_reports(Site *site, DeskView *view, Arena *arena)
{
    ReportPage open, taken;
    ReportQuery query = {.state = REPORT_OPEN, .limit = REPORTS_LIST_MOST};
    TRY(reports_list(site->app->reports, &query, arena, &open));
    query.state = REPORT_TAKEN;
    TRY(reports_list(site->app->reports, &query, arena, &taken));
    view->open = open.count;
    view->open_more = open.more;
    view->oldest_us = open.count > 0 ? open.reports[0].since_us : 0;
    for (size_t i = 0; i < taken.count; i++)
        view->mine += taken.reports[i].moderator == view->viewer->account.id;
    return STATUS_OK;
}

static Status count_featured(Site *site, DeskView *view, Arena *arena)
{
    FeaturedList list;
    TRY(featured_view(site, arena, &list));
    for (size_t i = 0; i < list.count; i++)
        view->featured += list.entries[i].is_shown;
    return STATUS_OK;
}

static Status find_due(Site *site, DeskView *view, Arena *arena)
{
    AnswerDue *due = ARENA_ARRAY(arena, ANSWERS_DUE_MOST, AnswerDue);
    TRY(answers_due(site, arena, due, &view->due_count));
    view->due = due;
    return STATUS_OK;
}

static Status show_desk(WebRequest *request)
{
    Site *site = site_of(request);
    DeskView view = {.viewer = site_viewer(request), .now_us = site_now_us(request)};
    const Account *account = &view.viewer->account;
    view.has_reports = account_has_any(account, DESK_REPORTS);
    view.has_feature = account_has_any(account, DESK_FEATURE);
    view.has_answers = account_has(account, ROLE_RESPOND);
    if (view.has_answers)
        TRY(find_due(site, &view, web_arena(request)));
    if (view.has_reports)
        TRY(count_reports(site, &view, web_arena(request)));
    if (view.has_feature)
        TRY(count_featured(site, &view, web_arena(request)));
    Frame frame = {.title = SLICE("Desk"), .here = "/desk"};
    Buffer *out = page_begin(request, &frame);
    desk_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

/* ---- The queue --------------------------------------------------------------------------------------------------------------- */

static Status show_reports(WebRequest *request)
{
    ReportsView view;
    ReportsWish wish = {.state = (ReportState)web_word(request, 0),
                        .viewer = site_viewer(request)->account.id};
    if (web_has(request, 1) && id_from_text(web_text(request, 1), &wish.after) != STATUS_OK)
        return reason_set(web_reason(request), STATUS_INVALID, "after",
                          "must be what a page before named");
    TRY(reports_view(site_of(request), &wish, web_arena(request), &view));
    Frame frame = {.title = SLICE("Reports"), .here = "/desk"};
    Buffer *out = page_begin(request, &frame);
    reports_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

/* ---- One report -------------------------------------------------------------------------------------------------------------- */

/* Whether the site has such a page, so that no link leads nowhere. */
static bool has_page(const Site *site, const char *path)
{
    size_t i = 0;
    while (i < site->route_count && strcmp(site->routes[i].path, path) != 0)
        i++;
    return i < site->route_count;
}

static void fill_acts(Site *site, ReportCase *view)
{
    PolicyState state = view->report.policy_state;
    bool is_open = view->report.has_policy && state == POLICY_ACTIVE;
    view->may_delete = is_open && has_page(site, "/policies/{policy}/delete");
    view->may_merge = is_open && has_page(site, "/policies/{policy}/merge");
    view->may_retire = is_open;
    view->may_restore = view->report.has_policy && state == POLICY_PENDING_DELETION &&
                        has_page(site, "/policies/{policy}/restore");
}

static bool could_close(const ReportView *report)
{
    return report->report.state == REPORT_OPEN || report->is_mine;
}

static Status fill_others(Site *site, ReportCase *view, Arena *arena)
{
    Report *others;
    size_t count;
    const Report *report = &view->report.report;
    if (report->policy == 0)
        return STATUS_OK;
    TRY(reports_of_policy(site->app->reports, report->policy, arena, &others, &count));
    view->others = ARENA_ARRAY(arena, count, ReportView);
    for (size_t i = 0; i < count; i++) {
        ReportView *other = &view->others[view->other_count];
        if (others[i].id == report->id)
            continue;
        TRY(report_view(site, &others[i], view->viewer->account.id, arena, other));
        view->waiting += could_close(other);
        view->other_count++;
    }
    return STATUS_OK;
}

static Status fill_case(WebRequest *request, ReportCase *view)
{
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    Report report;
    view->viewer = site_viewer(request);
    view->now_us = site_now_us(request);
    TRY(reports_read(site->app->reports, web_id(request, 0), arena, &report));
    TRY(report_view(site, &report, view->viewer->account.id, arena, &view->report));
    fill_acts(site, view);
    return fill_others(site, view, arena);
}

static Status show_case(WebRequest *request, ReportCase *view, int code)
{
    TRY(fill_case(request, view));
    unsigned long long id = view->report.report.id;
    Frame frame = {.title = arena_print(web_arena(request), "Report %llu", id), .here = "/desk"};
    Buffer *out = page_begin(request, &frame);
    report_page(out, view);
    page_end(request, out);
    web_code(request, code);
    return STATUS_OK;
}

static Status show_report(WebRequest *request)
{
    ReportCase view = {.reason = SLICE_EMPTY};
    return show_case(request, &view, 200);
}

static Status show_unknown(WebRequest *request)
{
    Frame frame = {.title = SLICE("We do not know whether it was saved"), .is_narrow = true};
    Slice back = arena_print(web_arena(request), "/desk/reports/%llu",
                             (unsigned long long)web_id(request, 0));
    Buffer *out = page_begin(request, &frame);
    desk_unknown_page(out, back);
    page_end(request, out);
    web_code(request, 503);
    return STATUS_OK;
}

static Status answer(WebRequest *request, Status status, const DeskMove *move, const char *done)
{
    ReportCase view = {.reason = move->reason};
    if (status == STATUS_UNKNOWN)
        return show_unknown(request);
    if (form_can_be_corrected(status)) {
        view.fault = form_fault(web_reason(request));
        return show_case(request, &view, status == STATUS_CONFLICT ? 409 : 422);
    }
    TRY(status);
    bool closes = report_is_closed(move->state);
    Slice path = closes ? SLICE("/desk/reports")
                        : arena_print(web_arena(request), "/desk/reports/%llu",
                                      (unsigned long long)move->report);
    site_done(request, path, done, 0);
    return STATUS_OK;
}

static Status do_move(WebRequest *request, ReportState state, const char *done)
{
    Report after;
    bool closes = report_is_closed(state);
    DeskMove move = {.report = web_id(request, 0),
                     .state = state,
                     .reason = closes ? slice_trim(web_text(request, 1)) : SLICE_EMPTY,
                     .all = closes && web_switch(request, 2)};
    return answer(request, desk_move(request, &move, &after), &move, done);
}

static Status take(WebRequest *request)
{
    return do_move(request, REPORT_TAKEN, "report-taken");
}

static Status give_back(WebRequest *request)
{
    return do_move(request, REPORT_OPEN, "report-returned");
}

static Status dismiss(WebRequest *request)
{
    return do_move(request, REPORT_DISMISSED, "report-dismissed");
}

static Status close_acted(WebRequest *request)
{
    return do_move(request, REPORT_ACTED, "report-acted");
}

static const char *const STATE_WORDS[] = {
#define X(name, word, text) word,
    REPORT_STATE_LIST(X)
#undef X
        NULL};

/* clang-format off */
#define FOR_REPORTS .access = WEB_ROLE, .roles = DESK_REPORTS
#define REPORT_ROW {"report", WEB_PATH, WEB_ID, .help = "The report."}
#define MOVE(where, what, words) {WEB_POST, "/desk/reports/{report}/" where, what, FOR_REPORTS, .whose = WEB_ANYBODYS, \
     .body_bytes = WEB_BODY_DEFAULT, .help = words
#define CLOSE_ROWS .params = {REPORT_ROW,                                                           \
                {"reason", WEB_FORM, WEB_TEXT, .fallback = "", .most = DESK_FIELD_MOST, .help = "Why."}, \
                {"all", WEB_FORM, WEB_SWITCH, .fallback = "off", .help = "Also the others about the same policy."}}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/desk", show_desk, .access = WEB_ROLE, .roles = DESK_ROLES, .help = "What waits for those who look after the site's content."},
    {WEB_GET, "/desk/reports", show_reports, FOR_REPORTS, .help = "Reports by state, those about one policy together.",
     .params = {{"state", WEB_QUERY, WEB_WORD, .words = STATE_WORDS, .fallback = "open", .help = "Which."},
                {"after", WEB_QUERY, WEB_OPAQUE, .optional = true, .least = ID_TEXT, .most = ID_TEXT, .help = "Where the page before ended."}}},
    {WEB_GET, "/desk/reports/{report}", show_report, FOR_REPORTS, .whose = WEB_ANYBODYS,
     .help = "One report, and what can be done about it.", .params = {REPORT_ROW}},
    MOVE("take", take, "Takes a report on."), .params = {REPORT_ROW}},
    MOVE("return", give_back, "Gives a report back to the queue."), .params = {REPORT_ROW}},
    MOVE("dismiss", dismiss, "Dismisses a report, with a reason."), CLOSE_ROWS},
    MOVE("act", close_acted, "Closes a report upon which something was done."), CLOSE_ROWS},
};
/* clang-format on */
const Room ROOM_DESK = ROOM(ROUTES);
