/* my_votes.c -- /my/votes: all lines of a voter on one screen, and the way by which votes are saved.
 *
 * The form of all lines and the form of one policy go the same way (save_forms, at the end): each is read, begun as a save, sent to the
 * store together with those of other people by one call, and ended; its outcome is a page of its own. When that page cannot be made, the
 * answer still tells the outcome.
 *     saved      a redirect, to a page that says so with the number of the save
 *     price      taking back costs, and nobody was told so far: the page names the price, its form agrees to it
 *     refused    the form again, with what was typed and the rule (422)
 *     stale      both versions side by side, and a form that goes on from the newer one (409)
 *     unknown    says so; sending the same form again is one save at most, by its token (503) */
#include "site/my/my_pages.h"
#include "site/pages.h"

enum { FORM_BYTES = 128 * 1024, TYPED_MAX = 40 };

/* A form as it came, and what is made of it. */
typedef struct SaveForm {
    uint64_t policy; /* the one that it is about; 0: all lines */
    Slice typed;     /* one policy: the field as it was written */
    bool is_number;  /* the same: and whether that is one */
    VoteSave ask;
    Save *save; /* NULL: it did not come to that */
} SaveForm;

/* The request that makes it makes no other. */
static VoteForm vote_form(WebRequest *request, Id seen)
{
    return (VoteForm){.viewer = site_viewer(request),
                      .seen = id_text(seen, web_arena(request)),
                      .token = web_request_id(request)};
}

/* The same form once more: it is still one save. */
static VoteForm same_form(WebRequest *request, const SaveForm *form)
{
    Arena *arena = web_arena(request);
    return (VoteForm){.viewer = site_viewer(request),
                      .seen = id_text(form->ask.seen, arena),
                      .token = id_text(form->ask.token, arena)};
}

/* ---- Showing ---------------------------------------------------------------------------------------------------------- */

static Slice one_title(const MyVotes *votes, Arena *arena)
{
    return arena_print(arena, "Your votes on %.*s", SLICE_ARG(votes->lines[0].policy.name));
}

static void write_votes(WebRequest *request, const MyVotesPage *page, bool is_one)
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
    MyVotesQuery ask = {.voter = site_viewer(request)->account.id,
                        .order = (MyOrder)web_word(request, ALL_ORDER)};
    TRY(site_voter_state(request, &ask.state));
    TRY(my_votes(site_of(request)->ops, &ask, web_arena(request), &votes));
    MyVotesPage page = {.votes = &votes,
                        .form = vote_form(request, votes.version),
                        .orders = order_links(ask.order, web_arena(request))};
    write_votes(request, &page, false);
    return STATUS_OK;
}

enum { ONE_POLICY, ONE_HELD, ONE_WAS };

static Status show_one(WebRequest *request)
{
    MyVotes votes;
    MyVotesQuery ask = {.voter = site_viewer(request)->account.id};
    TRY(site_voter_state(request, &ask.state));
    TRY(my_line(site_of(request)->ops, &ask, web_id(request, ONE_POLICY), web_arena(request),
                &votes));
    MyVotesPage page = {.votes = &votes, .form = vote_form(request, votes.version)};
    int64_t held = web_has(request, ONE_HELD) ? web_number(request, ONE_HELD) : votes.lines[0].held;
    page.typed = arena_print(web_arena(request), "%lld", (long long)held);
    write_votes(request, &page, true);
    return STATUS_OK;
}

/* ---- Outcomes --------------------------------------------------------------------------------------------------------- */

static void answer_saved(WebRequest *request, const SaveForm *form, const SaveResult *result)
{
    Slice path = SLICE("/my/votes");
    bool is_same = id_equal(result->version, form->ask.seen);
    if (form->policy != 0)
        path = my_policy_or_number(site_of(request)->ops, form->policy,
                                   site_viewer(request)->account.id, web_arena(request))
                   .address;
    site_done(request, path, is_same ? "unchanged" : "saved", is_same ? 0 : (int64_t)result->seq);
}

