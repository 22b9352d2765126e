/* my_history.c -- /my/history: what somebody saved and earned, the newest first. */
#include "site/my/my_pages.h"
#include "site/pages.h"

enum { P_BEFORE };

static Status show_history(WebRequest *request)
{
    MyHistory history;
    Arena *arena = web_arena(request);
    VoteHistory ask = {.before = web_id(request, P_BEFORE), .limit = MY_HISTORY_PAGE};
    Frame frame = {.title = SLICE("My history"), .here = "/my/history"};
    TRY(my_history(site_of(request)->ops, &site_viewer(request)->account, &ask, arena, &history));
    HistoryPage page = {.history = &history};
    if (ask.before > 0)
        page.pager.before = SLICE("/my/history");
    if (history.before > 0)
        page.pager.after =
            arena_print(arena, "/my/history?before=%llu", (unsigned long long)history.before);
    Buffer *out = page_begin(request, &frame);
    my_history_page(out, &page);
    page_end(request, out);
    return STATUS_OK;
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/my/history", show_history, .shows = "vote_history", .access = WEB_LOGIN,
     .help = "All saves and salaries of whoever is logged in, the newest first.",
     .params = {[P_BEFORE] = {"before", WEB_QUERY, WEB_ID, .optional = true,
                              .help = "Saves before this number."}}},
};
ROUTE_TABLE(MY_HISTORY, ROUTES);
