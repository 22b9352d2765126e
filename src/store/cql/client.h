/* client.h -- a small client for Apache Cassandra: native protocol v4, one thread that has all sockets.
 *
 * It knows nothing of our tables: statements and values go in, rows and a status come out. What it promises:
 *   1. A write is sent once. Only what surely was not executed is sent again: a statement that the node says it does not
 *      know (0x2500, prepared anew first), a plain write that the node refused for too few replicas (0x1000), and whatever never left
 *      this machine. Reads are repeated on the next node. When no node can do it, all are tried again, after pauses, for nine tenths of the
 *      call's time: one that restarts is better in a moment. (A call for a certain node: for a quarter of it.)
 *   2. Every call ends: with an answer, or at its deadline. What a node was given and did not answer is UNKNOWN for a write.
 *      A node that is silent for `silence_ms` while it owes answers gets nothing new until it speaks again, and what it owes is given
 *      up: reads go to the next node, writes are UNKNOWN at once, since waiting would teach nothing.
 *   3. A call goes to a node that holds the row (its routing key), if one is up: conditional ones always to the first of them, so that
 *      writers of one row meet at one node; others in turn.
 *   4. Nodes that go, come, restart or move are followed: by events on a control connection, by the connections themselves, by
 *      trying again after pauses that grow and are spread at random. No restart of the process is ever needed.
 * Statuses of an answer, by what the call is (docs/cassandra.md has the table):
 *   reads: OK; UNAVAILABLE (no node could answer in time).
 *   plain writes: OK; UNAVAILABLE (surely not done: error 0x1000, or nothing was sent); UNKNOWN (everything else).
 *   conditional writes: OK (look at [applied] in the rows); UNAVAILABLE (nothing was sent); UNKNOWN (every error but 0x2xxx).
 *   all: INVALID (0x2000 syntax, 0x2200 invalid, 0x2400 exists already: a bug, or a schema that does not fit), DENIED (0x2100), LOGIN
 *   (0x0100), TOO_LARGE (a read whose answer is over CQL_ANSWER_MAX: ask for fewer rows; or a request over 15 MiB, which was not sent), CORRUPT
 *   (an answer that breaks the protocol to a read; to a write it is UNKNOWN).
 * Calls may come from any thread; what they return lives in the arena that was passed. */
#pragma once

#include "base/world.h"

enum {
    CQL_PORT = 9042,
    CQL_ANSWER_MAX = 64 * 1024 * 1024, /* one answer; longer ones are skipped, not kept */
    CQL_HOSTS_MAX = 256,
    CQL_WORDS = 200,
    /* Where options say 0: */
    CQL_REQUEST_MS = 10000,
    CQL_CONNECT_MS = 5000,
    CQL_SILENCE_MS = 1000,
    CQL_IN_FLIGHT = 1024,
};

typedef struct CqlClient CqlClient;

/* ---- Opening ---------------------------------------------------------------------------------------------- */

typedef struct CqlContact {
    const char *host; /* a name or an address */
    uint16_t port;
} CqlContact;

typedef struct CqlTls {
    bool on;               /* from the first byte, and the name of the host is checked */
    const char *ca_file;   /* NULL: those of the system */
    const char *cert_file; /* NULL: none of our own */
    const char *key_file;
} CqlTls;

/* Texts need to live during cql_open only. */
typedef struct CqlOptions {
    const CqlContact *contacts; /* at least one; the others of the cluster are found by it */
    size_t contact_count;
    const char *user, *password; /* NULL: no log-in */
    const char *keyspace;        /* whose replication says where rows are; it may not exist yet */
    CqlTls tls;
    int64_t request_ms; /* for a call, with all its attempts */
    int64_t connect_ms; /* for a connection with its log-in */
    int64_t silence_ms; /* see promise 2 */
    size_t connections; /* to each node */
    size_t in_flight;   /* on each connection, at most 32,000; more calls wait their turn */
    World world;
} CqlOptions;

/* OK: a control connection stands and the ring is known. UNAVAILABLE: no contact could be reached (the reason names the last and
 * why); LOGIN: wrong user or password; INVALID: it does not speak protocol v4, or the certificate is wrong. */
