/* mail.h -- mails that are sent in the background, and are not lost.
 *
 *     MailMessage letter;
 *     TRY(letter_write(LETTER_CONFIRM, &facts, arena, &letter, reason));   (letters.h)
 *     letter.to = account.email;
 *     letter.once = secret;
 *     TRY(mail_send(mail, &letter, reason));
 * mail_send puts the message into the store; a thread of each instance takes what is due and hands it to the mail server of the
 * settings by SMTP. Promises:
 *   1. After OK of mail_send the message is durable. It is sent *at least once*, or listed as failed with the reason. A crash between
 *      the server's yes and our note of it, or an answer that got lost, sends it a second time; the Message-ID is the same, so that
 *      mailboxes can drop the second.
 *   2. Two messages with the same `once` are one: the second is OK and changes nothing, whatever became of the first. That is remembered for
 *      MAIL_REMEMBERED_S after the sending.
 *   3. Two instances do not send the same message, but for what is said in 1 and for clocks that differ by more than the lease: a message
 *      is taken by a conditional write that makes it due again only when all deadlines of an attempt have passed.
 *   4. What the server refuses for good (5xx about this message) has failed at once. Everything else, from a server that is not there to a
 *      4xx, is tried again after growing pauses with some chance in them: from mail_retry_seconds to 6 hours. After 2 days it has failed.
 *      While the server cannot be reached, one message tries and the others wait.
 *   5. Every attempt ends by `smtp_seconds`. A server that hangs holds up the worker and nobody else; mail_stop does not wait for it.
 *   6. Address, subject and text are sealed in the store (vault.h), and so is what a server said about them. Rows expire by themselves: sent ones
 *      after 7 days, without the text; failed ones, with it, as many days after they failed as were set then (mail_keep_failed), else 30.
 *      What waits here is kept in a journal, by when it is due and how urgent its kind is; the rows are the truth, and what a journal loses is
 *      found by their marks within five minutes.
 *      What names a policy that was obliterated loses its text before (mail_obliterate).
 *   7. Nothing in a field can become a header or a command (message.h).
 * Without `smtp_url` nothing is sent. Then a demo (`mail_outbox`) that is served on loopback, with no proxy in front, keeps messages in an outbox that its pages may
 * show; any other site cannot send (mail_can_send), refuses mail_send and says so.
 * Not promised: order, delivery (a server's yes is not a mailbox's), or a limit on how much a person causes to be sent: callers throttle.
 * All calls may come from any thread, but for mail_start, mail_stop and mail_close. */
#pragma once

#include "base/config.h"
#include "base/ids.h"
#include "base/vault.h"
#include "base/words.h"
#include "journal/journal.h"
#include "mail/message.h"
#include "mail/smtp.h"
#include "store/store.h"

typedef struct Mail Mail;

enum {
    MAIL_GIVE_UP_S = 2 * 86400,
    MAIL_REMEMBERED_S = 7 * 86400,
    MAIL_FAILED_DAYS = 30,
    MAIL_LIST_MAX = 1000,
    MAIL_OUTBOX_MAX = 100,
};

/*    name, word, what it means */
#define MAIL_STATE_LIST(X) \
    X(WAITING, "waiting")  \
    X(SENT, "sent")        \
    X(FAILED, "failed")    \
    X(OUTBOX, "outbox") /* kept, and never sent */

typedef enum MailState {
#define X(name, word) MAIL_##name,
    MAIL_STATE_LIST(X)
#undef X
        MAIL_STATES
} MailState;

extern const char *const MAIL_STATE_WORDS[];
/* "waiting" */
const char *mail_state_text(MailState state);

/* What became of an attempt, for a log. The words are ours or libcurl's, never a server's, which may hold addresses. */
typedef struct MailAttempt {
    Id id;
    Slice kind;
    MailState state; /* SENT, FAILED, or WAITING for the next one */
    uint32_t number; /* 1 for the first */
    int code;        /* of SMTP, 0 for none */
    const char *words;
} MailAttempt;

