/* store.h -- the wide-column contract that every engine keeps.
 *
 * A table holds rows; a row holds cells in byte order of their column name. A table is *plain* or *conditional*
 * (tables.h says which) and is written one way only: plain ones by store_write, conditional ones by
 * store_update_if. Who knows only this header can use the store, and write an engine for it (engine.h).
 *
 * Every engine promises, and tests/contract checks on all of them:
 *   1. The newest timestamp wins, whatever the order of arrival; repeating a plain write is safe. On equal
 *      timestamps: a delete wins, then a cell that expires (the later expiry), then the larger value in byte
 *      order. A cell that has expired is a delete with the same timestamp; but against one that expires as well and
 *      still lives either may win (docs/cassandra.md). Where a table `repeats` (tables.h) all writes of a
 *      cell have the same value, and either of two may stay, with its timestamp and expiry: an engine need not look.
 *   2. A write that returned OK is seen by every later read of that row with any mode (plain tables), or with
 *      STORE_SERIAL (conditional tables), and survives the loss of power. (A `lazy` write: see Batch.)
 *   3. A batch is atomic within a row: a read of that row sees all of it or nothing. Across rows there is no promise;
 *      each row of it may come to be, or not, when the answer is UNKNOWN. Two batches with equal timestamps may mix.
 *   4. A conditional update is all or nothing, on one row of one table, and linearizable with all other updates and
 *      serial reads of that row.
 *   5. UNAVAILABLE means surely not done, now or later. CONFLICT means a condition was false: not done. UNKNOWN means
 *      perhaps done, or perhaps done at any later time; of a batch over several rows, any part.
 *   6. An expired cell is not returned. Deleted and expired cells are remembered for `grace` and then forgotten, so a
 *      table that deletes or expires refuses a timestamp older than that (INVALID): it might bring back the dead.
 *      Conditional tables have no timestamps and need no grace.
 *   7. Slices and scans are atomic per page, not across pages. Cells come in byte order of the column (or the reverse);
 *      rows of a scan come in the engine's own order, each row's cells together and in order; a scan that is resumed
 *      misses no cell that was there all the time.
 *   8. Every call ends: by itself, or with UNAVAILABLE or UNKNOWN when the engine's deadline has passed.
 * No engine promises: locks, order between rows, atomicity across rows, or that time does not step. When the clock
 * steps back, a cell that had expired may be there again until it expires once more.
 *
 * Statuses of every call: OK; NOT_FOUND; INVALID (breaks a rule of the table; a bug of the caller or bad input that was
 * not caught earlier); TOO_LARGE (over a limit below); CONFLICT; UNAVAILABLE; UNKNOWN; CORRUPT (what is stored cannot
 * be what we wrote). INVALID and TOO_LARGE come before anything is done.
 * Calls are synchronous and may come from any thread. Memory that is returned lives in the arena that was passed. */
#pragma once

#include "base/ids.h"
#include "base/world.h"
#include "store/tables.h"

enum {
    STORE_ROW_MAX = 1024,
    STORE_COLUMN_MAX = 4096,
    STORE_VALUE_MAX = 1024 * 1024,
    STORE_BATCH_MAX = 4 * 1024 * 1024, /* rows, columns and values of a plain batch together */
    STORE_BATCH_CHANGES_MAX = 20000,   /* its changes: each takes some bytes more on the wire */
    STORE_UPDATE_MAX = 1024 * 1024,    /* the same for a conditional update, with its conditions */
    STORE_CHANGES_MAX = 4096,          /* changes of an update, and conditions */
    STORE_PAGE_MAX = 10000,            /* cells of a page; it also ends at 4 MiB */
    STORE_PAGE_BYTES = 4 * 1024 * 1024,
    STORE_POSITION_MAX = 8192,           /* of a scan */
    STORE_MANY_MAX = 10000,              /* reads, slices, batches or updates in one …_many */
    STORE_TTL_MOST_S = 20 * 365 * 86400, /* Cassandra knows no longer life */
    STORE_AHEAD_MOST_S = 86400, /* how far ahead of our clock a wall-clock timestamp may be */
};

typedef struct Store Store;

/* ---- Cells and pages: what reads return ------------------------------------------------------------------ */

typedef struct Cell {
    Slice column;
    Slice value;
    int64_t
        timestamp; /* of a plain table; 0 in conditional ones, whose order is the engine's own */
} Cell;

typedef struct Page {
    Cell *cells;
    size_t count;
    bool more; /* ask again, with `after` = the column of the last cell */
} Page;

/* STORE_NORMAL may miss an update_if that has just been answered; STORE_SERIAL sees every finished one and settles the
 * unfinished (on the embedded engine they are the same). Plain tables take NORMAL only. */
typedef enum ReadMode { STORE_NORMAL, STORE_SERIAL } ReadMode;

