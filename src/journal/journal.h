/* journal.h -- durable, keyed, prioritised lists of work.
 *
 * A journal is a named list of entries. Producers put entries, workers claim the first that is due, work, and end it. An entry may
 * have a key: putting the same key again merges with the entry that waits, so a burst of a thousand "recount policy 7" is one
 * recount. An entry is in one of these states:
 *     W waiting   P processing (claimed, under a lease)   H held: the one successor of a running entry   F failed, on the dead list
 *
 * Promises; the tests of tests/journal carry these names:
 *   I1  With merging, a key has at most one W, one P, one H. H only beside P, never W beside P.
 *   I2  Every index in memory equals what can be computed from the stored headers.
 *   I3  No acknowledged put is lost: a claim of its key begins after it, unless the entry expired, was removed or failed.
 *   I4  A key never has two leases that are valid at the same time. (A lease lost in a crash with `sync` other than all is not valid
 *       any more: its token is LOST.)
 *   I5  A claim returns the least (priority, process date, id) of all that is due over the journals that it names.
 *   I6  Nothing is handed out before its process date, nothing that has expired, nothing of a paused journal.
 *   I7  Ids and tokens never repeat: not after a crash, and not when the directory was lost or emptied, as long as the wall clock goes forward (a new
 *       directory begins with ids by the clock, in microseconds). Ids have gaps and are below 2^53.
 *   I8  A due entry and a waiting claim meet at once; a date that is reached wakes the waiter, nothing polls.
 *   I9  created = done + expired + removed + merged_away + dropped + what lives (W, P, H and F).
 *   I10 Files shrink again when the work is done (journal_files.c).
 *   I11 The dead list is bounded in number and age.
 *   I12 Merging is commutative, associative and idempotent (journal_rules.h).
 *   I13 A stale token changes nothing: CONFLICT, "lost".
 *
 * What an answer means: OK of a put is given when the entry is on disk, also when it merged and changed nothing. Ends (done, release,
 * fail, bury) and moves (requeue, kick, remove, pause) are on disk with `sync = ends` (the default) and `all`; with `puts` they
 * follow within 200 ms. A claim is on disk with `sync = all`; else a crash may forget it, which repeats work. Extending a lease is never written.
 *
 * Not promised: order between entries of equal priority and date beyond their ids; that a worker whose lease is over has stopped;
 * that work is done only once (a lease that is over is given to the next worker). Entries are not moved between groups.
 *
 * Statuses: OK; NOT_FOUND (no such journal, or no such entry in that state); INVALID and TOO_LARGE (a bound, `reason` has the field and
 * rule); THROTTLED (the journal or the disk is full, or too many wait); CONFLICT (the token is stale; the journal rejects puts while
 * the key runs); UNAVAILABLE (read-only after a disk error, or closing: not done); UNKNOWN (a write failed: perhaps done; the journal turns
 * read-only and opens again by itself); CORRUPT (stored data breaks an invariant).
 *
 * Clocks: dates are milliseconds of the wall clock; leases, waits and pauses run on a clock that cannot be set. After a start each running
 * entry has its whole lease again, but for what an owner had claimed: that waits again, since owners end with their process. When the wall clock steps forward by more than an hour, expired entries are invisible at once
 * but deleted only after the new time has held for a minute.
 *
 * Threads: every call may come from any thread. A group of journals has a thread that decides and one that writes; many callers share a
 * sync. journal_submit takes no thread: `finish` is called when there is an answer, from a thread of the journal, and must not wait. */
#pragma once

#include "base/histogram.h"
#include "base/world.h"
#include "journal/declaration.h"
#include "journal/log.h"

typedef struct Journals Journals;
/* A connection of a worker, say: what it has claimed goes back when it ends. */
typedef struct JournalOwner JournalOwner;
typedef struct JournalListener JournalListener;

