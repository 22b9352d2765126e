/* queue.c -- see queue.h. A request lives on the stack of its caller, who sleeps until it is answered. */
#include "store/rocksdb/queue.h"

#include <errno.h>
#include <stdlib.h>

enum { GROUP_REQUESTS = 4096, GROUP_BYTES = 16 * 1024 * 1024 };
enum {
    LAZY_BESIDE = 256,
    LAZY_ALONE = 512
}; /* updates or batches in a group with others, and without */

static size_t size_of(const Request *request)
{
    return request->update_count + request->batch_count; /* one of them is 0 */
}

/* What the writer counts before it wakes up; opening again is one, too. */
static size_t weight_of(const Request *request)
{
    return request->kind == REQUEST_REOPEN ? 1 : size_of(request);
}

static bool is_lazy(const Request *request)
{
    bool lazy = request->kind != REQUEST_REOPEN;
    for (size_t i = 0; i < request->update_count; i++)
        lazy &= request->updates[i].lazy;
    for (size_t i = 0; i < request->batch_count; i++)
        lazy &= request->batches[i].lazy;
    return lazy;
}

static void push(RequestQueue *queue, Request *request)
{
    request->next = NULL;
    *queue->last = request;
    queue->last = &request->next;
}

static Request *pop(RequestQueue *queue)
{
    Request *first = queue->first;
    queue->first = first->next;
    if (queue->first == NULL)
        queue->last = &queue->first;
    return first;
}

bool queue_has_work(const Rocks *rocks)
{
    return rocks->queue.first != NULL || rocks->lazy_queue.first != NULL;
}

void queue_hand_in(Rocks *rocks, Request *request)
{
    sem_init(&request->answered, 0, 0);
    request->lazy = is_lazy(request);
    pthread_mutex_lock(&rocks->queue_lock);
    push(request->lazy ? &rocks->lazy_queue : &rocks->queue, request);
    rocks->queued += weight_of(request);
    if (request->lazy || rocks->queued >= rocks->wanted)
        pthread_cond_signal(&rocks->queue_filled);
    pthread_mutex_unlock(&rocks->queue_lock);
    while (sem_wait(&request->answered) != 0)
        CHECK(errno == EINTR);
    sem_destroy(&request->answered);
}

/* ---- Groups ------------------------------------------------------------------------------------------------ */

void pieces_clear(Pieces *pieces)
{
    pieces->count = pieces->urgent = pieces->lazy = pieces->bytes = 0;
}

void pieces_free(Pieces *pieces)
{
    free(pieces->items);
}

static size_t lazy_room(const Pieces *pieces)
{
    size_t most = pieces->urgent > 0 ? LAZY_BESIDE : LAZY_ALONE;
    return pieces->lazy < most ? most - pieces->lazy : 0;
}

static bool has_urgent_room(const Pieces *pieces)
{
    return pieces->bytes < GROUP_BYTES && pieces->urgent < GROUP_REQUESTS;
}

bool queue_has_work_for(const Rocks *rocks, const Pieces *pieces)
{
    return (rocks->queue.first != NULL && has_urgent_room(pieces)) ||
           (rocks->lazy_queue.first != NULL && pieces->bytes < GROUP_BYTES &&
            lazy_room(pieces) > 0);
}

static size_t update_bytes(const Update *update)
{
    size_t bytes = 0;
    for (size_t i = 0; i < update->change_count; i++)
        bytes += 64 + update->changes[i].value.size;
    return bytes;
}

static size_t batch_bytes(const Batch *batch)
{
    size_t bytes = 0;
    for (size_t i = 0; i < batch->count; i++)
        bytes += 64 + batch->changes[i].change.value.size;
    return bytes;
}

static size_t bytes_at(const Request *request, size_t at)
{
    return request->kind == REQUEST_UPDATE ? update_bytes(&request->updates[at])
                                           : batch_bytes(&request->batches[at]);
}

/* The next `most` updates or batches of the request, fewer when their bytes fill the group, but at least one. */
static void add_piece(Pieces *pieces, Request *request, size_t most, size_t bytes_max)
{
    size_t from = request->taken, at = from, end = size_of(request);
    if (pieces->count == pieces->capacity) {
        pieces->capacity = pieces->capacity == 0 ? 64 : 2 * pieces->capacity;
        pieces->items = realloc(pieces->items, pieces->capacity * sizeof *pieces->items);
        CHECK(pieces->items != NULL);
    }
    while (at < end && at - from < most && (pieces->bytes < bytes_max || at == from))
        pieces->bytes += bytes_at(request, at++);
    pieces->items[pieces->count++] = (Piece){request, from, at};
    request->taken = at;
}

/* Requests whose sync is waited for: whole ones, up to a bound of requests and bytes. */
static void take_urgent(Rocks *rocks, Pieces *pieces)
{
    while (rocks->queue.first != NULL && rocks->queue.first->kind != REQUEST_REOPEN &&
           has_urgent_room(pieces)) {
        Request *request = pop(&rocks->queue);
        add_piece(pieces, request, SIZE_MAX, SIZE_MAX);
        pieces->urgent++;
        rocks->queued -= weight_of(request);
    }
}

Request *queue_take(Rocks *rocks, Pieces *pieces)
{
    if (rocks->queue.first != NULL && rocks->queue.first->kind == REQUEST_REOPEN) {
        rocks->queued--;
        return pop(&rocks->queue);
    }
    take_urgent(rocks, pieces);
    /* Lazy ones in their order, the last of them perhaps in part. */
    while (rocks->lazy_queue.first != NULL && lazy_room(pieces) > 0 &&
           pieces->bytes < GROUP_BYTES) {
        Request *request = pop(&rocks->lazy_queue);
        size_t before = request->taken;
        add_piece(pieces, request, lazy_room(pieces), GROUP_BYTES);
        pieces->lazy += request->taken - before;
        if (request->taken < size_of(request))
            push(&rocks->lazy_queue, request);
        else
            rocks->queued -= weight_of(request);
    }
    return NULL;
}

void queue_piece_done(const Piece *piece)
{
    Request *request = piece->request;
    request->done += piece->to - piece->from;
    if (request->done == size_of(request))
        sem_post(&request->answered); /* and the request is gone */
}
