/* server_private.h -- the private twin of server.h: what a running server consists of, for the files of web/ only. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "net/listen.h"
#include "web/connections.h"
#include "web/loop.h"
#include "web/metrics.h"
#include "web/request_private.h"
#include "web/shares.h"

enum {
    MAINTENANCE_TEXT = 301,
    PUBLIC_URL_TEXT = 300,
    METRICS_TOKEN_MIN = 16,
    METRICS_TOKEN_MAX = 200
};

struct WebServer {
    WebOptions options;
    WebRoute *routes; /* the application's, then the built-in ones */
    size_t route_count;
    Routes table; /* of both */
    AddressRanges trusted;
    Connections *connections;
    Metrics *metrics;
    PageCache *page_cache;                /* NULL: none */
    Shares *bodies;                       /* bytes of bodies */
    struct Pool *pools[WEB_THREAD_KINDS]; /* NULL for threads that are in none */
    Loop *loops;                          /* web_threads of them */
    size_t next_loop;                     /* the acceptor's: who gets the next connection */
    char public_url[PUBLIC_URL_TEXT];
    bool is_secure;                        /* public_url is https */
    char metrics_token[METRICS_TOKEN_MAX]; /* what /metrics asks for */
    size_t metrics_token_size;             /* 0: it answers to this machine alone */

    int listen_fd;
    int wake_fd; /* written to end the acceptor's wait */
    uint16_t port;
    pthread_t acceptor;
    bool is_read_only; /* the store was, when the acceptor last looked */

    int64_t started_us;        /* wall clock */
    int64_t started_steady_us; /* for the uptime */
    unsigned char id_prefix[5];
    _Atomic uint64_t id_count;

    _Atomic bool stopping;
    _Atomic bool acceptor_ends;
    _Atomic bool maintenance;
    pthread_mutex_t lock; /* the next */
    char maintenance_text[MAINTENANCE_TEXT];
};

/* listener.c: the socket, and the thread that accepts and keeps time. */
MUST_USE Status listener_open(WebServer *server, Reason *reason);
void acceptor_start(WebServer *server);
/* No connection is accepted after it returns; the timer goes on. */
void listener_close(WebServer *server);
void acceptor_stop(WebServer *server);

/* exchange.c: one request from its head to its log line, as its channel calls it. */
/* The head is complete; or it is too large or was broken off, and `start` is its beginning. Afterwards request->status says what comes of it. */
void exchange_begin(WebRequest *request, Connection *connection, Slice head);
void exchange_begin_torn(WebRequest *request, Connection *connection, Slice start);
/* Whether the body is to be read: the request was admitted, and there is memory for it. If not, and a body comes, the connection ends behind the
 * answer. `is_here`: all of the body came with the head. */
bool exchange_wants_body(WebRequest *request, bool is_here);
bool exchange_expects_continue(const WebRequest *request);
/* The body could not be read to its end. */
void exchange_refuse_body(WebRequest *request, FramingStep why);
/* Makes the answer. False: a pool does, and gives the channel back. */
bool exchange_make(WebRequest *request);
/* The answer as it goes out: how many parts. */
size_t exchange_parts(WebRequest *request, Slice date_line, struct iovec parts[EXCHANGE_PARTS]);
/* Whether the connection is to be handed over to the events, which send the head, too. */
bool exchange_is_watch(const WebRequest *request);
/* Of a request whose handler has left its answer for later: begins it, by the thread that ran the handler and does not touch the request after
 * that; the channel comes by the loop's inbox when the answer can be made. */
void exchange_start_later(WebRequest *request);
/* By the loop's thread, as is the next: the client has gone, or the server stops. */
void exchange_cancel_later(WebRequest *request);
void exchange_end_later(WebRequest *request);
void exchange_hand_over(WebRequest *request, Slice date_line, int fd);
void exchange_end(WebRequest *request, bool is_cut);

/* answer.c: from the judged request to what is sent. */
/* Looks at the head; afterwards request->status says whether the request may go on. */
void answer_judge(WebRequest *request);
/* Asks who it is and whether they may, by the head alone; afterwards request->status says so, too. */
void answer_admit(WebRequest *request);
/* What can be said before a handler runs: who asks, whether the page is there already. False: nothing more is to be made, and answer_make
 * is quick. What waits for its body is not looked at before answer_admit. */
bool answer_look(WebRequest *request);
/* Runs the handler, or writes the error. */
void answer_make(WebRequest *request);
/* The same in two steps: first the handlers of several, which may share a WebRoute.batch, then the errors of each. */
void answers_begin(WebRequest *const *requests, size_t count);
void answer_end(WebRequest *request);

/* cached.c: answers that are shared. */
/* Whether the route's answers are kept at all; and whether this request must be admitted first, to see that it is nobody's in particular. */
bool cached_is_for(const WebRequest *request);
bool cached_must_admit(const WebRequest *request);
/* True when the answer is there; false: it must be made, and then cached_keep be told how that went. Of a request that was told so before, it
 * only looks whether somebody else has made it meanwhile. */
bool cached_answer(WebRequest *request);
void cached_keep(WebRequest *request, Status status);

/* health.c */
/* The store's health as everybody may know it: without paths. */
StoreHealth health_for_all(const WebServer *server);
/* For the acceptor: a line in the log, with all words, when the store turns read-only or writable. */
void health_log_changes(WebServer *server);

/* pages.c */
extern const WebRoute BUILT_IN_ROUTES[];
extern const size_t BUILT_IN_ROUTE_COUNT;
