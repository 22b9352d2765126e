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

#include "web/route.h"

typedef struct WebRequest WebRequest;

/* The application's own, from the server's options. */
void *web_context(const WebRequest *request);
Arena *web_arena(WebRequest *request);
Reason *web_reason(WebRequest *request);

/* ---- The request ---- */

/* The parameter in row `index` of the route. A getter of another kind than the row's is a bug (CHECK); an absent
 * optional one reads as 0 or empty. */
bool web_has(const WebRequest *request, size_t index);
uint64_t web_id(const WebRequest *request, size_t index);
int64_t web_number(const WebRequest *request, size_t index);
Slice web_text(const WebRequest *request, size_t index); /* LINE, TEXT, WORD */
size_t web_word(const WebRequest *request, size_t index);
bool web_switch(const WebRequest *request, size_t index);

/* The body as it came, at most the route's bound; its parsed form when the route takes JSON, else NULL. */
Slice web_body(const WebRequest *request);
const Json *web_json(const WebRequest *request);
/* The path as it came, still encoded. */
Slice web_path(const WebRequest *request);
/* 32 hexadecimal digits, unique; also in the header X-Request-Id and the log. */
Slice web_request_id(const WebRequest *request);
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
/* `name` and `value` must live until the answer is sent; at most WEB_HEADERS_MAX. */
enum { WEB_HEADERS_MAX = 8 };
void web_header(WebRequest *request, const char *name, const char *value);
/* Temporary (303) or permanent (308), to a path of this site. */
void web_redirect(WebRequest *request, int code, Slice location);