/* What the form changes, for pages that ask. */
static void add_asked_lines(WebRequest *request, const SaveForm *form, const VoterState *state,
                            ConfirmPage *page)
{
    Operations *ops = site_of(request)->ops;
    Arena *arena = web_arena(request);
    const InputNumbers *wishes = &form->ask.lines;
    VoteRequest *asked_of = vote_requests_of(wishes, &form->ask.was, arena);
    MergedLine *lines = NULL;
    size_t count = 0;
    page->is_known = votes_merged_lines(ops->app->votes, state, arena, &lines, &count) == STATUS_OK;
    page->lines = ARENA_ARRAY(arena, wishes->count, AskedLine);
    for (size_t i = 0, at = 0; i < wishes->count; i++) {
        uint64_t policy = wishes->numbers[i].id;
        AskedLine asked = {.wanted = wishes->numbers[i].number,
                           .has_was = asked_of[i].has_seen,
                           .was = asked_of[i].seen};
        while (page->is_known && at < count && lines[at].policy < policy)
            at++;
        if (page->is_known && at < count && lines[at].policy == policy)
            asked.before = lines[at].held;
        if (page->is_known && asked.before == asked.wanted)
            continue;
        asked.policy = my_policy_or_number(ops, policy, site_viewer(request)->account.id, arena);
        page->lines[page->count++] = asked;
    }
}

static Status answer_price(WebRequest *request, const SaveForm *form, const SaveResult *result)
{
    int64_t taken = result->price.penalty + result->price.given_back;
    ConfirmPage page = {.form = same_form(request, form),
                        .price = result->price,
                        .policy = form->policy,
                        .title = arena_print(web_arena(request), "Taking back %lld costs %lld",
                                             (long long)taken, (long long)result->price.penalty)};
    Frame frame = {.title = page.title, .here = "/my/votes", .is_narrow = true};
    add_asked_lines(request, form, &result->state, &page);
    Buffer *out = page_begin(request, &frame);
    price_page(out, &page);
    page_end(request, out);
    return STATUS_OK;
}

static Status answer_unknown(WebRequest *request, const SaveForm *form, const SaveResult *result)
{
    ConfirmPage page = {.form = same_form(request, form),
                        .agreed = form->ask.price,
                        .policy = form->policy,
                        .title = SLICE("We do not know whether your votes were saved")};
    Frame frame = {.title = page.title, .here = "/my/votes", .is_narrow = true};
    add_asked_lines(request, form, &result->state, &page);
    web_code(request, status_http(STATUS_UNKNOWN));
    Buffer *out = page_begin(request, &frame);
    unknown_page(out, &page);
    page_end(request, out);
    return STATUS_OK;
}

static Status answer_stale(WebRequest *request, const SaveForm *form, const SaveResult *result)
{
    MyConflict conflict;
    MyConflictQuery ask = {.voter = site_viewer(request)->account.id,
                           .state = &result->state,
                           .seen = form->ask.seen,
                           .wishes = form->ask.lines,
                           .was = form->ask.was};
    Frame frame = {.title = SLICE("Your votes changed in the meantime"), .here = "/my/votes"};
    TRY(my_conflict(site_of(request)->ops, &ask, web_arena(request), &conflict));
    ConflictPage page = {.conflict = &conflict, .form = vote_form(request, conflict.version)};
    web_code(request, status_http(STATUS_CONFLICT));
    Buffer *out = page_begin(request, &frame);
    conflict_page(out, &page);
    page_end(request, out);
    return STATUS_OK;
}

/* What was typed stands in the lines again; a wish for a policy without a line is told by the rule alone. */
static void put_typed(MyVotes *votes, const SaveForm *form, const SaveResult *result)
{
    const InputNumbers *wishes = &form->ask.lines;
    for (size_t i = 0; i < votes->open_count; i++) {
        MyLine *line = &votes->lines[i];
        size_t low = 0, high = wishes->count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (wishes->numbers[middle].id < line->policy.id)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < wishes->count && wishes->numbers[low].id == line->policy.id)
            line->wanted = wishes->numbers[low].number;
        if (result->refused_policy == line->policy.id)
            line->fault = vote_rule_text(result->rule);
    }
}

static Status answer_refused(WebRequest *request, const SaveForm *form, const SaveResult *result)
{
    MyVotes votes;
    Operations *ops = site_of(request)->ops;
    Arena *arena = web_arena(request);
    MyVotesQuery ask = {.voter = site_viewer(request)->account.id, .state = &result->state};
    if (result->rule == VOTE_RULE_PRICE)
        return answer_price(request, form, result);
    TRY(form->policy != 0 ? my_line(ops, &ask, form->policy, arena, &votes)
                          : my_votes(ops, &ask, arena, &votes));
    put_typed(&votes, form, result);
    MyVotesPage page = {.votes = &votes,
                        .form = vote_form(request, votes.version),
                        .typed = form->typed,
                        .orders = order_links(MY_BY_HELD, arena)};
    page.form.fault = form_fault(web_reason(request));
    if (form->policy != 0)
        page.form.fault.field = SLICE("held");
    else if (result->refused_policy != 0)
        page.form.fault.field =
            arena_print(arena, "held[%llu]", (unsigned long long)result->refused_policy);
    web_code(request, status_http(STATUS_REFUSED));
    write_votes(request, &page, form->policy != 0);
    return STATUS_OK;
}

