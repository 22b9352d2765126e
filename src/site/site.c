/* site.c -- the site's life: its parts, its table of routes, its own thread. See site.h. */
#include "app/journal_watch.h"
#include "operations/policy_head.h"
#include "operations/rank_cache.h"
#include "site/site_private.h"

#include <stdlib.h>

#include "base/threads.h"
#include "site/cached/notice_counts.h"
#include "site/cached/trending.h"
#include "site/forms.h"
#include "site/journal_live.h"
#include "site/journal_metrics.h"
#include "site/journal_rates.h"
#include "site/live.h"
#include "site/views.h"
#include "web/metrics.h"

enum { RANKS_S = 60, HEAT_S = 10 };

static struct {
    WebRoute *routes;
    size_t count;
} made;

/* Those whose address has a name in it, or the others. */
static void add_forms(bool are_plain)
{
    for (size_t i = 0; FORMS[i] != NULL; i++) {
        WebRoute *route = &made.routes[made.count];
        if (form_shown_route(FORMS[i], route) && (strchr(route->path, '{') == NULL) == are_plain)
            made.count++;
        if ((strchr(FORMS[i]->operation->page.path, '{') == NULL) == are_plain)
            made.routes[made.count++] = form_sent_route(FORMS[i]);
    }
}

static void make_routes(void)
{
    size_t most = 0;
    for (size_t i = 0; ROUTE_TABLES[i] != NULL; i++)
        most += ROUTE_TABLES[i]->count;
    for (size_t i = 0; OPERATIONS[i] != NULL; i++)
        most++;
    for (size_t i = 0; FORMS[i] != NULL; i++)
        most += 2;
    made.routes = calloc(most, sizeof *made.routes);
    CHECK(made.routes != NULL);
    add_forms(true); /* the first that fits wins: "/policies/new" before "/policies/{policy}" */
    for (size_t i = 0; ROUTE_TABLES[i] != NULL; i++) {
        memcpy(made.routes + made.count, ROUTE_TABLES[i]->routes,
               ROUTE_TABLES[i]->count * sizeof *made.routes);
        made.count += ROUTE_TABLES[i]->count;
    }
    for (size_t i = 0; OPERATIONS[i] != NULL; i++)
        if (OPERATIONS[i]->api.path != NULL)
            made.routes[made.count++] = operation_route(OPERATIONS[i]);
    add_forms(false);
}

const WebRoute *site_routes(size_t *ret_count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_routes);
    *ret_count = made.count;
    return made.routes;
}

const WebRoute *site_route(size_t index)
{
    size_t count;
    const WebRoute *routes = site_routes(&count);
    return index < count ? &routes[index] : NULL;
}

/* What was hidden is hidden at once, whichever door or instance hid it: pages that are kept are drawn anew, and open ones hear of it. */
static void hear_change(void *self, ChangeKind kind, uint64_t id)
{
    Site *site = self;
    if (kind == CHANGE_NOTICES) {
        notice_counts_forget(site->notice_counts, id);
        return;
    }
    if (kind == CHANGE_POLICY)
        shared_pages_changed(site->shared_pages, SHARED_PAGE_POLICY, id);
    if (kind == CHANGE_ACCOUNT) /* whose name may be on any of them */
        shared_pages_changed(site->shared_pages, SHARED_PAGE_POLICY, SHARED_PAGES_ALL);
    if (kind == CHANGE_POLICY || kind == CHANGE_TEXT || kind == CHANGE_ACCOUNT)
        atomic_store(&site->changed_us, clock_steady_us(site->app->world.clock));
    if (kind == CHANGE_VOTES)
        shared_pages_saved(site->shared_pages, id);
    else if (kind != CHANGE_RANKING)
        shared_pages_changed(site->shared_pages, SHARED_PAGE_FRONT, 0);
    live_changed(site->live);
}

Site *site_new(const SiteOptions *options)
{
    Site *site = calloc(1, sizeof *site);
    CHECK(site != NULL);
    site->options = *options;
    site->app = options->app;
    site->ops = options->ops;
    site->summaries = options->ops->summaries;
    site->shared_pages = shared_pages_new(options->app->world);
    site->trending = trending_new(options->app);
    site->live = live_new(site);
    site->journal_live = journal_live_new(site);
    site->journal_rates = journal_rates_new(site);
    site->notice_counts = notice_counts_new(options->app->world.clock);
    changes_listen(site->app->changes, (ChangeListener){hear_change, site});
    return site;
}

void site_free(Site *site)
{
    if (site == NULL)
        return;
    live_free(site->live);
    journal_live_free(site->journal_live);
    journal_rates_free(site->journal_rates);
    notice_counts_free(site->notice_counts);
    trending_free(site->trending);
    shared_pages_free(site->shared_pages);
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
    journal_metrics_print(site->app, out);
    metrics_print_one(out, "ostraka_damaged_voters",
                      "Voters whose row or log cannot be read; `verify` names them.", false,
                      (double)votes_damaged_count(site->app->votes));
}

static void write_health(void *context, JsonWriter *json)
{
    Site *site = context;
    json_member_i64(json, "damaged_voters", (int64_t)votes_damaged_count(site->app->votes));
    app_journal_health(site->app, json);
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
    options->routes = site_routes(&options->route_count);
    options->context = site;
    options->admit = site_admit;
    options->admit_body = site_admit_body;
    options->batch_max = store_is_shared(site->app->store) ? 1 : WEB_BATCH_MAX;
    options->session_cookie = COOKIE_ROWS[COOKIE_SESSION].name;
    options->page_variant = frame_variant;
    options->error_page = frame_error_page;
    options->metrics = print_metrics;
    options->health = write_health;
}

/* True while there is more to read. */
static bool refresh_rank_cache(Site *site)
{
    ARENA_SCOPE Arena *arena = arena_new();
    VotingSettings settings;
    return operations_settings(site->ops, arena, &settings) == STATUS_OK &&
           rank_cache_refresh(site->ops->rank_cache, (uint32_t)settings.window_days);
}

/* Looks several times a second whether to end, so that a stop does not wait. A failure shows what was there before. */
static void *keep(void *argument)
{
    Site *site = argument;
    Clock clock = site->app->world.clock;
    int64_t ranks_us = 0, heat_us = 0, rank_cache_us = 0;
    while (!atomic_load(&site->ends)) {
        int64_t now_us = clock_steady_us(clock);
        if (now_us >= ranks_us) {
            (void)!policy_summaries_refresh_yesterday(site->summaries);
            ranks_us = now_us + RANKS_S * US_PER_S;
        }
        if (now_us >= heat_us) {
            (void)!trending_refresh(site->trending);
            heat_us = now_us + HEAT_S * US_PER_S;
        }
        bool has_more = now_us >= rank_cache_us && refresh_rank_cache(site);
        if (!has_more && now_us >= rank_cache_us)
            rank_cache_us = now_us + RANKS_S * US_PER_S;
        live_tick(site->live);
        journal_rates_tick(site->journal_rates);
        if (!has_more) /* until the past is there, each page asks for its own, which takes long */
            clock_sleep_us(clock, US_PER_S / 5);
    }
    return NULL;
}

void site_start(Site *site, const char *home)
{
    site->home = home;
    site->refresher = thread_start(THREAD_REFRESHER, keep, site);
    site->started = true;
}

void site_stop(Site *site)
{
    if (site == NULL)
        return;
    if (site->started) {
        atomic_store(&site->ends, true);
        pthread_join(site->refresher, NULL);
        site->started = false;
    }
    live_stop(site->live);
    journal_live_stop(site->journal_live);
}
