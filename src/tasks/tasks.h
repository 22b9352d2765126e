/* tasks.h -- the work that goes on behind the site: finding what was left behind, correcting what lags, ending what waited.
 *
 * A task is a row of a table (task_table.c): a name, a period, in how many parts it is done, one line of help, a function that
 * does one bounded piece and says where the next begins. A scheduler, one thread an instance, takes pieces in turn.
 * The thread sleeps in a journal, which has an entry for each part, due when its next piece is.
 * Promises:
 *   1. Every task can run twice, in parallel, or be cut off at any point: it does what is left to do. What instances know of each
 *      other spreads the work, and nothing depends on it.
 *   2. A task saves its place in table `task_state` every few seconds and goes on there after a restart, also on another instance.
 *   3. A part is done by one of the live instances: by a hash of its name and number over those whose heartbeat in table
 *      `instances` is younger than INSTANCE_TTL_S. While an instance cannot read that table it goes by what it knew, at first that it is
 *      alone. Where no other process can have the store open, whatever heartbeat another one left is of the dead.
 *   4. A piece that fails is tried again, later and later (at most TASK_BACKOFF_MOST_S apart). When the piece could be read
 *      but not all of it be done, the pass goes on and does not count as whole; another follows soon.
 *   5. Progress, the last run, how long it took, and errors can be seen while it works, from any instance.
 *      A journal that cannot be used stops nothing: the same choice is then made from memory. What was asked for (tasks_ask) is then forgotten
 *      by a restart.
 *   6. When no whole pass over all voters has begun for half the life of a mark, marks may be about to be lost: then that pass
 *      comes before everything else, and at start before the site serves (tasks_catch_up).
 *   7. What a crash may leave half done (a new policy that waits, a merge, a list that lacks one) is looked for when an instance starts,
 *      by that instance, beside the first requests; and when one is no longer alive, by those that are. Not only when its task is
 *      due again. A merge at which another instance may still be is left, and looked at once more when it cannot be any longer.
 *      One that this instance itself has given up, because the store refused in the middle, is tried again each few seconds.
 * Not promised: that a task runs exactly once a period, or at a certain time of day. */
#pragma once

#include "accounts/digests.h"
#include "base/log.h"
#include "journal/journal.h"
#include "ranking/ranking.h"
#include "reports/reports.h"
#include "settings/retention.h"
#include "tasks/leaving.h"

typedef struct Tasks Tasks;

/* Writes e-mails about a policy, when what it is now asks for them. OK: they are queued, were before, or there is nothing to write. It may be
 * asked again for the same policy, at the same time elsewhere, too. */
typedef struct PolicyTeller {
    Status (*tell)(void *self, uint64_t policy, Reason *reason);
    void *self;
} PolicyTeller;

/* Writes the e-mails of one sort that wait. OK: none waits any more. */
typedef struct WaitingTeller {
    Status (*tell)(void *self, Reason *reason);
    void *self;
} WaitingTeller;
/* The task that does it, for whoever made or moved a report and wants it told at once (tasks_ask). */
#define TASK_REPORT_LETTERS "report-letters"
/* The task that looks at the journals: for who knows that an entry failed. */
#define TASK_JOURNALS "journals"

/* Who writes the letter of a period to somebody who wishes it. OK: it is queued, was before, or there is nothing to tell. */
typedef struct DigestTeller {
    Status (*tell)(void *self, const DigestRequest *want, const DigestPeriod *period,
                   Reason *reason);
    void *self;
} DigestTeller;

