/* tasks.c -- opening, the thread, and what people ask. */
#include <stdlib.h>

#include "base/threads.h"
#include "tasks/tasks_private.h"

enum { S_PER_HOUR = 3600, MARGIN_HOURS = 2 };

Tasks *tasks_new(const TasksOptions *options)
{
    Tasks *tasks = calloc(1, sizeof *tasks);
    CHECK(tasks != NULL);
    tasks->options = *options;
    tasks->id = id_new(options->world.clock, options->world.random);
    tasks->started_us = clock_now_us(options->world.clock);
    tasks->live = 1;
    pthread_mutex_init(&tasks->lock, NULL);
    tasks->worker = journal_worker_new(
        options->journals, options->journal != NULL ? slice_from(options->journal) : SLICE_EMPTY);
    for (size_t i = 0; i < TASK_COUNT; i++)
        for (uint32_t part = 0; part < TASKS[i].parts; part++) {
            CHECK(tasks->part_count < TASKS_PARTS_MAX);
            TaskPart *one = &tasks->parts[tasks->part_count++];
            one->task = &TASKS[i];
            one->number = part;
        }
    return tasks;
}

void tasks_free(Tasks *tasks)
{
    if (tasks == NULL)
        return;
    CHECK(!tasks->has_thread);
    journal_worker_free(tasks->worker);
    for (size_t i = 0; i < tasks->part_count; i++)
        task_state_free(&tasks->parts[i].state);
    pthread_mutex_destroy(&tasks->lock);
    free(tasks->known);
    free(tasks);
}

/* ---- At start -------------------------------------------------------------------------------------------------- */

static TaskPart *part_of(Tasks *tasks, const Task *task)
{
    for (size_t i = 0; i < tasks->part_count; i++)
        if (tasks->parts[i].task == task)
            return &tasks->parts[i];
    CHECK(false && "every task has a part");
    return NULL;
}

/* When the marks were last followed: before that nothing can have been left behind that the older sweep does not find. */
static Status last_sweep(Tasks *tasks, int64_t *ret_us)
{
    int64_t last_us = INT64_MAX;
    for (TaskPart *part = part_of(tasks, TASK_SWEEP);
         part < tasks->parts + tasks->part_count && part->task == TASK_SWEEP; part++) {
        TRY(task_state_read(tasks, part));
        if (part->state.whole_us < last_us)
            last_us = part->state.whole_us;
    }
    *ret_us = last_us;
    return STATUS_OK;
}

static Status sweep_since(Tasks *tasks, int64_t since_us)
{
    int64_t now_us = clock_now_us(tasks->options.world.clock);
    int64_t oldest_us = now_us - VOTES_MARK_LIFE_S * US_PER_S;
    if (since_us < oldest_us)
        since_us = oldest_us;
    uint32_t last = (uint32_t)(now_us / (S_PER_HOUR * US_PER_S)) + 1;
    uint32_t hour = (uint32_t)(since_us / (S_PER_HOUR * US_PER_S)) - MARGIN_HOURS;
    for (; hour <= last; hour++) {
        size_t behind;
        TRY(votes_sweep_hour(tasks->options.votes, hour, &behind));
    }
    return STATUS_OK;
}

/* To the end of the pass under way, or to a piece that cannot be done now. */
static Status run_part(Tasks *tasks, TaskPart *part, Reason *reason)
{
    Status worst = STATUS_OK;
    for (bool more = true; more;) {
        Reason why;
        pthread_mutex_lock(&tasks->lock);
        /* The scheduler may have done the rest in the meantime. */
        Status status = part->state.under_way ? task_piece(tasks, part, &why) : STATUS_OK;
        more = part->state.under_way && !part->stuck;
        pthread_mutex_unlock(&tasks->lock);
        if (status != STATUS_OK) {
            worst = status;
            *reason = why;
        }
    }
    return worst;
}

/* A pass that another process began goes on where it was. */
static Status pass_when_urgent(Tasks *tasks, Reason *reason)
{
    TaskPart *part = part_of(tasks, TASK_PASS);
    int64_t now_us = clock_now_us(tasks->options.world.clock);
    pthread_mutex_lock(&tasks->lock);
    Status status = task_state_read(tasks, part);
    bool urgent = part->state.whole_us < now_us - VOTES_MARK_LIFE_S / 2 * US_PER_S;
    if (status == STATUS_OK && urgent && !part->state.under_way)
        task_begin(tasks, part);
    pthread_mutex_unlock(&tasks->lock);
    TRY(status);
    return urgent ? run_part(tasks, part, reason) : STATUS_OK;
}

/* Nobody has ever saved: then forty days of marks need not be looked for, which on a cluster takes minutes. */
static Status is_new_site(Tasks *tasks, bool *ret_new)
{
    ARENA_SCOPE Arena *arena = arena_new();
    ScanPage page;
    TRY(store_scan(tasks->options.store, &TABLE_VOTERS, SLICE_EMPTY, 1, arena, &page));
    *ret_new = page.count == 0;
    return STATUS_OK;
}

Status tasks_catch_up(Tasks *tasks, Reason *reason)
{
    int64_t since_us;
    bool is_new;
    *reason = (Reason){.rule = ""};
    TRY(is_new_site(tasks, &is_new));
    if (is_new)
        return STATUS_OK;
    pthread_mutex_lock(&tasks->lock);
    Status status = last_sweep(tasks, &since_us);
    pthread_mutex_unlock(&tasks->lock);
    TRY(status);
    TRY(sweep_since(tasks, since_us));
    return pass_when_urgent(tasks, reason);
}

/* ---- The thread ------------------------------------------------------------------------------------------------ */

