/* server.h -- the HTTP server: sockets, limits, and the way from a request to its answer.
 *
 *     WebOptions options = {.config = &config, .world = world, .log = log, .routes = ROUTES,
 *                           .route_count = ROUTE_COUNT, .context = application};
 *     TRY(web_server_start(&options, &server, &reason));
 *     …
 *     web_server_stop(server);
 * Promises (tests/web shows each on a real server):
 *   1. Nothing a client sends is unbounded: header_bytes (431; 414 for an address over 8000 bytes), body_bytes or the route's
 *      own bound (413, before the body is read when Content-Length tells), request_seconds in all and a least rate for bodies, idle_seconds
 *      between requests, connections in all and per address. See connections.h.
 *   2. A request that two programs could read differently is refused with 400, and its connection closed (head.h).
 *   3. Every answer has the security headers and an X-Request-Id (pages from memory, which are the same for everybody, have no id), and
 *      gives one line in the log; so does a request that ends before it is answered.
 *   4. Slow or idle clients hold no thread. A handler does hold one while it runs: one of web_threads when it only reads, one of a
 *      pool of its own when it waits for the disk or computes a password (WebThreads in route.h), and the pools are bounded.
 *   5. web_server_stop refuses new connections at once, closes idle ones, lets requests that are under way finish for up
 *      to stop_seconds, then cuts and says so in the log. A handler that still runs then holds up the stop until it returns: a
 *      thread cannot be taken from it, and what it uses cannot be closed. A request that comes in on a live connection meanwhile gets 503 and
 *      "Connection: close".
 *   6. In maintenance mode everything but routes marked `always` (/healthz, /metrics, assets) is 503 with a message and
 *      Retry-After.
 *   7. A request is admitted by its head alone: as long as `admit` has not said yes, no byte of a body is waited for, and none is held that did not
 *      come with the head. What is held of bodies has a bound in all (bodies_bytes: 503) and for each network address (429); it is taken
 *      before the body is read, as much as Content-Length says, or as the route takes when it does not say.
 *   8. JSON is built only when its depth and its number of values fit the route's parameters (413).
 * Built-in routes: / (what runs here), /healthz, /metrics (with the token of metrics_token_file, else on this machine alone), /robots.txt, /favicon.ico, /assets/{name}. The
 * application's table is searched first, so it may replace them.
 * Routes with cache_ms are answered from memory for visitors who are not logged in (page_cache.h), with an ETag, compressed
 * when the client takes it.
 * Not promised: TLS, HTTP/2 and compression of other pages (a proxy's work); that a connection outlives an answer in HTTP/1.0. */
#pragma once

#include "base/config.h"
#include "base/log.h"
#include "store/store.h"
#include "web/route.h"

struct ErrorWords; /* errors.h */

typedef struct WebServer WebServer;

enum { ADMISSION_MS = 1000 };

/* What /, /healthz and /metrics say of the store: store_health and store_metrics of its engine, or NULL for a
 * server without a store. */
typedef struct WebStore {
    Store *store;
    void (*health)(Store *store, StoreHealth *ret_health);
    void (*metrics)(Store *store, StoreMetricVisit *visit, void *context);
} WebStore;

/* All that is pointed to must outlive the server. */
typedef struct WebOptions {
    const Config *config;
    World world;
    Log *log;
    const WebRoute *routes;
    size_t route_count;
    void *context; /* web_context() in handlers */
    WebStore store;
    /* No page is shown from memory that is older, whatever its route allows; 0: as routes say. Where what others change is heard of later,
     * less is left for this. */
    int64_t cache_most_ms;
    /* Writes the application's own figures behind those of the server, by metrics_print_one; or NULL. */
    void (*metrics)(void *context, Buffer *out);
    /* Writes the application's own members of /healthz; or NULL. */
    void (*health)(void *context, JsonWriter *json);
    /* Who is asking, and whether they may: by the row's `access`, cookies and headers. Called for the application's own
     * routes before the handler: when a body must be waited for, before that; else after the parameters were checked. It may say by
     * web_set_viewer what it found. A status but OK is the answer, as from a handler; after OK with a redirect the handler does not run.
     * It is asked again when the handler's turn comes ADMISSION_MS later. NULL: everybody may. */
    Status (*admit)(struct WebRequest *request);
    /* What only a body can show, such as the token of a form; after admit, when the parameters are there. NULL: nothing. */
    Status (*admit_body)(struct WebRequest *request);
    /* How many requests a WebRoute.batch gets at most, up to WEB_BATCH_MAX; 0: one by one. */
    unsigned batch_max;
    /* Whether a request that calls us by this name (the header Host, perhaps with a port; empty when there is none) is meant for us;
     * else the answer is 421. NULL: every name is ours, as behind a proxy. */
    bool (*is_our_host)(void *context, Slice host);
    /* Pages that were made before this moment of the steady clock are not sent any more, whatever WebRoute.cache_ms says: something was hidden or
     * changed that must not be seen as it was. NULL: none are. */
    int64_t (*pages_since)(void *context);
    /* The cookie (by its name in COOKIE_ROWS) that says who somebody is: a request with it is admitted before it may get a page
     * from the cache, and gets none when it is somebody's (web_set_viewer). NULL: any cookie does that. */
    const char *session_cookie;
    /* What the address says besides the route's parameters that is shown on the page: pages that differ by it are kept apart. It must be one of
     * a few numbers, whatever comes in. NULL: nothing is. */
    uint64_t (*page_variant)(struct WebRequest *request);
    /* Draws the page of an error in the application's own frame; the code and the headers are set, web_reason has
     * field and rule. Programs still get JSON. It may redirect. It is called for requests without a route, too, and for those
     * that admit never saw. NULL: a plain page. */
    void (*error_page)(struct WebRequest *request, const struct ErrorWords *words);
} WebOptions;

/* INVALID when the address, the proxies or the public address in the settings cannot be read; starts nothing. */
MUST_USE Status web_server_check(const Config *config, Reason *reason);
/* INVALID: the address, the proxies or the route table are wrong. UNAVAILABLE: the address is taken or not ours, or
 * there are not enough open files for `connections`. The reason says which. */
MUST_USE Status web_server_start(const WebOptions *options, WebServer **ret_server, Reason *reason);
/* The port in use, also when the setting says 0. */
uint16_t web_server_port(const WebServer *server);
/* The setting public_url, or http:// and the address in use; without a slash at the end. */
const char *web_server_public_url(const WebServer *server);
/* A message for people turns maintenance on (it is copied, at most 300 bytes), NULL turns it off. */
void web_server_maintenance(WebServer *server, const char *message);
/* Waits for running requests, then frees the server. */
void web_server_stop(WebServer *server);
