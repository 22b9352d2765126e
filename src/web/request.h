/* request.h -- what a handler sees: a request whose parameters are checked, and an answer to fill.
 *
 * A handler asks for values, calls one operation and writes the answer:
 *     static Status show_policy(WebRequest *request)
 *     {
 *         PolicyView view;
 *         TRY(policy_show(web_context(request), web_id(request, 0), web_arena(request), &view));
 *         policy_page(web_html(request), &view);
 *         return STATUS_OK;
 *     }
 * Any status but OK throws away what was written, and becomes an error page or a JSON error in one place (errors.h), with
 * the field and rule that stand in web_reason.
 * Everything that is returned lives until the answer is sent; the arena is emptied then. One thread at a time works on a
 * request; several requests run at once. */
#pragma once

#include "web/cookies.h"
#include "web/events.h"
#include "web/head.h"
#include "web/route.h"

typedef struct WebRequest WebRequest;

/* The application's own, from the server's options. */
void *web_context(const WebRequest *request);
Arena *web_arena(WebRequest *request);
Reason *web_reason(WebRequest *request);
/* For a handler that fails by `status`, with the HTTP code and words of an ERROR_… (errors.h) instead of the status's own. Returns it. */
MUST_USE Status web_fail(WebRequest *request, int error, Status status);

/* ---- The request ---- */

/* The parameter in row `index` of the route. A getter of another kind than the row's is a bug (CHECK); an absent
 * optional one reads as 0 or empty. */
bool web_has(const WebRequest *request, size_t index);
/* Whatever its kind is. */
const WebValue *web_value(const WebRequest *request, size_t index);
uint64_t web_id(const WebRequest *request, size_t index);
int64_t web_number(const WebRequest *request, size_t index);
/* LINE, TEXT, WORD, OPAQUE; of a SLUG what follows its number, whose web_id it has. */
Slice web_text(const WebRequest *request, size_t index);
size_t web_word(const WebRequest *request, size_t index);
/* A text in the path before the parameters are read, for WebRoute.admits: rows of the path are the first. INVALID as then. */
MUST_USE Status web_path_text(WebRequest *request, size_t index, Slice *ret_text);
/* For `admits`: the body may hold at most so much, where the route's row allows more. TOO_LARGE: the head announces more. */
MUST_USE Status web_limit_body(WebRequest *request, uint64_t most);
bool web_switch(const WebRequest *request, size_t index);
/* Ascending by id, none twice. */
const WebNumber *web_numbers(const WebRequest *request, size_t index, size_t *ret_count);
const Slice *web_texts(const WebRequest *request, size_t index, size_t *ret_count);

/* A header as it came, empty when it did not. */
Slice web_head(const WebRequest *request, HeadName name);
/* A cookie by its name in COOKIE_ROWS; empty when there is none. */
Slice web_cookie(const WebRequest *request, const char *name);
/* Who asks; behind a trusted proxy whom that one names. */
Address web_client(const WebRequest *request);
/* The row that fits, NULL when none does (in an error page). */
const WebRoute *web_route(const WebRequest *request);
/* What WebOptions.admit found out about who is asking; NULL until it says so. Must live as long as the request. */
void web_set_viewer(WebRequest *request, void *viewer);
/* The same for somebody who is nobody in particular: nothing of theirs is on the answer, so it may be kept for everybody
 * (WebRoute.cache_ms). web_set_viewer takes that back. */
void web_set_visitor(WebRequest *request, void *viewer);
void *web_viewer(const WebRequest *request);
/* Where the site is, for absolute links: "https://vote.example.org", without a slash at the end. */
Slice web_public_url(const WebRequest *request);

/* The body as it came, at most the route's bound; its parsed form when the route takes JSON, else NULL. */
Slice web_body(const WebRequest *request);
const Json *web_json(const WebRequest *request);
/* A field of the query or of a form that stands in no row, by name, decoded: what the frame of every page reads (?done=…) and the
 * token of a form. Empty when it is not there, or comes twice, or is not text. */
