/* suppress.h -- addresses that get nothing but letters about their log-in: those that a server refused for good, that complained, or that an operator
 * named.
 *
 * The store knows a keyed hash of the address (vault.h), why, and when: who has only the data learns no address from it, and the list can be asked
 * about an address but not turned into addresses.
 *   1. A message that can be unsubscribed from (MailMessage.unsubscribe) is not queued for such an address, and one that waits is not sent.
 *      Letters without that, about passwords and addresses themselves, go out: their readers asked for them just now.
 *   2. A permanent refusal of a recipient (mail_is_bounce) puts the address here by itself. A crash right before costs one more refusal.
 *   3. Repeating any call is fine. */
#pragma once

#include "mail/mail.h"

/*    name, word, in a sentence */
#define SUPPRESS_LIST(X)                                             \
    X(BOUNCED, "bounced", "its server refused a letter for good")    \
    X(COMPLAINT, "complaint", "its owner complained of our letters") \
    X(OPERATOR, "operator", "by those who run the site")
typedef enum SuppressWhy {
#define X(name, word, text) SUPPRESS_##name,
    SUPPRESS_LIST(X)
#undef X
        SUPPRESS_REASONS
} SuppressWhy;

extern const char *const SUPPRESS_WORDS[];
const char *suppress_word(SuppressWhy why);
const char *suppress_text(SuppressWhy why);

enum { SUPPRESS_TAG = 16, SUPPRESSED_MAX = 1000 };

typedef struct Suppressed {
    Slice tag; /* the first letters of the hash: tells two apart, and no more */
    SuppressWhy why;
    int64_t time_us;
} Suppressed;

/* INVALID: that is no address. One that is there keeps its first reason and time. */
MUST_USE Status mail_suppress(Mail *mail, Slice address, SuppressWhy why, Reason *reason);
/* OK also when it was not there. */
MUST_USE Status mail_allow(Mail *mail, Slice address, Reason *reason);
/* NOT_FOUND: it is not suppressed. */
MUST_USE Status mail_suppressed(Mail *mail, Slice address, Arena *arena, Suppressed *ret_entry);
/* The newest first, of at most SUPPRESSED_MAX that were found. */
MUST_USE Status mail_list_suppressed(Mail *mail, Arena *arena, Suppressed **ret_entries,
                                     size_t *ret_count);
