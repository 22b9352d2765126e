/* watching.c -- /my/watching: the policies that somebody watches. */
#include "site/my_pages.h"
#include "site/pages.h"
#include "site/views.h"

Status my_watching(Site *site, uint64_t account, Arena *arena, MyWatching *ret_watching)
{
    VotingSettings settings;
    uint64_t *policies;
    MyWatching watching = {0};
    TRY(site_settings(site, arena, &settings));
    TRY(accounts_watched(site->app->accounts, account, arena, &policies, &watching.count));
    watching.window_days = (uint32_t)settings.window_days;
    watching.policies = ARENA_ARRAY(arena, watching.count, MyWatched);
    for (size_t i = 0; i < watching.count; i++) {
        MyWatched *watched = &watching.policies[i];
        uint64_t policy = policies[watching.count - 1 - i];
        TRY(my_policy(site, policy, account, arena, &watched->policy));
        watched->has_place =
            ranking_place(site->app->ranking, &(RankQuery){.days = watching.window_days}, policy,
                          &watched->place) == STATUS_OK;
    }
    *ret_watching = watching;
    return STATUS_OK;
}

static Status show_watching(WebRequest *request)
{
    MyWatching watching;
    Viewer *viewer = site_viewer(request);
    Frame frame = {.title = SLICE("Watch list"), .here = "/my/watching"};
    TRY(my_watching(site_of(request), viewer->account.id, web_arena(request), &watching));
    Buffer *out = page_begin(request, &frame);
    watching_page(out, &(WatchingPage){&watching, viewer});
    page_end(request, out);
    return STATUS_OK;
}

static Status stop_watching(WebRequest *request)
{
    TRY(accounts_watch(site_of(request)->app->accounts, site_viewer(request)->account.id,
                       web_id(request, 0), false));
    site_done(request, SLICE("/my/watching"), "unwatched", 0);
    return STATUS_OK;
}

/* clang-format off */
static const WebRoute ROUTES[] = {
    {WEB_GET, "/my/watching", show_watching, .access = WEB_LOGIN,
     .help = "The policies that whoever is logged in watches."},
    {WEB_POST, "/my/watching", stop_watching, .access = WEB_LOGIN, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Takes a policy off the watch list.",
     .params = {{"policy", WEB_FORM, WEB_ID, .help = "The policy."}}},
};
/* clang-format on */
const Room ROOM_WATCHING = ROOM(ROUTES);
