/* link.h -- one connection to a node: from the first packet to the last answer, with many requests under way.
 *
 * All links belong to one Loop and one thread. Nothing here blocks: connecting, TLS, log-in, reading and writing go on as epoll
 * says. A request is written into the link's buffer and leaves with everything else of the same turn of the loop in one write.
 * What a link promises to whoever gave it a request (a Ticket):
 *   1. Each ticket is ended once: ANSWERED; NOT_SENT (it never left this machine whole, so no node can have executed it); or LOST (the
 *      connection broke or fell silent with the request sent).
 *   2. A link that owes answers and hears nothing for half of `silence_us` asks a question that every healthy node answers at once;
 *      at `silence_us`, unless what was written is still on its way, all it owes is LOST, and it takes nothing new until it speaks again. After `connect_us` more it ends.
 *   3. Lengths, streams and opcodes that break the protocol end the link; nothing that a server sends is believed further than that.
 * A link that ends is freed at the end of the loop's turn, so that who is called back by it may still look at it. */
#pragma once

#include "store/cql/endpoint.h"
#include "net/timers.h"
#include "store/cql/tls.h"
#include "store/cql/wire.h"

typedef struct Link Link;

typedef struct Loop {
    int epoll_fd;
    Clock clock;
    int64_t now_us; /* steady, of this turn */
    Timers timers;
    Link *dirty; /* have something to write */
    Link *ended; /* to be freed */
} Loop;

typedef enum TicketEnd { TICKET_ANSWERED, TICKET_NOT_SENT, TICKET_LOST } TicketEnd;

/* Part of what waits for an answer. */
typedef struct Ticket {
    /* The frame is there with ANSWERED only, and only during the call. */
    void (*done)(struct Ticket *ticket, TicketEnd end, const WireFrame *frame);
    Link *link;   /* NULL: not under way */
    uint64_t end; /* of its bytes in all that the link ever writes */
    uint16_t stream;
} Ticket;

typedef struct LinkOwner {
    void (*ready)(Link *link);             /* connected and logged in */
    void (*event)(Link *link, Slice body); /* of EVENT; NULL: they are ignored */
    void (*turned)(Link *link);            /* it fell silent, or speaks again */
    void (*ended)(Link *link, Status status, const char *words);
} LinkOwner;

/* The same for all links of a client; outlives them. */
typedef struct LinkSettings {
    Loop *loop;
    const Tls *tls; /* NULL: in the clear */
    Slice user, password;
    bool has_login;
    int64_t connect_us, silence_us;
    size_t in_flight; /* requests at a time, besides the link's own */
} LinkSettings;

typedef struct LinkTarget {
    Endpoint endpoint;
    const char *name; /* that the certificate must have; needed during link_open only */
} LinkTarget;

/* Begins to connect; how it went is told to the owner, also when it fails at once, but never before this returns. */
Link *link_open(const LinkSettings *settings, const LinkTarget *target, const LinkOwner *owner,
                void *context);
void *link_context(const Link *link);
bool link_is_ready(const Link *link);
/* It fell silent, as opposed to one that is only doubted. */
bool link_is_silent(const Link *link);
/* Ready, neither silent nor doubted. */
bool link_is_usable(const Link *link);
/* Usable, with a stream that is free and a buffer that is not too full. */
bool link_has_room(const Link *link);
/* Requests under way. */
size_t link_load(const Link *link);

/* Writes a request: begin, the body into the buffer that was returned, end. Only with room; the link's own handlers (control) may use it
 * when ready. */
Buffer *link_begin(Link *link, Ticket *ticket, WireOpcode opcode);
void link_end_request(Link *link, Ticket *ticket);
/* The answer, if one comes, is nobody's; done is not called. The request stays written: it may leave yet. */
void link_abandon(Ticket *ticket);
/* Another connection to the same node fell silent: asks whether the node is there, and takes nothing new until it speaks. */
void link_doubt(Link *link);
/* Ends it, with all that this means for its tickets. */
void link_close(Link *link, Status status, const char *words);

/* For the loop: react to epoll; write what is to be written; free what has ended. */
void link_react(Link *link, uint32_t events);
void loop_flush(Loop *loop);
void loop_bury(Loop *loop);
