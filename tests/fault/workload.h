/* workload.h -- a client of the store that knows afterwards what must be there.
 *
 * `workload run` writes in a seeded mix and keeps, outside the disk that fails, a record of every answer: one line,
 * written only after the store has answered. `workload check` opens the store again and compares:
 *   1. What was answered OK is there. What was answered CONFLICT or UNAVAILABLE is not. UNKNOWN may be either.
 *   2. What was read stays: nobody is shown what a power cut then takes away.
 *   3. No batch is half there: the cells of a row that are written together carry one version.
 *   4. Chains have no gaps, and each link names the version before it.
 * A version is one write: it is never used twice, also not by a later run (`run=` is its upper part). It says itself
 * which bytes its cells hold, so that torn values are seen.
 *
 * Plain rows belong to one thread: cells b0 … b3 of the newest version, log/<version> of each. Chain rows are fought
 * over: head = the newest sequence number and version, log/<seq> = version and the one before it, b0 … b3. An update may
 * be announced by a mark, m/<version> in the plain row mark/<chain>. */
#pragma once

#include "store/store.h"

enum {
    WORKLOAD_CHAINS = 32,
    WORKLOAD_ROWS = 4, /* plain rows of each thread */
    WORKLOAD_BODY = 4, /* cells that carry the newest version */
    WORKLOAD_THREADS_MAX = 64,
};

extern const Table WORKLOAD_PLAIN, WORKLOAD_CHAIN;
extern const TableSet WORKLOAD_TABLES;

/* ---- Names and values ---- */

Slice workload_plain_row(uint32_t row, Arena *arena);
Slice workload_chain_row(uint32_t chain, Arena *arena);
Slice workload_mark_row(uint32_t chain, Arena *arena);
Slice workload_body_column(uint32_t index, Arena *arena);
Slice workload_mark_column(uint64_t version, Arena *arena);
/* log/ and twenty digits: the order of bytes is the order of numbers. */
Slice workload_log_column(uint64_t number, Arena *arena);

/* A value of about `size` bytes that only this version can have. */
Slice workload_body(uint64_t version, size_t size, Arena *arena);
/* False if the bytes are not what the version says. */
bool workload_body_version(Slice value, uint64_t *ret_version);

/* A chain's head (seq, version) and its log entries (version, the one before). */
Slice workload_pair(uint64_t first, uint64_t second, Arena *arena);
bool workload_pair_parse(Slice value, uint64_t *ret_first, uint64_t *ret_second);

/* ---- Records ---- */

typedef enum RecordKind {
    RECORD_PLAIN = 'P',  /* a write to a plain row */
    RECORD_CHAIN = 'C',  /* an update of a chain to `seq` */
    RECORD_MARKED = 'M', /* the same, announced by a mark */
    RECORD_SEEN = 'S',   /* a read of a chain's head */
} RecordKind;

typedef struct Record {
    RecordKind kind;
    uint32_t row;
    uint64_t seq; /* 0 for plain rows */
    uint64_t version;
    Status status;
} Record;

/* One write(2) of one line, so that lines of several threads do not mix. */
void workload_record(int fd, const Record *record);
/* All whole lines of the file; a line that a kill has torn is left out. From malloc. */
Record *workload_records(const char *path, size_t *ret_count);

/* ---- Writing ---- */

/* A client: one thread. Its numbers begin at zero; `run` must not have been used before on the same data. */
typedef struct Writer {
    Store *store;
    Clock clock;
    int acks; /* where its records go */
    uint64_t run, payload;
    uint32_t index;
    bool settles; /* every update, by store_update; otherwise one of four */
    uint64_t luck;
    uint64_t versions;  /* used so far */
    int64_t slowest_us; /* the longest that a request took */
    Arena *arena;
} Writer;

typedef struct Written {
    enum { WROTE_PLAIN, WROTE_UPDATE, WROTE_NOTHING } what; /* nothing: a head could not be read */
    Status status;
} Written;

/* Writes something, records the answer, returns it. */
Written workload_write(Writer *writer);
/* One version into several rows; within each it is all or nothing. */
MUST_USE Status workload_write_plain(Writer *writer, uint32_t rows);

/* The store broke a promise: says which, and ends the program with status 3. */
_Noreturn void workload_broken(const char *format, ...) PRINTF_LIKE(1, 2);

/* ---- The check ---- */

/* Prints each finding; returns how many. */
size_t workload_check(Store *store, const Record *records, size_t count);
