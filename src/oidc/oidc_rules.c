/* oidc_rules.c -- documents and tokens of a provider. See oidc_rules.h; the operator's file is read in providers.c. */
#include "oidc/oidc_rules.h"

#include <sodium.h>

#include "base/json.h"

enum { WORD_MAX = 64, VALUES_MAX = 4096, VARIANT = sodium_base64_VARIANT_URLSAFE_NO_PADDING };

static const JsonBounds DOCUMENT = {OIDC_DOCUMENT_MAX, VALUES_MAX};
static const JsonBounds TOKEN = {OIDC_TOKEN_MAX, VALUES_MAX};

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

/* libsodium refuses padding and other letters, but not bits that are left over: two texts could then be one value. */
bool base64url_read(Slice text, Arena *arena, Slice *ret_bytes)
{
    size_t size = 0;
    unsigned char *bytes = (unsigned char *)arena_bytes(arena, text.size + 1);
    const char *end = NULL;
    if (text.size == 0) {
        *ret_bytes = SLICE_EMPTY;
        return true;
    }
    if (sodium_base642bin(bytes, text.size + 1, text.data, text.size, NULL, &size, &end, VARIANT) !=
            0 ||
        end != text.data + text.size || sodium_base64_encoded_len(size, VARIANT) != text.size + 1)
        return false;
    *ret_bytes = slice_of(bytes, size);
    return true;
}

Slice base64url_write(Slice bytes, Arena *arena)
{
    size_t size = sodium_base64_encoded_len(bytes.size, VARIANT);
    char *text = arena_bytes(arena, size);
    sodium_bin2base64(text, size, (const unsigned char *)bytes.data, bytes.size, VARIANT);
    return slice_of(text, size - 1);
}

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

/* Visible ASCII, nothing that a header or a page would have to escape. */
static bool is_plain(Slice url)
{
    for (size_t i = 0; i < url.size; i++)
        if (url.data[i] <= ' ' || url.data[i] > '~' ||
            strchr("\"'<>\\^`{|}#@", url.data[i]) != NULL)
            return false;
    return url.size <= OIDC_TEXT_MAX;
}

/* Up to the path, the port or the question. */
static Slice host_of(Slice url, size_t scheme)
{
    Slice rest = slice_after(url, scheme);
    size_t end = 0;
    bool is_six = rest.size > 0 && rest.data[0] == '[';
    while (end < rest.size && strchr("/?", rest.data[end]) == NULL &&
           (rest.data[end] != ':' || (is_six && slice_find(slice_of(rest.data, end), ']') == end)))
        end++;
    return slice_of(rest.data, end);
}

bool oidc_is_loopback_url(Slice url)
{
    Slice host = host_of(url, strlen("http://"));
    if (!slice_starts_with(url, SLICE("http://")) || !is_plain(url))
        return false;
    if (slice_equal(host, SLICE("localhost")) || slice_equal(host, SLICE("[::1]")))
        return true;
    for (size_t i = 0; i < host.size; i++)
        if (host.data[i] != '.' && (host.data[i] < '0' || host.data[i] > '9'))
            return false;
    return slice_starts_with(host, SLICE("127."));
}

bool oidc_is_safe_url(Slice url)
{
    return oidc_is_loopback_url(url) ||
           (slice_starts_with(url, SLICE("https://")) && is_plain(url) &&
            host_of(url, strlen("https://")).size > 0);
}

/* ---- Documents --------------------------------------------------------------------------------------------------- */

/* A text that must be there, copied. */
static Status take_text(const Json *object, const char *key, size_t most, Arena *arena,
                        Slice *ret_text, Reason *reason)
{
    Slice text;
    Status status = json_get_string(object, key, most, &text, reason);
    if (status == STATUS_NOT_FOUND)
        return reason_set(reason, STATUS_INVALID, key, "is missing");
    TRY(status);
    *ret_text = arena_copy(arena, text);
    return STATUS_OK;
}

