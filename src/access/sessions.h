/* sessions.h -- who is logged in, where, and since when; and the last log-ins.
 *
 * A session is opened by a secret (32 random bytes as 43 characters, for a cookie) of which the store knows only a keyed hash. It is over
 * when it was ended, when it was idle for too long or is too old (SessionLimits in accounts.h), and when the account's *epoch* has
 * moved on: a new password, a new e-mail, "log out everywhere" and closing raise it in the account's row itself, so that all sessions end
 * in the same moment, whatever is lost or late.
 *   1. sessions_find costs two reads, or none when both are kept in memory (accounts.h, promise 5).
 *   2. What was ended stays ended, whatever the clocks say: at once where it was ended by this handle, elsewhere after read_cache_us. A
 *      session that is not there any more and one that never was look alike.
 *   3. Addresses and programs are sealed; cells expire with the longest life of a session, notes of log-ins after 90 days. Closing the
 *      account deletes them at once.
 *   4. A crash or UNKNOWN while beginning leaves at most a session whose secret nobody has.
 * Not promised: a bound on how many sessions an account has; the newest SESSIONS_LISTED are listed, and all can be ended at once. */
#pragma once

#include "accounts/accounts.h"

enum {
    SESSION_SEEN_S = 5 * 60,
    SESSIONS_LISTED = 100,
    ORIGIN_ADDRESS_BYTES = 64,
    ORIGIN_AGENT_BYTES = 256,
    LOGINS_LISTED = 10, /* of those that succeeded, and as many of those that failed */
    LOGINS_DAYS = 90,
};

/* Where somebody comes from. What is longer than the bounds is cut; what is not printable ASCII becomes '?'. */
typedef struct SessionOrigin {
    Slice address, agent;
    bool remember; /* "stay logged in" */
    bool second;   /* begun with the second factor (second_factor.h) */
} SessionOrigin;

typedef struct Session {
    Id id; /* names it in lists and addresses; no secret */
    uint64_t account;
    int64_t begun_us, seen_us;
    SessionOrigin origin; /* sessions_find leaves address and agent empty */
    Slice secret;         /* only from sessions_begin: for the cookie */
    Slice key;            /* private */
} Session;

/* After credentials_check_password, whose account is passed: when the password changes in between, the session is over before it begins.
 * Notes the log-in, too. DENIED: this account may not log in. */
MUST_USE Status sessions_begin(Accounts *accounts, const Account *account,
                               const SessionOrigin *origin, Arena *arena, Session *ret_session);
/* LOGIN when it is over, or the account may not log in any more. sessions_note_seen is to follow, or it seems idle. */
MUST_USE Status sessions_find(Accounts *accounts, Slice secret, Arena *arena, Session *ret_session,
                              Account *ret_account);
/* That it was used now; it waits for a lazy write at most each 5 minutes. */
void sessions_note_seen(Accounts *accounts, Session *session);
/* Those that are not over, the newest first. */
MUST_USE Status sessions_list(Accounts *accounts, const Account *account, Arena *arena,
                              Session **ret_sessions, size_t *ret_count);
/* Logging out. OK also when it was over. */
MUST_USE Status sessions_end(Accounts *accounts, const Session *session);
/* One of the account's, by its name; NOT_FOUND when it has no such session. */
MUST_USE Status sessions_end_named(Accounts *accounts, uint64_t account, Id id);
/* All sessions of this one's account end, but this one, and all tokens (tokens.h). */
MUST_USE Status sessions_end_others(Accounts *accounts, const Session *session);
/* All of an account's, and all tokens, by those who run the site. REFUSED: it is void or closed. */
MUST_USE Status sessions_end_all(Accounts *accounts, uint64_t account, Reason *reason);

/* ---- The last log-ins --------------------------------------------------------------------------------------- */

typedef struct Login {
    int64_t time_us;
    bool success;
    SessionOrigin origin;
} Login;

/* A wrong password for an account that exists. Lazy: a power cut may lose it. */
MUST_USE Status logins_note_failure(Accounts *accounts, uint64_t account,
                                    const SessionOrigin *origin);
/* The newest first. A flood of failures does not push out what succeeded. */
MUST_USE Status logins_list(Accounts *accounts, uint64_t account, Arena *arena, Login **ret_logins,
                            size_t *ret_count);
/* A page of log-ins: deletes what is older than the period. Begin with an empty position, go on while *ret_more. */
typedef struct LoginsPage {
    Slice position;
    bool more;
    uint64_t looked, deleted;
} LoginsPage;
MUST_USE Status logins_delete_old(Accounts *accounts, int64_t days, Slice position, Arena *arena,
                                  LoginsPage *ret_page);
