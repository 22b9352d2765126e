/* accounts_private.h -- what the files of accounts share, and the handle that access and electorate work on:
 *   rows.c            an account's row: reading, replacing, changing under contention; the cells beside its record
 *   account_record.c  the bytes of an account's record; linked_login_record.c those of its log-ins at other sites
 *   claims.c          names, e-mails, linked log-ins: taking and releasing
 *   accounts.c        reading, finding, roles, profile, the clean-up
 *   registration.c    registering, confirming, renaming: the steps that cross rows
 *   password_queue.c  how many passwords are computed at once
 *   signals.c         what accounts have in common
 *   watch.c           watch lists
 *   cached_rows.c     what is kept in memory of accounts and sessions
 *   digests.c         who wants e-mails, and how often
 *   rights_changes.c  the last change of somebody's rights, and the appeal against it
 *   sealed_tokens.c   what a link of an e-mail says
 * No lock is held while the store is asked. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "accounts/account_record.h"
#include "accounts/accounts.h"
#include "accounts/linked_login.h"
#include "base/read_cache.h"
#include "store/sequence.h"

enum { TOKEN_USES = 4096 };

/* Who computes a password now, and who waits. */
typedef struct PasswordQueue {
    uint32_t at_once, waiting_most;
    uint32_t running, waiting;
    pthread_mutex_t lock;
    pthread_cond_t left;
} PasswordQueue;

struct Accounts {
    Store *store;
    World world;
    const Vault *vault;
    PasswordHasher hasher;
    PasswordQueue password_queue;
    SessionLimits limits;
    EntryRule *entry_rule;
    int64_t return_days;
    Sequence *ids;
    Settings *settings;
    ReadCache *read_cache;                     /* by copy_key */
    _Atomic int64_t logins_days, signals_days; /* how long new ones are kept: retention.h */
    _Atomic int64_t token_uses[TOKEN_USES]; /* steady time of the last note, by hash of the token */
};

static inline Records accounts_records(const Accounts *accounts)
{
    return (Records){accounts->store, accounts->world, accounts->vault};
}
/* What is stored, for the fuzzer of all records. */
extern const Record SIDE_RECORD, WATCH_RECORD, FOLLOW_RECORD, RIGHTS_RECORD, CLAIM_RECORD,
    DIGEST_RECORD, LINKED_LOGINS_RECORD, LINKED_LOGINS_PLAIN;

/* ---- rows.c ------------------------------------------------------------------------------------------------ */

typedef struct AccountRow {
    AccountRecord head;
    Slice value; /* the cell, to be a condition */
} AccountRow;

Slice row_key(uint64_t id, Arena *arena);
/* Serially; NOT_FOUND when there is no such account. */
MUST_USE Status row_read(Accounts *accounts, uint64_t id, Arena *arena, AccountRow *ret_row);
/* The first version of a row, with `marks` durable no later. */
MUST_USE Status row_create(Accounts *accounts, uint64_t id, AccountRecord *head, Batch marks,
                           Arena *arena);

/* A change that is made again on top of what others wrote. `apply` edits the head and says whether there is something to
 * write; anything but OK ends it. It must be pure but for `context`, and may be called several times. */
enum { ROW_ALSO_MAX = 7 };
typedef struct RowEdit {
    Status (*apply)(AccountRecord *head, void *context, bool *ret_write, Reason *reason);
    void *context;
    const Change *also; /* further changes in the same update */
    size_t also_count;
    /* Cells beside the head that must be just this. REFUSED when the first is not any more; CONFLICT when it is and another is not. */
    const Condition *when;
    size_t when_count;
} RowEdit;
MUST_USE Status row_edit(Accounts *accounts, uint64_t id, RowEdit edit, Reason *reason);
/* Moves the head to a state, no earlier than its last move. */
void row_set_state(Accounts *accounts, AccountRecord *head, AccountState state);
Id fresh_id(const Accounts *accounts);
/* REFUSED unless the account is pending or confirmed. */
MUST_USE Status refuse_dead(const AccountRecord *head, Reason *reason);

/* A cell of the row beside the head: a record that begins with the id of the write. It is replaced as a whole, on the condition that
 * it and the head are what was read, so that it stays as closing the account left it: with no more than that id. It never expires and is
 * never deleted. */
typedef struct Side {
    const Record *record;
    Slice column;
} Side;
typedef struct SideCell {
    Id write;
    Slice content;
} SideCell;
RecordPlace side_place(uint64_t id, Side side, Arena *arena);
/* The defaults and an empty value when it is not there. */
MUST_USE Status side_read(Accounts *accounts, uint64_t id, Side side, Arena *arena,
                          void *ret_record, Slice *ret_value);
/* As record_edit; RecordEditing.held is the account's head. Account 0 has none. */
MUST_USE Status side_edit(Accounts *accounts, uint64_t id, Side side, RecordApply *apply,
                          void *context, Reason *reason);
/* The same as a part of another update, which brings the fresh id. */
Change side_change(Slice column, Id fresh, Slice content, Arena *arena);

/* ---- cached_rows.c ------------------------------------------------------------------------------------------------ */

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
void cached_rows_forget_account(Accounts *accounts, uint64_t id);
void cached_rows_forget_session(Accounts *accounts, Slice key);

/* ---- claims.c ---------------------------------------------------------------------------------------------- */

/* Who holds it; NOT_FOUND when nobody ever did or it was freed. Whether that account counts is for the caller to see. */
MUST_USE Status claim_holder(Accounts *accounts, ClaimKind kind, Slice folded, Arena *arena,
                             uint64_t *ret_user);
