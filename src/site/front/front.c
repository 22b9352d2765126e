/* front.c -- the front page: who leads now and ever, where something happens, how it works; for voters what is theirs. */
#include "policies/featured.h"
#include "site/pages.h"
#include "site/views.h"

/* In their order, each with its rank by all votes. What cannot be seen or is in no ranking is left out. */
static Status featured_summaries(Site *site, int64_t now_us, Arena *arena,
                                 PolicySummaryPage *ret_page)
{
    Featured *list;
    size_t count;
    RankQuery ever = {0};
    TRY(policies_featured(site->app->policies, arena, &list, &count));
    PolicySummaryPage page = {.summaries = ARENA_ARRAY(arena, count, PolicySummary)};
    for (size_t i = 0; i < count; i++) {
        PolicySummary *summary = &page.summaries[page.count];
        RankPlace place;
        if (!featured_is_shown(&list[i], now_us) ||
            ranking_place(site->app->ranking, &ever, list[i].policy, &place) != STATUS_OK ||
            policy_summary_get(site->summaries, list[i].policy, arena, summary) != STATUS_OK)
            continue;
        summary->rank = place.self.rank;
        summary->votes = summary->total = place.self.total;
        page.count++;
    }
    *ret_page = page;
    return STATUS_OK;
}

static Status front_view(Site *site, Arena *arena, FrontView *ret_view)
{
    FrontView view = {.now_us = clock_now_us(site->app->world.clock),
                      .arena = arena,
                      .site_name = slice_from(site->options.config->site_name)};
    TRY(operations_settings(site->ops, arena, &view.settings));
    RankQuery recent = {.days = (uint32_t)view.settings.window_days}, ever = {0};
    TRY(policy_summaries_ranking(site->summaries, &recent, 0, FRONT_ROWS, arena, &view.recent));
    TRY(policy_summaries_ranking(site->summaries, &ever, 0, FRONT_ROWS, arena, &view.ever));
    TRY(featured_summaries(site, view.now_us, arena, &view.featured));
    trending_categories(site->trending, FRONT_TRENDING, arena, &view.trending,
                        &view.trending_count);
    *ret_view = view;
    return STATUS_OK;
}

void site_mark_mine(WebRequest *request, PolicySummaryPage *page)
{
    const MergedLine *lines;
    size_t count;
    if (site_viewer(request)->known && site_merged_lines(request, &lines, &count) == STATUS_OK)
        policy_summaries_mine(lines, count, page->summaries, page->count);
}

/* ---- What is the viewer's ------------------------------------------------------------------------------------------------ */

/* The lines that hold most, the largest first; of equal ones the lower policy, as lines are in its order. */
static size_t largest_lines(const MergedLine *lines, size_t count, const MergedLine **ret_largest)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = kept;
        while (at > 0 && ret_largest[at - 1]->held < lines[i].held)
            at--;
        if (at == FRONT_OWN_LOOKED)
            continue;
        kept += kept < FRONT_OWN_LOOKED;
        for (size_t k = kept - 1; k > at; k--)
            ret_largest[k] = ret_largest[k - 1];
        ret_largest[at] = &lines[i];
    }
    return kept;
}

/* With their places in the window. What is not in the ranking any more is left out: My votes says why. */
static void add_summaries(WebRequest *request, FrontOwn *own)
{
    Site *site = site_of(request);
    const MergedLine *lines, *largest[FRONT_OWN_LOOKED];
    uint64_t policies[FRONT_OWN_LOOKED], ranks[FRONT_OWN_LOOKED];
    size_t count;
    RankQuery query = {.days = (uint32_t)own->settings.window_days};
    if (site_merged_lines(request, &lines, &count) != STATUS_OK)
        return;
    count = largest_lines(lines, count, largest);
    for (size_t i = 0; i < count; i++)
        policies[i] = largest[i]->policy;
    if (ranking_ranks(site->app->ranking, &query, policies, count, ranks) != STATUS_OK)
        return;
    for (size_t i = 0; i < count && own->count < FRONT_OWN; i++) {
        PolicySummary *summary = &own->summaries[own->count];
        if (ranks[i] == 0 || policy_summary_name(site->summaries, policies[i], web_arena(request),
                                                 summary) != STATUS_OK)
            continue;
        summary->rank = ranks[i];
        summary->mine = largest[i]->held;
        own->count++;
    }
}