/* ---- Reading --------------------------------------------------------------------------------------------- */

typedef struct Read {
    const Table *table;
    Slice row;
    Slice column;
    ReadMode mode;
} Read;

/* One cell; NOT_FOUND when it is absent, deleted or expired. */
MUST_USE Status store_read(Store *store, const Read *read, Arena *arena, Cell *ret_cell);

typedef struct ReadAnswer {
    Status status; /* as store_read */
    Cell cell;
} ReadAnswer;

/* Many reads whose round trips overlap; ret_answers has one for each. INVALID and TOO_LARGE concern the call as
 * a whole, everything else is in the answers. */
MUST_USE Status store_read_many(Store *store, const Read *reads, size_t count, Arena *arena,
                                ReadAnswer *ret_answers);

/* Part of a row: columns c with from <= c < to (an empty `to` means to the end of the row), at most `limit` cells
 * (1 … STORE_PAGE_MAX), upwards or in reverse. To continue, repeat with `after` = the last column that came: only cells
 * beyond it in the direction of reading follow. A serial slice is one page only: what does not fit is
 * told by `more` and must be asked for with NORMAL or a narrower range. */
typedef struct Query {
    const Table *table;
    Slice row;
    Slice from, to;
    Slice after;
    bool resume; /* `after` counts (the empty column is a column too) */
    bool reverse;
    uint32_t limit;
    ReadMode mode;
} Query;

/* OK with no cells when the row is empty: a store does not know whether a row "exists". */
MUST_USE Status store_slice(Store *store, const Query *query, Arena *arena, Page *ret_page);

typedef struct PageAnswer {
    Status status; /* as store_slice */
    Page page;
} PageAnswer;

/* Many slices whose round trips overlap; ret_answers has one for each. INVALID and TOO_LARGE concern the call as a whole. All pages
 * are in memory at once: for rows that are short. */
MUST_USE Status store_slice_many(Store *store, const Query *queries, size_t count, Arena *arena,
                                 PageAnswer *ret_answers);

typedef struct ScanCell {
    Slice row;
    Cell cell;
} ScanCell;

typedef struct ScanPage {
    ScanCell *cells;
    size_t count;
    Slice position; /* pass it to get the next page; valid across restarts, opaque */
    bool more;
} ScanPage;

/* All cells of a table, from `position` (empty: from the beginning). INVALID for a position that no scan of this
 * table gave. For background work: it reads everything, in bounded memory. */
MUST_USE Status store_scan(Store *store, const Table *table, Slice position, uint32_t limit,
                           Arena *arena, ScanPage *ret_page);

/* ---- Plain writes ---------------------------------------------------------------------------------------- */

typedef struct Change {
    Slice column;
    Slice value; /* ignored by a delete */
    int64_t
        timestamp; /* plain tables: the caller's; µs of the wall clock where the table deletes or expires, else any
                          number but INT64_MIN, which engines keep for themselves. Conditional tables: 0 */
    int64_t ttl_s;  /* 0: for ever; else 1 … STORE_TTL_MOST_S, only where the table expires */
    bool is_delete; /* only where the table deletes */
} Change;

typedef struct RowChange {
    const Table *table;
    Slice row;
    Change change;
} RowChange;

/* A batch may touch several rows and plain tables; it is atomic within each row.
 * `lazy`: OK means the engine has it and will make it durable with the next write that is not lazy, or within a second;
 * a power cut may lose it. For derived rows that can be rebuilt. Order is kept: a lazy write never outlives one that was
 * acknowledged before it. */
typedef struct Batch {
    const RowChange *changes;
    size_t count;
    bool lazy;
} Batch;

MUST_USE Status store_write(Store *store, const Batch *batch);
/* Many batches whose round trips overlap, each with its own status; in no order, except that batches
 * for the same row apply by their timestamps anyway. */
MUST_USE Status store_write_many(Store *store, const Batch *batches, size_t count,
                                 Status *ret_statuses);

/* ---- Conditional writes ---------------------------------------------------------------------------------- */

typedef struct Condition {
    Slice column;
    Slice value;
    bool absent; /* the cell must not be there; `value` is ignored */
} Condition;

/* All conditions hold, or nothing is done. Conditions that share a value with the past are a bug that no engine can
 * see: callers put a fresh id into every value that is a condition, so that an expected value never comes back; freeing
 * writes a `free` value with a new id, not a delete. For the same reason `absent` is only for cells that, once written, neither
 * expire nor are deleted: where they can, an attempt that comes late may find the cell absent again.
 *
 * `proof` names one of the changed columns, put and not deleted, which no later writer ever overwrites: the ledger's log entry, or
 * elsewhere a receipt that expires after a day (STORE_RECEIPT). It is how store_update finds out what became of an
 * update whose answer was lost.
 *
 * `marks` are plain changes that must be durable no later than the update, because they announce it. The embedded engine
 * writes them with the same sync, others first. When they are not surely written the update is not sent (UNAVAILABLE).
 * They may be there without the update. */
