/* keys_test.c -- a provider that changes its keys: a real one over HTTP on loopback, and a clock that the test moves. */
#include <arpa/inet.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "oidc/oidc.h"
#include "test.h"
#include "world.h"

enum { KEYS = 2, REQUEST = 8192 };

static struct {
    int listener;
    unsigned port;
    pthread_t thread;
    EVP_PKEY *keys[KEYS];
    _Atomic int shown, signer; /* which key its set has, and which one signs */
    _Atomic int key_sets;      /* how often the set was asked for */
    TestWorld own;
    World world;
    char file[64];
    Oidc *oidc;
} place;

/* ---- The provider ---- */

static Slice number_of(EVP_PKEY *key, const char *name, Arena *arena)
{
    BIGNUM *number = NULL;
    CHECK(EVP_PKEY_get_bn_param(key, name, &number) == 1);
    size_t size = (size_t)BN_num_bytes(number);
    char *bytes = arena_bytes(arena, size);
    BN_bn2bin(number, (unsigned char *)bytes);
    BN_free(number);
    return base64url_write(slice_of(bytes, size), arena);
}

static Slice key_set(Arena *arena)
{
    int shown = atomic_load(&place.shown);
    Slice n = number_of(place.keys[shown], OSSL_PKEY_PARAM_RSA_N, arena),
          e = number_of(place.keys[shown], OSSL_PKEY_PARAM_RSA_E, arena);
    atomic_fetch_add(&place.key_sets, 1);
    return arena_print(
        arena, "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"key %d\",\"n\":\"%.*s\",\"e\":\"%.*s\"}]}",
        shown, SLICE_ARG(n), SLICE_ARG(e));
}

static Slice sign(EVP_PKEY *key, Slice content, Arena *arena)
{
    size_t size = 0;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const unsigned char *bytes = (const unsigned char *)content.data;
    CHECK(EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1);
    CHECK(EVP_DigestSign(context, NULL, &size, bytes, content.size) == 1);
    char *signature = arena_bytes(arena, size);
    CHECK(EVP_DigestSign(context, (unsigned char *)signature, &size, bytes, content.size) == 1);
    EVP_MD_CTX_free(context);
    return base64url_write(slice_of(signature, size), arena);
}

static Slice token(Arena *arena)
{
    int signer = atomic_load(&place.signer);
    long long now_s = (long long)(clock_now_us(place.world.clock) / US_PER_S);
    Slice head = base64url_write(
        arena_print(arena, "{\"alg\":\"RS256\",\"kid\":\"key %d\"}", signer), arena);
    Slice claims = base64url_write(
        arena_print(arena,
                    "{\"iss\":\"http://127.0.0.1:%u\",\"sub\":\"7\",\"aud\":\"me\",\"nonce\":\"n\","
                    "\"exp\":%lld,\"iat\":%lld}",
                    place.port, now_s + 300, now_s),
        arena);
    Slice content = arena_print(arena, "%.*s.%.*s", SLICE_ARG(head), SLICE_ARG(claims));
    Slice signature = sign(place.keys[signer], content, arena);
    return arena_print(arena, "{\"id_token\":\"%.*s.%.*s\"}", SLICE_ARG(content),
                       SLICE_ARG(signature));
}

static Slice discovery(Arena *arena)
{
    return arena_print(arena,
                       "{\"issuer\":\"http://127.0.0.1:%u\",\"authorization_endpoint\":\"http://"
                       "127.0.0.1:%u/authorize\",\"token_endpoint\":\"http://127.0.0.1:%u/token\","
                       "\"jwks_uri\":\"http://127.0.0.1:%u/keys\"}",
                       place.port, place.port, place.port, place.port);
}

