/* server.c -- listening, the loop's thread, starting and stopping. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/threads.h"
#include "beanstalk/beanstalk_private.h"

enum { STOP_S = 5 }; /* for what is under way, and for clients to take their answers */

int64_t server_now_ms(const BeanstalkServer *server)
{
    return clock_now_us(server->options.world.clock) / US_PER_MS;
}

/* ---- Connections ------------------------------------------------------------------------------------------- */

static void add_session(BeanstalkServer *server, Session *session)
{
    session->after = server->sessions;
    if (session->after != NULL)
        session->after->before = session;
    server->sessions = session;
    server->session_count++;
    server->connections++;
}

void server_forget(Session *session)
{
    BeanstalkServer *server = session->server;
    *(session->before != NULL ? &session->before->after : &server->sessions) = session->after;
    if (session->after != NULL)
        session->after->before = session->before;
    server->session_count--;
    server->producers -= session->producer;
    server->workers -= session->worker;
    if (session->connection.counted)
        address_counts_remove(server->addresses, session->connection.peer, 1);
}

/* Loopback and unix sockets are exempt: there everybody has one address. */
static bool has_place(BeanstalkServer *server, Address peer, bool exempt)
{
    if ((int64_t)server->session_count >= server->options.connections)
        return false;
    if (exempt ||
        address_counts_add(server->addresses, peer, 1) <= server->options.connections_per_address)
        return true;
    address_counts_remove(server->addresses, peer, 1);
    return false;
}

static void accepted(NetListener *listener, int fd, Address peer)
{
    const struct Listener *own = OWNER_OF(listener, struct Listener, net);
    BeanstalkServer *server = own->server;
    bool near = own->is_unix || address_is_loopback(peer);
    if (!has_place(server, peer, near)) {
        close(fd);
        return;
    }
    Session *session = session_new(server);
    session->connection.peer = peer;
    session->connection.local = near || server->options.open;
    session->connection.counted = !near;
    add_session(server, session);
    if (!connection_open(session, fd))
        session_end(session);
}

/* ---- Listening --------------------------------------------------------------------------------------------- */

/* Others than this machine: only where they are asked who they are, or the operator wants it. */
static Status check_open(const BeanstalkOptions *options, Slice where, Reason *reason)
{
    if (options->open || options->auth != NULL)
        return STATUS_OK;
    return reason_set(reason, STATUS_INVALID, "journal_listen",
                      "%.*s is not on loopback: every peer could use every tube; say "
                      "journal_listen_open = on if that is meant",
                      SLICE_ARG(where));
}

static struct Listener *add_listener(BeanstalkServer *server, int fd, bool is_unix, uint16_t port)
{
    struct Listener *listener = &server->listeners[server->listener_count++];
    listener->server = server;
    listener->fd = fd;
    listener->is_unix = is_unix;
    if (server->port == 0)
        server->port = port;
    return listener;
}

static Status listen_at(BeanstalkServer *server, Slice where, Reason *reason)
{
    int fd;
    uint16_t port;
    NetPlace place;
    bool is_unix = slice_starts_with(where, SLICE("unix:"));
    if (server->listener_count == BEANSTALK_LISTENERS_MAX)
        return reason_set(reason, STATUS_INVALID, "journal_listen", "at most %d addresses",
                          BEANSTALK_LISTENERS_MAX);
    if (!is_unix) {
        TRY(net_parse_place(where, &place, reason));
        if (!address_names_loopback(slice_from(place.host)))
            TRY(check_open(&server->options, where, reason));
    }
    TRY(net_listen(where, NET_BACKLOG, &fd, &port, reason));
    add_listener(server, fd, is_unix, port);
    return STATUS_OK;
}