/* One that may be missing; of another kind or too long it is as if it were. */
static Slice text_or_none(const Json *object, const char *key, size_t most, Arena *arena)
{
    Slice text;
    return json_get_string(object, key, most, &text, NULL) == STATUS_OK ? arena_copy(arena, text)
                                                                        : SLICE_EMPTY;
}

static Status take_endpoint(const Json *document, const char *key, Slice issuer, Arena *arena,
                            Slice *ret_url, Reason *reason)
{
    Slice url;
    TRY(take_text(document, key, OIDC_TEXT_MAX, arena, &url, reason));
    bool is_safe =
        oidc_is_safe_url(url) && (!oidc_is_loopback_url(url) || oidc_is_loopback_url(issuer));
    if (!is_safe)
        return reason_set(reason, STATUS_INVALID, key, "must be an https:// address");
    *ret_url = url;
    return STATUS_OK;
}

/* Basic is what counts when the provider does not say. */
static bool takes_basic(const Json *document)
{
    const Json *methods;
    if (json_get_array(document, "token_endpoint_auth_methods_supported", WORD_MAX, &methods,
                       NULL) != STATUS_OK)
        return true;
    for (size_t i = 0; i < json_count(methods); i++) {
        Slice word;
        if (json_as_string(json_at(methods, i), "", WORD_MAX, &word, NULL) == STATUS_OK &&
            slice_equal(word, SLICE("client_secret_basic")))
            return true;
    }
    return false;
}

Status discovery_read(Slice text, Slice issuer, Arena *arena, OidcEndpoints *ret_endpoints,
                      Reason *reason)
{
    JSON_SCOPE Json *document = NULL;
    Slice said;
    OidcEndpoints endpoints;
    TRY(json_parse(text, DOCUMENT, &document, reason));
    TRY(take_text(document, "issuer", OIDC_TEXT_MAX, arena, &said, reason));
    if (!slice_equal(said, issuer))
        return reason_set(reason, STATUS_INVALID, "issuer", "the document is of another issuer");
    TRY(take_endpoint(document, "authorization_endpoint", issuer, arena, &endpoints.authorization,
                      reason));
    TRY(take_endpoint(document, "token_endpoint", issuer, arena, &endpoints.token, reason));
    TRY(take_endpoint(document, "jwks_uri", issuer, arena, &endpoints.jwks, reason));
    endpoints.takes_basic = takes_basic(document);
    *ret_endpoints = endpoints;
    return STATUS_OK;
}

Status answer_read(Slice text, Arena *arena, Slice *ret_id_token, Reason *reason)
{
    JSON_SCOPE Json *document = NULL;
    TRY(json_parse(text, DOCUMENT, &document, reason));
    return take_text(document, "id_token", OIDC_TOKEN_MAX, arena, ret_id_token, reason);
}

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

static bool is_text(const Json *object, const char *key, const char *value)
{
    Slice text;
    return json_get_string(object, key, WORD_MAX, &text, NULL) == STATUS_OK &&
           slice_equal(text, slice_from(value));
}

static bool is_other(const Json *object, const char *key, const char *value)
{
    Slice text;
    return json_get_string(object, key, WORD_MAX, &text, NULL) == STATUS_OK &&
           !slice_equal(text, slice_from(value));
}

static bool take_number(const Json *object, const char *key, Arena *arena, Slice *ret_bytes)
{
    Slice text = text_or_none(object, key, OIDC_TOKEN_MAX, arena);
    return text.size > 0 && base64url_read(text, arena, ret_bytes) && ret_bytes->size > 0;
}

/* False for a key that is none of ours: for another use, of another kind, or broken. */
static bool take_key(const Json *object, Arena *arena, OidcKey *ret_key)
{
    OidcKey key = {.kid = text_or_none(object, "kid", OIDC_TEXT_MAX, arena)};
    if (is_other(object, "use", "sig"))
        return false;
    if (is_text(object, "kty", "RSA") && !is_other(object, "alg", "RS256")) {
        key.alg = OIDC_RS256;
        if (!take_number(object, "n", arena, &key.a) || !take_number(object, "e", arena, &key.b))
            return false;
    } else if (is_text(object, "kty", "EC") && is_text(object, "crv", "P-256") &&
               !is_other(object, "alg", "ES256")) {
        key.alg = OIDC_ES256;
        if (!take_number(object, "x", arena, &key.a) || !take_number(object, "y", arena, &key.b))
            return false;
    } else {
        return false;
    }
    *ret_key = key;
    return true;
}

