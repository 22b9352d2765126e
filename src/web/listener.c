/* listener.c -- the listening socket, and the acceptor: the thread that accepts connections and keeps time.
 *
 * One thread accepts for all loops: so the limits are kept and a stop begins in one place, and connections are spread evenly. */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/threads.h"
#include "web/server_private.h"

enum { ACCEPTS_IN_A_ROW = 64 };

Status listener_open(WebServer *server, Reason *reason)
{
    TRY(net_listen(slice_from(server->options.config->listen), NET_BACKLOG, &server->listen_fd,
                   &server->port, reason));
    server->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CHECK(server->wake_fd >= 0);
    return STATUS_OK;
}

/* ---- The acceptor ---- */

/* The loops in turn; one that is held up is left out, unless all are. */
static Loop *next_loop(WebServer *server)
{
    size_t count = (size_t)server->options.config->web_threads, chosen = server->next_loop;
    for (size_t i = 0; i < count && loop_is_held_up(&server->loops[chosen]); i++)
        chosen = (chosen + 1) % count;
    server->next_loop = (chosen + 1) % count;
    return &server->loops[chosen];
}

static void give_to_loop(WebServer *server, int fd, Address peer)
{
    Connection *connection = connections_add(server->connections, fd, peer);
    if (connection == NULL) {
        close(fd);
        return;
    }
    Loop *loop = next_loop(server);
    loop_give(loop, channel_new(loop, connection, fd));
}

/* False when no more can be accepted for now: all taken, none left in the queue, or out of files. */
static bool accept_one(WebServer *server)
{
    Address peer;
    int fd = net_accept(server->listen_fd, &peer);
    if (fd < 0)
        return errno == EINTR || errno == ECONNABORTED;
    if (atomic_load(&server->stopping))
        close(fd);
    else
        give_to_loop(server, fd, peer);
    return true;
}

/* Fills the set with what the acceptor waits for; the listening socket is the second. */
static nfds_t wait_set(WebServer *server, bool accepts, struct pollfd *set)
{
    int draining[CONNECTIONS_LINGER_MAX];
    size_t count = connections_lingering(server->connections, draining);
    set[0] = (struct pollfd){.fd = server->wake_fd, .events = POLLIN};
    set[1] = (struct pollfd){.fd = accepts ? server->listen_fd : -1, .events = POLLIN};
    for (size_t i = 0; i < count; i++)
        set[2 + i] = (struct pollfd){.fd = draining[i], .events = POLLIN};
    return (nfds_t)(2 + count);
}

/* When a socket is ready but cannot be accepted (no open files left), asking again at once would spin: the acceptor then
 * accepts nothing until the next tick. */
static bool accept_some(WebServer *server)
{
    for (int i = 0; i < ACCEPTS_IN_A_ROW; i++)
        if (!accept_one(server))
            return errno == EAGAIN;
    return true;
}

static void *keep(void *context)
{
    WebServer *server = context;
    Clock clock = server->options.world.clock;
    struct pollfd set[2 + CONNECTIONS_LINGER_MAX];
    int64_t tick_us = CONNECTIONS_TICK_MS * US_PER_MS, next_us = clock_steady_us(clock) + tick_us;
    bool accepts = true;
    while (!atomic_load(&server->acceptor_ends)) {
        int64_t left_us = next_us - clock_steady_us(clock);
        nfds_t count = wait_set(server, accepts && !atomic_load(&server->stopping), set);
        poll(set, count, left_us > 0 ? (int)(left_us / US_PER_MS) + 1 : 0);
        if (set[1].revents != 0)
            accepts = accept_some(server);
        if (count > 2)
            connections_drain(server->connections);
        if (clock_steady_us(clock) < next_us)
            continue;
        connections_tick(server->connections);
        connections_drain(server->connections);
        health_log_changes(server);
        log_flush(server->options.log);
        next_us = clock_steady_us(clock) + tick_us;
        accepts = true;
    }
    return NULL;
}

void acceptor_start(WebServer *server)
{
    server->acceptor = thread_start(THREAD_WEB_ACCEPTOR, keep, server);
}

static void wake_acceptor(WebServer *server)
{
    uint64_t one = 1;
    CHECK(write(server->wake_fd, &one, sizeof one) == sizeof one);
}

void listener_close(WebServer *server)
{
    /* Refuses at once, whatever the acceptor is doing; the number stays taken until the acceptor has ended. */
    shutdown(server->listen_fd, SHUT_RDWR);
    wake_acceptor(server);
}

void acceptor_stop(WebServer *server)
{
    atomic_store(&server->acceptor_ends, true);
    wake_acceptor(server);
    pthread_join(server->acceptor, NULL);
    close(server->listen_fd);
    close(server->wake_fd);
}
