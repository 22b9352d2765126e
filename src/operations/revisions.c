/* revisions.c -- how the text of a policy came to be what it is: all revisions, one of them, and what changed between two. */
#include "operations/revisions.h"

#include "draw/markdown.h"
#include "operations/policy_text.h"
#include "operations/schema_macros.h"

enum { LINES_AROUND = 2 };

/* clang-format off */
static const ApiMember REVISION_ENTRY[] = {
    FIELD("revision", RevisionEntry, revision, .help = "Its number."),
    TIME("time", RevisionEntry, time_us, .help = "When it was saved."),
    FIELD("editor", RevisionEntry, editor.name, .help = "By whom."),
    FIELD("editor_real_name", RevisionEntry, editor.real_name, OR_NULL, .help = "Their real name, where they have it shown to everybody."),
    FIELD("name", RevisionEntry, name, .help = "What the policy was called."),
    MANY("changed", API_LABELS, RevisionEntry, changed, changed_count, NULL, .help = "Which parts differ from the one before."),
};
SCHEMA(REVISION_ENTRY, "RevisionEntry", RevisionEntry, REVISION_ENTRY, .help = "A revision in a list.");

static const ApiMember REVISIONS[] = {
    FIELD("policy", RevisionsView, head.policy.id, .help = "The policy."),
    LIST("revisions", RevisionsView, entries, count, REVISION_ENTRY, .help = "The newest first."),
    NEXT(RevisionsView),
};
SCHEMA(REVISIONS, "Revisions", RevisionsView, REVISIONS, .help = "How a text came to be what it is.");

static const ApiMember REVISION[] = {
    FIELD("policy", RevisionView, head.policy.id, .help = "The policy."),
    FIELD("revision", RevisionView, revision.revision, .help = "Its number."),
    FIELD("version", RevisionView, revision.version, .help = "Of this text."),
    TIME("time", RevisionView, revision.time_us, .help = "When it was saved."),
    FIELD("editor", RevisionView, editor.name, .help = "By whom."),
    FIELD("editor_real_name", RevisionView, editor.real_name, OR_NULL, .help = "Their real name, where they have it shown to everybody."),
    POLICY_TEXT_FIELDS(RevisionView, revision.text),
};
SCHEMA(REVISION, "Revision", RevisionView, REVISION, .help = "A text that stood once.");
/* clang-format on */

/* ---- What changed ------------------------------------------------------------------------------------------------------ */

static Slice group_text(const PolicyGroup *groups, size_t count, uint64_t id)
{
    for (size_t i = 0; i < count; i++)
        if (groups[i].id == id)
            return groups[i].name;
    return SLICE("none");
}

/* A text as lines that can be compared: a row for each of its fields. */
typedef struct Fields {
    Slice values[REVISION_FIELDS];
} Fields;
static const char *const LABELS[REVISION_FIELDS] = {"Name",         "Category", "Party",
                                                    "What it says", "Why",      "Links"};

static Status fields_of(Operations *ops, const PolicyText *text, Arena *arena, Fields *ret_fields)
{
    PolicyGroup *categories, *parties;
    size_t category_count, party_count;
    Policies *policies = ops->app->policies;
    TRY(policies_groups(policies, GROUP_CATEGORY, arena, &categories, &category_count));
    TRY(policies_groups(policies, GROUP_PARTY, arena, &parties, &party_count));
    *ret_fields = (Fields){{text->name, group_text(categories, category_count, text->category),
                            group_text(parties, party_count, text->party), text->description,
                            text->rationale, policy_links_text(text, arena)}};
    return STATUS_OK;
}

Status text_change(Operations *ops, const PolicyText *before, const PolicyText *after, Arena *arena,
                   TextChange *ret_change)
{
    Fields old, new;
    TextChange change = {0};
    TRY(fields_of(ops, before, arena, &old));
    TRY(fields_of(ops, after, arena, &new));
    for (size_t i = 0; i < REVISION_FIELDS; i++) {
        if (slice_equal(old.values[i], new.values[i]))
            continue;
        Diff diff = diff_texts(old.values[i], new.values[i], arena);
        change.fields[change.count++] =
            (FieldChange){.label = LABELS[i],
                          .before = old.values[i],
                          .after = new.values[i],
                          .diff = diff_shorten(&diff, LINES_AROUND, arena)};
    }
    *ret_change = change;
    return STATUS_OK;
}

/* ---- All of them ------------------------------------------------------------------------------------------------------- */

static Status read_head(Operations *ops, uint64_t id, const Actor *viewer, Arena *arena,
                        PolicyHead *ret_head)
{
    PolicyHead head;
    TRY(policy_head(ops, id, viewer, arena, &head));
    if (head.is_hidden)
        return STATUS_NOT_FOUND;
    *ret_head = head;
    return STATUS_OK;
}

static Status entry_of(Operations *ops, const PolicyRevision *revision,
                       const PolicyRevision *before, Arena *arena, RevisionEntry *ret_entry)
{
    Fields old, new;
    RevisionEntry entry = {.revision = revision->revision,
                           .time_us = revision->time_us,
                           .editor = person_public_name(ops, revision->editor, arena),
                           .name = revision->text.name};
    if (before != NULL) {
        TRY(fields_of(ops, &before->text, arena, &old));
        TRY(fields_of(ops, &revision->text, arena, &new));
        for (size_t i = 0; i < REVISION_FIELDS; i++)
            if (!slice_equal(old.values[i], new.values[i]))
                entry.changed[entry.changed_count++] = LABELS[i];
    }
    *ret_entry = entry;
    return STATUS_OK;
}