Status keys_read(Slice text, Arena *arena, OidcKey **ret_keys, size_t *ret_count, Reason *reason)
{
    JSON_SCOPE Json *document = NULL;
    const Json *list;
    size_t count = 0;
    TRY(json_parse(text, DOCUMENT, &document, reason));
    Status status = json_get_array(document, "keys", OIDC_KEYS_MAX, &list, reason);
    if (status == STATUS_NOT_FOUND)
        return reason_set(reason, STATUS_INVALID, "keys", "is missing");
    TRY(status);
    OidcKey *keys = ARENA_ARRAY(arena, json_count(list), OidcKey);
    for (size_t i = 0; i < json_count(list); i++)
        count += take_key(json_at(list, i), arena, &keys[count]);
    *ret_keys = keys;
    *ret_count = count;
    return STATUS_OK;
}

const OidcKey *keys_find(const OidcKey *keys, size_t count, const OidcToken *token)
{
    const OidcKey *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (keys[i].alg != token->alg)
            continue;
        if (token->kid.size > 0 && !slice_equal(keys[i].kid, token->kid))
            continue;
        if (found != NULL) /* two that fit: which one is not ours to guess */
            return NULL;
        found = &keys[i];
    }
    return found;
}

/* ---- Tokens ------------------------------------------------------------------------------------------------------ */

static Status no_token(const char *rule, Reason *reason)
{
    return reason_set(reason, STATUS_INVALID, "id_token", "%s", rule);
}

static Status open_header(Slice header, Arena *arena, OidcToken *token, Reason *reason)
{
    JSON_SCOPE Json *document = NULL;
    Slice alg;
    TRY(json_parse(header, TOKEN, &document, reason));
    TRY(take_text(document, "alg", WORD_MAX, arena, &alg, reason));
    if (slice_equal(alg, SLICE("RS256")))
        token->alg = OIDC_RS256;
    else if (slice_equal(alg, SLICE("ES256")))
        token->alg = OIDC_ES256;
    else
        return no_token("is signed in a way that is not taken", reason);
    const Json *unused;
    if (json_get_array(document, "crit", SIZE_MAX, &unused, NULL) != STATUS_NOT_FOUND)
        return no_token("asks for what we do not know", reason);
    token->kid = text_or_none(document, "kid", OIDC_TEXT_MAX, arena);
    return STATUS_OK;
}

Status token_open(Slice text, Arena *arena, OidcToken *ret_token, Reason *reason)
{
    Slice parts[3] = {SLICE_EMPTY, SLICE_EMPTY, SLICE_EMPTY}, rest = text, header;
    OidcToken token = {.kid = SLICE_EMPTY};
    for (int i = 0; i < 3; i++)
        if (!slice_split(&rest, '.', &parts[i]))
            return no_token("has not three parts", reason);
    if (rest.size > 0 || text.size > OIDC_TOKEN_MAX ||
        parts[0].size + parts[1].size + parts[2].size + 2 != text.size)
        return no_token("has not three parts", reason);
    if (!base64url_read(parts[0], arena, &header) ||
        !base64url_read(parts[1], arena, &token.claims) ||
        !base64url_read(parts[2], arena, &token.signature))
        return no_token("is not in base64url", reason);
    TRY(open_header(header, arena, &token, reason));
    token.content = slice_of(text.data, parts[0].size + 1 + parts[1].size);
    *ret_token = token;
    return STATUS_OK;
}

