/* move.c -- taking, giving back and closing reports, with the log of acts. See desk.h. */
#include "site/desk/desk.h"

/* What stands in the log. Dismissals of reports about policies are for everybody; who reported is in none of it. */
static Act act_of(const Report *report, const ReportMove *move, Arena *arena)
{
    bool is_public = move->state == REPORT_DISMISSED && report->policy != 0;
    static const ActKind KINDS[] = {[REPORT_OPEN] = ACT_REPORT_RETURN,
                                    [REPORT_TAKEN] = ACT_REPORT_TAKE,
                                    [REPORT_ACTED] = ACT_REPORT_ACT,
                                    [REPORT_DISMISSED] = ACT_TROUBLE_DISMISS};
    return (Act){.kind = is_public ? ACT_REPORT_DISMISS : KINDS[move->state],
                 .object = is_public ? report->policy : report->id,
                 .reason = move->reason,
                 .details = arena_print(arena, "report %llu", (unsigned long long)report->id)};
}

/* Words that name who was first. */
static Status tell_who(WebRequest *request, const Report *report)
{
    Arena *arena = web_arena(request);
    Slice name = person_name(site_of(request), report->moderator, arena);
    if (report_is_closed(report->state))
        return reason_set(web_reason(request), STATUS_CONFLICT, "",
                          "%.*s has closed this report: %s", SLICE_ARG(name),
                          report_state_text(report->state));
    return reason_set(web_reason(request), STATUS_CONFLICT, "", "%.*s has taken this report",
                      SLICE_ARG(name));
}

static Status check_reason(const ReportMove *move, Reason *reason)
{
    if (!report_is_closed(move->state))
        return STATUS_OK;
    if (move->reason.size == 0)
        return reason_set(reason, STATUS_INVALID, "reason", "say why");
    return policy_check_prose("reason", move->reason, REPORT_REASON_MOST, reason);
}

/* What stands already, or cannot be, is not an act. */
static Status move_one(WebRequest *request, const Report *before, const ReportMove *move,
                       Report *ret_report)
{
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    bool write = false;
    Id id;
    Status status = report_judge(before, move, site_now_us(request), &write, web_reason(request));
    *ret_report = *before;
    if (status != STATUS_OK || !write)
        return status;
    Act act = act_of(before, move, arena);
    TRY(site_act(request, &act, &id));
    status =
        reports_move(site->app->reports, before->id, move, arena, ret_report, web_reason(request));
    site_act_end(request, id, status);
    return status;
}

/* The others about the same policy that nobody else has. One that fails stays as it is, and is seen to. */
static void move_others(WebRequest *request, const Report *moved, const ReportMove *move)
{
    Report *others, after;
    size_t count;
    Reason kept = *web_reason(request);
    if (moved->policy == 0 || reports_of_policy(site_of(request)->app->reports, moved->policy,
                                                web_arena(request), &others, &count) != STATUS_OK)
        return;
    for (size_t i = 0; i < count; i++)
        if (others[i].id != moved->id && !report_is_closed(others[i].state))
            (void)!move_one(request, &others[i], move, &after);
    *web_reason(request) = kept;
}

Status desk_move(WebRequest *request, const DeskMove *wish, Report *ret_report)
{
    Report before;
    ReportMove move = {.state = wish->state,
                       .moderator = site_viewer(request)->account.id,
                       .reason = report_is_closed(wish->state) ? wish->reason : SLICE_EMPTY};
    TRY(reports_read(site_of(request)->app->reports, wish->report, web_arena(request), &before));
    TRY(check_reason(&move, web_reason(request)));
    Status status = move_one(request, &before, &move, ret_report);
    if (status == STATUS_CONFLICT)
        return tell_who(request, ret_report);
    TRY(status);
    if (wish->all)
        move_others(request, ret_report, &move);
    return STATUS_OK;
}

void site_report_acted(WebRequest *request, uint64_t report, Slice reason)
{
    Report after;
    Reason kept = *web_reason(request);
    DeskMove move = {
        .report = report, .state = REPORT_ACTED, .reason = slice_trim(reason), .all = true};
    const Viewer *viewer = site_viewer(request);
    if (report != 0 && viewer->known && account_has_any(&viewer->account, DESK_REPORTS))
        (void)!desk_move(request, &move, &after);
    *web_reason(request) = kept;
}
