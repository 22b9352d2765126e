/* scheduler.c -- whose turn it is, and what follows from how a piece went.
 *
 * One thread does one piece at a time; among the parts that are due, the one that has waited most turns comes first, so a
 * pass that takes hours does not keep the sweep of every minute waiting. */
#include <stdio.h>

#include "base/mutant.h"
#include "tasks/tasks_private.h"

enum { BACKOFF_FIRST_S = 1, RETRY_LEAST_S = 60, RETRY_PART = 8, NAP_US = 250000 };

/* ---- Rules ----------------------------------------------------------------------------------------------------- */

bool task_is_here(const Task *task, uint32_t part, uint32_t live, uint32_t self)
{
    uint64_t hash =
        UINT64_C(0xCBF29CE484222325) ^ part; /* FNV-1a: short names spread well enough */
    if (task->local || live <= 1)
        return true;
    for (const char *at = task->name; *at != '\0'; at++)
        hash = (hash ^ (uint8_t)*at) * UINT64_C(0x100000001B3);
    return (hash >> 32) % live == self;
}

int64_t task_backoff_us(uint32_t failures)
{
    int64_t wait_s = BACKOFF_FIRST_S;
    for (uint32_t i = 1; i < failures && wait_s < TASK_BACKOFF_MOST_S; i++)
        wait_s *= 2;
    return (wait_s < TASK_BACKOFF_MOST_S ? wait_s : TASK_BACKOFF_MOST_S) * US_PER_S;
}

int64_t task_due_us(const Task *task, const TaskState *state)
{
    if (state->under_way || state->begun_us == 0)
        return 0;
    int64_t wait_s = task->period_s;
    if (state->whole_us !=
        state->begun_us) { /* again soon, but what is broken may be so for long */
        wait_s /= RETRY_PART;
        if (wait_s < RETRY_LEAST_S)
            wait_s = task->period_s < RETRY_LEAST_S ? task->period_s : RETRY_LEAST_S;
    }
    return state->begun_us + wait_s * US_PER_S;
}

/* A clock that was set back must not make anything wait for the time that it had before. */
static bool is_due(const TaskPart *part, int64_t now_us)
{
    int64_t due_us = task_due_us(part->task, &part->state);
    return due_us <= now_us || due_us > now_us + part->task->period_s * US_PER_S;
}

/* Promise 6. */
static bool is_urgent(const TaskPart *part, int64_t now_us)
{
    return part->task == TASK_PASS &&
           part->state.whole_us < now_us - VOTES_MARK_LIFE_S / 2 * US_PER_S;
}

/* ---- A piece --------------------------------------------------------------------------------------------------- */

void task_begin(Tasks *tasks, TaskPart *part)
{
    TaskState *state = &part->state;
    state->under_way = true;
    state->failed = false;
    state->begun_us = clock_now_us(tasks->options.world.clock);
    state->done = state->found = 0;
    buffer_clear(&state->position);
}

static void end_pass(Tasks *tasks, TaskPart *part)
{
    TaskState *state = &part->state;
    state->under_way = false;
    part->asked = false;
    state->ended_us = clock_now_us(tasks->options.world.clock);
    state->took_us = state->ended_us - state->begun_us;
    if (!state->failed)
        state->whole_us = state->begun_us;
    buffer_clear(&state->position);
}

static void note_error(Tasks *tasks, TaskPart *part, Status status, const Reason *reason)
{
    TaskState *state = &part->state;
    state->errors++;
    state->error_us = clock_now_us(tasks->options.world.clock);
    snprintf(state->error, sizeof state->error, "%s",
             reason->rule[0] != '\0' ? reason->rule : status_text(status));
    if (tasks->options.log == NULL)
        return;
    LogLine line = log_line(tasks->options.log, LOG_WARNING, "task");
    log_text(&line, "name", part->task->name);
    log_i64(&line, "part", part->number);
    log_text(&line, "status", status_name(status));
    log_reason(&line, reason);
    log_end(&line);
}

static bool was_named(const Tasks *tasks, uint64_t voter)
{
    for (size_t i = 0; i < tasks->damaged_count; i++)
        if (tasks->damaged[i] == voter)
            return true;
    return false;
}

void tasks_name_damaged(Tasks *tasks)
{
    uint64_t voters[VOTES_DAMAGED_MAX];
    size_t count = votes_damaged(tasks->options.votes, voters);
    for (size_t i = 0; i < count && tasks->options.log != NULL; i++) {
        if (was_named(tasks, voters[i]))
            continue;
        LogLine line = log_line(tasks->options.log, LOG_ERROR, "voter_damaged");
        log_i64(&line, "voter", (int64_t)voters[i]);
        log_end(&line);
    }
    memcpy(tasks->damaged, voters, count * sizeof *voters);
    tasks->damaged_count = count;
}