enum {
    JOURNAL_MANY_MAX = 1000, /* puts, claimed entries or tokens in one call */
    JOURNAL_CLAIM_NAMES_MAX = 1000,
    JOURNAL_LIST_MAX = 1000,
    JOURNAL_WAIT_MAX_MS = INT32_MAX, /* of a claim */
    JOURNAL_TOKEN_BYTES = 16,
    JOURNAL_TOKEN_TEXT = 32,
};

typedef enum JournalState {
    JOURNAL_WAITING = 'W',
    JOURNAL_PROCESSING = 'P',
    JOURNAL_HELD = 'H',
    JOURNAL_FAILED = 'F',
} JournalState;

/* What happened, counted for each journal since it was first used. They are stored in this order: others come behind these. */
#define JOURNAL_COUNTER_LIST(X)                                                           \
    X(CREATED, created, "Entries made.")                                                  \
    X(MERGED, merged, "Puts that merged with a waiting entry.")                           \
    X(HELD, held, "Puts that made or met the successor of a running entry.")              \
    X(STALE, stale, "Puts whose data was older than what was there.")                     \
    X(REJECTED, rejected, "Puts refused or ignored while the key ran.")                   \
    X(CLAIMS, claims, "Entries handed out.")                                              \
    X(DONE, done, "Entries done.")                                                        \
    X(LATE_DONE, late_done, "Of these, after their lease.")                               \
    X(RELEASED, released, "Entries given back.")                                          \
    X(FAILS, failed, "Runs that a worker reported as failed.")                            \
    X(LAPSED, lapsed, "Leases that ran out.")                                             \
    X(EXPIRED, expired, "Entries that expired.")                                          \
    X(REMOVED, removed, "Entries removed by somebody.")                                   \
    X(MERGED_AWAY, merged_away, "Entries that merged into another one.")                  \
    X(DEAD, dead, "Entries that went to the dead list.")                                  \
    X(BURIED, buried, "Of these, by the wish of a worker.")                               \
    X(DROPPED, dropped, "Entries given up and not kept, or fallen out of the dead list.") \
    X(KICKED, kicked, "Entries requeued or made due.")                                    \
    X(AHEAD, ahead, "Insertion dates that were too far ahead to be believed.")            \
    X(HELD_MERGED, held_merged, "Of the held ones, those that met a successor.")

typedef enum JournalCounter {
#define X(name, label, help) JOURNAL_COUNT_##name,
    JOURNAL_COUNTER_LIST(X)
#undef X
        JOURNAL_COUNTERS
} JournalCounter;
extern const char *const JOURNAL_COUNTER_NAMES[JOURNAL_COUNTERS];
extern const char *const JOURNAL_COUNTER_HELP[JOURNAL_COUNTERS];

typedef struct JournalToken {
    unsigned char bytes[JOURNAL_TOKEN_BYTES];
} JournalToken;
/* 32 lower-case hexadecimal digits. */
void journal_token_text(JournalToken token, char to[JOURNAL_TOKEN_TEXT + 1]);
MUST_USE Status journal_token_from_text(Slice text, JournalToken *ret_token);

/* ---- Opening ----------------------------------------------------------------------------------------------- */

typedef struct JournalAlert {
    Slice journal;
    uint64_t id;
    Slice error;
} JournalAlert;

typedef struct JournalsOptions {
    const char *directory;        /* made when it is not there; one process owns it */
    Slice declaration;            /* text of the declaration file; empty: nothing is declared */
    const char *declaration_path; /* for messages */
    World world;
    size_t cache_bytes; /* keys and data kept in memory beside the files */
    int64_t reopen_s;   /* how often a read-only journal tries to open again */
    bool still;         /* the clock moves only when journals_tick is called: no timers */
    /* An entry was given up. Called once for it, from a thread of the journal; must not wait. Or NULL. */
    void (*alert)(void *context, const JournalAlert *alert);
    void *context;
    JournalLog *log; /* for the group main, instead of files; the journals close it */
} JournalsOptions;

