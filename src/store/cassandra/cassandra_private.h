/* cassandra_private.h -- the engine's inside, shared by its files:
 *   address.c     where the cluster is
 *   statements.c  the words of CQL, for each table
 *   reads.c       cells and slices
 *   scan.c        whole tables
 *   writes.c      plain batches
 *   write_retry.c       plain writes that are sent until they are done
 *   updates.c     conditional updates
 *   cluster_check.c        is the cluster fit for us
 *   init.c        making the keyspace
 *   engine.c      opening, closing, health */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "store/cassandra/cassandra.h"
#include "store/cql/client.h"
#include "store/engine.h"

/* %t is the table with its keyspace; %v the value, and where the table has timestamps of ours the timestamp. */
#define STATEMENT_LIST(X)                                                                  \
    X(READ, "SELECT %v FROM %t WHERE row = ? AND col = ?")                                 \
    X(FROM, "SELECT col, %v FROM %t WHERE row = ? AND col >= ? LIMIT ?")                   \
    X(FROM_TO, "SELECT col, %v FROM %t WHERE row = ? AND col >= ? AND col < ? LIMIT ?")    \
    X(AFTER, "SELECT col, %v FROM %t WHERE row = ? AND col > ? LIMIT ?")                   \
    X(AFTER_TO, "SELECT col, %v FROM %t WHERE row = ? AND col > ? AND col < ? LIMIT ?")    \
    X(BACK, "SELECT col, %v FROM %t WHERE row = ? AND col >= ? ORDER BY col DESC LIMIT ?") \
    X(BACK_TO, "SELECT col, %v FROM %t WHERE row = ? AND col >= ? AND col < ? "            \
               "ORDER BY col DESC LIMIT ?")                                                \
    X(SCAN, "SELECT row, col, %v FROM %t LIMIT ?")                                         \
    X(SCAN_AFTER, "SELECT row, col, %v FROM %t WHERE token(row) > token(?) LIMIT ?")       \
    X(SAME_TOKEN, "SELECT DISTINCT row FROM %t WHERE token(row) = token(?)")               \
    X(PUT, "UPDATE %t USING TIMESTAMP ? AND TTL ? SET val = ? WHERE row = ? AND col = ?")  \
    X(DELETE, "DELETE FROM %t USING TIMESTAMP ? WHERE row = ? AND col = ?")                \
    X(PUT_IF, "UPDATE %t USING TTL ? SET val = ? WHERE row = ? AND col = ? IF val = ?")    \
    X(DELETE_IF, "DELETE FROM %t WHERE row = ? AND col = ? IF val = ?")                    \
    X(PUT_ALSO, "UPDATE %t USING TTL ? SET val = ? WHERE row = ? AND col = ?")             \
    X(DELETE_ALSO, "DELETE FROM %t WHERE row = ? AND col = ?")

typedef enum StatementKind {
#define X(name, text) STATEMENT_##name,
    STATEMENT_LIST(X)
#undef X
        STATEMENT_COUNT
} StatementKind;

enum { GATE_COUNT = 256, CASSANDRA_PORTION = 512 };

typedef struct TableStatements {
    uint16_t number;
    const CqlStatement *statements[STATEMENT_COUNT];
} TableStatements;

typedef struct Cassandra {
    Store store; /* first: the engine is a Store */
    World world;
    CqlClient *client;
    int copies;
    TableStatements *tables;
    int64_t request_ms; /* that a call to the cluster may take: see cassandra_time_ms */
    pthread_mutex_t gates[GATE_COUNT]; /* see updates.c */
    pthread_mutex_t lock;              /* guards the fields below */
    bool not_writable;                 /* as store_health last found it */
    int64_t since_us;
} Cassandra;

static inline Cassandra *cassandra_of(Store *store)
{
    return (Cassandra *)store;
}

/* ---- statements.c ----------------------------------------------------------------------------------------- */

TableStatements *cassandra_statements(CqlClient *client, const char *keyspace, TableSet tables);
/* The table is one of those that the store was opened with. */
const CqlStatement *cassandra_statement(const Cassandra *cassandra, const Table *table,
                                        StatementKind kind);
/* Numbers as CQL has them. */
CqlValue cassandra_int(int64_t number, Arena *arena);
CqlValue cassandra_bigint(int64_t number, Arena *arena);

/* ---- engine.c, write_retry.c --------------------------------------------------------------------------------------- */

/* What the cluster gets of the time of a call: the caller is told before its deadline, also by a busy machine. */
int64_t cassandra_time_ms(int64_t request_ms);
/* When a call that begins now is over. */
int64_t cassandra_until_us(const Cassandra *cassandra);
/* All calls, in portions that overlap within themselves: each portion has the time of a call, and once nothing of one could be
 * done the rest is answered UNAVAILABLE without being sent. */
