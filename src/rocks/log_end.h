/* log_end.h -- where the log ends after a crash, and whether it may end there.
 *
 * A power cut takes away what was written and not synced, page by page and in no order: behind a page that is lost another may have
 * survived. RocksDB refuses a log with such a hole, or, when the hole begins between two records, reads on behind it without a word.
 * So the log is read here before RocksDB opens it. It ends at the first record that is not whole, or does not follow the one before it;
 * what lies behind was never acknowledged and is cut off.
 *
 * Unless it was acknowledged: then the directory is damaged, and refused. How far the log was synced is known from marks. A mark says
 * that all changes up to `synced` were durable when it was made; changes are counted by RocksDB's sequence numbers, without a gap.
 *   1. Each group of writes begins with a mark, which costs no sync of its own: it tells of the groups before it. So damage is found
 *      by whatever survived behind it.
 *   2. After each sync the file `synced` in the data directory is overwritten with one. It is not synced itself. While the machine runs, also
 *      after the process was killed, it tells of the last group; after a power cut it may be older.
 * RocksDB removes files of the log when their changes are in tables, in any order. So a file that is gone was not needed, nor were those
 * before it: what counts begins behind the last such gap. A log without a single mark was written by an older version: RocksDB alone decides about it, as it did.
 *
 * The manifest is cut off at its first damage when what it says up to there, together with the logs, is everything (manifest.h).
 *
 * Crash between any two steps: cutting starts with what is last, and a log that is cut in part ends where it did before. */
#pragma once

#include <rocksdb/c.h>

#include "base/world.h"

typedef struct LogMark {
    uint64_t log;  /* number of a log file */
    uint64_t head; /* the change it begins with */
    uint64_t
        before; /* number of the file before it; 0: it began when the directory was opened, all that was before is in tables */
    uint64_t synced; /* the last change that is durable, in this file or an earlier one */
} LogMark;

#define LOG_UNKNOWN UINT64_MAX /* a number that could not be found out: nothing follows from it */

/* What the committer knows; it alone changes it, or an opening while the committer rests. */
typedef struct LogMarks {
    int fd; /* of `synced`; -1: not open */
    LogMark now;
} LogMarks;

/* Before RocksDB opens the directory. CORRUPT: acknowledged changes cannot be read; nothing was changed. UNAVAILABLE: the disk. */
MUST_USE Status log_end_settle(Disk disk, const char *directory, Reason *reason);

/* After it was opened: everything that is there is durable. */
MUST_USE Status log_marks_open(LogMarks *marks, Disk disk, const char *directory, rocksdb_t *db,
                               Reason *reason);
void log_marks_close(LogMarks *marks);
/* The first thing in a batch. */
void log_marks_put(const LogMarks *marks, rocksdb_writebatch_t *batch);
/* A batch of `changed` changes was written, or nothing but a sync was done. */
void log_marks_wrote(LogMarks *marks, const char *directory, Disk disk, rocksdb_t *db,
                     size_t changed, bool synced);
