/* policy_moves.c -- deleting a policy for abuse, restoring it, retiring it, and an owner's appeal. See policy_moves.h.
 *
 * A crash between two steps: the move is one conditional update; rankings learn of it by themselves, and the deletion becomes final by the
 * task `moves`. The owner's e-mail is queued after the move, or by the task `letters`; it is sent once. The notice on the site does not
 * depend on it. A report that stays open because of a crash is closed by a moderator. */
#include "operations/policy_moves.h"

#include "app/policy_letters.h"
#include "operations/report_moves.h"

/* ---- What they share ------------------------------------------------------------------------------------------------------------ */

Status policy_check_act(const PolicyHead *head, AuditKind kind, Reason *reason)
{
    PolicyState state = head->state;
    bool is_active = state == POLICY_ACTIVE, is_hidden = state == POLICY_PENDING_DELETION;
    bool can = kind == AUDIT_POLICY_RESTORE  ? is_hidden
               : kind == AUDIT_POLICY_DELETE ? is_active || state == POLICY_RETIRED
                                             : is_active;
    if (can)
        return STATUS_OK;
    return reason_set(reason, STATUS_REFUSED, "", "a policy that is %s cannot be %s",
                      policy_state_text(state),
                      kind == AUDIT_POLICY_RESTORE  ? "restored"
                      : kind == AUDIT_POLICY_DELETE ? "deleted"
                      : kind == AUDIT_POLICY_RETIRE ? "retired"
                                                    : "merged");
}

Status policy_check_other(Operations *ops, uint64_t policy, uint64_t other, Arena *arena,
                          Reason *reason)
{
    PolicySummary summary;
    if (other == policy)
        return reason_set(reason, STATUS_INVALID, "other", "must be another policy");
    Status status = policy_summary_name(ops->summaries, other, arena, &summary);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && summary.state != POLICY_ACTIVE))
        return reason_set(reason, STATUS_INVALID, "other", "must be an active policy");
    return status;
}

bool policy_has_move(const PolicyHead *head, Id id)
{
    for (size_t i = 0; i < head->policy.facts.move_count; i++)
        if (id_equal(head->policy.facts.moves[i].id, id))
            return true;
    return false;
}

void policy_print_state(const void *head, Arena *arena, Buffer *out)
{
    const PolicyHead *shown = head;
    (void)arena;
    buffer_print(out, "policy %llu is %s\n", (unsigned long long)shown->policy.id,
                 policy_state_text(shown->state));
}

/* The policy as it was, and the audit entry, unless the move is there already. What an owner does is theirs: only a command in their name
 * is in the log. */
static Status begin_move(Operations *ops, const Actor *actor, const PolicyMoveRequest *request,
                         const PolicyHead *head, AuditKind kind, Id *ret_entry, Reason *reason)
{
    AuditAct act = {.kind = kind,
                    .object = request->policy,
                    .other = request->other,
                    .reason = request->reason};
    *ret_entry = (Id){0};
    if (policy_has_move(head, request->token))
        return STATUS_OK;
    TRY(policy_check_act(head, kind, reason));
    if (kind == AUDIT_POLICY_RETIRE && head->is_owner)
        return operation_audit_own(ops, actor, "policy retire", ret_entry, reason);
    return operation_audit(ops, actor, &act, ret_entry, reason);
}

/* What comes after the move: the answer is the policy as it is now. That it cannot be read does not undo the move. */
static Status end_move(Operations *ops, const Actor *actor, const PolicyMoveRequest *request,
                       Id entry, Status status, Arena *arena, PolicyHead *ret_head)
{
    operations_notify(ops, CHANGE_POLICY, request->policy);
    TRY(operation_audit_end(ops, entry, status));
    operation_done();
    report_acted(ops, actor, request->report, request->reason, arena);
    return policy_head(ops, request->policy, actor, arena, ret_head);
}

/* ---- Deleting -------------------------------------------------------------------------------------------------------------------- */

Status deletion_final_us(Operations *ops, int64_t hidden_us, Arena *arena, int64_t *ret_us)
{
    SettingsHistory settings;
    TRY(settings_read(accounts_settings(ops->app->accounts), arena, &settings));
    *ret_us = hidden_us + settings_at(&settings, hidden_us)->appeal_days * S_PER_DAY * US_PER_S;
    return STATUS_OK;
}

