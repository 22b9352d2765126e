/* new.c -- proposing a policy: a form, then a look at it with its cost and at policies with similar names, then one save. */
#include "operations/policy_create.h"
#include "site/pages.h"
#include "site/policies/edit_views.h"

/* The first letters of the name: whole characters. */
static Slice beginning_of(Slice name, size_t letters)
{
    size_t at = 0;
    for (; at < name.size && letters > 0; letters--) {
        size_t size = slice_utf8_length(slice_after(name, at));
        at += size > 0 ? size : 1;
    }
    return slice_of(name.data, at);
}

static size_t find_similar(Site *site, Slice prefix, Arena *arena, PolicySummary *summaries)
{
    PolicyPage page;
    PolicyQuery query = {
        .order = POLICIES_BY_NAME, .prefix = prefix, .position = SLICE_EMPTY, .limit = SIMILAR_MAX};
    size_t count = 0;
    if (policies_browse(site->app->policies, &query, arena, &page) != STATUS_OK)
        return 0;
    for (size_t i = 0; i < page.count; i++)
        if (policy_summary_get(site->summaries, page.policies[i].id, arena, &summaries[count]) ==
            STATUS_OK)
            count++;
    return count;
}

/* The longest beginning that other names share. A help that may fail: then nothing is shown. */
static void fill_similar(Site *site, NewView *view, Arena *arena)
{
    static const size_t LETTERS[] = {16, 10, 7};
    Slice name = slice_trim(form_typed(&view->form, "name"));
    if (name.size == 0 || !slice_is_utf8(name))
        return;
    for (size_t i = 0; i < sizeof LETTERS / sizeof LETTERS[0] && view->similar_count == 0; i++)
        view->similar_count =
            find_similar(site, beginning_of(name, LETTERS[i]), arena, view->similar);
}

static Status fill_new(WebRequest *request, void *of, Frame *frame)
{
    NewView *view = of;
    Form *form = &view->form;
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    const PolicyCreate *create = form->sent;
    VotingSettings settings;
    const VoterState *state;
    TRY(operations_settings(site->ops, arena, &settings));
    TRY(site_voter_state(request, &state));
    view->cost = settings.create_cost;
    view->percent = settings.withdrawal_percent;
    view->balance = state->balance;
    view->is_stale = form->status == STATUS_CONFLICT;
    if (!form->is_sent || view->is_stale) /* the same form goes on from what is stored now */
        form_type(form, "seen", id_text(state->version, arena));
    view->held = create != NULL && create->has_held ? create->held : view->cost;
    form_type(form, "held", arena_print(arena, "%lld", (long long)view->held));
    view->looks = create != NULL && (form->is_preview || view->is_stale ||
                                     form_fault_at(&form->fault, "held") != NULL);
    if (view->looks) {
        PolicyText text = {
            .name = SLICE_EMPTY, .description = SLICE_EMPTY, .rationale = SLICE_EMPTY};
        policy_words_apply(&create->words, &text);
        TRY(preview_view(site, &text, arena, &view->preview));
    }
    TRY(policy_form_fill(request, form, &view->choices));
    fill_similar(site, view, arena);
    *frame = (Frame){.title = view->is_stale ? SLICE("Your votes changed meanwhile")
                              : view->looks  ? SLICE("Look at it before you create it")
                                             : SLICE("Propose a policy"),
                     .here = "/policies/new"};
    return STATUS_OK;
}

static void draw_new(Buffer *out, const void *view)
{
    new_page(out, view);
}

static Slice new_leads(WebRequest *request, const void *sent, const void *answer)
{
    return policy_address(((const VoteSaved *)answer)->result.created,
                          ((const PolicyCreate *)sent)->words.name, web_arena(request));
}

FORM(policy_create, NewView, .path = "/policies/new", .fill = fill_new, .draw = draw_new,
     .leads = new_leads, .previews = true, .help = "The form to propose a policy.");
