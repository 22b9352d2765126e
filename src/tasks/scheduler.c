/* scheduler.c -- whose turn it is, and what follows from how a piece went.
 *
 * One thread does one piece at a time. A rule (task_place) says of each part when it wants the next one and how urgently; of those that are due
 * the most urgent comes first, of these the one that has waited longest, so a pass that takes hours does not keep the sweep of every minute
 * waiting. The journal keeps the parts in that order: it has one entry for each, "name/part", with the date and priority of the rule. Where there
 * is no journal, or it cannot be used, the same choice is made from memory. An entry only says that somebody should look: whether a piece is due is
 * decided by the rule, when the entry comes, from memory and the store. */
#include <stdio.h>

#include "base/mutant.h"
#include "tasks/tasks_private.h"

enum { BACKOFF_FIRST_S = 1, RETRY_LEAST_S = 60, RETRY_PART = 8 };

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
static int64_t due_us(const TaskPart *part, int64_t now_us)
{
    int64_t at_us = task_due_us(part->task, &part->state);
    return at_us <= now_us + part->task->period_s * US_PER_S ? at_us : now_us;
}

/* Promise 6. */
static bool is_urgent(const TaskPart *part, int64_t now_us)
{
    return part->task == TASK_PASS &&
           part->state.whole_us < now_us - VOTES_MARK_LIFE_S / 2 * US_PER_S;
}

static int64_t latest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t by_wall(int64_t steady_us, TaskNow now)
{
    return now.wall_us + (steady_us - now.steady_us);
}

