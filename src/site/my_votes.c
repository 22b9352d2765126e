/* my_votes.c -- /my/votes: all lines of a voter on one screen, and the way by which votes are saved.
 *
 * The form of all lines and the form of one policy go the same way: one save, whose outcome is a page of its own. Those of several people are
 * sent to the store by one call (web_together).
 *     saved      a redirect, to a page that says so with the number of the save
 *     price      taking back costs, and nobody was told so far: the page names the price, its form agrees to it
 *     refused    the form again, with what was typed and the rule (422)
 *     stale      both versions side by side, and a form that goes on from the newer one (409)
 *     unknown    says so; sending the same form again is one save at most, by its token (503) */
#include "site/my_pages.h"
#include "site/pages.h"

enum { FORM_BYTES = 128 * 1024, TYPED_MOST = 40 };

/* A form as it came. */
typedef struct SaveForm {
    uint64_t policy; /* the one that it is about; 0: all lines */
    Slice typed;     /* one policy: the field as it was written */
    VoteWish *wishes;
    size_t count;
    Id seen, token;
    int64_t price;
} SaveForm;

/* The request that makes it makes no other. */
static VoteForm vote_form(WebRequest *request, Slice seen)
{
    return (VoteForm){
        .viewer = site_viewer(request), .seen = seen, .token = web_request_id(request)};
}

/* The same form once more: it is still one save. */
static VoteForm same_form(WebRequest *request, const SaveForm *form)
{
    Arena *arena = web_arena(request);
    return (VoteForm){.viewer = site_viewer(request),
                      .seen = id_text(form->seen, arena),
                      .token = id_text(form->token, arena)};
}

/* ---- Showing ---------------------------------------------------------------------------------------------------------- */

static Slice one_title(const MyVotes *votes, Arena *arena)
{
    return arena_print(arena, "Your votes on %.*s", SLICE_ARG(votes->lines[0].policy.name));
}

