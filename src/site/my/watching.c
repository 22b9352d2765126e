/* watching.c -- /my/watching: the policies that somebody watches; and the button on each policy's page. */
#include "site/my/my_pages.h"
#include "site/pages.h"

static Status fill_watching(WebRequest *request, void *view, Frame *frame)
{
    WatchingPage *page = view;
    *frame = (Frame){.title = SLICE("Watch list"), .here = "/my/watching"};
    return my_watching(site_of(request)->ops, site_viewer(request)->account.id, web_arena(request),
                       &page->watching);
}

static void draw_watching(Buffer *out, const void *view)
{
    watching_page(out, view);
}

/* To the page that the button is on. */
static Slice back(WebRequest *request, const void *sent, const void *answer)
{
    uint64_t policy = *(const uint64_t *)sent; /* all that is sent */
    (void)answer;
    if (slice_equal(web_field(request, WEB_FORM, "from"), SLICE("list")))
        return SLICE("/my/watching");
    return my_policy_or_number(site_of(request)->ops, policy, site_viewer(request)->account.id,
                               web_arena(request))
        .address;
}

FORM(watch_add, WatchingPage, .fill = fill_watching, .draw = draw_watching, .leads = back);
FORM(watch_remove, WatchingPage, .fill = fill_watching, .draw = draw_watching, .leads = back);

static Status show_watching(WebRequest *request)
{
    WatchingPage page = {.form = {.csrf = site_viewer(request)->csrf}};
    Frame frame;
    TRY(fill_watching(request, &page, &frame));
    Buffer *out = page_begin(request, &frame);
    watching_page(out, &page);
    page_end(request, out);
    return STATUS_OK;
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/my/watching", show_watching, .access = WEB_LOGIN,
     .help = "The policies that whoever is logged in watches."},
};
ROUTE_TABLE(WATCHING, ROUTES);
