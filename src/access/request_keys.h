/* request_keys.h -- which request a key was used for: the keys by which programs name a request that they may have to send twice
 * (Idempotency-Key).
 *
 * Whatever is done under a key is done once by the operation itself, which knows the key as its token (votes/votes.h, policies.h). Here stands
 * only what the request was, as a hash, so that the same key on another request is an error that is told and not an answer to something
 * else.
 *   1. After request_key_note has returned OK, request_key_check refuses every other request under that key, for REQUEST_KEY_DAYS.
 *   2. A note that was lost (a crash or a full disk right after the operation) makes the check say OK; the operation then still does
 *      nothing twice, and answers what it did the first time. */
#pragma once

#include "accounts/accounts.h"

enum { REQUEST_KEY_DAYS = 7 };

typedef struct RequestKey {
    uint64_t account;
    Slice key;     /* as the program chose it */
    Slice request; /* all that makes it this request: method, address, body */
} RequestKey;

/* REFUSED: the key was used for another request. */
MUST_USE Status request_key_check(Accounts *accounts, const RequestKey *key, Reason *reason);
/* The same, and whether it was used for this one. */
MUST_USE Status request_key_look(Accounts *accounts, const RequestKey *key, bool *ret_used,
                                 Reason *reason);
/* Lazy. */
MUST_USE Status request_key_note(Accounts *accounts, const RequestKey *key);