/* ---- Reading a form --------------------------------------------------------------------------------------------------- */

/* The rows `seen`, `token` and `price` of both routes, which stand together. */
static Status take_marks(WebRequest *request, size_t first, VoteSave *ask)
{
    Reason *reason = web_reason(request);
    if (id_from_text(web_text(request, first), &ask->seen) != STATUS_OK)
        return reason_set(reason, STATUS_INVALID, "seen", "32 hexadecimal digits");
    if (id_from_text(web_text(request, first + 1), &ask->token) != STATUS_OK)
        return reason_set(reason, STATUS_INVALID, "token", "32 hexadecimal digits");
    ask->has_price = true;
    ask->price = web_number(request, first + 2);
    return STATUS_OK;
}

enum { SAVE_ALL_HELD, SAVE_ALL_WAS, SAVE_ALL_MARKS };

/* A form names every line, and a save at most VOTE_CHANGES_MAX: lines that the voter left as they were shown are left out here. When the
 * version is another, the save is stale anyway (or is known by its token), and the page that tells it needs them all. */
static Status leave_out_same(WebRequest *request, VoteSave *ask)
{
    const VoterState *state;
    const MergedLine *lines;
    size_t count, kept = 0;
    TRY(site_voter_state(request, &state));
    if (!id_equal(state->version, ask->seen))
        return STATUS_OK;
    TRY(site_merged_lines(request, &lines, &count));
    WebNumber *changes = ARENA_ARRAY(web_arena(request), ask->lines.count, WebNumber);
    const VoteRequest *asked = vote_requests_of(&ask->lines, &ask->was, web_arena(request));
    for (size_t i = 0, at = 0; i < ask->lines.count; i++) {
        const WebNumber *wish = &ask->lines.numbers[i];
        while (at < count && lines[at].policy < wish->id)
            at++;
        int64_t held = at < count && lines[at].policy == wish->id ? lines[at].held : 0;
        if (wish->number != (asked[i].has_seen ? asked[i].seen : held))
            changes[kept++] = *wish;
    }
    ask->lines = (InputNumbers){changes, kept};
    return STATUS_OK;
}

static Status read_all(WebRequest *request, SaveForm *form)
{
    form->ask.lines.numbers = web_numbers(request, SAVE_ALL_HELD, &form->ask.lines.count);
    form->ask.was.numbers = web_numbers(request, SAVE_ALL_WAS, &form->ask.was.count);
    TRY(take_marks(request, SAVE_ALL_MARKS, &form->ask));
    return leave_out_same(request, &form->ask);
}

enum { SAVE_ONE_MARKS = ONE_WAS + 1 };

static Status read_one(WebRequest *request, SaveForm *form)
{
    WebNumber *line = ARENA_NEW(web_arena(request), WebNumber);
    line->id = form->policy = web_id(request, ONE_POLICY);
    form->typed = web_text(request, ONE_HELD);
    form->ask.lines = (InputNumbers){line, 1};
    if (web_has(request, ONE_WAS)) {
        WebNumber *was = ARENA_NEW(web_arena(request), WebNumber);
        *was = (WebNumber){form->policy, web_number(request, ONE_WAS)};
        form->ask.was = (InputNumbers){was, 1};
    }
    TRY(take_marks(request, SAVE_ONE_MARKS, &form->ask));
    form->is_number = slice_to_i64(slice_trim(form->typed), &line->number) == STATUS_OK;
    return STATUS_OK;
}

/* Something that is no number comes back like any other refusal. */
static Status answer_no_number(WebRequest *request, const SaveForm *form)
{
    MyVotes votes;
    MyVotesQuery ask = {.voter = site_viewer(request)->account.id};
    TRY(site_voter_state(request, &ask.state));
    TRY(my_line(site_of(request)->ops, &ask, form->policy, web_arena(request), &votes));
    MyVotesPage page = {.votes = &votes, .form = same_form(request, form), .typed = form->typed};
    page.form.fault = (FormFault){true, SLICE("held"), SLICE("Write a whole number"), NULL};
    web_code(request, status_http(STATUS_REFUSED));
    write_votes(request, &page, true);
    return STATUS_OK;
}

