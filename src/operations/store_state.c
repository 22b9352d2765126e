/* store_state.c -- how the store is, a backup, maintenance mode.
 *
 * Each change is in the audit log before it is made. A backup that a crash cuts off is an unfinished directory, which nothing restores
 * from; the next one gets another name. Maintenance mode is one conditional update (SiteControl), and setting it again is safe. */
#include "operations/store_state.h"

#include "operations/schema_macros.h"

/* clang-format off */
static const ApiMember INSTANCE[] = {
    FIELD("address", Instance, address, .help = "What it is called."),
    TIME("started", Instance, started_us, .help = "When it started."),
    TIME("beat", Instance, beat_us, .help = "When it last said that it lives."),
    FIELD("self", Instance, self, .help = "Whether it is the one that answers."),
};
SCHEMA(ADMIN_INSTANCE, "AdminInstance", Instance, INSTANCE, .help = "A running instance.");

static const ApiMember FIGURE[] = {
    FIELD("name", StoreFigure, name, .help = "As /metrics calls it."),
    FIELD("value", StoreFigure, value, .help = "As text."),
    FIELD("help", StoreFigure, help, .help = "What it is."),
};
SCHEMA(STORE_FIGURE, "StoreFigure", StoreFigure, FIGURE, .help = "A figure of the store.");

static const ApiMember STORE[] = {
    FIELD("engine", StoreState, engine, .help = "Of the store."),
    FIELD("writable", StoreState, health.writable, .help = "Whether it takes writes."),
    FIELD("trouble", StoreState, trouble, OR_NULL, .help = "Why not."),
    LIST("instances", StoreState, instances, instance_count, ADMIN_INSTANCE, .help = "Those that are alive."),
    FIELD("backup_directory", StoreState, backup_directory, .help = "Where backups go, on the server."),
    MANY("backups", API_TEXTS, StoreState, backups, backup_count, NULL, .help = "Those that are there, the newest first."),
    FIELD("maintenance", StoreState, in_maintenance, .help = "Whether the site is closed for visitors."),
    FIELD("message", StoreState, message, OR_NULL, .help = "What they read then."),
    MANY("figures", API_SOME, StoreState, figures, figure_count, &SCHEMA_STORE_FIGURE, .help = "What the store counts."),
};
SCHEMA(ADMIN_STORE, "AdminStore", StoreState, STORE, .help = "The store and the instances.");
/* clang-format on */

/* ---- Showing ------------------------------------------------------------------------------------------------------------------ */

typedef struct FigureList {
    Arena *arena;
    StoreState *state;
} FigureList;

