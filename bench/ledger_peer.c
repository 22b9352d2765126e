/* ledger_peer.c -- the ledger's peer: the same saves with the same effects in PostgreSQL, by libpq, a connection a client.
 *
 *     bench_ledger_peer CONNINFO POSTMASTER_PID SCHEMA_FILE VOTERS POLICIES CLIENTS
 * Commands: `preload` makes and fills the tables, `saves MS` runs saves, `check` adds up what is there. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "electorate.h"
#include "peer.h"

enum { PARAMETERS = 9, CHANGE_BYTES = 32 };
#define YEARS_US (INT64_C(10) * 365 * 86400 * 1000000)

typedef struct Peer {
    const char *conninfo, *schema;
    uint64_t voters, policies;
    int clients;
    uint64_t runs;
    Electorate *electorate;
    PGconn **connections; /* one a client */
    PeerCluster cluster;
} Peer;

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

/* ---- Loading ----------------------------------------------------------------------------------------------- */

/* The version of a voter's first save: any, but the same each time it is asked for. */
static void first_version(uint64_t voter, unsigned char version[ELECTORATE_VERSION])
{
    BenchRandom random = bench_random(voter ^ 0x5eed);
    for (int i = 0; i < ELECTORATE_VERSION; i += 8) {
        uint64_t part = bench_random_u64(&random);
        memcpy(version + i, &part, sizeof part);
    }
}

static void write_hex(const unsigned char *bytes, size_t size, Buffer *out)
{
    for (size_t i = 0; i < size; i++)
        buffer_print(out, "%02x", bytes[i]);
}

static void account_rows(void *context, uint64_t voter, Buffer *out)
{
    const int64_t *start_us = context;
    buffer_print(out, "%" PRIu64 "\t%" PRId64 "\t1\t0\n", voter, *start_us - YEARS_US);
}

static void policy_rows(void *context, uint64_t number, Buffer *out)
{
    (void)context;
    buffer_print(out, "%" PRIu64 "\t1\n", number + 1);
}

static void head_rows(void *context, uint64_t voter, Buffer *out)
{
    unsigned char version[ELECTORATE_VERSION];
    ElectorateSave first;
    Electorate *electorate = context;
    electorate_first(electorate, voter, &first);
    first_version(voter, version);
    electorate_saved(electorate, &first, version);
    buffer_print(out, "%" PRIu64 "\t1\t", voter);
    write_hex(version, sizeof version, out);
    buffer_print(out, "\t0\t%" PRId64 "\t0\t1\n", first.held[0] + first.held[1] + first.held[2]);
}

static void line_rows(void *context, uint64_t voter, Buffer *out)
{
    ElectorateSave first;
    electorate_first(context, voter, &first);
    for (int i = 0; i < ELECTORATE_LINES; i++)
        buffer_print(out, "%" PRIu64 "\t%" PRIu64 "\t%" PRId64 "\t0\t1\n", voter, first.policies[i],
                     first.held[i]);
}

static void log_rows(void *context, uint64_t voter, Buffer *out)
{
    unsigned char version[ELECTORATE_VERSION], changes[ELECTORATE_LINES * CHANGE_BYTES] = {0};
    (void)context;
    first_version(voter, version);
    buffer_print(out, "%" PRIu64 "\t1\t", voter);
    write_hex(version, sizeof version, out);
    buffer_text(out, "\t\\N\t0\t0\t\\\\x");
    write_hex(changes, sizeof changes, out);
    buffer_text(out, "\n");
}

static void preload(void *context, int64_t unused)
{
    (void)unused;
    Peer *peer = context;
    PGconn *control = peer->cluster.control;
    int64_t began = bench_now_ns(), start_us = now_us();
    peer_execute(control, "BEGIN");
    peer_execute_file(control, peer->schema);
    peer_copy(control, "COPY account FROM STDIN", peer->voters,
              (PeerRows){account_rows, &start_us});
    peer_copy(control, "COPY policy FROM STDIN", peer->policies, (PeerRows){policy_rows, NULL});
    peer_copy(control, "COPY head FROM STDIN", peer->voters,
              (PeerRows){head_rows, peer->electorate});
    peer_copy(control, "COPY line FROM STDIN", peer->voters,
              (PeerRows){line_rows, peer->electorate});
    peer_copy(control, "COPY log FROM STDIN", peer->voters, (PeerRows){log_rows, NULL});
    peer_execute(control, "ALTER TABLE account ADD PRIMARY KEY (voter);"
                          "ALTER TABLE policy ADD PRIMARY KEY (policy);"
                          "ALTER TABLE head ADD PRIMARY KEY (voter);"
                          "ALTER TABLE line ADD PRIMARY KEY (voter, policy);"
                          "ALTER TABLE log ADD PRIMARY KEY (voter, seq);"
                          "INSERT INTO total SELECT policy, voter % 16, sum(held) FROM line"
                          " GROUP BY 1, 2;"
                          "INSERT INTO day_change SELECT policy, part, extract(epoch FROM now())"
                          "::bigint / 86400, total FROM total;"
                          "ALTER TABLE total ADD PRIMARY KEY (policy, part);"
                          "ALTER TABLE day_change ADD PRIMARY KEY (policy, part, day);"
                          "COMMIT");
    peer_execute(control, "VACUUM (FREEZE, ANALYZE)");
    /* Everything in memory from the start, as after days of running. */
    peer_execute(control, "CREATE EXTENSION pg_prewarm");
    peer_execute(control, "SELECT sum(pg_prewarm(oid::regclass)) FROM pg_class"
                          " WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')");
    peer_execute(control, "CHECKPOINT");
    printf("{\"seconds\": %.3f}\n", (double)(bench_now_ns() - began) / 1e9);
}

