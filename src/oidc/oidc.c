/* oidc.c -- see oidc.h. Of each provider its discovery document and its key set are kept as they came, under a lock that is held only to copy them. */
#include "oidc/oidc.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>

#include "oidc/fetch.h"
#include "oidc/signature.h"

enum { FILE_MAX = 64 * 1024, SECRET_MAX = 4096, RANDOM_BYTES = 32, SHA256_BYTES = 32 };

/* A document as it came, and when, by the steady clock. */
typedef struct Kept {
    Buffer text;
    ClockReading read_at;
    bool is_there;
} Kept;

typedef struct Provider {
    OidcSettings settings;
    Slice secret; /* of the client; empty: none */
    pthread_mutex_t lock;
    Kept discovery, keys;
} Provider;

struct Oidc {
    World world;
    Arena *arena; /* what lives as long as the handle */
    Provider *providers;
    size_t count;
};

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

static Status read_secret(Oidc *oidc, Provider *provider, Reason *reason)
{
    Slice path = provider->settings.client_secret_file;
    Reason why = {0};
    provider->secret = SLICE_EMPTY;
    if (path.size == 0)
        return STATUS_OK;
    if (disk_read_line(oidc->world.disk, arena_text(oidc->arena, path), SECRET_MAX, oidc->arena,
                       &provider->secret, &why) != STATUS_OK)
        return reason_set(reason, STATUS_INVALID, "oidc_file", "client_secret_file: %s", why.rule);
    return STATUS_OK;
}

static Status read_file(Oidc *oidc, const char *file, Reason *reason)
{
    Slice text;
    OidcSettings *settings;
    size_t count;
    Reason why = {0};
    if (disk_read(oidc->world.disk, file, FILE_MAX, oidc->arena, &text, &why) != STATUS_OK)
        return reason_set(reason, STATUS_INVALID, "oidc_file", "%s", why.rule);
    TRY(providers_read(text, oidc->arena, &settings, &count, reason));
    oidc->providers = ARENA_ARRAY(oidc->arena, count, Provider);
    for (size_t i = 0; i < count; i++) {
        Provider *provider = &oidc->providers[i];
        provider->settings = settings[i];
        CHECK(pthread_mutex_init(&provider->lock, NULL) == 0);
        oidc->count = i + 1;
        TRY(read_secret(oidc, provider, reason));
    }
    return STATUS_OK;
}

Status oidc_open(World world, const char *file, Oidc **ret_oidc, Reason *reason)
{
    Oidc *oidc = calloc(1, sizeof *oidc);
    CHECK(oidc != NULL);
    oidc->world = world;
    oidc->arena = arena_new();
    Status status = file[0] == '\0' ? STATUS_OK : read_file(oidc, file, reason);
    if (status == STATUS_OK)
        *ret_oidc = oidc;
    else
        oidc_close(oidc);
    return status;
}

void oidc_close(Oidc *oidc)
{
    if (oidc == NULL)
        return;
    for (size_t i = 0; i < oidc->count; i++) {
        Provider *provider = &oidc->providers[i];
        buffer_free(&provider->discovery.text);
        buffer_free(&provider->keys.text);
        CHECK(pthread_mutex_destroy(&provider->lock) == 0);
    }
    arena_free(oidc->arena);
    free(oidc);
}

size_t oidc_count(const Oidc *oidc)
{
    return oidc->count;
}

OidcProvider oidc_provider(const Oidc *oidc, size_t index)
{
    CHECK(index < oidc->count);
    const OidcSettings *settings = &oidc->providers[index].settings;
    return (OidcProvider){settings->key, settings->title};
}

bool oidc_find(const Oidc *oidc, Slice key, size_t *ret_index)
{
    for (size_t i = 0; i < oidc->count; i++)
        if (slice_equal(oidc->providers[i].settings.key, key)) {
            *ret_index = i;
            return true;
        }
    return false;
}

/* ---- Documents of a provider -------------------------------------------------------------------------------------- */

/* What is kept, when it is not older than `most_s`. Of those who find it too old one reads it again, and the others go on with it meanwhile: so nobody
 * can make us ask a provider more often. */
static bool look_up(Oidc *oidc, Provider *provider, Kept *kept, int64_t most_s, Arena *arena,
                    Slice *ret_text)
{
    CHECK(pthread_mutex_lock(&provider->lock) == 0);
    bool fresh =
        kept->is_there && clock_age_us(oidc->world.clock, kept->read_at) < most_s * US_PER_S;
    if (fresh)
        *ret_text = arena_copy(arena, buffer_slice(&kept->text));
    else
        kept->read_at = clock_reading(oidc->world.clock);
    CHECK(pthread_mutex_unlock(&provider->lock) == 0);
    return fresh;
}

