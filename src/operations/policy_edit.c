/* policy_edit.c -- changing the text of a policy: its owner, or somebody with the role, whose edit is in the audit log.
 *
 * The new text is one conditional update on the version that the editor saw: there or not. The same text again changes nothing. A crash
 * before it leaves an audit entry whose outcome is not known; notices and e-mails are made from the text itself (news). */
#include "operations/policy_edit.h"

void policy_words_apply(const PolicyWords *words, PolicyText *text)
{
    if (words->has_name)
        text->name = words->name;
    if (words->has_description)
        text->description = words->description;
    if (words->has_rationale)
        text->rationale = words->rationale;
    if (words->has_category)
        text->category = words->category;
    if (words->has_party)
        text->party = words->party;
    if (!words->has_links)
        return;
    CHECK(words->links.count <= POLICY_LINKS_MAX);
    text->link_count = words->links.count;
    for (size_t i = 0; i < text->link_count; i++)
        text->links[i] = slice_trim(words->links.texts[i]);
}

/* The check stops at the first fault, so that one is mended and the rest looked at, until nothing is left. */
size_t policy_text_faults(PolicyText text, Reason ret_reasons[OPERATION_FAULTS_MAX])
{
    size_t count = 0;
    while (count < OPERATION_FAULTS_MAX &&
           policy_check_text(&text, &ret_reasons[count]) != STATUS_OK) {
        const char *field = ret_reasons[count++].field;
        if (strcmp(field, "name") == 0)
            text.name = SLICE("Name");
        else if (strcmp(field, "description") == 0)
            text.description = SLICE_EMPTY;
        else if (strcmp(field, "rationale") == 0)
            text.rationale = SLICE_EMPTY;
        else if (strcmp(field, "links") == 0)
            text.link_count = 0;
        else
            text.category = 1;
    }
    return count;
}

Slice policy_links_text(const PolicyText *text, Arena *arena)
{
    BUFFER_SCOPE Buffer lines = {0};
    for (size_t i = 0; i < text->link_count; i++) {
        buffer_text(&lines, i > 0 ? "\n" : "");
        buffer_bytes(&lines, text->links[i]);
    }
    return arena_copy(arena, buffer_slice(&lines));
}

Status policy_check_edit(const PolicyHead *head, Reason *reason)
{
    if (!head->may_edit)
        return reason_set(reason, STATUS_DENIED, "",
                          "only its owner and editors can change the text of this policy");
    if (!policy_is_open(head->state))
        return reason_set(reason, STATUS_REFUSED, "", "a policy that is %s cannot be edited",
                          policy_state_text(head->state));
    return STATUS_OK;
}

static Status policy_edit(Operations *ops, const Actor *actor, const PolicyEditRequest *request,
                          Arena *arena, PolicyEdited *ret_edited, Reason *reason)
{
    PolicyHead head;
    Id entry;
    TRY(policy_head(ops, request->policy, actor, arena, &head));
    TRY(policy_check_edit(&head, reason));
    PolicyText text = head.policy.text;
    policy_words_apply(&request->words, &text);
    TRY(policy_check_text(&text, reason));
    AuditAct act = {.kind = AUDIT_POLICY_EDIT, .object = request->policy, .reason = SLICE_EMPTY};
    TRY(head.is_owner ? operation_audit_own(ops, actor, "policy edit", &entry, reason)
                      : operation_audit(ops, actor, &act, &entry, reason));
    Status status = policies_edit(ops->app->policies, request->policy,
                                  request->has_seen ? request->seen : head.policy.version, &text,
                                  actor_id(actor), reason);
    operations_notify(ops, CHANGE_POLICY, request->policy);
    TRY(operation_audit_end(ops, entry, status));
    operation_done();
    TRY(policy_head(ops, request->policy, actor, arena, &ret_edited->head));
    ret_edited->is_changed = ret_edited->head.policy.revision != head.policy.revision;
    return STATUS_OK;
}

static size_t edit_faults(Operations *ops, const Actor *actor, const void *request, Arena *arena,
                          Reason *ret_reasons)
{
    const PolicyEditRequest *edit = request;
    PolicyHead head;
    if (policy_head(ops, edit->policy, actor, arena, &head) != STATUS_OK)
        return 0;
    policy_words_apply(&edit->words, &head.policy.text);
    return policy_text_faults(head.policy.text, ret_reasons);
}

static void print_edited(const void *answer, Arena *arena, Buffer *out)
{
    const PolicyEdited *edited = answer;
    (void)arena;
    buffer_print(out, "policy %llu is %s\n", (unsigned long long)edited->head.policy.id,
                 edited->is_changed ? "edited" : "as it was");
}

/* clang-format off */
OPERATION(policy_edit, PolicyEditRequest, PolicyEdited, .help = "Change the text of a policy; what is left out stays as it is.",
    .access = WEB_LOGIN, .whose = WEB_OWN_OR_ROLE, .roles = 1u << ROLE_EDIT_POLICIES, .audits = AUDITS(POLICY_EDIT) | AUDITS(PERSON_AS),
    .answers = &SCHEMA_POLICY, .faults = edit_faults, .body_bytes = POLICY_WORDS_BYTES, .api = {WEB_PATCH, "policies/{policy}", .tag = "policies"},
    .command = {"policy edit", .print = print_edited}, .page = {"/policies/{policy}/edit", "edited", "The new text is published."},
    .inputs = {
        INPUT("policy", PolicyEditRequest, policy, POLICY, .operand = true, .help = "The policy."),
        POLICY_WORD_INPUTS(PolicyEditRequest, words, .optional = true),
        INPUT("seen", PolicyEditRequest, seen, VERSION, .if_match = true, .command_optional = true, GIVEN(PolicyEditRequest, has_seen), .help = "The version of the text that this is a change of."),
    });
/* clang-format on */