/* A request is small, and its head comes with its body or before. */
static void answer(int client)
{
    ARENA_SCOPE Arena *arena = arena_new();
    char request[REQUEST] = {0};
    CHECK(recv(client, request, sizeof request - 1, 0) > 0);
    Slice body = strncmp(request, "POST", 4) == 0        ? token(arena)
                 : strncmp(request, "GET /keys", 9) == 0 ? key_set(arena)
                                                         : discovery(arena);
    Slice whole = arena_print(arena,
                              "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: "
                              "close\r\nContent-Length: %zu\r\n\r\n%.*s",
                              body.size, SLICE_ARG(body));
    CHECK(send(client, whole.data, whole.size, MSG_NOSIGNAL) == (ssize_t)whole.size);
    shutdown(client, SHUT_WR);
    while (recv(client, request, sizeof request, 0) > 0)
        continue;
    close(client);
}

static void *serve(void *argument)
{
    (void)argument;
    for (int client; (client = accept(place.listener, NULL, NULL)) >= 0;)
        answer(client);
    return NULL;
}

/* ---- The test ---- */

static void write_settings(void)
{
    snprintf(place.file, sizeof place.file, "/tmp/oidc-keys-%d", (int)getpid());
    FILE *file = fopen(place.file, "w");
    CHECK(file != NULL);
    fprintf(file, "[town]\ntitle = Town\nissuer = http://127.0.0.1:%u\nclient_id = me\n",
            place.port);
    fclose(file);
}

static void begin(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    Reason reason = {0};
    place.world = test_world(&place.own, 1);
    for (int i = 0; i < KEYS; i++)
        CHECK((place.keys[i] = EVP_RSA_gen(2048)) != NULL);
    place.listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(place.listener, (struct sockaddr *)&address, size) == 0 &&
          listen(place.listener, 8) == 0 &&
          getsockname(place.listener, (struct sockaddr *)&address, &size) == 0);
    place.port = ntohs(address.sin_port);
    CHECK(pthread_create(&place.thread, NULL, serve, NULL) == 0);
    write_settings();
    EXPECT_STATUS(oidc_open(place.world, place.file, &place.oidc, &reason), STATUS_OK);
}

static void end(void)
{
    oidc_close(place.oidc);
    shutdown(place.listener, SHUT_RDWR);
    close(place.listener);
    pthread_join(place.thread, NULL);
    unlink(place.file);
    for (int i = 0; i < KEYS; i++)
        EVP_PKEY_free(place.keys[i]);
}

static Status come_back(void)
{
    ARENA_SCOPE Arena *arena = arena_new();
    OidcPerson person;
    Reason reason = {0};
    OidcReturn back = {.code = SLICE("c"),
                       .secrets = {SLICE("n"), SLICE("v")},
                       .back = SLICE("http://127.0.0.1/login/back/town")};
    return oidc_return(place.oidc, 0, &back, arena, &person, &reason);
}

static void change_keys(int to)
{
    atomic_store(&place.shown, to);
    atomic_store(&place.signer, to);
}

TEST(an_unknown_key_has_the_set_read_again_at_most_once_a_minute)
{
    begin();
    EXPECT_STATUS(come_back(), STATUS_OK);
    EXPECT_STATUS(come_back(), STATUS_OK);
    EXPECT_I64(atomic_load(&place.key_sets), 1);
    change_keys(1);
    test_world_pass(&place.own, (OIDC_AGAIN_S - 1) * US_PER_S);
    for (int i = 0; i < 3; i++)
        EXPECT_STATUS(come_back(), STATUS_REFUSED);
    EXPECT_I64(atomic_load(&place.key_sets), 1); /* nobody makes us ask more often */
    test_world_pass(&place.own, US_PER_S);
    EXPECT_STATUS(come_back(), STATUS_OK);
    EXPECT_I64(atomic_load(&place.key_sets), 2);
    atomic_store(&place.signer, 0); /* one that is taken back signs no more */
    for (int i = 0; i < 3; i++)
        EXPECT_STATUS(come_back(), STATUS_REFUSED);
    EXPECT_I64(atomic_load(&place.key_sets), 2);
    test_world_pass(&place.own, OIDC_AGAIN_S * US_PER_S);
    for (int i = 0; i < 3; i++)
        EXPECT_STATUS(come_back(), STATUS_REFUSED);
    EXPECT_I64(atomic_load(&place.key_sets), 3); /* it was worth one more look */
    end();
}
