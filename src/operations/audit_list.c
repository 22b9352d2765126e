/* audit_list.c -- lists of the audit log: the public one of moderation, and the one of admins. They change nothing. */
#include "operations/audit_list.h"

#include "operations/people.h"
#include "operations/policy_summary.h"
#include "operations/schema_macros.h"
#include "web/put.h"

enum { ROWS = 50 };

/* clang-format off */
static const ApiMember ACT[] = {
    FIELD("id", PublicAct, entry.id, .help = "Names it."),
    TIME("time", PublicAct, entry.time_us, .help = "When it was begun."),
    FIELD("kind", PublicAct, entry.word, .help = "What was done, as a word."),
    FIELD("sentence", PublicAct, sentence, .help = "The same for people."),
    FIELD("of", PublicAct, object_kind, .help = "What it was done to: policy, or empty."),
    FIELD("object", PublicAct, entry.act.object, OR_NULL, .help = "To which."),
    FIELD("other", PublicAct, entry.act.other, OR_NULL, .help = "And with which other, as in a merge."),
    FIELD("reason", PublicAct, entry.act.reason, OR_NULL, .help = "Why."),
    WORD("outcome", PublicAct, entry.outcome, AUDIT_OUTCOME_WORDS, .help = "What came of it; what was surely not done is not listed."),
};
SCHEMA(ACT, "Act", PublicAct, ACT, .help = "Something that was done by a role, as everybody may see it.");

static const ApiMember ACTS[] = {
    LIST("acts", PublicActList, acts, count, ACT, .help = "The newest first."),
    NEXT(PublicActList),
};
SCHEMA(ACTS, "Acts", PublicActList, ACTS, .help = "The public log of moderation.");

static const ApiMember ADMIN_ACT[] = {
    TIME("time", AuditLine, entry.time_us, .help = "When it began."),
    FIELD("kind", AuditLine, entry.word, .help = "What was done, as a word."),
    FIELD("of", AuditLine, object_kind, .help = "What it was done to, as a word; may be empty."),
    FIELD("object", AuditLine, entry.act.object, OR_NULL, .help = "To which."),
    FIELD("other", AuditLine, entry.act.other, OR_NULL, .help = "And to what else."),
    FIELD("actor", AuditLine, entry.act.actor, OR_NULL, .help = "Who; null: the site, or its command line."),
    FIELD("actor_name", AuditLine, actor, OR_NULL, .help = "What they are called."),
    FIELD("origin", AuditLine, entry.act.origin, OR_NULL, .help = "From where."),
    FIELD("instance", AuditLine, entry.instance, .help = "By which instance."),
    WORD("outcome", AuditLine, entry.outcome, AUDIT_OUTCOME_WORDS, .help = "What came of it."),
    FIELD("status", AuditLine, entry.status, OR_NULL, .help = "The same as the function returned it."),
    FIELD("reason", AuditLine, entry.act.reason, OR_NULL, .help = "Why."),
    FIELD("details", AuditLine, entry.act.details, OR_NULL, .help = "What changed."),
    FIELD("text", AuditLine, text, .help = "What was done, as a sentence."),
    FIELD("id", AuditLine, entry.id, .help = "Names it."),
};
SCHEMA(ADMIN_ACT, "AdminAct", AuditLine, ADMIN_ACT, .help = "Something that was done by a role, or by the site itself.");

static const ApiMember ACTIVITY[] = {
    LIST("acts", AuditLineList, lines, count, ADMIN_ACT, .help = "The newest first."),
    NEXT(AuditLineList),
};
SCHEMA(ADMIN_ACTIVITY, "AdminActivity", AuditLineList, ACTIVITY, .help = "A page of the audit log.");
/* clang-format on */

/* ---- For everybody ------------------------------------------------------------------------------------------------------------ */

static PublicAct public_act(Operations *ops, const AuditEntry *entry, Arena *arena)
{
    PublicAct view = {.entry = *entry,
                      .sentence = audit_kind_text(entry->act.kind),
                      .object_kind = audit_kind_object(entry->act.kind),
                      .object_name = SLICE_EMPTY,
                      .object_address = SLICE_EMPTY,
                      .other_name = SLICE_EMPTY,
                      .other_address = SLICE_EMPTY};
    bool is_policy = strcmp(view.object_kind, "policy") == 0;
    view.has_object = is_policy && entry->act.object != 0;
    view.has_other = is_policy && entry->act.other != 0;
    if (view.has_object)
        policy_summary_in_public(ops->summaries, entry->act.object, arena, &view.object_name,
                                 &view.object_address);
    if (view.has_other)
        policy_summary_in_public(ops->summaries, entry->act.other, arena, &view.other_name,
                                 &view.other_address);
    return view;
}

