/* machine.c -- the machine room: tasks with their progress and errors, instances, the store's health, a backup now, maintenance mode. */
#include "site/admin/admin.h"
#include "site/pages.h"

/* ---- Tasks --------------------------------------------------------------------------------------------------------------- */

static void add_part(TaskLine *line, const TaskInfo *info)
{
    line->parts++;
    line->parts_under_way += info->under_way;
    line->done += info->done;
    line->found += info->found;
    line->errors += info->errors;
    if (info->begun_us > line->begun_us) {
        line->begun_us = info->begun_us;
        line->took_ms = info->took_us / US_PER_MS;
    }
    if (info->error_us > line->error_us) {
        line->error_us = info->error_us;
        line->error = info->error;
    }
    if (info->begun_us != 0 && !info->under_way && info->whole_us != info->begun_us)
        line->state = "failed"; /* the last pass left something out */
}

Status tasks_view(Site *site, Arena *arena, TasksView *ret_view)
{
    TaskInfo *infos;
    size_t count;
    TasksView view = {.now_us = clock_now_us(site->app->world.clock)};
    TRY(tasks_list(app_tasks(site->app), arena, &infos, &count));
    view.tasks = ARENA_ARRAY(arena, count, TaskLine);
    for (size_t i = 0; i < count; i++) {
        if (view.count == 0 || strcmp(view.tasks[view.count - 1].name, infos[i].name) != 0)
            view.tasks[view.count++] = (TaskLine){.name = infos[i].name,
                                                  .help = infos[i].help,
                                                  .state = "waits",
                                                  .period_s = infos[i].period_s,
                                                  .error = SLICE_EMPTY};
        add_part(&view.tasks[view.count - 1], &infos[i]);
    }
    for (size_t i = 0; i < view.count; i++)
        if (view.tasks[i].parts_under_way > 0)
            view.tasks[i].state = "under way";
    *ret_view = view;
    return STATUS_OK;
}

