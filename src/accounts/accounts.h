/* accounts.h -- who people are: registration, names as claims, roles and rights, watch lists, signals.
 *
 * The account's row decides: pending -> confirmed or void, confirmed -> closed, each by a conditional update; void and closed are
 * final. A name and an e-mail are claims on their own rows that point to an account, and count only while that account is
 * pending or confirmed and its row bears them. So nothing races: who loses a claim voids its own account; the clean-up of old
 * registrations moves accounts and never touches a claim; a claim that does not count can be taken over by whoever asks.
 * Promises:
 *   1. At any time at most one pending or confirmed account has a folded name, and one an e-mail, under any race, crash
 *      or late write. (To have it: the row bears it and the claim points to the account. A confirmed account has both of its own,
 *      always.)
 *   2. Every step can be repeated; a crash between any two leaves a pending account, which the clean-up voids after 7 days, or a
 *      confirmed one with a wish for a new name, which the next change or the clean-up drops.
 *   3. UNKNOWN is passed on, never guessed. UNAVAILABLE, CONFLICT and REFUSED mean that it was not done and will not be.
 *   4. E-mails and real names are in no row and no key but sealed, or as hashes that need the site's key (base/vault.h).
 *   5. accounts_recent, accounts_watched and sessions_find may answer from copies in memory (base/read_cache.h): a change by this handle
 *      counts at once (a session that was ended, a role that was taken away), one by another after read_cache_us. With READ_CACHE_EXACT they
 *      see every finished change.
 * All other reads are serial: they see every finished change.
 * Ways in (sessions, links, tokens …) are the module `access`, which also closes accounts; it and `electorate` share the handle.
 * Rules that need no store (folding, bounds, roles) are in account_rules.h; salary is in settings/settings_rules.h. */
#pragma once

#include "accounts/account_rules.h"
#include "base/ids.h"
#include "base/vault.h"
#include "settings/retention.h"
#include "settings/settings.h"
#include "store/store.h"

typedef struct Accounts Accounts;

/* How passwords become hashes: bcrypt in production, something cheap in the simulator. A password that gets here has at most
 * ACCOUNT_PASSWORD_BYTES and no NUL; `check` of an empty hash is false. */
typedef struct PasswordHasher {
    Status (*hash)(void *self, Slice password, Arena *arena, Slice *ret_hash);
    bool (*check)(void *self, Slice password, Slice hash);
    void *self;
} PasswordHasher;

/* bcrypt of the given cost (4 … 15) through libxcrypt. */
PasswordHasher password_bcrypt(int cost);

/* How long somebody stays logged in. Zeros are the defaults: 14 days, 1 day, 60 days. */
typedef struct SessionLimits {
    int64_t idle_s;       /* without a request, when the person asked to be remembered */
    int64_t brief_idle_s; /* the same, when not */
    int64_t most_s;       /* in any case */
} SessionLimits;

/* Passwords take a quarter of a second of a core each, so only so many are computed at once, and only so many callers wait for their
 * turn; whoever comes then is answered THROTTLED at once. at_once 0: no bound. */
typedef struct PasswordBounds {
    uint32_t at_once, queue;
} PasswordBounds;

/* Whether the electorate goes by addresses: then an address stands for one account for ever, also when that account has moved on to another address,
 * and for some days after it was closed. */
typedef Status EntryRule(Accounts *accounts, bool *ret_one_per_address);

typedef struct AccountsOptions {
    Store *store;
    World world;
    const Vault *vault;
    PasswordHasher hasher;
    uint32_t id_block; /* ids taken at once */
    SessionLimits sessions;
    PasswordBounds passwords;
    /* Asked at each step where it matters; NULL: an address that an account has left is anybody's. */
    EntryRule *entry_rule;
    int64_t return_days; /* how long addresses stand for an account that was closed */
    /* How old the copies of accounts, sessions and watch lists may be that pages are made from (promise 5): 0 for none; a second
     * where other processes write to the same store; READ_CACHE_EXACT where none do. */
    int64_t read_cache_us;
} AccountsOptions;

Accounts *accounts_new(const AccountsOptions *options);
void accounts_free(Accounts *accounts);
/* The live settings in the same store; they live as long as the handle. */
Settings *accounts_settings(const Accounts *accounts);
/* From now on new log-ins and signals of this handle are kept for these periods. At first they are the defaults. */
void accounts_keep(Accounts *accounts, const Retention *retention);