/* ---- Saving ------------------------------------------------------------------------------------------------ */

typedef struct Saver {
    Peer *peer;
    int client;
    BenchRandom random;
} Saver;

static void *saver_begin(void *context, int client)
{
    Peer *peer = context;
    Saver *saver = calloc(1, sizeof *saver);
    CHECK(saver != NULL);
    *saver = (Saver){peer, client, bench_random(peer->runs * 1000 + (uint64_t)client)};
    return saver;
}

static uint64_t saver_step(void *state)
{
    Saver *saver = state;
    Peer *peer = saver->peer;
    PGconn *connection = peer->connections[saver->client];
    ElectorateSave save;
    electorate_choose(peer->electorate, &saver->random, saver->client, peer->clients, &save);
    uint64_t version[2] = {bench_random_u64(&saver->random), bench_random_u64(&saver->random)};
    bool two = save.count > 1;
    const uint64_t numbers[] = {save.voter,
                                save.policies[0],
                                (uint64_t)save.held[0],
                                two ? save.policies[1] : 0,
                                two ? (uint64_t)save.held[1] : 0,
                                (uint64_t)now_us()};
    char wire[sizeof numbers], changes[ELECTORATE_LINES * CHANGE_BYTES] = {0};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        bytes_put_u64(wire + 8 * i, numbers[i]);
    const char *values[PARAMETERS] = {wire,      (char *)save.seen, wire + 8,  wire + 16, wire + 24,
                                      wire + 32, (char *)version,   wire + 40, changes};
    const int lengths[PARAMETERS] = {8, 16, 8, 8, 8, 8, 16, 8, save.count * CHANGE_BYTES};
    const int formats[PARAMETERS] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    PGresult *result = PQexecPrepared(connection, "save", PARAMETERS, values, lengths, formats, 1);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        bench_fail("PostgreSQL: %s", PQerrorMessage(connection));
    if (PQgetvalue(result, 0, 0)[3] != 1) /* a 4-byte integer, big-endian */
        bench_fail("PostgreSQL refused a save of voter %" PRIu64, save.voter);
    PQclear(result);
    electorate_saved(peer->electorate, &save, (unsigned char *)version);
    return 1;
}

static void saves(void *context, int64_t duration_ms)
{
    Peer *peer = context;
    for (int i = 0; i < peer->clients; i++)
        if (peer->connections[i] == NULL)
            peer->connections[i] = peer_connect_prepared(
                peer->conninfo, "SELECT save($1, $2, $3, $4, $5, $6, $7, $8, $9)", PARAMETERS);
    peer->runs++;
    BenchLoad load = {.clients = peer->clients,
                      .duration_ms = duration_ms,
                      .context = peer,
                      .begin = saver_begin,
                      .step = saver_step,
                      .end = free,
                      .server_usage = peer_usage,
                      .server = &peer->cluster};
    BenchResult result;
    bench_run(&load, &result);
    bench_print(&result);
}

/* Every save raised one head by one, and totals are what voters hold: the peer did the whole work. */
static void check(void *context, int64_t unused)
{
    (void)unused;
    Peer *peer = context;
    int64_t raised = peer_number(peer->cluster.control, "SELECT sum(seq) FROM head");
    int64_t totals = peer_number(peer->cluster.control, "SELECT sum(total) FROM total");
    int64_t changes = peer_number(peer->cluster.control, "SELECT sum(change) FROM day_change");
    if (totals != changes)
        bench_fail("PostgreSQL's totals are %" PRId64 ", its changes %" PRId64, totals, changes);
    printf("{\"seq\": %" PRId64 ", \"totals\": %" PRId64 ", \"held\": %" PRId64 "}\n", raised,
           totals, electorate_held(peer->electorate));
}

static const BenchCommand COMMANDS[] = {
    {"preload", preload}, {"saves", saves}, {"check", check}, {NULL, NULL}};

int main(int count, char **words)
{
    if (count != 7)
        bench_fail("usage: bench_ledger_peer CONNINFO POSTMASTER_PID SCHEMA_FILE VOTERS POLICIES "
                   "CLIENTS");
    Peer peer = {.conninfo = words[1],
                 .schema = words[3],
                 .voters = strtoull(words[4], NULL, 10),
                 .policies = strtoull(words[5], NULL, 10),
                 .clients = (int)strtol(words[6], NULL, 10)};
    peer.cluster = (PeerCluster){words[2], peer_connect(peer.conninfo)};
    peer.electorate = electorate_new(peer.voters, peer.policies);
    peer.connections = calloc((size_t)peer.clients, sizeof *peer.connections);
    CHECK(peer.connections != NULL);
    bench_obey(COMMANDS, &peer);
    for (int i = 0; i < peer.clients; i++)
        PQfinish(peer.connections[i]);
    free(peer.connections);
    electorate_free(peer.electorate);
    PQfinish(peer.cluster.control);
    return 0;
}
