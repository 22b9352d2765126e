/* edit.c -- changing the text of a policy: form, preview, and what happens when two do it at once.
 *
 * A crash between two steps: the new text is one conditional update, there or not; afterwards only lists in memory are told, which
 * learn of it by themselves in seconds. */
#include "draw/markdown.h"
#include "operations/policy_edit.h"
#include "site/pages.h"
#include "site/policies/edit_views.h"

enum { BASE_LOOKED_AT = 50 }; /* revisions that are searched for what an editor began from */

/* ---- Previews ---------------------------------------------------------------------------------------------------------- */

static Slice name_of(const PolicyGroup *groups, size_t count, uint64_t id)
{
    for (size_t i = 0; i < count; i++)
        if (groups[i].id == id)
            return groups[i].name;
    return SLICE_EMPTY;
}

Status preview_view(Site *site, const PolicyText *text, Arena *arena, PreviewView *ret_view)
{
    PolicyGroup *categories, *parties;
    size_t category_count, party_count;
    Policies *policies = site->app->policies;
    TRY(policies_groups(policies, GROUP_CATEGORY, arena, &categories, &category_count));
    TRY(policies_groups(policies, GROUP_PARTY, arena, &parties, &party_count));
    *ret_view = (PreviewView){.name = text->name,
                              .category_name = name_of(categories, category_count, text->category),
                              .party_name = name_of(parties, party_count, text->party),
                              .description = markdown_html(text->description, arena),
                              .rationale = markdown_html(text->rationale, arena),
                              .text = *text};
    return STATUS_OK;
}

/* ---- Who may, and when ------------------------------------------------------------------------------------------------- */

enum { P_POLICY, P_ACT, P_SEEN, P_FORM };

static Status begin(WebRequest *request, EditView *view)
{
    TRY(policy_head(site_of(request)->ops, web_id(request, P_POLICY), site_actor(request),
                    web_arena(request), &view->head));
    view->viewer = site_viewer(request);
    return policy_check_edit(&view->head, web_reason(request));
}

static Status show(WebRequest *request, EditView *view, int code)
{
    Arena *arena = web_arena(request);
    TRY(policy_form_groups(site_of(request), arena, &view->form));
    Frame frame = {.title =
                       arena_print(arena, "Edit %.*s", SLICE_ARG(view->head.policy.text.name))};
    Buffer *out = page_begin(request, &frame);
    edit_page(out, view);
    page_end(request, out);
    web_code(request, code);
    return STATUS_OK;
}

static Status show_form(WebRequest *request)
{
    EditView view = {0};
    TRY(begin(request, &view));
    policy_form_show(&view.head.policy.text, web_arena(request), &view.form);
    view.seen = id_text(view.head.policy.version, web_arena(request));
    return show(request, &view, 200);
}

/* ---- Two at once --------------------------------------------------------------------------------------------------------- */

/* What the editor began from, among the last revisions. */
static bool find_base(Site *site, const Policy *policy, Id seen, Arena *arena,
                      PolicyRevision *ret_base)
{
    for (uint32_t i = 0; i < BASE_LOOKED_AT && i < policy->revision; i++)
        if (policies_revision(site->app->policies, policy->id, policy->revision - i, arena,
                              ret_base) == STATUS_OK &&
            id_equal(ret_base->version, seen))
            return true;
    return false;
}

static bool links_equal(const PolicyText *a, const PolicyText *b)
{
    bool equal = a->link_count == b->link_count;
    for (size_t i = 0; equal && i < a->link_count; i++)
        equal = slice_equal(a->links[i], b->links[i]);
    return equal;
}

void edit_combine(const PolicyText *base, const PolicyText *now, const PolicyText *mine,
                  PolicyText *ret_text)
{
    PolicyText text = *mine;
    if (slice_equal(mine->name, base->name))
        text.name = now->name;
    if (slice_equal(mine->description, base->description))
        text.description = now->description;
    if (slice_equal(mine->rationale, base->rationale))
        text.rationale = now->rationale;
    if (mine->category == base->category)
        text.category = now->category;
    if (mine->party == base->party)
        text.party = now->party;
    if (links_equal(mine, base)) {
        memcpy(text.links, now->links, sizeof text.links);
        text.link_count = now->link_count;
    }
    *ret_text = text;
}

static void fill_both(EditConflict *conflict)
{
    for (size_t i = 0; i < conflict->theirs.count; i++)
        for (size_t k = 0; k < conflict->mine.count; k++)
            if (conflict->theirs.fields[i].label == conflict->mine.fields[k].label)
                conflict->both[conflict->both_count++] = conflict->mine.fields[k].label;
}

