/* site_peer.c -- the peer of the site's votes: one endpoint on our own web base, which saves in PostgreSQL with the same effects.
 *
 *     bench_site_peer CONNINFO SCHEMA_FILE LOGFILE VOTERS [NAME=VALUE…]   with the names of config.h
 * Prints "port N" when it serves. POST /my/votes/{policy} with the cookie `session` (voter-N), csrf, voter (N, for the version that its
 * page would have had) and held is one call of vote() (site.sql), on tables that bench_ledger_peer has filled; the policy is
 * one that the voter holds. POST /my/plain/{policy} is the same statement by statement (site_plain.h). Both run on the same threads as
 * ours, save_threads. No page: what they do beside the save is less than ours. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sodium.h>

#include "peer.h"
#include "site_plain.h"
#include "web/request.h"
#include "web/server.h"

enum { PARAMETERS = 7, CHANGE_BYTES = 32, FORM_HASH = 16 };
enum { FORM_TOKEN = 1, FORM_VOTER, FORM_HELD };

static const char *conninfo;
static int64_t voters;
static unsigned char (
    *versions)[PEER_VERSION]; /* by voter: a client would have got it with its page */
static uint64_t
    *lines; /* by voter: a policy that they hold votes on; save() changes, and adds none */
static _Thread_local PGconn *connection; /* one a thread of the server */

static void load(const char *schema)
{
    PGconn *control = peer_connect(conninfo);
    peer_execute_file(control, schema);
    peer_execute(control, "VACUUM (FREEZE, ANALYZE) session");
    PGresult *rows =
        PQexecParams(control, "SELECT voter, version FROM head", 0, NULL, NULL, NULL, NULL, 1);
    if (PQresultStatus(rows) != PGRES_TUPLES_OK)
        bench_fail("PostgreSQL: %s", PQerrorMessage(control));
    versions = calloc((size_t)voters, sizeof *versions);
    CHECK(versions != NULL && PQntuples(rows) == voters);
    for (int i = 0; i < PQntuples(rows); i++)
        memcpy(versions[bytes_get_u64(PQgetvalue(rows, i, 0))], PQgetvalue(rows, i, 1),
               PEER_VERSION);
    PQclear(rows);
    rows = PQexecParams(control, "SELECT voter, min(policy) FROM line GROUP BY voter", 0, NULL,
                        NULL, NULL, NULL, 1);
    lines = calloc((size_t)voters, sizeof *lines);
    CHECK(lines != NULL && PQntuples(rows) == voters);
    for (int i = 0; i < PQntuples(rows); i++)
        lines[bytes_get_u64(PQgetvalue(rows, i, 0))] = bytes_get_u64(PQgetvalue(rows, i, 1));
    PQclear(rows);
    PQfinish(control);
}

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

/* The token against forgery is a keyed hash of the session's secret, as ours. */
static Status check_form(WebRequest *request, Slice secret)
{
    static const unsigned char KEY[] = "the key of the benchmark's forms";
    unsigned char hash[FORM_HASH];
    char text[2 * FORM_HASH + 1];
    Slice sent = web_text(request, FORM_TOKEN);
    crypto_generichash(hash, sizeof hash, (const unsigned char *)secret.data, secret.size, KEY,
                       sizeof KEY - 1);
    sodium_bin2hex(text, sizeof text, hash, sizeof hash);
    if (sent.size != 2 * FORM_HASH || sodium_memcmp(sent.data, text, sent.size) != 0)
        return reason_set(web_reason(request), STATUS_DENIED, "csrf",
                          "this form was not made here");
    return STATUS_OK;
}

/* One call of vote(): 1: saved; see site.sql. */
static int call_vote(const PeerVote *vote)
{
    const uint64_t numbers[] = {vote->policy, (uint64_t)vote->held, (uint64_t)vote->now_us};
    char wire[sizeof numbers];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        bytes_put_u64(wire + 8 * i, numbers[i]);
    const char *values[PARAMETERS] = {vote->session.data, vote->seen,    wire,
                                      wire + 8,           vote->version, wire + 16,
                                      vote->changes.data};
    const int lengths[PARAMETERS] = {(int)vote->session.size, PEER_VERSION, 8, 8, PEER_VERSION, 8,
                                     (int)vote->changes.size};
    const int formats[PARAMETERS] = {1, 1, 1, 1, 1, 1, 1};
    PGresult *result = PQexecPrepared(connection, "save", PARAMETERS, values, lengths, formats, 1);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        bench_fail("PostgreSQL: %s", PQerrorMessage(connection));
    int answer = PQgetvalue(result, 0, 0)[3]; /* a 4-byte integer, big-endian */
    PQclear(result);
    return answer;
}

