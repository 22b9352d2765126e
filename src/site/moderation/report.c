/* report.c -- /policies/{policy}/report and /trouble: forms by which everybody can tell moderators something. */
#include "operations/report_make.h"
#include "site/moderation/moderation.h"
#include "site/pages.h"

static Status fill_report(WebRequest *request, void *view, Frame *frame)
{
    ReportPageView *page = view;
    page->form.focus = "words";
    page->is_known = site_viewer(request)->known;
    page->is_trouble = operation_input(page->form.operation, "policy") == NULL;
    page->back = page->is_known ? SLICE("/") : SLICE("/login");
    if (page->is_trouble)
        return STATUS_OK;
    PolicyHead head;
    uint64_t policy;
    TRY(form_thing(request, &page->form, "policy", &policy, web_reason(request)));
    TRY(policy_head(site_of(request)->ops, policy, site_actor(request), web_arena(request), &head));
    if (head.is_hidden)
        return STATUS_NOT_FOUND;
    page->back = head.address;
    page->policy_name = policy_title(&head);
    frame->title = arena_print(web_arena(request), "Report %.*s", SLICE_ARG(page->policy_name));
    return STATUS_OK;
}

static void draw_report(Buffer *out, const void *view)
{
    report_form_page(out, view);
}

/* Who cannot be told what comes of it is not promised it. */
static Slice policy_leads(WebRequest *request, const void *sent, const void *answer)
{
    const ReportMade *made = answer;
    (void)sent;
    return arena_print(web_arena(request), "%.*s?done=%s", SLICE_ARG(made->address),
                       made->is_answerable ? "reported" : "reported-unnamed");
}

static Slice trouble_leads(WebRequest *request, const void *sent, const void *answer)
{
    (void)sent, (void)answer;
    return site_viewer(request)->known ? SLICE("/") : SLICE("/login");
}

FORM(policy_report, ReportPageView, .path = "/policies/{policy}/report", .fill = fill_report,
     .draw = draw_report, .leads = policy_leads);
FORM(trouble_report, ReportPageView, .path = "/trouble",
     .title = "Trouble with logging in or joining", .fill = fill_report, .draw = draw_report,
     .leads = trouble_leads);