MUST_USE Status journals_open(const JournalsOptions *options, Journals **ret_journals,
                              Reason *reason);
/* No call may be under way and none may follow; waiting claims are answered UNAVAILABLE. */
void journals_close(Journals *journals);
/* Another text of the declaration file, all of it or nothing. Existing entries keep the rules under which they were made. */
MUST_USE Status journals_reload(Journals *journals, Slice declaration, const char *path,
                                Reason *reason);
/* Looks at the clock now, and answers what has become due by it. */
void journals_tick(Journals *journals);
/* The declaration in force, until the next reload. NULL: the name is not declared. */
const JournalDeclared *journals_declared(Journals *journals, Slice name);
/* How often a declaration was taken, from 1; when that is not `seen`, also its text, in the arena, for those who read it themselves. */
uint64_t journals_declaration(Journals *journals, uint64_t seen, Arena *arena, Slice *ret_text);
/* What the declaration in force says of who may put and claim, copied. A name that is not declared has the rules of [tubes], and without
 * them is NOT_FOUND. */
MUST_USE Status journals_access(Journals *journals, Slice name, Arena *arena,
                                JournalAccessList *ret_put, JournalAccessList *ret_claim,
                                Reason *reason);

/* ---- Putting ----------------------------------------------------------------------------------------------- */

typedef struct JournalPut {
    Slice journal;
    Slice key; /* empty: the entry stands alone */
    Slice data;
    int64_t insertion_ms;  /* the client's clock; 0: now */
    int64_t wanted_ms;     /* 0: now */
    int64_t expiration_ms; /* 0: what the journal says */
    int64_t lease_ms;      /* 0: what the journal says */
    uint32_t priority;
    bool has_priority;
    bool on_use;     /* an undeclared name is made by the rules of [tubes] */
    bool lazy;       /* answered before the sync: a power cut within 200 ms may lose it */
    bool is_checked; /* journal_check_put said OK: its data is not parsed once more */
} JournalPut;

typedef enum JournalOutcome {
    JOURNAL_CREATED,
    JOURNAL_MERGED,
    JOURNAL_MADE_HELD,
    JOURNAL_HELD_MERGED,
    JOURNAL_STALE,
    JOURNAL_IGNORED,
} JournalOutcome;

typedef struct JournalAnswer {
    Status status;
    JournalOutcome outcome;
    uint64_t id;
    int64_t process_ms;
} JournalAnswer;

/* ---- Claiming ---------------------------------------------------------------------------------------------- */

typedef struct JournalClaim {
    const Slice *journals; /* all of one group */
    size_t journal_count;
    uint32_t count;        /* at most; 0 is 1 */
    uint32_t max_priority; /* UINT32_MAX: any */
    int64_t lease_ms;      /* 0: what the put or the journal says */
    int64_t wait_ms;       /* for the first; 0: not at all */
    size_t most_bytes;     /* of keys and data together, but one entry in any case; 0: any */
    JournalOwner *owner;   /* or NULL */
    bool
        soon; /* a claim that finds nothing ends with `soon` when a lease of its owner has a second left */
    bool on_use;
    JournalListener *listener; /* armed again when there is nothing; or NULL */
} JournalClaim;

typedef struct JournalClaimed {
    uint64_t id;
    JournalToken token;
    Slice journal, key, data;
    uint32_t priority, timeouts;
    int64_t insertion_ms, process_ms, lease_ms;
} JournalClaimed;

typedef struct JournalClaims {
    JournalClaimed *entries;
    size_t count;    /* 0: nothing was due until the wait was over */
    int64_t next_ms; /* then: the date of the next, as far as it is known now; JOURNAL_NEVER */
    bool soon;
} JournalClaims;

/* ---- Tokens and ids ---------------------------------------------------------------------------------------- */