static void keep(Oidc *oidc, Provider *provider, Kept *kept, Slice text)
{
    CHECK(pthread_mutex_lock(&provider->lock) == 0);
    buffer_clear(&kept->text);
    buffer_bytes(&kept->text, text);
    kept->read_at = clock_reading(oidc->world.clock);
    kept->is_there = true;
    CHECK(pthread_mutex_unlock(&provider->lock) == 0);
}

/* Told to people and logged: which provider, and why. */
static Status blame(const Provider *provider, Status status, const Reason *why, Reason *reason)
{
    return reason_set(reason, status, "", "%.*s: %s%s%s", SLICE_ARG(provider->settings.title),
                      why->field, why->field[0] != '\0' ? ": " : "", why->rule);
}

static Status ask(const Provider *provider, FetchJob job, Arena *arena, Slice *ret_text,
                  Reason *reason)
{
    Reason why = {0};
    job.ca_file = provider->settings.ca_file;
    job.most = OIDC_DOCUMENT_MAX;
    Status status = fetch(&job, arena, ret_text, &why);
    return status == STATUS_OK ? status : blame(provider, status, &why, reason);
}

static Status find_endpoints(Oidc *oidc, Provider *provider, Arena *arena,
                             OidcEndpoints *ret_endpoints, Reason *reason)
{
    Slice text, issuer = provider->settings.issuer;
    Reason why = {0};
    bool is_kept = look_up(oidc, provider, &provider->discovery, OIDC_KEPT_S, arena, &text);
    if (!is_kept) {
        size_t size = issuer.data[issuer.size - 1] == '/' ? issuer.size - 1 : issuer.size;
        Slice url =
            arena_print(arena, "%.*s/.well-known/openid-configuration", (int)size, issuer.data);
        TRY(ask(provider, (FetchJob){.url = url}, arena, &text, reason));
    }
    if (discovery_read(text, issuer, arena, ret_endpoints, &why) != STATUS_OK)
        return blame(provider, STATUS_UNAVAILABLE, &why, reason);
    if (!is_kept)
        keep(oidc, provider, &provider->discovery, text);
    return STATUS_OK;
}

/* With `most_s` as old as the set may be. */
static Status find_keys(Oidc *oidc, Provider *provider, Slice url, int64_t most_s, Arena *arena,
                        OidcKey **ret_keys, size_t *ret_count, Reason *reason)
{
    Slice text;
    Reason why = {0};
    bool is_kept = look_up(oidc, provider, &provider->keys, most_s, arena, &text);
    if (!is_kept)
        TRY(ask(provider, (FetchJob){.url = url}, arena, &text, reason));
    if (keys_read(text, arena, ret_keys, ret_count, &why) != STATUS_OK)
        return blame(provider, STATUS_UNAVAILABLE, &why, reason);
    if (!is_kept)
        keep(oidc, provider, &provider->keys, text);
    return STATUS_OK;
}

/* The key that signed it; one that is not known may be new. */
static Status find_key(Oidc *oidc, Provider *provider, Slice url, const OidcToken *token,
                       Arena *arena, const OidcKey **ret_key, Reason *reason)
{
    static const int64_t AGES_S[] = {OIDC_KEPT_S, OIDC_AGAIN_S};
    const OidcKey *found = NULL;
    for (int i = 0; i < 2 && found == NULL; i++) {
        OidcKey *keys;
        size_t count;
        TRY(find_keys(oidc, provider, url, AGES_S[i], arena, &keys, &count, reason));
        found = keys_find(keys, count, token);
    }
    if (found == NULL)
        return reason_set(reason, STATUS_REFUSED, "", "%.*s: its token has an unknown key",
                          SLICE_ARG(provider->settings.title));
    *ret_key = found;
    return STATUS_OK;
}

/* ---- There and back ------------------------------------------------------------------------------------------------ */

static Slice random_text(const Oidc *oidc, Arena *arena)
{
    char bytes[RANDOM_BYTES];
    random_fill(oidc->world.random, bytes, sizeof bytes);
    return base64url_write(slice_of(bytes, sizeof bytes), arena);
}

OidcSecrets oidc_secrets(const Oidc *oidc, Arena *arena)
{
    return (OidcSecrets){.nonce = random_text(oidc, arena), .verifier = random_text(oidc, arena)};
}

/* S256: who saw the address cannot use the code. */
static Slice challenge_of(Slice verifier, Arena *arena)
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    CHECK(EVP_Digest(verifier.data, verifier.size, hash, &size, EVP_sha256(), NULL) == 1 &&
          size == SHA256_BYTES);
    return base64url_write(slice_of(hash, size), arena);
}

