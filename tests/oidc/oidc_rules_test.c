/* oidc_rules_test.c -- documents and tokens of a provider. What signatures do is tested against providers (site/test_oidc.py). */
#include "oidc/oidc_rules.h"
#include "test.h"

static const Slice ISSUER = {"https://id.example", 18};

/* ---- Documents ---- */

static Status discover(const char *text, Slice issuer, OidcEndpoints *ret, Arena *arena)
{
    Reason reason = {0};
    Status status = discovery_read(slice_from(text), issuer, arena, ret, &reason);
    EXPECT(status == STATUS_OK || reason.rule[0] != '\0');
    return status;
}

#define DISCOVERY(issuer, token)                                                         \
    "{\"issuer\":\"" issuer                                                              \
    "\",\"authorization_endpoint\":\"https://id.example/a\",\"token_endpoint\":\"" token \
    "\",\"jwks_uri\":\"https://id.example/k\"}"

TEST(a_discovery_document_is_of_its_issuer_and_leads_to_https)
{
    ARENA_SCOPE Arena *arena = arena_new();
    OidcEndpoints ends;
    EXPECT_STATUS(
        discover(DISCOVERY("https://id.example", "https://other.example/t"), ISSUER, &ends, arena),
        STATUS_OK);
    EXPECT_SLICE(ends.token, SLICE("https://other.example/t"));
    EXPECT(ends.takes_basic);
    EXPECT_STATUS(
        discover(DISCOVERY("https://id.example/", "https://id.example/t"), ISSUER, &ends, arena),
        STATUS_INVALID);
    EXPECT_STATUS(
        discover(DISCOVERY("https://evil.example", "https://id.example/t"), ISSUER, &ends, arena),
        STATUS_INVALID);
    EXPECT_STATUS(
        discover(DISCOVERY("https://id.example", "http://id.example/t"), ISSUER, &ends, arena),
        STATUS_INVALID);
    EXPECT_STATUS(
        discover(DISCOVERY("https://id.example", "http://127.0.0.1/t"), ISSUER, &ends, arena),
        STATUS_INVALID);
    EXPECT_STATUS(discover("{}", ISSUER, &ends, arena), STATUS_INVALID);
    EXPECT_STATUS(discover("[]", ISSUER, &ends, arena), STATUS_INVALID);
    EXPECT_STATUS(discover("", ISSUER, &ends, arena), STATUS_INVALID);
}

/* ---- Keys ---- */

TEST(keys_of_other_kinds_and_uses_are_left_out)
{
    ARENA_SCOPE Arena *arena = arena_new();
    OidcKey *keys;
    size_t count;
    Slice text =
        SLICE("{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"1\",\"n\":\"AQAB\",\"e\":\"AQAB\"},"
              "{\"kty\":\"RSA\",\"kid\":\"2\",\"use\":\"enc\",\"n\":\"AQAB\",\"e\":\"AQAB\"},"
              "{\"kty\":\"RSA\",\"kid\":\"3\",\"alg\":\"RS512\",\"n\":\"AQAB\",\"e\":\"AQAB\"},"
              "{\"kty\":\"oct\",\"kid\":\"4\",\"k\":\"AQAB\"},"
              "{\"kty\":\"EC\",\"kid\":\"5\",\"crv\":\"P-384\",\"x\":\"AQAB\",\"y\":\"AQAB\"},"
              "{\"kty\":\"EC\",\"kid\":\"6\",\"crv\":\"P-256\",\"x\":\"AQAB\",\"y\":\"AQAB\","
              "\"use\":\"sig\"},"
              "{\"kty\":\"RSA\",\"kid\":\"7\",\"n\":\"A+==\",\"e\":\"AQAB\"},7]}");
    EXPECT_STATUS(keys_read(text, arena, &keys, &count, NULL), STATUS_OK);
    EXPECT_I64(count, 2);
    EXPECT_SLICE(keys[0].kid, SLICE("1"));
    EXPECT_SLICE(keys[1].kid, SLICE("6"));
    EXPECT_STATUS(keys_read(SLICE("{\"keys\":{}}"), arena, &keys, &count, NULL), STATUS_INVALID);
}

