/* request_private.h -- the private twin of request.h: what a request consists of, for the files of web/ only. */
#pragma once

#include <stdatomic.h>

#include "base/ids.h"
#include "net/address.h"
#include "web/connections.h"
#include "web/head.h"
#include "web/http_rules.h"
#include "web/page_cache.h"
#include "web/request.h"
#include "web/server.h"

typedef struct WebAnswer {
    int code;
    const char *content_type;
    Buffer buffer;
    Slice body; /* used when is_static, else buffer */
    bool is_static;
    bool close;            /* the connection ends after this answer */
    bool is_page;          /* the request's page in this encoding, as everybody gets it */
    HttpEncoding encoding; /* with is_page */
    size_t header_count;
    struct {
        const char *name, *value;
    } headers[WEB_HEADERS_MAX];
} WebAnswer;

typedef struct WebCookie {
    CookieKind kind;
    const char *line; /* the value of Set-Cookie */
} WebCookie;

struct WebRequest {
    WebServer *server;
    Connection *connection;
    WebRequest *next; /* in the list of spare ones, or of a pool */
    struct Channel *channel;
    Arena *arena;

    /* what came */
    Slice target;        /* of the request line, as it came */
    bool is_head;        /* the method is HEAD */
    bool is_answered;    /* an answer of ours is on its way */
    bool is_handed_over; /* the connection belongs to the events now */
    Slice method;
    HttpHead head;
    uint64_t body_max;   /* what the route takes */
    int64_t body_share;  /* of WebServer.bodies; 0: none */
    int64_t admitted_us; /* steady clock, when admit said yes; 0: it was not asked */
    bool has_values;     /* `values` was filled */
    HttpTarget path;
    Address client;
    WebMatch match;
    Buffer body;
    Slice
        form; /* the fields of a body that is a form, once it was read as one; else without data */
    Json *json;
    WebValue values[WEB_PARAMS_MAX];

    Status
        status; /* what the head was judged to be; OK: the route decides, and then what it said */
    int code;   /* with status: an HTTP code that no Status has (405, 414, 431, 501), or 0 */
    Reason reason;
    void *viewer;
    bool is_for_one; /* the viewer is somebody: the answer is not for others */
    WebAnswer answer;
    Buffer out;                      /* the head of the answer */
    WebCookie cookies[COOKIE_KINDS]; /* outlive answer_clear */
    size_t cookie_count;
    Events *watches; /* has a place for this request; or NULL */
    Slice topic;
    WebLater later;             /* start NULL: there is none, or it has ended */
    _Atomic int later_left;     /* the end of `start`, and web_ready */
    _Atomic bool later_started; /* `start` has returned: it may be cancelled */
    _Atomic bool later_cancels; /* it shall be */
    CachedPage *page;           /* held until the answer is out, or NULL */
    bool renders_page;          /* the page cache waits for what the handler makes, */
    PageKey page_key;           /* by this name */
    int64_t made_us; /* as of when the answer is, by the steady clock; 0: since it begun */
    Slice id;        /* once it was asked for */
    int64_t begun_us;
};

WebRequest *request_new(WebServer *server);
void request_free(WebRequest *request);
/* Back to an empty request that keeps its memory. */
void request_reset(WebRequest *request);
/* Throws away what was written so far. */
void answer_clear(WebRequest *request);
Slice answer_body(const WebRequest *request);
/* The handler has left its answer for later. */
static inline bool request_is_later(const WebRequest *request)
{
    return request->later.start != NULL;
}
/* Gives back a place among the watchers that is not used. */
void request_unwatch(WebRequest *request);
/* Where the answer has the header of this name; header_count when it has none. */
size_t answer_header(const WebAnswer *answer, const char *name);
