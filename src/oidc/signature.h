/* signature.h -- whether a provider's key signed a token: by OpenSSL, no code of ours. */
#pragma once

#include "oidc/oidc_rules.h"

/* False for every doubt: a key that is none, a modulus below 2048 bits or above 8192, a signature of another size. */
bool signature_fits(const OidcKey *key, const OidcToken *token);