typedef struct TasksOptions {
    Store *store;
    World world;
    bool shared;             /* other instances may work on this store */
    ClockGuard *clock_guard; /* hears what the clocks of the others say; or NULL */
    Journals *journals;      /* which outlive the tasks; or NULL */
    const char *journal;     /* its name there; worker.h says how it must be declared */
    Accounts *accounts;
    Policies *policies;
    Votes *votes;
    Reports *reports;         /* or NULL: nothing to do for them */
    Ranking *ranking;         /* loaded; or NULL: tasks that need it have nothing to do */
    Log *log;                 /* or NULL */
    int64_t creation_grace_s; /* how long a policy may wait for the save that creates it */
    const char *address;      /* of this instance, for people */
    PolicyTeller
        answer_teller; /* to those who answer (answers.h, promise 3); empty: nobody is told, and it stays to be done */
    PolicyTeller hidden_teller; /* to the owner of a policy that was hidden; empty: nobody is */
    /* Removes what is kept anywhere of a policy that is deleted or void, as far as it is still there (app/obliterate.h). OK: all of it. Empty: only what
     * `policies` has goes, and nobody says that it is gone. */
    PolicyTeller obliterator;
    /* How long things are kept, each minute: for what tasks cannot reach themselves (the log of acts). May be NULL. */
    void (*keep)(void *self, const Retention *retention);
    void *keep_self;
    DigestTeller digest_teller;   /* empty: nobody is */
    WaitingTeller report_teller;  /* about reports that are marked as waiting; the same */
    WaitingTeller journal_teller; /* about the journals of this instance; the same */
    LeavingListener listener; /* of policies that a task ended waiting for, and of those who left */
} TasksOptions;

enum {
    INSTANCE_BEAT_S = 30,
    INSTANCE_TTL_S = 120,
    INSTANCES_MAX = 1000,
    TASK_SAVE_S = 5,
    TASK_BACKOFF_MOST_S = 300,
};

Tasks *tasks_new(const TasksOptions *options);
/* After tasks_stop. */
void tasks_free(Tasks *tasks);

/* Before the site serves: follows the marks since the last sweep, and passes over all voters when the last whole pass is too long
 * ago. Anything but OK: some count may lag, and the marks will be followed again. */
MUST_USE Status tasks_catch_up(Tasks *tasks, Reason *reason);
/* The thread. */
void tasks_start(Tasks *tasks);
/* Ends the thread after the piece under way, saves places, takes the heartbeat back. */
void tasks_stop(Tasks *tasks);

/* ---- By hand ------------------------------------------------------------------------------------------------- */

/* All of a task, from the beginning, now, whoever's turn it is. NOT_FOUND: no such task. Other failures: with what went wrong; the
 * rest is left to the scheduler. */
MUST_USE Status tasks_run(Tasks *tasks, Slice name, Reason *reason);

/* The same by the scheduler, soon and on this instance, whoever's turn it is. Waits for nothing. However often it is asked for while a pass is under way,
 * that is one more pass. With a journal it is done after a restart, too. NOT_FOUND: no such task. */
MUST_USE Status tasks_ask(Tasks *tasks, Slice name, Reason *reason);

/* One turn of the scheduler without the journal: a heartbeat when it is time, and a piece of the most urgent part that is due. Returns for how
 * many µs there is nothing to do, 0 to go on at once. For the thread when the journal cannot be used, for the simulator and for tests. */
int64_t tasks_turn(Tasks *tasks);

/* ---- To see -------------------------------------------------------------------------------------------------- */

typedef struct TaskInfo {
    const char *name, *help;
    int64_t period_s;
    uint32_t part, parts;
    bool here;        /* this instance's share at the moment */
    bool under_way;   /* a pass has begun and not ended */
    int64_t begun_us; /* of the pass under way, else of the last; 0: never */
    int64_t ended_us; /* of the last pass that ended */
    int64_t whole_us; /* when the last pass began in which nothing failed */
    int64_t took_us;  /* the last pass */
    uint64_t done;    /* looked at in the pass under way, else in the last */
    uint64_t found;   /* of these, where there was something to do */
    uint64_t errors;  /* ever */
    int64_t error_us; /* of the last one; 0: none */
    Slice error;      /* in words */
} TaskInfo;

/* One for each part, in the order of the table. */
MUST_USE Status tasks_list(Tasks *tasks, Arena *arena, TaskInfo **ret_infos, size_t *ret_count);

typedef struct Instance {
    Id id;
    int64_t started_us, beat_us;
    Slice address;
    bool self;
} Instance;

/* Those that are alive, in the order of their ids. */
MUST_USE Status tasks_instances(Tasks *tasks, Arena *arena, Instance **ret_instances,
                                size_t *ret_count);
