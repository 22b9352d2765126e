/* access_private.h -- what the files of access share. They work on the handle of accounts (accounts_private.h). */
#pragma once

#include "access/links.h"
#include "access/sessions.h"
#include "accounts/accounts_private.h"

/* ---- links.c, sessions.c, logins.c, tokens.c, second_factor.c ------------------------------------------------------- */

/* The cell of a link as it is when it was used, and as it must be until then. */
Change link_spent(const Accounts *accounts, const Link *link, Arena *arena);
Condition link_unspent(const Link *link);
Slice link_column(LinkKind kind);
/* A new link as a part of another update of its account's row, by a secret of secret_make; of a kind that no epoch ends. */
Change link_change(Accounts *accounts, const NewLink *link, Slice secret, Arena *arena);
/* All of an account's tokens end in the update that this is a part of. */
Change tokens_ended(const Accounts *accounts, Arena *arena);
/* This session stays when all others of its epoch end. A failure costs its owner one more log-in. */
void session_keep(Accounts *accounts, const Session *session, uint64_t epoch);
/* The second factor was shown in it; the same is true of a failure. */
void session_mark_second(Accounts *accounts, const Session *session);
/* The rows of a session, by its key, and of an account's list of them. */
Slice session_row(Slice key, Arena *arena);
Slice session_list_row(uint64_t account, Arena *arena);
/* The note of a log-in, as a part of a batch. */
RowChange login_change(Accounts *accounts, uint64_t account, bool success,
                       const SessionOrigin *origin, Arena *arena);
/* Address and program, sealed for a cell; and back. */
Slice origin_seal(const VaultCell *cell, const SessionOrigin *origin, Arena *arena);
MUST_USE Status origin_unseal(const VaultCell *cell, Slice sealed, Arena *arena,
                              SessionOrigin *ret_origin);
/* A cell of an account's row without what was set up at a moment or later, as a part of the update that takes that back: how it was read, and if there was some
 * (`drops`) how it is then. */
typedef struct SideUndo {
    Condition when;
    Change change;
    bool drops;
} SideUndo;
MUST_USE Status second_factor_undo(Accounts *accounts, uint64_t account, int64_t since_us,
                                   Arena *arena, SideUndo *ret_undo);
typedef struct UndoneLogins {
    Slice folded[LINKED_LOGIN_ENTRIES_MAX]; /* as they are claimed */
    size_t count;
} UndoneLogins;
MUST_USE Status linked_logins_undo(Accounts *accounts, uint64_t account, int64_t since_us,
                                   Arena *arena, SideUndo *ret_undo, UndoneLogins *ret_logins);
/* Where an account's tokens and second factor stand, which closing empties. */
extern const Side TOKENS_SIDE, SECOND_FACTOR_SIDE;
/* What is stored, for the fuzzer of all records. */
extern const Record LINK_RECORD, TOKENS_RECORD, TOKENS_PLAIN, SECOND_FACTOR_RECORD,
    SECOND_FACTOR_PLAIN, JOURNEY_RECORD, JOURNEY_PLAIN, SESSION_RECORD, LOGIN_RECORD, ORIGIN_RECORD;

/* ---- secrets.c ---------------------------------------------------------------------------------------------- */

/* 32 bytes as 43 characters of base64url, and back; false unless it is exactly that. */
enum { SECRET_BYTES = 32, SECRET_TEXT = 43 };
Slice secret_text(const char *bytes, Arena *arena);
bool secret_bytes(Slice text, char *ret_bytes);
/* Whose secret begins with the account that it belongs to (8 bytes). */
void secret_make(const Accounts *accounts, uint64_t account, char *ret_bytes);
/* In a time that does not depend on where they differ. */
bool secret_equal(Slice a, Slice b);
