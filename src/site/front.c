/* front.c -- the front page: who leads now and ever, where something happens, how it works; for voters what is theirs. */
#include <stdlib.h>

#include "site/pages.h"
#include "site/views.h"

Status site_settings(Site *site, Arena *arena, VotingSettings *ret_settings)
{
    SettingsHistory history;
    TRY(accounts_settings(site->app->accounts, arena, &history));
    *ret_settings = *settings_at(&history, clock_now_us(site->app->world.clock));
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
    hot_categories(site->hot, FRONT_HOT, arena, &view.hot, &view.hot_count);
    *ret_view = view;
    return STATUS_OK;
}

static Status seen_lines(WebRequest *request, SeenLine **ret_lines, size_t *ret_count)
{
    const VoterState *state;
    TRY(site_voter_state(request, &state));
    return votes_seen(site_of(request)->app->votes, state, web_arena(request), ret_lines,
                      ret_count);
}

void site_mark_mine(WebRequest *request, CardPage *page)
{
    SeenLine *lines;
    size_t count;
    if (site_viewer(request)->known && seen_lines(request, &lines, &count) == STATUS_OK)
        cards_mine(lines, count, page->cards, page->count);
}

static int by_held(const void *a, const void *b)
{
    const SeenLine *x = a, *y = b;
    if (x->held != y->held)
        return x->held > y->held ? -1 : 1;
    return x->policy < y->policy ? -1 : x->policy > y->policy;
}

/* The lines that hold most, with their places in the window. */
static Status own_cards(WebRequest *request, uint32_t days, CardPage *ret_page)
{
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    SeenLine *lines;
    size_t count;
    RankQuery query = {.days = days};
    TRY(seen_lines(request, &lines, &count));
    qsort(lines, count, sizeof *lines, by_held);
    CardPage page = {.cards = ARENA_ARRAY(arena, FRONT_OWN, PolicyCard)};
    for (size_t i = 0; i < count && page.count < FRONT_OWN; i++) {
        PolicyCard *card = &page.cards[page.count];
        RankPlace place;
        if (cards_one(site->cards, lines[i].policy, arena, card) != STATUS_OK ||
            ranking_place(site->app->ranking, &query, card->id, &place) != STATUS_OK)
            continue; /* not in the ranking any more: My votes says why */
        card->rank = place.self.rank;
        card->votes = place.self.votes;
        card->total = place.self.total;
        card->mine = lines[i].held;
        page.count++;
    }
    *ret_page = page;
    return STATUS_OK;
}

/* What cannot be read is left out: the page is about the ranking. */
static void add_own(WebRequest *request, FrontView *view)
{
    Site *site = site_of(request);
    const Viewer *viewer = site_viewer(request);
    const VoterState *state;
    SettingsHistory history;
    if (!viewer->known || site_voter_state(request, &state) != STATUS_OK ||
        accounts_settings(site->app->accounts, web_arena(request), &history) != STATUS_OK)
        return;
    view->is_known = true;
    view->balance = state->balance;
    view->next_salary_us = salary_next_us(&history, viewer->account.registered_us, view->now_us);
    (void)!own_cards(request, (uint32_t)view->settings.window_days, &view->own);
    site_mark_mine(request, &view->recent);
    site_mark_mine(request, &view->ever);
}

static Status show_front(WebRequest *request)
{
    FrontView view;
    Frame frame = {.title = SLICE("Who leads"),
                   .description = SLICE("Everyone earns votes over time and spends them on "
                                        "policies. See who leads, and move the ranking."),
                   .address = SLICE("/"),
                   .topic = "front"};
    TRY(front_view(site_of(request), web_arena(request), &view));
    add_own(request, &view);
    Buffer *out = page_begin(request, &frame);
    front_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/", show_front, .cache_ms = 1000, .help = "The front page: who leads now and ever."},
};
const Room ROOM_FRONT = ROOM(ROUTES);