typedef struct JournalStep {
    JournalToken token; /* extend, done, release, fail, bury */
    uint64_t id;        /* requeue, remove, kick, delete; with an owner the others, too */
    int64_t ms;         /* extend: the lease from now, 0: as claimed; release: the date, 0: now */
    uint32_t priority;  /* release, bury */
    bool has_priority;
    Slice error; /* fail: at most JOURNAL_ERROR_MAX bytes, the rest is cut off */
    Status status;
} JournalStep;

/* ---- Reading ----------------------------------------------------------------------------------------------- */

typedef struct JournalView {
    uint64_t id;
    JournalState state;
    Slice journal, key, data, error;
    uint32_t priority, version, timeouts, timeouts_ever, reserves, releases, buries, kicks;
    int64_t insertion_ms, expiration_ms, wanted_ms, process_ms, update_ms, lease_ms;
    int64_t start_ms;    /* of the last run; 0: never */
    int64_t left_ms;     /* of the lease */
    int64_t released_ms; /* when it was last released, as far as memory knows; 0: it does not */
    uint32_t data_bytes; /* lists do not carry keys and data */
} JournalView;

typedef enum JournalPeek {
    JOURNAL_PEEK_READY,
    JOURNAL_PEEK_DELAYED,
    JOURNAL_PEEK_FAILED
} JournalPeek;

typedef struct JournalList {
    JournalView *entries;
    size_t count;
    uint64_t next; /* the next page's `after`, when `more` */
    bool more;
} JournalList;

typedef struct JournalStats {
    uint64_t counters[JOURNAL_COUNTERS];
    uint64_t waiting, processing, held, failed;
    uint64_t due,
        urgent; /* of the waiting: due (counted up to ORDER_SURVEY_MAX where others are not), and these with a priority below 1024 */
    uint32_t first_priority;        /* of the first that is due; 0: none is */
    uint64_t bytes;                 /* keys and data of what lives */
    uint64_t waiters;               /* claims */
    int64_t oldest_due_ms, next_ms; /* dates; JOURNAL_NEVER */
    int64_t pause_left_ms;
    uint64_t dead_max; /* the bound of the dead list */
    bool on_use;
    /* Since the start, of JOURNAL_SPANS: from when it was due until its claim, and from there until a worker ended it. */
    Histogram wait, run;
} JournalStats;
extern const HistogramKind JOURNAL_SPANS;   /* ms, printed as seconds */
extern const HistogramKind JOURNAL_COMMITS; /* µs, printed as seconds */
extern const HistogramKind JOURNAL_SIZES;   /* requests */

/* The puts that were taken, whatever became of them. */
static inline uint64_t journal_puts(const JournalStats *stats)
{
    const uint64_t *counters = stats->counters;
    return counters[JOURNAL_COUNT_CREATED] + counters[JOURNAL_COUNT_MERGED] +
           counters[JOURNAL_COUNT_HELD_MERGED] + counters[JOURNAL_COUNT_STALE];
}

typedef struct JournalGroupFigures {
    const char *name;
    uint64_t live_bytes, file_bytes;
    Histogram commits, sizes; /* since the start: how long each took, how many requests shared it */
} JournalGroupFigures;

typedef struct JournalsHealth {
    bool writable;
    char reason[320];
    uint64_t entries, live_bytes, file_bytes, commits, syncs, written, failures, reopens,
        clock_steps;
    JournalGroupFigures groups[DECLARATION_GROUPS_MAX];
    size_t group_count;
} JournalsHealth;

/* ---- Calls that wait for their answer ---------------------------------------------------------------------- */

MUST_USE Status journal_put(Journals *journals, const JournalPut *put, JournalAnswer *ret_answer,
                            Reason *reason);
