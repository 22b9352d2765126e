/* mail_rules.h -- what follows from how an attempt went: sent, failed, or later and when. Pure. */
#pragma once

#include "journal/journal_rules.h"
#include "mail/mail.h"

/* The kind of digests (letters.c). */
#define MAIL_KIND_DIGEST "digest"

enum { MAIL_PAUSE_MOST_S = 6 * 3600, MAIL_REST_MOST_S = 300, MAIL_LATE_S = 3600 };

/* How long after the attempt with this number (1 for the first) the next one comes: first_s, doubled each time, at most 6 hours, a quarter more or
 * less by luck. */
int64_t mail_pause_us(uint32_t attempts, int64_t first_s, uint64_t luck);
/* How long nobody tries a server that could not be reached so many times in a row; at most 5 minutes. */
int64_t mail_rest_us(uint32_t failures, int64_t first_s);
/* For how long an attempt has a message to itself: longer than all its deadlines together. */
int64_t mail_lease_us(int64_t smtp_seconds);

/* How urgent a kind of e-mail is: somebody waits for most of them in front of a screen, and nobody for a digest. */
uint32_t mail_priority(Slice kind);

/* Its time has come; or it is so far ahead that the clock must have been set back since. */
bool mail_is_due(int64_t due_us, int64_t now_us);
/* A message that has waited for so long is not worth sending: its links have ended. Also what a write that was long lost brings back. */
bool mail_is_stale(int64_t since_us, int64_t now_us);

typedef struct MailNext {
    MailState state; /* SENT, FAILED or WAITING */
    int64_t due_us;  /* WAITING */
} MailNext;

typedef struct MailTimes {
    int64_t since_us; /* when it was queued */
    int64_t now_us;
    int64_t first_s; /* mail_retry_seconds */
    uint64_t luck;
} MailTimes;

/* The server refused this recipient for good, and not what the message says or who sends it: 550, 551 or 553, and where it also gives an enhanced code
 * (RFC 3463), one about the address (5.1.x) or a mailbox that is closed (5.2.1). */
bool mail_is_bounce(const SmtpAnswer *answer);

MailNext mail_next(const SmtpAnswer *answer, uint32_t attempts, const MailTimes *times);
