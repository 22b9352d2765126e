/* decide.h -- what becomes of each request of a group.
 *
 * A group is decided while the one before it is on its way to the disk. What it is decided by: the cells that it has changed itself,
 * those of the group before it, what the writer remembers (writer_cache.h), what was just read (read_hints.h), and the database. None of it is shown to anybody until the
 * group is durable; and when the one before it fails, it is not written at all. */
#pragma once

#include "store/rocksdb/queue.h"
#include "store/rocksdb/writer_cache.h"

typedef struct WriterGroup {
    Rocks *rocks;
    Arena *arena; /* keys and data of the overlay */
    Overlay overlay;
    Pieces pieces;
    size_t decided;            /* pieces */
    WriterCache *writer_cache; /* of the writer */
    const Overlay *sent;       /* the group before, NULL when it has ended */
    int64_t now_us;
    bool must_sync; /* some request is not lazy */
    bool undecided; /* the store was read-only: nothing was looked at */
} WriterGroup;

void group_init(WriterGroup *group, Rocks *rocks, WriterCache *writer_cache);
void group_free(WriterGroup *group);
void group_clear(WriterGroup *group);
/* Decides the pieces that are not decided yet. */
void group_decide(WriterGroup *group);
/* Tells known and seen cells what the group changes: once, before the next one is decided. */
void group_remember(const WriterGroup *group);
