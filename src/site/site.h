/* site.h -- what visitors, voters and programs see: pages, forms, the JSON API and live events, over the modules of the app.
 *
 *     Site *site = site_new(&(SiteOptions){.app = &app, .config = &config, .log = log});
 *     WebOptions options = {…, .context = site};
 *     site_serve(site, &options);        // its routes, its admission, its error pages
 *     TRY(web_server_start(&options, &server, &reason));
 *     site_start(site, web_server_public_url(server));
 * Where things are:
 *     admission.c   who is asking: session or token, access of the route, the form's token against forgery
 *     frame.c       what stands around every page; error pages
 *     cached/       what is kept in memory for many requests: summaries of policies, shared pages, ranks of the past
 *     pages/        the templates, compiled by tools/templates.py
 *     front/, policies/, my/, account/, moderation/, admin/   a file for each page: its routes, and handlers of about ten lines
 *     api/          the same views as JSON
 * Rules of the site:
 *   1. A handler fills a view by calling operations, and hands it to a template or a JSON writer; it decides nothing that a
 *      rule could decide below.
 *   2. Everything works by forms without scripts. A form that is refused comes back with what was typed, the rule at its
 *      field, and code 422; one that is accepted is answered by a redirect (303).
 *   3. What stands between is said: refused, someone was first, or unknown.
 *   4. A page that shows anything of the viewer's is never stored by anybody (Cache-Control: no-store). */
#pragma once

#include "app/app.h"
#include "operations/operation.h"
#include "web/server.h"

typedef struct Site Site;

/* All that is pointed to must outlive the site. */
typedef struct SiteOptions {
    App *app;
    const Config *config;
    Log *log;
    Operations *ops;
    bool is_demo; /* shows demo log-ins, and on loopback the letters that were not sent */
} SiteOptions;

Site *site_new(const SiteOptions *options);
void site_free(Site *site);
/* Fills routes, context, admit and error_page of the server's options. */
void site_serve(Site *site, WebOptions *options);
/* The row of the table of routes at `index`, or NULL after the last. Needs no site. */
const WebRoute *site_route(size_t index);
/* The thread that keeps yesterday's ranks, what is hot, passes changes on to open pages, and writes letters about reports. `home` is where
 * the site is (web_server_public_url), and must outlive it. */
void site_start(Site *site, const char *home);
/* After the server has stopped, and before the app is closed; site_free comes after that. */
void site_stop(Site *site);

/* docs/api.md, from the routes and what answers hold. */
void api_markdown(Buffer *out);
