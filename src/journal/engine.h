/* engine.h -- the inside of a journal's threads, shared by these files:
 *   journals.c   opening, groups, which group a request belongs to
 *   calls.c      the calls that wait for their answer
 *   engine.c     the thread that decides, and the one that writes
 *   decide.c     what becomes of each request
 *   waits.c      claims that wait, listeners
 *   journal_files.c  when files shrink
 *   timer.c      sleeping until somebody calls or a moment comes
 * The decider owns the book, the waits and the listeners; the lock guards only the queue and the hand-over to the committer. What is decided
 * while a batch is on its way goes into the next one. An answer that must be durable is given by the committer after its batch. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "journal/book.h"
#include "journal/timer.h"

enum {
    JOURNAL_CALL_DECLARE = JOURNAL_CALL_PRIVATE, /* private_data: the declaration */
    JOURNAL_CALL_LISTEN,                         /* the listener */
    JOURNAL_CALL_LISTEN_END,
    JOURNAL_CALL_HEALTH, /* a JournalsHealth, which is added to */
    JOURNAL_CALL_REOPEN,
    JOURNAL_CALL_SHRINK,
    JOURNAL_CALL_TICK,
    JOURNAL_CALL_CHECK, /* a const char *: book_check's sentence */
};

typedef struct RequestList {
    JournalRequest *first, **last;
} RequestList;

/* What was decided and is not durable yet. */
typedef struct Batch {
    Arena *arena;
    JournalChange *changes;
    size_t count;
    Pointers bodies, alerts;
    RequestList requests; /* answered when it is written */
    bool sync;
} Batch;

typedef struct JournalWait JournalWait;
typedef struct WaitLink {
    struct WaitLink *before, *after; /* in the journal's list, first come first */
    JournalWait *wait;
    Journal *journal;
} WaitLink;

struct JournalWait {
    JournalRequest *request;
    int64_t until_ms; /* of the clock that cannot be set */
    int64_t wake_ms;  /* that, or when a lease of its owner has a second left */
    uint32_t wait_at; /* in the heap */
    Journal **journals;
    WaitLink *links;
};

typedef struct Listening {
    struct Listening *next; /* of the same journal */
    JournalListener *listener;
    Journal *journal;
} Listening;

struct JournalListener {
    Journals *journals;
    struct JournalGroup *group;
    void (*ring)(void *context, Slice journal);
    void *context;
    bool armed;
    _Atomic bool edges; /* armed again by itself */
    Listening *listenings;
    size_t count;
    const Slice *names; /* while it begins */
};

typedef struct JournalGroup {
    Journals *journals;
    size_t index;
    char *name;
    Book book;
    Timer timer;
    pthread_t decider, committer;
    pthread_mutex_t lock; /* guards the fields up to the blank line */
    pthread_cond_t handed;
    RequestList queue;
    size_t queued;
    Batch *sent;
    bool busy;     /* the committer writes */
    bool failed;   /* its last batch did not get there, `reason` says why */
    bool sleeping; /* the decider */
    bool stopping, ended;
    Reason reason;
    Histogram commit_spans, commit_sizes;

    Batch batches[2];
    Batch *open;
    Heap waits, wakes;
    bool read_only;
    bool unsynced;
    int64_t unsynced_since_ms, tried_ms, looked_ms; /* of the clock that cannot be set */
    bool worked;                                    /* since the files were looked at */
    int64_t compacted_ms;
    _Atomic uint64_t commits, syncs, written, failures, reopens;
} JournalGroup;

struct Journals {
    JournalsOptions options;
    World world;
    struct Catalogue *catalogue;
    pthread_rwlock_t gate; /* the declaration */
    Arena *arena;          /* what it is made of */
    const JournalDeclaration *declaration;
    Slice text;
    _Atomic uint64_t declarations;
    JournalGroup *groups[DECLARATION_GROUPS_MAX];
    _Atomic size_t group_count;
};

/* engine.c */
MUST_USE Status group_open(Journals *journals, Slice name, size_t index, JournalLog *log,
                           const JournalDeclaration *declaration, JournalGroup **ret_group,
                           Reason *reason);
void group_close(JournalGroup *group);
void group_hand_in(JournalGroup *group, JournalRequest *request);
/* Gives the answer; or hands the request on, when it names tokens or ids that may belong to another group. */
void group_answer(JournalGroup *group, JournalRequest *request);
void group_answer_all(JournalGroup *group, RequestList *list, Status status);
void request_list_add(RequestList *list, JournalRequest *request);
/* Writes and syncs all that has been decided; the committer rests. False: the group is read-only. */
MUST_USE bool group_settle(JournalGroup *group);
/* Memory as the log has it. */
MUST_USE Status group_reload(JournalGroup *group, Reason *reason);

/* calls.c: one of the module's own calls. */
MUST_USE Status call_group(JournalGroup *group, int call, const void *data, Reason *reason);
/* For tests: a sentence about what is wrong with the indexes, or NULL. */
const char *journals_check(Journals *journals);

/* journals.c: the one group that has all of these. */
MUST_USE Status journals_group_of(Journals *journals, const Slice *names, size_t count,
                                  JournalGroup **ret_group, Reason *reason);

/* decide.c */
void journal_group_decide(JournalGroup *group, JournalRequest *request);

/* waits.c */
void waits_add(JournalGroup *group, JournalRequest *request, Journal **journals);
/* Everybody in line for what has become due, listeners, and when to look again. */
void waits_serve(JournalGroup *group);
/* Those whose time is over. */
void waits_end_late(JournalGroup *group);
void waits_cancel(JournalGroup *group, JournalWait *wait, Status status);
/* A lease of the claim's owner has a second left, and the claim asks. */
bool waits_soon(const JournalGroup *group, const JournalClaim *claim);
void waits_end_all(JournalGroup *group);
void listen_begin(JournalGroup *group, JournalRequest *request);
void listen_end(JournalGroup *group, JournalListener *listener);
void listen_arm(JournalGroup *group, JournalListener *listener);
extern const HeapKind WAIT_TURN, JOURNAL_WAKE;

/* journal_files.c */
/* The committer rests. Gives space back; `now` does not wait for the next look. */
void files_look(JournalGroup *group, bool now);
int64_t files_next_look_ms(const JournalGroup *group);