/* Goes on from what stands now, with what this editor wanted put on top of it. */
static Status show_conflict(WebRequest *request, EditView *view, Id seen, const PolicyText *mine)
{
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    PolicyRevision base, newest;
    PolicyText combined = *mine;
    Policy now;
    EditConflict *conflict = &view->conflict;
    TRY(policies_fresh(site->app->policies, view->head.policy.id, arena, &now));
    TRY(policies_revision(site->app->policies, now.id, now.revision, arena, &newest));
    conflict->has_base = find_base(site, &now, seen, arena, &base);
    const PolicyText *from = conflict->has_base ? &base.text : &now.text;
    TRY(text_change(site, from, &now.text, arena, &conflict->theirs));
    TRY(text_change(site, from, mine, arena, &conflict->mine));
    if (conflict->has_base)
        edit_combine(&base.text, &now.text, mine, &combined);
    fill_both(conflict);
    conflict->editor = person_name(site->ops, newest.editor, arena);
    conflict->time_us = newest.time_us;
    view->is_conflict = true;
    view->seen = id_text(now.version, arena);
    policy_form_show(&combined, arena, &view->form);
    return show(request, view, 409);
}

/* ---- Saving -------------------------------------------------------------------------------------------------------------- */

enum { ACT_SAVE, ACT_PREVIEW };

static Status show_fault(WebRequest *request, EditView *view, const Reason *reason)
{
    view->form.fault = policy_form_fault(reason, web_arena(request));
    return show(request, view, 422);
}

static Status show_preview(WebRequest *request, EditView *view, const PolicyText *text)
{
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    TRY(preview_view(site, text, arena, &view->preview));
    TRY(text_change(site, &view->head.policy.text, text, arena, &view->change));
    view->has_preview = true;
    return show(request, view, 200);
}

static Status show_unknown(WebRequest *request, const EditView *view)
{
    Frame frame = {.title = SLICE("We do not know whether it was saved"), .is_narrow = true};
    Buffer *out = page_begin(request, &frame);
    edit_unknown_page(out, view);
    page_end(request, out);
    web_code(request, 503);
    return STATUS_OK;
}

static Status save(WebRequest *request, EditView *view, Id seen, const PolicyText *text)
{
    Reason reason = {0};
    PolicyEdited edited;
    PolicyEditRequest edit = {.policy = view->head.policy.id,
                              .words = policy_words_of(text),
                              .seen = seen,
                              .has_seen = true};
    Status status = operation_run(site_of(request)->ops, &OPERATION_policy_edit,
                                  site_actor(request), &edit, web_arena(request), &edited, &reason);
    if (status == STATUS_CONFLICT)
        return show_conflict(request, view, seen, text);
    if (status == STATUS_UNKNOWN)
        return show_unknown(request, view);
    if (form_can_be_corrected(status))
        return show_fault(request, view, &reason);
    *web_reason(request) = reason;
    TRY(status);
    site_done(request, edited.head.address, edited.is_changed ? "edited" : "unchanged", 0);
    return STATUS_OK;
}

static Status take_form(WebRequest *request)
{
    EditView view = {0};
    PolicyText text;
    Id seen;
    TRY(begin(request, &view));
    policy_form_read(request, P_FORM, &view.form);
    view.seen = web_text(request, P_SEEN);
    if (id_from_text(view.seen, &seen) != STATUS_OK)
        return reason_set(web_reason(request), STATUS_INVALID, "seen",
                          "must be the version that the form came with");
    if (policy_form_text(&view.form, &text) != STATUS_OK) {
        view.form.fault = policy_form_faults(&view.form, web_arena(request));
        return show(request, &view, 422);
    }
    return web_word(request, P_ACT) == ACT_PREVIEW ? show_preview(request, &view, &text)
                                                   : save(request, &view, seen, &text);
}

static const char *const ACTS[] = {"save", "preview", NULL};

static const WebRoute ROUTES[] = {
    {WEB_GET, "/policies/{policy}/edit", show_form, .access = WEB_LOGIN, .whose = WEB_OWN_OR_ROLE,
     .roles = 1u << ROLE_EDIT_POLICIES, .help = "The form to edit a policy's text.",
     .params = {[P_POLICY] = {"policy", WEB_PATH, WEB_SLUG, .help = "The policy."}}},
    {WEB_POST, "/policies/{policy}/edit", take_form, .access = WEB_LOGIN, .whose = WEB_OWN_OR_ROLE,
     .roles = 1u << ROLE_EDIT_POLICIES, .body_bytes = POLICY_FORM_BYTES,
     .help = "Shows a preview of a new text, or saves it.",
     .params = {[P_POLICY] = {"policy", WEB_PATH, WEB_SLUG, .help = "The policy."},
                [P_ACT] = {"act", WEB_FORM, WEB_WORD, .words = ACTS, .fallback = "save",
                           .help = "Whether to save or to look at it first."},
                [P_SEEN] = {"seen", WEB_FORM, WEB_OPAQUE, .least = 1, .most = 64,
                            .help = "The version that this is a change of."},
                POLICY_FORM_PARAMS}},
};
ROUTE_TABLE(EDIT, ROUTES);
