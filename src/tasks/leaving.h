/* leaving.h -- the end of an account, after the ledger has its closing entry.
 *
 * Leaving goes in this order, and each step can be repeated:
 *   1. the voter's mark (table `dirty`), and then the closing entry of the ledger (votes_leave): from here on it is decided
 *   2. the account's policies have no owner any more
 *   3. the account is closed, with its ways in
 *   4. its name, e-mail and outside log-ins are free, and gone from its row
 * A crash or a store that is away after 1 leaves the rest to the task `leaving`: the sweeps, which follow the mark of 1, see a closed chain
 * whose account is not gone, within a minute while the mark is young. Nobody can take leaving back, so whoever asked for it is told that it
 * is done. */
#pragma once

#include "policies/policies.h"
#include "votes/votes.h"

/* What changed, for this process: a policy, or with policy 0 the account. */
typedef struct LeavingListener {
    void (*changed)(void *self, uint64_t policy, uint64_t account);
    void *self;
} LeavingListener;

typedef struct Leaving {
    Accounts *accounts;
    Policies *policies;
    LeavingListener listener; /* may be empty */
} Leaving;

/* Steps 2 to 4. Anything but OK: ask again, or leave it to the task. */
MUST_USE Status leaving_finish(const Leaving *leaving, uint64_t account, Reason *reason);
