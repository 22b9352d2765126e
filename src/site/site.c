/* site.c -- the site's life: its parts, its table of routes, its own thread. See site.h. */
#include "site/inside.h"

#include <stdlib.h>

#include "site/hot.h"
#include "site/live.h"

enum { REFRESH_S = 60 };

static const Room *const ROOMS[] = {
#define X(name) &ROOM_##name,
    ROOM_LIST(X)
#undef X
};
enum { ROOMS_COUNT = sizeof ROOMS / sizeof ROOMS[0] };

static void gather_routes(Site *site)
{
    for (size_t i = 0; i < ROOMS_COUNT; i++)
        site->route_count += ROOMS[i]->count;
    site->routes = calloc(site->route_count, sizeof *site->routes);
    CHECK(site->routes != NULL);
    WebRoute *at = site->routes;
    for (size_t i = 0; i < ROOMS_COUNT; i++) {
        memcpy(at, ROOMS[i]->routes, ROOMS[i]->count * sizeof *at);
        at += ROOMS[i]->count;
    }
}

Site *site_new(const SiteOptions *options)
{
    Site *site = calloc(1, sizeof *site);
    CHECK(site != NULL);
    site->options = *options;
    site->app = options->app;
    site->cards = cards_new(options->app);
    site->hot = hot_new(options->app);
    gather_routes(site);
    return site;
}

void site_free(Site *site)
{
    if (site == NULL)
        return;
    hot_free(site->hot);
    cards_free(site->cards);
    free(site->routes);
    free(site);
}

void site_serve(Site *site, WebOptions *options)
{
    options->routes = site->routes;
    options->route_count = site->route_count;
    options->context = site;
    options->admit = door_admit;
    options->error_page = frame_error_page;
}

/* Looks every second whether to end, so that a stop does not wait for a minute. */
static void *keep(void *argument)
{
    Site *site = argument;
    Clock clock = site->app->world.clock;
    for (int64_t next_us = 0; !atomic_load(&site->ends);) {
        int64_t now_us = clock_steady_us(clock);
        if (now_us >= next_us) {
            (void)!cards_refresh_yesterday(
                site->cards);              /* a failure shows no arrows, for a minute */
            (void)!hot_refresh(site->hot); /* nor new heat */
            next_us = now_us + REFRESH_S * US_PER_S;
        }
        clock_sleep_us(clock, US_PER_S / 5);
    }
    return NULL;
}

void site_start(Site *site)
{
    CHECK(pthread_create(&site->keeper, NULL, keep, site) == 0);
    site->started = true;
}

void site_stop(Site *site)
{
    if (site == NULL || !site->started)
        return;
    atomic_store(&site->ends, true);
    pthread_join(site->keeper, NULL);
    site->started = false;
}
