/* tokens.h -- personal tokens for the API.
 *
 * A token is a secret (47 characters, beginning with ost_) that acts for its account, to read or to read and write, until it is ended, expires,
 * or the account may not log in any more. They end with all sessions at once, in the same update, where somebody takes an account back: a new
 * password by a link or by an operator, "log out everywhere", a change of the e-mail that is taken back. Whoever changes a password that they know
 * keeps them. One with the scope journals acts for its account only in the journals that it names, and in these only as it names
 * (access/journal_access.h). All of an account's tokens stand in one sealed cell of its
 * row, so that their number is exact under any race and closing the account ends them in the same update.
 *   1. tokens_find costs two reads and, at most each 5 minutes, one lazy write of when it was last used.
 *   2. The store knows only a keyed hash of the secret. */
#pragma once

#include "accounts/accounts.h"

enum {
    TOKENS_MAX = 50,
    TOKEN_NAME_MAX = 60,       /* characters */
    TOKEN_JOURNALS_MAX = 1000, /* bytes of Token.journals */
    TOKEN_USED_S = 5 * 60,
    TOKEN_DAYS_MAX = 3660,
};

/*    scope, word */
#define TOKEN_SCOPE_LIST(X) X(READ, "read") X(WRITE, "write") X(JOURNALS, "journals")
typedef enum TokenScope {
#define X(name, word) TOKEN_##name,
    TOKEN_SCOPE_LIST(X)
#undef X
        TOKEN_SCOPE_COUNT
} TokenScope;

extern const char *const TOKEN_SCOPE_WORDS[];
const char *token_scope_text(TokenScope scope);

typedef struct NewToken {
    Slice name; /* 1 … TOKEN_NAME_MAX characters, for its owner */
    TokenScope scope;
    int64_t ends_us; /* 0: never */
    bool second;     /* made in a session that was begun with the second factor */
    Slice journals;  /* of the scope journals: journal:NAME:put|claim|admin, with blanks between */
} NewToken;

typedef struct Token {
    Id id; /* names it; no secret */
    uint64_t account;
    Slice name;
    TokenScope scope;
    Slice journals; /* as in NewToken, with a blank between */
    int64_t made_us;
    int64_t ends_us; /* 0: never */
    int64_t used_us; /* 0: never, or not lately; only from tokens_list */
    bool second;     /* as in NewToken */
    Slice secret;    /* only from tokens_make, shown once */
} Token;

/* For confirmed accounts. INVALID names the field; REFUSED: TOKENS_MAX are there (expired ones make room). */
MUST_USE Status tokens_make(Accounts *accounts, uint64_t account, const NewToken *token,
                            Arena *arena, Token *ret_token, Reason *reason);
/* LOGIN when it is none any more. */
MUST_USE Status tokens_find(Accounts *accounts, Slice secret, Arena *arena, Token *ret_token,
                            Account *ret_account);
/* Those that have not expired, in the order in which they were made. */
MUST_USE Status tokens_list(Accounts *accounts, uint64_t account, Arena *arena, Token **ret_tokens,
                            size_t *ret_count);
/* OK also when there was none. */
MUST_USE Status tokens_end(Accounts *accounts, uint64_t account, Id id);
