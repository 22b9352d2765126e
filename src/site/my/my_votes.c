/* my_votes.c -- /my/votes and /my/votes/12: all lines of a voter on one screen, one line, and what a save of them leads to.
 *
 * Both are forms like all others (forms.h), with pages of their own for what only votes have:
 *     saved      a redirect, to a page that says so with the number of the save
 *     price      taking back costs, and nobody was told so far: the page names the price, its form agrees to it
 *     refused    the form again, with what was typed and the rule
 *     stale      both versions side by side, and a form that goes on from the newer one
 *     unknown    says so; sending the same form again is one save at most, by its token */
#include "site/my/my_pages.h"
#include "site/pages.h"

/* ---- Lines ------------------------------------------------------------------------------------------------------------ */

/* A line that was changed shows that, and goes on from what it held then, so that it is stale where that is another now. The others show
 * what is there. */
static void type_line(MyLine *line, Slice typed, Slice was, Arena *arena)
{
    Slice held = arena_print(arena, "%lld", (long long)line->held);
    if (was.size == 0)
        was = held;
    bool is_changed = typed.size > 0 && !slice_equal(typed, was);
    line->typed = is_changed ? typed : held;
    line->was = is_changed ? was : held;
}

static void type_lines(const Form *form, MyVotes *votes, Arena *arena)
{
    for (size_t i = 0; i < votes->open_count; i++) {
        MyLine *line = &votes->lines[i];
        uint64_t policy = line->policy.id;
        Slice field = arena_print(arena, "lines[%llu]", (unsigned long long)policy);
        const FormFault *fault = form_fault_at(&form->fault, arena_text(arena, field));
        type_line(line, form_typed_at(form, "lines", policy), form_typed_at(form, "was", policy),
                  arena);
        line->fault = fault != NULL ? arena_text(arena, fault->rule) : NULL;
    }
}

static Chooser order_links(MyOrder order, Arena *arena)
{
    static const Choice LINKS[MY_ORDERS] = {
        [MY_BY_HELD] = {{"Most votes first", 16}, {"/my/votes", 9}, false},
        [MY_BY_RANK] = {{"By rank", 7}, {"/my/votes?order=rank", 20}, false},
    };
    Chooser chooser = {"Order", ARENA_ARRAY(arena, MY_ORDERS, Choice), MY_ORDERS};
    for (size_t i = 0; i < MY_ORDERS; i++) {
        chooser.choices[i] = LINKS[i];
        chooser.choices[i].is_chosen = i == order;
    }
    return chooser;
}

enum { ALL_ORDER };

static Status fill_lines(WebRequest *request, VotesPage *page)
{
    Form *form = &page->form;
    Arena *arena = web_arena(request);
    MyVotesQuery ask = {.voter = actor_id(site_actor(request))};
    TRY(site_voter_state(request, &ask.state));
    page->seen = id_text(ask.state->version, arena);
    if (operation_input(form->operation, "policy") != NULL) {
        uint64_t policy;
        TRY(form_thing(request, form, "policy", &policy, web_reason(request)));
        TRY(my_line(site_of(request)->ops, &ask, policy, arena, &page->votes));
        MyLine *line = &page->votes.lines[0];
        Slice was = form->is_sent ? form_typed(form, "was") : SLICE_EMPTY;
        type_line(line, form_typed(form, "held"), was, arena);
        if (form_fault_at(&form->fault, "held") != NULL) /* also when it is empty */
            line->typed = form_typed(form, "held");
        page->title = arena_print(arena, "Your votes on %.*s", SLICE_ARG(line->policy.name));
        return STATUS_OK;
    }
    ask.order = form->is_sent ? MY_BY_HELD : (MyOrder)web_word(request, ALL_ORDER);
    TRY(my_votes(site_of(request)->ops, &ask, arena, &page->votes));
    type_lines(form, &page->votes, arena);
    page->orders = order_links(ask.order, arena);
    page->title = SLICE("My votes");
    return STATUS_OK;
}

/* ---- Outcomes --------------------------------------------------------------------------------------------------------- */

/* What the form changes, for pages that ask. */
static void fill_asked(WebRequest *request, const VoteSaved *saved, VotesPage *page)
{
    Arena *arena = web_arena(request);
    page->is_known = saved->has_holdings;
    page->lines = ARENA_ARRAY(arena, saved->change_count, AskedLine);
    for (size_t i = 0, at = 0; i < saved->change_count; i++) {
        uint64_t policy = saved->changes[i].policy;
        AskedLine asked = {.wanted = saved->changes[i].held};
        while (at < saved->holding_count && saved->holdings[at].policy < policy)
            at++;
        if (at < saved->holding_count && saved->holdings[at].policy == policy)
            asked.before = saved->holdings[at].held;
        if (page->is_known && asked.before == asked.wanted)
            continue;
        asked.policy = my_policy_or_number(site_of(request)->ops, policy,
                                           actor_id(site_actor(request)), arena);
        page->lines[page->count++] = asked;
    }
}

