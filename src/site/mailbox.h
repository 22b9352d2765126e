/* mailbox.h -- which letters somebody gets, and what those who run the site see of letters. */
#pragma once

#include "accounts/digests.h"
#include "mail/suppress.h"
#include "site/inside.h"

typedef struct MailboxView {
    DigestChoice choice;
    Slice email;
    bool is_suppressed;
    Suppressed suppressed;
    /* For pages. */
    Slice csrf;
    Slice token; /* of an unsubscribe link */
    bool can_mail;
    int64_t now_us;
} MailboxView;

typedef struct AdminMailView {
    MailEntry *failed;
    size_t failed_count;
    Suppressed *suppressed;
    size_t suppressed_count;
    size_t waiting_count;
    bool can_mail;
    /* For pages. */
    Slice csrf;
    FormFault fault;
    Slice address; /* as typed */
    int64_t now_us;
    Arena *arena;
} AdminMailView;

/* How often digests come, by choice; ended by NULL. */
extern const char *const DIGEST_WORDS[];

MUST_USE Status mailbox_view(WebRequest *request, MailboxView *ret_view);
MUST_USE Status admin_mail_view(WebRequest *request, AdminMailView *ret_view);
/* Row 0: the id of a failed letter. Noted in the log of acts, as the next. */
MUST_USE Status admin_mail_retry(WebRequest *request);
/* Row 0: an address, which is suppressed, or allowed again. */
MUST_USE Status admin_mail_suppress(WebRequest *request);
MUST_USE Status admin_mail_allow(WebRequest *request);