/* ---- Saving ----------------------------------------------------------------------------------------------------------- */

/* Afterwards form->save is there, or the answer is. */
static Status begin_save(WebRequest *request, SaveForm *form)
{
    bool is_one = web_route(request)->params[0].from == WEB_PATH;
    TRY(is_one ? read_one(request, form) : read_all(request, form));
    if (is_one && !form->is_number)
        return answer_no_number(request, form);
    return vote_save_begin(site_of(request)->ops, site_actor(request), &form->ask,
                           web_arena(request), &form->save, web_reason(request));
}

/* The page of an outcome reads more than the save did; when it cannot, an error page tells the same outcome. */
static Status end_save(WebRequest *request, const SaveForm *form)
{
    static Status (*const ANSWERS[])(WebRequest *, const SaveForm *, const SaveResult *) = {
        [SAVE_STALE] = answer_stale,
        [SAVE_REFUSED] = answer_refused,
        [SAVE_UNKNOWN] = answer_unknown,
    };
    VoteSaved saved;
    Viewer *viewer = site_viewer(request);
    TRY(vote_save_end(form->save, web_arena(request), &saved, web_reason(request)));
    viewer->state = saved.result.state; /* what the frame shows needs no second read */
    viewer->has_state = true;
    viewer->has_lines = false;
    if (saved.is_saved) {
        answer_saved(request, form, &saved.result);
        return STATUS_OK;
    }
    Status status = ANSWERS[saved.result.outcome](request, form, &saved.result);
    if (status == STATUS_OK || saved.result.rule == VOTE_RULE_NO_POLICY)
        return status;
    return vote_save_status(&saved);
}

/* WebRoute.batch: the forms of several people, whose saves the store takes by one call. */
static void save_forms(WebRequest *const *requests, size_t count, Status *ret_statuses)
{
    SaveForm forms[WEB_BATCH_MAX] = {0};
    Save *saves[WEB_BATCH_MAX];
    size_t save_count = 0;
    for (size_t i = 0; i < count; i++) {
        ret_statuses[i] = begin_save(requests[i], &forms[i]);
        if (ret_statuses[i] == STATUS_OK && forms[i].save != NULL)
            saves[save_count++] = forms[i].save;
    }
    votes_save_send(saves, save_count);
    for (size_t i = 0; i < count; i++)
        if (ret_statuses[i] == STATUS_OK && forms[i].save != NULL)
            ret_statuses[i] = end_save(requests[i], &forms[i]);
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
    {WEB_POST, "/my/votes", .batch = save_forms, .access = WEB_VOTER, .body_bytes = FORM_BYTES,
     .help = "Saves any number of lines at once.",
     .params = {{"held", WEB_FORM, WEB_NUMBERS, .optional = true, .least = INT64_MIN, .most = INT64_MAX,
                 .most_count = WEB_COUNT_MAX, .help = "What each policy's line shall hold."},
                {"was", WEB_FORM, WEB_NUMBERS, .optional = true, .least = 0, .most = INT64_MAX, .most_count = WEB_COUNT_MAX,
                 .help = "What it held as the form showed it."},
                MARKS}},
    {WEB_GET, "/my/votes/{policy}", show_one, .access = WEB_LOGIN, .whose = WEB_ANYBODYS,
     .help = "The line on one policy.",
     .params = {POLICY_ROW,
                {"held", WEB_QUERY, WEB_NUMBER, .optional = true, .least = 0, .most = VOTE_HELD_MAX,
                 .help = "What its field shows, instead of what it holds."}}},
    {WEB_POST, "/my/votes/{policy}", .batch = save_forms, .access = WEB_VOTER, .whose = WEB_ANYBODYS, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Saves the line on one policy.",
     .params = {POLICY_ROW,
                {"held", WEB_FORM, WEB_LINE, .least = 0, .most = TYPED_MAX,
                 .help = "What the line shall hold."},
                {"was", WEB_FORM, WEB_NUMBER, .optional = true, .least = 0, .most = INT64_MAX,
                 .help = "What it held as the form showed it."},
                MARKS}},
};
/* clang-format on */
ROUTE_TABLE(MY_VOTES, ROUTES);
