/* queue.h -- what callers hand in to the writer, and how it becomes groups.
 *
 * There are two queues. Requests that somebody waits for to be synced go first, all of them. Lazy ones may be large and are in no
 * hurry: a group takes a piece of them, so that a save does not wait behind a thousand counts. A request that is not done yet goes
 * to the end of its queue, so that a small one does not wait behind it either. */
#pragma once

#include "store/rocksdb/rocks.h"

typedef enum RequestKind { REQUEST_WRITE, REQUEST_UPDATE, REQUEST_REOPEN } RequestKind;

struct Request {
    Request *next;
    RequestKind kind;
    sem_t answered;
    bool lazy;
    size_t done, piece;   /* updates or batches of earlier groups, and of this one */
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

/* Waits for the answer. */
void queue_hand_in(Rocks *rocks, Request *request);
/* The rest is for the writer. Locked: is there anything, and the next group of it, linked by `next`. A reopen is always alone. */
bool queue_has_work(const Rocks *rocks);
Request *queue_take_group(Rocks *rocks);
/* Not locked: answers those of a group that are done, and puts back who is not. */
void queue_answer(Rocks *rocks, Request *first);