typedef struct Update {
    const Table *table;
    Slice row;
    const Condition *conditions; /* at least one */
    size_t condition_count;
    const Change *changes; /* timestamp 0, no column twice */
    size_t change_count;
    Slice
        proof; /* may be empty for store_update_if alone: then the caller decides an UNKNOWN by reading again */
    Batch marks;
    bool lazy; /* durable later, as for a Batch: for derived rows */
} Update;

/* What stood in the condition's cells when one of them was false. */
typedef struct Found {
    bool present;
    Slice value;
} Found;

/* One attempt. On CONFLICT, ret_found (when not NULL, room for condition_count) says what is there. Callers use
 * store_update; this is what it is built from. */
MUST_USE Status store_update_if(Store *store, const Update *update, Arena *arena, Found *ret_found);

/* Many attempts whose round trips overlap, each with its own status as of store_update_if. In no order: of two for one row
 * either may come first. INVALID and TOO_LARGE concern the call as a whole. */
MUST_USE Status store_update_many(Store *store, const Update *updates, size_t count, Arena *arena,
                                  Status *ret_statuses);

/* The attempt and the rule for UNKNOWN, the same for everybody. After UNKNOWN: read serially; the proof is there with our
 * value → OK; a condition's cell moved on without it → CONFLICT; not moved → send the same bytes again; after `tries`
 * attempts it stays UNKNOWN. It is never "not done". A CONFLICT on a repeat is checked against the proof too, since an
 * earlier attempt may have been what changed the cell. UNAVAILABLE is returned only when no attempt can have arrived. */
MUST_USE Status store_update(Store *store, const Update *update, int tries, Arena *arena,
                             Found *ret_found);
/* The same for many, each with its own status: the first attempts go by one store_update_many, and for those that are UNKNOWN the rule is
 * followed one after the other. INVALID and TOO_LARGE concern the call as a whole. */
MUST_USE Status store_update_each(Store *store, const Update *updates, size_t count, int tries,
                                  Arena *arena, Status *ret_statuses);

/* A receipt column `~/<id>` for updates that leave nothing else behind; put it with ttl STORE_RECEIPT_TTL_S. `~` sorts behind
 * letters and digits, so receipts stand at the end of a row. */
enum { STORE_RECEIPT_TTL_S = 86400 };
Slice store_receipt(Slice id, Arena *arena);

/* One cell by another value, with such a receipt, under the condition that it is still what was read; answers as store_update. */
typedef struct Replacement {
    const Table *table;
    Slice row, column;
    Slice before; /* empty: it was not there */
    Slice value;  /* with `id` in it */
    int64_t ttl_s;
    Id id; /* new for each replacement */
} Replacement;
MUST_USE Status store_replace(Store *store, const Replacement *replacement, int tries,
                              Arena *arena);

/* ---- What a thread has changed ------------------------------------------------------------------------------- */

/* How many writes of this thread were done or are perhaps done, but for tables that only take notes (Table.notes). Whoever is about to say
 * that nothing was changed compares it with what it was at the beginning. */
uint64_t store_effects(void);
/* What was written since then is surely nothing that counts, such as a plan that is taken back: `before` is what store_effects gave. */
void store_effects_forget(uint64_t before);

/* ---- Running a store --------------------------------------------------------------------------------------- */

typedef struct StoreHealth {
    const char *engine; /* "rocksdb" */
    bool writable;
    char reason[256]; /* why not writable, for a person */
    int64_t since_us; /* when it turned so */
} StoreHealth;

void store_health(Store *store, StoreHealth *ret_health);
/* Other processes may write to it at the same time. */
bool store_is_shared(const Store *store);
/* Another number whenever a write whose outcome was UNKNOWN may have turned out to be there: what was read before is then not to be relied
 * on. Of a store that is not shared; of others it says nothing. */
uint64_t store_generation(Store *store);

/* Counters and gauges for /metrics: calls `visit` with a name, a help text, whether it only grows, and its value. */
typedef void StoreMetricVisit(void *context, const char *name, const char *help, bool counter,
                              double value);
void store_metrics(Store *store, StoreMetricVisit *visit, void *context);

/* A consistent copy of everything, taken while the store is in use, into a directory that must not exist or be
 * empty. INVALID with words for an engine that backs up by its own means. */
MUST_USE Status store_backup(Store *store, const char *directory, Reason *reason);

/* Tries to open again after a disk error made the store read-only; OK when it is writable. Engines also try by
 * themselves. */
MUST_USE Status store_reopen(Store *store, Reason *reason);

/* Finishes what runs, makes lazy writes durable, closes. No call may be under way. */
void store_close(Store *store);
