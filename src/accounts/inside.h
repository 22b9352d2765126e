/* inside.h -- what the files of accounts share:
 *   rows.c         an account's row: reading, replacing, changing under contention; the cells beside its head
 *   claims.c       names, e-mails, log-ins elsewhere: taking and releasing
 *   elsewhere.c    log-ins at other sites; journeys.c what is kept while somebody is there
 *   accounts.c     reading, finding, passwords, roles, profile, the clean-up
 *   life.c         registering, confirming, renaming, closing: the steps that cross rows
 *   gate.c         how many passwords are computed at once
 *   credentials.c  what one-time links and passwords let people do
 *   links.c, sessions.c, logins.c, tokens.c, secrets.c   ways in
 *   forget.c       what closing takes out of their tables
 *   request_keys.c which request a key was used for
 *   signals.c      what accounts have in common
 *   watch.c        watch lists
 *   recent.c       what is kept in memory of accounts and sessions
 *   digests.c      who wants letters, and how often
 *   second.c       codes of a device and on paper; totp.c computes them
 *   settings.c     the versions of the settings
 * No lock is held while the store is asked. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "accounts/accounts.h"
#include "accounts/head.h"
#include "accounts/links.h"
#include "accounts/sessions.h"
#include "base/copies.h"
#include "store/sequence.h"

enum {
    UPDATE_TRIES = 5, /* of one update whose answer is lost */
    RACE_TRIES = 100, /* of a change that others get ahead of */
    TOKEN_USES = 4096,
};

typedef struct SettingsCache {
    VotingSettings *versions; /* NULL: nothing yet */
    size_t count;
    int64_t read_steady_us;
} SettingsCache;

/* Who computes a password now, and who waits. */
typedef struct PasswordGate {
    uint32_t at_once, queue;
    uint32_t running, waiting;
    pthread_mutex_t lock;
    pthread_cond_t left;
} PasswordGate;

