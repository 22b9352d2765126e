/* postgresql_main.c -- the peer: the same saves in PostgreSQL, by libpq, a connection a client.
 *
 *     bench_postgresql CONNINFO POSTMASTER_PID SCHEMA_FILE VOTERS CLIENTS
 * Commands: `preload` makes and fills the tables, `saves MS` runs saves, `check` counts what is there. A save is one
 * prepared statement that calls the function in postgresql.sql, with binary parameters; the statement is its own transaction. */
#include <dirent.h>
#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ballot.h"
#include "base/bytes.h"

typedef struct Peer {
    const char *conninfo;
    const char *postmaster;
    const char *schema;
    uint64_t voters;
    int clients;
    uint64_t runs;
    PGconn **connections; /* one a client, made with the first saves and kept */
    PGconn *control;
} Peer;

static PGconn *connect_or_fail(const char *conninfo)
{
    PGconn *connection = PQconnectdb(conninfo);
    if (PQstatus(connection) != CONNECTION_OK)
        bench_fail("PostgreSQL: %s", PQerrorMessage(connection));
    return connection;
}

static void execute(PGconn *connection, const char *sql)
{
    PGresult *result = PQexec(connection, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_COPY_IN)
        bench_fail("PostgreSQL: %s", PQerrorMessage(connection));
    PQclear(result);
}

static int64_t number_of(PGconn *connection, const char *sql)
{
    PGresult *result = PQexec(connection, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1)
        bench_fail("PostgreSQL: %s", PQerrorMessage(connection));
    int64_t number = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return number;
}

/* ---- What the cluster costs -------------------------------------------------------------------------------- */

/* Adds the times of a process; with those of its ended children, so that the short-lived are not lost. */
static int64_t stat_cpu_us(const char *pid, const char *postmaster)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return -1;
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    const char *after_name = strrchr(text, ')');
    int parent = 0;
    int64_t user = 0, system = 0, children_user = 0, children_system = 0;
    if (after_name == NULL ||
        sscanf(after_name + 2,
               "%*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNd64 " %" SCNd64 " %" SCNd64
               " %" SCNd64,
               &parent, &user, &system, &children_user, &children_system) != 5)
        return -1;
    if (strcmp(pid, postmaster) != 0 && parent != (int)strtol(postmaster, NULL, 10))
        return -1;
    return (user + system + children_user + children_system) * 1000000 / sysconf(_SC_CLK_TCK);
}

/* The server publishes its counters within a second after a transaction; the caller waits for that. */
static void cluster_usage(void *server, BenchUsage *ret_usage)
{
    Peer *peer = server;
    BenchUsage usage = {0};
    DIR *directory = opendir("/proc");
    CHECK(directory != NULL);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        int64_t cpu_us = stat_cpu_us(entry->d_name, peer->postmaster);
        if (cpu_us < 0)
            continue;
        usage.cpu_us += cpu_us;
        usage.written_bytes += bench_written_bytes(entry->d_name);
    }
    closedir(directory);
    usleep(1500 * 1000);
    usage.syncs = number_of(peer->control, "SELECT wal_sync FROM pg_stat_wal");
    *ret_usage = usage;
}

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

static void copy(Peer *peer, const char *sql, void (*rows)(const BallotSave *, Buffer *))
{
    BUFFER_SCOPE Buffer out = {0};
    execute(peer->control, sql);
    for (uint64_t voter = 0; voter < peer->voters; voter++) {
        BallotSave first;
        ballot_first(voter, &first);
        rows(&first, &out);
        if (out.size < 64 * 1024 && voter + 1 < peer->voters)
            continue;
        if (PQputCopyData(peer->control, out.data, (int)out.size) != 1)
            bench_fail("PostgreSQL: %s", PQerrorMessage(peer->control));
        buffer_clear(&out);
    }
    if (PQputCopyEnd(peer->control, NULL) != 1)
        bench_fail("PostgreSQL: %s", PQerrorMessage(peer->control));
    for (PGresult *result; (result = PQgetResult(peer->control)) != NULL; PQclear(result))
        if (PQresultStatus(result) != PGRES_COMMAND_OK)
            bench_fail("PostgreSQL: %s", PQerrorMessage(peer->control));
}

