/* datadir.h -- data directories for the tests of the embedded engine: made, filled, damaged, compared.
 *
 * Paths live as long as the program. Every failure that is not the point of a test is a CHECK. */
#pragma once

#include "contract.h"
#include "store/rocksdb/rocksdb.h"

/* A path that does not exist yet, below the test's directory. */
const char *datadir_new(void);
/* directory/name */
const char *datadir_path(const char *directory, const char *name);
/* Options with the tables and the sizes of contract.h, and the machine's own clock. */
RocksdbOptions datadir_options(const char *directory, bool create);
MUST_USE Status datadir_open(const char *directory, bool create, Store **ret_store, Reason *reason);
/* A directory with sorted files, a log and the same known cells in every plain table, closed. */
const char *datadir_filled(void);
/* Opens it and sees whether every cell of datadir_filled is there. */
void datadir_expect_filled(const char *directory);
/* Reads all of it; the worst status that came. */
MUST_USE Status datadir_read_all(const char *directory, Reason *reason);

/* Every name, size and content below `directory` as one text; `lock`, which says who looked last, is left out. */
Slice datadir_picture(const char *directory, Arena *arena);

/* The first file of directory/below whose name contains `part`; NULL when there is none. */
const char *datadir_find(const char *directory, const char *below, const char *part);

typedef enum Damage {
    DAMAGE_REMOVE,
    DAMAGE_EMPTY,  /* cut to nothing */
    DAMAGE_HALF,   /* cut in the middle */
    DAMAGE_GARBLE, /* bytes in the middle are others */
    DAMAGE_COUNT
} Damage;

const char *damage_name(Damage damage);
void damage_file(const char *path, Damage damage);
void datadir_write_file(const char *path, Slice content);
/* A copy of the whole directory under a new path. */
const char *datadir_copy(const char *directory);