TEST(a_token_finds_the_key_of_its_kind_and_name)
{
    const OidcKey keys[] = {{.alg = OIDC_RS256, .kid = SLICE("a")},
                            {.alg = OIDC_RS256, .kid = SLICE("b")},
                            {.alg = OIDC_ES256, .kid = SLICE("a")}};
    EXPECT(keys_find(keys, 3, &(OidcToken){.alg = OIDC_RS256, .kid = SLICE("a")}) == &keys[0]);
    EXPECT(keys_find(keys, 3, &(OidcToken){.alg = OIDC_ES256, .kid = SLICE("a")}) == &keys[2]);
    EXPECT(keys_find(keys, 3, &(OidcToken){.alg = OIDC_ES256, .kid = SLICE("b")}) == NULL);
    EXPECT(keys_find(keys, 3, &(OidcToken){.alg = OIDC_ES256, .kid = SLICE_EMPTY}) == &keys[2]);
    EXPECT(keys_find(keys, 3, &(OidcToken){.alg = OIDC_RS256, .kid = SLICE_EMPTY}) == NULL);
    EXPECT(keys_find(keys, 0, &(OidcToken){.alg = OIDC_RS256, .kid = SLICE_EMPTY}) == NULL);
}

/* ---- Tokens ---- */

static Slice token_of(const char *header, const char *claims, const char *signature, Arena *arena)
{
    Slice a = base64url_write(slice_from(header), arena),
          b = base64url_write(slice_from(claims), arena);
    return arena_print(arena, "%.*s.%.*s.%s", SLICE_ARG(a), SLICE_ARG(b), signature);
}

TEST(a_token_has_three_parts_and_a_way_of_signing_that_is_taken)
{
    ARENA_SCOPE Arena *arena = arena_new();
    OidcToken token;
    Slice good = token_of("{\"alg\":\"RS256\",\"kid\":\"k\"}", "{\"a\":1}", "AQAB", arena);
    EXPECT_STATUS(token_open(good, arena, &token, NULL), STATUS_OK);
    EXPECT_SLICE(token.kid, SLICE("k"));
    EXPECT_SLICE(token.claims, SLICE("{\"a\":1}"));
    EXPECT_SLICE(token.signature, SLICE("\x01\x00\x01"));
    EXPECT_I64(token.content.size, good.size - 5);
    static const char *const ALGS[] = {"none", "None", "HS256", "RS384", "rs256", "ES256K", ""};
    for (size_t i = 0; i < sizeof ALGS / sizeof ALGS[0]; i++) {
        Slice header = arena_print(arena, "{\"alg\":\"%s\"}", ALGS[i]);
        Slice text = token_of(arena_text(arena, header), "{}", "AQAB", arena);
        EXPECT_STATUS(token_open(text, arena, &token, NULL), STATUS_INVALID);
    }
    Slice wrong[] = {SLICE_EMPTY,
                     SLICE("."),
                     SLICE(".."),
                     SLICE("a.b"),
                     SLICE("e30.e30.AQAB"),
                     token_of("{\"alg\":\"RS256\"}", "{}", "", arena),
                     token_of("{\"alg\":\"RS256\"}", "{}", "AQAB.AQAB", arena),
                     token_of("{\"alg\":\"RS256\"}", "{}", "AQA=", arena),
                     token_of("{\"alg\":\"RS256\"}", "{}", "AQB", arena),
                     token_of("{\"alg\":\"RS256\"}", "{}", "AQAB\n", arena),
                     token_of("{\"alg\":\"RS256\",\"crit\":[\"x\"]}", "{}", "AQAB", arena),
                     token_of("{\"alg\":[\"RS256\"]}", "{}", "AQAB", arena)};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (token_open(wrong[i], arena, &token, NULL) == STATUS_OK)
            test_fail(__FILE__, __LINE__, "%zu", i);
}

#define GOOD             \
    "\"iss\":\"https://" \
    "id.example\",\"sub\":\"248\",\"exp\":1000600,\"iat\":1000000,\"nonce\":\"n\""

static Status judge(const char *claims, int64_t now_s, const char *field)
{
    ARENA_SCOPE Arena *arena = arena_new();
    OidcClaims read;
    Reason reason = {0};
    OidcExpected expected = {
        .issuer = ISSUER, .client_id = SLICE("me"), .nonce = SLICE("n"), .now_s = now_s};
    Status status = claims_read(slice_from(claims), arena, &read, &reason);
    if (status == STATUS_OK)
        status = claims_check(&read, &expected, &reason);
    if (status != STATUS_OK && strcmp(reason.field, field) != 0)
        test_fail(__FILE__, __LINE__, "%s: %s %s", claims, reason.field, reason.rule);
    return status;
}

