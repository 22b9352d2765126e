/* activity.c -- the audit log as admins see it: all of it, by instance, by person, by kind, with who, from where and what changed. */
#include "site/admin/admin.h"
#include "site/pages.h"

/* Where nobody, or nothing, is of that name the list is empty, and the field says why. */
static Status fill_activity(WebRequest *request, ActivityView *view)
{
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    Status status = audit_lines(site->ops, &view->want, arena, &view->list, web_reason(request));
    if (form_can_be_corrected(status))
        view->fault = form_fault(web_reason(request));
    else
        TRY(status);
    if (view->list.next.size > 0)
        view->pager.after = arena_print(arena, "/admin/activity%.*s", SLICE_ARG(view->list.next));
    return tasks_instances(app_tasks(site->app), arena, &view->instances, &view->instance_count);
}

enum { P_INSTANCE, P_WHO, P_KIND, P_BEFORE };

static Status show_activity(WebRequest *request)
{
    ActivityView view = {.now_us = site_now_us(request),
                         .want = {.instance = slice_trim(web_text(request, P_INSTANCE)),
                                  .who = slice_trim(web_text(request, P_WHO)),
                                  .kind = slice_trim(web_text(request, P_KIND))},
                         .list = {.next = SLICE_EMPTY},
                         .pager = {.before = SLICE_EMPTY, .after = SLICE_EMPTY}};
    Slice before = web_text(request, P_BEFORE);
    Frame frame = {.title = SLICE("Activity"), .here = "/admin"};
    if (before.size > 0 && id_from_text(before, &view.want.before) != STATUS_OK)
        return STATUS_NOT_FOUND;
    TRY(fill_activity(request, &view));
    if (view.fault.is_set)
        web_code(request, 422);
    Buffer *out = page_begin(request, &frame);
    admin_activity_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/admin/activity", show_activity, .shows = "audit_list_all", ADMIN_ROW(ADMIN_ROLES),
     .threads = WEB_SAVE, .help = "All acts, newest first: who, what, when, from where, why.",
     .params = {[P_INSTANCE] = {"instance", WEB_QUERY, WEB_LINE, .fallback = "", .most = 200,
                                .help = "Only of this instance, by its address."},
                [P_WHO] = {"who", WEB_QUERY, WEB_LINE, .fallback = "", .most = 300,
                           .help = "Only by this person: name or e-mail address."},
                [P_KIND] = {"kind", WEB_QUERY, WEB_LINE, .fallback = "", .most = 60,
                            .help = "Only of this kind, as in person-rights."},
                [P_BEFORE] = {"before", WEB_QUERY, WEB_OPAQUE, .fallback = "", .most = 64,
                              .help = "Only older ones than this."}}},
};
ROUTE_TABLE(ADMIN_ACTIVITY, ROUTES);
