/* clocks.c -- what people do when a clock was wrong: confirming the time of a machine, and correcting policies that were dated ahead.
 *
 * Confirming is in the memory of this process alone, and is asked for again where that does not last. Correcting a policy is one
 * conditional update; a crash before it leaves an audit entry whose outcome is not known, and asking again is safe. */
#include "operations/admin.h"
#include "operations/schema_list.h"
#include "operations/schema_macros.h"

#define MACHINE "left to who has the machine, and sees its clock"

/* ---- The time of this machine --------------------------------------------------------------------------------------------------------- */

typedef struct ClockConfirm {
    Slice reason;
} ClockConfirm;

typedef struct ClockConfirmed {
    int64_t now_us;
    int64_t stepped_s;
} ClockConfirmed;

/* clang-format off */
static const ApiMember CLOCK_CONFIRMED[] = {
    TIME("time", ClockConfirmed, now_us, .help = "What the clock shows."),
    FIELD("stepped_s", ClockConfirmed, stepped_s, .help = "By how many seconds it was set since it was believed last; below zero: back."),
};
SCHEMA(CLOCK_CONFIRMED, "ClockConfirmed", ClockConfirmed, CLOCK_CONFIRMED, .help = "The time that counts from now on.");
/* clang-format on */

static Status clock_confirm(Operations *ops, const Actor *actor, const ClockConfirm *request,
                            Arena *arena, ClockConfirmed *ret_confirmed, Reason *reason)
{
    ClockGuard *guard = ops->app->clock_guard;
    Id id;
    *ret_confirmed =
        (ClockConfirmed){clock_now_us(ops->app->world.clock), clock_guard_stepped_s(guard)};
    AuditAct act = {
        .kind = AUDIT_CLOCK,
        .reason = request->reason,
        .details = arena_print(arena, "stepped by %lld s", (long long)ret_confirmed->stepped_s)};
    TRY(operation_audit(ops, actor, &act, &id, reason));
    clock_guard_confirm(guard);
    return operation_audit_end(ops, id, STATUS_OK);
}

/* clang-format off */
OPERATION(clock_confirm, ClockConfirm, ClockConfirmed, .help = "Confirm that the clock of this machine is right, after it was set: until then no policy is moved.",
    FOR_ADMINS, .audits = AUDITS(CLOCK), .answers = &SCHEMA_CLOCK_CONFIRMED, .no_api = MACHINE, .no_page = MACHINE,
    .command = {.words = "clock confirm"}, .inputs = {REASON_INPUT(ClockConfirm)});
/* clang-format on */

/* ---- Policies --------------------------------------------------------------------------------------------------------------------------- */

typedef struct PolicyRetime {
    uint64_t policy;
    Slice reason;
} PolicyRetime;

typedef struct PolicyRetimed {
    uint64_t policy;
    uint32_t moves;
} PolicyRetimed;

/* clang-format off */
static const ApiMember POLICY_RETIMED[] = {
    FIELD("policy", PolicyRetimed, policy, .help = "The policy."),
    FIELD("moves", PolicyRetimed, moves, .help = "How many of its moves got the time of now."),
};
SCHEMA(POLICY_RETIMED, "PolicyRetimed", PolicyRetimed, POLICY_RETIMED, .help = "What was corrected.");
/* clang-format on */

static Status policy_repair_time(Operations *ops, const Actor *actor, const PolicyRetime *request,
                                 Arena *arena, PolicyRetimed *ret_retimed, Reason *reason)
{
    Id id;
    AuditAct act = {
        .kind = AUDIT_POLICY_TIME, .object = request->policy, .reason = request->reason};
    (void)arena;
    TRY(operation_audit(ops, actor, &act, &id, reason));
    ret_retimed->policy = request->policy;
    Status status =
        policies_retime(ops->app->policies, request->policy, &ret_retimed->moves, reason);
    operations_notify(ops, CHANGE_POLICY, request->policy);
    return operation_audit_end(ops, id, status);
}

/* clang-format off */
OPERATION(policy_repair_time, PolicyRetime, PolicyRetimed, .help = "Give moves of a policy that a wrong clock has dated ahead the time of now; it lowers nobody's balance.",
    FOR_ADMINS, .whose = WEB_ANYBODYS, .audits = AUDITS(POLICY_TIME), .answers = &SCHEMA_POLICY_RETIMED, .no_api = MACHINE, .no_page = MACHINE,
    .command = {.words = "policy repair-time"},
    .inputs = {INPUT("policy", PolicyRetime, policy, POLICY, .operand = true, .help = "The policy."),
               INPUT("reason", PolicyRetime, reason, TEXT, .least = 1, .most = AUDIT_REASON_MAX, .help = "Why; everybody sees it.")});
/* clang-format on */
