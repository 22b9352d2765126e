/* front.c -- the front page: who leads, and how it works. */
#include "site/pages.h"
#include "site/views.h"

enum { FRONT_ROWS = 10 };

Status front_view(Site *site, Arena *arena, FrontView *ret_view)
{
    SettingsHistory settings;
    FrontView view = {.now_us = clock_now_us(site->app->world.clock), .arena = arena};
    TRY(accounts_settings(site->app->accounts, arena, &settings));
    view.settings = *settings_at(&settings, view.now_us);
    RankQuery recent = {.days = (uint32_t)view.settings.window_days}, ever = {0};
    TRY(cards_ranking(site->cards, &recent, 0, FRONT_ROWS, arena, &view.recent));
    TRY(cards_ranking(site->cards, &ever, 0, FRONT_ROWS, arena, &view.ever));
    *ret_view = view;
    return STATUS_OK;
}

static Status show_front(WebRequest *request)
{
    FrontView view;
    Frame frame = {.title = SLICE("Who leads"),
                   .description = SLICE("Earn votes, spend them on policies, watch the ranking."),
                   .address = SLICE("/"),
                   .topic = "front"};
    TRY(front_view(site_of(request), web_arena(request), &view));
    Buffer *out = page_begin(request, &frame);
    front_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/", show_front, .help = "The front page: who leads now and ever."},
};
const Room ROOM_FRONT = ROOM(ROUTES);
