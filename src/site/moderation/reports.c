/* reports.c -- /desk and /desk/reports: what waits for moderators, and what they do about it. */
#include "operations/admin.h"
#include "site/moderation/moderation.h"
#include "site/pages.h"
#include "site/policies/policy_views.h"

/* ---- The desk ---------------------------------------------------------------------------------------------------------------- */

static Status count_reports(Site *site, const Actor *actor, ModerationView *view, Arena *arena)
{
    ReportPage open, taken;
    ReportQuery query = {.state = REPORT_OPEN, .limit = REPORTS_LIST_MAX};
    TRY(reports_list(site->app->reports, &query, arena, &open));
    query.state = REPORT_TAKEN;
    TRY(reports_list(site->app->reports, &query, arena, &taken));
    view->open_more = open.more;
    for (size_t i = 0; i < open.count; i++) {
        if (report_admit(actor, &open.reports[i], NULL) != STATUS_OK)
            continue;
        view->oldest_us = view->open == 0 ? open.reports[i].since_us : view->oldest_us;
        view->open++;
    }
    for (size_t i = 0; i < taken.count; i++)
        view->mine += taken.reports[i].moderator == view->viewer->account.id;
    return STATUS_OK;
}

static Status count_featured(Site *site, ModerationView *view, Arena *arena)
{
    FeaturedList list;
    TRY(featured_list(site->ops, arena, &list));
    for (size_t i = 0; i < list.count; i++)
        view->featured += list.entries[i].is_shown;
    return STATUS_OK;
}

static Status find_due(Site *site, ModerationView *view, Arena *arena)
{
    AnswerDue *due = ARENA_ARRAY(arena, ANSWERS_DUE_MAX, AnswerDue);
    TRY(answers_due(site->ops, arena, due, &view->due_count));
    view->due = due;
    return STATUS_OK;
}

