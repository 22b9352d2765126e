/* postgresql_main.c -- the peer: the same saves in PostgreSQL, by libpq, a connection a client.
 *
 *     bench_postgresql CONNINFO POSTMASTER_PID SCHEMA_FILE VOTERS CLIENTS
 * Commands: `preload` makes and fills the tables, `saves MS` runs saves, `check` counts what is there. A save is one
 * prepared statement that calls the function in postgresql.sql, with binary parameters; the statement is its own transaction. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ballot.h"
#include "peer.h"

typedef struct Peer {
    const char *conninfo;
    const char *schema;
    uint64_t voters;
    int clients;
    uint64_t runs;
    PGconn **connections; /* one a client, made with the first saves and kept */
    PeerCluster cluster;
} Peer;

/* ---- Loading ----------------------------------------------------------------------------------------------- */

static void version_text(const BallotSave *save, char to[33])
{
    snprintf(to, 33, "%016" PRIx64 "%016" PRIx64, save->version[0], save->version[1]);
}

static void head_rows(const BallotSave *first, Buffer *out)
{
    char version[33];
    version_text(first, version);
    buffer_print(out, "%" PRIu64 "\t1\t%s\t%" PRId64 "\t%d\n", first->voter, version,
                 first->time_us, BALLOT_LINES);
}

static void line_rows(const BallotSave *first, Buffer *out)
{
    for (int line = 0; line < BALLOT_LINES; line++)
        buffer_print(out, "%" PRIu64 "\t%" PRIu64 "\t1\t0\t1\n", first->voter,
                     ballot_policy(first->voter, line));
}

static void log_rows(const BallotSave *first, Buffer *out)
{
    buffer_print(out, "%" PRIu64 "\t1\t\\\\x", first->voter);
    for (size_t i = 0; i < BALLOT_ENTRY_BYTES; i++)
        buffer_print(out, "%02x", (unsigned char)first->entry[i]);
    buffer_text(out, "\n");
}

typedef void BallotRows(const BallotSave *first, Buffer *out);

static void write_rows(void *context, uint64_t voter, Buffer *out)
{
    BallotRows *const *rows = context;
    BallotSave first;
    ballot_first(voter, &first);
    (*rows)(&first, out);
}

static void copy(Peer *peer, const char *sql, BallotRows *rows)
{
    peer_copy(peer->cluster.control, sql, peer->voters, (PeerRows){write_rows, &rows});
}

static void preload(void *context, int64_t unused)
{
    (void)unused;
    Peer *peer = context;
    PGconn *control = peer->cluster.control;
    int64_t began = bench_now_ns();
    peer_execute(control, "BEGIN");
    peer_execute_file(control, peer->schema);
    copy(peer, "COPY head FROM STDIN", head_rows);
    copy(peer, "COPY line FROM STDIN", line_rows);
    copy(peer, "COPY log FROM STDIN", log_rows);
    peer_execute(control, "ALTER TABLE head ADD PRIMARY KEY (voter)");
    peer_execute(control, "ALTER TABLE line ADD PRIMARY KEY (voter, policy)");
    peer_execute(control, "ALTER TABLE log ADD PRIMARY KEY (voter, seq)");
    peer_execute(control, "COMMIT");
    peer_execute(control, "VACUUM (FREEZE, ANALYZE)");
    /* Everything in memory from the start, as after days of running. */
    peer_execute(control, "CREATE EXTENSION pg_prewarm");
    peer_execute(control, "SELECT sum(pg_prewarm(oid::regclass)) FROM pg_class"
                          " WHERE relname IN ('head', 'line', 'log', 'head_pkey', 'line_pkey',"
                          " 'log_pkey')");
    peer_execute(control, "CHECKPOINT");
    printf("{\"seconds\": %.3f}\n", (double)(bench_now_ns() - began) / 1e9);
}

/* ---- Saving ------------------------------------------------------------------------------------------------ */

typedef struct Saver {
    PGconn *connection;
    uint64_t voters;
    BenchRandom random;
} Saver;

static void *saver_begin(void *context, int client)
{
    Peer *peer = context;
    Saver *saver = calloc(1, sizeof *saver);
    CHECK(saver != NULL);
    saver->connection = peer->connections[client];
    saver->voters = peer->voters;
    saver->random = bench_random(peer->runs * 1000 + (uint64_t)client);
    return saver;
}

static uint64_t saver_step(void *state)
{
    Saver *saver = state;
    BallotSave save;
    ballot_choose(&saver->random, saver->voters, &save);
    uint64_t numbers[] = {save.voter,      ballot_policy(save.voter, save.lines[0]),
                          save.held[0],    ballot_policy(save.voter, save.lines[1]),
                          save.held[1],    save.version[0],
                          save.version[1], (uint64_t)save.time_us};
    char wire[sizeof numbers];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        bytes_put_u64(wire + 8 * i, numbers[i]);
    const char *values[] = {wire,      wire + 8,  wire + 16, wire + 24,
                            wire + 32, wire + 40, wire + 56, save.entry};
    const int lengths[] = {8, 8, 8, 8, 8, 16, 8, BALLOT_ENTRY_BYTES};
    const int formats[] = {1, 1, 1, 1, 1, 1, 1, 1};
    PGresult *result = PQexecPrepared(saver->connection, "save", 8, values, lengths, formats, 1);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        bench_fail("PostgreSQL: %s", PQerrorMessage(saver->connection));
    uint64_t saved = (uint64_t)PQgetvalue(result, 0, 0)[3]; /* a 4-byte integer, big-endian */
    PQclear(result);
    return saved;
}

static void saves(void *context, int64_t duration_ms)
{
    Peer *peer = context;
    if (peer->connections == NULL) {
        peer->connections = calloc((size_t)peer->clients, sizeof *peer->connections);
        CHECK(peer->connections != NULL);
        for (int i = 0; i < peer->clients; i++)
            peer->connections[i] = peer_connect_prepared(
                peer->conninfo, "SELECT save($1, $2, $3, $4, $5, $6, $7, $8)", 8);
    }
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

/* Every save left one log entry and raised one head by one: the peer did the whole work. */
static void check(void *context, int64_t unused)
{
    (void)unused;
    Peer *peer = context;
    int64_t entries = peer_number(peer->cluster.control, "SELECT count(*) FROM log");
    int64_t raised = peer_number(peer->cluster.control, "SELECT sum(seq) FROM head");
    printf("{\"entries\": %" PRId64 ", \"seq\": %" PRId64 "}\n", entries, raised);
}

static const BenchCommand COMMANDS[] = {
    {"preload", preload}, {"saves", saves}, {"check", check}, {NULL, NULL}};

int main(int count, char **words)
{
    if (count != 6)
        bench_fail("usage: bench_postgresql CONNINFO POSTMASTER_PID SCHEMA_FILE VOTERS CLIENTS");
    Peer peer = {.conninfo = words[1],
                 .schema = words[3],
                 .voters = strtoull(words[4], NULL, 10),
                 .clients = (int)strtol(words[5], NULL, 10)};
    peer.cluster = (PeerCluster){words[2], peer_connect(peer.conninfo)};
    bench_obey(COMMANDS, &peer);
    for (int i = 0; peer.connections != NULL && i < peer.clients; i++)
        PQfinish(peer.connections[i]);
    free(peer.connections);
    PQfinish(peer.cluster.control);
    return 0;
}