static Status show_tasks(WebRequest *request)
{
    TasksView view;
    Frame frame = {.title = SLICE("Tasks"), .here = "/admin"};
    TRY(tasks_view(site_of(request), web_arena(request), &view));
    view.viewer = site_viewer(request);
    Buffer *out = page_begin(request, &frame);
    admin_tasks_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

Status admin_run_task(WebRequest *request, Slice name)
{
    Id act;
    Tasks *tasks = app_tasks(site_of(request)->app);
    TRY(site_act(request, &(Act){.kind = ACT_TASK_RUN, .details = name}, &act));
    Status status = tasks_ask(tasks, name, web_reason(request));
    site_act_end(request, act, status);
    return status;
}

static Status run_task(WebRequest *request)
{
    TRY(admin_run_task(request, web_text(request, 0)));
    site_done(request, SLICE("/admin/tasks"), "task", 0);
    return STATUS_OK;
}

/* ---- The store ------------------------------------------------------------------------------------------------------------ */

typedef struct MetricList {
    Arena *arena;
    StoreView *view;
} MetricList;

static void add_metric(void *context, const char *name, const char *help, bool counter,
                       double value)
{
    MetricList *list = context;
    (void)counter;
    if (list->view->metric_count == STORE_METRICS_MOST)
        return;
    list->view->metrics[list->view->metric_count++] =
        (StoreMetric){.name = arena_print(list->arena, "%s", name),
                      .help = arena_print(list->arena, "%s%c", help, '\0').data,
                      .value = arena_print(list->arena, "%.0f", value)};
}

/* Below it, nowhere else: no path comes from a browser. */
static Slice backup_directory(const Config *config, Arena *arena)
{
    Slice data = slice_from(config->data);
    while (data.size > 1 && data.data[data.size - 1] == '/')
        data.size--;
    return config->backup_dir[0] != '\0' ? slice_from(config->backup_dir)
                                         : arena_print(arena, "%.*s.backups", SLICE_ARG(data));
}

/* The newest first, by their names; none when there is no such directory yet. */
static void list_backups(Site *site, Arena *arena, StoreView *view)
{
    Slice *names;
    size_t count;
    Reason reason = {.rule = ""};
    const char *path = arena_text(arena, view->backup_directory);
    if (disk_list(site->app->world.disk, path, arena, &names, &count, &reason) != STATUS_OK)
        return;
    view->backups = ARENA_ARRAY(arena, BACKUPS_LISTED, Slice);
    for (size_t i = count; i-- > 0 && view->backup_count < BACKUPS_LISTED;)
        view->backups[view->backup_count++] = names[i];
}

Status store_view(Site *site, Arena *arena, StoreView *ret_view)
{
    StoreView *view = ARENA_NEW(arena, StoreView);
    const SiteHouse *house = &site->options.house;
    MetricList metrics = {arena, view};
    view->now_us = clock_now_us(site->app->world.clock);
    view->reason = view->message = SLICE_EMPTY;
    store_health(site->app->store, &view->health);
    view->engine = arena_copy(arena, slice_from(view->health.engine));
    view->trouble =
        view->health.writable ? SLICE_EMPTY : arena_copy(arena, slice_from(view->health.reason));
    store_metrics(site->app->store, add_metric, &metrics);
    TRY(tasks_instances(app_tasks(site->app), arena, &view->instances, &view->instance_count));
    view->backup_directory = backup_directory(site->options.config, arena);
    list_backups(site, arena, view);
    view->has_maintenance = house->maintenance != NULL;
    if (view->has_maintenance)
        TRY(house->maintenance(house->self, arena, &view->message));
    view->in_maintenance = view->has_maintenance && view->message.data != NULL;
    if (view->message.data == NULL)
        view->message = SLICE_EMPTY;
    *ret_view = *view;
    return STATUS_OK;
}

static Status answer_store(WebRequest *request, StoreView *view, int code)
{
    Frame frame = {.title = SLICE("Store and instances"), .here = "/admin"};
    view->viewer = site_viewer(request);
    web_code(request, code);
    Buffer *out = page_begin(request, &frame);
    admin_store_page(out, view);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_store(WebRequest *request)
{
    StoreView view;
    TRY(store_view(site_of(request), web_arena(request), &view));
    return answer_store(request, &view, 200);
}

/* A form of this room that was refused. */
static Status refuse(WebRequest *request, Slice message)
{
    StoreView view;
    Reason reason = *web_reason(request);
    Reason *kept = ARENA_NEW(web_arena(request), Reason);
    *kept = reason;
    TRY(store_view(site_of(request), web_arena(request), &view));
    view.fault = form_fault(kept);
    if (message.size > 0)
        view.message = message;
    return answer_store(request, &view, 422);
}

/* ---- A backup ------------------------------------------------------------------------------------------------------------- */

/* "backup-20260131T120000Z-250": a second one of the same millisecond is refused, since its directory is there. */
static Slice backup_name(const Site *site, Arena *arena)
{
    BUFFER_SCOPE Buffer name = {0};
    int64_t now_us = clock_now_us(site->app->world.clock);
    Slice time = stamp_text(now_us, arena);
    buffer_text(&name, "backup-");
    for (size_t i = 0; i < time.size; i++)
        if (time.data[i] != '-' && time.data[i] != ':')
            buffer_u8(&name, (uint8_t)time.data[i]);
    buffer_print(&name, "-%03d", (int)(now_us / US_PER_MS % 1000));
    return arena_copy(arena, buffer_slice(&name));
}

static Status make_backup(Site *site, Slice name, Arena *arena, Reason *reason)
{
    enum { OWNER_ONLY = 0700 };
    Slice directory = backup_directory(site->options.config, arena);
    TRY(disk_make_directory(site->app->world.disk, arena_text(arena, directory), OWNER_ONLY,
                            reason));
    return store_backup(
        site->app->store,
        arena_print(arena, "%.*s/%.*s%c", SLICE_ARG(directory), SLICE_ARG(name), '\0').data,
        reason);
}

Status admin_backup(WebRequest *request, Slice reason, Slice *ret_name)
{
    Id act;
    Arena *arena = web_arena(request);
    Slice name = backup_name(site_of(request), arena);
    TRY(site_act(request, &(Act){.kind = ACT_BACKUP, .reason = reason, .details = name}, &act));
    Status status = make_backup(site_of(request), name, arena, web_reason(request));
    site_act_end(request, act, status);
    TRY(status);
    *ret_name = name;
    return STATUS_OK;
}

static Status take_backup(WebRequest *request)
{
    Slice name;
    Status status = admin_backup(request, slice_trim(web_text(request, 0)), &name);
    if (form_can_be_corrected(status))
        return refuse(request, SLICE_EMPTY);
    TRY(status);
    site_done(request, SLICE("/admin/store"), "backup", 0);
    return STATUS_OK;
}

/* ---- Maintenance ---------------------------------------------------------------------------------------------------------- */

Status admin_maintenance(WebRequest *request, bool on, Slice message, Slice reason)
{
    const SiteHouse *house = &site_of(request)->options.house;
    Id act;
    if (house->set_maintenance == NULL)
        return reason_set(web_reason(request), STATUS_REFUSED, "", "this cannot be done here");
    if (on && message.size == 0)
        return reason_set(web_reason(request), STATUS_INVALID, "message",
                          "say what visitors read meanwhile");
    TRY(site_act(request,
                 &(Act){.kind = ACT_MAINTENANCE,
                        .reason = reason,
                        .details = on ? SLICE("on") : SLICE("off")},
                 &act));
    Status status =
        house->set_maintenance(house->self, on ? message : (Slice){NULL, 0}, web_reason(request));
    site_act_end(request, act, status);
    return status;
}

static Status take_maintenance(WebRequest *request)
{
    Slice message = slice_trim(web_text(request, 1));
    size_t act = web_word(request, 0); /* on, off */
    Status status = admin_maintenance(request, act == 0, message, slice_trim(web_text(request, 2)));
    if (form_can_be_corrected(status))
        return refuse(request, message);
    TRY(status);
    site_done(request, SLICE("/admin/store"), act == 0 ? "closed" : "opened", 0);
    return STATUS_OK;
}

/* clang-format off */
static const char *const ON_OFF[] = {"on", "off", NULL};

static const WebRoute ROUTES[] = {
    {WEB_GET, "/admin/tasks", show_tasks, ADMIN_ROW(ADMIN_ROLES), .threads = WEB_SAVE,
     .help = "The work behind the site: last runs, progress, errors."},
    {WEB_POST, "/admin/tasks/{task}", run_task, ADMIN_ROW(ADMIN_ROLES), .whose = WEB_ANYBODYS, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Has a task begin now.", .params = {{"task", WEB_PATH, WEB_OPAQUE, .least = 1, .most = 40, .help = "Its name."}}},
    {WEB_GET, "/admin/store", show_store, ADMIN_ROW(ADMIN_ROLES), .threads = WEB_SAVE,
     .help = "The store's health, instances, backups, maintenance mode."},
    {WEB_POST, "/admin/store/backup", take_backup, ADMIN_ROW(ADMIN_ROLES), .body_bytes = WEB_BODY_DEFAULT,
     .help = "Makes a backup now, on the server.", .params = {REASON_ROW(WEB_FORM)}},
    {WEB_POST, "/admin/store/maintenance", take_maintenance, ADMIN_ROW(ADMIN_ROLES), .body_bytes = WEB_BODY_DEFAULT,
     .help = "Closes the site for visitors with a message, or opens it.",
     .params = {{"act", WEB_FORM, WEB_WORD, .words = ON_OFF, .help = "on closes it."},
                {"message", WEB_FORM, WEB_TEXT, .fallback = "", .most = 2000, .help = "What visitors read."},
                REASON_ROW(WEB_FORM)}},
};
/* clang-format on */
const Room ROOM_ADMIN_MACHINE = ROOM(ROUTES);
