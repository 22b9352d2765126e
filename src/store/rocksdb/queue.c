/* queue.c -- see queue.h. A request lives on the stack of its caller, who sleeps until it is answered. */
#include "store/rocksdb/queue.h"

#include <errno.h>

enum { GROUP_REQUESTS = 4096, GROUP_BYTES = 16 * 1024 * 1024 };
enum {
    LAZY_BESIDE = 128,
    LAZY_ALONE = 512
}; /* updates or batches in a group with others, and without */

static size_t size_of(const Request *request)
{
    return request->update_count + request->batch_count; /* one of them is 0 */
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
    bool was_empty = !queue_has_work(rocks);
    push(request->lazy ? &rocks->lazy_queue : &rocks->queue, request);
    if (was_empty)
        pthread_cond_signal(&rocks->queue_filled);
    pthread_mutex_unlock(&rocks->queue_lock);
    while (sem_wait(&request->answered) != 0)
        CHECK(errno == EINTR);
    sem_destroy(&request->answered);
}

/* ---- Groups ------------------------------------------------------------------------------------------------ */

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

/* What is left in a group. */
typedef struct Room {
    size_t pieces, bytes;
} Room;

/* As many of the request's updates or batches as there is room for, at least one. */
static void cut_piece(Request *request, Room *room)
{
    size_t size = size_of(request), at = request->done;
    while (at < size && room->pieces > 0 && (room->bytes > 0 || at == request->done)) {
        size_t bytes = request->kind == REQUEST_UPDATE ? update_bytes(&request->updates[at])
                                                       : batch_bytes(&request->batches[at]);
        room->bytes -= bytes < room->bytes ? bytes : room->bytes;
        room->pieces--;
        at++;
    }
    request->piece = at - request->done;
}

/* Requests whose sync is waited for: whole ones, up to a bound of requests and bytes. */
static void take_urgent(Rocks *rocks, Room *room, RequestQueue *group)
{
    for (size_t count = 0; rocks->queue.first != NULL && count < GROUP_REQUESTS; count++) {
        bool reopen = rocks->queue.first->kind == REQUEST_REOPEN;
        if (count > 0 && (reopen || room->bytes == 0))
            break;
        Request *request = pop(&rocks->queue);
        Room whole = {SIZE_MAX, SIZE_MAX};
        cut_piece(request, &whole);
        size_t bytes = SIZE_MAX - whole.bytes;
        room->bytes -= bytes < room->bytes ? bytes : room->bytes;
        push(group, request);
        if (reopen)
            break;
    }
}

/* Lazy ones in their order, the last of them perhaps in part. */
static void take_lazy(Rocks *rocks, Room *room, RequestQueue *group)
{
    while (rocks->lazy_queue.first != NULL && room->pieces > 0 && room->bytes > 0) {
        Request *request = pop(&rocks->lazy_queue);
        cut_piece(request, room);
        push(group, request);
    }
}

Request *queue_take_group(Rocks *rocks)
{
    RequestQueue group = {.first = NULL, .last = &group.first};
    Room room = {0, GROUP_BYTES};
    take_urgent(rocks, &room, &group);
    room.pieces = group.first != NULL ? LAZY_BESIDE : LAZY_ALONE;
    if (group.first == NULL || group.first->kind != REQUEST_REOPEN)
        take_lazy(rocks, &room, &group);
    return group.first;
}

void queue_answer(Rocks *rocks, Request *first)
{
    while (first != NULL) {
        Request *request = first;
        first = request->next; /* after the post the request is gone */
        if (request->done == size_of(request)) {
            sem_post(&request->answered);
            continue;
        }
        pthread_mutex_lock(&rocks->queue_lock);
        push(&rocks->lazy_queue, request);
        pthread_mutex_unlock(&rocks->queue_lock);
    }
}
