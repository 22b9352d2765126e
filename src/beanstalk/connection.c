/* connection.c -- the bytes of a connection: reading ahead, writing what the client takes, deadlines, memory.
 *
 * While the journals work on a command nothing is read, because the request points into the input. A socket that has something to say meanwhile is
 * not watched for input until the answer is there; one that waits for its answer, as most do, costs no system call for that. */
#include "beanstalk/beanstalk_private.h"

#include <errno.h>
#include <unistd.h>

/* ---- Memory ------------------------------------------------------------------------------------------------ */

enum { STEP = 16 * 1024 };

/* What every connection has anyway does not count. */
static size_t beyond(size_t capacity)
{
    return capacity > READ_AHEAD ? capacity - READ_AHEAD : 0;
}

/* A session may end while it runs, but only that one. */
static void feed(NetPost *post)
{
    BeanstalkServer *server = OWNER_OF(post, BeanstalkServer, feed);
    server->feeding = false;
    for (Session *session = server->sessions, *after; session != NULL; session = after) {
        after = session->after;
        if (!session->starved)
            continue;
        connection_starve(session, false);
        session_run(session);
    }
}

static void charge(Session *session)
{
    Connection *connection = &session->connection;
    BeanstalkServer *server = session->server;
    size_t now = beyond(connection->in.capacity) + beyond(connection->out.capacity);
    server->memory += (int64_t)now - (int64_t)connection->charged;
    connection->charged = now;
    if (server->memory > server->options.memory || server->feeding || server->starved == 0)
        return;
    server->feeding = true;
    server->feed.run = feed;
    net_loop_post(&server->loop, &server->feed);
}

void connection_starve(Session *session, bool starved)
{
    if (starved != session->starved)
        session->server->starved += starved ? 1 : (size_t)-1;
    session->starved = starved;
}

/* ---- Input ------------------------------------------------------------------------------------------------- */

Slice connection_input(const Session *session)
{
    return slice_after(buffer_slice(&session->connection.in), session->connection.in_at);
}

void connection_used(Session *session, size_t size)
{
    session->connection.in_at += size;
}

/* What is used is gone; a large buffer goes with it. */
static void compact(Connection *connection)
{
    Buffer *in = &connection->in;
    size_t left = in->size - connection->in_at;
    if (left == 0 && in->capacity > STEP) {
        buffer_free(in);
        *in = (Buffer){0};
    } else if (left > 0 && connection->in_at > 0) {
        memmove(in->data, in->data + connection->in_at, left);
    }
    in->size = left;
    connection->in_at = 0;
}

bool connection_read(Session *session, size_t wanted)
{
    Connection *connection = &session->connection;
    Buffer *in = &connection->in;
    compact(connection);
    size_t most = wanted > READ_AHEAD ? wanted : READ_AHEAD;
    if (connection->eof || in->size >= most)
        return false;
    size_t room = most - in->size;
    if (room > STEP &&
        in->capacity - in->size < room) /* grows with what comes, not with what is announced */
        room = in->capacity - in->size >= STEP ? in->capacity - in->size : STEP;
    ssize_t got;
    do
        got = recv(connection->fd, buffer_reserve(in, room), room, 0);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        in->size += (size_t)got;
    else if (got == 0 || errno != EAGAIN)
        connection->eof = true;
    charge(session);
    return got > 0;
}

/* ---- Output ------------------------------------------------------------------------------------------------ */

size_t connection_unsent(const Session *session)
{
    return session->connection.out.size - session->connection.out_at;
}

