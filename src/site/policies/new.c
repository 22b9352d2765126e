/* new.c -- proposing a policy: a form, then a look at it with its cost and at policies with similar names, then one save.
 *
 * The policy and its first votes are one entry in the proposer's chain (votes_save); the form's token makes a form that is sent
 * twice one policy, and `seen` the version of the votes that the cost was computed from. A crash between two steps is settled
 * by votes: a policy whose entry is not in the chain never comes to be. */
#include "operations/policy_create.h"
#include "site/pages.h"
#include "site/policies/edit_views.h"

enum { ACT_PREVIEW, ACT_CREATE, ACT_CHANGE };
enum { P_ACT, P_SEEN, P_TOKEN, P_HELD, P_FORM };

/* ---- The page ---------------------------------------------------------------------------------------------------------- */

static Status fill_cost(WebRequest *request, NewView *view)
{
    VotingSettings settings;
    const VoterState *state;
    TRY(operations_settings(site_of(request)->ops, web_arena(request), &settings));
    TRY(site_voter_state(request, &state));
    view->cost = settings.create_cost;
    view->percent = settings.withdrawal_percent;
    view->balance = state->balance;
    if (view->held == 0)
        view->held = view->cost;
    return STATUS_OK;
}

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
    Slice name = slice_trim(view->form.name);
    if (name.size == 0 || !slice_is_utf8(name))
        return;
    for (size_t i = 0; i < sizeof LETTERS / sizeof LETTERS[0] && view->similar_count == 0; i++)
        view->similar_count =
            find_similar(site, beginning_of(name, LETTERS[i]), arena, view->similar);
}

static Status show(WebRequest *request, NewView *view, int code)
{
    static const Slice TITLES[] = {[NEW_WRITE] = {"Propose a policy", 16},
                                   [NEW_PREVIEW] = {"Look at it before you create it", 31},
                                   [NEW_STALE] = {"Your votes changed meanwhile", 28},
                                   [NEW_UNKNOWN] = {"We do not know whether it was created", 37}};
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    TRY(fill_cost(request, view));
    TRY(policy_form_groups(site, arena, &view->form));
    if (view->form.name.size > 0)
        fill_similar(site, view, arena);
    view->viewer = site_viewer(request);
    Frame frame = {.title = TITLES[view->step], .here = "/policies/new"};
    Buffer *out = page_begin(request, &frame);
    new_page(out, view);
    page_end(request, out);
    web_code(request, code);
    return STATUS_OK;
}

static Status show_form(WebRequest *request)
{
    const World *world = &site_of(request)->app->world;
    Arena *arena = web_arena(request);
    const VoterState *state;
    NewView view = {.step = NEW_WRITE,
                    .token = id_text(id_new(world->clock, world->random), arena)};
    TRY(site_voter_state(request, &state));
    view.seen = id_text(state->version, arena);
    view.form.name = view.form.description = view.form.rationale = view.form.links = SLICE_EMPTY;
    return show(request, &view, 200);
}

/* ---- Creating ---------------------------------------------------------------------------------------------------------- */

static Status show_fault(WebRequest *request, NewView *view, const Reason *reason)
{
    view->step = NEW_WRITE;
    view->form.fault = policy_form_fault(reason, web_arena(request));
    return show(request, view, 422);
}

/* A rule about numbers belongs to the field of the first votes. */
static Status show_refused(WebRequest *request, NewView *view, VoteRule rule)
{
    Reason reason = {0};
    bool is_number =
        rule == VOTE_RULE_BALANCE || rule == VOTE_RULE_CREATE_COST || rule == VOTE_RULE_HELD;
    reason_set(&reason, STATUS_REFUSED, is_number ? "held" : "", "%s", vote_rule_text(rule));
    view->step = NEW_PREVIEW;
    view->form.fault = form_fault(&reason);
    return show(request, view, 422);
}

/* Saved elsewhere meanwhile: nothing was created, and the same form goes on from what stands now. */
static Status show_stale(WebRequest *request, NewView *view, const SaveResult *result)
{
    view->step = NEW_STALE;
    view->seen = id_text(result->state.version, web_arena(request));
    return show(request, view, 409);
}

