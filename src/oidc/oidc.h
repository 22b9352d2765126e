/* oidc.h -- logging in by another site: OpenID Connect, code flow with PKCE.
 *
 *     OidcSecrets secrets = oidc_secrets(oidc, arena);            // kept with the state (access/linked_login_journeys.h)
 *     TRY(oidc_leave(oidc, provider, &leave, arena, &address, reason));     // where the browser goes
 *     …                                                           // and comes back with a code
 *     TRY(oidc_return(oidc, provider, &back, arena, &person, reason));      // who it is
 * Promises:
 *   1. oidc_return believes nobody but the issuer of the settings: a token is taken only from its token endpoint, signed by a key of its key set
 *      (RS256, ES256), for our client, of this log-in, from now (oidc_rules.h).
 *   2. A key that we do not know makes us read the key set again, at most once a minute; a provider may change its keys at any time.
 *   3. Every call ends: at most three requests of FETCH_S each, answers of at most OIDC_DOCUMENT_MAX bytes, no redirects. Only for threads that may
 *      wait; no lock is held meanwhile.
 *   4. UNAVAILABLE: the provider did not answer as it should. REFUSED: what it said is not to be believed, or it says no. The reason says why, in words
 *      without secrets.
 * It knows nothing of accounts: a person is a provider's key and a subject. All calls but oidc_close may come from any thread. */
#pragma once

#include "base/world.h"
#include "oidc/oidc_rules.h"

typedef struct Oidc Oidc;

enum { OIDC_AGAIN_S = 60, OIDC_KEPT_S = 3600 };

/* `file` empty: no providers. INVALID names oidc_file and the line, or the secret's file. */
MUST_USE Status oidc_open(World world, const char *file, Oidc **ret_oidc, Reason *reason);
void oidc_close(Oidc *oidc);

typedef struct OidcProvider {
    Slice key;   /* in addresses and in the store */
    Slice title; /* for people */
} OidcProvider;

size_t oidc_count(const Oidc *oidc);
OidcProvider oidc_provider(const Oidc *oidc, size_t index);
/* False when there is none of that name (any more). */
bool oidc_find(const Oidc *oidc, Slice key, size_t *ret_index);

typedef struct OidcSecrets {
    Slice nonce, verifier; /* 43 characters each */
} OidcSecrets;
OidcSecrets oidc_secrets(const Oidc *oidc, Arena *arena);

typedef struct OidcLeave {
    Slice state;
    OidcSecrets secrets;
    Slice back; /* the address to come back to */
} OidcLeave;
MUST_USE Status oidc_leave(Oidc *oidc, size_t provider, const OidcLeave *leave, Arena *arena,
                           Slice *ret_address, Reason *reason);

typedef struct OidcReturn {
    Slice code;
    OidcSecrets secrets;
    Slice back; /* as it was */
} OidcReturn;

typedef struct OidcPerson {
    Slice subject;
    Slice email, name; /* as the provider says, for a form: proof of nothing */
    Slice verified; /* the same address where the provider vouches that it is theirs; else empty */
} OidcPerson;
MUST_USE Status oidc_return(Oidc *oidc, size_t provider, const OidcReturn *back, Arena *arena,
                            OidcPerson *ret_person, Reason *reason);