static void put_field(Buffer *out, const char *name, Slice value)
{
    if (out->size > 0 && out->data[out->size - 1] != '?')
        buffer_u8(out, '&');
    buffer_print(out, "%s=", name);
    buffer_url_escaped(out, value);
}

Status oidc_leave(Oidc *oidc, size_t index, const OidcLeave *leave, Arena *arena,
                  Slice *ret_address, Reason *reason)
{
    BUFFER_SCOPE Buffer to = {0};
    Provider *provider = &oidc->providers[index];
    OidcEndpoints endpoints;
    TRY(find_endpoints(oidc, provider, arena, &endpoints, reason));
    buffer_bytes(&to, endpoints.authorization);
    if (slice_find(endpoints.authorization, '?') == endpoints.authorization.size)
        buffer_u8(&to, '?');
    put_field(&to, "response_type", SLICE("code"));
    put_field(&to, "client_id", provider->settings.client_id);
    put_field(&to, "redirect_uri", leave->back);
    put_field(&to, "scope", provider->settings.scope);
    put_field(&to, "state", leave->state);
    put_field(&to, "nonce", leave->secrets.nonce);
    put_field(&to, "code_challenge", challenge_of(leave->secrets.verifier, arena));
    put_field(&to, "code_challenge_method", SLICE("S256"));
    *ret_address = arena_copy(arena, buffer_slice(&to));
    return STATUS_OK;
}

static Slice escaped(Slice text, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    buffer_url_escaped(&out, text);
    return arena_copy(arena, buffer_slice(&out));
}

/* Gives the code for a token. With Basic, id and secret are escaped first (RFC 6749, 2.3.1). */
static Status redeem(const Provider *provider, const OidcEndpoints *endpoints,
                     const OidcReturn *back, Arena *arena, Slice *ret_token, Reason *reason)
{
    BUFFER_SCOPE Buffer form = {0};
    Slice text;
    Reason why = {0};
    FetchJob job = {.url = endpoints->token};
    put_field(&form, "grant_type", SLICE("authorization_code"));
    put_field(&form, "code", back->code);
    put_field(&form, "redirect_uri", back->back);
    put_field(&form, "code_verifier", back->secrets.verifier);
    if (provider->secret.size > 0 && endpoints->takes_basic) {
        job.user = escaped(provider->settings.client_id, arena);
        job.password = escaped(provider->secret, arena);
    } else {
        put_field(&form, "client_id", provider->settings.client_id);
        if (provider->secret.size > 0)
            put_field(&form, "client_secret", provider->secret);
    }
    job.form = buffer_slice(&form);
    TRY(ask(provider, job, arena, &text, reason));
    if (answer_read(text, arena, ret_token, &why) != STATUS_OK)
        return blame(provider, STATUS_UNAVAILABLE, &why, reason);
    return STATUS_OK;
}

/* Signed by the issuer, and saying what it must. */
static Status believe(Oidc *oidc, Provider *provider, const OidcEndpoints *endpoints, Slice text,
                      Slice nonce, Arena *arena, OidcClaims *ret_claims, Reason *reason)
{
    OidcToken token;
    const OidcKey *key;
    Reason why = {0};
    if (token_open(text, arena, &token, &why) != STATUS_OK)
        return blame(provider, STATUS_REFUSED, &why, reason);
    TRY(find_key(oidc, provider, endpoints->jwks, &token, arena, &key, reason));
    if (!signature_fits(key, &token))
        return reason_set(reason, STATUS_REFUSED, "", "%.*s: its token is not signed by it",
                          SLICE_ARG(provider->settings.title));
    OidcExpected expected = {.issuer = provider->settings.issuer,
                             .client_id = provider->settings.client_id,
                             .nonce = nonce,
                             .now_s = clock_now_us(oidc->world.clock) / US_PER_S};
    if (claims_read(token.claims, arena, ret_claims, &why) != STATUS_OK ||
        claims_check(ret_claims, &expected, &why) != STATUS_OK)
        return blame(provider, STATUS_REFUSED, &why, reason);
    return STATUS_OK;
}

Status oidc_return(Oidc *oidc, size_t index, const OidcReturn *back, Arena *arena,
                   OidcPerson *ret_person, Reason *reason)
{
    Provider *provider = &oidc->providers[index];
    OidcEndpoints endpoints;
    OidcClaims claims;
    Slice token;
    TRY(find_endpoints(oidc, provider, arena, &endpoints, reason));
    TRY(redeem(provider, &endpoints, back, arena, &token, reason));
    TRY(believe(oidc, provider, &endpoints, token, back->secrets.nonce, arena, &claims, reason));
    *ret_person = (OidcPerson){claims.subject, claims.email, claims.name,
                               claims.email_verified ? claims.email : SLICE_EMPTY};
    return STATUS_OK;
}