/* What the declaration says of the data, which a put asks before all else: for those who put many, since one that breaks it refuses all. */
MUST_USE Status journal_check_put(Journals *journals, const JournalPut *put, Reason *reason);
/* At most JOURNAL_MANY_MAX. OK when each has an answer of its own; `reason` is of the first that is not OK. */
MUST_USE Status journal_put_many(Journals *journals, const JournalPut *puts, size_t count,
                                 JournalAnswer *ret_answers, Reason *reason);
MUST_USE Status journal_claim(Journals *journals, const JournalClaim *claim, Arena *arena,
                              JournalClaims *ret_claims, Reason *reason);
/* One entry by its id: W, also of the future, or F. NOT_FOUND else. */
MUST_USE Status journal_claim_id(Journals *journals, uint64_t id, JournalOwner *owner, Arena *arena,
                                 JournalClaimed *ret_claimed, Reason *reason);
/* The status of each is in the step: OK, or CONFLICT when it is lost (tokens), NOT_FOUND (ids). Returns that of the first that is not OK. */
MUST_USE Status journal_extend(Journals *journals, JournalStep *steps, size_t count,
                               Reason *reason);
MUST_USE Status journal_done(Journals *journals, JournalStep *steps, size_t count, Reason *reason);
MUST_USE Status journal_release(Journals *journals, JournalStep *steps, size_t count,
                                Reason *reason);
MUST_USE Status journal_fail(Journals *journals, JournalStep *steps, size_t count, Reason *reason);
MUST_USE Status journal_bury(Journals *journals, JournalStep *steps, size_t count, Reason *reason);
/* F becomes W. */
MUST_USE Status journal_requeue(Journals *journals, JournalStep *steps, size_t count,
                                Reason *reason);
/* As requeue; or a W of the future becomes due now. */
MUST_USE Status journal_kick(Journals *journals, JournalStep *steps, size_t count, Reason *reason);
/* W, H and F go; of a P its H goes, and it is not tried again. */
MUST_USE Status journal_remove(Journals *journals, JournalStep *steps, size_t count,
                               Reason *reason);
/* Up to `most` F, the oldest first; when there are none, up to `most` W of the future, the soonest first. */
MUST_USE Status journal_kick_some(Journals *journals, Slice journal, uint64_t most,
                                  uint64_t *ret_kicked, Reason *reason);
MUST_USE Status journal_pause(Journals *journals, Slice journal, int64_t ms, Reason *reason);
MUST_USE Status journal_resume(Journals *journals, Slice journal, Reason *reason);
MUST_USE Status journal_get(Journals *journals, uint64_t id, Arena *arena, JournalView *ret_view,
                            Reason *reason);
MUST_USE Status journal_peek(Journals *journals, Slice journal, JournalPeek which, Arena *arena,
                             JournalView *ret_view, Reason *reason);
/* By id; state 0 is any. A page may be short, or empty, and yet have `more`. */
MUST_USE Status journal_list(Journals *journals, Slice journal, JournalState state, uint64_t after,
                             uint32_t limit, Arena *arena, JournalList *ret_list, Reason *reason);
MUST_USE Status journal_stats(Journals *journals, Slice journal, JournalStats *ret_stats,
                              Reason *reason);
/* Declared ones and those on use, in byte order. */
MUST_USE Status journal_names(Journals *journals, Arena *arena, Slice **ret_names,
                              size_t *ret_count, Reason *reason);
void journals_health(Journals *journals, JournalsHealth *ret_health);
/* Opens again what is read-only; OK when everything is writable. */
MUST_USE Status journals_reopen(Journals *journals, Reason *reason);
/* Shrinks files that have earned it, without waiting for the next look (once a second). */
void journals_shrink(Journals *journals);

/* ---- Calls that do not wait -------------------------------------------------------------------------------- */

