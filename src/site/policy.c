/* policy.c -- the page of a policy: what it says, how it stands, what the viewer holds on it and can do with it. */
#include "site/acts.h"
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
    view->percent = settings.withdrawal_percent;
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
    AnswerView *answer = ARENA_NEW(arena, AnswerView);
    TRY(answer_view(site, id, arena, answer));
    view.answer = answer;
    if (policy_is_open(view.head.state))
        TRY(fill_standing(site, &view));
    *ret_view = view;
    return STATUS_OK;
}

/* ---- The sheet -------------------------------------------------------------------------------------------------------- */

static void note_place(PolicySheet *sheet, size_t index, const PlaceView *place)
{
    sheet->to_beat[index] = place->has_above ? place->place.to_beat : 0;
}

static void copy_text(char *to, size_t most, Slice text)
{
    CHECK(text.size < most);
    memcpy(to, text.data, text.size);
}

static PolicySheet *facts_of(const PolicyView *view, Arena *arena)
{
    const PolicyHead *head = &view->head;
    PolicySheet *sheet = ARENA_NEW(arena, PolicySheet);
    _Static_assert(sizeof *sheet <= SHEET_FACTS_MOST, "it is kept with the sheet");
    *sheet = (PolicySheet){.id = head->policy.id,
                           .owner = head->policy.owner,
                           .state = head->state,
                           .is_hidden = head->is_hidden,
                           .percent = view->percent};
    note_place(sheet, 0, &view->recent);
    note_place(sheet, 1, &view->ever);
    copy_text(sheet->address, sizeof sheet->address, head->address);
    copy_text(sheet->slug, sizeof sheet->slug, slug_of(head->policy.text.name, arena));
    return sheet;
}

static Status marks_of(Site *site, uint64_t id, Arena *arena, PolicyMarks *ret_marks)
{
    PolicyNews news;
    TRY(policies_news(site->app->policies, id, arena, &news));
    *ret_marks = (PolicyMarks){news.facts.move_count, news.listed, news.edit.revision};
    return STATUS_OK;
}

/* `viewer` is NULL for what everybody may see. */
static Status draw_for(const SheetDesk *desk, uint64_t id, const Account *viewer, Arena *arena,
                       SheetDraft *draft)
{
    PolicyView view;
    PolicyMarks marks;
    TRY(marks_of(desk->site, id, arena, &marks));
    TRY(policy_view(desk->site, id, viewer, arena, &view));
    view.gaps = &draft->gaps;
    PolicySheet *facts = facts_of(&view, arena);
    facts->marks = marks;
    draft->facts = slice_of(facts, sizeof *facts);
    Frame frame = {.title = policy_title(&view.head)};
    if (policy_is_open(view.head.state)) {
        frame.description = markdown_words(view.head.policy.text.description, 200, arena);
        frame.address = view.head.address;
        Slice topic = arena_print(arena, "policy/%llu", (unsigned long long)view.head.policy.id);
        frame.topic = arena_text(arena, topic);
    }
    sheet_begin(desk, &frame, arena, draft);
    policy_page(&draft->out, &view);
    sheet_end(desk, draft);
    return STATUS_OK;
}

static Status draw(void *desk, uint64_t id, Arena *arena, SheetDraft *draft)
{
    return draw_for(desk, id, NULL, arena, draft);
}

/* What is not there (yet) or hidden for others than its owner and moderators: drawn for this viewer, and kept for nobody. */
static Status draw_own(WebRequest *request, CachedPage **ret_sheet)
{
    SheetDraft draft = {0};
    SheetDesk desk = sheet_desk(request);
    int64_t now_us = clock_steady_us(desk.site->app->world.clock);
    Status status =
        draw_for(&desk, web_id(request, 0), site_account(request), web_arena(request), &draft);
    if (status == STATUS_OK)
        *ret_sheet = sheet_of(&draft, now_us);
    buffer_free(&draft.out);
    return status;
}

/* Moves and edits of this process count at once, whoever made them: a moderator on the command line, a task. */
static bool is_behind(Site *site, const CachedPage *sheet, Arena *arena)
{
    PolicyMarks now;
    const PolicySheet *facts = sheet_facts(sheet);
    const PolicyMarks *then = &facts->marks;
    return marks_of(site, facts->id, arena, &now) == STATUS_OK &&
           (now.moves > then->moves || now.listed > then->listed || now.revision > then->revision);
}

static Status get_sheet(Site *site, const SheetWish *wish, Arena *arena, CachedPage **ret_sheet)
{
    CachedPage *sheet;
    TRY(sheets_get(site->sheets, wish, arena, &sheet));
    if (is_behind(site, sheet, arena)) {
        page_release(sheet);
        sheets_changed(site->sheets, wish->name, wish->about);
        TRY(sheets_get(site->sheets, wish, arena, &sheet));
    }
    *ret_sheet = sheet;
    return STATUS_OK;
}

static bool is_hidden_for_some(const CachedPage *sheet)
{
    const PolicySheet *facts = sheet_facts(sheet);
    return facts->state == POLICY_PENDING_DELETION;
}