static const struct {
    const char *claims, *field; /* of what is wrong; NULL: nothing is */
    int64_t now_s;
} TOKENS[] = {
    {"{" GOOD ",\"aud\":\"me\"}", NULL, 1000000},
    {"{" GOOD ",\"aud\":[\"me\"]}", NULL, 1000000},
    {"{" GOOD ",\"aud\":[\"me\"],\"azp\":\"me\"}", NULL, 1000000},
    {"{" GOOD ",\"aud\":[\"you\",\"me\"],\"azp\":\"me\"}", NULL, 1000000},
    {"{" GOOD ",\"aud\":[\"you\",\"me\"]}", "aud", 1000000},
    {"{" GOOD ",\"aud\":[\"you\",\"me\"],\"azp\":\"you\"}", "aud", 1000000},
    {"{" GOOD ",\"aud\":\"me\",\"azp\":\"you\"}", "aud", 1000000},
    {"{" GOOD ",\"aud\":\"you\"}", "aud", 1000000},
    {"{" GOOD ",\"aud\":[]}", "aud", 1000000},
    {"{" GOOD "}", "aud", 1000000},
    {"{" GOOD ",\"aud\":\"me\"}", NULL, 1000000 - 60},
    {"{" GOOD ",\"aud\":\"me\"}", "iat", 1000000 - 61},
    {"{" GOOD ",\"aud\":\"me\"}", NULL, 1000600},
    {"{" GOOD ",\"aud\":\"me\"}", "iat", 1000601},
    {"{" GOOD ",\"aud\":\"me\"}", "exp", 1000660},
    {"{\"iss\":\"https://"
     "id.example\",\"sub\":\"2\",\"exp\":1000010,\"iat\":1000000,\"nonce\":\"n\",\"aud\":"
     "\"me\"}",
     NULL, 1000069},
    {"{\"iss\":\"https://"
     "id.example\",\"sub\":\"2\",\"exp\":1000010,\"iat\":1000000,\"nonce\":\"n\",\"aud\":"
     "\"me\"}",
     "exp", 1000070},
    {"{\"iss\":\"https://id.example/"
     "\",\"sub\":\"2\",\"exp\":1000600,\"iat\":1000000,\"nonce\":\"n\",\"aud\":\"me\"}",
     "iss", 1000000},
    {"{\"iss\":\"https://"
     "id.example\",\"sub\":\"2\",\"exp\":1000600,\"iat\":1000000,\"nonce\":\"N\",\"aud\":"
     "\"me\"}",
     "nonce", 1000000},
    {"{\"iss\":\"https://"
     "id.example\",\"sub\":\"2\",\"exp\":1000600,\"iat\":1000000,\"aud\":\"me\"}",
     "nonce", 1000000},
    {"{\"iss\":\"https://"
     "id.example\",\"sub\":\"2\",\"iat\":1000000,\"nonce\":\"n\",\"aud\":\"me\"}",
     "exp", 1000000},
    {"{\"iss\":\"https://"
     "id.example\",\"sub\":\"2\",\"exp\":\"1000600\",\"iat\":1000000,\"nonce\":\"n\",\"aud\":"
     "\"me\"}",
     "exp", 1000000},
    {"{\"iss\":\"https://"
     "id.example\",\"sub\":\"2\",\"exp\":1000600,\"nonce\":\"n\",\"aud\":\"me\"}",
     "iat", 1000000},
    {"{\"iss\":\"https://"
     "id.example\",\"sub\":\"\",\"exp\":1000600,\"iat\":1000000,\"nonce\":\"n\",\"aud\":"
     "\"me\"}",
     "sub", 1000000},
    {"{\"iss\":\"https://"
     "id.example\",\"sub\":7,\"exp\":1000600,\"iat\":1000000,\"nonce\":\"n\",\"aud\":\"me\"}",
     "sub", 1000000},
    {"{\"iss\":\"https://"
     "id.example\",\"sub\":\"\\u00e9\",\"exp\":1000600,\"iat\":1000000,\"nonce\":\"n\",\"aud\":"
     "\"me\"}",
     "sub", 1000000},
};

TEST(a_token_is_of_the_issuer_for_us_from_now_and_of_this_log_in)
{
    for (size_t i = 0; i < sizeof TOKENS / sizeof TOKENS[0]; i++) {
        Status status = judge(TOKENS[i].claims, TOKENS[i].now_s,
                              TOKENS[i].field == NULL ? "" : TOKENS[i].field);
        if ((status == STATUS_OK) != (TOKENS[i].field == NULL))
            test_fail(__FILE__, __LINE__, "%zu: %s is %s", i, TOKENS[i].claims,
                      status_name(status));
    }
}
