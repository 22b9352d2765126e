/* ostraka-journal.h -- a client of Ostraka's journal: put work, claim it, end it, hear when there is some.
 *
 * A journal is a named, durable list of entries. Producers put them, workers claim the first that is due, work, and end it. An entry may
 * have a key: a put whose key waits already merges with what waits, so that many triggers of one thing are one run. The server is
 * `ostraka journal serve`, or the site itself with the setting journal_listen; docs/journal-protocol.md has what is sent.
 *
 * Promises:
 *   1. Every call ends: after `timeout_ms`, a claim and a wait after that and what they wait themselves. (Looking up the name of a host is
 *      the C library's and has its own limits; an address needs none.)
 *   2. A status is the truth. UNAVAILABLE: surely not done. UNKNOWN: perhaps done; the connection is closed then, and the next call makes
 *      another. No other failure leaves anything half done.
 *   3. Nothing is done twice by this library, with one exception: a put with a key is repeated, with the same insertion date, until it is answered
 *      or its time is over. A key makes that harmless: the repetition merges with what is there, or the work is done once more.
 *   4. A connection is made by the first call that needs one, and again after it was lost; the token and what was listened to are sent again.
 *   5. What was claimed belongs to its token, not to the connection: it can be extended and ended after a reconnection, and by another process.
 *   6. No threads, no signals, no output, no files but one socket. A handle is used by one thread at a time; several handles share nothing.
 *
 * Not promised: that a worker whose lease is over is stopped. It must extend in time (a third of the lease is a good interval), and an
 * entry whose answer to that is LOST is another worker's by now.
 *
 * Dates are milliseconds since 1970 in UTC, durations are milliseconds. Structs are filled with zeros first: a zero is the default. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OSTRAKA_JOURNAL_API __attribute__((visibility("default")))
#define OSTRAKA_JOURNAL_CALL \
    __attribute__((visibility("default"), warn_unused_result)) OstrakaJournalStatus

#define OSTRAKA_JOURNAL_NEVER INT64_MAX /* a date that does not come */

enum {
    OSTRAKA_JOURNAL_TOKEN_MAX = 512,        /* bytes of a token of an account */
    OSTRAKA_JOURNAL_NAME_MAX = 200,         /* bytes of the name of a journal */
    OSTRAKA_JOURNAL_KEY_MAX = 64 << 10,     /* bytes of a key */
    OSTRAKA_JOURNAL_DATA_MAX = 64 << 20,    /* bytes of data; a journal may allow less */
    OSTRAKA_JOURNAL_FAILURE_MAX = 1024,     /* bytes of the error that a worker reports */
    OSTRAKA_JOURNAL_CLAIM_MAX = 1000,       /* entries of one claim */
    OSTRAKA_JOURNAL_WAIT_MAX_MS = INT32_MAX /* of a claim */
};

typedef enum OstrakaJournalStatus {
    OSTRAKA_JOURNAL_OK,
    OSTRAKA_JOURNAL_NOT_FOUND, /* no such journal */
    OSTRAKA_JOURNAL_INVALID,   /* the request itself is wrong; the sentence names the field */
    OSTRAKA_JOURNAL_LOGIN,     /* the account's token is not valid */
    OSTRAKA_JOURNAL_DENIED,    /* this connection may not */
    OSTRAKA_JOURNAL_TOO_LARGE, /* over a bound of the journal */
    OSTRAKA_JOURNAL_REFUSED,   /* the data breaks a rule of the journal */
    OSTRAKA_JOURNAL_THROTTLED, /* the journal is full: try later */
    OSTRAKA_JOURNAL_CONFLICT, /* the key is being worked on, and the journal refuses puts meanwhile */
    OSTRAKA_JOURNAL_LOST, /* the lease is over and the entry gone or somebody else's; nothing was changed */
    OSTRAKA_JOURNAL_UNAVAILABLE, /* surely not done: try again */
    OSTRAKA_JOURNAL_UNKNOWN,     /* perhaps done */
    OSTRAKA_JOURNAL_CORRUPT,     /* the server's files are damaged */
    OSTRAKA_JOURNAL_UNSUPPORTED, /* the server does not know this word; a beanstalkd answers so */
} OstrakaJournalStatus;

