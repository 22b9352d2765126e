/* listener.c -- the listening socket, and the acceptor: the thread that accepts connections and keeps time.
 *
 * One thread accepts for all loops: so the limits are kept and a stop begins in one place, and connections are spread evenly. */
#include <unistd.h>

#include "base/threads.h"
#include "web/server_private.h"

Status listener_open(WebServer *server, Reason *reason)
{
    return net_listen(slice_from(server->options.config->listen), NET_BACKLOG, &server->listen_fd,
                      &server->port, reason);
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

static void give_to_loop(NetListener *listener, int fd, Address peer)
{
    WebServer *server = OWNER_OF(listener, WebServer, listener);
    Connection *connection =
        atomic_load(&server->stopping) ? NULL : connections_add(server->connections, fd, peer);
    if (connection == NULL) {
        close(fd);
        return;
    }
    Loop *loop = next_loop(server);
    loop_give(loop, channel_new(loop, connection, fd));
}

static void set_tick(WebServer *server)
{
    timers_set(&server->keeper.timers, &server->tick,
               clock_steady_us(server->keeper.clock) + CONNECTIONS_TICK_MS * US_PER_MS);
}

static void tick(Timer *timer)
{
    WebServer *server = OWNER_OF(timer, WebServer, tick);
    connections_tick(server->connections);
    health_log_changes(server);
    log_flush(server->options.log);
    set_tick(server);
}

static void *keep(void *context)
{
    WebServer *server = context;
    server->tick.due = tick;
    set_tick(server);
    net_listener_start(&server->listener, &server->keeper, server->listen_fd, give_to_loop);
    while (!atomic_load(&server->acceptor_ends)) {
        net_loop_turn(&server->keeper, INT64_MAX);
        if (atomic_load(&server->stopping))
            net_listener_stop(&server->listener);
    }
    return NULL;
}

void acceptor_start(WebServer *server)
{
    server->acceptor = thread_start(THREAD_WEB_ACCEPTOR, keep, server);
}

void listener_close(WebServer *server)
{
    /* Refuses at once, whatever the acceptor is doing; the number stays taken until the acceptor has ended. */
    shutdown(server->listen_fd, SHUT_RDWR);
    net_loop_wake(&server->keeper);
}

void acceptor_stop(WebServer *server)
{
    atomic_store(&server->acceptor_ends, true);
    net_loop_wake(&server->keeper);
    pthread_join(server->acceptor, NULL);
    net_unlisten(server->listen_fd);
}