/* False: the client is gone. */
static bool send_some(Session *session)
{
    Connection *connection = &session->connection;
    Buffer *out = &connection->out;
    while (connection->out_at < out->size) {
        ssize_t sent = send(connection->fd, out->data + connection->out_at,
                            out->size - connection->out_at, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return errno == EAGAIN && connection->watched;
        connection->out_at += (size_t)sent;
        connection->write_by_us = session->server->loop.now_us + WRITE_S * US_PER_S;
    }
    connection->write_by_us = 0;
    connection->out_at = 0;
    buffer_clear(out);
    if (out->capacity > READ_AHEAD) {
        buffer_free(out);
        *out = (Buffer){0};
    }
    return true;
}

/* ---- Waiting ----------------------------------------------------------------------------------------------- */

static void set_deadline(Session *session)
{
    Connection *connection = &session->connection;
    Timers *timers = &session->server->loop.timers;
    int64_t by_us = connection->read_by_us;
    if (by_us == 0 || (connection->write_by_us != 0 && connection->write_by_us < by_us))
        by_us = connection->write_by_us;
    if (by_us == 0)
        timers_clear(timers, &connection->timer);
    else if (!timer_is_set(&connection->timer) || connection->timer.at_us != by_us)
        timers_set(timers, &connection->timer, by_us);
}

static void watch_for(Session *session, uint32_t events)
{
    Connection *connection = &session->connection;
    if (events != connection->events && connection->watched)
        net_loop_change(&session->server->loop, connection->fd, events, &connection->watch);
    connection->events = events;
}

bool connection_settle(Session *session)
{
    Connection *connection = &session->connection;
    if (session->closing)
        return false;
    int64_t now_us = session->server->loop.now_us;
    bool alive = send_some(session);
    charge(session);
    if (!alive || (session->quits && connection_unsent(session) == 0 && session->then == NULL)) {
        session_end(session);
        return false;
    }
    if (connection_unsent(session) > 0 && connection->write_by_us == 0)
        connection->write_by_us = now_us + WRITE_S * US_PER_S;
    uint64_t announced = session_announced(session);
    if (!session_reads(session) || announced == 0)
        connection->read_by_us = 0;
    else if (connection->read_by_us == 0)
        connection->read_by_us =
            now_us + (COMMAND_S + (int64_t)(announced / READ_AHEAD)) * US_PER_S;
    set_deadline(session);
    uint32_t events = connection->events & ~(uint32_t)EPOLLOUT;
    if (session_reads(session) && !connection->eof)
        events |= EPOLLIN;
    if (connection_unsent(session) > 0)
        events |= EPOLLOUT;
    watch_for(session, events);
    return true;
}

static void too_late(Timer *timer)
{
    session_end(OWNER_OF(timer, Session, connection.timer));
}

/* What the kernel cannot be asked not to tell: such a socket is not watched any more; reading and writing find out. */
static void stop_watching(Session *session)
{
    session->connection.watched = false;
    net_loop_forget(&session->server->loop, session->connection.fd);
}

static void event(NetWatch *watch, uint32_t events)
{
    Session *session = OWNER_OF(watch, Session, connection.watch);
    Connection *connection = &session->connection;
    bool ends = (events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0;
    if ((events & (EPOLLHUP | EPOLLERR)) != 0)
        stop_watching(session);
    if (ends) {
        watch_for(session, connection->events & ~(uint32_t)EPOLLRDHUP);
        connection->hangup = true;
        session_cancel(session);
    }
    if ((events & EPOLLOUT) != 0 && !send_some(session)) {
        session_end(session);
        return;
    }
    if ((events & EPOLLIN) != 0 && !session_reads(session))
        watch_for(session, connection->events & ~(uint32_t)EPOLLIN);
    session_run(session);
}

/* ---- Begin and end ----------------------------------------------------------------------------------------- */

bool connection_open(Session *session, int fd)
{
    Connection *connection = &session->connection;
    connection->fd = fd;
    connection->watch.event = event;
    connection->timer.due = too_late;
    connection->events = EPOLLIN | EPOLLRDHUP;
    connection->watched =
        net_loop_watch(&session->server->loop, fd, connection->events, &connection->watch);
    return connection->watched;
}

void connection_close(Session *session)
{
    Connection *connection = &session->connection;
    timers_clear(&session->server->loop.timers, &connection->timer);
    close(connection->fd);
    connection->fd = -1;
    buffer_free(&connection->in);
    buffer_free(&connection->out);
    connection->in = connection->out = (Buffer){0};
    charge(session);
}
