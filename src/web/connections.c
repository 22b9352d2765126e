/* connections.c -- see connections.h.
 *
 * `phase` counts a connection's changes of state: even is idle, odd is in a request; its highest bit says that the timer has cut the
 * connection. A worker stores since_us and then the phase; the timer reads phase, since_us, phase and leaves a connection that changed in
 * between for the next tick. So no worker ever waits for the timer. Both change the phase by compare-and-swap only, so that of a request that
 * begins and a cut for idleness exactly one happens.
 * The list's lock makes shutdown() safe: a record leaves the list before its socket is closed. */
#include "web/connections.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/words.h"
#include "net/address_counts.h"

enum { LINGER_MS = 5000 };

static const uint64_t PHASE_CUT = UINT64_C(1) << 63;

struct Connection {
    Connection *next, *previous;
    Address peer;
    bool is_counted; /* by the address counts */
    bool is_cut;
    _Atomic bool lingers; /* set by the connection's thread, cleared by the timer */
    int fd;
    _Atomic int64_t since_us; /* start of this phase */
    _Atomic uint64_t phase;
    _Atomic int64_t allowed_us; /* more time, for the request of this phase; 0: what all have */
    _Atomic int64_t
        body_bytes; /* received of the body that it waits for, or CONNECTION_BODY_WHOLE */
};

typedef struct Lingering {
    int fd;
    int64_t until_us;
} Lingering;

struct Connections {
    ConnectionLimits limits;
    Clock clock;
    pthread_mutex_t lock; /* list, address counts, lingering */
    Connection list;      /* a ring; this one is no connection */
    AddressCounts *address_counts;
    Lingering lingering[CONNECTIONS_LINGER_MAX];
    size_t lingering_count;
    _Atomic size_t open;
    _Atomic uint64_t cuts[CONNECTION_CUTS];
};

Connections *connections_new(const ConnectionLimits *limits, Clock clock)
{
    Connections *connections = calloc(1, sizeof *connections);
    CHECK(connections != NULL);
    connections->limits = *limits;
    connections->clock = clock;
    connections->address_counts = address_counts_new();
    connections->list.next = connections->list.previous = &connections->list;
    CHECK(pthread_mutex_init(&connections->lock, NULL) == 0);
    return connections;
}

void connections_free(Connections *connections)
{
    CHECK(connections->list.next == &connections->list);
    for (size_t i = 0; i < connections->lingering_count; i++)
        close(connections->lingering[i].fd);
    address_counts_free(connections->address_counts);
    pthread_mutex_destroy(&connections->lock);
    free(connections);
}

/* ---- The list ---- */

/* Under the lock. Reading ends at once; writing too, except for an idle connection at a stop, on which a request may
 * just have come in that we can still answer. */
static void cut(Connections *connections, Connection *connection, ConnectionCut why)
{
    if (connection->is_cut)
        return;
    connection->is_cut = true;
    connection->lingers = false;
    shutdown(connection->fd, why == CONNECTION_CUT_STOPPING ? SHUT_RD : SHUT_RDWR);
    atomic_fetch_add_explicit(&connections->cuts[why], 1, memory_order_relaxed);
}

static bool is_exempt(const Connections *connections, Address peer)
{
    return address_is_loopback(peer) || address_in_ranges(peer, &connections->limits.exempt);
}

/* Counts the refusal of whoever asks. */
static bool connections_full(Connections *connections)
{
    if (connections_open(connections) < (size_t)connections->limits.total)
        return false;
    atomic_fetch_add_explicit(&connections->cuts[CONNECTION_CUT_TOTAL], 1, memory_order_relaxed);
    return true;
}

/* Under the lock: whether its address may have one more. */
static bool count_holder(Connections *connections, Connection *connection)
{
    connection->is_counted = !is_exempt(connections, connection->peer);
    if (!connection->is_counted || address_counts_add(connections->address_counts, connection->peer,
                                                      1) <= connections->limits.per_address)
        return true;
    address_counts_remove(connections->address_counts, connection->peer, 1);
    atomic_fetch_add_explicit(&connections->cuts[CONNECTION_CUT_ADDRESS], 1, memory_order_relaxed);
    return false;
}

