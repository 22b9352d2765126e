/* policy.c -- the page of a policy: what it says, how it stands, what the viewer holds on it and can do with it. */
#include "draw/markdown.h"
#include "operations/policy_moves.h"
#include "operations/rank_cache.h"
#include "site/pages.h"
#include "site/policies/policy_views.h"

static const int64_t DAY_US = S_PER_DAY * US_PER_S;

/* ---- How it stands ---------------------------------------------------------------------------------------------------- */

/* A neighbour that cannot be read is left out; the rank stands all the same. */
static bool summary_of(Site *site, bool is_there, const RankRow *row, Arena *arena,
                       PolicySummary *summary)
{
    return is_there &&
           policy_summary_get(site->summaries, row->policy, arena, summary) == STATUS_OK;
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
    place->has_above = summary_of(site, found->has_above, &found->above, arena, &place->above);
    place->has_below = summary_of(site, found->has_below, &found->below, arena, &place->below);
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
    RankCurve curve;
    if (rank_cache_ranks(site->ops->rank_cache, view->recent.days, view->head.policy.id, &curve) !=
        STATUS_OK)
        return;
    for (size_t i = 0; i < curve.count; i++) {
        const RankCurvePoint *moment = &curve.points[i];
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

static Status fill_standing(Site *site, PolicyView *view)
{
    VotingSettings settings;
    uint64_t id = view->head.policy.id;
    TRY(operations_settings(site->ops, view->arena, &settings));
    TRY(fill_place(site, id, (uint32_t)settings.window_days, view->arena, &view->recent));
    TRY(fill_place(site, id, 0, view->arena, &view->ever));
    view->total = view->ever.place.self.total;
    view->percent = settings.withdrawal_percent;
    fill_days(site, view);
    fill_ranks(site, view);
    uint64_t *members;
    size_t count;
    Arena *arena = view->arena;
    TRY(policies_members(site->app->policies, view->head.policy.id, arena, &members, &count));
    view->members = ARENA_ARRAY(arena, POLICY_MEMBERS_SHOWN, PolicySummary);
    for (size_t i = 1; i < count; i++) { /* the first is the policy itself */
        PolicySummary *summary = &view->members[view->member_count];
        if (view->member_count == POLICY_MEMBERS_SHOWN)
            view->member_more++;
        else if (policy_summary_get(site->summaries, members[i], arena, summary) == STATUS_OK)
            view->member_count++;
    }
    return STATUS_OK;
}

/* What the page shows to everybody, and in some states to those alone who may see it. */
static Status policy_view(Site *site, uint64_t id, const Actor *viewer, Arena *arena,
                          PolicyView *ret_view)
{
    PolicyView view = {.arena = arena};
    TRY(policy_head(site->ops, id, viewer, arena, &view.head));
    view.description = markdown_html(view.head.policy.text.description, arena);
    view.rationale = markdown_html(view.head.policy.text.rationale, arena);
    TRY(answer_view(site->ops, id, arena, &view.answer));
    if (policy_is_open(view.head.state))
        TRY(fill_standing(site, &view));
    *ret_view = view;
    return STATUS_OK;
}

/* ---- The shared page -------------------------------------------------------------------------------------------------------- */

static void note_place(PolicySharedPage *shared_page, size_t index, const PlaceView *place)
{
    shared_page->to_beat[index] = place->has_above ? place->place.to_beat : 0;
}

static void copy_text(char *to, size_t most, Slice text)
{
    CHECK(text.size < most);
    memcpy(to, text.data, text.size);
}

static Status marks_of(Site *site, uint64_t id, Arena *arena, PolicyMarks *ret_marks)
{
    PolicyNews news;
    TRY(policies_news(site->app->policies, id, arena, &news));
    *ret_marks = (PolicyMarks){news.facts.move_count, news.listed, news.edit.revision};
    return STATUS_OK;
}

/* `viewer` is NULL for what everybody may see. */
static Status draw_for(const SharedPageContext *desk, uint64_t id, const Actor *viewer,
                       Arena *arena, SharedPageDraft *draft)
{
    PolicyView view;
    PolicyMarks marks;
    TRY(marks_of(desk->site, id, arena, &marks));
    TRY(policy_view(desk->site, id, viewer, arena, &view));
    view.slots = &draft->slots;
    const PolicyHead *head = &view.head;
    PolicySharedPage *facts = ARENA_NEW(arena, PolicySharedPage);
    _Static_assert(sizeof *facts <= SHARED_PAGE_FACTS_MAX, "it is kept with the sheet");
    *facts = (PolicySharedPage){.id = head->policy.id,
                                .owner = head->policy.owner,
                                .state = head->state,
                                .is_hidden = head->is_hidden,
                                .percent = view.percent};
    note_place(facts, 0, &view.recent);
    note_place(facts, 1, &view.ever);
    copy_text(facts->address, sizeof facts->address, head->address);
    copy_text(facts->slug, sizeof facts->slug, slug_of(head->policy.text.name, arena));
    facts->marks = marks;
    draft->facts = slice_of(facts, sizeof *facts);
    Frame frame = {.title = policy_title(&view.head)};
    if (policy_is_open(view.head.state)) {
        frame.description = markdown_words(view.head.policy.text.description, 200, arena);
        frame.address = view.head.address;
        Slice topic = arena_print(arena, "policy/%llu", (unsigned long long)view.head.policy.id);
        frame.topic = arena_text(arena, topic);
    }
    shared_page_begin(desk, &frame, arena, draft);
    policy_page(&draft->out, &view);
    shared_page_end(desk, draft);
    return STATUS_OK;
}

static Status draw(void *desk, uint64_t id, Arena *arena, SharedPageDraft *draft)
{
    return draw_for(desk, id, NULL, arena, draft);
}

enum { P_POLICY, P_HELD };

/* What is not there (yet) or hidden for others than its owner and moderators: drawn for this viewer, and kept for nobody. */
static Status draw_own(WebRequest *request, CachedPage **ret_shared_page)
{
    SharedPageDraft draft = {0};
    SharedPageContext desk = shared_page_context(request);
    int64_t now_us = clock_steady_us(desk.site->app->world.clock);
    Status status =
        draw_for(&desk, web_id(request, P_POLICY), site_actor(request), web_arena(request), &draft);
    if (status == STATUS_OK)
        *ret_shared_page = shared_page_of(&draft, now_us);
    buffer_free(&draft.out);
    return status;
}

/* Moves and edits of this process count at once, whoever made them: a moderator on the command line, a task. */
static bool is_behind(Site *site, const CachedPage *shared_page, Arena *arena)
{
    PolicyMarks now;
    const PolicySharedPage *facts = shared_page_facts(shared_page);
    const PolicyMarks *then = &facts->marks;
    return marks_of(site, facts->id, arena, &now) == STATUS_OK &&
           (now.moves > then->moves || now.listed > then->listed || now.revision > then->revision);
}

static Status get_shared_page(Site *site, const SharedPageQuery *want, Arena *arena,
                              CachedPage **ret_shared_page)
{
    CachedPage *shared_page;
    TRY(shared_pages_get(site->shared_pages, want, arena, &shared_page));
    if (is_behind(site, shared_page, arena)) {
        page_release(shared_page);
        shared_pages_changed(site->shared_pages, want->name, want->about);
        TRY(shared_pages_get(site->shared_pages, want, arena, &shared_page));
    }
    *ret_shared_page = shared_page;
    return STATUS_OK;
}

static bool is_hidden_for_some(const CachedPage *shared_page)
{
    const PolicySharedPage *facts = shared_page_facts(shared_page);
    return facts->state == POLICY_PENDING_DELETION;
}

static Status find_shared_page(WebRequest *request, CachedPage **ret_shared_page)
{
    CachedPage *shared_page;
    SharedPageContext desk = shared_page_context(request);
    const Account *account = site_actor(request)->account;
    SharedPageQuery want = {.name = SHARED_PAGE_POLICY,
                            .about = web_id(request, P_POLICY),
                            .draw = draw,
                            .self = &desk,
                            .voter = account != NULL ? account->id : 0};
    Status status = get_shared_page(desk.site, &want, web_arena(request), &shared_page);
    if (status == STATUS_NOT_FOUND && account != NULL)
        return draw_own(request, ret_shared_page);
    TRY(status);
    if (account != NULL && is_hidden_for_some(shared_page)) {
        page_release(shared_page);
        return draw_own(request, ret_shared_page);
    }
    *ret_shared_page = shared_page;
    return STATUS_OK;
}

/* ---- What belongs to the viewer --------------------------------------------------------------------------------------- */

static int64_t within(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

static Status fill_votes(WebRequest *request, PolicyMine *mine)
{
    const VoterState *state;
    const MergedLine *lines;
    size_t count;
    uint64_t policy = mine->shared_page->id;
    TRY(site_voter_state(request, &state));
    TRY(site_merged_lines(request, &lines, &count));
    mine->balance = state->balance;
    mine->seen = id_text(state->version, web_arena(request));
    for (size_t i = 0; i < count; i++) {
        if (lines[i].policy != policy)
            continue;
        mine->held = lines[i].held;
        mine->free = lines[i].free;
    }
    for (size_t i = 0; i < state->line_count; i++)
        if (state->lines[i].policy == policy)
            mine->withdrawn_centi = state->lines[i].withdrawn_centi;
    int64_t most = mine->held + (mine->balance > 0 ? mine->balance : 0);
    mine->want =
        web_has(request, P_HELD) ? within(web_number(request, P_HELD), 0, most) : mine->held;
    return STATUS_OK;
}

/* Whether the owner has appealed since it was hidden. */
static Status fill_appeal(WebRequest *request, PolicyMine *mine)
{
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    PolicyHead head;
    Report *reports;
    size_t count;
    TRY(policy_head(site->ops, mine->shared_page->id, site_actor(request), arena, &head));
    TRY(reports_of_policy(site->app->reports, head.policy.id, arena, &reports, &count));
    TRY(deletion_final_us(site->ops, head.move->time_us, arena, &mine->final_us));
    for (size_t i = 0; i < count; i++)
        mine->has_appealed |= reports[i].kind == REPORT_OF_APPEAL &&
                              reports[i].account == mine->viewer->account.id &&
                              reports[i].made_us >= head.move->time_us;
    mine->now_us = head.now_us;
    mine->may_appeal = head.state == POLICY_PENDING_DELETION;
    return STATUS_OK;
}

static Status fill_mine(WebRequest *request, PolicyMine *mine)
{
    const Account *account = site_actor(request)->account;
    if (account == NULL)
        return STATUS_OK;
    TRY(fill_votes(request, mine));
    mine->is_known = true;
    mine->rights = policy_rights(mine->shared_page->owner, site_actor(request));
    mine->may_vote = mine->shared_page->state == POLICY_ACTIVE &&
                     account->state == ACCOUNT_CONFIRMED && account_may(account, RIGHT_VOTE);
    mine->token = web_request_id(request); /* which made the form, and made no other */
    if (mine->shared_page->state == POLICY_PENDING_DELETION && mine->rights.is_owner)
        TRY(fill_appeal(request, mine));
    uint64_t *watched;
    size_t count;
    TRY(accounts_watched(site_of(request)->app->accounts, actor_id(site_actor(request)),
                         web_arena(request), &watched, &count));
    for (size_t i = 0; i < count; i++)
        mine->is_watching |= watched[i] == mine->shared_page->id;
    return STATUS_OK;
}

/* ---- The page --------------------------------------------------------------------------------------------------------- */

typedef struct PolicyFill {
    FrameOwn frame;
    PolicyMine mine;
} PolicyFill;

static void fill_slot(void *context, Buffer *out, const PageSlot *slot)
{
    const PolicyFill *own = context;
    if (slot->kind == SLOT_VOTE)
        policy_vote(out, &own->mine);
    else if (slot->kind == SLOT_OFFER)
        policy_offer(out, &own->mine, (size_t)slot->about);
    else if (slot->kind == SLOT_ACTIONS)
        policy_acts(out, &own->mine);
    else
        frame_fill(&own->frame, out, slot);
}

static Status show_shared_page(WebRequest *request, const CachedPage *shared_page)
{
    const PolicySharedPage *facts = shared_page_facts(shared_page);
    PolicyFill own = {.mine = {.shared_page = facts, .viewer = site_viewer(request)}};
    if (!facts->is_hidden &&
        site_leads_on(request, slice_from(facts->slug), slice_from(facts->address)))
        return STATUS_OK;
    TRY(fill_mine(request, &own.mine));
    own.frame = frame_own(request);
    shared_page_fill(shared_page, web_html(request), fill_slot, &own);
    web_made(request, page_made_us(shared_page));
    if (facts->state == POLICY_DELETED)
        web_code(request, 410);
    return STATUS_OK;
}

static Status show_policy(WebRequest *request)
{
    CachedPage *shared_page;
    TRY(find_shared_page(request, &shared_page));
    Status status = show_shared_page(request, shared_page);
    page_release(shared_page);
    return status;
}

#define POLICY_PATH                                                         \
    {                                                                       \
        "policy", WEB_PATH, WEB_SLUG,                                       \
            .help = "The policy: its number, and words that do not matter." \
    }

static const WebRoute ROUTES[] = {
    {WEB_GET, "/policies/{policy}", show_policy, .shows = "rank_show", .cache_ms = SHARED_PAGE_MS,
     .help = "One policy: text, ranks, curves, and the viewer's own votes.",
     .params = {[P_POLICY] = POLICY_PATH,
                [P_HELD] = {"held", WEB_QUERY, WEB_NUMBER, .optional = true, .least = 0,
                            .most = VOTE_HELD_MAX, .help = "What the vote form begins with."}}},
};
ROUTE_TABLE(POLICY, ROUTES);