/* "OK", "NOT_FOUND", … */
OSTRAKA_JOURNAL_API const char *ostraka_journal_status_name(OstrakaJournalStatus status);

/* ---- The connection -------------------------------------------------------------------------------------- */

typedef struct OstrakaJournal OstrakaJournal;

typedef struct OstrakaJournalOptions {
    const char *address; /* "HOST:PORT", "[IPV6]:PORT" or "unix:PATH" */
    const char *token;   /* of an account with journal:NAME:put or claim; NULL: none is sent */
    int timeout_ms;      /* of every call; 0: 10,000 */
} OstrakaJournalOptions;

/* Only looks at the options: INVALID, or UNAVAILABLE without memory. It does not connect. */
OSTRAKA_JOURNAL_CALL ostraka_journal_open(const OstrakaJournalOptions *options,
                                          OstrakaJournal **ret_journal);
/* What was claimed stays claimed until its lease is over. NULL is allowed. */
OSTRAKA_JOURNAL_API void ostraka_journal_close(OstrakaJournal *journal);
/* A sentence about the last call that was not OK, with the field if there is one; valid until the next call. */
OSTRAKA_JOURNAL_API const char *ostraka_journal_error(const OstrakaJournal *journal);

/* ---- Putting --------------------------------------------------------------------------------------------- */

typedef struct OstrakaJournalPut {
    const char *journal;
    const void
        *key; /* any bytes; without one the entry is alone, or the journal's key_from decides */
    size_t key_bytes;
    const void *data;
    size_t data_bytes;
    int64_t at_ms;     /* when it is due; 0: now, or after */
    int64_t delay_ms;  /* this; not both */
    int64_t expire_ms; /* when it is forgotten; 0: what the journal says */
    int64_t lease_ms;  /* of its runs; 0: what the journal says */
    int64_t
        inserted_ms; /* decides whose data is newer when puts merge; 0: now, with a key by the clock of this machine */
    uint32_t priority; /* the smallest goes first */
    bool has_priority; /* false: what the journal says */
} OstrakaJournalPut;

typedef enum OstrakaJournalOutcome {
    OSTRAKA_JOURNAL_CREATED,
    OSTRAKA_JOURNAL_MERGED,      /* with the entry that waits */
    OSTRAKA_JOURNAL_HELD,        /* its key is being worked on; it follows */
    OSTRAKA_JOURNAL_HELD_MERGED, /* with the one that follows */
    OSTRAKA_JOURNAL_STALE,       /* merged, but what is there has newer data */
    OSTRAKA_JOURNAL_IGNORED, /* its key is being worked on, and the journal ignores puts meanwhile */
} OstrakaJournalOutcome;

typedef struct OstrakaJournalAnswer {
    OstrakaJournalOutcome outcome;
    uint64_t id;
    int64_t due_ms;
} OstrakaJournalAnswer;

/* OK: it is on the server's disk. `ret_answer` may be NULL. */
OSTRAKA_JOURNAL_CALL ostraka_journal_put(OstrakaJournal *journal, const OstrakaJournalPut *put,
                                         OstrakaJournalAnswer *ret_answer);

/* ---- Claiming -------------------------------------------------------------------------------------------- */

typedef struct OstrakaJournalClaim {
    const char *const *journals;
    size_t journal_count;
    uint32_t count;    /* at most; 0: 1 */
    int64_t lease_ms;  /* 0: what the put or the journal says */
    int64_t wait_ms;   /* for the first one; 0: not at all */
    uint32_t priority; /* only entries with this priority or a smaller one */
    bool has_priority; /* false: all */
} OstrakaJournalClaim;

typedef struct OstrakaJournalToken {
    char text[33]; /* 32 hexadecimal digits */
} OstrakaJournalToken;

typedef struct OstrakaJournalEntry {
    uint64_t id;
    OstrakaJournalToken token;
    char journal[OSTRAKA_JOURNAL_NAME_MAX + 1];
    const void *key, *data; /* the library's, until the next claim or close */
    size_t key_bytes, data_bytes;
    uint32_t priority, timeouts; /* timeouts: runs that failed or lapsed since it was last put */
    int64_t inserted_ms, due_ms, lease_ms;
    int64_t
        lease_end_ms; /* by CLOCK_BOOTTIME of this machine, counted from before the claim was sent */
} OstrakaJournalEntry;

