/* server.h -- a node by script: it speaks enough of the protocol to be taken for Cassandra, and misbehaves when told to.
 *
 * Each server has an address of loopback (127.0.0.21 …) and all of a cluster share a port, as real nodes do. Its tables about the
 * cluster list the servers of the same ScriptedCluster. What it does with calls (EXECUTE, BATCH, and QUERY of other tables than its
 * own) is its Act; it counts what it was given, so that a test can tell that nothing was sent twice. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/cql/wire.h"

typedef enum Act {
    ACT_ANSWER, /* one row: host, the server's address */
    ACT_ERROR,  /* the code in `error` */
    ACT_FORGET, /* the statement is not known here: the next calls ask for it */
    ACT_KEEP,   /* takes it and never answers; other questions are answered */
    ACT_FREEZE, /* reads nothing and says nothing until the act changes; then answers what it was given */
    ACT_CLOSE,          /* takes it and closes */
    ACT_CLOSE_MIDWAY,   /* closes after half an answer */
    ACT_STRANGE_OPCODE, /* answers with an opcode that does not exist */
    ACT_STRANGE_STREAM, /* answers something that nobody asked */
    ACT_NONSENSE,       /* a RESULT that is none */
    ACT_LONG,           /* an answer of 65 MiB */
    ACT_ENDLESS,        /* a head that promises more than the protocol allows */
    ACT_WARN,           /* an answer with a warning before it */
} Act;

enum { SCRIPTED_CLUSTER_MAX = 4 };

typedef struct Server Server;

/* What the servers of a cluster share. */
typedef struct ScriptedCluster {
    uint16_t port;
    Server *servers[SCRIPTED_CLUSTER_MAX];
    _Atomic int listed;      /* how many of them the tables show; those from the front */
    const char *version;     /* "5.0.8" */
    bool old_tables;         /* no system.peers_v2 */
    bool speaks_v3;          /* and nothing newer */
    const char *login;       /* NULL, or the bytes of SASL PLAIN that are right, with '/' for NUL */
    _Atomic int piece;       /* bytes a write; 0: all at once */
    const char *first;       /* the address of the first server, or NULL */
    const char *certificate; /* file with certificate and key, or NULL */
} ScriptedCluster;

struct Server {
    ScriptedCluster *cluster;
    const char *address;
    int place;
    _Atomic int act, error;
    _Atomic bool ignorant;                           /* of all tables: it refuses to prepare */
    _Atomic int greeted, executed, prepared, probed; /* requests of a kind that came */
    _Atomic int connections;                         /* that are open */
    struct ServerInside *inside;
};

/* Servers 127.0.0.21, .22 …; the first picks a port. */
void scripted_cluster_start(ScriptedCluster *cluster, int servers);
void scripted_cluster_stop(ScriptedCluster *cluster);
/* One of them goes, with all its connections, and comes back at the same place. */
void server_stop(Server *server);
void server_start(Server *server);
/* Tells all who asked for events that the topology changed. */
void scripted_cluster_tell(ScriptedCluster *cluster);

/* ---- For server.c: bytes of answers ------------------------------------------------------------------------ */

void server_put_string(Buffer *out, const char *text);
void server_put_value(Buffer *out, Slice value);
/* RESULT rows with columns of blobs, up to where their number and the values follow. */
void server_put_columns(Buffer *out, const char *const *names, uint32_t count);
/* Whole results: system.local, system.peers_v2 or the older system.peers, and the replication of any keyspace. */
void server_put_local(Buffer *out, const Server *server);
void server_put_peers(Buffer *out, const Server *server, bool old);
void server_put_keyspace(Buffer *out);