static Status policy_delete(Operations *ops, const Actor *actor, const PolicyMoveRequest *request,
                            Arena *arena, PolicyHead *ret_head, Reason *reason)
{
    PolicyHead head;
    Id entry;
    PolicyMove move = {.state = POLICY_PENDING_DELETION,
                       .id = request->token,
                       .actor = actor_id(actor),
                       .reason = request->reason};
    TRY(policy_head(ops, request->policy, actor, arena, &head));
    TRY(begin_move(ops, actor, request, &head, AUDIT_POLICY_DELETE, &entry, reason));
    PolicyState from = head.state == POLICY_MERGING ? POLICY_ACTIVE : head.state;
    Status status = policies_move(ops->app->policies, request->policy, from, &move, reason);
    if (status == STATUS_OK)
        (void)!app_tell_hidden(ops->app, request->policy, NULL); /* else the task `letters` does */
    return end_move(ops, actor, request, entry, status, arena, ret_head);
}

/* clang-format off */
#define POLICY_INPUT INPUT("policy", PolicyMoveRequest, policy, POLICY, .operand = true, .help = "The policy.")

OPERATION(policy_delete, PolicyMoveRequest, PolicyHead,
    .help = "Hide a policy at once; when the time for appeals is over it is deleted, and everybody gets their votes back.",
    MODERATORS_ONLY, .audits = AUDITS(POLICY_DELETE) | AUDITS(REPORT_ACT), .answers = &SCHEMA_POLICY,
    .api = {WEB_POST, "moderation/policies/{policy}/delete", .tag = "moderation"},
    .page = {"/policies/{policy}/delete", "hidden", "The policy is hidden. It will be deleted when the time for appeals is over."},
    .command = {"policy delete", .print = policy_print_state},
    .inputs = {POLICY_INPUT, MOVE_REASON_INPUT(PolicyMoveRequest, .least = 1), REPORT_INPUT(PolicyMoveRequest), TOKEN_INPUT(PolicyMoveRequest)});
/* clang-format on */

/* ---- Restoring ------------------------------------------------------------------------------------------------------------------- */

static Status policy_restore(Operations *ops, const Actor *actor, const PolicyMoveRequest *request,
                             Arena *arena, PolicyHead *ret_head, Reason *reason)
{
    PolicyHead head;
    Id entry;
    PolicyMove move = {.id = request->token, .actor = actor_id(actor), .reason = request->reason};
    TRY(policy_head(ops, request->policy, actor, arena, &head));
    TRY(begin_move(ops, actor, request, &head, AUDIT_POLICY_RESTORE, &entry, reason));
    Status status = policies_restore(ops->app->policies, request->policy, &move, reason);
    return end_move(ops, actor, request, entry, status, arena, ret_head);
}

/* clang-format off */
OPERATION(policy_restore, PolicyMoveRequest, PolicyHead, .help = "Bring back a policy that waits for its deletion.",
    MODERATORS_ONLY, .audits = AUDITS(POLICY_RESTORE) | AUDITS(REPORT_ACT), .answers = &SCHEMA_POLICY,
    .api = {WEB_POST, "moderation/policies/{policy}/restore", .tag = "moderation"},
    .page = {"/policies/{policy}/restore", "restored", "The policy is back as it was."},
    .command = {"policy appeal", .print = policy_print_state},
    .inputs = {POLICY_INPUT, MOVE_REASON_INPUT(PolicyMoveRequest, .least = 1, .command_optional = true), REPORT_INPUT(PolicyMoveRequest),
               TOKEN_INPUT(PolicyMoveRequest)});
/* clang-format on */

/* ---- Retiring -------------------------------------------------------------------------------------------------------------------- */