typedef struct OstrakaJournalClaims {
    const OstrakaJournalEntry *entries; /* the library's, until the next claim or close */
    size_t count;                       /* 0: nothing was due until the wait was over */
    int64_t next_ms; /* then: when the next will be due, as far as that is known, or NEVER */
} OstrakaJournalClaims;

/* The first that are due over all these journals, by priority, date and id. After UNKNOWN entries may have been handed out
 * to nobody: they come back when their lease is over. */
OSTRAKA_JOURNAL_CALL ostraka_journal_claim(OstrakaJournal *journal,
                                           const OstrakaJournalClaim *claim,
                                           OstrakaJournalClaims *ret_claims);

/* ---- Ending ---------------------------------------------------------------------------------------------- */

typedef struct OstrakaJournalStep {
    OstrakaJournalToken token;
    OstrakaJournalStatus status; /* the answer: OK, LOST, DENIED, UNAVAILABLE, UNKNOWN … */
} OstrakaJournalStep;

/* Each step gets a status of its own; returned is the first that is not OK. Of an UNKNOWN step: the same call again says OK, or LOST when it
 * was done or has passed to another worker. */

/* The lease is this long from now; 0: as long as it was claimed with. */
OSTRAKA_JOURNAL_CALL ostraka_journal_extend(OstrakaJournal *journal, OstrakaJournalStep *steps,
                                            size_t count, int64_t lease_ms);
OSTRAKA_JOURNAL_CALL ostraka_journal_done(OstrakaJournal *journal, OstrakaJournalStep *steps,
                                          size_t count);

typedef struct OstrakaJournalReturn {
    int64_t at_ms, delay_ms; /* of release: when it is due again; 0: now */
    uint32_t priority;
    bool has_priority; /* false: as it is */
} OstrakaJournalReturn;

/* Back to the waiting ones, not counted as a failure. `how` may be NULL. */
OSTRAKA_JOURNAL_CALL ostraka_journal_release(OstrakaJournal *journal, OstrakaJournalStep *steps,
                                             size_t count, const OstrakaJournalReturn *how);
/* A failed run: it comes again after the journal's backoff, or goes to the dead list. `error` is for people, NULL or at most
 * OSTRAKA_JOURNAL_FAILURE_MAX bytes; the rest is cut off. */
OSTRAKA_JOURNAL_CALL ostraka_journal_fail(OstrakaJournal *journal, OstrakaJournalStep *steps,
                                          size_t count, const char *error);
/* To the dead list, without an alert. Of `how` only the priority counts; it may be NULL. */
OSTRAKA_JOURNAL_CALL ostraka_journal_bury(OstrakaJournal *journal, OstrakaJournalStep *steps,
                                          size_t count, const OstrakaJournalReturn *how);

/* ---- Listening ------------------------------------------------------------------------------------------- */

/* From now on the server says when something becomes due in one of these; it replaces what was listened to before, and no names end it. */
OSTRAKA_JOURNAL_CALL ostraka_journal_listen(OstrakaJournal *journal, const char *const *journals,
                                            size_t journal_count);

typedef struct OstrakaJournalReady {
    char journal[OSTRAKA_JOURNAL_NAME_MAX +
                 1];   /* empty: nothing became due until the wait was over */
    uint64_t count;    /* due entries, counted up to a bound; 0 when another worker was faster */
    uint32_t priority; /* of the first, when there is one */
    int64_t next_ms;   /* when the next after these is due, or NEVER */
} OstrakaJournalReady;

/* Waits until the server says so. It is a hint to all that listen, only a claim hands out; and it comes once, until a claim on this handle
 * has found nothing. So: claim until there is nothing, wait, and again. After a failure claim first, too: a hint may have been missed. */
OSTRAKA_JOURNAL_CALL ostraka_journal_wait(OstrakaJournal *journal, int64_t wait_ms,
                                          OstrakaJournalReady *ret_ready);

#ifdef __cplusplus
}
#endif
