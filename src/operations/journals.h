/* journals.h -- journals as every door shows and uses them. The operations are in journal_*.c; who may use which journal is judged by
 * access/journal_access.h, for all of them.
 *
 * Moments are texts with milliseconds ("2026-01-31T12:00:00.250Z"), since the order of entries depends on them. Bytes that are no UTF-8 text
 * are told as base64. */
#pragma once

#include "access/journal_access.h"
#include "operations/operation.h"

enum {
    JOURNAL_DOOR_WAIT_MAX_MS = 30000, /* of a claim through a door */
    JOURNAL_PAGE_MAX = 1000,          /* entries of one answer */
    JOURNAL_PAUSE_MAX_S = 31622400,
};

/* clang-format off */
/* For rows: whoever the function lets, and admins. */
#define JOURNAL_ANYBODY .access = WEB_PUBLIC, .by_program = true, .threads = WEB_SAVE
#define JOURNAL_ADMIN   .access = WEB_ROLE, .roles = 1u << ROLE_ADMIN, .by_program = true, .whose = WEB_ANYBODYS, .threads = WEB_SAVE
#define JOURNAL_WORK    .no_audits = "it is the work of programs, which the journal counts"
/* clang-format on */

extern const char *const JOURNAL_STATE_WORDS[]; /* "W", "P", "H", "F" */

typedef struct JournalBytes {
    Slice text, base64; /* one of them */
    bool is_text;
} JournalBytes;
JournalBytes journal_bytes(Slice bytes, Arena *arena);
/* INVALID for `field`. */
MUST_USE Status journal_from_base64(Slice base64, const char *field, Arena *arena, Slice *ret_bytes,
                                    Reason *reason);
/* Empty for 0 and JOURNAL_NEVER. */
Slice journal_moment(int64_t ms, Arena *arena);
/* As journal_moment writes it, or as people do (base/time_text.h). */
MUST_USE Status journal_moment_from(Slice text, const char *field, int64_t *ret_ms, Reason *reason);
/* A number or a word. INVALID for `field`. */
MUST_USE Status journal_priority_from(Slice text, const char *field, uint32_t *ret_priority,
                                      Reason *reason);

/* This instance's. */
MUST_USE Status operations_journals(Operations *ops, Journals **ret_journals, Reason *reason);
/* OK: that actor has the right in that journal, which is declared, or has appeared on use. */
MUST_USE Status journal_admit(Operations *ops, const Actor *actor, Slice journal,
                              JournalRight right, Reason *reason);
/* The same of claims, for rows (Operation.admits); `first` is the journal. Without one it is for those who are known, or on this machine. */
MUST_USE Status journal_admits_claim(Operations *ops, const Actor *actor, Slice first,
                                     Reason *reason);
/* The same without a reason; NOT_FOUND is no. */
bool journal_may(Operations *ops, const Actor *actor, Slice journal, JournalRight right);

/* A journal with its counts and figures. */
typedef struct JournalShown {
    Slice name;
    JournalStats stats;
    Slice oldest_due, next; /* moments */
    int64_t oldest_due_s;   /* how long the oldest has been due */
    int64_t paused_s;       /* what is left of a pause */
    bool is_own;            /* the site's */
} JournalShown;
MUST_USE Status journal_shown(Operations *ops, Slice name, Arena *arena, JournalShown *ret_shown,
                              Reason *reason);

typedef struct JournalsShown {
    JournalShown *journals; /* in byte order of their names */
    size_t count;
    bool is_writable;
    Slice trouble; /* why it is not */
} JournalsShown;
/* Those in which the actor has some right. */
MUST_USE Status journals_shown(Operations *ops, const Actor *actor, Arena *arena,
                               JournalsShown *ret_shown, Reason *reason);

typedef struct JournalEntry {
    JournalView view;
    char state[2];
    const char *state_word;
    JournalBytes key, data;
    bool has_content; /* key and data were asked for */
    Slice inserted, process, expires, updated, started, error;
} JournalEntry;

typedef struct JournalEntries {
    Slice journal;
    JournalEntry *entries;
    size_t count;
    uint64_t after; /* ask for the next page with this; 0: there is none */
    Slice next;     /* the same as an address for programs */
} JournalEntries;
typedef struct JournalEntryQuery {
    Slice journal;
    unsigned state; /* index in JOURNAL_STATE_WORDS */
    bool has_state;
    uint64_t after;
    uint32_t limit;
} JournalEntryQuery;
MUST_USE Status journal_entries_read(Operations *ops, const JournalEntryQuery *query, Arena *arena,
                                     JournalEntries *ret_entries, Reason *reason);

/* ---- Putting, for the route that takes lists, too (site/api/journal_put.c) ---- */

typedef struct JournalPutAnswer {
    Status status;
    const char *outcome;
    uint64_t id;
    Slice process;      /* a moment */
    Slice field, error; /* of one that was not put: what is wrong */
} JournalPutAnswer;
extern const char *const JOURNAL_OUTCOME_WORDS[];
JournalPutAnswer journal_put_refused(Status status, const Reason *reason, Arena *arena);
/* Judges the right and puts up to JOURNAL_MANY_MAX into one journal, whose name stands in each. Those whose answer has a status already are
 * passed over; the others have theirs afterwards. Anything but OK is what came of all of them. */
MUST_USE Status journal_put_all(Operations *ops, const Actor *actor, JournalPut *puts, size_t count,
                                Arena *arena, JournalPutAnswer *answers, Reason *reason);
