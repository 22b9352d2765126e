/* read_hints.h -- cells that somebody has just read, so that the writer need not read them again when they are changed.
 *
 * Who changes a cell has mostly read it a moment before: a voter's head, what is projected, a sum. A reader leaves the cell here with a
 * stamp: the number of groups that had ended before it read, all of which it has seen. The writer numbers its groups and keeps for
 * each key (by hash, so several keys share a place) the last group that changed it. What was read is what is stored exactly if
 * no later group than the stamp has changed it. Opening the database again makes everything that was left here worthless.
 *
 * Bounded: one cell for each place, another one takes it over; none with more than READ_HINTS_BYTES of key and data. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "store/rocksdb/overlay.h"

enum { READ_HINTS_BYTES = 112, READ_HINTS_LOCKS = 64 };

typedef struct ReadHint ReadHint;

typedef struct ReadHints {
    ReadHint *places;
    pthread_mutex_t locks[READ_HINTS_LOCKS];
    atomic_uint_fast64_t ended; /* the last group that everybody sees */
    /* The writer's own: */
    uint64_t opened;   /* the last group that changes anything */
    uint64_t since;    /* stamps before it are worthless */
    uint64_t *changed; /* by hash: the last group that changed it */
} ReadHints;

void read_hints_init(ReadHints *read_hints);
void read_hints_free(ReadHints *read_hints);

/* Readers: the stamp is asked for before the read. `cell` is NULL when nothing is stored. */
uint64_t read_hints_stamp(const ReadHints *read_hints);
void read_hints_keep(ReadHints *read_hints, uint64_t stamp, Slice key, const StoredCell *cell);

/* The writer: fills in what is stored under the entry's key, with its data in the arena, and says whether it could. */
bool read_hints_load(ReadHints *read_hints, OverlayCell *entry, Arena *arena);
/* A group that may change something begins; then each entry that it changes; and everybody sees it. */
void read_hints_begin(ReadHints *read_hints);
void read_hints_changed(ReadHints *read_hints, const OverlayCell *entry);
void read_hints_end(ReadHints *read_hints);
/* Nothing is known any more. */
void read_hints_clear(ReadHints *read_hints);
