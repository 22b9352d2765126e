/* peer.c -- see peer.h. */
#include "peer.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

PGconn *peer_connect(const char *conninfo)
{
    PGconn *connection = PQconnectdb(conninfo);
    if (PQstatus(connection) != CONNECTION_OK)
        bench_fail("PostgreSQL: %s", PQerrorMessage(connection));
    return connection;
}

void peer_execute(PGconn *connection, const char *sql)
{
    PGresult *result = PQexec(connection, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_COPY_IN)
        bench_fail("PostgreSQL: %s", PQerrorMessage(connection));
    PQclear(result);
}

int64_t peer_number(PGconn *connection, const char *sql)
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
void peer_usage(void *server, BenchUsage *ret_usage)
{
    const PeerCluster *peer = server;
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
    usage.syncs = peer_number(peer->control, "SELECT wal_sync FROM pg_stat_wal");
    *ret_usage = usage;
}

void peer_execute_file(PGconn *connection, const char *path)
{
    BUFFER_SCOPE Buffer sql = {0};
    FILE *file = fopen(path, "r");
    if (file == NULL)
        bench_fail("cannot read %s", path);
    buffer_reserve(&sql, 64 * 1024);
    sql.size = fread(sql.data, 1, 64 * 1024 - 1, file);
    fclose(file);
    buffer_u8(&sql, 0);
    peer_execute(connection, sql.data);
}

PGconn *peer_connect_prepared(const char *conninfo, const char *sql, int parameters)
{
    PGconn *connection = peer_connect(conninfo);
    PGresult *result = PQprepare(connection, "save", sql, parameters, NULL);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        bench_fail("PostgreSQL: %s", PQerrorMessage(connection));
    PQclear(result);
    return connection;
}

void peer_copy(PGconn *connection, const char *sql, uint64_t count, PeerRows rows)
{
    BUFFER_SCOPE Buffer out = {0};
    peer_execute(connection, sql);
    for (uint64_t i = 0; i < count; i++) {
        rows.write(rows.context, i, &out);
        if (out.size < 64 * 1024 && i + 1 < count)
            continue;
        if (PQputCopyData(connection, out.data, (int)out.size) != 1)
            bench_fail("PostgreSQL: %s", PQerrorMessage(connection));
        buffer_clear(&out);
    }
    if (PQputCopyEnd(connection, NULL) != 1)
        bench_fail("PostgreSQL: %s", PQerrorMessage(connection));
    for (PGresult *result; (result = PQgetResult(connection)) != NULL; PQclear(result))
        if (PQresultStatus(result) != PGRES_COMMAND_OK)
            bench_fail("PostgreSQL: %s", PQerrorMessage(connection));
}