Slice web_field(WebRequest *request, WebFrom from, const char *name);
/* Whether the body is a form, by what the head says of it. */
bool web_sends_form(const WebRequest *request);
/* The address as it came, with its query, still encoded; for links back. */
Slice web_target(const WebRequest *request);
/* The path as it came, still encoded. */
Slice web_path(const WebRequest *request);
/* What follows the ?, still encoded. */
Slice web_query(const WebRequest *request);
/* 32 hexadecimal digits, unique; also in the header X-Request-Id and the log. A page from memory has none: it is the same for everybody. */
Slice web_request_id(WebRequest *request);
/* Whether errors, and pages that have both forms, should be JSON: under /api/, or when Accept prefers it. */
bool web_wants_json(const WebRequest *request);

/* ---- The answer ---- */

/* Where the answer's body goes, with its content type. Dynamic answers are sent uncompressed: a proxy in front
 * compresses better informed (assets are precompressed). */
Buffer *web_out(WebRequest *request, const char *content_type);
Buffer *web_html(WebRequest *request);
JsonWriter web_write_json(WebRequest *request);
/* A body that outlives the request; it is not copied. */
void web_static(WebRequest *request, const char *content_type, Slice body);
/* 200 unless said otherwise. */
void web_code(WebRequest *request, int code);
/* `name` and `value` must live until the answer is sent; at most WEB_HEADERS_MAX. The same name again replaces the
 * value, also that of a security header. */
enum { WEB_HEADERS_MAX = 16 };
void web_header(WebRequest *request, const char *name, const char *value);
/* HttpOnly, SameSite=Lax, Path=/; when the site's public_url is https also Secure, and the browser knows it as
 * "__Host-NAME", which no other host can set. `value` is visible ASCII without quotes, comma, semicolon and backslash.
 * Unlike the rest of an answer it stays when the answer becomes a redirect or an error, so that what admit or a handler
 * says about a session arrives. The same one again replaces it. */
void web_set_cookie(WebRequest *request, CookieKind kind, Slice value, CookieLife life);
/* Temporary (303) or permanent (308), to a path of this site (http_is_own_path; anything else is a bug). One over WEB_LOCATION_MAX
 * bytes, which came from somebody's address, loses what is behind its "?", or becomes "/": an answer's head has its bound, too. */
enum { WEB_LOCATION_MAX = 2000 };
void web_redirect(WebRequest *request, int code, Slice location);
/* The answer's version: visible ASCII without quotes and commas. True when the client has this version already (If-None-Match):
 * the answer is then a finished 304 without a body, and the handler returns OK. */
bool web_etag(WebRequest *request, Slice version);
/* What the answer shows was so at this moment of the steady clock, before the request began: what keeps the answer (WebRoute.cache_ms) counts
 * its age from there. */
void web_made(WebRequest *request, int64_t steady_us);
/* Nobody keeps this answer: for what only this viewer may see. */
void web_private(WebRequest *request);

/* The answer comes later, and no thread waits for it: after the handler has returned OK, `start` is called once, and then somebody calls
 * web_ready once, from any thread and perhaps before `start` has returned. `end` then makes the answer as a handler does, on a thread that
 * must not wait. `cancel` is called, perhaps several times and from any thread, but only between the end of `start` and `end`, when the client
 * has gone or the server stops: web_ready must then come soon. The connection keeps its place; the route's time holds. */
typedef struct WebLater {
    void (*start)(void *work);
    void (*cancel)(void *work);
    Status (*end)(WebRequest *request, void *work);
    void *work;
} WebLater;
void web_later(WebRequest *request, const WebLater *later);
void web_ready(WebRequest *request);
/* In `end`: the client has gone, so nobody gets the answer. */
bool web_is_gone(const WebRequest *request);

/* The answer becomes a stream of events of `topic`: after the handler has returned OK, the connection leaves the HTTP server. The
 * statuses of events_reserve when there is no place. */
MUST_USE Status web_watch(WebRequest *request, Events *events, Slice topic);
