/* inside.h -- what the files of accounts share:
 *   rows.c        an account's row: reading, replacing, changing under contention
 *   claims.c      names and e-mails: taking and releasing
 *   accounts.c    reading, finding, passwords, roles, the clean-up
 *   life.c        registering, confirming, renaming, closing: the steps that cross rows
 *   signals.c     what accounts have in common
 *   watch.c       watch lists
 *   settings.c    the versions of the settings
 * No lock is held while the store is asked. */
#pragma once

#include <pthread.h>

#include "accounts/accounts.h"
#include "accounts/head.h"
#include "store/sequence.h"

enum {
    UPDATE_TRIES = 5, /* of one update whose answer is lost */
    RACE_TRIES = 100, /* of a change that others get ahead of */
};

typedef struct SettingsCache {
    VotingSettings *versions; /* NULL: nothing yet */
    size_t count;
    int64_t read_steady_us;
} SettingsCache;

struct Accounts {
    Store *store;
    World world;
    PasswordHasher hasher;
    Sequence *ids;
    pthread_mutex_t lock; /* guards the cache */
    SettingsCache cache;
};

/* ---- rows.c ------------------------------------------------------------------------------------------------ */

typedef struct AccountRow {
    AccountHead head;
    Slice value; /* the cell, to be a condition */
} AccountRow;

Slice row_key(uint64_t id, Arena *arena);
/* Serially; NOT_FOUND when there is no such account. */
MUST_USE Status row_read(Accounts *accounts, uint64_t id, Arena *arena, AccountRow *ret_row);
/* The first version of a row, with `marks` durable no later. */
MUST_USE Status row_create(Accounts *accounts, uint64_t id, AccountHead *head, Batch marks,
                           Arena *arena);
/* Replaces what was read; `also` (may be NULL) is a further change in the same update. CONFLICT: somebody else was first. */
MUST_USE Status row_replace(Accounts *accounts, uint64_t id, const AccountRow *before,
                            AccountHead *after, const Change *also, Arena *arena);

/* A change that is made again on top of what others wrote. `apply` edits the head and says whether there is something to
 * write; anything but OK ends it. It must be pure but for `context`, and may be called several times. */
typedef struct RowEdit {
    Status (*apply)(AccountHead *head, void *context, bool *ret_write, Reason *reason);
    void *context;
    const Change *also;
} RowEdit;
MUST_USE Status row_edit(Accounts *accounts, uint64_t id, RowEdit edit, Reason *reason);
/* Moves the head to a state, no earlier than its last move. */
void row_set_state(Accounts *accounts, AccountHead *head, AccountState state);
Id fresh_id(const Accounts *accounts);

/* ---- claims.c ---------------------------------------------------------------------------------------------- */

/* Who holds it; NOT_FOUND when nobody ever did or it was freed. Whether that account counts is for the caller to see. */
MUST_USE Status claim_holder(Accounts *accounts, ClaimKind kind, Slice folded, Arena *arena,
                             uint64_t *ret_user);
/* For an account whose row bears the label already. REFUSED: somebody else has it. */
MUST_USE Status claim_take(Accounts *accounts, ClaimKind kind, Slice folded, uint64_t user);
/* Frees it unless its holder bears it. OK also when there was nothing to do. */
MUST_USE Status claim_release(Accounts *accounts, ClaimKind kind, Slice folded);

/* ---- signals.c --------------------------------------------------------------------------------------------- */

MUST_USE Status signals_check(const Registration *registration, Reason *reason);
/* The writes that note what a new account gives away. */
Batch signals_of(Accounts *accounts, uint64_t id, const Registration *registration,
                 Slice folded_email, Arena *arena);

/* ---- watch.c, settings.c ----------------------------------------------------------------------------------- */

/* A list without policies, for an account that is closed. */
Change watch_nothing(const Accounts *accounts, Arena *arena);
void settings_forget(Accounts *accounts);
