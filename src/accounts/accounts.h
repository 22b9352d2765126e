/* accounts.h -- who people are: registration, credentials, roles, watch lists, and the live settings of the vote.
 *
 * The account's row decides: pending -> confirmed or void, confirmed -> closed, each by a conditional update; void and closed are
 * final. A name and an e-mail are claims on their own rows that point to an account, and count only while that account is
 * pending or confirmed. So nothing races: who loses a claim voids its own account; the clean-up of old registrations
 * moves accounts and never touches a claim; a claim whose account is void or closed can be taken over.
 * Promises:
 *   1. At any time at most one pending or confirmed account has a folded name, and one an e-mail, under any race, crash
 *      or late write.
 *   2. Every step can be repeated; a crash between any two leaves a pending account, which the clean-up voids after 7 days.
 *   3. UNKNOWN is passed on, never guessed.
 * Rules that need no store (folding, bounds, roles) are in account_rules.h; salary and settings in settings_rules.h. */
#pragma once

#include "accounts/account_rules.h"
#include "accounts/settings_rules.h"
#include "base/ids.h"
#include "store/store.h"

typedef struct Accounts Accounts;

/* How passwords become hashes: bcrypt in production, something cheap in the simulator. */
typedef struct PasswordHasher {
    Status (*hash)(void *self, Slice password, Arena *arena, Slice *ret_hash);
    bool (*check)(void *self, Slice password, Slice hash);
    void *self;
} PasswordHasher;

/* bcrypt of the given cost (4 … 15) through libxcrypt. */
PasswordHasher password_bcrypt(int cost);

typedef struct AccountsOptions {
    Store *store;
    World world;
    PasswordHasher hasher;
    uint32_t id_block; /* ids taken at once */
} AccountsOptions;

Accounts *accounts_new(const AccountsOptions *options);
void accounts_free(Accounts *accounts);

typedef struct Account {
    uint64_t id;
    AccountState state;
    int64_t state_time_us;
    Slice name, email;     /* as the person wrote them; empty once closed */
    Slice password_hash;   /* empty: none */
    int64_t registered_us; /* salary counts from here */
    uint32_t roles;        /* bits of AccountRole */
    uint32_t denied;       /* bits of AccountRight that were taken away */
    uint64_t version;      /* of the row, to notice a change in between */
} Account;

typedef struct Registration {
    Slice name, email, password;
    bool confirmed; /* by an operator: no link to follow */
    uint32_t roles;
    int64_t registered_us; /* 0: now; demo data and imports give the past */
} Registration;

/* INVALID, REFUSED (taken) with field and rule; OK leaves a pending (or confirmed) account whose id is returned. */
MUST_USE Status accounts_register(Accounts *accounts, const Registration *registration,
                                  uint64_t *ret_id, Reason *reason);
/* Checks both claims, then moves pending -> confirmed. Repeating it is fine. REFUSED: void, closed, or a claim was lost. */
MUST_USE Status accounts_confirm(Accounts *accounts, uint64_t id, Reason *reason);
MUST_USE Status accounts_read(Accounts *accounts, uint64_t id, Arena *arena, Account *ret_account);
/* By name, or by e-mail when it contains '@'. NOT_FOUND also when the claim points to an account that does not count. */
MUST_USE Status accounts_find(Accounts *accounts, Slice name_or_email, Arena *arena,
                              Account *ret_account);
/* LOGIN when the password is wrong or the account does not exist, in the same time; DENIED when logging in was taken away. */
MUST_USE Status accounts_check_password(Accounts *accounts, Slice name_or_email, Slice password,
                                        Arena *arena, Account *ret_account);
MUST_USE Status accounts_set_password(Accounts *accounts, uint64_t id, Slice password,
                                      Reason *reason);
/* Claims the new one, moves the account, frees the old claim (a value, not a delete). */
MUST_USE Status accounts_rename(Accounts *accounts, uint64_t id, Slice name, Reason *reason);
MUST_USE Status accounts_change_email(Accounts *accounts, uint64_t id, Slice email, Reason *reason);
MUST_USE Status accounts_set_roles(Accounts *accounts, uint64_t id, uint32_t roles, uint32_t denied,
                                   Reason *reason);
/* confirmed -> closed, after the ledger has its closing entry; releases name and e-mail. Repeating it is fine. */
MUST_USE Status accounts_close(Accounts *accounts, uint64_t id, Reason *reason);
/* pending -> void when it is older than 7 days; for the clean-up. OK also when there was nothing to do. */
MUST_USE Status accounts_expire(Accounts *accounts, uint64_t id);
/* All accounts, page by page, in the engine's order; position as in store_scan. */
MUST_USE Status accounts_list(Accounts *accounts, Slice position, Arena *arena,
                              Account **ret_accounts, size_t *ret_count, Slice *ret_position,
                              bool *ret_more);

/* ---- Watch list ------------------------------------------------------------------------------------------ */
enum { WATCH_MOST = 1000 };
MUST_USE Status accounts_watch(Accounts *accounts, uint64_t id, uint64_t policy, bool on);
MUST_USE Status accounts_watched(Accounts *accounts, uint64_t id, Arena *arena,
                                 uint64_t **ret_policies, size_t *ret_count);

/* ---- Settings of the vote -------------------------------------------------------------------------------- */

/* All versions, from a cache that is at most a minute old (a version counts at the earliest 15 minutes after it was made,
 * longer than any cache and skew). Valid until the arena goes. */
MUST_USE Status accounts_settings(Accounts *accounts, Arena *arena, SettingsHistory *ret_history);
enum { SETTING_AHEAD_LEAST_S = 15 * 60 };
/* Appends a version with one value changed, from a time at least 15 minutes ahead and not before the last version's.
 * `from_us` 0: as early as allowed. REFUSED names the rule; CONFLICT: somebody else was first. */
MUST_USE Status accounts_set_setting(Accounts *accounts, Slice name, Slice value, int64_t from_us,
                                     Reason *reason);
