/* connection.c -- connecting, sending and receiving until a moment. */
#include "connection.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 16 << 10 }; /* bytes asked for at once when it is not known how many will come */

int64_t oj_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

OstrakaJournalStatus oj_say(OjConnection *connection, OstrakaJournalStatus status,
                            const char *sentence, ...)
{
    va_list arguments;
    va_start(arguments, sentence);
    vsnprintf(connection->error, sizeof connection->error, sentence, arguments);
    va_end(arguments);
    return status;
}

void oj_hang_up(OjConnection *connection)
{
    if (connection->fd >= 0)
        close(connection->fd);
    connection->fd = -1;
    connection->at = connection->size = 0;
}

OstrakaJournalStatus oj_lost(OjConnection *connection, const char *why)
{
    oj_hang_up(connection);
    return oj_say(connection,
                  connection->sent ? OSTRAKA_JOURNAL_UNKNOWN : OSTRAKA_JOURNAL_UNAVAILABLE, "%s",
                  why);
}

/* True when the socket is ready for one of `events`, or has failed, which the next call on it says. */
static bool wait_for(int fd, short events, int64_t until_ms)
{
    struct pollfd poll_fd = {.fd = fd, .events = events};
    for (;;) {
        int64_t left = until_ms - oj_now_ms();
        int ready = poll(&poll_fd, 1, left < 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left);
        if (ready != 0 && !(ready < 0 && errno == EINTR))
            return true;
        if (ready == 0 && left <= 0)
            return false;
    }
}

/* ---- Addresses ------------------------------------------------------------------------------------------- */

/* "unix:PATH" has no port. */
static bool split(const char *address, char host[OJ_ADDRESS_MAX], const char **ret_port)
{
    const char *colon = strrchr(address, ':');
    *ret_port = NULL;
    if (strncmp(address, "unix:", 5) == 0) {
        size_t size = strlen(address + 5);
        return size > 0 && size < sizeof((struct sockaddr_un *)0)->sun_path &&
               memcpy(host, address + 5, size + 1);
    }
    if (colon == NULL || colon == address || colon[1] == 0 ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1))
        return false;
    size_t size = (size_t)(colon - address);
    if (address[0] == '[' && colon[-1] == ']') {
        address++;
        size -= 2;
    } else if (memchr(address, ':', size) != NULL) {
        return false;
    }
    if (size == 0 || size >= OJ_ADDRESS_MAX)
        return false;
    memcpy(host, address, size);
    host[size] = 0;
    *ret_port = colon + 1;
    return true;
}

bool oj_address_is_valid(const char *address)
{
    char host[OJ_ADDRESS_MAX];
    const char *port;
    return strlen(address) < OJ_ADDRESS_MAX && split(address, host, &port);
}

/* 0, or the reason as errno has it. */
static int dial_one(OjConnection *connection, int family, const struct sockaddr *address,
                    socklen_t size, int64_t until_ms)
{
    int one = 1, problem = 0;
    socklen_t problem_size = sizeof problem;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return errno;
    if (family != AF_UNIX)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, address, size) != 0) {
        problem = errno;
        if (problem == EINPROGRESS || problem == EINTR) {
            if (!wait_for(fd, POLLOUT, until_ms))
                problem = ETIMEDOUT;
            else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &problem_size) != 0)
                problem = errno;
        }
    }
    if (problem != 0)
        close(fd);
    else
        connection->fd = fd;
    return problem;
}

OstrakaJournalStatus oj_dial(OjConnection *connection, const char *address, int64_t until_ms)
{
    char host[OJ_ADDRESS_MAX];
    const char *port;
    int problem = EINVAL;
    oj_hang_up(connection);
    if (!split(address, host, &port))
        return oj_say(connection, OSTRAKA_JOURNAL_INVALID, "address: not HOST:PORT or unix:PATH");
    if (port == NULL) {
        struct sockaddr_un name = {.sun_family = AF_UNIX};
        memcpy(name.sun_path, host, strlen(host) + 1);
        problem = dial_one(connection, AF_UNIX, (struct sockaddr *)&name, sizeof name, until_ms);
    } else {
        struct addrinfo *list = NULL;
        struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
        int unknown = getaddrinfo(host, port, &hints, &list);
        if (unknown != 0)
            return oj_say(connection, OSTRAKA_JOURNAL_UNAVAILABLE, "%s: %s", address,
                          gai_strerror(unknown));
        for (struct addrinfo *one = list; one != NULL && connection->fd < 0; one = one->ai_next)
            problem = dial_one(connection, one->ai_family, one->ai_addr, one->ai_addrlen, until_ms);
        freeaddrinfo(list);
    }
    return connection->fd >= 0 ? OSTRAKA_JOURNAL_OK
                               : oj_say(connection, OSTRAKA_JOURNAL_UNAVAILABLE, "%s: %s", address,
                                        strerror(problem));
}

