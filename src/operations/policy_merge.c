/* policy_merge.c -- merging policies into another one, or into a new one. See policy_moves.h.
 *
 * The token is the merge's id, so a request sent twice, also after an unknown answer, is one merge; a new policy that it leads to is known
 * by the same id. A crash between two steps: a merge that has begun is ended by the sweep; a new policy to which nothing came yet is found
 * by sending the request again, and is otherwise one without votes, which moderators delete. Of several sources some may be merged when the
 * next is refused; the reason says so. */
#include "operations/policy_moves.h"
#include "operations/report_moves.h"

enum { SOURCES_MAX = 100, NEW_OF = 2 };

const char *const MERGE_INTO_WORDS[] = WORDS(MERGE_INTO_LIST, WORD_2);

typedef struct MergeRequest {
    /* Pages and programs: two policies, and what both become. */
    uint64_t policy, other;
    MergeInto into;
    /* Commands: any number of them, and the number of the one they become, or "new". */
    InputTexts sources;
    Slice target;

    Slice name; /* of the new policy; empty: that of the first */
    Slice reason;
    uint64_t report;
    Id token;
} MergeRequest;

typedef struct Merge {
    const MergeRequest *request;
    PolicyHead *sources;
    size_t count;
    bool is_new;
    uint64_t target; /* of a new one: once it is there */
} Merge;

/* ---- What is to become of which --------------------------------------------------------------------------------------------------- */

static Status add_source(Operations *ops, const Actor *actor, Merge *merge, uint64_t policy,
                         Arena *arena, Reason *reason)
{
    bool is_twice = policy == merge->target;
    for (size_t i = 0; i < merge->count; i++)
        is_twice |= merge->sources[i].policy.id == policy;
    if (is_twice)
        return reason_set(reason, STATUS_INVALID, "other", "must be another policy");
    PolicyHead *head = &merge->sources[merge->count++];
    TRY(policy_head(ops, policy, actor, arena, head));
    return policy_has_move(head, merge->request->token)
               ? STATUS_OK
               : policy_check_act(head, AUDIT_POLICY_MERGE, reason);
}

static Status read_two(Operations *ops, const Actor *actor, Merge *merge, Arena *arena,
                       Reason *reason)
{
    const MergeRequest *request = merge->request;
    merge->is_new = request->into == MERGE_INTO_NEW;
    merge->target = merge->is_new                       ? 0
                    : request->into == MERGE_INTO_OTHER ? request->other
                                                        : request->policy;
    if (request->into != MERGE_INTO_THIS)
        TRY(add_source(ops, actor, merge, request->policy, arena, reason));
    if (request->into != MERGE_INTO_OTHER)
        TRY(add_source(ops, actor, merge, request->other, arena, reason));
    return STATUS_OK;
}

static Status read_number(Slice text, const char *field, uint64_t *ret_id, Reason *reason)
{
    if (slice_to_u64(text, ret_id) == STATUS_OK && *ret_id > 0)
        return STATUS_OK;
    return reason_set(reason, STATUS_INVALID, field, "\"%.*s\" is not the number of a policy",
                      SLICE_ARG(text));
}

static Status read_many(Operations *ops, const Actor *actor, Merge *merge, Arena *arena,
                        Reason *reason)
{
    const MergeRequest *request = merge->request;
    merge->is_new = slice_equal(request->target, SLICE("new"));
    if (!merge->is_new)
        TRY(read_number(request->target, "into", &merge->target, reason));
    for (size_t i = 0; i < request->sources.count; i++) {
        uint64_t policy;
        TRY(read_number(request->sources.texts[i], "policy", &policy, reason));
        TRY(add_source(ops, actor, merge, policy, arena, reason));
    }
    return STATUS_OK;
}

/* What can be said before anything is in the audit log. A repeat of what has begun is not asked about states: they have changed by it. */
static Status read_merge(Operations *ops, const Actor *actor, Merge *merge, PolicyText *text,
                         Arena *arena, Reason *reason)
{
    PolicyHead target;
    merge->sources = ARENA_ARRAY(arena, SOURCES_MAX, PolicyHead);
    TRY(merge->request->policy != 0 ? read_two(ops, actor, merge, arena, reason)
                                    : read_many(ops, actor, merge, arena, reason));
    *text = merge->sources[0].policy.text;
    if (merge->request->name.size > 0)
        text->name = merge->request->name;
    if (policy_has_move(&merge->sources[0], merge->request->token))
        return STATUS_OK;
    if (merge->is_new)
        return policy_check_text(text, reason);
    TRY(policy_head(ops, merge->target, actor, arena, &target));
    return policy_check_act(&target, AUDIT_POLICY_MERGE, reason);
}

/* ---- The act ------------------------------------------------------------------------------------------------------------------------ */

static Status merge_one(Operations *ops, const Actor *actor, const Merge *merge, uint64_t source,
                        Reason *reason)
{
    PolicyMerge named = {.id = merge->request->token,
                         .source = source,
                         .target = merge->target,
                         .actor = actor_id(actor),
                         .reason = merge->request->reason};
    Status status = policies_merge_named(ops->app->policies, &named, reason);
    operations_notify(ops, CHANGE_POLICY, source);
    return status;
}

