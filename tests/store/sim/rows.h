/* rows.h -- what the machines of the simulated cluster hold: rows, their cells on each machine, and which of two cells stands.
 *
 * A Version is one write of one cell. It never changes and is shared by all who hold it: machines, messages, answers. A row
 * has a sorted array of versions for each of the three machines, and for conditional tables a fourth, SIM_DECIDED: what the
 * agreement about the row has decided, of which the machines' own copies may lag behind. */
#pragma once

#include "store/store.h"

enum { SIM_NODES = 3, SIM_DECIDED = SIM_NODES, SIM_COPIES = SIM_NODES + 1 };

/* ---- Versions -------------------------------------------------------------------------------------------- */

typedef struct Version {
    uint32_t refs;
    bool deleted;
    bool stamped;      /* has a caller's timestamp: belongs to a plain table */
    int64_t timestamp; /* the caller's; of a conditional cell the number of the decision */
    int64_t death_us;  /* when it expires, or was deleted; 0: lives for ever */
    Slice column, value;
    char bytes[];
} Version;

/* Its life is counted from `now_us`. Begins with one reference. */
Version *version_new(const Change *change, bool stamped, int64_t now_us);
Version *version_keep(Version *version);
void version_release(Version *version);

static inline bool version_alive(const Version *version, int64_t now_us)
{
    return !version->deleted && (version->death_us == 0 || now_us < version->death_us);
}

/* Whether `incoming` replaces `stored`: promise 1 of store.h. Equal ones: no. */
bool version_wins(const Version *incoming, const Version *stored, int64_t now_us);
/* Dead for longer than grace, and nothing older than it can be accepted any more. */
bool version_forgotten(const Version *version, int64_t now_us, int64_t grace_us);

/* ---- Lists and sorted arrays of them --------------------------------------------------------------------- */

typedef struct Cells {
    Version **items; /* by column */
    size_t count, capacity;
} Cells;

/* Adds at the end, with a reference of its own. */
void cells_add(Cells *cells, Version *version);
void cells_free(Cells *cells);
/* Where the column is, or would be. */
size_t cells_place(const Cells *cells, Slice column);
/* NULL when it is not there. */
Version *cells_find(const Cells *cells, Slice column);
/* Puts the version in its place, unless what stands there wins. */
void cells_apply(Cells *cells, Version *version, int64_t now_us);
/* Compaction: forgets what may be forgotten. */
void cells_compact(Cells *cells, int64_t now_us, int64_t grace_us);

/* Part of a row, as in Query. */
typedef struct Range {
    Slice from, to, after;
    bool resume, reverse;
    bool exact; /* the column `from` alone */
    size_t want;
} Range;

/* Adds what is in the range, the dead too, until `want` + 1 living ones are there. Whether that was all of it. */
bool cells_collect(const Cells *cells, const Range *range, int64_t now_us, Cells *to);

/* ---- Rows ------------------------------------------------------------------------------------------------ */

typedef struct Proposal Proposal; /* update.c */

typedef struct Row {
    const Table *table;
    Slice key;
    uint64_t hash;
    Cells copies[SIM_COPIES];
    int64_t decisions;     /* how many updates were decided */
    Proposal *unfinished;  /* updates that may yet be decided */
    int64_t contended_us;  /* when the last serial call was here, */
    uint32_t contended_by; /* and whose it was */
} Row;

typedef struct Rows {
    Row **slots; /* open addressing */
    size_t slot_count, count;
    Row **all; /* in the order of scans once sorted */
    size_t all_capacity, sorted;
} Rows;

/* Makes it when it is not there. */
Row *rows_get(Rows *rows, const Table *table, Slice key);
/* All rows, by (table, hash, key): the order of scans. */
Row **rows_sorted(Rows *rows);
/* Of the first row in that order that is not before (table, key). */
size_t rows_place(Rows *rows, const Table *table, Slice key);
void rows_free(Rows *rows);
