/* oidc_rules.h -- what OpenID Connect says about documents and tokens, as far as we use it: pure.
 *
 * Everything here comes from somebody else's server, or from a file of the operator's: it is bounded, read strictly, and what is not as it
 * should be is refused with the rule. Slices that are returned live in the arena.
 *   1. A token is believed by nothing in this file: token_open takes it apart, signature.h checks it, claims_check judges what it says.
 *   2. Only RS256 and ES256 are taken; "none", HS256 and all others are refused before a key is looked for.
 *   3. claims_check refuses a token of another issuer, for another client, of another log-in (nonce), that is over or from the future; by at most
 *      OIDC_SKEW_S the clocks may differ. */
#pragma once

#include "base/arena.h"
#include "base/bytes.h"

enum {
    OIDC_PROVIDERS_MAX = 8,
    OIDC_KEY_MAX = 20,             /* characters of a provider's name in addresses */
    OIDC_TEXT_MAX = 500,           /* bytes of an address, a client's id, a secret */
    OIDC_SUBJECT_MAX = 255,        /* bytes; the standard says so */
    OIDC_DOCUMENT_MAX = 64 * 1024, /* bytes of any answer */
    OIDC_TOKEN_MAX = 16 * 1024,
    OIDC_KEYS_MAX = 32,
    OIDC_AUDIENCES_MAX = 16,
    OIDC_SKEW_S = 60,
    OIDC_AGE_S = 600, /* how old a token may be that comes straight from its issuer */
};

/* ---- What the operator says ----------------------------------------------------------------------------------------- */

/* One part of the file (setting oidc_file):
 *     [example]                  its name in addresses: small letters, digits and -
 *     title = Example ID         what people call it
 *     issuer = https://id.example.org
 *     client_id = ostraka
 *     client_secret_file = /etc/ostraka/example.secret
 *     scope = openid email       optional
 *     ca_file = /etc/…           optional: certificates to trust there
 * Lines that begin with # do not count. */
typedef struct OidcSettings {
    Slice key, title, issuer, client_id, client_secret_file, scope, ca_file;
} OidcSettings;

/* INVALID names the line and the rule. At most OIDC_PROVIDERS_MAX. */
MUST_USE Status providers_read(Slice text, Arena *arena, OidcSettings **ret_providers,
                               size_t *ret_count, Reason *reason);

/* https:// with a host; or http:// to this very machine, for tests. */
bool oidc_is_safe_url(Slice url);
/* The second of these. */
bool oidc_is_loopback_url(Slice url);

/* ---- What the provider says -------------------------------------------------------------------------------------------- */

typedef struct OidcEndpoints {
    Slice authorization, token, jwks;
    bool takes_basic; /* the client's secret as HTTP Basic; otherwise in the form */
} OidcEndpoints;

/* The discovery document. INVALID: it speaks of another issuer, or lacks something. A provider on https leads nowhere else. */
MUST_USE Status discovery_read(Slice text, Slice issuer, Arena *arena, OidcEndpoints *ret_endpoints,
                               Reason *reason);
/* What the token endpoint answers. */
MUST_USE Status answer_read(Slice text, Arena *arena, Slice *ret_id_token, Reason *reason);

/*    name, the words of header and key */
typedef enum OidcAlg { OIDC_RS256, OIDC_ES256 } OidcAlg;

typedef struct OidcKey {
    OidcAlg alg;
    Slice kid;  /* may be empty */
    Slice a, b; /* RSA: n and e; EC: x and y */
} OidcKey;

/* A key set. Keys that we cannot use are left out. */
MUST_USE Status keys_read(Slice text, Arena *arena, OidcKey **ret_keys, size_t *ret_count,
                          Reason *reason);

typedef struct OidcToken {
    OidcAlg alg;
    Slice kid;     /* may be empty */
    Slice content; /* what is signed */
    Slice signature;
    Slice claims; /* JSON */
} OidcToken;

MUST_USE Status token_open(Slice text, Arena *arena, OidcToken *ret_token, Reason *reason);
/* The key for a token: the one with its kid; for a token that names none, the only one of its kind. NULL: there is none. */
const OidcKey *keys_find(const OidcKey *keys, size_t count, const OidcToken *token);

typedef struct OidcClaims {
    Slice issuer, subject, azp, nonce;
    Slice audiences[OIDC_AUDIENCES_MAX];
    size_t audience_count;
    int64_t expires_s, issued_s;
    Slice email, name;   /* as the provider has them; empty when it does not say */
    bool email_verified; /* it says that the address is this person's; nothing but `true` counts */
} OidcClaims;

MUST_USE Status claims_read(Slice json, Arena *arena, OidcClaims *ret_claims, Reason *reason);

typedef struct OidcExpected {
    Slice issuer, client_id, nonce;
    int64_t now_s;
} OidcExpected;

/* REFUSED with the rule. */
MUST_USE Status claims_check(const OidcClaims *claims, const OidcExpected *expected,
                             Reason *reason);

/* ---- Bytes ---------------------------------------------------------------------------------------------------------------- */

/* False unless it is base64url without padding and without loose bits. */
bool base64url_read(Slice text, Arena *arena, Slice *ret_bytes);
Slice base64url_write(Slice bytes, Arena *arena);
