/* peer.h -- PostgreSQL as the peer of a benchmark, by libpq: what its programs share. Failures end the program. */
#pragma once

#include <libpq-fe.h>

#include "base/bytes.h"
#include "bench.h"

PGconn *peer_connect(const char *conninfo);
/* With one prepared statement, named `save`. */
PGconn *peer_connect_prepared(const char *conninfo, const char *sql, int parameters);
void peer_execute(PGconn *connection, const char *sql);
void peer_execute_file(PGconn *connection, const char *path);
/* The only number of the only row. */
int64_t peer_number(PGconn *connection, const char *sql);

/* Rows 0 … count - 1 of a COPY, as text. */
typedef struct PeerRows {
    void (*write)(void *context, uint64_t number, Buffer *out);
    void *context;
} PeerRows;
void peer_copy(PGconn *connection, const char *sql, uint64_t count, PeerRows rows);

/* For BenchLoad.server_usage: what all processes of the cluster cost. */
typedef struct PeerCluster {
    const char *postmaster; /* its process id */
    PGconn *control;
} PeerCluster;
void peer_usage(void *cluster, BenchUsage *ret_usage);
