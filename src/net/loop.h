/* loop.h -- how one thread waits for many: sockets, posts of other threads, timers.
 *
 *     net_loop_open(&loop, clock);
 *     while (!atomic_load(&ends))
 *         net_loop_turn(&loop, INT64_MAX);
 *     net_loop_close(&loop);
 * A watch, a post and a timer are part of what they belong to (OWNER_OF finds the whole), so that none of them allocates anything. A turn waits,
 * and then runs what the sockets told, what was posted, and the timers that are due, in this order: a process that was stopped for a while hears
 * the other side before it judges that it was silent.
 * Promises:
 *   1. A post runs in the loop's thread in the turn that takes it, after everything that was posted before it. What was posted before it is
 *      seen by it. One that is posted by an event or a post of the same turn may run in the next turn.
 *   2. After net_loop_wake the thread does not wait before it has begun another turn. Wakes that come together may share one.
 *   3. Nothing is lost: what was posted, or which wake was given, before the thread waits ends that wait.
 *   4. Only the events of a turn are at hand together, up to NET_LOOP_EVENTS. In an event, free nothing that is watched but the event's own
 *      watch; a post or a timer may free any, since no event of the turn is left then. Closing a socket ends its watch,
 *      unless it has a second handle (dup): then forget it first.
 * Not promised: fairness between sockets beyond a batch. Whoever has much to do stops, and goes on in a later turn. */
#pragma once

#include <stdatomic.h>
#include <sys/epoll.h>

#include "base/world.h"
#include "net/timers.h"

enum { NET_LOOP_EVENTS = 256 };

/* Part of whatever has a socket: what to call with its EPOLL… */
typedef struct NetWatch {
    void (*event)(struct NetWatch *watch, uint32_t events);
} NetWatch;

/* Part of whatever is handed over to the loop's thread. It may be posted again as soon as it runs. */
typedef struct NetPost {
    struct NetPost *next;
    void (*run)(struct NetPost *post);
} NetPost;

typedef struct NetLoop {
    Clock clock;
    int epoll_fd, wake_fd;
    _Atomic(NetPost *) inbox; /* the newest first */
    _Atomic unsigned posting; /* threads that are inside net_loop_post */
    _Atomic int64_t since_us; /* it has not waited for anything since then; 0: it waits */
    Timers timers;
    int64_t now_us; /* steady, of this turn; what takes long may read the clock into it again */
    int event_count;
    struct epoll_event events[NET_LOOP_EVENTS]; /* of this turn */
} NetLoop;

void net_loop_open(NetLoop *loop, Clock clock);
/* Nobody begins to post or to wake any more; it waits for those who are still at the end of net_loop_post, so a loop may be closed and its memory
 * freed as soon as the last post has run. What was posted and has not run is forgotten, and so are the timers; sockets are their owners' to
 * close. */
void net_loop_close(NetLoop *loop);

/* ---- By the loop's thread, or while it does not run ---- */

/* False: the kernel has no room for one more. */
MUST_USE bool net_loop_watch(NetLoop *loop, int fd, uint32_t events, NetWatch *watch);
/* Other events from now on, of one that is watched. */
void net_loop_change(NetLoop *loop, int fd, uint32_t events, NetWatch *watch);
/* The kernel tells no more of it. One that is not watched is fine. */
void net_loop_forget(NetLoop *loop, int fd);
/* Waits until then at most (0: not at all, INT64_MAX: for ever), or until the first timer; then runs what there is. */
void net_loop_turn(NetLoop *loop, int64_t until_us);
/* Runs what was posted, without waiting: for the end. */
void net_loop_run_posts(NetLoop *loop);

/* The two halves of a turn, for a thread that gives a lock back while it waits: waiting touches neither timers nor now_us. */
void net_loop_wait(NetLoop *loop, int64_t until_us);
void net_loop_serve(NetLoop *loop);

/* ---- From any thread ---- */

/* The post is the loop's until it runs. Without a lock; of several only the first wakes the thread. */
void net_loop_post(NetLoop *loop, NetPost *post);
void net_loop_wake(NetLoop *loop);
/* For how long its turn has been going on; 0: it waits. */
int64_t net_loop_busy_us(const NetLoop *loop);
