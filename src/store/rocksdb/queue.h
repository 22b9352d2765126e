/* queue.h -- what callers hand in to the writer, and how it becomes groups.
 *
 * There are two queues. Requests that somebody waits for to be synced go first, all of them. Lazy ones may be large and are in no
 * hurry: a group takes a piece of them, so that a save does not wait behind a thousand counts. A request of which something is left
 * goes to the end of its queue, so that a small one does not wait behind it either. Groups end in the order in which they were
 * taken, so a request is done when its last piece is. */
#pragma once

#include "store/rocksdb/rocks.h"

typedef enum RequestKind { REQUEST_WRITE, REQUEST_UPDATE, REQUEST_REOPEN } RequestKind;

struct Request {
    Request *next;
    RequestKind kind;
    sem_t answered;
    bool lazy;
    size_t taken,
        done; /* updates or batches that are in groups, and those whose groups have ended */
    const Batch *batches; /* REQUEST_WRITE */
    size_t batch_count;
    Status *batch_statuses;
    const Update *updates; /* REQUEST_UPDATE */
    size_t update_count;
    Status *update_statuses;
    Arena *arena;    /* the caller's, who sleeps meanwhile */
    Found *found;    /* of the only one, or NULL */
    Status reopened; /* REQUEST_REOPEN */
    Reason *reason;
};

/* Updates or batches of a request that are in one group. */
typedef struct Piece {
    Request *request;
    size_t from, to;
} Piece;

/* A group's pieces, and what it has room for. */
typedef struct Pieces {
    Piece *items;
    size_t count, capacity;
    size_t urgent; /* requests among them that are not lazy */
    size_t lazy;   /* updates or batches of those that are */
    size_t bytes;
} Pieces;

void pieces_clear(Pieces *pieces);
void pieces_free(Pieces *pieces);

/* Waits for the answer. */
void queue_hand_in(Rocks *rocks, Request *request);
/* The rest is for the writer. Locked: is there anything at all, or anything that the group has room for? */
bool queue_has_work(const Rocks *rocks);
bool queue_has_work_for(const Rocks *rocks, const Pieces *pieces);
/* Locked: takes what the group has room for. A reopen is always alone: it is returned, with nothing else taken. */
Request *queue_take(Rocks *rocks, Pieces *pieces);
/* Not locked: the piece's group has ended. Answers the request when it was the last. */
void queue_piece_done(const Piece *piece);
