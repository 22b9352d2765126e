/* dsn.h -- what a mail server writes back when a letter could not be delivered (RFC 3464): pure.
 *
 * A report is multipart/report with a part message/delivery-status, whose groups of fields name a recipient, what was done and why. Only that part
 * counts; what a server writes for people is not read. A message may be cut off at its end.
 * Not promised: that it is true. Anybody can write such a message to the mailbox that takes them; so all that follows from one is that an address
 * gets no letters that it could unsubscribe from (suppress.h). */
#pragma once

#include "base/arena.h"
#include "mail/message.h"

enum { DSN_RECIPIENTS_MAX = 50 };

typedef struct DsnRecipient {
    Slice address;
    Slice status; /* "5.1.1" */
} DsnRecipient;

typedef struct DsnReport {
    DsnRecipient failed[DSN_RECIPIENTS_MAX]; /* for good: Action failed, Status 5.… */
    size_t count;
} DsnReport;

/* INVALID with the rule: it is no such message. OK also when nothing failed for good. Slices point into `message` and the arena. */
MUST_USE Status dsn_read(Slice message, Arena *arena, DsnReport *ret_report, Reason *reason);
