/* edit.c -- changing the text of a policy: form, preview, and what happens when two do it at once. */
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

/* Goes on from what is stored now, with what this editor wanted put on top of it. */
static Status fill_conflict(WebRequest *request, EditView *view, Id seen, const PolicyText *mine)
{
    Operations *ops = site_of(request)->ops;
    Policies *policies = ops->app->policies;
    Arena *arena = web_arena(request);
    PolicyRevision base, newest;
    PolicyText combined = *mine;
    Policy now;
    EditConflict *conflict = &view->conflict;
    TRY(policies_fresh(policies, view->head.policy.id, arena, &now));
    TRY(policies_revision(policies, now.id, now.revision, arena, &newest));
    conflict->has_base = find_base(site_of(request), &now, seen, arena, &base);
    const PolicyText *from = conflict->has_base ? &base.text : &now.text;
    TRY(text_change(ops, from, &now.text, arena, &conflict->theirs));
    TRY(text_change(ops, from, mine, arena, &conflict->mine));
    if (conflict->has_base)
        edit_combine(&base.text, &now.text, mine, &combined);
    for (size_t i = 0; i < conflict->theirs.count; i++)
        for (size_t k = 0; k < conflict->mine.count; k++)
            if (conflict->theirs.fields[i].label == conflict->mine.fields[k].label)
                conflict->both[conflict->both_count++] = conflict->mine.fields[k].label;
    conflict->editor = person_name(ops, newest.editor, arena);
    conflict->time_us = newest.time_us;
    policy_form_type(&view->form, &combined, arena);
    form_type(&view->form, "seen", id_text(now.version, arena));
    return STATUS_OK;
}

/* ---- The form -------------------------------------------------------------------------------------------------------------- */

static Status fill_edit(WebRequest *request, void *of, Frame *frame)
{
    EditView *view = of;
    Form *form = &view->form;
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    const PolicyEditRequest *edit = form->sent;
    uint64_t policy;
    TRY(form_thing(request, form, "policy", &policy, web_reason(request)));
    TRY(policy_head(site->ops, policy, site_actor(request), arena, &view->head));
    TRY(policy_check_edit(&view->head, web_reason(request)));
    PolicyText text = view->head.policy.text;
    if (edit != NULL)
        policy_words_apply(&edit->words, &text);
    if (!form->is_sent) {
        policy_form_type(form, &text, arena);
        form_type(form, "seen", id_text(view->head.policy.version, arena));
    } else if (form->status == STATUS_CONFLICT && edit != NULL) {
        form->fault.is_set = false; /* the page says it by both sides */
        TRY(fill_conflict(request, view, edit->seen, &text));
    } else if (form->is_preview) {
        TRY(preview_view(site, &text, arena, &view->preview));
        TRY(text_change(site->ops, &view->head.policy.text, &text, arena, &view->change));
    }
    TRY(policy_form_fill(request, form, &view->choices));
    *frame =
        (Frame){.title = arena_print(arena, "Edit %.*s", SLICE_ARG(view->head.policy.text.name))};
    return STATUS_OK;
}

static void draw_edit(Buffer *out, const void *view)
{
    edit_page(out, view);
}

static Slice edit_leads(WebRequest *request, const void *sent, const void *answer)
{
    const PolicyEdited *edited = answer;
    (void)sent;
    return arena_print(web_arena(request), "%.*s?done=%s", SLICE_ARG(edited->head.address),
                       edited->is_changed ? "edited" : "unchanged");
}

FORM(policy_edit, EditView, .path = "/policies/{policy}/edit", .fill = fill_edit, .draw = draw_edit,
     .leads = edit_leads, .previews = true, .help = "The form to edit a policy's text.");
