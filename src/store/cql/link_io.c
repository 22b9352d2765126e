/* link_io.c -- the socket under a link: connecting, TLS, reading frames, writing what has gathered. See link.h. */
#include "store/cql/link_private.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { READ_SIZE = 64 * 1024, READ_ROUNDS = 16, KEPT_CAPACITY = 1024 * 1024 };
enum { TLS_RECORD = 16 * 1024 };

/* ---- Opening and closing ----------------------------------------------------------------------------------- */

static void want(Link *link, uint32_t interest)
{
    if (interest != link->interest)
        net_loop_change(&link->loop->net, link->fd, interest, &link->watch);
    link->interest = interest;
}

static void react(NetWatch *watch, uint32_t events);

bool link_io_open(Link *link, const LinkTarget *target)
{
    const Endpoint *endpoint = &target->endpoint;
    int on = 1;
    link->fd = socket(endpoint->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (link->fd < 0) {
        link->failed = errno;
        return false;
    }
    setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(link->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    if (connect(link->fd, (const struct sockaddr *)&endpoint->address, endpoint->size) != 0 &&
        errno != EINPROGRESS) {
        link->failed = errno;
        return false;
    }
    link->watch.event = react;
    link->interest = EPOLLOUT;
    if (net_loop_watch(&link->loop->net, link->fd, link->interest, &link->watch))
        return true;
    link->failed = errno;
    return false;
}

void link_io_close(Link *link)
{
    tls_session_free(link->tls);
    link->tls = NULL;
    if (link->fd >= 0)
        close(link->fd); /* which takes it out of epoll, too */
    link->fd = -1;
}

static void break_off(Link *link, int error)
{
    link_close(link, STATUS_UNAVAILABLE,
               error == 0 ? "the connection was closed" : strerrordesc_np(error));
}

static void break_off_tls(Link *link)
{
    bool certificate;
    const char *words = tls_words(link->tls, &certificate);
    char text[CQL_WORDS];
    snprintf(text, sizeof text, certificate ? "its certificate is refused: %s" : "TLS failed: %s",
             words);
    link_close(link, certificate ? STATUS_INVALID : STATUS_UNAVAILABLE, text);
}

/* ---- Connecting -------------------------------------------------------------------------------------------- */

static void shake_hands(Link *link)
{
    switch (tls_handshake(link->tls)) {
    case TLS_DONE:
        want(link, EPOLLIN);
        link_connected(link);
        return;
    case TLS_WANTS_READ:
        want(link, EPOLLIN);
        return;
    case TLS_WANTS_WRITE:
        want(link, EPOLLOUT);
        return;
    case TLS_ENDED:
    case TLS_FAILED:
        break_off_tls(link);
    }
}

static void finish_connecting(Link *link)
{
    int error = 0;
    socklen_t size = sizeof error;
    CHECK(getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0);
    if (error != 0) {
        break_off(link, error);
        return;
    }
    if (link->settings->tls == NULL) {
        want(link, EPOLLIN);
        link_connected(link);
        return;
    }
    link->state = LINK_SHAKING;
    link->tls = tls_session(link->settings->tls, link->fd, link->tls_name);
    if (link->tls == NULL)
        link_close(link, STATUS_INVALID, "its name cannot be checked in a certificate");
    else
        shake_hands(link);
}

/* ---- Writing ----------------------------------------------------------------------------------------------- */

static Slice unsent(const Link *link)
{
    return slice_after(buffer_slice(&link->out), link->out_at);
}

static void took(Link *link, size_t count)
{
    link->out_at += count;
    link->taken += count;
    if (link->offered < link->taken)
        link->offered = link->taken;
}

/* True: go on writing. */
static bool write_plain(Link *link)
{
    Slice bytes = unsent(link);
    ssize_t count = send(link->fd, bytes.data, bytes.size, MSG_NOSIGNAL);
    if (count >= 0) {
        took(link, (size_t)count);
        return true;
    }
    if (errno != EAGAIN && errno != EINTR)
        break_off(link, errno);
    return errno == EINTR;
}

static bool write_tls(Link *link)
{
    Slice bytes = unsent(link);
    size_t count = 0, record = bytes.size < TLS_RECORD ? bytes.size : TLS_RECORD;
    link->offered = link->taken + record;
    TlsStep step = tls_write(link->tls, bytes, &count);
    if (step == TLS_DONE)
        took(link, count);
    else if (step != TLS_WANTS_READ && step != TLS_WANTS_WRITE)
        break_off_tls(link);
    return step == TLS_DONE;
}

void link_io_flush(Link *link)
{
    if (link->state < LINK_STARTING || link->state == LINK_ENDED)
        return;
    bool goes_on = true;
    while (goes_on && link->state != LINK_ENDED && unsent(link).size > 0)
        goes_on = link->tls != NULL ? write_tls(link) : write_plain(link);
    if (link->state == LINK_ENDED)
        return;
    Slice rest = unsent(link);
    if (rest.size == 0) {
        buffer_clear(&link->out);
        link->out_at = 0;
        if (link->out.capacity > KEPT_CAPACITY)
            buffer_free(&link->out);
    } else if (link->out_at > KEPT_CAPACITY) {
        memmove(link->out.data, rest.data, rest.size);
        link->out.size = rest.size;
        link->out_at = 0;
    }
    want(link, unsent(link).size > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

size_t link_io_backlog(const Link *link)
{
    int queued = 0;
    CHECK(ioctl(link->fd, SIOCOUTQ, &queued) == 0 && queued >= 0);
    return (size_t)queued + unsent(link).size;
}

/* ---- Reading ----------------------------------------------------------------------------------------------- */

/* Takes one frame from the front of `rest`, or a piece of one that is skipped; false: there is no whole one. */
static bool take_one(Link *link, Slice *rest)
{
    WireFrame frame;
    if (link->skip > 0) {
        size_t size = link->skip < rest->size ? link->skip : rest->size;
        link->skip -= size;
        *rest = slice_after(*rest, size);
    }
    if (rest->size < WIRE_HEAD)
        return false;
    if (wire_read_head(slice_of(rest->data, WIRE_HEAD), &frame) != STATUS_OK) {
        link_close(link, STATUS_INVALID, "it does not speak Cassandra's protocol");
        return false;
    }
    if (frame.too_large) {
        link->skip = frame.length;
        *rest = slice_after(*rest, WIRE_HEAD);
    } else {
        if (rest->size - WIRE_HEAD < frame.length)
            return false;
        frame.body = slice_of(rest->data + WIRE_HEAD, frame.length);
        *rest = slice_after(*rest, WIRE_HEAD + frame.length);
    }
    link_take(link, &frame);
    return link->state != LINK_ENDED;
}

static void take_frames(Link *link)
{
    Slice rest = buffer_slice(&link->in);
    while (take_one(link, &rest))
        continue;
    if (link->state == LINK_ENDED)
        return;
    if (rest.size > 0 && rest.size < link->in.size)
        memmove(link->in.data, rest.data, rest.size);
    link->in.size = rest.size;
    if (rest.size == 0 && link->in.capacity > KEPT_CAPACITY)
        buffer_free(&link->in);
}

/* For what is on its way: the rest of a large frame, which then needs fewer reads, or whatever comes. */
static size_t read_size(const Link *link)
{
    WireFrame frame;
    if (link->in.size < WIRE_HEAD ||
        wire_read_head(slice_of(link->in.data, WIRE_HEAD), &frame) != STATUS_OK ||
        frame.too_large || WIRE_HEAD + frame.length < link->in.size + READ_SIZE)
        return READ_SIZE;
    return WIRE_HEAD + frame.length - link->in.size;
}

/* True: there may be more. */
static bool read_once(Link *link)
{
    size_t size = read_size(link), count = 0;
    char *to = buffer_reserve(&link->in, size);
    TlsStep step;
    if (link->tls != NULL) {
        step = tls_read(link->tls, to, size, &count);
    } else {
        ssize_t got = recv(link->fd, to, size, 0);
        count = got > 0 ? (size_t)got : 0;
        step = got > 0 ? TLS_DONE : got == 0 ? TLS_ENDED : TLS_FAILED;
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            step = TLS_WANTS_READ;
    }
    if (step == TLS_DONE) {
        link->in.size += count;
        link_hear(link);
        take_frames(link);
        return link->state != LINK_ENDED && (link->tls != NULL || count == size);
    }
    if (step == TLS_ENDED)
        break_off(link, 0);
    else if (step == TLS_FAILED && link->tls != NULL)
        break_off_tls(link);
    else if (step == TLS_FAILED)
        break_off(link, errno);
    return false;
}

/* What TLS has taken off the socket epoll does not tell of again: that is read to the end whatever it takes. */
static void read_rounds(Link *link)
{
    for (int round = 0; read_once(link); round++)
        if (round >= READ_ROUNDS && !(link->tls != NULL && tls_pending(link->tls)))
            return;
}

static void react(NetWatch *watch, uint32_t events)
{
    Link *link = OWNER_OF(watch, Link, watch);
    if (link->state == LINK_ENDED)
        return;
    if (link->state == LINK_CONNECTING) {
        finish_connecting(link);
    } else if (link->state == LINK_SHAKING) {
        shake_hands(link);
    } else {
        if ((events & ~(uint32_t)EPOLLOUT) != 0 || link->tls != NULL)
            read_rounds(link);
        if (link->state != LINK_ENDED && unsent(link).size > 0)
            link_mark_dirty(link);
    }
}