static Status show_moderation(WebRequest *request)
{
    Site *site = site_of(request);
    ModerationView view = {.viewer = site_viewer(request), .now_us = site_now_us(request)};
    const Actor *actor = site_actor(request);
    view.has_reports = actor_has(actor, MODERATION_REPORTS);
    view.has_feature = actor_has(actor, MODERATION_FEATURE);
    view.has_answers = actor_has(actor, 1u << ROLE_RESPOND);
    if (view.has_answers)
        TRY(find_due(site, &view, web_arena(request)));
    if (view.has_reports)
        TRY(count_reports(site, site_actor(request), &view, web_arena(request)));
    if (view.has_feature)
        TRY(count_featured(site, &view, web_arena(request)));
    Frame frame = {.title = SLICE("Desk"), .here = "/desk"};
    Buffer *out = page_begin(request, &frame);
    moderation_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

/* ---- The queue --------------------------------------------------------------------------------------------------------------- */

static ReportLine *same_policy(ReportsView *view, uint64_t policy)
{
    for (size_t i = 0; policy != 0 && i < view->count; i++)
        if (view->lines[i].view.report.policy == policy)
            return &view->lines[i];
    return NULL;
}

static Chooser states_chooser(ReportState chosen, Arena *arena)
{
    Chooser chooser = {.label = "State",
                       .choices = ARENA_ARRAY(arena, REPORT_STATE_COUNT, Choice),
                       .count = REPORT_STATE_COUNT};
    for (int i = 0; i < REPORT_STATE_COUNT; i++) {
        static const char *const TEXTS[] = {[REPORT_OPEN] = "Waiting",
                                            [REPORT_TAKEN] = "Taken on",
                                            [REPORT_ACTED] = "Acted upon",
                                            [REPORT_DISMISSED] = "Dismissed"};
        chooser.choices[i] = (Choice){.text = slice_from(TEXTS[i]),
                                      .address = arena_print(arena, "/desk/reports?state=%s",
                                                             report_state_word((ReportState)i)),
                                      .is_chosen = i == (int)chosen};
    }
    return chooser;
}

static ReportsView group(const ReportList *list, ReportState state, Arena *arena)
{
    ReportsView view = {.state = state,
                        .lines = ARENA_ARRAY(arena, list->count, ReportLine),
                        .states = states_chooser(state, arena),
                        .pager = {.before = SLICE_EMPTY, .after = SLICE_EMPTY}};
    for (size_t i = 0; i < list->count; i++) {
        ReportLine *same = same_policy(&view, list->reports[i].report.policy);
        if (same != NULL)
            same->more++;
        else
            view.lines[view.count++] = (ReportLine){list->reports[i], 0};
    }
    if (list->next.size > 0)
        view.pager.after = arena_print(arena, "/desk/reports%.*s", SLICE_ARG(list->next));
    return view;
}

enum { P_STATE, P_AFTER };

static Status show_reports(WebRequest *request)
{
    ReportList list;
    Arena *arena = web_arena(request);
    ReportListQuery want = {.state = (unsigned)web_word(request, P_STATE)};
    if (web_has(request, P_AFTER) &&
        id_from_text(web_text(request, P_AFTER), &want.after) != STATUS_OK)
        return reason_set(web_reason(request), STATUS_INVALID, "after",
                          "must be what a page before named");
    TRY(report_lines(site_of(request)->ops, &want, site_actor(request), arena, &list));
    ReportsView view = group(&list, (ReportState)want.state, arena);
    view.now_us = site_now_us(request);
    Frame frame = {.title = SLICE("Reports"), .here = "/desk"};
    Buffer *out = page_begin(request, &frame);
    reports_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

/* ---- One report -------------------------------------------------------------------------------------------------------------- */

static void fill_acts(ReportCase *view)
{
    PolicyState state = view->report.policy_state;
    bool is_open = view->report.has_policy && state == POLICY_ACTIVE;
    view->may_delete = is_open;
    view->may_merge = is_open;
    view->may_retire = is_open;
    view->may_restore = view->report.has_policy && state == POLICY_PENDING_DELETION;
}

static bool could_close(const ReportView *report)
{
    return report->report.state == REPORT_OPEN || report->is_mine;
}

static Status fill_others(WebRequest *request, ReportCase *view)
{
    Report *others;
    size_t count;
    Arena *arena = web_arena(request);
    Operations *ops = site_of(request)->ops;
    const Report *report = &view->report.report;
    if (report->policy == 0)
        return STATUS_OK;
    TRY(reports_of_policy(ops->app->reports, report->policy, arena, &others, &count));
    view->others = ARENA_ARRAY(arena, count, ReportView);
    for (size_t i = 0; i < count; i++) {
        if (others[i].id == report->id)
            continue;
        ReportView *other = &view->others[view->other_count++];
        *other = report_view(ops, &others[i], site_actor(request), arena);
        view->waiting += could_close(other);
    }
    return STATUS_OK;
}

static Status fill_case(WebRequest *request, void *filled, Frame *frame)
{
    ReportCase *view = filled;
    Operations *ops = site_of(request)->ops;
    Arena *arena = web_arena(request);
    Report report;
    uint64_t id = 0;
    TRY(slice_to_u64(form_typed(&view->form, "report"), &id));
    TRY(reports_read(ops->app->reports, id, arena, &report));
    TRY(report_admit(site_actor(request), &report, web_reason(request)));
    *frame = (Frame){.title = arena_print(arena, "Report %llu", (unsigned long long)id),
                     .here = "/desk"};
    view->now_us = site_now_us(request);
    view->report = report_view(ops, &report, site_actor(request), arena);
    fill_acts(view);
    view->may_people = view->report.report.kind == REPORT_OF_RIGHTS &&
                       actor_has(site_actor(request), PEOPLE_ROLES);
    return fill_others(request, view);
}

static void draw_case(Buffer *out, const void *view)
{
    report_page(out, view);
}

static Slice to_report(WebRequest *request, const void *sent, const void *answer)
{
    const ReportView *view = answer;
    (void)sent;
    return arena_print(web_arena(request), "/desk/reports/%llu",
                       (unsigned long long)view->report.id);
}

static Slice to_queue(WebRequest *request, const void *sent, const void *answer)
{
    (void)request, (void)sent, (void)answer;
    return SLICE("/desk/reports");
}

FORM(report_dismiss, ReportCase, .path = "/desk/reports/{report}", .fill = fill_case,
     .draw = draw_case, .leads = to_queue, .help = "One report, and what can be done about it.");
FORM(report_act, ReportCase, .fill = fill_case, .draw = draw_case, .leads = to_queue);
FORM(report_take, ReportCase, .fill = fill_case, .draw = draw_case, .leads = to_report);
FORM(report_return, ReportCase, .fill = fill_case, .draw = draw_case, .leads = to_report);

/* clang-format off */
static const WebRoute ROUTES[] = {
    {WEB_GET, "/desk", show_moderation, .access = WEB_ROLE, .roles = MODERATION_ROLES, .help = "What waits for those who look after the site's content."},
    {WEB_GET, "/desk/reports", show_reports, .shows = "report_list", .access = WEB_ROLE, .roles = MODERATION_REPORTS, .help = "Reports by state, those about one policy together.",
     .params = {[P_STATE] = {"state", WEB_QUERY, WEB_WORD, .words = REPORT_STATE_WORDS, .fallback = "open", .help = "Which."},
                [P_AFTER] = {"after", WEB_QUERY, WEB_OPAQUE, .optional = true, .least = ID_TEXT, .most = ID_TEXT, .help = "Where the page before ended."}}},
};
/* clang-format on */
ROUTE_TABLE(MODERATION, ROUTES);