static void write_votes(WebRequest *request, const VotesPage *page, bool is_one)
{
    Frame frame = {.title = SLICE("My votes"), .here = "/my/votes", .is_narrow = is_one};
    if (is_one)
        frame.title = one_title(page->votes, web_arena(request));
    Buffer *out = page_begin(request, &frame);
    if (is_one)
        one_vote_page(out, page, frame.title);
    else
        my_votes_page(out, page);
    page_end(request, out);
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

static Status show_all(WebRequest *request)
{
    MyVotes votes;
    MyVotesAsk ask = {.voter = site_viewer(request)->account.id,
                      .order = (MyOrder)web_word(request, ALL_ORDER)};
    TRY(site_voter_state(request, &ask.state));
    TRY(my_votes(site_of(request), &ask, web_arena(request), &votes));
    VotesPage page = {.votes = &votes,
                      .form = vote_form(request, votes.seen),
                      .orders = order_links(ask.order, web_arena(request))};
    write_votes(request, &page, false);
    return STATUS_OK;
}

enum { ONE_POLICY, ONE_HELD };

static Status show_one(WebRequest *request)
{
    MyVotes votes;
    MyVotesAsk ask = {.voter = site_viewer(request)->account.id};
    TRY(site_voter_state(request, &ask.state));
    TRY(my_line(site_of(request), &ask, web_id(request, ONE_POLICY), web_arena(request), &votes));
    VotesPage page = {.votes = &votes, .form = vote_form(request, votes.seen)};
    int64_t held = web_has(request, ONE_HELD) ? web_number(request, ONE_HELD) : votes.lines[0].held;
    page.typed = arena_print(web_arena(request), "%lld", (long long)held);
    write_votes(request, &page, true);
    return STATUS_OK;
}

/* ---- Outcomes --------------------------------------------------------------------------------------------------------- */

static Status answer_saved(WebRequest *request, const SaveForm *form, const SaveResult *result)
{
    Arena *arena = web_arena(request);
    bool is_same = id_equal(result->version, form->seen);
    MyPolicy policy = {.address = SLICE("/my/votes")};
    if (form->policy != 0)
        TRY(my_policy(site_of(request), form->policy, site_viewer(request)->account.id, arena,
                      &policy));
    site_done(request, policy.address, is_same ? "unchanged" : "saved",
              is_same ? 0 : (int64_t)result->seq);
    return STATUS_OK;
}

/* What the form changes, for pages that ask. */
static Status asked_lines(WebRequest *request, const SaveForm *form, const VoterState *state,
                          AskPage *page)
{
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    uint64_t voter = site_viewer(request)->account.id;
    SeenLine *lines;
    size_t count;
    TRY(votes_seen(site->app->votes, state, arena, &lines, &count));
    page->lines = ARENA_ARRAY(arena, form->count, AskedLine);
    for (size_t i = 0, at = 0; i < form->count; i++) {
        AskedLine *asked = &page->lines[page->count];
        *asked = (AskedLine){.wanted = form->wishes[i].held};
        while (at < count && lines[at].policy < form->wishes[i].policy)
            at++;
        if (at < count && lines[at].policy == form->wishes[i].policy)
            asked->before = lines[at].held;
        if (asked->before == asked->wanted)
            continue;
        TRY(my_policy(site, form->wishes[i].policy, voter, arena, &asked->policy));
        page->count++;
    }
    return STATUS_OK;
}

static Status answer_price(WebRequest *request, const SaveForm *form, const SaveResult *result)
{
    int64_t taken = result->price.penalty + result->price.given_back;
    AskPage page = {.form = same_form(request, form),
                    .price = result->price,
                    .policy = form->policy,
                    .title = arena_print(web_arena(request), "Taking back %lld costs %lld",
                                         (long long)taken, (long long)result->price.penalty)};
    Frame frame = {.title = page.title, .here = "/my/votes", .is_narrow = true};
    TRY(asked_lines(request, form, &result->state, &page));
    Buffer *out = page_begin(request, &frame);
    price_page(out, &page);
    page_end(request, out);
    return STATUS_OK;
}

static Status answer_unknown(WebRequest *request, const SaveForm *form, const SaveResult *result)
{
    AskPage page = {.form = same_form(request, form),
                    .agreed = form->price,
                    .policy = form->policy,
                    .title = SLICE("We do not know whether your votes were saved")};
    Frame frame = {.title = page.title, .here = "/my/votes", .is_narrow = true};
    TRY(asked_lines(request, form, &result->state, &page));
    web_code(request, status_http(STATUS_UNKNOWN));
    Buffer *out = page_begin(request, &frame);
    unknown_page(out, &page);
    page_end(request, out);
    return STATUS_OK;
}

static Status answer_stale(WebRequest *request, const SaveForm *form, const SaveResult *result)
{
    MyConflict conflict;
    MyConflictAsk ask = {.voter = site_viewer(request)->account.id,
                         .state = &result->state,
                         .seen = form->seen,
                         .wishes = form->wishes,
                         .wish_count = form->count};
    Frame frame = {.title = SLICE("Your votes changed in the meantime"), .here = "/my/votes"};
    TRY(my_conflict(site_of(request), &ask, web_arena(request), &conflict));
    ConflictPage page = {.conflict = &conflict, .form = vote_form(request, conflict.seen)};
    web_code(request, status_http(STATUS_CONFLICT));
    Buffer *out = page_begin(request, &frame);
    conflict_page(out, &page);
    page_end(request, out);
    return STATUS_OK;
}

/* ---- Refusals --------------------------------------------------------------------------------------------------------- */

static Slice refusal_words(const SaveResult *result, Arena *arena)
{
    if (result->rule == VOTE_RULE_BALANCE)
        return arena_print(arena, "You have %lld unspent %s: %lld too few for this",
                           (long long)result->state.balance,
                           result->state.balance == 1 ? "polly" : "pollies",
                           (long long)-result->price.balance);
    return slice_from(vote_rule_text(result->rule));
}

/* What was typed stands in the lines again; a wish for a policy without a line is told by the rule alone. */
static void put_typed(MyVotes *votes, const SaveForm *form, const SaveResult *result)
{
    for (size_t i = 0; i < votes->open_count; i++) {
        MyLine *line = &votes->lines[i];
        size_t low = 0, high = form->count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (form->wishes[middle].policy < line->policy.id)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < form->count && form->wishes[low].policy == line->policy.id)
            line->wanted = form->wishes[low].held;
        if (result->refused_policy == line->policy.id)
            line->fault = vote_rule_text(result->rule);
    }
}

