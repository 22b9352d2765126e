/* channel.h -- one connection as its thread sees it: what has come in and is not used yet, the request that is under way, the
 * answer that is going out.
 *
 * A channel belongs to one loop (loop.h) and is touched by its thread alone; a pool that has its request only gives the channel back. Its
 * socket never blocks. What is read goes to memory that all channels of a loop share, and only what cannot be used yet is kept: an idle
 * connection costs some 200 bytes. One request is under way at a time; those that came behind it wait, in order, and no more is read meanwhile.
 * Time is not kept here: connections.h cuts who is late, by shutting the socket down. */
#pragma once

#include <sys/uio.h>

#include "web/connections.h"
#include "web/framing.h"

struct Loop;
struct WebRequest;
typedef struct Channel Channel;

typedef enum ChannelState {
    CHANNEL_READS,  /* a head or a body */
    CHANNEL_RUNS,   /* a pool has the request */
    CHANNEL_SENDS,  /* and the socket takes no more for now */
    CHANNEL_IS_DONE /* to be closed */
} ChannelState;

enum { EXCHANGE_PARTS = 3 };

struct Channel {
    struct Loop *loop;
    Connection *connection;
    int fd; /* -1: given away, and the connection's record with it */
    ChannelState state;
    Channel *next, *previous; /* of the loop's ring */
    Channel *queued;          /* the next in the inbox, or of those that go on soon */
    bool is_queued;           /* goes on soon: an event need not begin anything */
    bool is_readable;         /* there may be something to read */
    bool is_ending; /* the kernel has told of the end, which may stand behind bytes to read */
    bool is_at_end; /* all was read: the client sends no more */
    bool is_hungry; /* what is kept is of no use without more */
    bool has_begun; /* the first byte of a request was seen */
    Buffer kept;    /* came in, and was not used */
    size_t looked;  /* as much of it was searched for the end of a head */
    struct WebRequest *request;
    uint64_t body_left;   /* of a body whose size is known */
    FramingChunks chunks; /* of one in chunks */
    size_t part, part_count;
    struct iovec parts[EXCHANGE_PARTS]; /* of the answer, from `part` on */
};

/* The socket is the channel's from now on. */
Channel *channel_new(struct Loop *loop, Connection *connection, int fd);
/* Closes, whatever is under way. Not while a pool has the request. */
void channel_free(Channel *channel);

/* These three go on as far as they can without waiting. Afterwards the channel is done, or the kernel, a pool or the loop itself (loop_again)
 * calls again. */
/* What the kernel says of the socket: EPOLL… */
void channel_event(Channel *channel, uint32_t events);
/* A pool has made the answer. */
void channel_made(Channel *channel);
void channel_go_on(Channel *channel);
/* An answer that is for later shall come now. */
void channel_cancel(Channel *channel);