/* ---- Bytes ----------------------------------------------------------------------------------------------- */

void oj_begin(OjConnection *connection)
{
    char byte;
    connection->sent = false;
    if (connection->fd >= 0 && recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
        oj_hang_up(connection);
}

static OstrakaJournalStatus send_part(OjConnection *connection, OjPart part, bool more,
                                      int64_t until_ms)
{
    const char *bytes = part.bytes;
    while (part.size > 0) {
        ssize_t written =
            send(connection->fd, bytes, part.size, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
        if (written > 0) {
            connection->sent = true;
            bytes += written;
            part.size -= (size_t)written;
        } else if (written < 0 && errno == EAGAIN) {
            if (!wait_for(connection->fd, POLLOUT, until_ms))
                return oj_lost(connection, "the server took nothing more until the time was over");
        } else if (written == 0 || errno != EINTR) {
            return oj_lost(connection, strerror(errno));
        }
    }
    return OSTRAKA_JOURNAL_OK;
}

OstrakaJournalStatus oj_send(OjConnection *connection, const OjPart *parts, size_t count,
                             int64_t until_ms)
{
    OstrakaJournalStatus status = OSTRAKA_JOURNAL_OK;
    for (size_t i = 0; i < count && status == OSTRAKA_JOURNAL_OK; i++)
        status = send_part(connection, parts[i], i + 1 < count, until_ms);
    return status;
}

/* There is room behind what is received. Memory grows with what has come, not with what a server announces. */
static bool make_room(OjConnection *connection)
{
    if (connection->at + connection->size < connection->capacity)
        return true;
    if (connection->at > 0) {
        memmove(connection->in, connection->in + connection->at, connection->size);
        connection->at = 0;
        return true;
    }
    size_t capacity = connection->capacity < PIECE ? PIECE : connection->capacity * 2;
    char *in = realloc(connection->in, capacity);
    if (in == NULL)
        return false;
    connection->in = in;
    connection->capacity = capacity;
    return true;
}

OstrakaJournalStatus oj_fill(OjConnection *connection, size_t size, int64_t until_ms,
                             bool *ret_over)
{
    while (connection->size < size) {
        if (!make_room(connection))
            return oj_lost(connection, "no memory for the answer");
        size_t end = connection->at + connection->size;
        ssize_t got = recv(connection->fd, connection->in + end, connection->capacity - end, 0);
        if (got > 0) {
            connection->size += (size_t)got;
        } else if (got == 0) {
            return oj_lost(connection, "the server closed the connection");
        } else if (errno == EAGAIN) {
            if (wait_for(connection->fd, POLLIN, until_ms))
                continue;
            if (ret_over == NULL)
                return oj_lost(connection, "no answer until the time was over");
            *ret_over = true;
            return OSTRAKA_JOURNAL_OK;
        } else if (errno != EINTR) {
            return oj_lost(connection, strerror(errno));
        }
    }
    return OSTRAKA_JOURNAL_OK;
}

OstrakaJournalStatus oj_line(OjConnection *connection, size_t from, int64_t until_ms,
                             bool *ret_over, size_t *ret_size)
{
    for (;;) {
        if (connection->size > from) {
            const char *line = connection->in + connection->at + from;
            size_t size = connection->size - from;
            const char *end = memmem(line, size < OJ_LINE_MAX ? size : OJ_LINE_MAX, "\r\n", 2);
            if (end != NULL) {
                *ret_size = (size_t)(end - line);
                return OSTRAKA_JOURNAL_OK;
            }
            if (size >= OJ_LINE_MAX)
                return oj_lost(connection, "the server sends a line that does not end");
        }
        size_t before = connection->size;
        OstrakaJournalStatus status =
            oj_fill(connection, (before > from ? before : from) + 1, until_ms, ret_over);
        if (status != OSTRAKA_JOURNAL_OK || connection->size == before)
            return status;
    }
}

void oj_take(OjConnection *connection, size_t size)
{
    connection->at = size == connection->size ? 0 : connection->at + size;
    connection->size -= size;
}
