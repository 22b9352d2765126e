/* background_tasks.c -- the tasks of the site: their list, and running one now.
 *
 * Every task can be cut off and run again: it does what is left to do. A crash in the middle leaves an entry in the audit log whose outcome
 * is not known, and the scheduler carries on. */
#include "operations/background_tasks.h"

#include "operations/schema_macros.h"

/* clang-format off */
static const ApiMember TASK[] = {
    FIELD("name", TaskLine, name, .help = "The task."),
    FIELD("state", TaskLine, state, .help = "waits, under way, or failed: the last pass left something out."),
    TIME("begun", TaskLine, begun_us, OR_NULL, .help = "When the last pass began."),
    TIME("whole", TaskLine, whole_us, OR_NULL, .help = "When the last pass began in which nothing failed; null: some part never had one."),
    FIELD("took_ms", TaskLine, took_ms, .help = "How long the last one took."),
    FIELD("done", TaskLine, done, .help = "Looked at in it."),
    FIELD("found", TaskLine, found, .help = "Of these, where there was something to do."),
    FIELD("errors", TaskLine, errors, .help = "Ever."),
    TIME("error_time", TaskLine, error_us, OR_NULL, .help = "Of the last one."),
    FIELD("error", TaskLine, error, OR_NULL, .help = "In words."),
    FIELD("parts", TaskLine, parts, .help = "Into how many parts it is divided between instances."),
    FIELD("parts_under_way", TaskLine, parts_under_way, .help = "How many of them run now."),
    FIELD("parts_here", TaskLine, parts_here, OR_NULL, .help = "Those that this instance works on, from 0 on: \"0, 3\"."),
    FIELD("period_s", TaskLine, period_s, .help = "How often, in seconds."),
    FIELD("help", TaskLine, help, .help = "What it does."),
};
SCHEMA(ADMIN_TASK, "AdminTask", TaskLine, TASK, .help = "A task.");

static const ApiMember TASK_LIST[] = {
    LIST("tasks", TaskList, tasks, count, ADMIN_TASK, .help = "All of them."),
};
SCHEMA(ADMIN_TASKS, "AdminTasks", TaskList, TASK_LIST, .help = "The work behind the site.");
/* clang-format on */

/* ---- Listing ------------------------------------------------------------------------------------------------------------------ */

static void add_part(TaskLine *line, const TaskInfo *info, Arena *arena)
{
    bool is_older = info->whole_us < line->whole_us;
    line->whole_us = line->parts == 0 || is_older ? info->whole_us : line->whole_us;
    line->parts++;
    line->parts_under_way += info->under_way;
    if (info->here)
        line->parts_here = arena_print(arena, "%.*s%s%u", SLICE_ARG(line->parts_here),
                                       line->parts_here.size > 0 ? ", " : "", info->part);
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

Status task_lines(Operations *ops, Arena *arena, TaskList *ret_list)
{
    TaskInfo *infos;
    size_t count;
    TaskList list = {.now_us = clock_now_us(ops->app->world.clock)};
    TRY(tasks_list(app_tasks(ops->app), arena, &infos, &count));
    list.tasks = ARENA_ARRAY(arena, count, TaskLine);
    for (size_t i = 0; i < count; i++) {
        if (list.count == 0 || strcmp(list.tasks[list.count - 1].name, infos[i].name) != 0)
            list.tasks[list.count++] = (TaskLine){.name = infos[i].name,
                                                  .help = infos[i].help,
                                                  .state = "waits",
                                                  .period_s = infos[i].period_s,
                                                  .parts_here = SLICE_EMPTY,
                                                  .error = SLICE_EMPTY};
        add_part(&list.tasks[list.count - 1], &infos[i], arena);
    }
    for (size_t i = 0; i < list.count; i++)
        if (list.tasks[i].parts_under_way > 0)
            list.tasks[i].state = "under way";
    *ret_list = list;
    return STATUS_OK;
}

static Status task_list(Operations *ops, const Actor *actor, const Nothing *request, Arena *arena,
                        TaskList *ret_list, Reason *reason)
{
    (void)actor, (void)request, (void)reason;
    return task_lines(ops, arena, ret_list);
}

OPERATION(task_list, Nothing, TaskList,
          .help = "Show the work behind the site: last run, progress, errors.", .access = WEB_ROLE,
          .roles = 1u << ROLE_ADMIN, .asks = true, .always = true, .threads = WEB_SAVE,
          .answers = &SCHEMA_ADMIN_TASKS, .api = {WEB_GET, "admin/tasks", .tag = "admin"},
          .no_page = "the page that runs one shows them", .command = {.words = "task list"});

/* ---- Running one -------------------------------------------------------------------------------------------------------------- */

typedef struct TaskRun {
    Slice task;
} TaskRun;

typedef struct TaskRan {
    bool done;
    TaskLine task; /* as it is afterwards */
} TaskRan;

/* clang-format off */
static const ApiMember TASK_RAN[] = {
    FIELD("done", TaskRan, done, .help = "True."),
    OBJECT("task", TaskRan, task, ADMIN_TASK, .help = "The task; a command has done all of it, otherwise it begins in a moment."),
};
SCHEMA(TASK_RAN, "TaskRan", TaskRan, TASK_RAN, .help = "A task that was asked to run.");
/* clang-format on */

/* A command does it all and waits, also because no scheduler runs where no site does; nobody waits for a page or a program's request. */
static Status run_now(Operations *ops, const Actor *actor, Slice task, Reason *reason)
{
    return actor->door == DOOR_COMMAND ? tasks_run(app_tasks(ops->app), task, reason)
                                       : tasks_ask(app_tasks(ops->app), task, reason);
}

static Status task_run(Operations *ops, const Actor *actor, const TaskRun *request, Arena *arena,
                       TaskRan *ret_ran, Reason *reason)
{
    Id id;
    Ranking *ranking;
    TaskList list;
    TRY(app_ranking(ops->app, &ranking)); /* some tasks work on it */
    TRY(operation_audit(ops, actor, &(AuditAct){.kind = AUDIT_TASK_RUN, .details = request->task},
                        &id, reason));
    TRY(operation_audit_end(ops, id, run_now(ops, actor, request->task, reason)));
    TRY(task_lines(ops, arena, &list));
    for (size_t i = 0; i < list.count; i++)
        if (slice_equal(request->task, slice_from(list.tasks[i].name)))
            *ret_ran = (TaskRan){.done = true, .task = list.tasks[i]};
    return STATUS_OK;
}

static void print_ran(const void *answer, Arena *arena, Buffer *out)
{
    const TaskRan *ran = answer;
    (void)arena;
    buffer_print(out, "%s: %llu done, %llu found\n", ran->task.name,
                 (unsigned long long)ran->task.done, (unsigned long long)ran->task.found);
}

/* clang-format off */
OPERATION(task_run, TaskRun, TaskRan, .help = "Run a task now.",
    .access = WEB_ROLE, .whose = WEB_ANYBODYS, .roles = 1u << ROLE_ADMIN, .always = true, .threads = WEB_SAVE, .audits = AUDITS(TASK_RUN), .answers = &SCHEMA_TASK_RAN,
    .api = {WEB_POST, "admin/tasks/{task}", .tag = "admin"}, .command = {"task run", .print = print_ran},
    .page = {"/admin/tasks/{task}", "task", "The task begins in a moment."},
    .inputs = {INPUT("task", TaskRun, task, OPAQUE, .operand = true, .least = 1, .most = 40, .value = "NAME", .help = "Its name.")});
/* clang-format on */