TaskPlace task_place(const TaskPart *part, bool here, TaskNow now)
{
    TaskPlace place = {TASK_NEVER, part->task->priority};
    bool wanted = here || part->asked;
    bool urgent = wanted && is_urgent(part, now.wall_us);
    if (wanted)
        place.at_us = part->anew || urgent ? 0 : due_us(part, now.wall_us);
    if (place.at_us <= now.wall_us) /* due, and since when: what was looked at last comes last */
        place.at_us = part->turned_us <= now.wall_us ? latest(place.at_us, part->turned_us) : 0;
    if (part->again_us != 0 && by_wall(part->again_us, now) < place.at_us)
        place.at_us = by_wall(part->again_us, now);
    if (place.at_us != TASK_NEVER && part->not_before_us > now.steady_us)
        place.at_us = latest(place.at_us, by_wall(part->not_before_us, now));
    if (part->asked)
        place.priority = PRIORITY_IMPORTANT;
    if (urgent)
        place.priority = PRIORITY_NOW;
    return place;
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

static void note_turn(Tasks *tasks, TaskPart *part)
{
    part->turn = ++tasks->turn;
    part->turned_us = clock_now_us(tasks->options.world.clock);
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
    note_turn(tasks, part);
    Status status = part->task->piece(&piece);
    follow(tasks, part, &piece, status);
    tasks_name_damaged(tasks);
    return status;
}

/* ---- Turns ----------------------------------------------------------------------------------------------------- */

static TaskNow now_of(const Tasks *tasks)
{
    Clock clock = tasks->options.world.clock;
    return (TaskNow){clock_now_us(clock), clock_steady_us(clock)};
}

static TaskPlace place_of(const Tasks *tasks, const TaskPart *part)
{
    bool here = task_is_here(part->task, part->number, tasks->live, tasks->self);
    return task_place(part, here, now_of(tasks));
}

bool tasks_beat_when_due(Tasks *tasks)
{
    int64_t steady_us = clock_steady_us(tasks->options.world.clock);
    if (tasks->has_beaten && steady_us - tasks->beat_us < INSTANCE_BEAT_S * US_PER_S)
        return false;
    pthread_mutex_lock(&tasks->lock);
    tasks->has_beaten = true;
    tasks->beat_us = steady_us;
    (void)!task_beat(tasks); /* the work goes on by what was known */
    pthread_mutex_unlock(&tasks->lock);
    return true;
}

int64_t tasks_until_beat_us(const Tasks *tasks)
{
    int64_t passed_us = clock_steady_us(tasks->options.world.clock) - tasks->beat_us;
    int64_t left_us = INSTANCE_BEAT_S * US_PER_S - passed_us;
    return left_us > US_PER_MS ? left_us : US_PER_MS;
}

/* What was asked for since the last look. */
static void hear_calls(TaskPart *part, int64_t steady_us)
{
    bool called = atomic_exchange(&part->called, false);
    if (called)
        part->not_before_us = 0;
    if (called || (part->again_us != 0 && steady_us >= part->again_us)) {
        part->again_us = 0;
        part->anew = part->asked = true;
    }
}

static bool is_before(TaskPlace a, uint64_t turn, TaskPlace b, uint64_t other_turn)
{
    if (a.priority != b.priority)
        return a.priority < b.priority;
    return a.at_us != b.at_us ? a.at_us < b.at_us : turn < other_turn;
}

/* NULL when nothing is due; then `ret_next_us` is the moment of the next. */
static TaskPart *choose(Tasks *tasks, int64_t *ret_next_us)
{
    TaskNow now = now_of(tasks);
    TaskPart *chosen = NULL;
    TaskPlace best = {TASK_NEVER, 0};
    *ret_next_us = TASK_NEVER;
    for (size_t i = 0; i < tasks->part_count; i++) {
        TaskPart *part = &tasks->parts[i];
        hear_calls(part, now.steady_us);
        TaskPlace place = place_of(tasks, part);
        if (place.at_us > now.wall_us) {
            *ret_next_us = place.at_us < *ret_next_us ? place.at_us : *ret_next_us;
        } else if (chosen == NULL || is_before(place, part->turn, best, chosen->turn)) {
            chosen = part;
            best = place;
        }
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
    bool due = due_us(part, now_us) <= now_us || is_urgent(part, now_us);
    if (part->anew || (due && !part->state.under_way))
        task_begin(tasks, part);
    part->anew = false;
    return STATUS_OK;
}

static void take(Tasks *tasks, TaskPart *part)
{
    Reason reason = {.rule = ""};
    Status status = take_over(tasks, part);
    if (status == STATUS_OK && part->state.under_way)
        status = task_piece(tasks, part, &reason);
    else if (status != STATUS_OK)
        follow(tasks, part, &(TaskPiece){.reason = &reason}, status);
    else
        note_turn(tasks, part);
}

int64_t tasks_turn(Tasks *tasks)
{
    int64_t next_us;
    (void)tasks_beat_when_due(tasks);
    pthread_mutex_lock(&tasks->lock);
    TaskPart *part = choose(tasks, &next_us);
    if (part != NULL)
        take(tasks, part);
    pthread_mutex_unlock(&tasks->lock);
    if (part != NULL)
        return 0;
    int64_t beat_us = tasks_until_beat_us(tasks);
    int64_t left_us = next_us == TASK_NEVER
                          ? beat_us
                          : latest(next_us - clock_now_us(tasks->options.world.clock), US_PER_MS);
    return left_us < beat_us ? left_us : beat_us;
}

/* ---- By the journal -------------------------------------------------------------------------------------------- */

Slice task_part_key(const TaskPart *part, Arena *arena)
{
    return arena_print(arena, "%s/%u", part->task->name, part->number);
}

/* Never before it is due by the finer clock. */
static JournalNext next_of(TaskPlace place)
{
    int64_t at_ms = place.at_us / US_PER_MS + (place.at_us % US_PER_MS != 0);
    return (JournalNext){place.at_us == TASK_NEVER ? JOURNAL_NEVER : latest(at_ms, 1),
                         place.priority};
}

void tasks_tell_journal(Tasks *tasks, bool all)
{
    ARENA_SCOPE Arena *arena = arena_new();
    pthread_mutex_lock(&tasks->lock);
    for (size_t i = 0; i < tasks->part_count; i++) {
        TaskPart *part = &tasks->parts[i];
        JournalNext next = next_of(place_of(tasks, part));
        bool is_due = next.at_ms <= clock_now_us(tasks->options.world.clock) / US_PER_MS;
        bool known = next.at_ms == part->told.at_ms && next.priority == part->told.priority;
        if (next.at_ms == JOURNAL_NEVER || (known && !is_due && !all))
            continue;
        part->told = next;
        journal_worker_put(tasks->worker, task_part_key(part, arena), next);
    }
    pthread_mutex_unlock(&tasks->lock);
}

static TaskPart *find_part(Tasks *tasks, Slice key)
{
    ARENA_SCOPE Arena *arena = arena_new();
    for (size_t i = 0; i < tasks->part_count; i++)
        if (slice_equal(task_part_key(&tasks->parts[i], arena), key))
            return &tasks->parts[i];
    return NULL;
}

void tasks_take_claimed(Tasks *tasks, const JournalWork *work)
{
    JournalNext next = {.at_ms = JOURNAL_NEVER};
    pthread_mutex_lock(&tasks->lock);
    TaskPart *part = find_part(tasks, journal_work_key(work));
    if (part != NULL) {
        TaskNow now = now_of(tasks);
        if (part->turn == 0 &&
            work->priority == PRIORITY_IMPORTANT) /* asked for before a restart */
            atomic_store(&part->called, true);
        hear_calls(part, now.steady_us);
        if (place_of(tasks, part).at_us <= now.wall_us)
            take(tasks, part);
        next = part->told = next_of(place_of(tasks, part));
    }
    pthread_mutex_unlock(&tasks->lock);
    journal_worker_end(tasks->worker, work, next);
}