/* The journal says what is next. When it cannot be used, or may have lost something, memory does until the next heartbeat; then the journal
 * hears of all parts anew. */
static void *work(void *argument)
{
    Tasks *tasks = argument;
    bool is_alone = true;
    while (!atomic_load(&tasks->ends)) {
        JournalWork claimed;
        if (tasks_beat_when_due(tasks)) {
            tasks_tell_journal(tasks, is_alone);
            is_alone = false;
        }
        int64_t wait_us = is_alone ? tasks_turn(tasks) : tasks_until_beat_us(tasks);
        if (wait_us == 0)
            continue;
        Status status = journal_worker_claim(tasks->worker, wait_us, &claimed);
        bool is_usable = status == STATUS_OK || status == STATUS_NOT_FOUND;
        if (status == STATUS_OK)
            tasks_take_claimed(tasks, &claimed);
        else if (!is_usable && is_alone)
            journal_worker_sleep(tasks->worker, wait_us);
        if (journal_worker_lost(tasks->worker) || !is_usable)
            is_alone = true;
    }
    return NULL;
}

void tasks_after_crash(Tasks *tasks, bool here)
{
    for (size_t i = 0; i < tasks->part_count; i++) {
        TaskPart *part = &tasks->parts[i];
        part->anew |= part->task->after_crash;
        part->asked |= part->task->after_crash && here;
    }
}

void tasks_start(Tasks *tasks)
{
    CHECK(!tasks->has_thread);
    tasks_after_crash(tasks, true);
    tasks->thread = thread_start(THREAD_TASKS, work, tasks);
    tasks->has_thread = true;
}

void tasks_stop(Tasks *tasks)
{
    if (!tasks->has_thread)
        return;
    atomic_store(&tasks->ends, true);
    journal_worker_call(tasks->worker);
    CHECK(pthread_join(tasks->thread, NULL) == 0);
    tasks->has_thread = false;
    for (size_t i = 0; i < tasks->part_count; i++)
        if (tasks->parts[i].state.under_way)
            (void)!task_state_write(tasks, &tasks->parts[i]);
    (void)!task_beat_end(tasks);
}

/* ---- By hand ------------------------------------------------------------------------------------------------- */

Status tasks_run(Tasks *tasks, Slice name, Reason *reason)
{
    Status worst = STATUS_NOT_FOUND;
    for (size_t i = 0; i < tasks->part_count; i++) {
        TaskPart *part = &tasks->parts[i];
        if (!slice_equal(name, slice_from(part->task->name)))
            continue;
        pthread_mutex_lock(&tasks->lock);
        Status status = task_state_read(tasks, part); /* what it counted so far */
        task_begin(tasks, part);
        pthread_mutex_unlock(&tasks->lock);
        if (status == STATUS_OK)
            status = run_part(tasks, part, reason);
        if (worst == STATUS_NOT_FOUND || status != STATUS_OK)
            worst = status;
    }
    if (worst == STATUS_NOT_FOUND)
        return reason_set(reason, worst, "name", "there is no task \"%.*s\"; `task list` has them",
                          SLICE_ARG(name));
    return worst;
}

Status tasks_ask(Tasks *tasks, Slice name, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    const JournalNext now = {clock_now_us(tasks->options.world.clock) / US_PER_MS,
                             PRIORITY_IMPORTANT};
    bool found = false;
    for (size_t i = 0; i < tasks->part_count; i++) {
        TaskPart *part = &tasks->parts[i];
        if (!slice_equal(name, slice_from(part->task->name)))
            continue;
        found = true;
        atomic_store(&part->called, true);
        journal_worker_put(tasks->worker, task_part_key(part, arena), now);
    }
    return found ? STATUS_OK
                 : reason_set(reason, STATUS_NOT_FOUND, "task", "there is no such task");
}

/* ---- To see ---------------------------------------------------------------------------------------------------- */

static TaskInfo info_of(const Tasks *tasks, const TaskPart *part, Arena *arena)
{
    const TaskState *state = &part->state;
    return (TaskInfo){
        .name = part->task->name,
        .help = part->task->help,
        .period_s = part->task->period_s,
        .part = part->number,
        .parts = part->task->parts,
        .here = task_is_here(part->task, part->number, tasks->live, tasks->self),
        .under_way = state->under_way,
        .begun_us = state->begun_us,
        .ended_us = state->ended_us,
        .whole_us = state->whole_us,
        .took_us = state->took_us,
        .done = state->done,
        .found = state->found,
        .errors = state->errors,
        .error_us = state->error_us,
        .error = arena_copy(arena, slice_from(state->error)),
    };
}

/* What this instance is working on is in memory; of the rest the store knows more. */
static Status refresh(Tasks *tasks, TaskPart *part)
{
    bool here = task_is_here(part->task, part->number, tasks->live, tasks->self);
    return part->state.under_way && (here || part->asked) ? STATUS_OK
                                                          : task_state_read(tasks, part);
}

Status tasks_list(Tasks *tasks, Arena *arena, TaskInfo **ret_infos, size_t *ret_count)
{
    TaskInfo *infos = ARENA_ARRAY(arena, tasks->part_count, TaskInfo);
    Status status = STATUS_OK;
    pthread_mutex_lock(&tasks->lock);
    for (size_t i = 0; i < tasks->part_count && status == STATUS_OK; i++) {
        status = refresh(tasks, &tasks->parts[i]);
        infos[i] = info_of(tasks, &tasks->parts[i], arena);
    }
    pthread_mutex_unlock(&tasks->lock);
    TRY(status);
    *ret_infos = infos;
    *ret_count = tasks->part_count;
    return STATUS_OK;
}
