/* front.c -- the front page: who leads now and ever, where something happens, how it works; for voters what is theirs. */
#include "policies/featured.h"
#include "site/pages.h"
#include "site/views.h"

Status site_settings(Site *site, Arena *arena, VotingSettings *ret_settings)
{
    SettingsHistory history;
    TRY(accounts_settings(site->app->accounts, arena, &history));
    *ret_settings = *settings_at(&history, clock_now_us(site->app->world.clock));
    return STATUS_OK;
}

/* In their order, each with its rank by all votes. What cannot be seen or is in no ranking is left out. */
static Status featured_cards(Site *site, int64_t now_us, Arena *arena, CardPage *ret_page)
{
    Featured *list;
    size_t count;
    RankQuery ever = {0};
    TRY(policies_featured(site->app->policies, arena, &list, &count));
    CardPage page = {.cards = ARENA_ARRAY(arena, count, PolicyCard)};
    for (size_t i = 0; i < count; i++) {
        PolicyCard *card = &page.cards[page.count];
        RankPlace place;
        if (!featured_is_shown(&list[i], now_us) ||
            ranking_place(site->app->ranking, &ever, list[i].policy, &place) != STATUS_OK ||
            cards_one(site->cards, list[i].policy, arena, card) != STATUS_OK)
            continue;
        card->rank = place.self.rank;
        card->votes = card->total = place.self.total;
        page.count++;
    }
    *ret_page = page;
    return STATUS_OK;
}

Status front_view(Site *site, Arena *arena, FrontView *ret_view)
{
    FrontView view = {.now_us = clock_now_us(site->app->world.clock),
                      .arena = arena,
                      .site_name = slice_from(site->options.config->site_name)};
    TRY(site_settings(site, arena, &view.settings));
    RankQuery recent = {.days = (uint32_t)view.settings.window_days}, ever = {0};
    TRY(cards_ranking(site->cards, &recent, 0, FRONT_ROWS, arena, &view.recent));
    TRY(cards_ranking(site->cards, &ever, 0, FRONT_ROWS, arena, &view.ever));
    TRY(featured_cards(site, view.now_us, arena, &view.featured));
    hot_categories(site->hot, FRONT_HOT, arena, &view.hot, &view.hot_count);
    *ret_view = view;
    return STATUS_OK;
}

void site_mark_mine(WebRequest *request, CardPage *page)
{
    const SeenLine *lines;
    size_t count;
    if (site_viewer(request)->known && site_seen_lines(request, &lines, &count) == STATUS_OK)
        cards_mine(lines, count, page->cards, page->count);
}

/* ---- What is the viewer's ------------------------------------------------------------------------------------------------ */

/* The lines that hold most, the largest first; of equal ones the lower policy, as lines are in its order. */
static size_t largest_lines(const SeenLine *lines, size_t count, const SeenLine **ret_largest)
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
static void add_cards(WebRequest *request, FrontOwn *own)
{
    Site *site = site_of(request);
    const SeenLine *lines, *largest[FRONT_OWN_LOOKED];
    uint64_t policies[FRONT_OWN_LOOKED], ranks[FRONT_OWN_LOOKED];
    size_t count;
    RankQuery query = {.days = (uint32_t)own->settings.window_days};
    if (site_seen_lines(request, &lines, &count) != STATUS_OK)
        return;
    count = largest_lines(lines, count, largest);
    for (size_t i = 0; i < count; i++)
        policies[i] = largest[i]->policy;
    if (ranking_ranks(site->app->ranking, &query, policies, count, ranks) != STATUS_OK)
        return;
    for (size_t i = 0; i < count && own->count < FRONT_OWN; i++) {
        PolicyCard *card = &own->cards[own->count];
        if (ranks[i] == 0 ||
            cards_name(site->cards, policies[i], web_arena(request), card) != STATUS_OK)
            continue;
        card->rank = ranks[i];
        card->mine = largest[i]->held;
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
    TRY(accounts_settings(site->app->accounts, web_arena(request), &history));
    FrontOwn own = {.now_us = site_now_us(request),
                    .site_name = slice_from(site->options.config->site_name)};
    own.settings = *settings_at(&history, own.now_us);
    if (viewer->known && site_voter_state(request, &state) == STATUS_OK) {
        own.is_known = true;
        own.balance = state->balance;
        own.next_salary_us = salary_next_us(&history, viewer->account.registered_us, own.now_us);
        add_cards(request, &own);
    }
    *ret_own = own;
    return STATUS_OK;
}

static int64_t held_on(WebRequest *request, uint64_t policy)
{
    const SeenLine *lines;
    size_t count;
    if (!site_viewer(request)->known || site_seen_lines(request, &lines, &count) != STATUS_OK)
        return 0;
    for (size_t i = 0; i < count && lines[i].policy <= policy; i++)
        if (lines[i].policy == policy)
            return lines[i].held;
    return 0;
}

/* ---- The page ----------------------------------------------------------------------------------------------------------- */

static Status draw(void *self, uint64_t about, Arena *arena, SheetDraft *draft)
{
    const SheetDesk *desk = self;
    FrontView view;
    Frame frame = {.title = SLICE("Who leads"),
                   .description = SLICE("Everyone earns votes over time and spends them on "
                                        "policies. See who leads, and move the ranking."),
                   .address = SLICE("/"),
                   .topic = "front"};
    (void)about;
    TRY(front_view(desk->site, arena, &view));
    view.gaps = &draft->gaps;
    sheet_begin(desk, &frame, arena, draft);
    front_page(&draft->out, &view);
    sheet_end(desk, draft);
    return STATUS_OK;
}

typedef struct FrontFill {
    WebRequest *request;
    FrameOwn frame;
    FrontOwn own;
} FrontFill;

static void fill_gap(void *context, Buffer *out, const Gap *gap)
{
    const FrontFill *fill = context;
    if (gap->kind == GAP_HERO)
        front_hero(out, &fill->own);
    else if (gap->kind == GAP_MINE)
        own_mark(out, held_on(fill->request, gap->about));
    else
        frame_fill(&fill->frame, out, gap);
}

static Status show_front(WebRequest *request)
{
    CachedPage *sheet;
    FrontFill fill = {.request = request};
    SheetDesk desk = sheet_desk(request);
    SheetWish wish = {.name = SHEET_FRONT,
                      .draw = draw,
                      .self = &desk,
                      .voter = site_viewer(request)->account.id};
    TRY(front_own(request, &fill.own));
    TRY(sheets_get(desk.site->sheets, &wish, web_arena(request), &sheet));
    fill.frame = frame_own(request);
    sheet_fill(sheet, web_html(request), fill_gap, &fill);
    web_made(request, page_made_us(sheet));
    page_release(sheet);
    return STATUS_OK;
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/", show_front, .cache_ms = SHEET_MS,
     .help = "The front page: who leads now and ever.",
     .params = {{"done", WEB_QUERY, WEB_WORD, .optional = true, .words = DONE_WORDS,
                 .help = "What was just done, for the page to say."}}},
};
const Room ROOM_FRONT = ROOM(ROUTES);