/* A socket that is there already. */
static Status take_socket(BeanstalkServer *server, int fd, Reason *reason)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof address;
    int listens = 0;
    socklen_t int_size = sizeof listens;
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &int_size) != 0 || listens == 0)
        return reason_set(reason, STATUS_INVALID, "LISTEN_FDS", "%d is no socket that listens", fd);
    bool is_unix = address.ss_family == AF_UNIX;
    if (!is_unix && !address_is_loopback(address_of_socket((const struct sockaddr *)&address)))
        TRY(check_open(&server->options, SLICE("a socket of LISTEN_FDS"), reason));
    if (server->listener_count == BEANSTALK_LISTENERS_MAX)
        return reason_set(reason, STATUS_INVALID, "LISTEN_FDS", "at most %d sockets",
                          BEANSTALK_LISTENERS_MAX);
    if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
        return reason_set(reason, STATUS_INVALID, "LISTEN_FDS", "%d: %s", fd,
                          strerrordesc_np(errno));
    add_listener(server, fd, is_unix, 0)->given = true;
    return STATUS_OK;
}

static Status listen_everywhere(BeanstalkServer *server, Reason *reason)
{
    const BeanstalkOptions *options = &server->options;
    for (size_t i = 0; i < options->socket_count; i++)
        TRY(take_socket(server, options->sockets[i], reason));
    for (size_t i = 0; i < options->listen_count; i++)
        TRY(listen_at(server, options->listen[i], reason));
    return STATUS_OK;
}

/* ---- The thread -------------------------------------------------------------------------------------------- */

static void each_session(BeanstalkServer *server, void (*act)(Session *session))
{
    for (Session *session = server->sessions, *after; session != NULL; session = after) {
        after = session->after;
        act(session);
    }
}

static void *serve(void *argument)
{
    BeanstalkServer *server = argument;
    NetLoop *loop = &server->loop;
    for (size_t i = 0; i < server->listener_count; i++)
        net_listener_start(&server->listeners[i].net, loop, server->listeners[i].fd, accepted);
    while (!atomic_load(&server->stopping))
        net_loop_turn(loop, INT64_MAX);
    for (size_t i = 0; i < server->listener_count; i++)
        net_listener_stop(&server->listeners[i].net);
    int64_t until_us = loop->now_us + STOP_S * US_PER_S;
    each_session(server, session_stop);
    while (server->session_count > 0 && loop->now_us < until_us)
        net_loop_turn(loop, until_us);
    each_session(server, session_end);
    while (server->session_count > 0)
        net_loop_turn(loop, INT64_MAX);
    return NULL;
}

/* ---- Start and stop ---------------------------------------------------------------------------------------- */

static void free_server(BeanstalkServer *server)
{
    for (size_t i = 0; i < server->listener_count; i++)
        if (server->listeners[i].given)
            close(server->listeners[i].fd); /* its file is not ours */
        else
            net_unlisten(server->listeners[i].fd);
    net_loop_close(&server->loop);
    tubes_free(server);
    address_counts_free(server->addresses);
    arena_free(server->declaration_arena);
    free(server);
}

Status beanstalk_start(const BeanstalkOptions *options, BeanstalkServer **ret_server,
                       Reason *reason)
{
    BeanstalkServer *server = calloc(1, sizeof *server);
    CHECK(server != NULL);
    server->options = *options;
    server->declaration_arena = arena_new();
    server->addresses = address_counts_new();
    net_loop_open(&server->loop, options->world.clock);
    server->started_us = server->loop.now_us;
    snprintf(server->id, sizeof server->id, "%016llx",
             (unsigned long long)random_u64(options->world.random));
    CHECK(uname(&server->machine) == 0);
    Status status = listen_everywhere(server, reason);
    if (status != STATUS_OK) {
        free_server(server);
        return status;
    }
    *ret_server = server;
    if (options->journals != NULL)
        beanstalk_serve(server, options->journals);
    return STATUS_OK;
}

void beanstalk_serve(BeanstalkServer *server, Journals *journals)
{
    CHECK(!server->serving);
    server->journals = journals;
    server->serving = true;
    auth_start(server);
    server->thread = thread_start(THREAD_BEANSTALK, serve, server);
}

uint16_t beanstalk_port(const BeanstalkServer *server)
{
    return server->port;
}

void beanstalk_drain(BeanstalkServer *server)
{
    atomic_store(&server->draining, true);
}

void beanstalk_stop(BeanstalkServer *server)
{
    if (server->serving) {
        atomic_store(&server->stopping, true);
        net_loop_wake(&server->loop);
        pthread_join(server->thread, NULL);
        auth_stop(server);
    }
    free_server(server);
}
