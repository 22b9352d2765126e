/* about.c -- what this site is, and its rules in plain words with the numbers that are in force. */
#include "site/pages.h"
#include "site/views.h"

static Status about_view(Site *site, Arena *arena, AboutView *ret_view)
{
    AboutView view = {.site_name = slice_from(site->options.config->site_name)};
    RankPage page;
    TRY(operations_settings(site->ops, arena, &view.settings));
    TRY(ranking_page(site->app->ranking, &(RankQuery){0}, 0, 1, arena, &page));
    view.policies = page.policies;
    TRY(privacy_view(site->ops, arena, &view.privacy));
    *ret_view = view;
    return STATUS_OK;
}

static Status show(WebRequest *request, const Frame *frame,
                   void (*page)(Buffer *out, const AboutView *view))
{
    AboutView view;
    TRY(about_view(site_of(request), web_arena(request), &view));
    Buffer *out = page_begin(request, frame);
    page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_about(WebRequest *request)
{
    return show(
        request,
        &(Frame){.title = SLICE("About this site"),
                 .description = SLICE("What this site is, and why its counts can be believed."),
                 .address = SLICE("/about"),
                 .is_narrow = true},
        about_page);
}

static Status show_help(WebRequest *request)
{
    return show(
        request,
        &(Frame){.title = SLICE("How it works"),
                 .description = SLICE("Pollies, votes, taking back, rankings: all the rules."),
                 .address = SLICE("/help"),
                 .is_narrow = true},
        help_page);
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/about", show_about, .cache_ms = 60000, .help = "What this site is."},
    {WEB_GET, "/help", show_help, .cache_ms = 60000,
     .help = "The rules of the site in plain words."},
};
ROUTE_TABLE(ABOUT, ROUTES);
