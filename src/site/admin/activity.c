/* activity.c -- the log of acts as admins see it: all of them, by instance, by person, by kind, with who, from where and what changed. */
#include "site/admin/admin.h"
#include "site/pages.h"

static Slice next_address(const ActivityView *view, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    buffer_text(&out, "/admin/activity?instance=");
    url_part_put_slice(&out, view->wish.instance);
    buffer_text(&out, "&who=");
    url_part_put_slice(&out, view->wish.who);
    buffer_text(&out, "&kind=");
    url_part_put_slice(&out, view->wish.kind);
    buffer_print(&out, "&before=%.*s", SLICE_ARG(view->next));
    return arena_copy(arena, buffer_slice(&out));
}

/* Nobody of that name, or no such kind: then the list is empty, and the field says why. */
static Status read_query(Site *site, const ActivityWish *wish, Arena *arena, AuditQuery *query,
                         Reason *reason)
{
    Account account;
    if (wish->who.size > 0) {
        Status status = accounts_find(site->app->accounts, wish->who, arena, &account);
        if (status == STATUS_NOT_FOUND)
            return reason_set(reason, STATUS_REFUSED, "who", "nobody is called that");
        TRY(status);
        query->has_actor = true;
        query->actor = account.id;
    }
    query->has_kind = wish->kind.size > 0;
    if (query->has_kind && act_kind_from(wish->kind, &query->kind) != STATUS_OK)
        return reason_set(reason, STATUS_REFUSED, "kind", "there is no such kind of act");
    if (wish->before.size > 0 && id_from_text(wish->before, &query->before) != STATUS_OK)
        return STATUS_NOT_FOUND;
    query->instance = wish->instance;
    return STATUS_OK;
}

Status activity_view(Site *site, const ActivityWish *wish, Arena *arena, ActivityView *ret_view)
{
    ActivityView view = {.now_us = clock_now_us(site->app->world.clock),
                         .wish = *wish,
                         .next = SLICE_EMPTY,
                         .next_address = SLICE_EMPTY};
    AuditQuery query = {.instance = SLICE_EMPTY, .limit = ACTIVITY_ROWS};
    Reason reason = {.rule = ""};
    Status status = read_query(site, wish, arena, &query, &reason);
    if (status == STATUS_REFUSED)
        view.fault = form_fault(ARENA_NEW(arena, Reason));
    else
        TRY(status);
    if (status == STATUS_REFUSED) {
        view.fault.field = arena_copy(arena, slice_from(reason.field));
        view.fault.rule = arena_copy(arena, slice_from(reason.rule));
    } else {
        TRY(act_lines(site, &query, arena, &view.lines, &view.count));
    }
    if (view.count == ACTIVITY_ROWS) {
        view.next = id_text(view.lines[view.count - 1].entry.id, arena);
        view.next_address = next_address(&view, arena);
    }
    TRY(tasks_instances(app_tasks(site->app), arena, &view.instances, &view.instance_count));
    *ret_view = view;
    return STATUS_OK;
}

static Status show_activity(WebRequest *request)
{
    ActivityView view;
    ActivityWish wish = {slice_trim(web_text(request, 0)), slice_trim(web_text(request, 1)),
                         slice_trim(web_text(request, 2)), web_text(request, 3)};
    Frame frame = {.title = SLICE("Activity"), .here = "/admin"};
    TRY(activity_view(site_of(request), &wish, web_arena(request), &view));
    if (view.fault.is_set)
        web_code(request, 422);
    Buffer *out = page_begin(request, &frame);
    admin_activity_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/admin/activity", show_activity, ADMIN_ROW(ADMIN_ROLES), .threads = WEB_SAVE,
     .help = "All acts, newest first: who, what, when, from where, why.",
     .params = {{"instance", WEB_QUERY, WEB_LINE, .fallback = "", .most = 200,
                 .help = "Only of this instance, by its address."},
                {"who", WEB_QUERY, WEB_LINE, .fallback = "", .most = 300,
                 .help = "Only by this person: name or e-mail address."},
                {"kind", WEB_QUERY, WEB_LINE, .fallback = "", .most = 60,
                 .help = "Only of this kind, as in person-rights."},
                {"before", WEB_QUERY, WEB_OPAQUE, .fallback = "", .most = 64,
                 .help = "Only older ones than this."}}},
};
const Room ROOM_ADMIN_ACTIVITY = ROOM(ROUTES);