struct Accounts {
    Store *store;
    World world;
    const Vault *vault;
    PasswordHasher hasher;
    PasswordGate gate;
    SessionLimits limits;
    Sequence *ids;
    pthread_mutex_t lock; /* guards the cache */
    SettingsCache cache;
    Copies *copies;                            /* by copy_key */
    _Atomic int64_t logins_days, signals_days; /* how long new ones are kept: retention.h */
    _Atomic int64_t token_uses[TOKEN_USES]; /* steady time of the last note, by hash of the token */
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

/* A change that is made again on top of what others wrote. `apply` edits the head and says whether there is something to
 * write; anything but OK ends it. It must be pure but for `context`, and may be called several times. */
enum { ROW_ALSO_MOST = 6 };
typedef struct RowEdit {
    Status (*apply)(AccountHead *head, void *context, bool *ret_write, Reason *reason);
    void *context;
    const Change *also; /* further changes in the same update */
    size_t also_count;
    const Condition *
        when; /* or NULL: a cell beside the head that must be just this; REFUSED when it is not any more */
} RowEdit;
MUST_USE Status row_edit(Accounts *accounts, uint64_t id, RowEdit edit, Reason *reason);
/* Moves the head to a state, no earlier than its last move. */
void row_set_state(Accounts *accounts, AccountHead *head, AccountState state);
Id fresh_id(const Accounts *accounts);
/* REFUSED unless the account is pending or confirmed. */
MUST_USE Status refuse_dead(const AccountHead *head, Reason *reason);

/* A cell of the row beside the head: format | id of the write (16 bytes) | content. It is replaced as a whole, on the condition that
 * it and the head are what was read, so that it stays as closing the account left it. It never expires and is never deleted. */
typedef struct SideCell {
    Slice column;
    bool present;
    Slice value;   /* all of it, to be a condition */
    Slice content; /* empty when it is not there */
} SideCell;
MUST_USE Status side_read(Accounts *accounts, uint64_t id, Slice column, Arena *arena,
                          SideCell *ret_cell);
/* CONFLICT: the cell or the head is no longer what was read. `row` is NULL for cells of no account. */
MUST_USE Status side_replace(Accounts *accounts, uint64_t id, const AccountRow *row,
                             const SideCell *before, Slice content, Arena *arena);
/* The same as a part of another update, which brings the fresh id. */
Change side_change(Slice column, Id fresh, Slice content, Arena *arena);

/* ---- recent.c ------------------------------------------------------------------------------------------------ */

enum { COPY_OF = 32, COPY_KEY = 1 + sizeof(uint64_t) + COPY_OF };
typedef enum CopyKind { COPY_ACCOUNT = 'a', COPY_SESSION = 's', COPY_WATCH = 'w' } CopyKind;
/* Of an account's row, or of a session's key; with the store's generation. */
typedef struct CopyKey {
    char bytes[COPY_KEY];
    size_t size;
} CopyKey;
CopyKey copy_key(const Accounts *accounts, CopyKind kind, Slice key);
CopyKey copy_key_of(const Accounts *accounts, CopyKind kind, uint64_t account);
static inline Slice copy_key_slice(const CopyKey *key)
{
    return slice_of(key->bytes, key->size);
}
/* After any write to the account's row, or to the session's. */
void recent_forget_account(Accounts *accounts, uint64_t id);
void recent_forget_session(Accounts *accounts, Slice key);

/* ---- claims.c ---------------------------------------------------------------------------------------------- */

/* Who holds it; NOT_FOUND when nobody ever did or it was freed. Whether that account counts is for the caller to see. */
MUST_USE Status claim_holder(Accounts *accounts, ClaimKind kind, Slice folded, Arena *arena,
                             uint64_t *ret_user);
/* For an account whose row bears the label already. REFUSED: somebody else has it. */
MUST_USE Status claim_take(Accounts *accounts, ClaimKind kind, Slice folded, uint64_t user);
/* Frees it unless its holder bears it. OK also when there was nothing to do. */
MUST_USE Status claim_release(Accounts *accounts, ClaimKind kind, Slice folded);

/* ---- elsewhere.c ------------------------------------------------------------------------------------------- */

/* Whether the account's row bears a log-in elsewhere, connected or wished for. */
MUST_USE Status elsewhere_bears(Accounts *accounts, uint64_t account, Slice folded, Arena *arena,
                                bool *ret_bears);
/* Those that the account bears, as they are claimed. */
MUST_USE Status elsewhere_borne(Accounts *accounts, uint64_t account, Arena *arena,
                                Slice **ret_folded, size_t *ret_count);
extern const Slice CONNECTIONS_COLUMN;

/* ---- life.c ------------------------------------------------------------------------------------------------ */

/* The two below use a link up in the very update that does it. */
MUST_USE Status confirm_by(Accounts *accounts, const Link *link, Reason *reason);
MUST_USE Status change_email_by(Accounts *accounts, const Link *link, uint64_t *ret_epoch,
                                Reason *reason);
/* A registration without its rights, which is made void again by register_undo; for the first admin. */
void register_undo(Accounts *accounts, uint64_t id);

/* ---- accounts.c, gate.c ------------------------------------------------------------------------------------ */

void gate_init(PasswordGate *gate, uint32_t at_once, uint32_t queue);
void gate_destroy(PasswordGate *gate);
/* THROTTLED when too many wait already. Otherwise the caller's turn has come, and it must leave. */
MUST_USE Status gate_enter(PasswordGate *gate);
void gate_leave(PasswordGate *gate);
/* Through the gate; THROTTLED, or UNAVAILABLE when it cannot be computed. */
MUST_USE Status password_hash(Accounts *accounts, Slice password, Arena *arena, Slice *ret_hash);
/* The same time for every password and hash, also for none. */
MUST_USE Status password_check(Accounts *accounts, Slice password, Slice hash, bool *ret_fits);

/* ---- signals.c --------------------------------------------------------------------------------------------- */

MUST_USE Status signals_check(const Registration *registration, Reason *reason);
/* The writes that note what a new account gives away. */
Batch signals_of(Accounts *accounts, uint64_t id, const Registration *registration,
                 Slice folded_email, Arena *arena);

/* ---- links.c, sessions.c, logins.c, tokens.c, watch.c ------------------------------------------------------- */

/* The cell of a link as it is when it was used, and as it must be until then. */
Change link_spent(const Accounts *accounts, const Link *link, Arena *arena);
Condition link_unspent(const Link *link);
Slice link_column(LinkKind kind);
/* This session stays when all others of its epoch end. A failure costs its owner one more log-in. */
void session_keep(Accounts *accounts, const Session *session, uint64_t epoch);
/* The second factor was shown in it; the same is true of a failure. */
void session_mark_second(Accounts *accounts, const Session *session);
/* The rows of a session, by its key, and of an account's list of them. */
Slice session_row(Slice key, Arena *arena);
Slice session_list_row(uint64_t account, Arena *arena);
/* Sessions, log-ins and uses of tokens of an account that is closed (forget.c). */
MUST_USE Status ways_forget(Accounts *accounts, uint64_t id);
/* The note of a log-in, as a part of a batch. */
RowChange login_change(Accounts *accounts, uint64_t account, bool success,
                       const SessionOrigin *origin, Arena *arena);
/* Address and program, sealed; and back. */
Slice origin_seal(const Accounts *accounts, const SessionOrigin *origin, Arena *arena);
MUST_USE Status origin_unseal(const Accounts *accounts, Slice sealed, Arena *arena,
                              SessionOrigin *ret_origin);
/* Where an account's tokens, watch list and second factor stand, which closing empties. */
extern const Slice TOKENS_COLUMN, WATCH_COLUMN, SECOND_COLUMN;

/* ---- secrets.c ---------------------------------------------------------------------------------------------- */

/* 32 bytes as 43 characters of base64url, and back; false unless it is exactly that. */
enum { SECRET_BYTES = 32, SECRET_TEXT = 43 };
Slice secret_text(const char *bytes, Arena *arena);
bool secret_bytes(Slice text, char *ret_bytes);
/* Whose secret begins with the account that it belongs to (8 bytes). */
void secret_make(const Accounts *accounts, uint64_t account, char *ret_bytes);
/* In a time that does not depend on where they differ. */
bool secret_equal(Slice a, Slice b);

/* ---- settings.c ---------------------------------------------------------------------------------------------- */

void settings_forget(Accounts *accounts);

/* ---- A live setting (rows.c) -------------------------------------------------------------------------------------- */

/* One row whose cell `state` is replaced as a whole, on what was read. */
typedef struct StateRow {
    const Table *table;
    Slice row;
} StateRow;
/* Serially. Empty: nobody has ever written it. */
MUST_USE Status state_read(Accounts *accounts, const StateRow *state, Arena *arena,
                           Slice *ret_value);
typedef struct StateValue {
    Id id; /* fresh, and in `bytes`, so that a value never comes back */
    Slice bytes;
} StateValue;
/* CONFLICT: another value stands than `before`, which is empty for none. */
MUST_USE Status state_replace(Accounts *accounts, const StateRow *state, Slice before,
                              const StateValue *value, Arena *arena);
