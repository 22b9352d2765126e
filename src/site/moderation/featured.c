/* featured.c -- /desk/featured: which policies stand first on the front page, in which order, from when and until when. */
#include "site/moderation/moderation.h"
#include "site/pages.h"

static Status fill_page(WebRequest *request, void *view, Frame *frame)
{
    FeaturedPage *page = view;
    *frame = (Frame){.title = SLICE("Featured policies"), .here = "/desk"};
    return featured_list(site_of(request)->ops, web_arena(request), &page->list);
}

static void draw_page(Buffer *out, const void *view)
{
    featured_page(out, view);
}

static Slice back(WebRequest *request, const void *sent, const void *answer)
{
    (void)request, (void)sent, (void)answer;
    return SLICE("/desk/featured");
}

FORM(feature_set, FeaturedPage, .path = "/desk/featured", .fill = fill_page, .draw = draw_page,
     .help = "The policies that stand first on the front page.");
FORM(feature_remove, FeaturedPage, .fill = fill_page, .draw = draw_page, .leads = back);