static Status save(WebRequest *request, bool plain)
{
    int64_t voter = web_number(request, FORM_VOTER) % voters;
    Slice secret = web_cookie(request, "session");
    unsigned char key[crypto_hash_sha256_BYTES];
    char version[PEER_VERSION], changes[CHANGE_BYTES] = {0};
    TRY(check_form(request, secret));
    if (connection == NULL) {
        connection =
            peer_connect_prepared(conninfo, "SELECT vote($1, $2, $3, $4, $5, $6, $7)", PARAMETERS);
        plain_prepare(connection);
    }
    crypto_hash_sha256(key, (const unsigned char *)secret.data, secret.size);
    bytes_put_u64(version, (uint64_t)bench_now_ns());
    bytes_put_u64(version + 8, (uint64_t)voter);
    PeerVote vote = {slice_of(key, sizeof key),
                     (char *)versions[voter],
                     lines[voter],
                     web_number(request, FORM_HELD),
                     version,
                     now_us(),
                     slice_of(changes, sizeof changes)};
    int answer = plain ? plain_vote(connection, &vote) : call_vote(&vote);
    if (answer == 2)
        return reason_set(web_reason(request), STATUS_LOGIN, "", "log in first");
    if (answer != 1)
        return reason_set(web_reason(request), STATUS_REFUSED, "", "the save was refused");
    memcpy(versions[voter], version, PEER_VERSION);
    web_redirect(request, 303, SLICE("/policies/1?done=saved&number=1"));
    return STATUS_OK;
}

static Status save_by_function(WebRequest *request)
{
    return save(request, false);
}

static Status save_plain(WebRequest *request)
{
    return save(request, true);
}

#define FORM                                                                                   \
    .params = {{"policy", WEB_PATH, WEB_ID, .help = "The policy."},                            \
               {"csrf", WEB_FORM, WEB_OPAQUE, .least = 0, .most = 64, .help = "Its."},         \
               {"voter", WEB_FORM, WEB_NUMBER, .least = 0, .most = INT64_MAX, .help = "Who."}, \
               {"held", WEB_FORM, WEB_NUMBER, .least = 0, .most = 1000, .help = "How many."}}
static const WebRoute ROUTES[] = {
    {WEB_POST, "/my/votes/{policy}", save_by_function, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Saves by a function.", FORM},
    {WEB_POST, "/my/plain/{policy}", save_plain, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Saves by statements.", FORM},
};

int main(int count, char **words)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Config config;
    Reason reason = {0};
    WebServer *server;
    if (count < 5)
        bench_fail("usage: bench_site_peer CONNINFO SCHEMA_FILE LOGFILE VOTERS [NAME=VALUE…]");
    int fd = open(words[3], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        bench_fail("cannot write %s", words[3]);
    conninfo = words[1];
    voters = strtoll(words[4], NULL, 10);
    config_defaults(&config);
    for (int i = 5; i < count; i++) {
        Slice word = slice_from(words[i]);
        size_t equals = slice_find(word, '=');
        if (config_set(&config, slice_of(word.data, equals), slice_after(word, equals + 1), arena,
                       &reason) != STATUS_OK)
            bench_fail("%s: %s", words[i], reason.rule);
    }
    load(words[2]);
    World world = world_real();
    Log *log = log_new(fd, LOG_INFO, world.clock);
    WebOptions options = {
        .config = &config, .world = world, .log = log, .routes = ROUTES, .route_count = 2};
    if (web_server_start(&options, &server, &reason) != STATUS_OK)
        bench_fail("the server does not start: %s", reason.rule);
    printf("port %u\n", (unsigned)web_server_port(server));
    fflush(stdout);
    while (getchar() != EOF)
        ;
    web_server_stop(server);
    log_free(log);
    close(fd);
    return 0;
}
