/* links.h -- one-time links: who has the secret may do one thing, once.
 *
 * An account has at most one link of each kind, in a cell of its own row beside the head: a new one ends the older one, and using it is a
 * part of the same conditional update that does what it is for. So of two who use it exactly one wins, and no crash leaves a used
 * link without its effect. The store knows only a keyed hash of the secret; what a link carries (the new e-mail) is sealed.
 *   1. links_peek changes nothing, so a mail scanner that opens a link does not use it up.
 *   2. A link is over when it was used, when it is too old, when a newer one was made, when its account is closed; and, where the table says so,
 *      when the account's epoch moves on (sessions.h): a new password ends a link for a forgotten one.
 *   3. UNKNOWN is passed on: the same call again, with the same link, finds out.
 * What links let people do is in credentials.h. */
#pragma once

#include "accounts/accounts.h"

/*    kind, column, how long it lives (s), whether a new epoch ends it. The number of a kind is in the hash of its links: new ones come last. */
#define LINK_KIND_LIST(X)                                                                          \
    X(CONFIRM, "l/confirm", 7 * 86400, false) /* of a registration; as long as it stays pending */ \
    X(RESET, "l/reset", 2 * 3600, true)       /* a new password for a forgotten one */             \
    X(EMAIL, "l/email", 86400, true)          /* another e-mail, which is the payload */           \
    X(ADMIN, "l/admin", 7 * 86400, false) /* the first admin of a new site: of no account, 0 */    \
    X(BACK, "l/back", ACCOUNT_EMAIL_BACK_DAYS * 86400, false) /* back to the e-mail before */
typedef enum LinkKind {
#define X(name, column, life_s, epoch) LINK_##name,
    LINK_KIND_LIST(X)
#undef X
        LINK_KIND_COUNT
} LinkKind;

enum { LINK_PAYLOAD_BYTES = 1024 };

typedef struct NewLink {
    LinkKind kind;
    uint64_t account; /* 0 for ADMIN */
    Slice payload;
} NewLink;

typedef struct Link {
    LinkKind kind;
    uint64_t account;
    Slice payload;
    int64_t made_us, ends_us;
    Slice value; /* private: the cell */
} Link;

/* The secret is 43 characters, for an address. REFUSED: the account is void or closed. */
MUST_USE Status links_make(Accounts *accounts, const NewLink *link, Arena *arena,
                           Slice *ret_secret);
/* NOT_FOUND: there is no such link, or a newer one. REFUSED with the reason: it was used, or is too old. */
MUST_USE Status links_peek(Accounts *accounts, LinkKind kind, Slice secret, Arena *arena,
                           Link *ret_link, Reason *reason);
/* For ADMIN, which is a part of nothing else. REFUSED: somebody else has just used it. */
MUST_USE Status links_use(Accounts *accounts, const Link *link, Reason *reason);