typedef enum JournalCall {
    JOURNAL_CALL_PUT,
    JOURNAL_CALL_CLAIM,
    JOURNAL_CALL_CLAIM_ID,
    JOURNAL_CALL_EXTEND,
    JOURNAL_CALL_DONE,
    JOURNAL_CALL_RELEASE,
    JOURNAL_CALL_FAIL,
    JOURNAL_CALL_BURY,
    JOURNAL_CALL_REQUEUE,
    JOURNAL_CALL_KICK,
    JOURNAL_CALL_DELETE, /* done, when claim.owner has claimed it; a W, H or F is removed; else NOT_FOUND */
    JOURNAL_CALL_REMOVE,
    JOURNAL_CALL_KICK_SOME,
    JOURNAL_CALL_PAUSE,
    JOURNAL_CALL_RESUME,
    JOURNAL_CALL_GET,
    JOURNAL_CALL_PEEK,
    JOURNAL_CALL_LIST,
    JOURNAL_CALL_STATS, /* no name: the sum of all; its counters are those of this process */
    JOURNAL_CALL_NAMES, /* in no order */
    JOURNAL_CALL_CANCEL, /* `cancelled` is answered now, with nothing, when it is a claim that waits */
    JOURNAL_CALL_OWNER_END, /* claim.owner: what it holds is waiting again, uncounted; then it is freed */
    JOURNAL_CALL_PRIVATE, /* and above: the module's own */
} JournalCall;

typedef struct JournalRequest JournalRequest;
/* The caller fills what its call needs; everything stays alive and untouched until `finish` has been called. */
struct JournalRequest {
    JournalCall call;
    const JournalPut *puts;
    JournalAnswer *answers;
    JournalClaim claim;
    JournalStep *
        steps; /* extend, done, release, fail and bury with claim.owner: of ids that it has claimed, else NOT_FOUND */
    size_t count; /* puts or steps */
    Slice journal;
    uint64_t id; /* claim_id, get; list: after; kick_some: most */
    int64_t ms;  /* pause */
    bool on_use; /* pause: an undeclared name is made by the rules of [tubes] */
    JournalRequest *cancelled;
    JournalPeek which;
    JournalState
        state; /* list; kick_some: F or W only, and the answer says which of them; 0: as journal_kick_some */
    uint32_t limit;
    Arena *arena; /* for what the answer holds; nobody else uses it meanwhile */
    void (*finish)(JournalRequest *request);
    void *context;

    /* The answer. */
    Status status;
    Reason reason;
    JournalClaims claims;
    JournalClaimed claimed;
    JournalView view;
    JournalList list;
    JournalStats stats;
    uint64_t kicked;
    Slice deleted_from; /* delete, of one: its journal */
    Slice *names;
    size_t name_count;

    /* The module's. */
    struct JournalGroup *group;
    JournalRequest *next;
    struct JournalWait *wait;
    void *private_data;
    size_t group_at;
};

/* `finish` may be called before this returns. */
void journal_submit(Journals *journals, JournalRequest *request);
/* A claim that waits is answered now, with nothing; any other request goes on. `finish` is called as ever. Waits for the decider;
 * JOURNAL_CALL_CANCEL does not, and then `request` must not be used for anything else before both are answered. */
void journal_cancel(Journals *journals, JournalRequest *request);

JournalOwner *journal_owner_new(Journals *journals);
/* Waits until everything it holds is waiting again, uncounted; frees it. None of its claims may be under way. */
void journal_owner_end(JournalOwner *owner);

/* `ring` says that something is due in one of the journals (all of one group); it is a hint to everybody, only a claim hands out. It rings once
 * and again only after a claim that names the listener has found nothing. Called from a thread of the journal; must not wait. */
MUST_USE Status journal_listen(Journals *journals, const Slice *names, size_t count,
                               void (*ring)(void *context, Slice journal), void *context,
                               JournalListener **ret_listener, Reason *reason);
/* From now on it is armed again by itself whenever nothing is due in its journals: it rings when something has become due. */
void journal_listen_edges(JournalListener *listener);
/* After it `ring` is not called any more. */
void journal_listen_end(JournalListener *listener);
