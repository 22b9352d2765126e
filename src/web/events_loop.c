/* events_loop.c -- the thread of the events: it takes newcomers, sends rounds and heartbeats, and notices who has left.
 *
 * Sockets are watched edge-triggered for everything from the start, so that neither a full socket nor one that has room again
 * needs another system call. A watcher is freed only by its own event, by its own sending, or by a stop; never one of a batch
 * of events by another of the same batch. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "web/events_private.h"

enum { SEND_BUFFER = 32 * 1024, READS_MAX = 16, READ_SIZE = 4096, GATHER_MS = 50 };

/* ---- Watchers ---- */

static void touch(Events *events, Watcher *watcher)
{
    Watcher *order = &events->order;
    if (watcher->later != NULL) {
        watcher->later->earlier = watcher->earlier;
        watcher->earlier->later = watcher->later;
    }
    watcher->sent_us = events->loop.now_us;
    watcher->later = order;
    watcher->earlier = order->earlier;
    watcher->earlier->later = order->earlier = watcher;
}

static void drop(Events *events, Watcher *watcher)
{
    if (watcher->previous != NULL)
        watcher->previous->next = watcher->next;
    else
        watcher->topic->watchers = watcher->next;
    if (watcher->next != NULL)
        watcher->next->previous = watcher->previous;
    if (watcher->topic->watchers == NULL && events->options.unwatched != NULL)
        events->options.unwatched(events->options.self, watcher->topic->name);
    watcher->later->earlier = watcher->earlier;
    watcher->earlier->later = watcher->later;
    if (watcher->message != NULL)
        message_release(watcher->message);
    close(watcher->fd);
    events_unreserve(events, watcher->client);
    atomic_fetch_sub_explicit(&events->watcher_count, 1, memory_order_relaxed);
    free(watcher);
}

/* Sends what is unfinished, then the newest state if it was not begun yet. False when the connection is dead. */
static bool push(Events *events, Watcher *watcher)
{
    for (;;) {
        Message *newest = watcher->topic->newest;
        if (watcher->message == NULL) {
            if (newest == NULL || newest->id == watcher->sent_id)
                return true;
            watcher->message = message_hold(newest);
            watcher->sent_id = newest->id;
            watcher->offset = 0;
        }
        Message *message = watcher->message;
        ssize_t sent = send(watcher->fd, message->bytes + watcher->offset,
                            message->size - watcher->offset, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return errno == EAGAIN;
        watcher->offset += (uint32_t)sent;
        if (watcher->offset < message->size)
            continue;
        message_release(message);
        watcher->message = NULL;
        events_count(&events->sent, 1);
        touch(events, watcher);
    }
}

/* ---- What sockets tell ---- */

/* A watcher has nothing to say; what it says all the same is thrown away, up to a bound. */
static bool is_quiet(int fd)
{
    for (int i = 0; i < READS_MAX; i++) {
        ssize_t got = recv(fd, NULL, READ_SIZE, MSG_DONTWAIT | MSG_TRUNC);
        if (got <= 0)
            return got < 0 && errno == EAGAIN;
    }
    return false;
}

static void react(NetWatch *watch, uint32_t what)
{
    Watcher *watcher = OWNER_OF(watch, Watcher, watch);
    Topic *topic = watcher->topic;
    Events *events = topic->events;
    bool is_alive = (what & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) == 0;
    if (is_alive && (what & EPOLLIN) != 0)
        is_alive = is_quiet(watcher->fd);
    if (is_alive && (what & EPOLLOUT) != 0 && watcher->message != NULL)
        is_alive = push(events, watcher);
    if (is_alive)
        return;
    drop(events, watcher);
    topic_tidy(events, topic);
}

/* ---- Newcomers ---- */

static void prepare_socket(const Events *events, int fd)
{
    int on = 1, room = SEND_BUFFER, stuck_ms = (int)events->options.stuck_ms;
    /* A small buffer keeps old states from piling up in the kernel for a slow reader. */
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    /* Ends connections whose other side takes nothing, or is gone without a word. */
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &stuck_ms, sizeof stuck_ms);
}

static Watcher *watcher_new(Events *events, const Arrival *arrival)
{
    Watcher *watcher = calloc(1, sizeof *watcher);
    CHECK(watcher != NULL);
    watcher->fd = arrival->fd;
    watcher->watch.event = react;
    watcher->client = arrival->client;
    watcher->topic = topic_get(events, arrival->topic);
    watcher->next = watcher->topic->watchers;
    if (watcher->next != NULL)
        watcher->next->previous = watcher;
    else if (events->options.watched != NULL)
        events->options.watched(events->options.self, watcher->topic->name);
    watcher->topic->watchers = watcher;
    touch(events, watcher);
    atomic_fetch_add_explicit(&events->watcher_count, 1, memory_order_relaxed);
    return watcher;
}