static Status answer(WebRequest *request, NewView *view, const SaveResult *result)
{
    switch (result->outcome) {
    case SAVE_SAVED:
        site_done(request,
                  policy_address(result->created, view->preview.text.name, web_arena(request)),
                  "created", 0);
        return STATUS_OK;
    case SAVE_STALE:
        return show_stale(request, view, result);
    case SAVE_REFUSED:
        return show_refused(request, view, result->rule);
    case SAVE_UNKNOWN:
        break;
    }
    view->step = NEW_UNKNOWN;
    return show(request, view, 503);
}

static Status create(WebRequest *request, NewView *view, Id seen, Id token)
{
    VoteSaved saved;
    Reason reason = {0};
    PolicyCreate policy = {.words = policy_words_of(&view->preview.text),
                           .seen = seen,
                           .held = view->held,
                           .token = token,
                           .has_seen = true,
                           .has_held = true};
    Status status =
        operation_run(site_of(request)->ops, &OPERATION_policy_create, site_actor(request), &policy,
                      web_arena(request), &saved, &reason);
    if (status == STATUS_OK)
        return answer(request, view, &saved.result);
    if (form_can_be_corrected(status))
        return show_fault(request, view, &reason);
    *web_reason(request) = reason;
    return status;
}

static Status read_ids(WebRequest *request, Id *ret_seen, Id *ret_token)
{
    if (id_from_text(web_text(request, P_SEEN), ret_seen) != STATUS_OK ||
        id_from_text(web_text(request, P_TOKEN), ret_token) != STATUS_OK)
        return reason_set(web_reason(request), STATUS_INVALID, "token",
                          "must be what the form came with");
    return STATUS_OK;
}

static Status take_form(WebRequest *request)
{
    NewView view = {.step = NEW_PREVIEW,
                    .seen = web_text(request, P_SEEN),
                    .token = web_text(request, P_TOKEN),
                    .held = web_number(request, P_HELD)};
    PolicyText text;
    Id seen, token;
    TRY(read_ids(request, &seen, &token));
    TRY(fill_cost(request, &view));
    policy_form_read(request, P_FORM, &view.form);
    if (policy_form_text(&view.form, &text) != STATUS_OK) {
        view.form.fault = policy_form_faults(&view.form, web_arena(request));
        view.step = NEW_WRITE;
        return show(request, &view, 422);
    }
    TRY(preview_view(site_of(request), &text, web_arena(request), &view.preview));
    if (web_word(request, P_ACT) == ACT_CREATE)
        return create(request, &view, seen, token);
    if (web_word(request, P_ACT) == ACT_CHANGE)
        view.step = NEW_WRITE;
    return show(request, &view, 200);
}

static const char *const ACTS[] = {"preview", "create", "change", NULL};

static const WebRoute ROUTES[] = {
    {WEB_GET, "/policies/new", show_form, .access = WEB_VOTER,
     .help = "The form to propose a policy."},
    {WEB_POST, "/policies/new", take_form, .access = WEB_VOTER, .body_bytes = POLICY_FORM_BYTES,
     .help = "Shows what was written and what it costs, or creates it.",
     .params = {{"act", WEB_FORM, WEB_WORD, .words = ACTS, .fallback = "preview",
                 .help = "Look at it, create it, or go back to the form."},
                {"seen", WEB_FORM, WEB_OPAQUE, .least = 1, .most = 64,
                 .help = "The version of the proposer's votes."},
                {"token", WEB_FORM, WEB_OPAQUE, .least = 1, .most = 64,
                 .help = "Of the form: sent twice, it is one policy."},
                {"held", WEB_FORM, WEB_NUMBER, .fallback = "0", .most = INT64_C(1000000000000),
                 .help = "Its first votes; at least what creating costs. 0: just that."},
                POLICY_FORM_PARAMS}},
};
ROUTE_TABLE(NEW, ROUTES);
