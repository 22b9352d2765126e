/* rocks.h -- the engine's inside, shared by its files:
 *   directory.c  is this directory ours, is it free, is it whole
 *   open.c       options, opening, closing, opening again, health and metrics
 *   read.c       cells, slices, scans
 *   queue.c      what callers hand in
 *   decide.c     what becomes of it
 *   writer.c     the threads that decide and write
 *   overlay.c    the cells of the open batch
 *   writer_cache.c      cells that the writer remembers from batch to batch
 *   read_hints.c       cells that readers have just read
 *   backup.c     copies out and in
 *   seal.c       what a closed database looks like
 * Who holds what: readers take `gate` shared for the length of a call; only opening again takes it exclusively, so `db` may
 * change between two calls but not during one. Everything that decides about a write runs in the writer thread. */
#pragma once

#include <pthread.h>
#include <rocksdb/c.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "rocks/log_end.h"
#include "rocks/rocks_error.h"
#include "store/engine.h"
#include "store/rocksdb/codec.h"
#include "store/rocksdb/read_hints.h"
#include "store/rocksdb/rocksdb.h"

typedef struct Request Request; /* queue.h */

typedef struct RequestQueue {
    Request *first, **last;
} RequestQueue;

typedef struct Rocks {
    Store store; /* first: the engine is a Store */
    World world;
    char *directory;
    char *db_path;
    int lock_fd;
    int64_t reopen_s;
    size_t write_buffer_bytes;
    bool bulk; /* only the close syncs */

    rocksdb_options_t *options;
    rocksdb_cache_t *cache;
    rocksdb_compactionfilter_t *filter;
    rocksdb_readoptions_t *read_row;   /* one row: prefix bloom, stops at its end */
    rocksdb_readoptions_t *read_table; /* scans: total order, no cache pollution */
    rocksdb_writeoptions_t *write_synced;
    rocksdb_writeoptions_t *write_lazy;

    pthread_rwlock_t gate;
    rocksdb_t *db;  /* NULL: could not be opened again, not even for reading */
    bool unsettled; /* by `gate`: db shows the log as it was read, and no sync has saved its end */

    ReadHints read_hints;
    LogMarks marks; /* the committer's */
    struct Writer *writer;
    pthread_t writer_thread;
    pthread_mutex_t queue_lock;     /* guards the fields up to the blank line */
    pthread_cond_t queue_filled;    /* or the committer rests, or the end */
    RequestQueue queue, lazy_queue; /* somebody waits for a sync; or for nothing but its turn */
    size_t queued,
        wanted; /* updates and batches in them, and how many are worth waking the writer */
    bool busy;  /* the database is being written, or opened again */
    bool stopping;
    Reason reason; /* why read-only */
    int64_t read_only_since_us;

    atomic_bool read_only, backing_up;
    _Atomic int64_t swept_us; /* the latest moment at which compaction took out what had expired */
    atomic_ullong groups, syncs, requests, cells_written, cells_dropped, conflicts, failures,
        reopens;
} Rocks;

static inline Rocks *rocks_of(Store *store)
{
    return (Rocks *)store;
}

/* directory.c: the steps around RocksDB's own files. */
typedef enum DirectoryState { DIRECTORY_NEW, DIRECTORY_OURS } DirectoryState;
MUST_USE Status rocks_directory_claim(const char *directory, bool create, Disk disk,
                                      DirectoryState *ret_state, int *ret_lock_fd, Reason *reason);
MUST_USE Status rocks_directory_finish(const char *directory, Disk disk, Reason *reason);
/* The text of the marker file, and its reading: INVALID for a newer format or another engine, CORRUPT for anything else
 * that is not a marker. */
Slice rocks_marker(Arena *arena);
MUST_USE Status rocks_marker_check(Slice text, const char *directory, Reason *reason);
/* directory + "/" + name, from malloc. */
char *rocks_path(const char *directory, const char *name);

/* open.c: opens again in the writer thread. */
MUST_USE Status rocks_open_again(Rocks *rocks, Reason *reason);

/* read.c */
MUST_USE Status rocks_read(Store *store, const Read *read, Arena *arena, Cell *ret_cell);
MUST_USE Status rocks_read_many(Store *store, const Read *reads, size_t count, Arena *arena,
                                ReadAnswer *ret_answers);
MUST_USE Status rocks_slice(Store *store, const Query *query, Arena *arena, Page *ret_page);
MUST_USE Status rocks_scan(Store *store, const Table *table, Slice position, uint32_t limit,
                           Arena *arena, ScanPage *ret_page);

/* writer.c */
void rocks_writer_start(Rocks *rocks);
/* Answers what is queued, syncs what was lazy, ends the thread. */
void rocks_writer_stop(Rocks *rocks);
MUST_USE Status rocks_write_many(Store *store, const Batch *batches, size_t count,
                                 Status *ret_statuses);
MUST_USE Status rocks_update_if(Store *store, const Update *update, Arena *arena, Found *ret_found);
MUST_USE Status rocks_update_many(Store *store, const Update *updates, size_t count, Arena *arena,
                                  Status *ret_statuses);
MUST_USE Status rocks_reopen(Store *store, Reason *reason);

/* seal.c */
/* CORRUPT when a file is not as the close left it; *ret_seal is what stands there, to be put back when the open fails. */
MUST_USE Status rocks_seal_check(const Rocks *rocks, Arena *arena, Slice *ret_seal, Reason *reason);
MUST_USE Status rocks_seal_write(const Rocks *rocks, Slice seal, Reason *reason);
/* Before the database is opened for writing. */
MUST_USE Status rocks_seal_break(const Rocks *rocks, Reason *reason);
/* After it was closed well. */
MUST_USE Status rocks_seal(const Rocks *rocks, Reason *reason);

/* backup.c */
MUST_USE Status rocks_backup(Store *store, const char *directory, Reason *reason);
/* Removes what a backup left behind that did not end. */
MUST_USE Status rocks_clear_checkpoint(Rocks *rocks, Reason *reason);
