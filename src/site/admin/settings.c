/* settings.c -- /admin/settings: the rules of the vote, and how long things are kept. A change of a rule is shown with what it does, before and
 * after, and when, before it is made. */
#include "base/time_text.h"
#include "site/admin/admin.h"
#include "site/pages.h"

static Status fill(WebRequest *request, void *view, Frame *frame)
{
    SettingsPage *page = view;
    Operations *ops = site_of(request)->ops;
    Arena *arena = web_arena(request);
    TRY(settings_view(ops, arena, &page->settings));
    page->change = form_beside(&page->form, &OPERATION_setting_set);
    if (page->change.is_preview) {
        int64_t from_us = 0;
        Slice from = slice_trim(form_typed(&page->change, "from"));
        if (from.size > 0)
            TRY(time_from_text(from, &from_us)); /* it was judged before */
        Status status = setting_preview(ops, form_typed(&page->change, "name"),
                                        slice_trim(form_typed(&page->change, "value")), from_us,
                                        arena, &page->preview, web_reason(request));
        page->is_preview = status == STATUS_OK;
        if (!page->is_preview && !form_can_be_corrected(status))
            return status;
        if (!page->is_preview)
            page->form.fault = page->change.fault = form_fault(web_reason(request));
    }
    *frame = (Frame){.title = page->is_preview ? SLICE("What this change does")
                                               : SLICE("Rules of the vote"),
                     .here = "/admin"};
    return STATUS_OK;
}

static void draw(Buffer *out, const void *view)
{
    if (((const SettingsPage *)view)->is_preview)
        admin_setting_preview(out, view);
    else
        admin_settings_page(out, view);
}

static Slice back(WebRequest *request, const void *sent, const void *answer)
{
    (void)request, (void)sent, (void)answer;
    return SLICE("/admin/settings");
}

FORM(setting_set, SettingsPage, .path = "/admin/settings", .fill = fill, .draw = draw,
     .previews = true,
     .help = "The rules of the vote, what is planned, and how long things are kept.");
FORM(period_set, SettingsPage, .fill = fill, .draw = draw, .leads = back);