Connection *connections_add(Connections *connections, int fd, Address peer)
{
    if (connections_full(connections))
        return NULL;
    Connection *connection = calloc(1, sizeof *connection);
    CHECK(connection != NULL);
    connection->fd = fd;
    connection->peer = peer;
    atomic_store_explicit(&connection->body_bytes, CONNECTION_BODY_WHOLE, memory_order_relaxed);
    atomic_store_explicit(&connection->since_us, clock_steady_us(connections->clock),
                          memory_order_relaxed);
    pthread_mutex_lock(&connections->lock);
    bool has_place = count_holder(connections, connection);
    if (has_place) {
        connection->next = connections->list.next;
        connection->previous = &connections->list;
        connection->next->previous = connections->list.next = connection;
        atomic_fetch_add_explicit(&connections->open, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&connections->lock);
    if (has_place)
        return connection;
    free(connection);
    return NULL;
}

/* Keeps the socket open by a second handle, so that closing the first one does not reset the connection. */
static void keep_lingering(Connections *connections, const Connection *connection)
{
    if (connections->lingering_count == CONNECTIONS_LINGER_MAX)
        return;
    int fd = fcntl(connection->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return;
    shutdown(fd, SHUT_WR);
    connections->lingering[connections->lingering_count++] =
        (Lingering){fd, clock_steady_us(connections->clock) + LINGER_MS * US_PER_MS};
}

void connections_remove(Connections *connections, Connection *connection)
{
    pthread_mutex_lock(&connections->lock);
    connection->next->previous = connection->previous;
    connection->previous->next = connection->next;
    if (connection->is_counted)
        address_counts_remove(connections->address_counts, connection->peer, 1);
    if (connection->lingers)
        keep_lingering(connections, connection);
    atomic_fetch_sub_explicit(&connections->open, 1, memory_order_relaxed);
    pthread_mutex_unlock(&connections->lock);
    free(connection);
}

static void prepare_phase(Connection *connection, int64_t now_us)
{
    atomic_store_explicit(&connection->since_us, now_us, memory_order_relaxed);
    atomic_store_explicit(&connection->allowed_us, 0, memory_order_relaxed);
    atomic_store_explicit(&connection->body_bytes, CONNECTION_BODY_WHOLE, memory_order_relaxed);
}

/* Only this connection's own thread counts the phase on; the timer at most sets its bit, and then this fails. */
bool connection_begin(Connection *connection, int64_t now_us)
{
    uint64_t phase = atomic_load_explicit(&connection->phase, memory_order_relaxed) & ~PHASE_CUT;
    CHECK(phase % 2 == 0);
    prepare_phase(connection, now_us);
    return atomic_compare_exchange_strong_explicit(&connection->phase, &phase, phase + 1,
                                                   memory_order_acq_rel, memory_order_relaxed);
}

void connection_end(Connection *connection, int64_t now_us)
{
    CHECK(atomic_load_explicit(&connection->phase, memory_order_relaxed) % 2 == 1);
    prepare_phase(connection, now_us);
    atomic_fetch_add_explicit(&connection->phase, 1, memory_order_acq_rel);
}

void connection_allow(Connection *connection, int64_t request_us)
{
    CHECK(atomic_load_explicit(&connection->phase, memory_order_relaxed) % 2 == 1);
    atomic_store_explicit(&connection->allowed_us, request_us, memory_order_relaxed);
}

void connection_received(Connection *connection, int64_t body_bytes)
{
    atomic_store_explicit(&connection->body_bytes, body_bytes, memory_order_relaxed);
}

bool connection_is_cut(const Connection *connection)
{
    return (atomic_load_explicit(&connection->phase, memory_order_acquire) & PHASE_CUT) != 0;
}

void connection_linger(Connection *connection)
{
    connection->lingers = true;
}

Address connection_peer(const Connection *connection)
{
    return connection->peer;
}

/* ---- The timer ---- */

/* How long the request of this connection may take, as far as it has come. */
static int64_t request_most_us(const ConnectionLimits *limits, const Connection *connection)
{
    int64_t allowed_us = atomic_load_explicit(&connection->allowed_us, memory_order_relaxed);
    int64_t body_bytes = atomic_load_explicit(&connection->body_bytes, memory_order_relaxed);
    int64_t most_us = allowed_us > limits->request_us ? allowed_us : limits->request_us;
    if (body_bytes == CONNECTION_BODY_WHOLE || limits->body_rate == 0)
        return most_us;
    int64_t body_us = limits->body_us + body_bytes * US_PER_S / limits->body_rate;
    return body_us < most_us ? body_us : most_us;
}

static void judge(Connections *connections, Connection *connection, int64_t now_us)
{
    uint64_t phase = atomic_load_explicit(&connection->phase, memory_order_acquire);
    int64_t since_us = atomic_load_explicit(&connection->since_us, memory_order_acquire);
    bool is_idle = phase % 2 == 0;
    int64_t most_us =
        is_idle ? connections->limits.idle_us : request_most_us(&connections->limits, connection);
    if (now_us >= since_us + most_us &&
        atomic_compare_exchange_strong_explicit(&connection->phase, &phase, phase | PHASE_CUT,
                                                memory_order_acq_rel, memory_order_relaxed))
        cut(connections, connection, is_idle ? CONNECTION_CUT_IDLE : CONNECTION_CUT_SLOW);
}

void connections_tick(Connections *connections)
{
    int64_t now_us = clock_steady_us(connections->clock);
    pthread_mutex_lock(&connections->lock);
    Connection *connection = connections->list.next;
    for (; connection != &connections->list; connection = connection->next)
        if (!connection->is_cut)
            judge(connections, connection, now_us);
    pthread_mutex_unlock(&connections->lock);
}

size_t connections_lingering(Connections *connections, int *ret_fds)
{
    pthread_mutex_lock(&connections->lock);
    size_t count = connections->lingering_count;
    for (size_t i = 0; i < count; i++)
        ret_fds[i] = connections->lingering[i].fd;
    pthread_mutex_unlock(&connections->lock);
    return count;
}

/* True when the client is gone or has finished. MSG_TRUNC throws the bytes away without copying them. */
static bool drained(int fd)
{
    ssize_t got;
    int rounds = 64; /* others wait too */
    do {
        got = recv(fd, NULL, 1 << 20, MSG_DONTWAIT | MSG_TRUNC);
    } while (got > 0 && --rounds > 0);
    return got == 0 || (got < 0 && errno != EAGAIN);
}

void connections_drain(Connections *connections)
{
    int64_t now_us = clock_steady_us(connections->clock);
    pthread_mutex_lock(&connections->lock);
    for (size_t i = connections->lingering_count; i-- > 0;) {
        Lingering *lingering = &connections->lingering[i];
        if (!drained(lingering->fd) && now_us < lingering->until_us)
            continue;
        close(lingering->fd);
        *lingering = connections->lingering[--connections->lingering_count];
    }
    pthread_mutex_unlock(&connections->lock);
}

/* ---- For anyone ---- */

void connections_cut_idle(Connections *connections)
{
    pthread_mutex_lock(&connections->lock);
    Connection *connection = connections->list.next;
    for (; connection != &connections->list; connection = connection->next)
        if (atomic_load_explicit(&connection->phase, memory_order_acquire) % 2 == 0)
            cut(connections, connection, CONNECTION_CUT_STOPPING);
    pthread_mutex_unlock(&connections->lock);
}

size_t connections_open(const Connections *connections)
{
    return atomic_load_explicit(&connections->open, memory_order_relaxed);
}

size_t connections_busy(Connections *connections)
{
    size_t busy = 0;
    pthread_mutex_lock(&connections->lock);
    const Connection *connection = connections->list.next;
    for (; connection != &connections->list; connection = connection->next)
        busy += atomic_load_explicit(&connection->phase, memory_order_acquire) % 2;
    pthread_mutex_unlock(&connections->lock);
    return busy;
}

uint64_t connections_cut_count(const Connections *connections, ConnectionCut which)
{
    return atomic_load_explicit(&connections->cuts[which], memory_order_relaxed);
}

const char *connection_cut_name(ConnectionCut which)
{
    static const char *const names[] = WORDS(CONNECTION_CUT_LIST, WORD_2);
    return word_of(names, which);
}