static Status answer_refused(WebRequest *request, const SaveForm *form, const SaveResult *result)
{
    MyVotes votes;
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    MyVotesAsk ask = {.voter = site_viewer(request)->account.id, .state = &result->state};
    TRY(form->policy != 0 ? my_line(site, &ask, form->policy, arena, &votes)
                          : my_votes(site, &ask, arena, &votes));
    put_typed(&votes, form, result);
    VotesPage page = {.votes = &votes,
                      .form = vote_form(request, votes.seen),
                      .typed = form->typed,
                      .orders = order_links(MY_BY_HELD, arena)};
    page.form.fault = (FormFault){true, SLICE_EMPTY, refusal_words(result, arena), NULL};
    if (form->policy != 0)
        page.form.fault.field = SLICE("held");
    else if (result->refused_policy != 0)
        page.form.fault.field =
            arena_print(arena, "held[%llu]", (unsigned long long)result->refused_policy);
    web_code(request, status_http(STATUS_REFUSED));
    write_votes(request, &page, form->policy != 0);
    return STATUS_OK;
}

/* ---- Saving ----------------------------------------------------------------------------------------------------------- */

/* A form that is being saved, together with those of others. */
typedef struct Saving {
    const SaveForm *form;
    SaveRequest ask;
    Save *save;
} Saving;

static Status saved(WebRequest *request)
{
    static Status (*const ANSWERS[])(WebRequest *, const SaveForm *, const SaveResult *) = {
        [SAVE_SAVED] = answer_saved,
        [SAVE_STALE] = answer_stale,
        [SAVE_REFUSED] = answer_refused,
        [SAVE_UNKNOWN] = answer_unknown,
    };
    SaveResult result;
    Viewer *viewer = site_viewer(request);
    const SaveForm *form = viewer->saving->form;
    TRY(votes_save_end(viewer->saving->save, &result));
    viewer->state = result.state; /* what the frame shows needs no second read */
    viewer->has_state = true;
    if (result.outcome == SAVE_REFUSED && result.rule == VOTE_RULE_PRICE)
        return answer_price(request, form, &result);
    return ANSWERS[result.outcome](request, form, &result);
}

static Status save(WebRequest *request, const SaveForm *form)
{
    Viewer *viewer = site_viewer(request);
    Saving *saving = ARENA_ARRAY(web_arena(request), 1, Saving);
    *saving = (Saving){.form = form,
                       .ask = {.voter = viewer->account.id,
                               .seen = form->seen,
                               .wishes = form->wishes,
                               .wish_count = form->count,
                               .token = form->token,
                               .has_price = true,
                               .price = form->price}};
    TRY(votes_save_begin(site_of(request)->app->votes, &saving->ask, web_arena(request),
                         &saving->save, web_reason(request)));
    viewer->saving = saving;
    return web_together(request, saved);
}

void my_votes_together(WebRequest *const *requests, size_t count)
{
    Save *saves[SITE_TOGETHER_MOST];
    CHECK(count <= SITE_TOGETHER_MOST);
    for (size_t i = 0; i < count; i++)
        saves[i] = site_viewer(requests[i])->saving->save;
    votes_save_send(saves, count);
}

/* The rows `seen`, `token` and `price` of both routes, which stand together. */
static Status take_marks(WebRequest *request, size_t first, SaveForm *form)
{
    Reason *reason = web_reason(request);
    if (id_from_text(web_text(request, first), &form->seen) != STATUS_OK)
        return reason_set(reason, STATUS_INVALID, "seen", "32 hexadecimal digits");
    if (id_from_text(web_text(request, first + 1), &form->token) != STATUS_OK)
        return reason_set(reason, STATUS_INVALID, "token", "32 hexadecimal digits");
    form->price = web_number(request, first + 2);
    return STATUS_OK;
}

enum { SAVE_ALL_HELD, SAVE_ALL_MARKS };

/* A form names every line, and a save at most VOTE_CHANGES_MOST: lines that stay as they are are left out here. When the version is
 * another, the save is stale anyway (or is known by its token), and the page that tells it needs them all. */
static Status leave_out_same(WebRequest *request, SaveForm *form)
{
    const VoterState *state;
    SeenLine *lines;
    size_t count, kept = 0;
    TRY(site_voter_state(request, &state));
    if (!id_equal(state->version, form->seen))
        return STATUS_OK;
    TRY(votes_seen(site_of(request)->app->votes, state, web_arena(request), &lines, &count));
    for (size_t i = 0, at = 0; i < form->count; i++) {
        while (at < count && lines[at].policy < form->wishes[i].policy)
            at++;
        int64_t held =
            at < count && lines[at].policy == form->wishes[i].policy ? lines[at].held : 0;
        if (form->wishes[i].held != held)
            form->wishes[kept++] = form->wishes[i];
    }
    form->count = kept;
    return STATUS_OK;
}

