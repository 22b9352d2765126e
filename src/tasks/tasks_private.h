/* tasks_private.h -- what the files of tasks share:
 *   task_table.c  what each task does
 *   task_state.c  places and heartbeats in the store
 *   scheduler.c   whose turn it is, by the journal or from memory
 *   tasks.c       opening, the thread, questions */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "journal/worker.h"
#include "store/record.h"
#include "tasks/tasks.h"

/* ---- A piece of work ------------------------------------------------------------------------------------------- */

typedef struct TaskPiece {
    Tasks *tasks;
    uint32_t part;
    Slice position; /* where it begins; empty: at the beginning */
    Arena *arena;
    Reason *reason; /* more words for a failure, when there are any */
    /* Filled in. `next` stays without data when the piece could not be done at all. */
    Slice next;
    bool more;
    uint64_t done, found;
    int64_t again_s; /* 0, or when to look again, due or not: something was too young to be ended */
} TaskPiece;

/* OK; or a failure, in which case the pass goes on only where `next` was set. */
typedef Status TaskFunction(TaskPiece *piece);

typedef struct Task {
    const char *name;
    int64_t period_s;
    uint32_t parts;
    bool
        local; /* every instance for itself: about what it holds in memory. Its state is not stored */
    bool
        after_crash; /* begins anew when an instance starts or is gone: it may have been cut off in the middle of what this ends */
    uint32_t
        priority; /* from PRIORITY_NEW on: the smallest goes first, from PRIORITY_SLOW on when there is nothing else to do */
    const char *help;
    TaskFunction *piece;
} Task;

extern const Task TASKS[];
extern const size_t TASK_COUNT;
enum { TASKS_PARTS_MAX = 64 };
/* The rows that tasks_catch_up and promise 6 ask for. */
extern const Task *const TASK_SWEEP;
extern const Task *const TASK_PASS;

/* ---- State ----------------------------------------------------------------------------------------------------- */

enum { TASK_ERROR_MAX = sizeof((Reason){0}.rule) };

/* What is stored of a part. */
typedef struct TaskState {
    bool under_way, failed; /* failed: something was left out in the pass under way */
    int64_t begun_us, ended_us, whole_us, took_us;
    uint64_t done, found, errors;
    int64_t error_us;
    char error[TASK_ERROR_MAX];
    Buffer position;
} TaskState;

typedef struct TaskPart {
    const Task *task;
    uint32_t number;
    TaskState state;
    uint64_t turn;         /* when it was last taken, in turns of the scheduler */
    int64_t turned_us;     /* the same by the wall clock */
    atomic_bool called;    /* by tasks_ask, from any thread; what follows is `anew` and `asked` */
    JournalNext told;      /* what the journal knows of it */
    int64_t not_before_us; /* after a failure; steady clock */
    uint32_t failures;     /* in a row */
    bool stuck;            /* the last piece has to be done again */
    bool anew;             /* to begin from the beginning, due or not */
    bool asked;            /* for here, by somebody, until the pass ends */
    int64_t again_us;      /* 0, or when a pass is asked for, whoever's share it is; steady clock */
    int64_t saved_us;      /* steady clock */
    int64_t stamp;         /* timestamp of what is stored */
} TaskPart;

struct Tasks {
    TasksOptions options;
    Id id;
    int64_t started_us;
    JournalWorker *worker; /* what the thread sleeps in, and who is told of what is due */
    pthread_t thread;
    bool has_thread;
    atomic_bool ends;

    pthread_mutex_t lock; /* guards the rest, while a piece is done, too */
    TaskPart parts[TASKS_PARTS_MAX];
    size_t part_count;
    uint64_t turn;
    uint32_t live, self; /* instances, and which of them this is */
    Id *known;           /* all of them, when this one last looked */
    size_t known_count;
    bool has_beaten;
    int64_t beat_us; /* steady clock */
    int64_t beat_stamp;
    uint64_t damaged[VOTES_DAMAGED_MAX]; /* voters that were named in the log */
    size_t damaged_count;
};

/* "name/part": its row in the store, and its key in the journal. */
Slice task_part_key(const TaskPart *part, Arena *arena);
extern const Record TASK_STATE_RECORD, TASK_INSTANCE_RECORD;
void task_state_free(TaskState *state);
/* OK with an untouched state when there is none. */
MUST_USE Status task_state_read(Tasks *tasks, TaskPart *part);
MUST_USE Status task_state_write(Tasks *tasks, TaskPart *part);
/* Tells the others that this instance lives, and reads who does. */
MUST_USE Status task_beat(Tasks *tasks);
/* Dead at once, for the others. */
MUST_USE Status task_beat_end(Tasks *tasks);

/* ---- Scheduling ------------------------------------------------------------------------------------------------ */

/* Whether this part is this instance's. Pure. */
bool task_is_here(const Task *task, uint32_t part, uint32_t live, uint32_t self);
/* When the next pass should begin, by the wall clock; 0 or less: at once. Pure. */
int64_t task_due_us(const Task *task, const TaskState *state);
/* When a part wants its next piece on this instance, and how urgently: the smaller priority goes first, then the earlier moment. Both the
 * journal's order and the choice from memory follow it. Pure. */
typedef struct TaskNow {
    int64_t wall_us, steady_us;
} TaskNow;
typedef struct TaskPlace {
    int64_t at_us; /* by the wall clock; not after now: it is due; TASK_NEVER */
    uint32_t priority;
} TaskPlace;
#define TASK_NEVER INT64_MAX
TaskPlace task_place(const TaskPart *part, bool here, TaskNow now);
/* How long to wait after so many failures in a row. Pure. */
int64_t task_backoff_us(uint32_t failures);

/* An instance starts, this one (`here`: so it does that itself, whoever's turn it is), or another one is gone: what it may have left half
 * done is looked for. */
void tasks_after_crash(Tasks *tasks, bool here);
/* Names voters in the log of whom something cannot be read, each once until it can be again. */
void tasks_name_damaged(Tasks *tasks);
/* A heartbeat when it is time. */
bool tasks_beat_when_due(Tasks *tasks);
/* Until the next one; at least a moment. */
int64_t tasks_until_beat_us(const Tasks *tasks);
/* Tells the journal of each part whose place is another than it was told; `all`: of every one. */
void tasks_tell_journal(Tasks *tasks, bool all);
/* The piece that the journal hands out, if it is due; then the journal hears of the next one. */
void tasks_take_claimed(Tasks *tasks, const JournalWork *work);
/* Begins a pass from the beginning. */
void task_begin(Tasks *tasks, TaskPart *part);
/* One piece of the pass under way, with all that follows from its result. */
MUST_USE Status task_piece(Tasks *tasks, TaskPart *part, Reason *reason);
