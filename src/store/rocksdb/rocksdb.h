/* rocksdb.h -- the embedded engine: one data directory, one process, RocksDB inside.
 *
 * The directory holds `OSTRAKA` (the format number and the engine, written last when it is made, so a directory
 * without it is not ours), `lock` (held while the store is open), `sealed` (sizes of all files since the last clean close), `synced` (how
 * far the log is durable), and `db/`, RocksDB's own files.
 * On top of the contract of store.h it promises:
 *   1. What is read is durable, except for lazy writes, and for what was UNKNOWN while the disk is so bad that opening again
 *      fails, too: then only NORMAL reads are answered.
 *   2. One writer thread: many callers share one sync.
 *   3. After a failed write or sync everything in flight is UNKNOWN, and the store is read-only (UNAVAILABLE, with the
 *      reason in store_health) until it was opened again: by itself every `reopen_s`, or by store_reopen. No restart.
 *   4. A directory that is locked, foreign, of a newer format or damaged is refused with a sentence that says which, and
 *      is not changed. Damage to what no sync has saved is none: a power cut leaves it (log_end.h). */
#pragma once

#include "store/store.h"

enum { STORE_FORMAT = 1 };

typedef struct RocksdbOptions {
    const char *directory;
    bool create; /* make the directory when it is not there or empty */
    size_t cache_bytes;
    size_t write_buffer_bytes;
    int64_t grace_s;
    int64_t reopen_s;
    bool
        bulk; /* for loading what can be made again: nothing is synced before store_close, so a power cut in between may lose
                  any of it */
    World world;
    TableSet tables;
} RocksdbOptions;

/* Statuses: OK; NOT_FOUND (nothing there, and not to create); INVALID (foreign, newer, tables that do not fit);
 * CONFLICT (another process has it); CORRUPT (damaged); UNAVAILABLE (the system says no: permissions, space). */
MUST_USE Status store_rocksdb_open(const RocksdbOptions *options, Store **ret_store,
                                   Reason *reason);

/* A directory made by store_backup, checked file by file against its list, becomes a data directory. `directory` must not
 * exist or be empty; it becomes a data directory whole or not at all, and a restore that was cut off can be run again. */
MUST_USE Status store_rocksdb_restore(const char *backup, const char *directory, Disk disk,
                                      Reason *reason);
