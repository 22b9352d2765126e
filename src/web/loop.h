/* loop.h -- the threads that answer (web_threads): each waits for the sockets of its channels, and runs what comes in on them.
 *
 * The acceptor (listener.c) accepts connections and gives them out; a connection stays with its loop until it ends or is handed over to the events.
 * Promises:
 *   1. Connections are given to the loops in turn, but to none that a handler has held up for long, unless all are.
 *   2. No channel has more than its turn: whoever asks much at once goes on after the others (loop_again).
 *   3. What another thread gives (a new channel, or one whose answer a pool has made) is seen at once. The inbox is the only way in.
 * Not promised: that a connection which a loop has already does not wait for a handler that runs there; what takes long belongs into a pool.
 * Sockets are watched edge-triggered for everything from the start, so a request costs two system calls, one that reads and one that
 * sends, and a share of one that waits for many. Why our own and no library's: bench/README.md (site) has what was measured. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "web/answer_head.h"
#include "web/channel.h"

typedef struct Loop Loop;

struct Loop {
    WebServer *server;
    pthread_t thread;
    int epoll_fd, wake_fd;
    _Atomic(Channel *) inbox; /* the newest first */
    _Atomic bool ends;
    _Atomic int64_t since_us; /* it has not waited for anything since then; 0: it waits */
    Channel ring;             /* of all channels; this one is none */
    Channel *again;
    char *memory; /* where channels read to, in turn */
    size_t memory_size;
    WebRequest *spare; /* requests to use again */
    size_t spare_count;
    int64_t date_s; /* the second that date_line is for */
    size_t date_size;
    char date_line[DATE_LINE_MAX];
};

void loop_start(Loop *loop, WebServer *server);
/* Closes what is open. Pools have ended, and nobody gives anything any more. */
void loop_stop(Loop *loop);

/* ---- From any thread ---- */

/* A channel of this loop that is new, or whose answer is made. The caller does not touch it after that. */
void loop_give(Loop *loop, Channel *channel);

/* The server stops: answers that are for later come now. */
void loop_hurry(Loop *loop);
/* Whether it has been at something for so long that who comes now would notice. */
bool loop_is_held_up(const Loop *loop);

/* ---- For channels, by the loop's thread ---- */

/* It has more to do, after others had their turn. */
void loop_again(Loop *loop, Channel *channel);
/* The kernel tells no more of this socket. */
void loop_forget(Loop *loop, int fd);
WebRequest *loop_take_request(Loop *loop);
void loop_give_request(Loop *loop, WebRequest *request);
/* "Date: …", as of now. */
Slice loop_date_line(Loop *loop);
