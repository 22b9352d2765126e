/* site_peer.c -- the peer of the site's votes: one endpoint on our own web base, which saves in PostgreSQL with the same effects.
 *
 *     bench_site_peer CONNINFO LOGFILE VOTERS [NAME=VALUE…]   with the names of config.h
 * Prints "port N" when it serves. POST /my/votes/{policy} with voter and held is one call of save() (ledger.sql), whose tables
 * bench_ledger_peer has filled; the policy is one of the voter's own. No session, no page: what it does beside the save is less than ours. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"
#include "web/request.h"
#include "web/server.h"

enum { PARAMETERS = 9, VERSION = 16, CHANGE_BYTES = 32 };

static const char *conninfo;
static int64_t voters;
static unsigned char (*versions)[VERSION]; /* by voter: a client would have got it with its page */
static uint64_t
    *lines; /* by voter: a policy that they hold votes on; save() changes, and adds none */
static _Thread_local PGconn *connection; /* one a thread of the server */

static void load_versions(void)
{
    PGconn *control = peer_connect(conninfo);
    PGresult *rows =
        PQexecParams(control, "SELECT voter, version FROM head", 0, NULL, NULL, NULL, NULL, 1);
    if (PQresultStatus(rows) != PGRES_TUPLES_OK)
        bench_fail("PostgreSQL: %s", PQerrorMessage(control));
    versions = calloc((size_t)voters, sizeof *versions);
    CHECK(versions != NULL && PQntuples(rows) == voters);
    for (int i = 0; i < PQntuples(rows); i++)
        memcpy(versions[bytes_get_u64(PQgetvalue(rows, i, 0))], PQgetvalue(rows, i, 1), VERSION);
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

static Status save(WebRequest *request)
{
    int64_t voter = web_number(request, 1) % voters;
    const uint64_t numbers[] = {
        (uint64_t)voter,   web_id(request, 0), (uint64_t)web_number(request, 2), 0, 0,
        (uint64_t)now_us()};
    char wire[sizeof numbers], changes[CHANGE_BYTES] = {0}, version[VERSION];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        bytes_put_u64(wire + 8 * i, numbers[i]);
    bytes_put_u64(version, (uint64_t)bench_now_ns());
    bytes_put_u64(version + 8, (uint64_t)voter);
    const char *values[PARAMETERS] = {wire,      (char *)versions[voter],
                                      wire + 8,  wire + 16,
                                      wire + 24, wire + 32,
                                      version,   wire + 40,
                                      changes};
    const int lengths[PARAMETERS] = {8, 16, 8, 8, 8, 8, 16, 8, CHANGE_BYTES};
    const int formats[PARAMETERS] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    if (connection == NULL)
        connection = peer_connect_prepared(
            conninfo, "SELECT save($1, $2, $3, $4, $5, $6, $7, $8, $9)", PARAMETERS);
    PGresult *result = PQexecPrepared(connection, "save", PARAMETERS, values, lengths, formats, 1);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        bench_fail("PostgreSQL: %s", PQerrorMessage(connection));
    bool saved = PQgetvalue(result, 0, 0)[3] == 1; /* a 4-byte integer, big-endian */
    PQclear(result);
    if (!saved)
        return reason_set(web_reason(request), STATUS_REFUSED, "", "the save was refused");
    memcpy(versions[voter], version, VERSION);
    web_redirect(request, 303, SLICE("/policies/1?done=saved&number=1"));
    return STATUS_OK;
}

static const WebRoute ROUTES[] = {
    {WEB_POST, "/my/votes/{policy}", save, .body_bytes = WEB_BODY_DEFAULT, .help = "Saves.",
     .params = {{"policy", WEB_PATH, WEB_ID, .help = "The policy."},
                {"voter", WEB_FORM, WEB_NUMBER, .least = 0, .most = INT64_MAX, .help = "Who."},
                {"held", WEB_FORM, WEB_NUMBER, .least = 0, .most = 1000, .help = "How many."}}},
};

int main(int count, char **words)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Config config;
    Reason reason = {0};
    WebServer *server;
    if (count < 4)
        bench_fail("usage: bench_site_peer CONNINFO LOGFILE VOTERS [NAME=VALUE…]");
    int fd = open(words[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        bench_fail("cannot write %s", words[2]);
    conninfo = words[1];
    voters = strtoll(words[3], NULL, 10);
    config_defaults(&config);
    for (int i = 4; i < count; i++) {
        Slice word = slice_from(words[i]);
        size_t equals = slice_find(word, '=');
        if (config_set(&config, slice_of(word.data, equals), slice_after(word, equals + 1), arena,
                       &reason) != STATUS_OK)
            bench_fail("%s: %s", words[i], reason.rule);
    }
    load_versions();
    World world = world_real();
    Log *log = log_new(fd, LOG_INFO, world.clock);
    WebOptions options = {
        .config = &config, .world = world, .log = log, .routes = ROUTES, .route_count = 1};
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