/* Whether an address is for one account: AccountsOptions.entry_rule. */
MUST_USE Status claim_has_entries(Accounts *accounts, bool *ret_has);
/* REFUSED: it counts for somebody else. */
MUST_USE Status claim_check(Accounts *accounts, ClaimKind kind, Slice folded, uint64_t user);
/* For an account whose row bears the label already. REFUSED: somebody else has it. */
MUST_USE Status claim_take(Accounts *accounts, ClaimKind kind, Slice folded, uint64_t user);
/* Frees it unless its holder bears it. OK also when there was nothing to do. */
MUST_USE Status claim_release(Accounts *accounts, ClaimKind kind, Slice folded);

/* ---- linked_login_record.c ----------------------------------------------------------------------------------- */

/* The cell `connections`: log-ins at other sites. It is part of accounts because a claim on a log-in counts while the account's row
 * bears it; access/linked_logins.h changes it. */
enum {
    LINKED_LOGIN_WISHED = 0,
    LINKED_LOGIN_CONNECTED = 1,
    LINKED_LOGIN_ENTRIES_MAX = LINKED_LOGINS_MAX + 1
};

typedef struct LinkedLoginEntry {
    LinkedLogin connection;
    uint8_t state;
} LinkedLoginEntry;

typedef struct LinkedLoginList {
    Id write;
    LinkedLoginEntry entries[LINKED_LOGIN_ENTRIES_MAX]; /* room for one more */
    size_t count;
} LinkedLoginList;

MUST_USE Status linked_login_record_read(Accounts *accounts, uint64_t account, Arena *arena,
                                         LinkedLoginList *ret_list);
/* As it is claimed: "provider:id". */
Slice linked_login_record_folded(Slice provider, Slice subject, Arena *arena);
/* Whether the account's row bears a log-in, connected or wished for. */
MUST_USE Status linked_login_record_bears(Accounts *accounts, uint64_t account, Slice folded,
                                          Arena *arena, bool *ret_bears);
/* Those that the account bears, as they are claimed. */
MUST_USE Status linked_login_record_borne(Accounts *accounts, uint64_t account, Arena *arena,
                                          Slice **ret_folded, size_t *ret_count);

/* ---- registration.c ------------------------------------------------------------------------------------------------ */

/* What is done by a one-time link, which is used up in the very update that does it: `by` has its `when` and `also`. */
MUST_USE Status registration_confirm_by(Accounts *accounts, uint64_t id, RowEdit by,
                                        Reason *reason);
/* The address that is left stays the account's for ACCOUNT_EMAIL_BACK_DAYS. *ret_epoch is that after the move. */
MUST_USE Status registration_change_email_by(Accounts *accounts, uint64_t id, Slice email,
                                             RowEdit by, uint64_t *ret_epoch, Reason *reason);
/* REFUSED: the address stands for another account, where that counts. */
MUST_USE Status registration_check_email(Accounts *accounts, uint64_t id, Slice email,
                                         Reason *reason);
/* Back to that address. `drops_second`: the second factor is off. REFUSED: it is too late, or was done. */
MUST_USE Status registration_restore_email_by(Accounts *accounts, uint64_t id, RowEdit by,
                                              bool drops_second, Reason *reason);
/* A registration without its rights, which is made void again by registration_undo; for the first admin. */
void registration_undo(Accounts *accounts, uint64_t id);

/* ---- password_queue.c ------------------------------------------------------------------------------------ */

void password_queue_init(PasswordQueue *queue, uint32_t at_once, uint32_t waiting_most);
void password_queue_destroy(PasswordQueue *queue);
/* THROTTLED when too many wait already. Otherwise the caller's turn has come, and it must leave. */
MUST_USE Status password_queue_enter(PasswordQueue *queue);
void password_queue_leave(PasswordQueue *queue);
/* Through the queue; THROTTLED, or UNAVAILABLE when it cannot be computed. */
MUST_USE Status password_hash(Accounts *accounts, Slice password, Arena *arena, Slice *ret_hash);
/* The same time for every password and hash, also for none. */
MUST_USE Status password_check(Accounts *accounts, Slice password, Slice hash, bool *ret_fits);

/* ---- signals.c --------------------------------------------------------------------------------------------- */

MUST_USE Status signals_check(const Registration *registration, Reason *reason);
/* The writes that note what a new account gives away. */
Batch signals_of(Accounts *accounts, uint64_t id, const Registration *registration,
                 Slice folded_email, Arena *arena);

/* ---- rights_changes.c, sealed_tokens.c -------------------------------------------------------------------------- */

/* accounts_set_rights with what `by` has beside it. */
MUST_USE Status rights_set_by(Accounts *accounts, uint64_t id, const AccountRights *rights,
                              RowEdit by, Reason *reason);
/* Another one each time. INVALID: it is none of ours, of another purpose, or holds another number of bytes. */
Slice sealed_token(const Accounts *accounts, const char *purpose, Slice plain, Arena *arena);
MUST_USE Status sealed_token_open(const Accounts *accounts, const char *purpose, Slice token,
                                  size_t plain_size, Arena *arena, Slice *ret_plain);

/* ---- watch.c, follow.c, linked_login_record.c ------------------------------------------------------------------ */

/* Where these lists of an account are stored, which closing empties. */
extern const Side WATCH_SIDE, FOLLOW_SIDE, LINKED_LOGINS_SIDE, RIGHTS_SIDE;
