/* own_access.h -- somebody's own ways in, as every door shows them: sessions, tokens, second factor, log-ins at other sites. */
#pragma once

#include "access/linked_logins.h"
#include "access/second_factor.h"
#include "access/tokens.h"
#include "operations/operation.h"

typedef struct SessionList {
    Session *sessions; /* without their secrets */
    size_t count;
} SessionList;
MUST_USE Status own_sessions(Operations *ops, const Account *account, Arena *arena,
                             SessionList *ret_list);

typedef struct TokenList {
    Token *tokens; /* the same */
    size_t count;
} TokenList;
MUST_USE Status own_tokens(Operations *ops, const Account *account, Arena *arena,
                           TokenList *ret_list);

typedef struct SecondView {
    SecondFactor factor;
    bool is_required; /* a role of the account asks for it (setting second_factor_roles) */
    Slice secret;     /* offered: as people type it, and as apps read it */
    Slice link;
} SecondView;
MUST_USE Status own_second(Operations *ops, const Account *account, Arena *arena,
                           SecondView *ret_view);

/* Recovery codes, told once. */
typedef struct CodeList {
    RecoveryCodes codes;
    size_t count;
} CodeList;

/* A log-in at another site, with what people call that site. */
typedef struct OwnLinked {
    LinkedLogin connection;
    Slice title; /* the provider's key, when the settings do not name it any more */
} OwnLinked;

typedef struct LinkedList {
    OwnLinked *connections;
    size_t count;
    bool has_password;
} LinkedList;
MUST_USE Status own_linked(Operations *ops, const Account *account, Arena *arena,
                           LinkedList *ret_list);
/* What names one of them. NOT_FOUND: nothing can be called that. */
MUST_USE Status own_id(Slice text, Id *ret_id);
/* What people call a provider. */
Slice provider_title(const Operations *ops, Slice key);