Status revisions_view(Operations *ops, uint64_t id, uint32_t before, const Actor *viewer,
                      Arena *arena, RevisionsView *ret_view)
{
    RevisionsView view = {0};
    PolicyRevision newer, older;
    TRY(read_head(ops, id, viewer, arena, &view.head));
    uint32_t all = view.head.policy.revision;
    uint32_t newest = before == 0 || before > all ? all : before - 1;
    uint32_t oldest = newest > REVISIONS_PAGE ? newest - REVISIONS_PAGE + 1 : 1;
    if (newest == 0)
        return STATUS_NOT_FOUND;
    view.entries = ARENA_ARRAY(arena, REVISIONS_PAGE, RevisionEntry);
    TRY(policies_revision(ops->app->policies, id, newest, arena, &newer));
    for (uint32_t n = newest; n >= oldest; n--) {
        if (n > 1)
            TRY(policies_revision(ops->app->policies, id, n - 1, arena, &older));
        TRY(entry_of(ops, &newer, n > 1 ? &older : NULL, arena, &view.entries[view.count++]));
        newer = older;
    }
    view.next = oldest > 1 ? arena_print(arena, API_PATH "policies/%llu/revisions?before=%u",
                                         (unsigned long long)id, oldest)
                           : SLICE_EMPTY;
    *ret_view = view;
    return STATUS_OK;
}

typedef struct RevisionList {
    uint64_t policy;
    uint32_t before;
} RevisionList;

static Status revision_list(Operations *ops, const Actor *actor, const RevisionList *request,
                            Arena *arena, RevisionsView *ret_view, Reason *reason)
{
    (void)reason;
    return revisions_view(ops, request->policy, request->before, actor, arena, ret_view);
}

/* clang-format off */
#define POLICY(type) INPUT("policy", type, policy, POLICY, .operand = true, .help = "The policy.")
OPERATION(revision_list, RevisionList, RevisionsView, .help = "List the revisions of a policy's text, the newest first.",
    .asks = true, .answers = &SCHEMA_REVISIONS, .api = {WEB_GET, "policies/{policy}/revisions", .tag = "policies"},
    .no_page = "/policies/{policy}/revisions lists them", .command = {.words = "policy revisions"},
    .inputs = {POLICY(RevisionList), INPUT("before", RevisionList, before, SMALL, .fallback = "0", .most = INT32_MAX, .help = "Only revisions before this one; 0: from the newest.")});
/* clang-format on */

/* ---- One of them --------------------------------------------------------------------------------------------------------- */

/* The older one comes first, whatever was asked for. */
static Status fill_other(Operations *ops, const RevisionQuery *want, Arena *arena,
                         RevisionView *view)
{
    uint32_t against = want->against != 0 ? want->against : want->revision - 1;
    if (against == 0 || against == want->revision)
        return STATUS_OK;
    TRY(policies_revision(ops->app->policies, want->policy, against, arena, &view->other));
    if (against > want->revision) {
        PolicyRevision swapped = view->revision;
        view->revision = view->other;
        view->other = swapped;
    }
    view->has_other = true;
    return text_change(ops, &view->other.text, &view->revision.text, arena, &view->change);
}

Status revision_view(Operations *ops, const RevisionQuery *want, const Actor *viewer, Arena *arena,
                     RevisionView *ret_view)
{
    RevisionView view = {0};
    TRY(read_head(ops, want->policy, viewer, arena, &view.head));
    if (want->revision > view.head.policy.revision || want->against > view.head.policy.revision)
        return STATUS_NOT_FOUND;
    TRY(policies_revision(ops->app->policies, want->policy, want->revision, arena, &view.revision));
    TRY(fill_other(ops, want, arena, &view));
    view.editor = person_public_name(ops, view.revision.editor, arena);
    view.description = markdown_html(view.revision.text.description, arena);
    view.rationale = markdown_html(view.revision.text.rationale, arena);
    *ret_view = view;
    return STATUS_OK;
}

static Status revision_show(Operations *ops, const Actor *actor, const RevisionQuery *request,
                            Arena *arena, RevisionView *ret_view, Reason *reason)
{
    (void)reason;
    return revision_view(ops, request, actor, arena, ret_view);
}

/* clang-format off */
OPERATION(revision_show, RevisionQuery, RevisionView, .help = "Show one revision of a policy's text.",
    .asks = true, .answers = &SCHEMA_REVISION, .threads = WEB_COMPUTE, .api = {WEB_GET, "policies/{policy}/revisions/{revision}", .tag = "policies"},
    .no_page = "/policies/{policy}/revisions/{revision} shows it", .command = {.words = "policy revision"},
    .inputs = {POLICY(RevisionQuery), INPUT("revision", RevisionQuery, revision, SMALL, .operand = true, .least = 1, .most = INT32_MAX, .help = "Its number.")});
/* clang-format on */