/* Where the pass goes on, or that it has ended. */
static void move_on(Tasks *tasks, TaskPart *part, const TaskPiece *piece)
{
    buffer_clear(&part->state.position);
    buffer_bytes(&part->state.position, piece->next);
    if (!piece->more)
        end_pass(tasks, part);
}

static void follow(Tasks *tasks, TaskPart *part, const TaskPiece *piece, Status status)
{
    int64_t steady_us = clock_steady_us(tasks->options.world.clock);
    part->stuck = status != STATUS_OK && piece->next.data == NULL;
    part->state.done += piece->done;
    part->state.found += piece->found;
    if (piece->again_s > 0)
        part->again_us = steady_us + piece->again_s * US_PER_S;
    if (status != STATUS_OK) {
        note_error(tasks, part, status, piece->reason);
        part->failures++;
        part->not_before_us = steady_us + task_backoff_us(part->failures);
    } else {
        part->failures = 0;
    }
    if (!part->stuck) {
        part->state.failed |= status != STATUS_OK && !MUTANT(failed_pass_is_whole);
        move_on(tasks, part, piece);
    } else if (status == STATUS_INVALID) {
        buffer_clear(&part->state.position); /* a place that cannot be gone on from */
    }
    if (!part->state.under_way || steady_us - part->saved_us >= TASK_SAVE_S * US_PER_S)
        (void)!task_state_write(tasks, part); /* then it begins at an older place, or again */
}

Status task_piece(Tasks *tasks, TaskPart *part, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    TaskPiece piece = {.tasks = tasks,
                       .part = part->number,
                       .position = arena_copy(arena, buffer_slice(&part->state.position)),
                       .arena = arena,
                       .reason = reason};
    *reason = (Reason){.rule = ""};
    part->turn = ++tasks->turn;
    Status status = part->task->piece(&piece);
    follow(tasks, part, &piece, status);
    tasks_name_damaged(tasks);
    return status;
}

/* ---- Turns ----------------------------------------------------------------------------------------------------- */

static void beat_when_due(Tasks *tasks)
{
    int64_t steady_us = clock_steady_us(tasks->options.world.clock);
    if (tasks->has_beaten && steady_us - tasks->beat_us < INSTANCE_BEAT_S * US_PER_S)
        return;
    tasks->has_beaten = true;
    tasks->beat_us = steady_us;
    (void)!task_beat(tasks); /* the work goes on by what was known */
}

static void ask_again(TaskPart *part, int64_t steady_us)
{
    if (part->again_us == 0 || steady_us < part->again_us)
        return;
    part->again_us = 0;
    part->anew = part->asked = true;
}

/* NULL when nothing is due. */
static TaskPart *choose(Tasks *tasks)
{
    int64_t now_us = clock_now_us(tasks->options.world.clock);
    int64_t steady_us = clock_steady_us(tasks->options.world.clock);
    TaskPart *chosen = NULL;
    for (size_t i = 0; i < tasks->part_count; i++) {
        TaskPart *part = &tasks->parts[i];
        bool here = task_is_here(part->task, part->number, tasks->live, tasks->self);
        ask_again(part, steady_us);
        if ((!here && !part->asked) || steady_us < part->not_before_us)
            continue;
        if (is_urgent(part, now_us))
            return part;
        bool due = part->anew || is_due(part, now_us);
        if (due && (chosen == NULL || part->turn < chosen->turn))
            chosen = part;
    }
    return chosen;
}

/* Another instance may have done it, or begun it. */
static Status take_over(Tasks *tasks, TaskPart *part)
{
    int64_t now_us = clock_now_us(tasks->options.world.clock);
    if (part->state.under_way && !part->anew)
        return STATUS_OK;
    TRY(task_state_read(tasks, part));
    bool due = is_due(part, now_us) || is_urgent(part, now_us);
    if (part->anew || (due && !part->state.under_way))
        task_begin(tasks, part);
    part->anew = false;
    return STATUS_OK;
}

int64_t tasks_turn(Tasks *tasks)
{
    Reason reason = {.rule = ""};
    pthread_mutex_lock(&tasks->lock);
    beat_when_due(tasks);
    TaskPart *part = choose(tasks);
    if (part != NULL) {
        Status status = take_over(tasks, part);
        if (status == STATUS_OK && part->state.under_way)
            status = task_piece(tasks, part, &reason);
        else if (status != STATUS_OK)
            follow(tasks, part, &(TaskPiece){.reason = &reason}, status);
        else
            part->turn = ++tasks->turn;
    }
    pthread_mutex_unlock(&tasks->lock);
    return part != NULL ? 0 : NAP_US;
}
