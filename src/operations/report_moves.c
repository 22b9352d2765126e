/* report_moves.c -- moves of reports, with the audit log. See report_moves.h. */
#include "operations/report_moves.h"

#include "operations/people_appeals.h"
#include "operations/policy_head.h"

Status report_admit(const Actor *actor, const Report *report, Reason *reason)
{
    bool is_of_people = report->kind == REPORT_OF_TROUBLE || report->kind == REPORT_OF_RIGHTS;
    uint32_t roles = is_of_people ? REPORT_ROLES : 1u << ROLE_MODERATE_POLICIES;
    return actor_has(actor, roles)
               ? STATUS_OK
               : reason_set(reason, STATUS_DENIED, "",
                            "this needs a role that your account does not have");
}

/* The entry of a move. Dismissals of reports about policies are public; none of it says who reported. */
static AuditAct act_of(const Report *report, const ReportMove *move, Arena *arena)
{
    bool is_public = move->state == REPORT_DISMISSED && report->policy != 0;
    static const AuditKind KINDS[] = {[REPORT_OPEN] = AUDIT_REPORT_RETURN,
                                      [REPORT_TAKEN] = AUDIT_REPORT_TAKE,
                                      [REPORT_ACTED] = AUDIT_REPORT_ACT,
                                      [REPORT_DISMISSED] = AUDIT_TROUBLE_DISMISS};
    bool is_appeal = move->state == REPORT_DISMISSED && report->kind == REPORT_OF_RIGHTS;
    return (AuditAct){.kind = is_public   ? AUDIT_REPORT_DISMISS
                              : is_appeal ? AUDIT_APPEAL_DISMISS
                                          : KINDS[move->state],
                      .object = is_public ? report->policy : report->id,
                      .policy = report->policy,
                      .reason = move->reason,
                      .details = arena_print(arena, "report %llu", (unsigned long long)report->id)};
}

/* Names the moderator who was first. */
static Status refuse_second(Operations *ops, const Report *report, Arena *arena, Reason *reason)
{
    Slice name = person_name(ops, report->moderator, arena);
    if (report_is_closed(report->state))
        return reason_set(reason, STATUS_CONFLICT, "", "%.*s has closed this report: %s",
                          SLICE_ARG(name), report_state_text(report->state));
    return reason_set(reason, STATUS_CONFLICT, "", "%.*s has taken this report", SLICE_ARG(name));
}

static Status check_reason(const ReportMove *move, Reason *reason)
{
    if (!report_is_closed(move->state))
        return STATUS_OK;
    if (move->reason.size == 0)
        return reason_set(reason, STATUS_INVALID, "reason", "say why");
    return policy_check_prose("reason", move->reason, REPORT_REASON_MAX, reason);
}

/* A move that is there already, or is not possible, has no entry. */
static Status move_one(Operations *ops, const Actor *actor, const Report *before,
                       const ReportMove *move, Arena *arena, Report *ret_report, Reason *reason)
{
    bool write = false;
    Id id;
    Status status = report_judge(before, move, clock_now_us(ops->app->world.clock), &write, reason);
    *ret_report = *before;
    if (status != STATUS_OK || !write)
        return status;
    TRY(appeal_check_judge(ops, actor, before, move->state, arena, reason));
    AuditAct act = act_of(before, move, arena);
    TRY(operation_audit(ops, actor, &act, &id, reason));
    return operation_audit_end(
        ops, id, reports_move(ops->app->reports, before->id, move, arena, ret_report, reason));
}

/* One that cannot be moved stays in the queue. */
static void move_others(Operations *ops, const Actor *actor, const Report *moved,
                        const ReportMove *move, Arena *arena)
{
    Report *others, after;
    size_t count;
    Reason ignored = {0};
    if (moved->policy == 0 ||
        reports_of_policy(ops->app->reports, moved->policy, arena, &others, &count) != STATUS_OK)
        return;
    for (size_t i = 0; i < count; i++)
        if (others[i].id != moved->id && !report_is_closed(others[i].state))
            (void)!move_one(ops, actor, &others[i], move, arena, &after, &ignored);
}

void report_tell(Operations *ops)
{
    (void)!tasks_ask(app_tasks(ops->app), SLICE(TASK_REPORT_LETTERS), NULL);
}

Status report_move(Operations *ops, const Actor *actor, const ReportMoveRequest *request,
                   Arena *arena, Report *ret_report, Reason *reason)
{
    Report before;
    ReportMove move = {.state = request->state,
                       .moderator = actor_id(actor),
                       .reason = report_is_closed(request->state) ? request->reason : SLICE_EMPTY};
    TRY(reports_read(ops->app->reports, request->report, arena, &before));
    TRY(report_admit(actor, &before, reason));
    TRY(check_reason(&move, reason));
    Status status = move_one(ops, actor, &before, &move, arena, ret_report, reason);
    if (status == STATUS_CONFLICT)
        return refuse_second(ops, ret_report, arena, reason);
    TRY(status);
    if (request->all)
        move_others(ops, actor, ret_report, &move, arena);
    report_tell(ops);
    return STATUS_OK;
}

void report_acted(Operations *ops, const Actor *actor, uint64_t report, Slice reason, Arena *arena)
{
    Report after;
    Reason ignored = {0};
    ReportMoveRequest request = {
        .report = report, .state = REPORT_ACTED, .reason = slice_trim(reason), .all = true};
    if (report != 0 && actor_has(actor, 1u << ROLE_MODERATE_POLICIES))
        (void)!report_move(ops, actor, &request, arena, &after, &ignored);
}