/* What cannot be read of the viewer's is left out: the page is about the ranking. */
static Status front_own(WebRequest *request, FrontOwn *ret_own)
{
    Site *site = site_of(request);
    const Viewer *viewer = site_viewer(request);
    const VoterState *state;
    SettingsHistory history;
    TRY(settings_read(accounts_settings(site->app->accounts), web_arena(request), &history));
    FrontOwn own = {.now_us = site_now_us(request),
                    .site_name = slice_from(site->options.config->site_name)};
    own.settings = *settings_at(&history, own.now_us);
    if (viewer->known && site_voter_state(request, &state) == STATUS_OK) {
        own.is_known = true;
        own.lost = account_lost(&viewer->account, RIGHT_VOTE) ? RIGHT_VOTE : RIGHT_CREATE;
        own.may_propose = !account_lost(&viewer->account, own.lost);
        own.balance = state->balance;
        own.next_salary_us = salary_next_us(&history, viewer->account.registered_us, own.now_us);
        add_summaries(request, &own);
    }
    *ret_own = own;
    return STATUS_OK;
}

static int64_t held_on(WebRequest *request, uint64_t policy)
{
    const MergedLine *lines;
    size_t count;
    if (!site_viewer(request)->known || site_merged_lines(request, &lines, &count) != STATUS_OK)
        return 0;
    for (size_t i = 0; i < count && lines[i].policy <= policy; i++)
        if (lines[i].policy == policy)
            return lines[i].held;
    return 0;
}

/* ---- The page ----------------------------------------------------------------------------------------------------------- */

static Status draw(void *self, uint64_t about, Arena *arena, SharedPageDraft *draft)
{
    const SharedPageContext *desk = self;
    FrontView view;
    Frame frame = {.title = SLICE("Who leads"),
                   .description = SLICE("Everyone earns votes over time and spends them on "
                                        "policies. See who leads, and move the ranking."),
                   .address = SLICE("/"),
                   .topic = "front"};
    (void)about;
    TRY(front_view(desk->site, arena, &view));
    view.slots = &draft->slots;
    shared_page_begin(desk, &frame, arena, draft);
    front_page(&draft->out, &view);
    shared_page_end(desk, draft);
    return STATUS_OK;
}

typedef struct FrontFill {
    WebRequest *request;
    FrameOwn frame;
    FrontOwn own;
} FrontFill;

static void fill_slot(void *context, Buffer *out, const PageSlot *slot)
{
    const FrontFill *fill = context;
    if (slot->kind == SLOT_HERO)
        front_hero(out, &fill->own);
    else if (slot->kind == SLOT_MINE)
        own_mark(out, held_on(fill->request, slot->about));
    else
        frame_fill(&fill->frame, out, slot);
}

static Status show_front(WebRequest *request)
{
    CachedPage *shared_page;
    FrontFill fill = {.request = request};
    SharedPageContext desk = shared_page_context(request);
    SharedPageQuery want = {.name = SHARED_PAGE_FRONT,
                            .draw = draw,
                            .self = &desk,
                            .voter = site_viewer(request)->account.id};
    TRY(front_own(request, &fill.own));
    TRY(shared_pages_get(desk.site->shared_pages, &want, web_arena(request), &shared_page));
    fill.frame = frame_own(request);
    shared_page_fill(shared_page, web_html(request), fill_slot, &fill);
    web_made(request, page_made_us(shared_page));
    page_release(shared_page);
    return STATUS_OK;
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/", show_front, .cache_ms = SHARED_PAGE_MS,
     .help = "The front page: who leads now and ever."},
};
ROUTE_TABLE(FRONT, ROUTES);
