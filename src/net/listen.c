/* listen.c -- see listen.h. */
#include "net/listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { ACCEPTS_IN_A_ROW = 64, PAUSE_MS = 250 };

/* ---- Where ---- */

static Status copy_host(Slice host, NetPlace *place, Reason *reason)
{
    if (host.size == 0 || host.size >= sizeof place->host)
        return reason_set(reason, STATUS_INVALID, "listen", "needs a host before the port");
    for (size_t i = 0; i < host.size; i++)
        if ((unsigned char)host.data[i] <= ' ' || host.data[i] == '[' || host.data[i] == ']')
            return reason_set(reason, STATUS_INVALID, "listen",
                              "must look like 127.0.0.1:8080 or [::1]:8080");
    memcpy(place->host, host.data, host.size);
    place->host[host.size] = '\0';
    return STATUS_OK;
}

Status net_parse_place(Slice text, NetPlace *ret_place, Reason *reason)
{
    NetPlace place;
    size_t colon = text.size;
    while (colon > 0 && text.data[colon - 1] != ':')
        colon--;
    uint64_t port;
    if (colon == 0 || slice_to_u64(slice_after(text, colon), &port) != STATUS_OK || port > 65535)
        return reason_set(reason, STATUS_INVALID, "listen",
                          "must end with a colon and a port from 0 to 65535");
    Slice host = slice_of(text.data, colon - 1);
    bool bracketed = host.size >= 2 && host.data[0] == '[' && host.data[host.size - 1] == ']';
    if (!bracketed && slice_find(host, ':') < host.size)
        return reason_set(reason, STATUS_INVALID, "listen",
                          "an IPv6 address stands in brackets, as in [::1]:8080");
    TRY(copy_host(bracketed ? slice_of(host.data + 1, host.size - 2) : host, &place, reason));
    snprintf(place.port, sizeof place.port, "%u", (unsigned)(uint16_t)port);
    *ret_place = place;
    return STATUS_OK;
}

/* ---- Listening ---- */

/* -1: errno says why. */
static int bind_socket(const struct sockaddr *address, socklen_t size, int backlog)
{
    int on = 1;
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    /* A restart must not wait for old connections to time out. */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, address, size) == 0 && listen(fd, backlog) == 0)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static uint16_t bound_port(int fd)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    CHECK(getsockname(fd, (struct sockaddr *)&address, &size) == 0);
    if (address.ss_family == AF_INET6)
        return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return ntohs(((struct sockaddr_in *)&address)->sin_port);
}

static Status listen_tcp(const NetPlace *place, int backlog, int *ret_fd, Reason *reason)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
    int error = getaddrinfo(place->host, place->port, &hints, &found), fd = -1;
    if (error == 0) {
        for (const struct addrinfo *each = found; fd < 0 && each != NULL; each = each->ai_next)
            fd = bind_socket(each->ai_addr, each->ai_addrlen, backlog);
        int why = errno;
        freeaddrinfo(found);
        errno = why;
    }
    if (fd < 0)
        return reason_set(reason, STATUS_UNAVAILABLE, "listen", "cannot serve on %s port %s: %s",
                          place->host, place->port,
                          error != 0 ? gai_strerror(error) : strerrordesc_np(errno));
    *ret_fd = fd;
    return STATUS_OK;
}

/* A socket's file outlives the process that made it. Nobody listens there when the kernel refuses a connection to it. */
static void remove_stale(const struct sockaddr_un *address)
{
    struct stat is;
    if (lstat(address->sun_path, &is) != 0 || !S_ISSOCK(is.st_mode))
        return;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
        errno == ECONNREFUSED)
        unlink(address->sun_path);
    close(fd);
}

static Status listen_unix(Slice path, int backlog, int *ret_fd, Reason *reason)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (path.size == 0 || path.size >= sizeof address.sun_path ||
        slice_find(path, '\0') < path.size)
        return reason_set(reason, STATUS_INVALID, "listen",
                          "a unix socket has a path of 1 to %zu bytes",
                          sizeof address.sun_path - 1);
    memcpy(address.sun_path, path.data, path.size);
    remove_stale(&address);
    int fd = bind_socket((const struct sockaddr *)&address, sizeof address, backlog);
    if (fd < 0)
        return reason_set(reason, STATUS_UNAVAILABLE, "listen", "cannot serve on unix:%s: %s",
                          address.sun_path, strerrordesc_np(errno));
    *ret_fd = fd;
    return STATUS_OK;
}

Status net_listen(Slice where, int backlog, int *ret_fd, uint16_t *ret_port, Reason *reason)
{
    const Slice file = SLICE("unix:");
    NetPlace place;
    if (slice_starts_with(where, file)) {
        TRY(listen_unix(slice_after(where, file.size), backlog, ret_fd, reason));
        *ret_port = 0;
        return STATUS_OK;
    }
    TRY(net_parse_place(where, &place, reason));
    TRY(listen_tcp(&place, backlog, ret_fd, reason));
    *ret_port = bound_port(*ret_fd);
    return STATUS_OK;
}

void net_unlisten(int listen_fd)
{
    struct sockaddr_un address;
    socklen_t size = sizeof address;
    if (getsockname(listen_fd, (struct sockaddr *)&address, &size) == 0 &&
        address.sun_family == AF_UNIX)
        unlink(address.sun_path);
    close(listen_fd);
}

/* ---- Accepting ---- */

int net_accept(int listen_fd, Address *ret_peer)
{
    struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof peer;
    int fd = accept4(listen_fd, (struct sockaddr *)&peer, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    int on = 1;
    if (fd < 0)
        return -1;
    if (peer.ss_family != AF_UNIX)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    *ret_peer = address_of_socket((const struct sockaddr *)&peer);
    return fd;
}

static void begin(NetListener *listener)
{
    /* The kernel has no room to watch it: later. */
    if (!net_loop_watch(listener->loop, listener->fd, EPOLLIN, &listener->watch))
        timers_set(&listener->loop->timers, &listener->pause,
                   listener->loop->now_us + PAUSE_MS * US_PER_MS);
}

static void pause_is_over(Timer *timer)
{
    begin(OWNER_OF(timer, NetListener, pause));
}

/* A socket that is ready but cannot be taken would make the loop spin. */
static void rest(NetListener *listener)
{
    net_loop_forget(listener->loop, listener->fd);
    timers_set(&listener->loop->timers, &listener->pause,
               listener->loop->now_us + PAUSE_MS * US_PER_MS);
}

static void connecting(NetWatch *watch, uint32_t events)
{
    NetListener *listener = OWNER_OF(watch, NetListener, watch);
    (void)events;
    for (int i = 0; i < ACCEPTS_IN_A_ROW && listener->fd >= 0; i++) {
        Address peer;
        int fd = net_accept(listener->fd, &peer);
        if (fd >= 0) {
            listener->accepted(listener, fd, peer);
        } else if (errno != EINTR && errno != ECONNABORTED) {
            if (errno != EAGAIN)
                rest(listener);
            return;
        }
    }
}

void net_listener_start(NetListener *listener, NetLoop *loop, int listen_fd,
                        void (*accepted)(NetListener *listener, int fd, Address peer))
{
    *listener = (NetListener){.loop = loop,
                              .fd = listen_fd,
                              .accepted = accepted,
                              .watch = {connecting},
                              .pause = {.due = pause_is_over}};
    begin(listener);
}

void net_listener_stop(NetListener *listener)
{
    if (listener->fd < 0)
        return;
    timers_clear(&listener->loop->timers, &listener->pause);
    net_loop_forget(listener->loop, listener->fd);
    listener->fd = -1;
}
