/* connections.h -- every open connection, how long it may stay as it is, and who holds how many.
 *
 * A timeout that counts inactivity only would let a client that sends a byte a second stay for ever. Here every connection has a record and every
 * state a deadline, and one timer cuts the late ones by shutting their socket down, which their thread then sees as the
 * client's leaving. Promises:
 *   1. A request is cut `request_us` after its first byte was read (never earlier, at most a tick later) if its answer's
 *      last byte has not been handed to the kernel by then. It does not matter which part was slow: head, body, handler
 *      or reader. One that was allowed more time (connection_allow) is cut when that is over. While its body is on its way it must also keep
 *      up with a least rate: it is cut when after `body_us` and one second more for each `body_rate` bytes received (connection_received) the
 *      body is still not complete.
 *   2. A connection without a request, from the first moment on, is cut after `idle_us`. Either it is cut, or its request begins: when the two
 *      come together, connection_begin says which of them was first, and a request that came second must not be run.
 *   3. Above `total`, or `per_address` for one address (IPv6: one /64), a new connection is closed at once. Loopback and
 *      the exempt addresses count only for the total.
 *   4. A connection that was answered before its body was read is not reset under the client's feet: the socket is
 *      drained for a short while (connection_linger), so that the answer arrives.
 * Workers only store two numbers per change of state; all judging is the timer's. */
#pragma once

#include "base/world.h"
#include "net/address.h"

typedef struct Connections Connections;
typedef struct Connection Connection;

typedef struct ConnectionLimits {
    int64_t request_us, idle_us;
    int64_t body_us, body_rate; /* bytes a second; 0: bodies have no time of their own */
    int64_t total, per_address;
    AddressRanges exempt;
} ConnectionLimits;

#define CONNECTION_CUT_LIST(X)                                     \
    X(IDLE, "idle")         /* no request for too long */          \
    X(SLOW, "slow")         /* a request over its total time */    \
    X(TOTAL, "total")       /* refused: too many in all */         \
    X(ADDRESS, "address")   /* refused: too many of one address */ \
    X(STOPPING, "stopping") /* idle when the server stops */

typedef enum ConnectionCut {
#define X(name, text) CONNECTION_CUT_##name,
    CONNECTION_CUT_LIST(X)
#undef X
        CONNECTION_CUTS
} ConnectionCut;

enum { CONNECTIONS_TICK_MS = 250, CONNECTIONS_LINGER_MAX = 64 };

Connections *connections_new(const ConnectionLimits *limits, Clock clock);
/* All connections must be closed. */
void connections_free(Connections *connections);

/* By one thread: the record of a new connection. NULL: it is refused, and its socket is to be closed unread; that is counted. */
Connection *connections_add(Connections *connections, int fd, Address peer);
/* From any thread, before the socket is closed. */
void connections_remove(Connections *connections, Connection *connection);

/* The first byte of a request is here; its answer is done. By the connection's own thread, at a time it has just asked
 * for. connection_begin is false when the connection was cut before: nothing of what came in may be run. */
MUST_USE bool connection_begin(Connection *connection, int64_t now_us);
void connection_end(Connection *connection, int64_t now_us);
/* The request that has begun may take so long, where that is more than all may. By the connection's own thread. */
void connection_allow(Connection *connection, int64_t request_us);
/* The request waits for its body, of which so many bytes are here; WHOLE: it is complete. By the connection's own thread. */
enum { CONNECTION_BODY_WHOLE = -1 };
void connection_received(Connection *connection, int64_t body_bytes);
/* Whether the request was cut for its slowness: it must not be run any more. By the connection's own thread. */
bool connection_is_cut(const Connection *connection);
/* This connection will be closed with an unread body behind its answer. */
void connection_linger(Connection *connection);
Address connection_peer(const Connection *connection);

/* ---- For the timer's thread ---- */

/* Cuts what is late. */
void connections_tick(Connections *connections);
/* Copies the sockets that are being drained (room for CONNECTIONS_LINGER_MAX), to wait for. */
size_t connections_lingering(Connections *connections, int *ret_fds);
/* Throws away what has arrived on them, and lets go of those that are done or late. */
void connections_drain(Connections *connections);

/* ---- For anyone ---- */

/* No request can come in on these any more; requests that are under way are left to finish. */
void connections_cut_idle(Connections *connections);
size_t connections_open(const Connections *connections);
/* Requests under way. */
size_t connections_busy(Connections *connections);
uint64_t connections_cut_count(const Connections *connections, ConnectionCut cut);
const char *connection_cut_name(ConnectionCut cut);
