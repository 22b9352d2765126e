/* glance.c -- the front room of those who run the site: how it is, what wants attention, what was done last. */
#include "site/admin/admin.h"
#include "site/pages.h"

/* ---- The view ------------------------------------------------------------------------------------------------------------ */

static Status count_tasks(Site *site, Arena *arena, uint64_t *ret_failing)
{
    TaskList list;
    uint64_t failing = 0;
    TRY(task_lines(site->ops, arena, &list));
    for (size_t i = 0; i < list.count; i++)
        failing += strcmp(list.tasks[i].state, "failed") == 0;
    *ret_failing = failing;
    return STATUS_OK;
}

static Status count_settings(Site *site, Arena *arena, uint64_t *ret_ahead)
{
    SettingsHistory history;
    uint64_t ahead = 0;
    TRY(settings_read(accounts_settings(site->app->accounts), arena, &history));
    for (size_t i = 0; i < history.count; i++)
        ahead += history.versions[i].from_us > clock_now_us(site->app->world.clock);
    *ret_ahead = ahead;
    return STATUS_OK;
}

static Status glance_view(Site *site, Arena *arena, GlanceView *ret_view)
{
    App *app = site->app;
    GlanceView view = {.now_us = clock_now_us(app->world.clock)};
    AuditListQuery query = {
        .instance = SLICE_EMPTY, .who = SLICE_EMPTY, .kind = SLICE_EMPTY, .limit = GLANCE_AUDIT};
    Reason reason = {0};
    Instance *instances;
    MailEntry *failed;
    size_t count;
    store_health(app->store, &view.health);
    TRY(maintenance_state(site->ops, arena, &view.maintenance));
    TRY(tasks_instances(app_tasks(app), arena, &instances, &count));
    view.instances = count;
    TRY(mail_list(app->mail, MAIL_FAILED, arena, &failed, &count));
    view.letters_failed = count;
    TRY(count_tasks(site, arena, &view.tasks_failing));
    TRY(count_settings(site, arena, &view.settings_ahead));
    TRY(electorate_read(app->accounts, arena, &view.electorate));
    app_journal_alarms(app, arena, &view.journals);
    TRY(audit_lines(site->ops, &query, arena, &view.acts, &reason));
    *ret_view = view;
    return STATUS_OK;
}

static Status show_glance(WebRequest *request)
{
    GlanceView view;
    Frame frame = {.title = SLICE("Running this site"), .here = "/admin"};
    TRY(glance_view(site_of(request), web_arena(request), &view));
    Buffer *out = page_begin(request, &frame);
    admin_glance_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/admin", show_glance, ADMIN_ROW(ADMIN_ROLES), .threads = WEB_SAVE,
     .help = "How the site is, at a glance, and the rooms of those who run it."},
};
ROUTE_TABLE(ADMIN_GLANCE, ROUTES);