static Status find_sheet(WebRequest *request, CachedPage **ret_sheet)
{
    CachedPage *sheet;
    SheetDesk desk = sheet_desk(request);
    const Account *account = site_account(request);
    SheetWish wish = {.name = SHEET_POLICY,
                      .about = web_id(request, 0),
                      .draw = draw,
                      .self = &desk,
                      .voter = account != NULL ? account->id : 0};
    Status status = get_sheet(desk.site, &wish, web_arena(request), &sheet);
    if (status == STATUS_NOT_FOUND && account != NULL)
        return draw_own(request, ret_sheet);
    TRY(status);
    if (account != NULL && is_hidden_for_some(sheet)) {
        page_release(sheet);
        return draw_own(request, ret_sheet);
    }
    *ret_sheet = sheet;
    return STATUS_OK;
}

/* ---- What belongs to the viewer --------------------------------------------------------------------------------------- */

static Status fill_watching(WebRequest *request, PolicyMine *mine)
{
    uint64_t *watched;
    size_t count;
    TRY(accounts_watched(site_of(request)->app->accounts, site_account(request)->id,
                         web_arena(request), &watched, &count));
    for (size_t i = 0; i < count; i++)
        mine->is_watching |= watched[i] == mine->sheet->id;
    return STATUS_OK;
}

static int64_t within(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

static Status fill_votes(WebRequest *request, PolicyMine *mine)
{
    const VoterState *state;
    const SeenLine *lines;
    size_t count;
    uint64_t policy = mine->sheet->id;
    TRY(site_voter_state(request, &state));
    TRY(site_seen_lines(request, &lines, &count));
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
    mine->wish = web_has(request, 1) ? within(web_number(request, 1), 0, most) : mine->held;
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
    TRY(policy_head(site, mine->sheet->id, site_account(request), arena, &head));
    TRY(reports_of_policy(site->app->reports, head.policy.id, arena, &reports, &count));
    TRY(act_final_us(site, head.move->time_us, arena, &mine->final_us));
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
    const Account *account = site_account(request);
    if (account == NULL)
        return STATUS_OK;
    TRY(fill_votes(request, mine));
    mine->is_known = true;
    mine->rights = policy_rights(mine->sheet->owner, account);
    mine->may_vote = mine->sheet->state == POLICY_ACTIVE && account->state == ACCOUNT_CONFIRMED &&
                     account_may(account, RIGHT_VOTE);
    mine->token = web_request_id(request); /* which made the form, and made no other */
    if (mine->sheet->state == POLICY_PENDING_DELETION && mine->rights.is_owner)
        TRY(fill_appeal(request, mine));
    return fill_watching(request, mine);
}

/* ---- The page --------------------------------------------------------------------------------------------------------- */

typedef struct PolicyFill {
    FrameOwn frame;
    PolicyMine mine;
} PolicyFill;

static void fill_gap(void *context, Buffer *out, const Gap *gap)
{
    const PolicyFill *own = context;
    if (gap->kind == GAP_VOTE)
        policy_vote(out, &own->mine);
    else if (gap->kind == GAP_OFFER)
        policy_offer(out, &own->mine, (size_t)gap->about);
    else if (gap->kind == GAP_ACTS)
        policy_acts(out, &own->mine);
    else
        frame_fill(&own->frame, out, gap);
}

static Status show_sheet(WebRequest *request, const CachedPage *sheet)
{
    const PolicySheet *facts = sheet_facts(sheet);
    PolicyFill own = {.mine = {.sheet = facts, .viewer = site_viewer(request)}};
    if (!facts->is_hidden &&
        site_leads_on(request, slice_from(facts->slug), slice_from(facts->address)))
        return STATUS_OK;
    TRY(fill_mine(request, &own.mine));
    own.frame = frame_own(request);
    sheet_fill(sheet, web_html(request), fill_gap, &own);
    web_made(request, page_made_us(sheet));
    if (facts->state == POLICY_DELETED)
        web_code(request, 410);
    return STATUS_OK;
}

static Status show_policy(WebRequest *request)
{
    CachedPage *sheet;
    TRY(find_sheet(request, &sheet));
    Status status = show_sheet(request, sheet);
    page_release(sheet);
    return status;
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
    {WEB_GET, "/policies/{policy}", show_policy, .cache_ms = SHEET_MS,
     .help = "One policy: text, ranks, curves, and the viewer's own votes.",
     .params = {POLICY_PATH,
                {"held", WEB_QUERY, WEB_NUMBER, .optional = true, .least = 0,
                 .most = VOTE_HELD_MOST, .help = "What the vote form begins with."}}},
    {WEB_POST, "/policies/{policy}/watch", watch_policy, .access = WEB_LOGIN, .whose = WEB_ANYBODYS,
     .body_bytes = 4096, .help = "Watches a policy, or stops it.",
     .params = {POLICY_PATH, {"on", WEB_FORM, WEB_SWITCH, .help = "Whether to watch it."}}},
};
const Room ROOM_POLICY = ROOM(ROUTES);