Status public_acts(Operations *ops, const PublicActQuery *want, Arena *arena,
                   PublicActList *ret_list)
{
    AuditEntry *entries;
    AuditQuery query = {.public_only = true,
                        .object_kind = want->policy != 0 ? "policy" : NULL,
                        .object = want->policy,
                        .before = want->before,
                        .limit = ROWS};
    PublicActList list = {.next = SLICE_EMPTY};
    TRY(audit_list(ops->app->audit, &query, arena, &entries, &list.count));
    list.acts = ARENA_ARRAY(arena, list.count, PublicAct);
    for (size_t i = 0; i < list.count; i++)
        list.acts[i] = public_act(ops, &entries[i], arena);
    if (list.count == ROWS) {
        Slice last = id_text(entries[ROWS - 1].id, arena);
        list.next = want->policy == 0
                        ? arena_print(arena, "?before=%.*s", SLICE_ARG(last))
                        : arena_print(arena, "?policy=%llu&before=%.*s",
                                      (unsigned long long)want->policy, SLICE_ARG(last));
    }
    *ret_list = list;
    return STATUS_OK;
}

static Status audit_public(Operations *ops, const Actor *actor, const PublicActQuery *request,
                           Arena *arena, PublicActList *ret_list, Reason *reason)
{
    (void)actor, (void)reason;
    TRY(public_acts(ops, request, arena, ret_list));
    if (ret_list->next.size > 0)
        ret_list->next =
            arena_print(arena, "/api/v1/moderation/acts%.*s", SLICE_ARG(ret_list->next));
    return STATUS_OK;
}

/* clang-format off */
OPERATION(audit_public, PublicActQuery, PublicActList, .help = "List what moderators did, to what and why; the public log.",
    .asks = true, .answers = &SCHEMA_ACTS,
    .api = {WEB_GET, "moderation/acts", .tag = "moderation", .cache_ms = 5000},
    .no_page = "/moderation shows it", .no_command = "`ostraka audit list --public` does it",
    .inputs = {
        INPUT("policy", PublicActQuery, policy, POLICY, .optional = true, .help = "Only what was done to this policy."),
        INPUT("before", PublicActQuery, before, VERSION, .optional = true, .help = "Where the page before ended, as `next` names it."),
    });
/* clang-format on */

/* ---- For admins --------------------------------------------------------------------------------------------------------------- */

/* A policy that is gone is called by its number. */
static Slice policy_label(Operations *ops, uint64_t policy, Arena *arena)
{
    PolicySummary summary;
    if (policy_summary_name(ops->summaries, policy, arena, &summary) == STATUS_OK &&
        summary.name.size > 0)
        return summary.name;
    return arena_print(arena, "policy %llu", (unsigned long long)policy);
}

static Slice report_label(Operations *ops, uint64_t report, Arena *arena)
{
    (void)ops;
    return arena_print(arena, "report %llu", (unsigned long long)report);
}

/* Where the object of an act can be looked at, and what it is called. */
static void fill_object(Operations *ops, const AuditAct *act, Arena *arena, AuditLine *line)
{
    static const struct {
        const char *object, *path;
        Slice (*label)(Operations *ops, uint64_t id, Arena *arena);
    } PLACES[] = {{"policy", "/policies/", policy_label},
                  {"account", "/admin/people/", account_label},
                  {"report", "/desk/reports/", report_label}};
    for (size_t i = 0; act->object != 0 && i < sizeof PLACES / sizeof PLACES[0]; i++)
        if (strcmp(line->object_kind, PLACES[i].object) == 0) {
            line->object =
                arena_print(arena, "%s%llu", PLACES[i].path, (unsigned long long)act->object);
            line->about = PLACES[i].label(ops, act->object, arena);
        }
}

static Status read_query(Operations *ops, const AuditListQuery *want, Arena *arena,
                         AuditQuery *query, Reason *reason)
{
    Account account;
    *query = (AuditQuery){.instance = want->instance,
                          .public_only = want->is_public,
                          .object_kind = want->policy != 0 ? "policy" : NULL,
                          .object = want->policy,
                          .has_actor = want->who.size > 0,
                          .has_kind = want->kind.size > 0,
                          .before = want->before,
                          .limit = want->limit != 0 ? want->limit : ROWS};
    if (query->has_actor) {
        Status status = accounts_find(ops->app->accounts, want->who, arena, &account);
        if (status == STATUS_NOT_FOUND)
            return reason_set(reason, STATUS_INVALID, "who", "there is no account \"%.*s\"",
                              SLICE_ARG(want->who));
        TRY(status);
        query->actor = account.id;
    }
    if (query->has_kind &&
        word_find(AUDIT_KIND_WORDS, want->kind, "", &query->kind, NULL) != STATUS_OK)
        return reason_set(reason, STATUS_INVALID, "kind", "there is no kind \"%.*s\"",
                          SLICE_ARG(want->kind));
    return STATUS_OK;
}

