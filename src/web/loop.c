/* loop.c -- see loop.h.
 *
 * A channel is freed by its own event, when it comes out of the inbox, by its own turn, or at the end; never one of a batch of events by another of the same batch, since each
 * socket stands in a batch once. One that is queued to go on, or that a pool has, leaves its events as notes for later. */
#include "web/loop.h"

#include <stdlib.h>

#include "base/threads.h"
#include "web/server_private.h"

enum { READ_ROOM = 16 * 1024, SPARE_MAX = 64 };

/* ---- Channels ---- */

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

static void react(NetWatch *watch, uint32_t events)
{
    Channel *channel = OWNER_OF(watch, Channel, watch);
    channel_event(channel, events);
    drop_if_done(channel);
}

/* What has come in before it was watched is told at once, as an event. */
static void welcome(Channel *channel)
{
    Loop *loop = channel->loop;
    channel->next = loop->ring.next;
    channel->previous = &loop->ring;
    channel->next->previous = loop->ring.next = channel;
    channel->watch.event = react;
    if (!net_loop_watch(&loop->net, channel->fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                        &channel->watch))
        drop(channel);
}

static void take(NetPost *post)
{
    Channel *channel = OWNER_OF(post, Channel, post);
    if (channel->state != CHANNEL_RUNS) {
        welcome(channel);
        return;
    }
    channel_made(channel);
    drop_if_done(channel);
}

void loop_give(Loop *loop, Channel *channel)
{
    channel->post.run = take;
    net_loop_post(&loop->net, &channel->post);
}

/* Not by the inbox, since the thread need not wake itself. */
void loop_again(Loop *loop, Channel *channel)
{
    channel->is_queued = true;
    channel->post.next = loop->again;
    loop->again = &channel->post;
}

static void serve_again(Loop *loop)
{
    NetPost *post = loop->again, *next;
    loop->again = NULL;
    for (; post != NULL; post = next) {
        Channel *channel = OWNER_OF(post, Channel, post);
        next = post->next;
        channel->is_queued = false;
        channel_go_on(channel);
        drop_if_done(channel);
    }
}

bool loop_is_held_up(const Loop *loop)
{
    enum { HELD_UP_MS = 20 };
    return net_loop_busy_us(&loop->net) > HELD_UP_MS * US_PER_MS;
}

void loop_hurry(Loop *loop)
{
    net_loop_wake(&loop->net);
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
    while (!atomic_load(&loop->ends)) {
        net_loop_turn(&loop->net, loop->again != NULL ? 0 : INT64_MAX);
        serve_again(loop);
        if (atomic_load_explicit(&loop->server->stopping, memory_order_relaxed))
            (void)cancel_all(loop);
    }
    net_loop_run_posts(
        &loop->net);           /* answers that were made meanwhile go out, as far as they can */
    while (cancel_all(loop)) { /* those that no pool has: what they wait for is still there */
        net_loop_wait(&loop->net, INT64_MAX);
        net_loop_run_posts(&loop->net);
    }
    while (loop->ring.next != &loop->ring)
        drop(loop->ring.next);
    return NULL;
}

/* ---- Start and end ---- */

void loop_start(Loop *loop, WebServer *server)
{
    *loop = (Loop){.server = server, .date_s = -1};
    net_loop_open(&loop->net, server->options.world.clock);
    loop->ring.next = loop->ring.previous = &loop->ring;
    loop->memory_size = (size_t)server->options.config->header_bytes + READ_ROOM;
    loop->memory = malloc(loop->memory_size);
    CHECK(loop->memory != NULL);
    loop->thread = thread_start(THREAD_WEB, run, loop);
}

void loop_stop(Loop *loop)
{
    atomic_store(&loop->ends, true);
    net_loop_wake(&loop->net);
    pthread_join(loop->thread, NULL);
    while (loop->spare != NULL) {
        WebRequest *request = loop->spare;
        loop->spare = request->next;
        request_free(request);
    }
    net_loop_close(&loop->net);
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
