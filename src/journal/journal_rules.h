/* journal_rules.h -- what happens to an entry when it is put again, claimed, ended or forgotten. Pure.
 *
 * No clock, no disk, no allocation: `now` comes in. The dates are milliseconds since 1970; a lease runs on a clock of its own that
 * no one can set, which is why it is not in here.
 *   1. The merge of two puts is commutative, associative and idempotent for JOURNAL_LATEST and JOURNAL_EARLIEST: the order in
 *      which packets arrive, and whether one arrives twice, does not matter. JOURNAL_KEEP gives that up for the wanted date.
 *   2. The process date is computed and never stored, so a bound on it (max_defer) does not depend on the order of puts either.
 *   3. A retry date, which a release or a failure sets, is kept by every merge: a put does not cut a back-off short. */
#pragma once

#include "base/slice.h"

#define JOURNAL_NEVER INT64_MAX /* a date that does not come */

enum {
    JOURNAL_NAME_MAX = 200,
    JOURNAL_KEY_MAX = 64 * 1024,
    JOURNAL_DATA_MAX = 64 * 1024 * 1024, /* what max_data can be set to */
    JOURNAL_ERROR_MAX = 1024,
    JOURNAL_TIMEOUTS_NONE = 255,  /* no limit */
    JOURNAL_AHEAD_MS = 60 * 1000, /* an insertion date further ahead is taken for a wrong clock */
    JOURNAL_HOUR_MS = 3600 * 1000,
};

/*    name, number: the smallest goes first. A worker of ours asks for SLOW and above when it found nothing else (worker.h) */
#define JOURNAL_PRIORITY_LIST(X) \
    X(NOW, 0)                    \
    X(IMPORTANT, 10)             \
    X(NEW, 20)                   \
    X(RESET, 50)                 \
    X(UPDATES, 180)              \
    X(SLOW, 200)                 \
    X(REVIEW, 230)               \
    X(TIME_ALLOWS, 255)

enum {
#define X(name, number) PRIORITY_##name = number,
    JOURNAL_PRIORITY_LIST(X)
#undef X
};

typedef enum JournalProcess { JOURNAL_LATEST, JOURNAL_EARLIEST, JOURNAL_KEEP } JournalProcess;
typedef enum JournalOnProcessing {
    JOURNAL_SUCCESSOR,
    JOURNAL_REJECT,
    JOURNAL_IGNORE,
} JournalOnProcessing;
typedef enum JournalSync { JOURNAL_SYNC_PUTS, JOURNAL_SYNC_ENDS, JOURNAL_SYNC_ALL } JournalSync;

/* What a journal does with its entries. An entry keeps those under which it was made. */
typedef struct JournalRules {
    bool merge;
    bool drop_dead;
    JournalProcess process;
    JournalOnProcessing on_processing;
    JournalSync sync;
    uint32_t priority; /* of a put that names none */
    uint32_t timeouts; /* JOURNAL_TIMEOUTS_NONE: no limit */
    int64_t max_defer_ms, lease_ms, backoff_ms, backoff_max_ms, expire_ms; /* 0: none */
    int64_t dead_ms;
    uint64_t max_entries, max_bytes, max_data, max_waiters, dead_max;
} JournalRules;

/* What a put says, and what an entry has of it. */
typedef struct JournalFields {
    int64_t insertion_ms;
    int64_t expiration_ms; /* 0: never */
    int64_t wanted_ms;
    int64_t retry_ms;  /* 0: none */
    int64_t update_ms; /* the insertion date of the data */
    int64_t lease_ms;
    uint32_t priority;
    Slice data;
} JournalFields;

/* The fields of a put as they are stored: 0 becomes what the rules say. `ret_ahead`: its insertion date was not believed. */
JournalFields journal_fields(const JournalRules *rules, JournalFields put, int64_t now_ms,
                             bool *ret_ahead);
/* Both in one. *ret_data: the data is that of `put`. */
JournalFields journal_merge(const JournalRules *rules, JournalFields have, JournalFields put,
                            bool *ret_data);
/* When it may be handed out. Never before the insertion. */
int64_t journal_process_ms(const JournalRules *rules, int64_t insertion_ms, int64_t wanted_ms,
                           int64_t retry_ms);

static inline bool journal_expired(int64_t expiration_ms, int64_t now_ms)
{
    return expiration_ms != 0 && now_ms >= expiration_ms;
}

/* How long after the failure with this number (from 1) the next try waits. */
int64_t journal_backoff_ms(const JournalRules *rules, uint32_t failures);
/* After this many lapses and failures it is given up. */
static inline bool journal_too_often(const JournalRules *rules, uint32_t counter)
{
    return rules->timeouts != JOURNAL_TIMEOUTS_NONE && counter > rules->timeouts;
}

/* A date that may come from anybody, and a span from a date, within what can be computed with. */
int64_t journal_date(int64_t ms);
int64_t journal_after(int64_t ms, int64_t span_ms);

/* What is chosen: the smallest priority, then the earliest process date, then the smallest id. */
typedef struct JournalPlace {
    uint32_t priority;
    int64_t process_ms;
    uint64_t id;
} JournalPlace;
bool journal_before(JournalPlace a, JournalPlace b);

/* 1 to 200 of A-Z a-z 0-9 - + / ; . $ _ ( ), not beginning with -. */
bool journal_is_name(Slice name);
