/* fuzz_oidc.c -- any bytes as what a provider says and as the operator's file.
 *
 * What is read keeps its bounds; a token that was opened is its parts put together again; base64url has one text for each value. */
#include "oidc/signature.h"

#include "fuzz.h"

static void feed_token(Slice text, Arena *arena)
{
    OidcToken token;
    OidcClaims claims;
    Reason reason = {0};
    if (token_open(text, arena, &token, &reason) != STATUS_OK) {
        CHECK(reason.rule[0] != '\0');
        return;
    }
    CHECK(token.content.size < text.size && token.alg <= OIDC_ES256);
    OidcKey key = {.alg = token.alg, .kid = SLICE_EMPTY, .a = token.signature, .b = token.claims};
    CHECK(!signature_fits(&key, &token));
    if (claims_read(token.claims, arena, &claims, NULL) == STATUS_OK)
        CHECK(claims.subject.size > 0 && claims.subject.size <= OIDC_SUBJECT_MAX);
}

static void feed_documents(Slice text, Arena *arena)
{
    OidcEndpoints endpoints;
    OidcKey *keys;
    OidcClaims claims;
    OidcSettings *providers;
    Slice bytes, issuer = SLICE("https://id.example");
    size_t count = 0;
    if (discovery_read(text, issuer, arena, &endpoints, NULL) == STATUS_OK)
        CHECK(oidc_is_safe_url(endpoints.token) && !oidc_is_loopback_url(endpoints.token));
    if (keys_read(text, arena, &keys, &count, NULL) == STATUS_OK)
        CHECK(count <= OIDC_KEYS_MAX);
    if (claims_read(text, arena, &claims, NULL) == STATUS_OK)
        CHECK(claims.audience_count <= OIDC_AUDIENCES_MAX);
    if (providers_read(text, arena, &providers, &count, NULL) == STATUS_OK)
        CHECK(count <= OIDC_PROVIDERS_MAX);
    if (base64url_read(text, arena, &bytes))
        CHECK(base64url_write(bytes, arena).size == text.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice text = slice_of(data, size);
    feed_token(text, arena);
    feed_documents(text, arena);
    return 0;
}
