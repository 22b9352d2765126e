/* digests.h -- who wants letters about what happened to their policies, and how often.
 *
 * A wish is one cell of a plain table, by share and account, so that the task that writes the letters meets only those who want them.
 *   1. The last wish counts; repeating it is fine. Without one, nobody gets letters.
 *   2. A period is a day or a week (Monday to Sunday), by UTC; its letter is written after its end. digests_mark says which one was seen to last; when
 *      that is lost, the mail's own `once` (mail.h) keeps a letter from going out twice.
 *   3. A token for the link in a letter ends the wish, whoever opens it, without a log-in; it says nothing about who it is of, and does nothing else. */
#pragma once

#include "accounts/accounts.h"

/*    name, word, days of a period */
#define DIGEST_LIST(X) X(NEVER, "never", 0) X(DAILY, "daily", 1) X(WEEKLY, "weekly", 7)
typedef enum DigestChoice {
#define X(name, word, days) DIGEST_##name,
    DIGEST_LIST(X)
#undef X
        DIGEST_CHOICES
} DigestChoice;

enum { DIGEST_SHARES = 16 };

extern const char *const DIGEST_WORDS[];
const char *digest_word(DigestChoice choice);

/* A time, by its ends: from_us <= t < to_us. */
typedef struct DigestPeriod {
    int64_t number; /* counts up */
    int64_t from_us, to_us;
} DigestPeriod;
/* The last one that is over. Pure; not for NEVER. */
DigestPeriod digest_period(DigestChoice choice, int64_t now_us);

typedef struct DigestRequest {
    uint64_t account;
    DigestChoice choice;
    int64_t since_us; /* when it was chosen */
    int64_t seen_to;  /* the number of the last period that was seen to; 0: none */
} DigestRequest;

/* For accounts that are alive (REFUSED otherwise). */
MUST_USE Status digests_set(Accounts *accounts, uint64_t account, DigestChoice choice);
/* NEVER when nothing was chosen. */
MUST_USE Status digests_get(Accounts *accounts, uint64_t account, DigestRequest *ret_wanted);
/* Those of a share, in the order of their accounts, after `position`; empty: from the first. */
MUST_USE Status digests_page(Accounts *accounts, uint32_t share, Slice position, Arena *arena,
                             DigestRequest **ret_wishes, size_t *ret_count, Slice *ret_position,
                             bool *ret_more);
/* Lazy. */
MUST_USE Status digests_mark(Accounts *accounts, const DigestRequest *want, int64_t period);

/* For an address: letters, digits, - and _. */
Slice digests_token(const Accounts *accounts, uint64_t account, Arena *arena);
/* INVALID: it is none. */
MUST_USE Status digests_from_token(const Accounts *accounts, Slice token, uint64_t *ret_account);