static SaveForm *new_form(WebRequest *request, size_t count)
{
    SaveForm *form = ARENA_ARRAY(web_arena(request), 1, SaveForm);
    *form = (SaveForm){.wishes = ARENA_ARRAY(web_arena(request), count, VoteWish), .count = count};
    return form;
}

static Status save_all(WebRequest *request)
{
    size_t count;
    const WebNumber *numbers = web_numbers(request, SAVE_ALL_HELD, &count);
    SaveForm *form = new_form(request, count);
    TRY(take_marks(request, SAVE_ALL_MARKS, form));
    for (size_t i = 0; i < count; i++)
        form->wishes[i] = (VoteWish){numbers[i].id, numbers[i].number};
    TRY(leave_out_same(request, form));
    return save(request, form);
}

enum { SAVE_ONE_MARKS = ONE_HELD + 1 };

/* Something that is no number comes back like any other refusal. */
static Status answer_no_number(WebRequest *request, const SaveForm *form)
{
    MyVotes votes;
    MyVotesAsk ask = {.voter = site_viewer(request)->account.id};
    TRY(site_voter_state(request, &ask.state));
    TRY(my_line(site_of(request), &ask, form->policy, web_arena(request), &votes));
    VotesPage page = {.votes = &votes, .form = same_form(request, form), .typed = form->typed};
    page.form.fault = (FormFault){true, SLICE("held"), SLICE("Write a whole number"), NULL};
    web_code(request, status_http(STATUS_REFUSED));
    write_votes(request, &page, true);
    return STATUS_OK;
}

static Status save_one(WebRequest *request)
{
    SaveForm *form = new_form(request, 1);
    form->policy = form->wishes[0].policy = web_id(request, ONE_POLICY);
    form->typed = web_text(request, ONE_HELD);
    TRY(take_marks(request, SAVE_ONE_MARKS, form));
    if (slice_to_i64(slice_trim(form->typed), &form->wishes[0].held) != STATUS_OK)
        return answer_no_number(request, form);
    return save(request, form);
}

/* ---- Routes ----------------------------------------------------------------------------------------------------------- */

static const char *const ORDER_WORDS[] = {"held", "rank", NULL};

/* clang-format off */
#define MARKS                                                                                      \
    {"seen", WEB_FORM, WEB_OPAQUE, .least = 0, .most = ID_TEXT,                                    \
     .help = "The version of the votes that the form is a change of."},                            \
    {"token", WEB_FORM, WEB_OPAQUE, .least = 0, .most = ID_TEXT,                                   \
     .help = "The same form sent twice is one save."},                                             \
    {"price", WEB_FORM, WEB_NUMBER, .least = 0, .most = INT64_MAX, .fallback = "0",                \
     .help = "What taking back may cost; when it costs more, the answer is a page that asks."}
#define POLICY_ROW {"policy", WEB_PATH, WEB_ID, .help = "The policy."}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/my/votes", show_all, .access = WEB_LOGIN,
     .help = "All lines of whoever is logged in, with what they would cost to change.",
     .params = {{"order", WEB_QUERY, WEB_WORD, .words = ORDER_WORDS, .fallback = "held",
                 .help = "By what they are sorted."}}},
    {WEB_POST, "/my/votes", save_all, .access = WEB_VOTER, .body_bytes = FORM_BYTES, .together = true,
     .help = "Saves any number of lines at once.",
     .params = {{"held", WEB_FORM, WEB_NUMBERS, .optional = true, .least = INT64_MIN, .most = INT64_MAX,
                 .most_count = WEB_COUNT_MAX, .help = "What each policy's line shall hold."},
                MARKS}},
    {WEB_GET, "/my/votes/{policy}", show_one, .access = WEB_LOGIN, .whose = WEB_ANYBODYS,
     .help = "The line on one policy.",
     .params = {POLICY_ROW,
                {"held", WEB_QUERY, WEB_NUMBER, .optional = true, .least = 0, .most = VOTE_HELD_MOST,
                 .help = "What its field shows, instead of what it holds."}}},
    {WEB_POST, "/my/votes/{policy}", save_one, .access = WEB_VOTER, .whose = WEB_ANYBODYS, .body_bytes = WEB_BODY_DEFAULT, .together = true,
     .help = "Saves the line on one policy.",
     .params = {POLICY_ROW,
                {"held", WEB_FORM, WEB_LINE, .least = 0, .most = TYPED_MOST,
                 .help = "What the line shall hold."},
                MARKS}},
};
/* clang-format on */
const Room ROOM_MY_VOTES = ROOM(ROUTES);
