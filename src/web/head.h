/* head.h -- the head of a request: the headers we use, and whether its framing can be trusted.
 *
 * A proxy and a server that disagree about where a body ends can be made to see different requests ("smuggling").
 * head_judge therefore refuses every head that could be read in two ways, and whoever refuses it closes the
 * connection, because nobody knows where the next request would start. */
#pragma once

#include "base/arena.h"

/*    name, header, "one": must not come twice */
#define HEAD_LIST(X)                                \
    X(HOST, "Host", true)                           \
    X(CONTENT_LENGTH, "Content-Length", true)       \
    X(TRANSFER_ENCODING, "Transfer-Encoding", true) \
    X(CONTENT_TYPE, "Content-Type", true)           \
    X(ACCEPT, "Accept", false)                      \
    X(ACCEPT_ENCODING, "Accept-Encoding", false)    \
    X(IF_NONE_MATCH, "If-None-Match", false)        \
    X(FORWARDED_FOR, "X-Forwarded-For", false)      \
    X(COOKIE, "Cookie", true)                       \
    X(AUTHORIZATION, "Authorization", true)         \
    X(IDEMPOTENCY_KEY, "Idempotency-Key", true)     \
    X(IF_MATCH, "If-Match", false)                  \
    X(ORIGIN, "Origin", true)                       \
    X(FETCH_SITE, "Sec-Fetch-Site", true)           \
    X(CSRF_TOKEN, "X-CSRF-Token", true)             \
    X(USER_AGENT, "User-Agent", false)              \
    X(REFERER, "Referer", false)                    \
    X(ACCEPT_LANGUAGE, "Accept-Language", false)    \
    X(LAST_EVENT_ID, "Last-Event-ID", false)        \
    X(CONNECTION, "Connection", false)              \
    X(EXPECT, "Expect", false)

typedef enum HeadName {
#define X(name, header, one) HEAD_##name,
    HEAD_LIST(X)
#undef X
        HEAD_NAMES
} HeadName;

typedef struct HttpHead {
    Slice values[HEAD_NAMES]; /* repeated ones joined by a comma, as RFC 9110 says they mean */
    bool present[HEAD_NAMES];
    bool is_http_1_0;
    const char *fault; /* the first thing wrong, or NULL */
    unsigned repeated; /* headers that were there already */
} HttpHead;

enum { HEAD_REPEATED_MAX = 32 }; /* each copies what it is joined to */

/* Adds one header; the values must live as long as the head. */
void head_add(HttpHead *head, Slice name, Slice value, Arena *arena);
/* Notes that something is wrong with the head; what was noted before stays. */
void head_fail(HttpHead *head, const char *fault);

/* INVALID with a reason: no Host in HTTP/1.1, an empty or doubtful Host, a header twice that must not be (HEAD_LIST; two
 * cookies or two authorizations could be two people), Content-Length together with Transfer-Encoding, an encoding other than chunked or one in
 * HTTP/1.0, a Content-Length that is no number, a header name that is no token, control characters, more
 * than HEAD_REPEATED_MAX repetitions. */
MUST_USE Status head_judge(const HttpHead *head, Reason *reason);

/* Whether a body follows, and its size when the head says it (chunked: unknown, *ret_size untouched, false). */
bool head_has_body(const HttpHead *head);
bool head_body_size(const HttpHead *head, uint64_t *ret_size);
