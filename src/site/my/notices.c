/* notices.c -- /my/notices: what happened to the policies that somebody voted for, watches or owns. */
#include "site/cached/notice_counts.h"
#include "site/my/my_pages.h"
#include "site/pages.h"

size_t site_notice_count(WebRequest *request)
{
    Site *site = site_of(request);
    uint64_t account = site_viewer(request)->account.id;
    PolicyNotice *list;
    size_t count = 0;
    if (notice_counts_find(site->notice_counts, account, &count))
        return count;
    if (notices_list(site->app->votes, account, web_arena(request), &list, &count) != STATUS_OK)
        count = 0; /* a header without a number; asked again after a while */
    notice_counts_put(site->notice_counts, account, count);
    return count;
}

/* ---- The page --------------------------------------------------------------------------------------------------------- */

static Status fill_notices(WebRequest *request, void *view, Frame *frame)
{
    NoticesPage *page = view;
    Site *site = site_of(request);
    uint64_t account = site_viewer(request)->account.id;
    *frame = (Frame){.title = SLICE("Notices"), .here = "/my/notices"};
    TRY(my_notices(site->ops, account, web_arena(request), &page->notices));
    notice_counts_put(site->notice_counts, account, page->notices.count);
    return STATUS_OK;
}

static void draw_notices(Buffer *out, const void *view)
{
    notices_page(out, view);
}

static Slice back(WebRequest *request, const void *sent, const void *answer)
{
    (void)request, (void)sent, (void)answer;
    return SLICE("/my/notices");
}

FORM(notice_dismiss_all, NoticesPage, .path = "/my/notices", .fill = fill_notices,
     .draw = draw_notices,
     .help = "What happened to the policies that whoever is logged in voted for, watches or owns.");
FORM(notice_dismiss, NoticesPage, .fill = fill_notices, .draw = draw_notices, .leads = back);
