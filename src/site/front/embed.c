/* embed.c -- a policy's count for other people's pages: as a picture, and as a small page that may stand in a frame.
 *
 * These two are the only answers of the site that others may embed. They show what everybody may see, take no parameters, have
 * no forms, and are the same whoever asks: a frame cannot be used to trick a voter into anything. */
#include "draw/markdown.h"
#include "site/pages.h"
#include "site/views.h"

enum { NAME_BYTES = 44 };
enum { P_POLICY };

static Status count_view(WebRequest *request, CountView *ret_view)
{
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    Slice base = web_public_url(request);
    uint64_t id = web_id(request, P_POLICY);
    CountView view = {.site_name = slice_from(site->options.config->site_name)};
    RankPlace place;
    TRY(policy_summary_get(site->summaries, id, arena, &view.summary));
    if (!policy_state_listed(view.summary.state))
        return STATUS_NOT_FOUND;
    view.name = text_cut(view.summary.name, NAME_BYTES, arena);
    view.url = arena_print(arena, "%.*s%.*s", SLICE_ARG(base), SLICE_ARG(view.summary.address));
    if (ranking_place(site->app->ranking, &(RankQuery){0}, id, &place) == STATUS_OK) {
        view.rank = place.self.rank;
        view.total = place.self.total;
    }
    *ret_view = view;
    return STATUS_OK;
}

static Status show_count(WebRequest *request)
{
    CountView view;
    TRY(count_view(request, &view));
    web_header(request, "Content-Security-Policy",
               "default-src 'none'; style-src 'self'; frame-ancestors *; base-uri 'none'");
    web_header(request, "Cross-Origin-Opener-Policy", "unsafe-none");
    count_page(web_html(request), &view);
    return STATUS_OK;
}

static Status show_picture(WebRequest *request)
{
    CountView view;
    TRY(count_view(request, &view));
    web_header(request, "Cross-Origin-Resource-Policy", "cross-origin");
    count_picture(web_out(request, "image/svg+xml"), &view);
    return STATUS_OK;
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/policies/{id}/count", show_count, .cache_ms = 2000,
     .help = "A policy's votes and rank as a small page for frames on other sites.",
     .params = {[P_POLICY] = {"id", WEB_PATH, WEB_SLUG, .help = "The policy."}}},
    {WEB_GET, "/policies/{id}/count.svg", show_picture, .cache_ms = 2000,
     .help = "The same as a picture.",
     .params = {[P_POLICY] = {"id", WEB_PATH, WEB_SLUG, .help = "The policy."}}},
};
ROUTE_TABLE(EMBED, ROUTES);