/* The head goes out whole, since nothing was sent on this answer before, or something is wrong with the socket. */
static bool welcome(Events *events, Watcher *watcher, const Arrival *arrival)
{
    prepare_socket(events, watcher->fd);
    ssize_t sent =
        send(watcher->fd, arrival->head.data, arrival->head.size, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent == (ssize_t)arrival->head.size &&
           net_loop_watch(&events->loop, watcher->fd, EPOLLIN | EPOLLRDHUP | EPOLLOUT | EPOLLET,
                          &watcher->watch) &&
           push(events, watcher);
}

void events_take(NetPost *post)
{
    Arrival *arrival = OWNER_OF(post, Arrival, post);
    Events *events = arrival->events;
    Watcher *watcher = watcher_new(events, arrival);
    Topic *topic = watcher->topic;
    if (topic->newest == NULL)
        (void)topic_build(events, topic);
    if (!welcome(events, watcher, arrival)) {
        drop(events, watcher);
        topic_tidy(events, topic);
    }
    free(arrival);
}

/* ---- Rounds ---- */

static void send_to_all(Events *events, Topic *topic)
{
    for (Watcher *watcher = topic->watchers, *next; watcher != NULL; watcher = next) {
        next = watcher->next;
        if (watcher->message == NULL && !push(events, watcher))
            drop(events, watcher);
    }
}

/* A mark is taken away before the state is built: a change meanwhile sets it again, and the next round shows it. */
static void send_changed(Events *events)
{
    for (Topic *topic = topics_take_changed(events), *next; topic != NULL; topic = next) {
        next = topic->next_changed;
        topic_unmark(events, topic);
        if (topic->watchers != NULL && topic_build(events, topic))
            send_to_all(events, topic);
        topic_tidy(events, topic);
    }
}

/* A full socket needs no heartbeat: bytes are on their way already, and the kernel watches over them. */
static void send_heartbeats(Events *events)
{
    int64_t due_us = events->loop.now_us - events->options.heartbeat_ms * US_PER_MS;
    Watcher *watcher = events->order.later;
    while (watcher != &events->order && watcher->sent_us <= due_us) {
        Watcher *next = watcher->later;
        Topic *topic = watcher->topic;
        ssize_t sent = watcher->message != NULL
                           ? 0
                           : send(watcher->fd, ":\n\n", 3, MSG_NOSIGNAL | MSG_DONTWAIT);
        touch(events, watcher);
        if ((sent < 0 && errno != EAGAIN) || sent == 1 || sent == 2) {
            drop(events, watcher);
            topic_tidy(events, topic);
        }
        watcher = next;
    }
}

static void run_round(Events *events)
{
    int64_t began_us = events->loop.now_us;
    send_changed(events);
    int64_t took_us = clock_steady_us(events->options.world.clock) - began_us;
    int64_t interval_us = events_interval_us(events->options.interval_ms * US_PER_MS, took_us);
    atomic_store(&events->round_us, (uint64_t)took_us);
    atomic_store(&events->interval_us, (uint64_t)interval_us);
    events->next_round_us = began_us + interval_us;
    events->gathered_us = 0;
}

static void close_all(Events *events)
{
    net_loop_run_posts(&events->loop); /* newcomers are closed like the others */
    while (events->order.later != &events->order) {
        Topic *topic = events->order.later->topic;
        drop(events, events->order.later);
        topic_tidy(events, topic);
    }
}

/* When the next round is to be: INT64_MAX while nothing has changed. The first change of a quiet time does not wait for an interval,
 * only for what else changes with it. */
static int64_t round_due_us(Events *events)
{
    if (!topics_have_changed(events))
        return INT64_MAX;
    if (events->gathered_us == 0)
        events->gathered_us = events->loop.now_us + GATHER_MS * US_PER_MS;
    return events->gathered_us > events->next_round_us ? events->gathered_us
                                                       : events->next_round_us;
}

/* When the oldest watcher wants one, INT64_MAX without watchers; but they are sent to many at once. */
static int64_t beat_due_us(const Events *events)
{
    const Watcher *oldest = events->order.later;
    if (oldest == &events->order)
        return INT64_MAX;
    int64_t due_us = oldest->sent_us + events->options.heartbeat_ms * US_PER_MS;
    return due_us > events->next_beat_us ? due_us : events->next_beat_us;
}

void *events_loop(void *context)
{
    Events *events = context;
    Clock clock = events->options.world.clock;
    while (!atomic_load(&events->ends)) {
        int64_t round_us = round_due_us(events), beat_us = beat_due_us(events);
        net_loop_turn(&events->loop, round_us < beat_us ? round_us : beat_us);
        events->loop.now_us = clock_steady_us(clock); /* states may have been built */
        if (events->loop.now_us >= round_due_us(events))
            run_round(events);
        if (events->loop.now_us < beat_due_us(events))
            continue;
        send_heartbeats(events);
        events->next_beat_us = events->loop.now_us + events->options.interval_ms * US_PER_MS;
    }
    close_all(events);
    return NULL;
}
