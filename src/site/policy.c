/* policy.c -- the page of a policy: what it says, how it stands, what the viewer holds on it and can do with it. */
#include "site/curves.h"
#include "site/markdown.h"
#include "site/pages.h"
#include "site/policy_views.h"

static const int64_t DAY_US = S_PER_DAY * US_PER_S;

/* ---- How it stands ---------------------------------------------------------------------------------------------------- */

/* A neighbour that cannot be read is left out; the rank stands all the same. */
static bool card_of(Site *site, bool is_there, const RankRow *row, Arena *arena, PolicyCard *card)
{
    return is_there && cards_one(site->cards, row->policy, arena, card) == STATUS_OK;
}

static Status fill_place(Site *site, uint64_t id, uint32_t days, Arena *arena, PlaceView *place)
{
    RankQuery query = {.days = days};
    *place = (PlaceView){.days = days};
    Status status = ranking_place(site->app->ranking, &query, id, &place->place);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    place->is_there = true;
    const RankPlace *found = &place->place;
    place->has_above = card_of(site, found->has_above, &found->above, arena, &place->above);
    place->has_below = card_of(site, found->has_below, &found->below, arena, &place->below);
    return STATUS_OK;
}

/* ---- Its curves ------------------------------------------------------------------------------------------------------- */

/* From the day of its creation, or the last POLICY_DAYS. */
static void fill_days(Site *site, PolicyView *view)
{
    int64_t values[POLICY_DAYS];
    int64_t today = view->head.now_us / DAY_US, first = view->head.policy.created_us / DAY_US;
    size_t count = first > today                  ? 1
                   : today - first >= POLICY_DAYS ? POLICY_DAYS
                                                  : (size_t)(today - first) + 1;
    if (ranking_days(site->app->ranking, view->head.policy.id, values, (uint32_t)count) !=
        STATUS_OK)
        return;
    for (size_t i = 0; i < count; i++)
        view->days[i] = (ChartPoint){(today - (int64_t)(count - 1 - i)) * DAY_US, values[i], false};
    view->day_count = count;
    Chart chart = {.label = "Votes by day",
                   .one = "vote",
                   .many = "votes",
                   .points = view->days,
                   .count = count};
    view->days_chart = chart_area(&chart, view->arena);
}

static void fill_ranks(Site *site, PolicyView *view)
{
    Curve curve;
    if (curves_ranks(site->curves, view->recent.days, view->head.policy.id, &curve) != STATUS_OK)
        return;
    for (size_t i = 0; i < curve.count; i++) {
        const CurvePoint *moment = &curve.points[i];
        if (moment->rank == 0 && view->rank_count == 0) /* not there yet */
            continue;
        view->ranks[view->rank_count++] =
            (ChartPoint){moment->hour * HOUR_US, (int64_t)moment->rank, moment->rank == 0};
    }
    Chart chart = {.label = "Rank by day",
                   .one = "rank",
                   .many = "ranks",
                   .points = view->ranks,
                   .count = view->rank_count};
    view->ranks_chart = chart_ranks(&chart, view->arena);
}

/* ---- The view --------------------------------------------------------------------------------------------------------- */

static Status fill_members(Site *site, PolicyView *view)
{
    uint64_t *members;
    size_t count;
    Arena *arena = view->arena;
    TRY(policies_members(site->app->policies, view->head.policy.id, arena, &members, &count));
    view->members = ARENA_ARRAY(arena, POLICY_MEMBERS_SHOWN, PolicyCard);
    for (size_t i = 1; i < count; i++) { /* the first is the policy itself */
        PolicyCard *card = &view->members[view->member_count];
        if (view->member_count == POLICY_MEMBERS_SHOWN)
            view->member_more++;
        else if (cards_one(site->cards, members[i], arena, card) == STATUS_OK)
            view->member_count++;
    }
    return STATUS_OK;
}

static Status fill_standing(Site *site, PolicyView *view)
{
    VotingSettings settings;
    uint64_t id = view->head.policy.id;
    TRY(site_settings(site, view->arena, &settings));
    TRY(fill_place(site, id, (uint32_t)settings.window_days, view->arena, &view->recent));
    TRY(fill_place(site, id, 0, view->arena, &view->ever));
    view->total = view->ever.place.self.total;
    view->mine.percent = settings.withdrawal_percent;
    fill_days(site, view);
    fill_ranks(site, view);
    return fill_members(site, view);
}

Status policy_view(Site *site, uint64_t id, const Account *viewer, Arena *arena,
                   PolicyView *ret_view)
{
    PolicyView view = {.arena = arena};
    TRY(policy_head(site, id, viewer, arena, &view.head));
    view.description = markdown_html(view.head.policy.text.description, arena);
    view.rationale = markdown_html(view.head.policy.text.rationale, arena);
    if (policy_is_open(view.head.state))
        TRY(fill_standing(site, &view));
    *ret_view = view;
    return STATUS_OK;
}

