/* rocksdb_log.h -- a group's log in files: a RocksDB for each generation, below the directory of the journals.
 *
 * DIR/<group>.<generation>/db are RocksDB's own files, beside them the marks of rocks/log_end.h; DIR/<group>.<generation>.key is the key with which the data of a generation is sealed
 * (wipe = yes), mode 0600, which goes before the files do. What the catalogue does not name is removed at the start.
 *   1. As log.h says. 2. A failed write or sync: RocksDB is closed and opened again by `start`, which reads its log anew, so nothing
 *      relies on pages that a failed sync may have lost. 3. bytes is the sum of the sorted files and of what the log has taken since
 *      it was last flushed, an estimate from above. */
#pragma once

#include "journal/catalogue.h"
#include "journal/log.h"

enum { ROCKSDB_LOG_BUFFER = 16 << 20 };

/* `files` says whether a first generation is sealed. The catalogue must outlive the log. */
MUST_USE Status rocksdb_log_open(World world, Catalogue *catalogue, Slice group,
                                 const JournalFiles *files, JournalLog **ret_log, Reason *reason);
