/* mail_private.h -- what the files of mail share:
 *   message.c, mime.c   what a message looks like; pure
 *   letters.c           the site's letters; pure
 *   mail_rules.c        what follows from how an attempt went; pure
 *   smtp.c              one message to one server
 *   rows.c              a message's row, and the index of rows
 *   suppress.c          addresses that get only what they must
 *   dsn.c               reports of mail servers; pure
 *   mail.c              opening, queueing, listing, trying again
 *   worker.c            finding what is due, and carrying it out
 * No lock is held while the store or a server is asked. */
#pragma once

#include <pthread.h>

#include "journal/worker.h"
#include "mail/mail.h"
#include "store/record.h"

enum {
    MAIL_SWEEP_MAX = 4096, /* found at once; the rest is found when these are through */
};

typedef struct MailCounts {
    _Atomic uint64_t queued, sent, failed, delayed;
} MailCounts;

struct Mail {
    MailOptions options;
    Arena *arena; /* what lives as long as the handle */
    bool has_server, has_outbox;
    SmtpServer server;
    MailTransport transport;
    MailListener listener;
    Mailbox from;
    int64_t lease_us;

    _Atomic int64_t failed_s; /* how long failed ones are kept */
    MailCounts counts;
    JournalWorker *worker; /* what waits here, by when it is due; the worker sleeps in it */

    _Atomic bool ends;
    bool has_thread;
    pthread_t thread;
    /* The worker's own. */
    bool has_swept, left_some; /* more was found than it looks at in one go */
    bool has_worked;           /* since the last look */
    bool is_alone;             /* the journal cannot be used: what is due is sent as it is found */
    int64_t swept_steady_us;
    uint32_t failures; /* of the server, in a row */
    int64_t rests_until_steady_us;
};

/* ---- rows.c ------------------------------------------------------------------------------------------------ */

/* The cell `head`. A message that somebody tries to send is one that is due later: there is no other lease. */
typedef struct MailHead {
    Id write; /* fresh with every write */
    MailState state;
    uint32_t attempts;
    int64_t made_us;
    int64_t since_us; /* the 2 days count from here; also its place in the index */
    int64_t due_us;
    int code;
    Slice kind;
    Slice error; /* sealed, may be empty */
} MailHead;

typedef struct MailRow {
    Id id;
    MailHead head;
    Slice value; /* the cell, to be a condition */
} MailRow;

/* The row's key: a keyed hash of `once`, so that a secret in it is not stored. */
Id mail_row_id(const Mail *mail, Slice once);
/* The cell, and what is in the sealed one. */
extern const Record MAIL_HEAD_RECORD, MAIL_LETTER_RECORD, MAIL_SUPPRESSED_RECORD;

/* CONFLICT: there is such a row already. The first write of a message; `row` has its id and head, and gets its value. */
MUST_USE Status mail_row_create(Mail *mail, MailRow *row, const MailMessage *message, Arena *arena);
/* Serially. NOT_FOUND when there is none. */
MUST_USE Status mail_row_read(Mail *mail, Id id, Arena *arena, MailRow *ret_row);
/* Replaces what was read by `head`, whose `write` becomes fresh, and keeps the index right; `row` is then the new one. CONFLICT: somebody else was first. */
MUST_USE Status mail_row_replace(Mail *mail, MailRow *row, MailHead head, Arena *arena);
/* What is to be sent, opened. NOT_FOUND when it is gone, CORRUPT when it cannot be opened. */
MUST_USE Status mail_row_message(Mail *mail, const MailRow *row, Arena *arena,
                                 MailMessage *ret_message);
Slice mail_seal_error(const Mail *mail, const Id *id, const char *words, Arena *arena);
/* Empty when there is none, or none that can be opened. */
Slice mail_open_error(const Mail *mail, const Id *id, Slice sealed, Arena *arena);

/* The index: WAITING by hour, FAILED and OUTBOX each in one row, newest last. A mark may be there without its row, and outlive its row's state. */
typedef struct MailMark {
    Id id;
    int64_t since_us;
} MailMark;

/* Which marks: those of a state, at most so many; `recent`: only of messages that may be worth sending still. */
typedef struct MailSearch {
    MailState state;
    size_t most;
    bool recent;
} MailSearch;

typedef struct MailMarks {
    MailMark *marks; /* newest first */
    size_t count;
    bool more; /* `most` was too few */
} MailMarks;

MUST_USE Status mail_marks(Mail *mail, const MailSearch *search, Arena *arena,
                           MailMarks *ret_marks);
/* Takes a mark away that no longer says the truth. What fails is found again. */
void mail_unmark(Mail *mail, MailState state, MailMark mark);

/* ---- worker.c ---------------------------------------------------------------------------------------------- */

/* The worker of this instance hears of it; what the journal loses is found by its mark. */
void mail_note_waiting(Mail *mail, const MailRow *row);
/* One attempt for a row that was taken (its head counts the attempt). `row` is then what became of it. */
void mail_attempt(Mail *mail, MailRow *row, Arena *arena);