/* One text, or a list of them. */
static Status take_audiences(const Json *document, Arena *arena, OidcClaims *claims, Reason *reason)
{
    const Json *list;
    Slice text;
    if (json_get_string(document, "aud", OIDC_TEXT_MAX, &text, NULL) == STATUS_OK) {
        claims->audiences[claims->audience_count++] = arena_copy(arena, text);
        return STATUS_OK;
    }
    Status status = json_get_array(document, "aud", OIDC_AUDIENCES_MAX, &list, reason);
    if (status == STATUS_NOT_FOUND)
        return reason_set(reason, STATUS_INVALID, "aud", "is missing");
    TRY(status);
    for (size_t i = 0; i < json_count(list); i++) {
        TRY(json_as_string(json_at(list, i), "aud", OIDC_TEXT_MAX, &text, reason));
        claims->audiences[claims->audience_count++] = arena_copy(arena, text);
    }
    return STATUS_OK;
}

static Status take_time(const Json *document, const char *key, int64_t *ret_s, Reason *reason)
{
    Status status = json_get_i64(document, key, 0, INT64_C(1) << 40, ret_s, reason);
    return status == STATUS_NOT_FOUND ? reason_set(reason, STATUS_INVALID, key, "is missing")
                                      : status;
}

static bool is_subject(Slice subject)
{
    for (size_t i = 0; i < subject.size; i++)
        if (subject.data[i] < ' ' || subject.data[i] > '~')
            return false;
    return subject.size > 0;
}

Status claims_read(Slice json, Arena *arena, OidcClaims *ret_claims, Reason *reason)
{
    JSON_SCOPE Json *document = NULL;
    OidcClaims claims = {.audience_count = 0};
    TRY(json_parse(json, TOKEN, &document, reason));
    TRY(take_text(document, "iss", OIDC_TEXT_MAX, arena, &claims.issuer, reason));
    TRY(take_text(document, "sub", OIDC_SUBJECT_MAX, arena, &claims.subject, reason));
    if (!is_subject(claims.subject))
        return reason_set(reason, STATUS_INVALID, "sub", "must be visible ASCII");
    TRY(take_audiences(document, arena, &claims, reason));
    TRY(take_time(document, "exp", &claims.expires_s, reason));
    TRY(take_time(document, "iat", &claims.issued_s, reason));
    claims.azp = text_or_none(document, "azp", OIDC_TEXT_MAX, arena);
    claims.nonce = text_or_none(document, "nonce", OIDC_TEXT_MAX, arena);
    claims.email = text_or_none(document, "email", OIDC_TEXT_MAX, arena);
    claims.name = text_or_none(document, "preferred_username", OIDC_TEXT_MAX, arena);
    if (json_get_bool(document, "email_verified", &claims.email_verified, NULL) != STATUS_OK)
        claims.email_verified = false;
    *ret_claims = claims;
    return STATUS_OK;
}

static bool is_for(const OidcClaims *claims, Slice client)
{
    bool found = false;
    for (size_t i = 0; i < claims->audience_count; i++)
        found |= slice_equal(claims->audiences[i], client);
    /* With others beside us it must say that it was made for us. */
    bool is_ours =
        claims->azp.size == 0 ? claims->audience_count == 1 : slice_equal(claims->azp, client);
    return found && is_ours;
}

Status claims_check(const OidcClaims *claims, const OidcExpected *expected, Reason *reason)
{
    int64_t now_s = expected->now_s;
    if (!slice_equal(claims->issuer, expected->issuer))
        return reason_set(reason, STATUS_REFUSED, "iss", "the token is of another issuer");
    if (!is_for(claims, expected->client_id))
        return reason_set(reason, STATUS_REFUSED, "aud", "the token is for another site");
    if (claims->expires_s + OIDC_SKEW_S <= now_s)
        return reason_set(reason, STATUS_REFUSED, "exp", "the token is over");
    if (claims->issued_s > now_s + OIDC_SKEW_S || claims->issued_s + OIDC_AGE_S < now_s)
        return reason_set(reason, STATUS_REFUSED, "iat", "the token is not from now");
    if (expected->nonce.size == 0 || claims->nonce.size != expected->nonce.size ||
        sodium_memcmp(claims->nonce.data, expected->nonce.data, claims->nonce.size) != 0)
        return reason_set(reason, STATUS_REFUSED, "nonce", "the token is of another log-in");
    return STATUS_OK;
}