typedef struct Account {
    uint64_t id;
    AccountState state;
    int64_t state_time_us;
    Slice name, email;     /* as the person wrote them; empty once closed */
    Slice real_name;       /* empty: not given */
    bool real_name_shown;  /* to everybody; otherwise it is the person's own */
    Slice password_hash;   /* empty: none */
    int64_t registered_us; /* salary counts from here */
    uint32_t roles;        /* bits of AccountRole */
    uint32_t denied;       /* bits of AccountRight that were taken away */
    uint64_t version;      /* of the row, to notice a change in between */
    uint64_t epoch;        /* sessions of an earlier one are over */
    bool second;           /* a second factor is on (access/second_factor.h) */
    int64_t
        email_back_us; /* until when a change of the e-mail can be taken back; 0: there is none */
} Account;

/* Whether the account is closed and nothing is left of it: names and e-mail are released. NOT_FOUND: there never was one. */
MUST_USE Status accounts_is_gone(Accounts *accounts, uint64_t id, bool *ret_gone);

/* A pending account may do nothing, not even log in: it is not known whose address it has. A confirmed one may do everything that was not taken
 * away. */
bool account_may(const Account *account, AccountRight right);
/* Whether it was taken away, whatever the state of the account. */
bool account_lost(const Account *account, AccountRight right);
/* DENIED with the first of these rights, as bits, that was taken away. */
MUST_USE Status account_check_rights(const Account *account, uint32_t rights, Reason *reason);
/* Confirmed, and with the role or as an admin. It says nothing of a second factor: who may do something is asked of the one who acts
 * (actor_roles, actor_has in operations/operation.h). */
bool account_has(const Account *account, AccountRole role);

typedef struct Registration {
    Slice name, email, password;
    bool
        without_password; /* an import, or somebody who logs in at another site; `password` is ignored */
    bool confirmed;       /* by an operator: no link to follow */
    uint32_t roles;
    int64_t registered_us; /* 0: now; demo data and imports give the past */
    /* It holds the name for ACCOUNT_PENDING_DAYS as every registration does, and comes to nothing: where nobody shall learn from the name that the
     * address may not join. No e-mail is kept or claimed, and accounts_find does not find it. */
    bool only_name;
    Slice address, cookie; /* where it came from, for the signals below; empty: not known */
} Registration;

/* INVALID, REFUSED (taken; field `entry`: the address stands for another account) with field and rule; OK leaves a pending (or confirmed) account whose id is returned. What fails
 * on the way is voided, so that the names are free at once for a repeat; only when that fails, too, is it UNKNOWN. */
MUST_USE Status accounts_register(Accounts *accounts, const Registration *registration,
                                  uint64_t *ret_id, Reason *reason);
/* Whether somebody could register with this name at this moment: INVALID, REFUSED (taken, or held) with the rule. */
MUST_USE Status accounts_check_name(Accounts *accounts, Slice name, Reason *reason);
/* Checks both claims, then moves pending -> confirmed. Repeating it is fine. REFUSED: void, closed, or a claim was lost. */
MUST_USE Status accounts_confirm(Accounts *accounts, uint64_t id, Reason *reason);
MUST_USE Status accounts_read(Accounts *accounts, uint64_t id, Arena *arena, Account *ret_account);
/* The same, perhaps from a copy: for pages, and for who is asking; not for what decides about votes. */
MUST_USE Status accounts_recent(Accounts *accounts, uint64_t id, Arena *arena,
                                Account *ret_account);
/* By name, or by e-mail when it contains '@'. NOT_FOUND also when the claim points to an account that does not count. */
MUST_USE Status accounts_find(Accounts *accounts, Slice name_or_email, Arena *arena,
                              Account *ret_account);
/* For confirmed accounts. Writes the wish down, claims the new one, moves the account, frees the old claim (a value, not a delete).
 * REFUSED: taken, or the e-mail was changed within the last ACCOUNT_EMAIL_BACK_DAYS: until then the address before is kept, and the change can be
 * taken back (access/credentials.h). CONFLICT: another change of the same kind came in between. Repeating it is fine. A new e-mail ends all sessions. */
MUST_USE Status accounts_rename(Accounts *accounts, uint64_t id, Slice name, Reason *reason);
MUST_USE Status accounts_change_email(Accounts *accounts, uint64_t id, Slice email, Reason *reason);