static Slice next_query(const AuditListQuery *want, Id last, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    Slice before = id_text(last, arena);
    buffer_text(&out, "?instance=");
    url_part_put(&out, want->instance);
    buffer_text(&out, "&who=");
    url_part_put(&out, want->who);
    buffer_text(&out, "&kind=");
    url_part_put(&out, want->kind);
    if (want->policy != 0)
        buffer_print(&out, "&policy=%llu", (unsigned long long)want->policy);
    buffer_print(&out, "&before=%.*s", SLICE_ARG(before));
    return arena_copy(arena, buffer_slice(&out));
}

Status audit_lines(Operations *ops, const AuditListQuery *want, Arena *arena,
                   AuditLineList *ret_list, Reason *reason)
{
    AuditQuery query;
    AuditEntry *entries;
    AuditLineList list = {.next = SLICE_EMPTY};
    TRY(read_query(ops, want, arena, &query, reason));
    TRY(audit_list(ops->app->audit, &query, arena, &entries, &list.count));
    list.lines = ARENA_ARRAY(arena, list.count, AuditLine);
    for (size_t i = 0; i < list.count; i++) {
        list.lines[i] = (AuditLine){.entry = entries[i],
                                    .text = audit_kind_text(entries[i].act.kind),
                                    .object_kind = audit_kind_object(entries[i].act.kind),
                                    .actor = account_label(ops, entries[i].act.actor, arena),
                                    .object = SLICE_EMPTY,
                                    .about = SLICE_EMPTY};
        fill_object(ops, &entries[i].act, arena, &list.lines[i]);
    }
    if (list.count == query.limit)
        list.next = next_query(want, entries[list.count - 1].id, arena);
    *ret_list = list;
    return STATUS_OK;
}

static Status audit_list_all(Operations *ops, const Actor *actor, const AuditListQuery *request,
                             Arena *arena, AuditLineList *ret_list, Reason *reason)
{
    (void)actor;
    TRY(audit_lines(ops, request, arena, ret_list, reason));
    if (ret_list->next.size > 0)
        ret_list->next =
            arena_print(arena, "/api/v1/admin/activity%.*s", SLICE_ARG(ret_list->next));
    return STATUS_OK;
}

/* One line an entry, whatever somebody typed as a reason. */
static void print_lines(const void *answer, Arena *arena, Buffer *out)
{
    const AuditLineList *list = answer;
    for (size_t i = 0; i < list->count; i++) {
        const AuditEntry *entry = &list->lines[i].entry;
        const AuditAct *act = &entry->act;
        Slice time = stamp_text(entry->time_us, arena);
        buffer_print(out, "%.*s  %-16.*s %-7s %6llu  by %-6llu %-17s ", SLICE_ARG(time),
                     SLICE_ARG(entry->word), list->lines[i].object_kind,
                     (unsigned long long)act->object, (unsigned long long)act->actor,
                     audit_outcome_text(entry->outcome));
        for (size_t j = 0; j < act->reason.size; j++)
            buffer_u8(out, (uint8_t)act->reason.data[j] < ' ' ? ' ' : (uint8_t)act->reason.data[j]);
        buffer_text(out, "\n");
    }
}

/* clang-format off */
OPERATION(audit_list_all, AuditListQuery, AuditLineList, .help = "List what was done by those with a role, newest first.",
    .access = WEB_ROLE, .roles = 1u << ROLE_ADMIN, .always = true, .threads = WEB_SAVE, .asks = true, .answers = &SCHEMA_ADMIN_ACTIVITY,
    .api = {WEB_GET, "admin/activity", .tag = "admin"}, .command = {"audit list", .print = print_lines}, .no_page = "/admin/activity shows it, with fields to filter by",
    .inputs = {
        INPUT("public", AuditListQuery, is_public, SWITCH, .fallback = "off", .no_api = true, .help = "Only what everybody may see, and without who did it."),
        INPUT("instance", AuditListQuery, instance, LINE, .fallback = "", .most = 200, .help = "Only of this instance, by its address."),
        INPUT("who", AuditListQuery, who, LINE, .fallback = "", .most = 300, .value = "NAME", .help = "Only by this person: name or e-mail address."),
        INPUT("kind", AuditListQuery, kind, LINE, .fallback = "", .most = 60, .value = "WORD", .help = "Only of this kind, as in person-rights."),
        INPUT("policy", AuditListQuery, policy, POLICY, .optional = true, .help = "Only what was done to this policy."),
        INPUT("limit", AuditListQuery, limit, SMALL, .fallback = "50", .least = 1, .most = AUDIT_LIST_MAX, .help = "At most so many."),
        INPUT("before", AuditListQuery, before, VERSION, .optional = true, .help = "Only older ones than this."),
    });
/* clang-format on */
