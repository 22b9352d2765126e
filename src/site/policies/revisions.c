/* revisions.c -- how the text of a policy came to be what it is: all revisions, one of them, and what changed between two. */
#include "draw/markdown.h"
#include "site/pages.h"
#include "site/policies/policy_form.h"
#include "site/policies/policy_views.h"

enum { LINES_AROUND = 2 };

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

static Status fields_of(Site *site, const PolicyText *text, Arena *arena, Fields *ret_fields)
{
    PolicyGroup *categories, *parties;
    size_t category_count, party_count;
    Policies *policies = site->app->policies;
    TRY(policies_groups(policies, GROUP_CATEGORY, arena, &categories, &category_count));
    TRY(policies_groups(policies, GROUP_PARTY, arena, &parties, &party_count));
    *ret_fields = (Fields){{text->name, group_text(categories, category_count, text->category),
                            group_text(parties, party_count, text->party), text->description,
                            text->rationale, policy_links_text(text, arena)}};
    return STATUS_OK;
}

Status text_change(Site *site, const PolicyText *before, const PolicyText *after, Arena *arena,
                   TextChange *ret_change)
{
    Fields old, new;
    TextChange change = {0};
    TRY(fields_of(site, before, arena, &old));
    TRY(fields_of(site, after, arena, &new));
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

static Status read_head(Site *site, uint64_t id, const Actor *viewer, Arena *arena,
                        PolicyHead *ret_head)
{
    PolicyHead head;
    TRY(policy_head(site->ops, id, viewer, arena, &head));
    if (head.is_hidden)
        return STATUS_NOT_FOUND;
    *ret_head = head;
    return STATUS_OK;
}

static Status entry_of(Site *site, const PolicyRevision *revision, const PolicyRevision *before,
                       Arena *arena, RevisionEntry *ret_entry)
{
    Fields old, new;
    RevisionEntry entry = {.revision = revision->revision,
                           .time_us = revision->time_us,
                           .editor = person_name(site->ops, revision->editor, arena),
                           .name = revision->text.name};
    if (before != NULL) {
        TRY(fields_of(site, &before->text, arena, &old));
        TRY(fields_of(site, &revision->text, arena, &new));
        for (size_t i = 0; i < REVISION_FIELDS; i++)
            if (!slice_equal(old.values[i], new.values[i]))
                entry.changed[entry.changed_count++] = LABELS[i];
    }
    *ret_entry = entry;
    return STATUS_OK;
}

static void fill_pager(RevisionsView *view, uint32_t newest, uint32_t oldest, Arena *arena)
{
    uint32_t all = view->head.policy.revision;
    Slice address = view->head.address;
    view->pager.from = all - newest + 1;
    view->pager.to = all - oldest + 1;
    view->pager.all = all;
    view->pager.before = view->pager.after = SLICE_EMPTY;
    if (newest < all)
        view->pager.before = arena_print(arena, "%.*s/revisions?before=%u", SLICE_ARG(address),
                                         newest + REVISIONS_PAGE + 1);
    if (oldest > 1)
        view->pager.after =
            arena_print(arena, "%.*s/revisions?before=%u", SLICE_ARG(address), oldest);
}

Status revisions_view(Site *site, uint64_t id, uint32_t before, const Actor *viewer, Arena *arena,
                      RevisionsView *ret_view)
{
    RevisionsView view = {0};
    PolicyRevision newer, older;
    TRY(read_head(site, id, viewer, arena, &view.head));
    uint32_t all = view.head.policy.revision;
    uint32_t newest = before == 0 || before > all ? all : before - 1;
    uint32_t oldest = newest > REVISIONS_PAGE ? newest - REVISIONS_PAGE + 1 : 1;
    if (newest == 0)
        return STATUS_NOT_FOUND;
    view.entries = ARENA_ARRAY(arena, REVISIONS_PAGE, RevisionEntry);
    TRY(policies_revision(site->app->policies, id, newest, arena, &newer));
    for (uint32_t n = newest; n >= oldest; n--) {
        if (n > 1)
            TRY(policies_revision(site->app->policies, id, n - 1, arena, &older));
        TRY(entry_of(site, &newer, n > 1 ? &older : NULL, arena, &view.entries[view.count++]));
        newer = older;
    }
    fill_pager(&view, newest, oldest, arena);
    *ret_view = view;
    return STATUS_OK;
}

/* ---- One of them --------------------------------------------------------------------------------------------------------- */

/* The older one comes first, whatever was asked for. */
static Status fill_other(Site *site, const RevisionQuery *want, Arena *arena, RevisionView *view)
{
    uint32_t against = want->against != 0 ? want->against : want->revision - 1;
    if (against == 0 || against == want->revision)
        return STATUS_OK;
    TRY(policies_revision(site->app->policies, want->policy, against, arena, &view->other));
    if (against > want->revision) {
        PolicyRevision swapped = view->revision;
        view->revision = view->other;
        view->other = swapped;
    }
    view->has_other = true;
    return text_change(site, &view->other.text, &view->revision.text, arena, &view->change);
}

Status revision_view(Site *site, const RevisionQuery *want, const Actor *viewer, Arena *arena,
                     RevisionView *ret_view)
{
    RevisionView view = {0};
    TRY(read_head(site, want->policy, viewer, arena, &view.head));
    if (want->revision > view.head.policy.revision || want->against > view.head.policy.revision)
        return STATUS_NOT_FOUND;
    TRY(policies_revision(site->app->policies, want->policy, want->revision, arena,
                          &view.revision));
    TRY(fill_other(site, want, arena, &view));
    view.editor = person_name(site->ops, view.revision.editor, arena);
    view.description = markdown_html(view.revision.text.description, arena);
    view.rationale = markdown_html(view.revision.text.rationale, arena);
    *ret_view = view;
    return STATUS_OK;
}

/* ---- Requests ---------------------------------------------------------------------------------------------------------- */

enum { P_POLICY, P_BEFORE, P_NEWER, P_OLDER }; /* of the list */
enum { P_REVISION = P_POLICY + 1, P_AGAINST }; /* of one, after its policy */

/* The form of the list names two; they have an address of their own. */
static bool lead_to_two(WebRequest *request, const PolicyHead *head)
{
    uint32_t newer = (uint32_t)web_number(request, P_NEWER),
             older = (uint32_t)web_number(request, P_OLDER);
    Slice address = head->address;
    if (newer == 0 || older == 0)
        return false;
    web_redirect(request, 303,
                 arena_print(web_arena(request), "%.*s/revisions/%u?against=%u", SLICE_ARG(address),
                             newer, older));
    return true;
}

static Status show_revisions(WebRequest *request)
{
    RevisionsView view;
    Arena *arena = web_arena(request);
    TRY(revisions_view(site_of(request), web_id(request, P_POLICY),
                       (uint32_t)web_number(request, P_BEFORE), site_actor(request), arena, &view));
    if (lead_to_two(request, &view.head))
        return STATUS_OK;
    Frame frame = {
        .title = arena_print(arena, "%.*s: revisions", SLICE_ARG(view.head.policy.text.name))};
    Buffer *out = page_begin(request, &frame);
    revisions_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_revision(WebRequest *request)
{
    RevisionView view;
    Arena *arena = web_arena(request);
    RevisionQuery want = {.policy = web_id(request, P_POLICY),
                          .revision = (uint32_t)web_number(request, P_REVISION),
                          .against = (uint32_t)web_number(request, P_AGAINST)};
    TRY(revision_view(site_of(request), &want, site_actor(request), arena, &view));
    Frame frame = {.title =
                       arena_print(arena, "%.*s: revision %u",
                                   SLICE_ARG(view.head.policy.text.name), view.revision.revision)};
    Buffer *out = page_begin(request, &frame);
    revision_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

#define REVISION(field, place, words)                                         \
    {                                                                         \
        field, place, WEB_NUMBER, .optional = place == WEB_QUERY, .least = 1, \
                                  .most = POLICY_REVISIONS_MAX, .help = words \
    }

static const WebRoute ROUTES[] = {
    {WEB_GET, "/policies/{policy}/revisions", show_revisions, .cache_ms = 1000,
     .help = "All revisions of a policy's text, the newest first.",
     .params = {[P_POLICY] = {"policy", WEB_PATH, WEB_SLUG, .help = "The policy."},
                [P_BEFORE] = {"before", WEB_QUERY, WEB_NUMBER, .optional = true, .least = 2,
                              .most = POLICY_REVISIONS_MAX + REVISIONS_PAGE + 1,
                              .help = "Only revisions before this one."},
                [P_NEWER] =
                    REVISION("newer", WEB_QUERY, "Leads to this one compared with `older`."),
                [P_OLDER] = REVISION("older", WEB_QUERY, "See `newer`.")}},
    {WEB_GET, "/policies/{policy}/revisions/{revision}", show_revision, .cache_ms = 10000,
     .help = "One revision, and what it changed.",
     .params = {[P_POLICY] = {"policy", WEB_PATH, WEB_SLUG, .help = "The policy."},
                [P_REVISION] = REVISION("revision", WEB_PATH, "1, 2, …"),
                [P_AGAINST] = REVISION("against", WEB_QUERY,
                                       "The revision to compare with; the one before it.")}},
};
ROUTE_TABLE(REVISIONS, ROUTES);
