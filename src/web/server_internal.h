/* server_internal.h -- the private twin of server.h: what a running server consists of, for the files of web/ only. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include <microhttpd.h>

#include "web/connections.h"
#include "web/metrics.h"
#include "web/request_internal.h"

enum { MAINTENANCE_TEXT = 301, PUBLIC_URL_TEXT = 300, SPARE_REQUESTS = 256 };

struct WebServer {
    WebOptions options;
    WebRoute *routes; /* the application's, then the built-in ones */
    size_t route_count;
    Routes table; /* of both */
    AddressRanges trusted;
    Connections *connections;
    Metrics *metrics;
    PageCache *page_cache;                /* NULL: none */
    struct Pool *pools[WEB_THREAD_KINDS]; /* NULL for threads that are in none */
    struct MHD_Daemon *daemon;
    char public_url[PUBLIC_URL_TEXT];
    bool is_secure; /* public_url is https */

    int listen_fd;
    int wake_fd; /* written to end the keeper's wait */
    uint16_t port;
    pthread_t keeper;
    bool is_read_only; /* the store was, when the keeper last looked */

    int64_t started_us;        /* wall clock */
    int64_t started_steady_us; /* for the uptime */
    unsigned char id_prefix[5];
    _Atomic uint64_t id_count;

    _Atomic bool stopping;
    _Atomic bool keeper_ends;
    _Atomic bool maintenance;
    pthread_mutex_t lock; /* the next three */
    char maintenance_text[MAINTENANCE_TEXT];
    WebRequest *spare;
    size_t spare_count;
};

/* The library keeps a head in memory of a fixed size, with a copy of its cookies and some 60 bytes for each header, cookie and field of the
 * address, and builds the head of the answer in what is left. It clears all of it after each request, which is a tenth of a small
 * request's cost, so it should not be larger than needed. This is what a head may take of it: the rest is for the answer. */
size_t server_head_room(const Config *config);

/* listener.c: the socket, and the thread that accepts and keeps time. */
MUST_USE Status listener_open(WebServer *server, Reason *reason);
void keeper_start(WebServer *server);
/* No connection is accepted after it returns; the timer goes on. */
void listener_close(WebServer *server);
void keeper_stop(WebServer *server);

/* exchange.c: one request from its first line to its log line; the callbacks of libmicrohttpd. */
void *exchange_request_line(void *server, const char *target, struct MHD_Connection *mhd);
enum MHD_Result exchange_handle(void *server, struct MHD_Connection *mhd, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_size, void **request);
void exchange_completed(void *server, struct MHD_Connection *mhd, void **request,
                        enum MHD_RequestTerminationCode how);
void exchange_connection(void *server, struct MHD_Connection *mhd, void **connection,
                         enum MHD_ConnectionNotificationCode what);

/* answer.c: from the judged request to what is sent. */
/* Looks at the head; afterwards request->status says whether the route's handler may run. */
void answer_judge(WebRequest *request);
/* Runs the handler, or writes the error. */
void answer_make(WebRequest *request);
/* The same in two steps: first for several, whose handlers wait together (web_together), then for each. */
enum { TOGETHER_MOST = 16 };
void answers_begin(WebRequest *const *requests, size_t count);
void answer_end(WebRequest *request);

/* cached.c: answers that are shared. */
/* True when the answer is there; false: it must be made, and then cached_keep be told how that went. */
bool cached_answer(WebRequest *request);
void cached_keep(WebRequest *request, Status status);

/* health.c */
/* The store's health as everybody may know it: without paths. */
StoreHealth health_for_all(const WebServer *server);
/* For the keeper: a line in the log, with all words, when the store turns read-only or writable. */
void health_log_changes(WebServer *server);

/* pages.c */
extern const WebRoute BUILT_IN_ROUTES[];
extern const size_t BUILT_IN_ROUTE_COUNT;