/* Zero where this source's merge has begun already: it has its entry. */
static Status begin_entry(Operations *ops, const Actor *actor, const Merge *merge, size_t source,
                          AuditKind kind, Id *ret_entry, Reason *reason)
{
    bool is_new = kind == AUDIT_POLICY_MERGE_NEW;
    AuditAct act = {.kind = kind,
                    .object = merge->sources[source].policy.id,
                    .other = !is_new            ? merge->target
                             : merge->count > 1 ? merge->sources[1].policy.id
                                                : 0,
                    .reason = merge->request->reason};
    *ret_entry = (Id){0};
    return policy_has_move(&merge->sources[source], merge->request->token)
               ? STATUS_OK
               : operation_audit(ops, actor, &act, ret_entry, reason);
}

/* Names the one that is not merged when others are. */
static Status say_which(const Merge *merge, size_t source, Status status, Reason *reason)
{
    Reason why = *reason;
    if (status == STATUS_OK || status == STATUS_UNKNOWN || source == 0)
        return status;
    return reason_set(reason, status, "other",
                      "%zu of %zu policies are merged into policy %llu; policy %llu is not: %s",
                      source, merge->count, (unsigned long long)merge->target,
                      (unsigned long long)merge->sources[source].policy.id, why.rule);
}

static Status merge_from(Operations *ops, const Actor *actor, const Merge *merge, size_t first,
                         size_t end, bool has_entries, Reason *reason)
{
    for (size_t i = first; i < end; i++) {
        Id entry = {0};
        if (has_entries)
            TRY(begin_entry(ops, actor, merge, i, AUDIT_POLICY_MERGE, &entry, reason));
        Status status = merge_one(ops, actor, merge, merge->sources[i].policy.id, reason);
        TRY(say_which(merge, i, operation_audit_end(ops, entry, status), reason));
    }
    return STATUS_OK;
}

/* The first two and the new policy are one act; each further one is an act of its own. */
static Status merge_to_new(Operations *ops, const Actor *actor, Merge *merge,
                           const PolicyText *text, Reason *reason)
{
    PolicyMerge named = {.id = merge->request->token, .source = merge->sources[0].policy.id};
    size_t first = merge->count < NEW_OF ? merge->count : NEW_OF;
    Id entry;
    TRY(begin_entry(ops, actor, merge, 0, AUDIT_POLICY_MERGE_NEW, &entry, reason));
    Status status = policies_merge_target(ops->app->policies, &named, text, &merge->target, reason);
    if (status == STATUS_OK)
        status = merge_from(ops, actor, merge, 0, first, false, reason);
    TRY(operation_audit_end(ops, entry, status));
    return merge_from(ops, actor, merge, first, merge->count, true, reason);
}

static Status policy_merge(Operations *ops, const Actor *actor, const MergeRequest *request,
                           Arena *arena, PolicyHead *ret_head, Reason *reason)
{
    Merge merge = {.request = request};
    PolicyText text;
    TRY(read_merge(ops, actor, &merge, &text, arena, reason));
    Status status = merge.is_new ? merge_to_new(ops, actor, &merge, &text, reason)
                                 : merge_from(ops, actor, &merge, 0, merge.count, true, reason);
    if (merge.target != 0)
        operations_notify(ops, CHANGE_POLICY, merge.target);
    TRY(status);
    operation_done();
    report_acted(ops, actor, request->report, request->reason, arena);
    return policy_head(ops, merge.target, actor, arena, ret_head);
}

/* clang-format off */
OPERATION(policy_merge, MergeRequest, PolicyHead,
    .help = "Merge policies into another one, or a new one without an owner; the answer is the policy that they became.",
    MODERATORS_ONLY, .audits = AUDITS(POLICY_MERGE) | AUDITS(POLICY_MERGE_NEW) | AUDITS(REPORT_ACT), .answers = &SCHEMA_POLICY,
    .api = {WEB_POST, "moderation/policies/{policy}/merge", .tag = "moderation"},
    .page = {"/policies/{policy}/merge", "merged", "The policies are merged. Voters keep their votes and are notified."},
    .command = {"policy merge", .print = policy_print_state},
    .inputs = {
        INPUT("policy", MergeRequest, policy, POLICY, .no_command = true, .help = "The policy."),
        INPUT("other", MergeRequest, other, POLICY, .no_command = true, .help = "With which."),
        INPUT("into", MergeRequest, into, WORD, .words = MERGE_INTO_WORDS, .fallback = "other", .no_command = true,
              .help = "What both become: the other one, this one, or a new policy without an owner."),
        INPUT("sources", MergeRequest, sources, TEXTS, .operand = true, .value = "ID…", .least = 1, .most = 20, .most_count = SOURCES_MAX,
              .no_page = true, .no_api = true, .help = "The policies that are merged."),
        INPUT("target", MergeRequest, target, LINE, .flag = "into", .value = "ID|new", .least = 1, .most = 20, .no_page = true,
              .no_api = true, .help = "The policy that they become."),
        INPUT("name", MergeRequest, name, LINE, .fallback = "", .most = POLICY_NAME_MAX, .help = "The name of a new policy; empty: that of the first."),
        MOVE_REASON_INPUT(MergeRequest, .least = 1, .command_optional = true), REPORT_INPUT(MergeRequest), TOKEN_INPUT(MergeRequest),
    });
/* clang-format on */
