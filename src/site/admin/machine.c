/* machine.c -- the machine room: tasks with their progress and errors, instances, the store's health, a backup now, maintenance mode. */
#include "site/admin/admin.h"
#include "site/pages.h"

/* ---- Tasks --------------------------------------------------------------------------------------------------------------- */

static Status fill_tasks(WebRequest *request, void *view, Frame *frame)
{
    *frame = (Frame){.title = SLICE("Tasks"), .here = "/admin"};
    return task_lines(site_of(request)->ops, web_arena(request), &((TasksPage *)view)->list);
}

static void draw_tasks(Buffer *out, const void *view)
{
    admin_tasks_page(out, view);
}

FORM(task_run, TasksPage, .path = "/admin/tasks", .fill = fill_tasks, .draw = draw_tasks,
     .help = "The work behind the site: last runs, progress, errors.");

/* ---- The store ------------------------------------------------------------------------------------------------------------ */

static Status fill_store(WebRequest *request, void *view, Frame *frame)
{
    *frame = (Frame){.title = SLICE("Store and instances"), .here = "/admin"};
    return store_state(site_of(request)->ops, web_arena(request), &((StorePage *)view)->store);
}

static void draw_store(Buffer *out, const void *view)
{
    admin_store_page(out, view);
}

static Slice back_to_store(WebRequest *request, const void *sent, const void *answer)
{
    (void)request, (void)sent, (void)answer;
    return SLICE("/admin/store");
}

FORM(maintenance_on, StorePage, .path = "/admin/store", .fill = fill_store, .draw = draw_store,
     .help = "The store's health, instances, backups, maintenance mode.");
FORM(maintenance_off, StorePage, .fill = fill_store, .draw = draw_store, .leads = back_to_store);
FORM(backup_make, StorePage, .fill = fill_store, .draw = draw_store, .leads = back_to_store);
