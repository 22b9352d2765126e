/* memory_log.h -- a log in memory, for tests: it forgets what was not synced when the power fails, and fails when told to.
 *
 *     MemoryLog *kept = memory_log_new();
 *     options.log = memory_log_open(kept);     (once for each opening of the journals)
 *     memory_log_cut(kept);                    (between two openings: a power cut)
 * What is kept outlives the journals that close the log. */
#pragma once

#include "journal/log.h"

typedef struct MemoryLog MemoryLog;

typedef enum MemoryFault {
    MEMORY_WELL,
    MEMORY_FAILS,      /* appends fail, and are not there */
    MEMORY_FAILS_DONE, /* appends fail, and are there */
} MemoryFault;

MemoryLog *memory_log_new(void);
void memory_log_free(MemoryLog *kept);
JournalLog *memory_log_open(MemoryLog *kept);
void memory_log_cut(MemoryLog *kept);
/* From the append with this number on (1: the next), for as many; until the log is started again they all fail. */
void memory_log_fail(MemoryLog *kept, unsigned at, MemoryFault how);
/* Starting fails, too, as on a disk that is still broken. */
void memory_log_break(MemoryLog *kept, bool broken);
void memory_log_fill(MemoryLog *kept, bool full);
/* Appends and syncs so far. */
unsigned memory_log_appends(const MemoryLog *kept);
unsigned memory_log_syncs(const MemoryLog *kept);
/* Keys that are there, of one kind. */
size_t memory_log_count(const MemoryLog *kept, char kind);
/* Holds appends back until it is called with false. */
void memory_log_hold(MemoryLog *kept, bool held);
