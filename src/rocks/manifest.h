/* manifest.h -- what RocksDB's list of its files, the manifest, says as far as it can be read.
 *
 * Each change of the list is a record at its end (log_record.h), which RocksDB syncs before it relies on it. A power cut may leave a part
 * of the last ones, with a hole that RocksDB takes for damage. */
#pragma once

#include "base/world.h"

typedef struct Manifest {
    const char *path;
    size_t whole; /* bytes, from the start on, of records that can be read */
    bool is_torn; /* there are more */
    /* Only of one that is torn, and of what is whole: */
    uint64_t log;        /* changes in this file of the log, or in later ones, are in no table */
    bool has_all_tables; /* it is a list by itself, and each table in it is there with its size */
} Manifest;

/* Of the database in the directory `db`. One without a manifest, or with another format than that of our RocksDB, is not torn or has not all tables. */
MUST_USE Status manifest_read(Disk disk, const char *db, Arena *arena, Manifest *ret_manifest,
                              Reason *reason);