/* ---- What belongs to the viewer --------------------------------------------------------------------------------------- */

static Status fill_watching(WebRequest *request, PolicyView *view)
{
    uint64_t *watched;
    size_t count;
    TRY(accounts_watched(site_of(request)->app->accounts, site_account(request)->id, view->arena,
                         &watched, &count));
    for (size_t i = 0; i < count; i++)
        view->mine.is_watching |= watched[i] == view->head.policy.id;
    return STATUS_OK;
}

static int64_t within(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

static Status fill_mine(WebRequest *request, PolicyView *view)
{
    const VoterState *state;
    SeenLine *lines;
    size_t count;
    App *app = site_of(request)->app;
    const Account *account = site_account(request);
    MyVote *mine = &view->mine;
    if (account == NULL)
        return STATUS_OK;
    TRY(site_voter_state(request, &state));
    TRY(votes_seen(app->votes, state, view->arena, &lines, &count));
    mine->is_known = true;
    mine->may_vote = view->head.state == POLICY_ACTIVE && account->state == ACCOUNT_CONFIRMED &&
                     account_may(account, RIGHT_VOTE);
    mine->balance = state->balance;
    mine->seen = id_text(state->version, view->arena);
    mine->token = id_text(id_new(app->world.clock, app->world.random), view->arena);
    for (size_t i = 0; i < count; i++) {
        if (lines[i].policy != view->head.policy.id)
            continue;
        mine->held = lines[i].held;
        mine->free = lines[i].free;
    }
    for (size_t i = 0; i < state->line_count; i++)
        if (state->lines[i].policy == view->head.policy.id)
            mine->withdrawn_centi = state->lines[i].withdrawn_centi;
    int64_t most = mine->held + (mine->balance > 0 ? mine->balance : 0);
    mine->wish = web_has(request, 1) ? within(web_number(request, 1), 0, most) : mine->held;
    return fill_watching(request, view);
}

/* ---- The page --------------------------------------------------------------------------------------------------------- */

static Status show_policy(WebRequest *request)
{
    PolicyView view;
    Arena *arena = web_arena(request);
    TRY(policy_view(site_of(request), web_id(request, 0), site_account(request), arena, &view));
    if (!view.head.is_hidden &&
        site_leads_on(request, view.head.policy.text.name, view.head.address))
        return STATUS_OK;
    TRY(fill_mine(request, &view));
    view.viewer = site_viewer(request);
    Frame frame = {.title = policy_title(&view.head)};
    if (policy_is_open(view.head.state)) {
        frame.description = markdown_words(view.head.policy.text.description, 200, arena);
        frame.address = view.head.address;
        Slice topic = arena_print(arena, "policy/%llu", (unsigned long long)view.head.policy.id);
        frame.topic = arena_text(arena, topic);
    }
    Buffer *out = page_begin(request, &frame);
    policy_page(out, &view);
    page_end(request, out);
    if (view.head.state == POLICY_DELETED)
        web_code(request, 410);
    return STATUS_OK;
}

/* Watching is for policies that can be seen; ending it is for all. */
static Status watch_policy(WebRequest *request)
{
    PolicyHead head;
    Site *site = site_of(request);
    bool on = web_switch(request, 1);
    TRY(policy_head(site, web_id(request, 0), site_account(request), web_arena(request), &head));
    if (on && head.is_hidden)
        return STATUS_NOT_FOUND;
    Status status =
        accounts_watch(site->app->accounts, site_account(request)->id, head.policy.id, on);
    if (status == STATUS_REFUSED)
        return reason_set(web_reason(request), status, "",
                          "you watch %d policies already; stop watching one first", WATCH_MOST);
    TRY(status);
    site_done(request, head.address, on ? "watching" : "unwatched", 0);
    return STATUS_OK;
}

#define POLICY_PATH                                                         \
    {                                                                       \
        "policy", WEB_PATH, WEB_SLUG,                                       \
            .help = "The policy: its number, and words that do not matter." \
    }

static const WebRoute ROUTES[] = {
    {WEB_GET, "/policies/{policy}", show_policy, .cache_ms = 1000,
     .help = "One policy: text, ranks, curves, and the viewer's own votes.",
     .params = {POLICY_PATH,
                {"held", WEB_QUERY, WEB_NUMBER, .optional = true, .least = 0,
                 .most = VOTE_HELD_MOST, .help = "What the vote form begins with."}}},
    {WEB_POST, "/policies/{policy}/watch", watch_policy, .access = WEB_LOGIN, .body_bytes = 4096,
     .help = "Watches a policy, or stops it.",
     .params = {POLICY_PATH, {"on", WEB_FORM, WEB_SWITCH, .help = "Whether to watch it."}}},
};
const Room ROOM_POLICY = ROOM(ROUTES);