/* 0 … ACCOUNT_REAL_NAME_MAX characters on one line. */
MUST_USE Status accounts_set_profile(Accounts *accounts, uint64_t id, Slice real_name, bool shown,
                                     Reason *reason);

typedef struct AccountRights {
    uint32_t roles, denied; /* as in Account; they replace what was there */
    uint64_t seen_version;  /* of the row that they are a change of; 0: whatever it is */
} AccountRights;
/* CONFLICT: the row has another version than the one seen. REFUSED: the account is void or closed. */
MUST_USE Status accounts_set_rights(Accounts *accounts, uint64_t id, const AccountRights *rights,
                                    Reason *reason);
enum { ACCOUNT_PENDING_DAYS = 7, ACCOUNT_EMAIL_BACK_DAYS = 7 };
/* For the clean-up: pending -> void when it is older than 7 days; drops a wish for another name that is older than that. OK also when
 * there was nothing to do. */
MUST_USE Status accounts_expire(Accounts *accounts, uint64_t id);
/* All accounts, page by page, in the engine's order; position as in store_scan. */
MUST_USE Status accounts_list(Accounts *accounts, Slice position, Arena *arena,
                              Account **ret_accounts, size_t *ret_count, Slice *ret_position,
                              bool *ret_more);

/* The same with pages of about as many accounts as cells are asked for (1 … STORE_PAGE_MAX), or fewer: a row has several. */
typedef struct AccountPage {
    Account *accounts;
    size_t count;
    Slice position;
    bool more;
} AccountPage;
MUST_USE Status accounts_page(Accounts *accounts, Slice position, uint32_t cells, Arena *arena,
                              AccountPage *ret_page);

/* ---- Watch list ------------------------------------------------------------------------------------------ */
enum { WATCH_MAX = 1000 };
/* For pending and confirmed accounts (REFUSED otherwise, and for more than WATCH_MAX). Repeating it is fine. */
MUST_USE Status accounts_watch(Accounts *accounts, uint64_t id, uint64_t policy, bool on);
/* In the order in which they were added. */
MUST_USE Status accounts_watched(Accounts *accounts, uint64_t id, Arena *arena,
                                 uint64_t **ret_policies, size_t *ret_count);

/* A category or party that somebody follows; what the kinds are is for policies.h to say. */
typedef struct Followed {
    unsigned kind;
    uint64_t group;
    int64_t since_us;
} Followed;
enum { FOLLOW_MAX = 50 };
/* As accounts_watch and accounts_watched. */
MUST_USE Status accounts_follow(Accounts *accounts, uint64_t id, const Followed *what, bool on);
MUST_USE Status accounts_followed(Accounts *accounts, uint64_t id, Arena *arena,
                                  Followed **ret_list, size_t *ret_count);

/* ---- Signals of duplicate accounts ------------------------------------------------------------------------ */

/* What two registrations may have in common; noted when an account is made, as a keyed hash, kept for a year (or as set: retention.h), and a hint only: people
 * share machines. The times let a moderator see who came right after whom.      name, reason */
#define ACCOUNT_SIGNAL_LIST(X)                                  \
    X(EMAIL, "the same e-mail but for dots and what follows +") \
    X(ADDRESS, "registered from the same network address")      \
    X(COOKIE, "registered with the same browser")
typedef enum AccountSignal {
#define X(name, reason) SIGNAL_##name,
    ACCOUNT_SIGNAL_LIST(X)
#undef X
        SIGNAL_COUNT
} AccountSignal;
enum { SIGNAL_BYTES = 254, SIGNAL_TAG = 8, SIGNAL_SHARED_MAX = 200, SIGNALS_DAYS = 366 };

const char *account_signal_reason(AccountSignal signal);

typedef struct SharedSignal {
    uint64_t account; /* the other one */
    AccountSignal signal;
    Slice tag;       /* SIGNAL_TAG characters of the hash: equal ones are the same value */
    int64_t time_us; /* of the other one's registration */
} SharedSignal;

/* Accounts that share a signal with this one: by signal, the newest ids first, at most SIGNAL_SHARED_MAX a signal.
 * Void ones are left out. */
MUST_USE Status accounts_signals(Accounts *accounts, uint64_t id, Arena *arena,
                                 SharedSignal **ret_shared, size_t *ret_count);
