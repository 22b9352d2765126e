/* loop.c -- see loop.h. */
#include "net/loop.h"

#include <errno.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ---- Waking and posting ---- */

/* Watched by its edge: each write wakes, and nobody has to read what was written. */
void net_loop_wake(NetLoop *loop)
{
    uint64_t one = 1;
    CHECK(write(loop->wake_fd, &one, sizeof one) == (ssize_t)sizeof one);
}

/* Whoever finds it empty wakes the thread; those who follow need not. The thread may already run the post, and end, before the wake is given:
 * net_loop_close waits for that. */
void net_loop_post(NetLoop *loop, NetPost *post)
{
    atomic_fetch_add_explicit(&loop->posting, 1, memory_order_relaxed);
    NetPost *first = atomic_load_explicit(&loop->inbox, memory_order_relaxed);
    do
        post->next = first;
    while (!atomic_compare_exchange_weak_explicit(&loop->inbox, &first, post, memory_order_release,
                                                  memory_order_relaxed));
    if (first == NULL)
        net_loop_wake(loop);
    atomic_fetch_sub_explicit(&loop->posting, 1, memory_order_release);
}

/* The oldest first. */
static NetPost *take_inbox(NetLoop *loop)
{
    NetPost *newest = atomic_exchange_explicit(&loop->inbox, NULL, memory_order_acquire),
            *ordered = NULL;
    while (newest != NULL) {
        NetPost *next = newest->next;
        newest->next = ordered;
        ordered = newest;
        newest = next;
    }
    return ordered;
}

void net_loop_run_posts(NetLoop *loop)
{
    for (NetPost *post = take_inbox(loop), *next; post != NULL; post = next) {
        next = post->next;
        post->run(post);
    }
}

int64_t net_loop_busy_us(const NetLoop *loop)
{
    int64_t since_us = atomic_load_explicit(&loop->since_us, memory_order_relaxed);
    return since_us == 0 ? 0 : clock_steady_us(loop->clock) - since_us;
}

/* ---- Watching ---- */

bool net_loop_watch(NetLoop *loop, int fd, uint32_t events, NetWatch *watch)
{
    struct epoll_event wanted = {.events = events, .data.ptr = watch};
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &wanted) == 0)
        return true;
    CHECK(errno == ENOSPC || errno == ENOMEM);
    return false;
}

void net_loop_change(NetLoop *loop, int fd, uint32_t events, NetWatch *watch)
{
    struct epoll_event wanted = {.events = events, .data.ptr = watch};
    CHECK(epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, fd, &wanted) == 0);
}

void net_loop_forget(NetLoop *loop, int fd)
{
    CHECK(epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd, NULL) == 0 || errno == ENOENT);
}

/* ---- A turn ---- */

/* At least the time that is left, so that what was waited for is due; a far moment is waited for in several turns. */
static int timeout_ms(const NetLoop *loop, int64_t until_us)
{
    enum { MOST_S = 3600 };
    if (until_us == INT64_MAX)
        return -1;
    int64_t left_us = until_us <= 0 ? 0 : until_us - clock_steady_us(loop->clock);
    if (left_us > MOST_S * US_PER_S)
        left_us = MOST_S * US_PER_S;
    return left_us <= 0 ? 0 : (int)((left_us + US_PER_MS - 1) / US_PER_MS);
}

void net_loop_wait(NetLoop *loop, int64_t until_us)
{
    atomic_store_explicit(&loop->since_us, 0, memory_order_relaxed);
    int count =
        epoll_wait(loop->epoll_fd, loop->events, NET_LOOP_EVENTS, timeout_ms(loop, until_us));
    CHECK(count >= 0 || errno == EINTR);
    loop->event_count = count > 0 ? count : 0;
}

void net_loop_serve(NetLoop *loop)
{
    loop->now_us = clock_steady_us(loop->clock);
    atomic_store_explicit(&loop->since_us, loop->now_us, memory_order_relaxed);
    for (int i = 0; i < loop->event_count; i++) {
        NetWatch *watch = loop->events[i].data.ptr;
        if (watch != NULL) /* NULL: we were woken, and that was all */
            watch->event(watch, loop->events[i].events);
    }
    loop->event_count = 0;
    net_loop_run_posts(loop);
    timers_run(&loop->timers, loop->now_us);
}

void net_loop_turn(NetLoop *loop, int64_t until_us)
{
    int64_t timer_us = timers_next_us(&loop->timers);
    net_loop_wait(loop, timer_us < until_us ? timer_us : until_us);
    net_loop_serve(loop);
}

/* ---- Start and end ---- */

void net_loop_open(NetLoop *loop, Clock clock)
{
    struct epoll_event wake = {.events = EPOLLIN | EPOLLET, .data.ptr = NULL};
    *loop = (NetLoop){.clock = clock,
                      .epoll_fd = epoll_create1(EPOLL_CLOEXEC),
                      .wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                      .now_us = clock_steady_us(clock)};
    CHECK(loop->epoll_fd >= 0 && loop->wake_fd >= 0);
    CHECK(epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->wake_fd, &wake) == 0);
}

/* Whoever posted what has run was counted before it was seen. What is left to them is one system call that does not wait. */
void net_loop_close(NetLoop *loop)
{
    while (atomic_load_explicit(&loop->posting, memory_order_acquire) > 0)
        sched_yield();
    close(loop->epoll_fd);
    close(loop->wake_fd);
    timers_free(&loop->timers);
}
