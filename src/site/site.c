/* site.c -- the site's life: its parts, its table of routes, its own thread. See site.h. */
#include "site/inside.h"

#include <stdlib.h>

#include "site/hot.h"
#include "site/live.h"
#include "site/notice_counts.h"
#include "site/views.h"
#include "web/metrics.h"

enum { RANKS_S = 60, HEAT_S = 10, POST_S = 3 };

static const Room *const ROOMS[] = {
#define X(name) &ROOM_##name,
    ROOM_LIST(X)
#undef X
};
enum { ROOMS_COUNT = sizeof ROOMS / sizeof ROOMS[0] };

const WebRoute *site_route(size_t index)
{
    for (size_t i = 0; i < ROOMS_COUNT; i++) {
        if (index < ROOMS[i]->count)
            return &ROOMS[i]->routes[index];
        index -= ROOMS[i]->count;
    }
    return NULL;
}

WebRoute *site_routes(size_t *ret_count)
{
    size_t count = 0;
    for (size_t i = 0; i < ROOMS_COUNT; i++)
        count += ROOMS[i]->count;
    WebRoute *routes = calloc(count, sizeof *routes), *at = routes;
    CHECK(routes != NULL);
    for (size_t i = 0; i < ROOMS_COUNT; i++) {
        memcpy(at, ROOMS[i]->routes, ROOMS[i]->count * sizeof *at);
        at += ROOMS[i]->count;
    }
    *ret_count = count;
    return routes;
}

void site_routes_free(WebRoute *routes)
{
    free(routes);
}

/* Questions about the past are long, and never hold all threads that answer. */
static int questions_at_once(const Config *config)
{
    return config->web_threads < 4 ? 1 : (int)config->web_threads / 2;
}

Site *site_new(const SiteOptions *options)
{
    Site *site = calloc(1, sizeof *site);
    CHECK(site != NULL);
    site->options = *options;
    site->app = options->app;
    site->cards = cards_new(options->app);
    site->curves = curves_new(options->app, questions_at_once(options->config));
    site->sheets = sheets_new(options->app->world);
    site->throttle = throttle_new(options->app->world);
    site->hot = hot_new(options->app);
    site->live = live_new(site);
    site->notice_counts = notice_counts_new(options->app->world.clock);
    site->routes = site_routes(&site->route_count);
    return site;
}

void site_free(Site *site)
{
    if (site == NULL)
        return;
    live_free(site->live);
    notice_counts_free(site->notice_counts);
    hot_free(site->hot);
    cards_free(site->cards);
    curves_free(site->curves);
    sheets_free(site->sheets);
    throttle_free(site->throttle);
    site_routes_free(site->routes);
    free(site);
}

static void print_metric(void *out, const char *name, const char *help, bool counter, double value)
{
    metrics_print_one(out, name, help, counter, value);
}

static void print_metrics(void *context, Buffer *out)
{
    Site *site = context;
    live_metrics(site->live, out);
    mail_metrics(site->app->mail, print_metric, out);
}

/* A page of another site can make its own name lead to this machine, and then read what a demo shows to everybody who asks here: all
 * letters, with their links. But its requests still bear that name. */
static bool is_at_home(void *context, Slice host)
{
    (void)context;
    return address_names_loopback(host);
}

/* What was hidden is hidden at once, also on pages that were kept for everybody. */
static int64_t pages_since(void *context)
{
    Site *site = context;
    return atomic_load(&site->changed_us);
}

void site_serve(Site *site, WebOptions *options)
{
    options->is_our_host = site->options.is_demo ? is_at_home : NULL;
    options->pages_since = pages_since;
    options->routes = site->routes;
    options->route_count = site->route_count;
    options->context = site;
    options->admit = door_admit;
    options->together = my_votes_together;
    options->together_most = store_is_shared(site->app->store) ? 1 : SITE_TOGETHER_MOST;
    options->session_cookie = DOOR_SESSION;
    options->told_field = "done"; /* see site_done */
    options->error_page = frame_error_page;
    options->metrics = print_metrics;
}

/* True while there is more to read. */
static bool refresh_curves(Site *site)
{
    ARENA_SCOPE Arena *arena = arena_new();
    VotingSettings settings;
    return site_settings(site, arena, &settings) == STATUS_OK &&
           curves_refresh(site->curves, (uint32_t)settings.window_days);
}

/* Looks several times a second whether to end, so that a stop does not wait. A failure shows what was there before. */
static void *keep(void *argument)
{
    Site *site = argument;
    Clock clock = site->app->world.clock;
    int64_t ranks_us = 0, heat_us = 0, curves_us = 0, post_us = 0;
    while (!atomic_load(&site->ends)) {
        int64_t now_us = clock_steady_us(clock);
        if (now_us >= ranks_us) {
            (void)!cards_refresh_yesterday(site->cards);
            ranks_us = now_us + RANKS_S * US_PER_S;
        }
        if (now_us >= heat_us) {
            (void)!hot_refresh(site->hot);
            heat_us = now_us + HEAT_S * US_PER_S;
        }
        bool has_more = now_us >= curves_us && refresh_curves(site);
        if (!has_more && now_us >= curves_us)
            curves_us = now_us + RANKS_S * US_PER_S;
        if (now_us >= post_us) {
            desk_post(site);
            post_us = now_us + POST_S * US_PER_S;
        }
        live_tick(site->live);
        if (!has_more) /* until the past is there, each page asks for its own, which takes long */
            clock_sleep_us(clock, US_PER_S / 5);
    }
    return NULL;
}

void site_start(Site *site, const char *home)
{
    site->home = home;
    CHECK(pthread_create(&site->keeper, NULL, keep, site) == 0);
    site->started = true;
}

void site_stop(Site *site)
{
    if (site == NULL)
        return;
    if (site->started) {
        atomic_store(&site->ends, true);
        pthread_join(site->keeper, NULL);
        site->started = false;
    }
    live_stop(site->live);
}