MUST_USE Status cql_open(const CqlOptions *options, CqlClient **ret_client, Reason *reason);
/* Calls that run are answered first, at their deadline at the latest. NULL is fine. */
void cql_close(CqlClient *client);

/* ---- Statements ------------------------------------------------------------------------------------------- */

/* Lives as long as the client. It is prepared on a node when it is first sent there. Values are bound by position. */
typedef struct CqlStatement CqlStatement;
const CqlStatement *cql_statement(CqlClient *client, const char *text);

typedef enum CqlValueKind { CQL_BYTES, CQL_NULL, CQL_UNSET } CqlValueKind;

typedef struct CqlValue {
    CqlValueKind kind;
    Slice bytes; /* as the type has it: blob as it is, int 4 bytes, bigint 8 bytes, text UTF-8 */
} CqlValue;

static inline CqlValue cql_bytes(Slice bytes)
{
    return (CqlValue){CQL_BYTES, bytes};
}

/* ---- Calls ------------------------------------------------------------------------------------------------ */

/* As on the wire. */
typedef enum CqlConsistency {
    CQL_ONE = 1,
    CQL_QUORUM = 4,
    CQL_ALL = 5,
    CQL_LOCAL_QUORUM = 6,
    CQL_SERIAL = 8,
    CQL_LOCAL_SERIAL = 9,
} CqlConsistency;

typedef enum CqlKind { CQL_READ, CQL_WRITE, CQL_CONDITIONAL } CqlKind;

typedef struct CqlPart {
    const CqlStatement *statement;
    const CqlValue *values;
    size_t count;
} CqlPart;

/* One part is sent as it is; several are one unlogged batch, and all of one partition (or 0x1000 would not mean that none of them was
 * done). Without parts `text` is sent unprepared, without values: for the schema and for questions about the cluster.
 * A change of the schema is known to the node that made it first: send what builds on it to the same node (`only`), or wait until
 * schema_version of system.local and system.peers agree. */
typedef struct CqlCall {
    CqlKind kind;
    const CqlPart *parts;
    size_t part_count;
    const char *text;
    Slice routing_key; /* the partition key as bytes; empty: any node */
    const char *only;  /* the address of a CqlHost: there or nowhere; NULL: any */
    CqlConsistency consistency;
    int32_t page_size;  /* reads: 0 for all */
    int64_t request_ms; /* 0: the client's */
} CqlCall;

/* The rows of an answer. */
typedef struct CqlRows {
    const char *const *names; /* of the columns */
    size_t columns;
    const CqlValue *values; /* count × columns, row by row; CQL_BYTES or CQL_NULL */
    size_t count;
    bool more; /* the node has more than page_size */
} CqlRows;

typedef struct CqlAnswer {
    Status status;
    int32_t error;         /* the node's code, or 0 */
    char words[CQL_WORDS]; /* what went wrong, for a person */
    CqlRows rows;          /* of OK */
} CqlAnswer;

/* All at the same time; returns when each has its answer. An answer for each call. */
void cql_run(CqlClient *client, const CqlCall *calls, size_t count, Arena *arena,
             CqlAnswer *ret_answers);

/* The index of a column, or -1. */
int cql_column(const CqlRows *rows, const char *name);

/* ---- The cluster ------------------------------------------------------------------------------------------ */

typedef struct CqlHost {
    const char *address; /* "127.0.0.1"; with ":port" if that is not the first contact's */
    const char *version; /* "5.0.8" */
    const char *data_center, *rack;
    bool up; /* we have a connection */
} CqlHost;

/* Those that the ring lists now. */
size_t cql_hosts(CqlClient *client, Arena *arena, const CqlHost **ret_hosts);

/* Counters and gauges, as store_metrics has them, named cassandra_…: requests, repeated ones, unknown outcomes, connections, hosts up,
 * statements prepared, calls in flight. */
typedef void CqlMetricVisit(void *context, const char *name, const char *help, bool counter,
                            double value);
void cql_metrics(CqlClient *client, CqlMetricVisit *visit, void *context);