/* Goes on from what is stored, as another save. */
static Status fill_stale(WebRequest *request, const VoteSaved *saved, VotesPage *page)
{
    const World *world = &site_of(request)->app->world;
    TRY(my_conflict(site_of(request)->ops, actor_id(site_actor(request)), saved, web_arena(request),
                    &page->conflict));
    page->kind = VOTES_STALE;
    page->seen = id_text(page->conflict.version, web_arena(request));
    page->title = SLICE("Your votes changed in the meantime");
    form_type(&page->form, "token",
              id_text(id_new(world->clock, world->random), web_arena(request)));
    return STATUS_OK;
}

static void fill_price(WebRequest *request, const VoteSaved *saved, VotesPage *page)
{
    const VotePrice *price = &saved->result.price;
    int64_t taken = price->penalty + price->given_back;
    page->kind = VOTES_PRICE;
    page->price = *price;
    page->form.is_question = true;
    page->title = arena_print(web_arena(request), "Taking back %lld costs %lld", (long long)taken,
                              (long long)price->penalty);
    fill_asked(request, saved, page);
}

static Status fill_votes(WebRequest *request, void *view, Frame *frame)
{
    VotesPage *page = view;
    Viewer *viewer = site_viewer(request);
    const VoteSaved *saved = page->form.answer;
    Status status = STATUS_OK;
    page->may_vote = !account_lost(&viewer->account, RIGHT_VOTE);
    if (saved != NULL) { /* what the frame shows needs no second read */
        viewer->state = saved->result.state;
        viewer->has_state = true;
    }
    if (saved == NULL ||
        (saved->result.outcome == SAVE_REFUSED && saved->result.rule != VOTE_RULE_PRICE)) {
        status = fill_lines(request, page);
    } else if (saved->result.outcome == SAVE_REFUSED) {
        fill_price(request, saved, page);
    } else if (saved->result.outcome == SAVE_STALE) {
        status = fill_stale(request, saved, page);
    } else {
        page->kind = VOTES_UNKNOWN;
        page->title = SLICE("We do not know whether your votes were saved");
        fill_asked(request, saved, page);
    }
    *frame = (Frame){.title = page->title,
                     .here = "/my/votes",
                     .is_narrow = page->kind == VOTES_SHOWN ? page->orders.count == 0
                                                            : page->kind != VOTES_STALE};
    return status;
}

static void draw_votes(Buffer *out, const void *view)
{
    static void (*const DRAW[])(Buffer * out, const VotesPage *page) = {
        [VOTES_SHOWN] = my_votes_page,
        [VOTES_PRICE] = price_page,
        [VOTES_STALE] = conflict_page,
        [VOTES_UNKNOWN] = unknown_page,
    };
    const VotesPage *page = view;
    DRAW[page->kind](out, page);
}

static Slice votes_lead(WebRequest *request, const void *sent, const void *answer)
{
    const VoteSave *save = sent;
    const VoteSaved *saved = answer;
    Arena *arena = web_arena(request);
    Slice path = SLICE("/my/votes");
    if (save->is_one)
        path = my_policy_or_number(site_of(request)->ops, save->one.id,
                                   actor_id(site_actor(request)), arena)
                   .address;
    return saved->is_unchanged ? arena_print(arena, "%.*s?done=unchanged", SLICE_ARG(path))
                               : arena_print(arena, "%.*s?done=saved&number=%llu", SLICE_ARG(path),
                                             (unsigned long long)saved->result.seq);
}

FORM(vote_save, VotesPage, .fill = fill_votes, .draw = draw_votes, .draws_unknown = true,
     .leads = votes_lead);
FORM(vote_save_line, VotesPage, .fill = fill_votes, .draw = draw_votes, .draws_unknown = true,
     .leads = votes_lead);

/* ---- Shown, also to who may not vote ---------------------------------------------------------------------------------- */

static const char *const ORDER_WORDS[] = {"held", "rank", NULL};

/* clang-format off */
static const WebRoute ROUTES[] = {
    {WEB_GET, "/my/votes", form_show, .access = WEB_LOGIN, .row = &FORM_vote_save,
     .help = "All lines of whoever is logged in, with what they would cost to change.",
     .params = {[ALL_ORDER] = {"order", WEB_QUERY, WEB_WORD, .words = ORDER_WORDS, .fallback = "held",
                               .help = "By what they are sorted."}}},
    {WEB_GET, "/my/votes/{policy}", form_show, .access = WEB_LOGIN, .whose = WEB_ANYBODYS, .row = &FORM_vote_save_line,
     .help = "The line on one policy.",
     .params = {{"policy", WEB_PATH, WEB_ID, .help = "The policy."},
                {"held", WEB_QUERY, WEB_NUMBER, .optional = true, .least = 0, .most = VOTE_HELD_MAX,
                 .help = "What its field shows, instead of what it holds."}}},
};
/* clang-format on */
ROUTE_TABLE(MY_VOTES, ROUTES);
