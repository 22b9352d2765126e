/* decide.h -- what becomes of each request of a group.
 *
 * A group is decided while the one before it is on its way to the disk. What it is decided by: the cells that it has changed itself,
 * those of the group before it, what the writer remembers (known.h), what was just read (seen.h), and the database. None of it is shown to anybody until the
 * group is durable; and when the one before it fails, it is not written at all. */
#pragma once

#include "store/rocksdb/known.h"
#include "store/rocksdb/queue.h"

typedef struct Group {
    Rocks *rocks;
    Arena *arena; /* keys and data of the overlay */
    Overlay overlay;
    Pieces pieces;
    size_t decided;      /* pieces */
    Known *known;        /* of the writer */
    const Overlay *sent; /* the group before, NULL when it has ended */
    int64_t now_us;
    bool must_sync; /* some request is not lazy */
    bool undecided; /* the store was read-only: nothing was looked at */
} Group;

void group_init(Group *group, Rocks *rocks, Known *known);
void group_free(Group *group);
void group_clear(Group *group);
/* Decides the pieces that are not decided yet. */
void group_decide(Group *group);
/* Tells known and seen cells what the group changes: once, before the next one is decided. */
void group_remember(const Group *group);