static void add_figure(void *context, const char *name, const char *help, bool counter,
                       double value)
{
    FigureList *list = context;
    (void)counter;
    if (list->state->figure_count == STORE_FIGURES_MAX)
        return;
    list->state->figures[list->state->figure_count++] =
        (StoreFigure){.name = arena_print(list->arena, "%s", name),
                      .help = arena_text(list->arena, slice_from(help)),
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

/* By their names; none when there is no such directory yet. */
static void list_backups(Operations *ops, Arena *arena, StoreState *state)
{
    Slice *names;
    size_t count;
    Reason reason = {.rule = ""};
    const char *path = arena_text(arena, state->backup_directory);
    if (disk_list(ops->app->world.disk, path, arena, &names, &count, &reason) != STATUS_OK)
        return;
    for (size_t i = count; i-- > 0 && state->backup_count < BACKUPS_LISTED;)
        state->backups[state->backup_count++] = names[i];
}

Status maintenance_state(Operations *ops, Arena *arena, StoreState *ret_state)
{
    const SiteControl *control = &ops->control;
    Slice message = {NULL, 0};
    ret_state->has_maintenance = control->maintenance != NULL;
    if (ret_state->has_maintenance)
        TRY(control->maintenance(control->self, arena, &message));
    ret_state->in_maintenance = message.data != NULL;
    ret_state->message = message.data != NULL ? message : SLICE_EMPTY;
    return STATUS_OK;
}

Status store_state(Operations *ops, Arena *arena, StoreState *ret_state)
{
    StoreState *state = ret_state;
    FigureList figures = {arena, state};
    *state = (StoreState){.now_us = clock_now_us(ops->app->world.clock)};
    store_health(ops->app->store, &state->health);
    state->engine = arena_copy(arena, slice_from(state->health.engine));
    state->trouble =
        state->health.writable ? SLICE_EMPTY : arena_copy(arena, slice_from(state->health.reason));
    store_metrics(ops->app->store, add_figure, &figures);
    TRY(tasks_instances(app_tasks(ops->app), arena, &state->instances, &state->instance_count));
    state->backup_directory = backup_directory(ops->config, arena);
    list_backups(ops, arena, state);
    return maintenance_state(ops, arena, state);
}

static Status store_show(Operations *ops, const Actor *actor, const Nothing *request, Arena *arena,
                         StoreState *ret_state, Reason *reason)
{
    (void)actor, (void)request, (void)reason;
    return store_state(ops, arena, ret_state);
}

/* clang-format off */
#define FOR_ADMINS .access = WEB_ROLE, .roles = 1u << ROLE_ADMIN, .always = true, .threads = WEB_SAVE
#define WHY(type) INPUT("reason", type, reason, TEXT, .fallback = "", .most = AUDIT_REASON_MAX, .help = "Why; the audit log keeps it.")

OPERATION(store_show, Nothing, StoreState, .help = "Show the store's health and figures, instances, backups and maintenance mode.",
    FOR_ADMINS, .asks = true, .answers = &SCHEMA_ADMIN_STORE,
    .api = {WEB_GET, "admin/store", .tag = "admin"}, .no_page = "the page that sets maintenance mode shows it", .command = {.words = "store show"});
/* clang-format on */

/* ---- A backup ----------------------------------------------------------------------------------------------------------------- */

typedef struct StoreBackup {
    Slice reason;
} StoreBackup;

typedef struct BackupMade {
    Slice name, directory;
} BackupMade;

/* clang-format off */
static const ApiMember BACKUP[] = {
    FIELD("name", BackupMade, name, .help = "What it is called."),
    FIELD("directory", BackupMade, directory, .help = "Where it is, on the server."),
};
SCHEMA(ADMIN_BACKUP, "AdminBackup", BackupMade, BACKUP, .help = "A backup.");
/* clang-format on */

/* "backup-20260131T120000Z-250": a second one of the same millisecond is refused, since its directory is there. */
static Slice backup_name(int64_t now_us, Arena *arena)
{
    BUFFER_SCOPE Buffer name = {0};
    Slice time = stamp_text(now_us, arena);
    buffer_text(&name, "backup-");
    for (size_t i = 0; i < time.size; i++)
        if (time.data[i] != '-' && time.data[i] != ':')
            buffer_u8(&name, (uint8_t)time.data[i]);
    buffer_print(&name, "-%03d", (int)(now_us / US_PER_MS % 1000));
    return arena_copy(arena, buffer_slice(&name));
}

Status store_make_backup(const BackupOf *of, const Actor *actor, const AuditAct *act,
                         const char *directory, bool *ret_is_noted, Reason *reason)
{
    Id id;
    Status noted = operation_audit_in(of->audit, actor, act, &id, reason);
    if (noted != STATUS_OK && !actor->is_operator)
        return noted;
    Status status = store_backup(of->store, directory, reason);
    if (noted == STATUS_OK)
        audit_end(of->audit, id, status);
    *ret_is_noted = noted == STATUS_OK;
    return status;
}

static Status backup_make(Operations *ops, const Actor *actor, const StoreBackup *request,
                          Arena *arena, BackupMade *ret_backup, Reason *reason)
{
    enum { OWNER_ONLY = 0700 };
    bool is_noted;
    BackupOf of = {ops->app->store, ops->app->audit};
    BackupMade backup = {.name = backup_name(clock_now_us(ops->app->world.clock), arena),
                         .directory = backup_directory(ops->config, arena)};
    AuditAct act = {.kind = AUDIT_BACKUP, .reason = request->reason, .details = backup.name};
    const char *directory = arena_text(arena, backup.directory);
    Slice path = arena_print(arena, "%s/%.*s", directory, SLICE_ARG(backup.name));
    TRY(disk_make_directory(ops->app->world.disk, directory, OWNER_ONLY, reason));
    TRY(store_make_backup(&of, actor, &act, arena_text(arena, path), &is_noted, reason));
    *ret_backup = backup;
    return STATUS_OK;
}

Status store_repair(Operations *ops, const Actor *actor, const VerifyOptions *options,
                    VerifyReport *ret_report, Reason *reason)
{
    Id id;
    AuditAct act = {.kind = AUDIT_REPAIR, .reason = SLICE_EMPTY, .details = SLICE_EMPTY};
    TRY(operation_audit(ops, actor, &act, &id, reason));
    return operation_audit_end(ops, id, verify_repair(options, ret_report));
}

/* clang-format off */
OPERATION(backup_make, StoreBackup, BackupMade, .help = "Make a backup now, on the server.",
    FOR_ADMINS, .audits = AUDITS(BACKUP), .answers = &SCHEMA_ADMIN_BACKUP,
    .api = {WEB_POST, "admin/backups", .tag = "admin", .code = 201},
    .page = {"/admin/store/backup", "backup", "The backup is made."},
    .no_command = "`ostraka backup DIR` works without the site's key, and where the disk takes no writes",
    .inputs = {INPUT("reason", StoreBackup, reason, TEXT, .fallback = "", .most = AUDIT_REASON_MAX, .no_page = true, .help = "Why; the audit log keeps it.")});
/* clang-format on */

/* ---- Maintenance mode --------------------------------------------------------------------------------------------------------- */

typedef struct MaintenanceSet {
    bool on;
    Slice message, reason;
} MaintenanceSet;

/* A message with data NULL opens the site. */
static Status set_maintenance(Operations *ops, const Actor *actor, Slice message, Slice why,
                              Arena *arena, Reason *reason)
{
    Id id;
    const SiteControl *control = &ops->control;
    AuditAct act = {.kind = AUDIT_MAINTENANCE,
                    .reason = why,
                    .details = message.data == NULL
                                   ? SLICE("off")
                                   : arena_print(arena, "on: %.*s", SLICE_ARG(message))};
    if (control->set_maintenance == NULL)
        return reason_set(reason, STATUS_REFUSED, "", "this cannot be done here");
    TRY(operation_audit(ops, actor, &act, &id, reason));
    return operation_audit_end(ops, id, control->set_maintenance(control->self, message, reason));
}

static Status maintenance_on(Operations *ops, const Actor *actor, const MaintenanceSet *request,
                             Arena *arena, Done *ret_done, Reason *reason)
{
    Slice message = request->on ? request->message : (Slice){NULL, 0};
    ret_done->done = true;
    return set_maintenance(ops, actor, message, request->reason, arena, reason);
}

static Status maintenance_off(Operations *ops, const Actor *actor, const MaintenanceSet *request,
                              Arena *arena, Done *ret_done, Reason *reason)
{
    ret_done->done = true;
    return set_maintenance(ops, actor, (Slice){NULL, 0}, request->reason, arena, reason);
}

/* clang-format off */
OPERATION(maintenance_on, MaintenanceSet, Done, .help = "Answer visitors with a message instead of pages.",
    FOR_ADMINS, .audits = AUDITS(MAINTENANCE),
    .api = {WEB_PUT, "admin/maintenance", .tag = "admin"}, .command = {.words = "maintenance on", .done = "maintenance is on"},
    .page = {"/admin/store/maintenance", "closed", "The site is closed for visitors."},
    .inputs = {
        INPUT("on", MaintenanceSet, on, SWITCH, .fallback = "on", .no_page = true, .no_command = true, .help = "Whether visitors get the message; off opens the site."),
        INPUT("message", MaintenanceSet, message, LINE, .fallback = "We will be back soon.", .least = 1, .most = MAINTENANCE_MESSAGE_MAX, .help = "What visitors read."),
        WHY(MaintenanceSet),
    });
OPERATION(maintenance_off, MaintenanceSet, Done, .help = "Serve pages again.",
    FOR_ADMINS, .audits = AUDITS(MAINTENANCE),
    .api = {WEB_DELETE, "admin/maintenance", .tag = "admin"}, .command = {.words = "maintenance off", .done = "maintenance is off"},
    .page = {"/admin/store/maintenance/off", "opened", "The site is open again."},
    .inputs = {INPUT("reason", MaintenanceSet, reason, TEXT, .fallback = "", .most = AUDIT_REASON_MAX, .no_api = true, .no_page = true, .help = "Why; the audit log keeps it.")});
/* clang-format on */
