/* loop.c -- see loop.h.
 *
 * A channel is freed by its own event, when it comes out of the inbox, by its own turn, or at the end; never one of a batch of events by another of the same batch, since each
 * socket stands in a batch once. One that is queued to go on, or that a pool has, leaves its events as notes for later. */
#include "web/loop.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/threads.h"
#include "web/server_private.h"

enum { BATCH = 256, READ_ROOM = 16 * 1024, SPARE_MAX = 64 };

/* ---- Inbox ---- */

static void wake(Loop *loop)
{
    uint64_t one = 1;
    CHECK(write(loop->wake_fd, &one, sizeof one) == sizeof one);
}

/* Whoever finds it empty wakes the thread; those who follow need not. */
void loop_give(Loop *loop, Channel *channel)
{
    Channel *first = atomic_load_explicit(&loop->inbox, memory_order_relaxed);
    do
        channel->queued = first;
    while (!atomic_compare_exchange_weak_explicit(&loop->inbox, &first, channel,
                                                  memory_order_release, memory_order_relaxed));
    if (first == NULL)
        wake(loop);
}

/* The oldest first. */
static Channel *take_inbox(Loop *loop)
{
    Channel *newest = atomic_exchange_explicit(&loop->inbox, NULL, memory_order_acquire),
            *ordered = NULL;
    while (newest != NULL) {
        Channel *next = newest->queued;
        newest->queued = ordered;
        ordered = newest;
        newest = next;
    }
    return ordered;
}

/* ---- Channels ---- */

void loop_again(Loop *loop, Channel *channel)
{
    channel->is_queued = true;
    channel->queued = loop->again;
    loop->again = channel;
}

void loop_forget(Loop *loop, int fd)
{
    (void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd,
                    NULL); /* the kernel may never have known it */
}

static void drop(Channel *channel)
{
    channel->next->previous = channel->previous;
    channel->previous->next = channel->next;
    channel_free(channel);
}

static void drop_if_done(Channel *channel)
{
    if (channel->state == CHANNEL_IS_DONE)
        drop(channel);
}

/* What has come in before it was watched is told at once, as an event. */
static void welcome(Loop *loop, Channel *channel)
{
    struct epoll_event wanted = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                                 .data.ptr = channel};
    channel->next = loop->ring.next;
    channel->previous = &loop->ring;
    channel->next->previous = loop->ring.next = channel;
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, channel->fd, &wanted) != 0)
        drop(channel); /* the kernel has no room for one more */
}

static void serve_inbox(Loop *loop)
{
    for (Channel *channel = take_inbox(loop), *next; channel != NULL; channel = next) {
        next = channel->queued;
        if (channel->state != CHANNEL_RUNS) {
            welcome(loop, channel);
            continue;
        }
        channel_made(channel);
        drop_if_done(channel);
    }
}

static void serve_again(Loop *loop)
{
    Channel *channel = loop->again, *next;
    loop->again = NULL;
    for (; channel != NULL; channel = next) {
        next = channel->queued;
        channel->is_queued = false;
        channel_go_on(channel);
        drop_if_done(channel);
    }
}

static void serve_events(Loop *loop, const struct epoll_event *events, int count)
{
    for (int i = 0; i < count; i++) {
        Channel *channel = events[i].data.ptr;
        if (channel == NULL) {
            uint64_t times;
            (void)!read(loop->wake_fd, &times, sizeof times);
            continue;
        }
        channel_event(channel, events[i].events);
        drop_if_done(channel);
    }
}

static int64_t steady_us(const Loop *loop)
{
    return clock_steady_us(loop->server->options.world.clock);
}

bool loop_is_held_up(const Loop *loop)
{
    enum { HELD_UP_MS = 20 };
    int64_t since_us = atomic_load_explicit(&loop->since_us, memory_order_relaxed);
    return since_us != 0 && steady_us(loop) - since_us > HELD_UP_MS * US_PER_MS;
}

void loop_hurry(Loop *loop)
{
    wake(loop);
}

/* Whether there were any that somebody makes. */
static bool cancel_all(Loop *loop)
{
    bool any = false;
    for (Channel *channel = loop->ring.next; channel != &loop->ring; channel = channel->next)
        if (channel->state == CHANNEL_RUNS) {
            channel_cancel(channel);
            any = true;
        }
    return any;
}

static void *run(void *argument)
{
    Loop *loop = argument;
    struct epoll_event events[BATCH];
    while (!atomic_load(&loop->ends)) {
        atomic_store_explicit(&loop->since_us, 0, memory_order_relaxed);
        int count = epoll_wait(loop->epoll_fd, events, BATCH, loop->again != NULL ? 0 : -1);
        CHECK(count >= 0 || errno == EINTR);
        atomic_store_explicit(&loop->since_us, steady_us(loop), memory_order_relaxed);
        serve_events(loop, events, count);
        serve_inbox(loop);
        serve_again(loop);
        if (atomic_load_explicit(&loop->server->stopping, memory_order_relaxed))
            (void)cancel_all(loop);
    }
    serve_inbox(loop);         /* answers that were made meanwhile go out, as far as they can */
    while (cancel_all(loop)) { /* those that no pool has: what they wait for is still there */
        struct pollfd wait = {loop->wake_fd, POLLIN, 0};
        uint64_t times;
        (void)poll(&wait, 1, -1);
        (void)!read(loop->wake_fd, &times, sizeof times);
        serve_inbox(loop);
    }
    while (loop->ring.next != &loop->ring)
        drop(loop->ring.next);
    return NULL;
}

/* ---- Start and end ---- */

void loop_start(Loop *loop, WebServer *server)
{
    struct epoll_event wanted = {.events = EPOLLIN, .data.ptr = NULL};
    *loop = (Loop){.server = server,
                   .epoll_fd = epoll_create1(EPOLL_CLOEXEC),
                   .wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                   .date_s = -1};
    CHECK(loop->epoll_fd >= 0 && loop->wake_fd >= 0);
    CHECK(epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->wake_fd, &wanted) == 0);
    loop->ring.next = loop->ring.previous = &loop->ring;
    loop->memory_size = (size_t)server->options.config->header_bytes + READ_ROOM;
    loop->memory = malloc(loop->memory_size);
    CHECK(loop->memory != NULL);
    loop->thread = thread_start(THREAD_WEB, run, loop);
}

void loop_stop(Loop *loop)
{
    atomic_store(&loop->ends, true);
    wake(loop);
    pthread_join(loop->thread, NULL);
    while (loop->spare != NULL) {
        WebRequest *request = loop->spare;
        loop->spare = request->next;
        request_free(request);
    }
    close(loop->epoll_fd);
    close(loop->wake_fd);
    free(loop->memory);
}

/* ---- For channels ---- */

WebRequest *loop_take_request(Loop *loop)
{
    WebRequest *request = loop->spare;
    if (request == NULL)
        return request_new(loop->server);
    loop->spare = request->next;
    loop->spare_count--;
    return request;
}

void loop_give_request(Loop *loop, WebRequest *request)
{
    request_reset(request);
    if (loop->spare_count == SPARE_MAX) {
        request_free(request);
        return;
    }
    request->next = loop->spare;
    loop->spare = request;
    loop->spare_count++;
}

Slice loop_date_line(Loop *loop)
{
    int64_t now_us = clock_now_us(loop->server->options.world.clock);
    if (now_us / US_PER_S != loop->date_s) {
        loop->date_s = now_us / US_PER_S;
        loop->date_size = answer_date_line(now_us, loop->date_line);
    }
    return slice_of(loop->date_line, loop->date_size);
}