static void read_schema(const char *path, Buffer *out)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        bench_fail("cannot read %s", path);
    buffer_reserve(out, 64 * 1024);
    out->size = fread(out->data, 1, 64 * 1024 - 1, file);
    fclose(file);
    buffer_u8(out, 0);
}

static void preload(void *context, int64_t unused)
{
    (void)unused;
    Peer *peer = context;
    BUFFER_SCOPE Buffer schema = {0};
    read_schema(peer->schema, &schema);
    int64_t began = bench_now_ns();
    execute(peer->control, "BEGIN");
    execute(peer->control, schema.data);
    copy(peer, "COPY head FROM STDIN", head_rows);
    copy(peer, "COPY line FROM STDIN", line_rows);
    copy(peer, "COPY log FROM STDIN", log_rows);
    execute(peer->control, "ALTER TABLE head ADD PRIMARY KEY (voter)");
    execute(peer->control, "ALTER TABLE line ADD PRIMARY KEY (voter, policy)");
    execute(peer->control, "ALTER TABLE log ADD PRIMARY KEY (voter, seq)");
    execute(peer->control, "COMMIT");
    execute(peer->control, "VACUUM (FREEZE, ANALYZE)");
    /* Everything in memory from the start, as after days of running. */
    execute(peer->control, "CREATE EXTENSION pg_prewarm");
    execute(peer->control, "SELECT sum(pg_prewarm(oid::regclass)) FROM pg_class"
                           " WHERE relname IN ('head', 'line', 'log', 'head_pkey', 'line_pkey',"
                           " 'log_pkey')");
    execute(peer->control, "CHECKPOINT");
    printf("{\"seconds\": %.3f}\n", (double)(bench_now_ns() - began) / 1e9);
}

/* ---- Saving ------------------------------------------------------------------------------------------------ */

static PGconn *prepared_connection(const char *conninfo)
{
    PGconn *connection = connect_or_fail(conninfo);
    PGresult *result =
        PQprepare(connection, "save", "SELECT save($1, $2, $3, $4, $5, $6, $7, $8)", 8, NULL);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        bench_fail("PostgreSQL: %s", PQerrorMessage(connection));
    PQclear(result);
    return connection;
}

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
            peer->connections[i] = prepared_connection(peer->conninfo);
    }
    peer->runs++;
    BenchLoad load = {.clients = peer->clients,
                      .duration_ms = duration_ms,
                      .context = peer,
                      .begin = saver_begin,
                      .step = saver_step,
                      .end = free,
                      .server_usage = cluster_usage,
                      .server = peer};
    BenchResult result;
    bench_run(&load, &result);
    bench_print(&result);
}

/* Every save left one log entry and raised one head by one: the peer did the whole work. */
static void check(void *context, int64_t unused)
{
    (void)unused;
    Peer *peer = context;
    int64_t entries = number_of(peer->control, "SELECT count(*) FROM log");
    int64_t raised = number_of(peer->control, "SELECT sum(seq) FROM head");
    printf("{\"entries\": %" PRId64 ", \"seq\": %" PRId64 "}\n", entries, raised);
}

static const BenchCommand COMMANDS[] = {
    {"preload", preload}, {"saves", saves}, {"check", check}, {NULL, NULL}};

int main(int count, char **words)
{
    if (count != 6)
        bench_fail("usage: bench_postgresql CONNINFO POSTMASTER_PID SCHEMA_FILE VOTERS CLIENTS");
    Peer peer = {.conninfo = words[1],
                 .postmaster = words[2],
                 .schema = words[3],
                 .voters = strtoull(words[4], NULL, 10),
                 .clients = (int)strtol(words[5], NULL, 10)};
    peer.control = connect_or_fail(peer.conninfo);
    bench_obey(COMMANDS, &peer);
    for (int i = 0; peer.connections != NULL && i < peer.clients; i++)
        PQfinish(peer.connections[i]);
    free(peer.connections);
    PQfinish(peer.control);
    return 0;
}