typedef struct MailListener {
    void (*attempted)(void *self, const MailAttempt *attempt); /* may be NULL */
    void *self;
} MailListener;

/* What is pointed to must outlive the handle. */
typedef struct MailOptions {
    Store *store;
    World world;
    const Vault *vault;
    const Config *config;    /* smtp_…, mail_…; and where the site is served, for the outbox */
    MailTransport transport; /* empty: SMTP to the server of the settings */
} MailOptions;

/* Starts no thread. INVALID names the setting that is wrong or the password file that cannot be read. */
MUST_USE Status mail_open(const MailOptions *options, Mail **ret_mail, Reason *reason);
/* After mail_stop. NULL is fine. */
void mail_close(Mail *mail);

/* Somebody who hears of each attempt, in the thread that made it; before mail_start. */
void mail_listen(Mail *mail, MailListener listener);
/* Where the worker keeps what waits, in a journal of this name (worker.h says how it must be declared); before mail_start. The journals must outlive the
 * handle. Without it, or when it cannot be used, the worker finds what is due by the marks in the store, every few seconds. */
void mail_use_journal(Mail *mail, Journals *journals, const char *name);
/* The worker, which first looks for what an earlier process left. Does nothing without a server. */
void mail_start(Mail *mail);
/* Ends the worker; an attempt under way is cut off, and made again later. Again, or without a start: nothing. */
void mail_stop(Mail *mail);
/* What the worker does, without waiting for anything to become due. False: there was nothing to do. For tests; one thread at a time. */
bool mail_turn(Mail *mail);

/* How long letters that fail from now on are kept. */
void mail_keep_failed(Mail *mail, int64_t days);
/* Whether messages are sent, or kept where the demo shows them. */
bool mail_can_send(const Mail *mail);
bool mail_has_outbox(const Mail *mail);

/* INVALID or TOO_LARGE: the message breaks a rule of message.h. REFUSED: this site has no mail server. UNAVAILABLE: not queued.
 * UNKNOWN: perhaps queued; the same again is safe. */
MUST_USE Status mail_send(Mail *mail, const MailMessage *message, Reason *reason);

/* A queued message, as lists show it. */
typedef struct MailEntry {
    Id id;
    MailState state;
    Slice kind, to, subject;
    Slice text, html; /* only in the outbox */
    int64_t made_us;
    int64_t
        due_us; /* WAITING: when it is tried again, or taken from somebody who does not finish */
    uint32_t attempts;
    uint32_t code; /* what SMTP said last, 0 for nothing */
    Slice error;   /* the same in words */
} MailEntry;

/* Queues and sends at once, in this thread; the entry says what came of it. For an operator who tests the settings. Statuses as mail_send, and
 * CONFLICT when that very message was queued before. */
MUST_USE Status mail_try(Mail *mail, const MailMessage *message, Arena *arena, MailEntry *ret_entry,
                         Reason *reason);

/* WAITING or FAILED, newest first, at most MAIL_LIST_MAX. */
MUST_USE Status mail_list(Mail *mail, MailState state, Arena *arena, MailEntry **ret_entries,
                          size_t *ret_count);
/* The newest MAIL_OUTBOX_MAX of a demo, newest first; none elsewhere. Only for pages that are served on loopback. */
MUST_USE Status mail_outbox(Mail *mail, Arena *arena, MailEntry **ret_entries, size_t *ret_count);
/* A failed message gets another 2 days, from now on. NOT_FOUND: there is none, or its text is gone. CONFLICT: it has not failed, or
 * somebody else was first. */
MUST_USE Status mail_retry(Mail *mail, Id id);

/* The text and the address of every message that names the policy go; what was not sent fails, or is not shown any more. Goes through the whole
 * queue. Anything but OK: perhaps not all. Repeating it is fine. */
MUST_USE Status mail_obliterate(Mail *mail, uint64_t policy);

/* Counters since the start, and how many wait in this instance's journal. */
void mail_metrics(Mail *mail, StoreMetricVisit *visit, void *context);
