/* cassandra.h -- the engine for more than one machine: tables in a keyspace of Apache Cassandra 4.1 or later.
 *
 * Several processes work on one keyspace at the same time; what they promise each other is the contract of store.h, nothing else. How the
 * contract is kept:
 *   1. A table is `(row blob, col blob, val blob, primary key (row, col))`. A put is an UPDATE with the caller's timestamp, a
 *      delete deletes the row of that column, so that ties go as store.h says.
 *   2. A batch becomes one mutation a row, which replicas apply whole; all of them overlap. Writes and reads go to a quorum, so a read
 *      sees every write that was acknowledged. `lazy` means nothing here: all writes are durable when they are acknowledged, as far as the
 *      cluster's commit log is (commitlog_sync; docs/cassandra.md).
 *   3. A conditional update is one conditional batch in one row (Paxos v2), a serial read one with consistency SERIAL. Marks go first, by
 *      a write of their own: a crash in between leaves marks without an update, which store.h allows.
 *   4. Statuses are those of store/cql/client.h. A batch over several rows is UNAVAILABLE only when no row of it can have been
 *      written. Of a call with very many parts, the rest is not sent once a whole portion failed.
 *   5. A plain write whose end is unknown, or that no node could take, is sent again until it is done or the time is over: it
 *      carries its timestamp, so that a second one changes nothing (store.h, 1). So do reads. A conditional update is sent once;
 *      store_update knows how to go on. Every call ends before request_ms.
 *   6. Nodes come and go without a restart. While fewer than a quorum of copies are reachable store_health says so.
 * The clock that counts for expiry is that of the cluster's nodes, not ours.
 *
 * At open the cluster is looked at, and what would break a promise is refused with a sentence that says what to do: a keyspace or tables that are
 * missing, older or newer than this program; gc_grace_seconds shorter than our grace; Paxos v1; Cassandra before 4.1; a node that acknowledges
 * writes before they are on its disk, unless that is asked for (`periodic`); a clock of a node that is more than CASSANDRA_CLOCK_MOST_S apart. What only makes it weaker is said (`say`): one copy only, a clock that is
 * CASSANDRA_CLOCK_SAID_S apart, a node that cannot be asked. */
#pragma once

#include "store/cassandra/address.h"
#include "store/store.h"

enum {
    CASSANDRA_SCHEMA = 1, /* the version that `init` writes and open wants */
    CASSANDRA_CLOCK_SAID_S = 1,
    CASSANDRA_CLOCK_MOST_S = 30,
    CASSANDRA_COPIES_MAX = 9,
};

/* A sentence for the operator. Called while opening only. */
typedef struct CassandraSay {
    void (*say)(void *self, const char *sentence);
    void *self;
} CassandraSay;

/* Texts need to live during the call only. */
typedef struct CassandraOptions {
    CassandraAddress address;
    const char *user, *password; /* NULL or empty: no log-in; address.user comes first */
    bool tls;
    const char *ca_file, *cert_file, *key_file; /* NULL or empty: those of the system; none */
    int64_t request_ms;                         /* for a call; a bulk of calls may take several */
    size_t connections;                         /* to each node */
    int64_t grace_s;
    bool
        periodic; /* nodes may acknowledge a write before it is on their disk (commitlog_sync: periodic) */
    World world;
    TableSet tables;
    CassandraSay say;
} CassandraOptions;

/* Statuses: OK; NOT_FOUND (no such keyspace, or not made by `init`); INVALID (what is there does not fit, a certificate is
 * wrong); REFUSED (the cluster's settings); LOGIN (user or password); UNAVAILABLE (nobody answers). */
MUST_USE Status store_cassandra_open(const CassandraOptions *options, Store **ret_store,
                                     Reason *reason);

/* Makes the keyspace with `copies` of each row in every data centre, and the tables; writes the schema's version last, so that a keyspace that
 * was not finished is not taken for one. What is there already stays, with our settings for its tables; running it again finishes what was
 * cut off. INVALID: a newer schema, tables with other columns, fewer nodes than copies. */
MUST_USE Status store_cassandra_init(const CassandraOptions *options, int copies, Reason *reason);

/* What `cluster check` shows, of an open store. */
typedef struct CassandraNode {
    const char *address, *version, *data_center;
    bool reachable;
} CassandraNode;

size_t store_cassandra_nodes(Store *store, Arena *arena, const CassandraNode **ret_nodes);
/* Copies of each row, over all data centres. */
int store_cassandra_copies(Store *store);