static Status policy_retire(Operations *ops, const Actor *actor, const PolicyMoveRequest *request,
                            Arena *arena, PolicyHead *ret_head, Reason *reason)
{
    PolicyHead head;
    VotingSettings settings;
    Id entry;
    TRY(policy_head(ops, request->policy, actor, arena, &head));
    if (!head.may_retire)
        return reason_set(reason, STATUS_DENIED, "",
                          "only its owner and moderators can retire this policy");
    if (request->other != 0 && !policy_has_move(&head, request->token))
        TRY(policy_check_other(ops, request->policy, request->other, arena, reason));
    TRY(operations_settings(ops, arena, &settings));
    TRY(begin_move(ops, actor, request, &head, AUDIT_POLICY_RETIRE, &entry, reason));
    PolicyMove move = {.state = POLICY_RETIRED,
                       .id = request->token,
                       .actor = actor_id(actor),
                       .other = request->other,
                       .percent = settings.withdrawal_percent,
                       .reason = request->reason};
    Status status =
        policies_move(ops->app->policies, request->policy, POLICY_ACTIVE, &move, reason);
    return end_move(ops, actor, request, entry, status, arena, ret_head);
}

/* clang-format off */
OPERATION(policy_retire, PolicyMoveRequest, PolicyHead,
    .help = "Retire a policy: voters get their pollies back, its owner pays the usual price.",
    .access = WEB_LOGIN, .whose = WEB_OWN_OR_ROLE, .roles = 1u << ROLE_MODERATE_POLICIES,
    .audits = AUDITS(POLICY_RETIRE) | AUDITS(PERSON_AS) | AUDITS(REPORT_ACT), .answers = &SCHEMA_POLICY,
    .api = {WEB_POST, "policies/{policy}/retire", .tag = "policies"},
    .page = {"/policies/{policy}/retire", "retired", "The policy is retired. Everyone got their votes back."},
    .command = {"policy retire", .print = policy_print_state},
    .inputs = {POLICY_INPUT,
               INPUT("other", PolicyMoveRequest, other, POLICY, .optional = true, .flag = "for", .help = "In favour of which."),
               MOVE_REASON_INPUT(PolicyMoveRequest, .fallback = ""), REPORT_INPUT(PolicyMoveRequest), TOKEN_INPUT(PolicyMoveRequest)});
/* clang-format on */

/* ---- Appealing ------------------------------------------------------------------------------------------------------------------- */

typedef struct PolicyAppeal {
    uint64_t policy;
    Slice words;
} PolicyAppeal;

/* A report to the moderators, who restore it or do not. */
static Status policy_appeal(Operations *ops, const Actor *actor, const PolicyAppeal *request,
                            Arena *arena, PolicyHead *ret_head, Reason *reason)
{
    uint64_t report;
    NewReport appeal = {.kind = REPORT_OF_APPEAL,
                        .policy = request->policy,
                        .account = actor_id(actor),
                        .email = SLICE_EMPTY,
                        .words = request->words};
    TRY(policy_head(ops, request->policy, actor, arena, ret_head));
    if (!ret_head->is_owner)
        return reason_set(reason, STATUS_DENIED, "",
                          "only the owner of a policy can appeal against its deletion");
    if (ret_head->state != POLICY_PENDING_DELETION)
        return reason_set(reason, STATUS_REFUSED, "", "a policy that is %s is not being deleted",
                          policy_state_text(ret_head->state));
    TRY(reports_make(ops->app->reports, &appeal, &report, reason));
    report_tell(ops);
    return STATUS_OK;
}

/* clang-format off */
OPERATION(policy_appeal, PolicyAppeal, PolicyHead, .help = "Appeal against the deletion of one's own policy.",
    .access = WEB_LOGIN, .whose = WEB_OWN, .no_audits = "it is one's own", .answers = &SCHEMA_POLICY,
    .api = {WEB_POST, "policies/{policy}/appeal", .tag = "policies"},
    .page = {"/policies/{policy}/appeal", "appealed", "Your appeal is with the moderators. You will see here what they decide."},
    .no_command = "owners appeal themselves; `policy appeal` is how moderators grant it",
    .inputs = {INPUT("policy", PolicyAppeal, policy, POLICY, .help = "The policy."),
               INPUT("words", PolicyAppeal, words, TEXT, .least = 1, .most = REPORT_WORDS_MAX, .help = "Why it should stay; for moderators.")});
/* clang-format on */
