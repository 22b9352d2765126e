/* message.h -- an e-mail: what may be in it, and what it looks like on the wire (RFC 5322, 2045, 2046, 2047).
 *
 * Pure. Promises:
 *   1. message_check refuses every field that could become a header of its own (CR, LF, NUL or any other control character), every
 *      address that is none, and everything over its bound; the reason names the field and the rule.
 *   2. message_write writes what passed, and only that: the headers listed in message.c, then the parts. Lines end with CRLF, have
 *      at most 998 bytes (an address is written in one piece; all else has at most 78), and none begins with a dot.
 *   3. The same message and head give the same bytes: a second copy can be seen to be one by its Message-ID.
 * Not promised: that a mailbox exists, or that a server takes addresses with letters beyond ASCII (it must know SMTPUTF8). */
#pragma once

#include "base/bytes.h"

enum {
    MESSAGE_ADDRESS_BYTES = 254,
    MESSAGE_LOCAL_BYTES = 64, /* before the @ */
    MESSAGE_NAME_BYTES = 200, /* before an address */
    MESSAGE_SUBJECT_BYTES = 400,
    MESSAGE_PART_BYTES = 128 * 1024, /* text, and HTML, each */
    MESSAGE_KIND_BYTES = 32,
    MESSAGE_ONCE_BYTES = 256,
    MESSAGE_LINK_BYTES = 900, /* it is written in one piece */
    MESSAGE_ABOUT_FORMAT = 1,
};

/* The bytes belong to the caller. */
typedef struct MailMessage {
    Slice to;          /* an address, nothing around it */
    Slice subject;     /* one line */
    Slice text;        /* for everyone */
    Slice html;        /* the same for those who see it; empty: the text alone */
    Slice kind;        /* a word for lists and counts: small letters and "-" */
    Slice unsubscribe; /* the address where one ends such letters (RFC 8058); empty: one cannot */
    Slice
        about; /* what letter_write says of the policies that it names: MESSAGE_ABOUT_FORMAT and their ids; empty: it is of a kind that names none */
    Slice
        once; /* what makes it this message and no other, such as a link's secret or an event's id; 1 to 256 bytes, any */
} MailMessage;

/* "Ostraka <site@example.org>" or "site@example.org". */
typedef struct Mailbox {
    Slice name; /* may be empty */
    Slice address;
} Mailbox;

/* What the sender adds. */
typedef struct MessageHead {
    Mailbox from;
    Slice id;        /* letters and digits; Message-ID is this at the domain of `from` */
    int64_t made_us; /* the Date */
} MessageHead;

/* INVALID; `field` is what the reason calls it. */
MUST_USE Status message_check_address(Slice address, const char *field, Reason *reason);
MUST_USE Status message_check(const MailMessage *message, Reason *reason);
/* The parts point into `text`. */
MUST_USE Status mailbox_parse(Slice text, const char *field, Mailbox *ret_mailbox, Reason *reason);
/* What stands behind the last @ of an address that was checked. */
Slice message_domain(Slice address);

/* The message must have passed message_check, and `from` mailbox_parse. */
void message_write(Buffer *out, const MailMessage *message, const MessageHead *head);
