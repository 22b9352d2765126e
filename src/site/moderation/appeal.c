/* appeal.c -- /appeal: what was changed about somebody's rights and why, and the form to appeal. For who is logged in, or has the link of the e-mail. */
#include "operations/people_appeals.h"
#include "site/moderation/moderation.h"
#include "site/pages.h"

static Status fill_appeal(WebRequest *request, void *view, Frame *frame)
{
    AppealPageView *page = view;
    Slice token = form_typed(&page->form, "token");
    (void)frame;
    page->now_us = site_now_us(request);
    return rights_view(site_of(request)->ops, site_actor(request), token, web_arena(request),
                       &page->rights, web_reason(request));
}

static void draw_appeal(Buffer *out, const void *view)
{
    rights_appeal_page(out, view);
}

/* Who came by the link is led back to it. */
static Slice appeal_leads(WebRequest *request, const void *sent, const void *answer)
{
    (void)sent, (void)answer;
    return site_viewer(request)->known ? SLICE("/appeal") : SLICE("/");
}

FORM(rights_appeal, AppealPageView, .path = "/appeal", .title = "Your rights", .fill = fill_appeal,
     .draw = draw_appeal, .leads = appeal_leads,
     .help = "The last change of one's rights, and the form to appeal against it.");