void cassandra_run(Cassandra *cassandra, const CqlCall *calls, size_t count, Arena *arena,
                   CqlAnswer *ret_answers);
/* The same for plain writes, which are sent again until they are done: it changes nothing if one was. The first portion is over by
 * `until_us`; each further one has the time of a call. */
void cassandra_run_writes(Cassandra *cassandra, CqlCall *calls, size_t count, int64_t until_us,
                          Status *ret_statuses);
/* A failed read as store.h knows it. */
MUST_USE Status cassandra_read_status(Status status);

/* ---- reads.c, scan.c, writes.c, updates.c ------------------------------------------------------------------ */

/* A statement with `values`, the last of which is the limit: asks for one row more than *limit, and for fewer rows where the answer
 * would be too large; *limit is then what was asked for. */
MUST_USE Status cassandra_select(Cassandra *cassandra, CqlCall call, CqlPart part, uint32_t *limit,
                                 Arena *arena, CqlRows *ret_rows);

/* Where the columns of an answer are. */
typedef struct CellColumns {
    int row, column, value, timestamp; /* -1: not asked for */
} CellColumns;
CellColumns cassandra_columns(const CqlRows *rows);
/* CORRUPT for a cell without value, which we never write. */
MUST_USE Status cassandra_cell(const CqlRows *rows, const CellColumns *columns, size_t index,
                               Cell *ret_cell);

MUST_USE Status cassandra_read(Store *store, const Read *read, Arena *arena, Cell *ret_cell);
MUST_USE Status cassandra_read_many(Store *store, const Read *reads, size_t count, Arena *arena,
                                    ReadAnswer *ret_answers);
MUST_USE Status cassandra_slice(Store *store, const Query *query, Arena *arena, Page *ret_page);
void cassandra_slice_many(Store *store, const Query *queries, size_t count, Arena *arena,
                          PageAnswer *ret_answers);
MUST_USE Status cassandra_scan(Store *store, const Table *table, Slice position, uint32_t limit,
                               Arena *arena, ScanPage *ret_page);
MUST_USE Status cassandra_write_many(Store *store, const Batch *batches, size_t count,
                                     Status *ret_statuses);
/* The same, by a moment. */
void cassandra_write_until(Cassandra *cassandra, const Batch *batches, size_t count,
                           int64_t until_us, Status *ret_statuses);
MUST_USE Status cassandra_update_if(Store *store, const Update *update, Arena *arena,
                                    Found *ret_found);
MUST_USE Status cassandra_update_many(Store *store, const Update *updates, size_t count,
                                      Arena *arena, Status *ret_statuses);

/* ---- cluster_check.c, init.c ---------------------------------------------------------------------------------------- */

typedef struct ClusterCheck {
    CqlClient *client;
    const CassandraOptions *options;
    Arena *arena;
    Reason *reason;
    const CqlHost *hosts;
    size_t host_count;
} ClusterCheck;

/* Connects, and knows the hosts. */
MUST_USE Status cassandra_connect(const CassandraOptions *options, Arena *arena,
                                  ClusterCheck *ret_look, Reason *reason);
/* A question without values, to one host (NULL: any). */
MUST_USE Status cassandra_ask(const ClusterCheck *check, const char *only, const char *text,
                              CqlRows *ret_rows);
/* The value of a column by name, CQL_NULL when it is not there. */
CqlValue cassandra_value(const CqlRows *rows, size_t index, const char *name);
Slice cassandra_text(const CqlRows *rows, size_t index, const char *name);
/* 0 when it is not there. */
int64_t cassandra_number(const CqlRows *rows, size_t index, const char *name);
/* All nodes that can be asked have the same schema: a node that has just come back may lack tables for a while. */
MUST_USE Status cassandra_wait_for_agreement(const ClusterCheck *check);
/* REFUSED with the address of the first that is too old. */
MUST_USE Status cassandra_check_versions(const ClusterCheck *check);
/* Copies of each row; NOT_FOUND: no such keyspace. */
MUST_USE Status cassandra_check_keyspace(const ClusterCheck *check, int *ret_copies);
/* NOT_FOUND: `init` has not finished there. INVALID: a newer one. `ret_version` may be older than ours. */
MUST_USE Status cassandra_check_version(const ClusterCheck *check, int64_t *ret_version);

typedef enum TableState { TABLE_MISSING, TABLE_FITS, TABLE_UNSET } TableState;
/* UNSET: its settings are not ours. INVALID: its columns are not. One state for each table of the options. */
MUST_USE Status cassandra_check_tables(const ClusterCheck *check, TableState *ret_states);
/* Settings and clocks of every node that can be asked. */
MUST_USE Status cassandra_check_nodes(const ClusterCheck *check);
void cassandra_say(const ClusterCheck *check, const char *format, ...) PRINTF_LIKE(2, 3);
