/* http_rules.h -- the small grammars of HTTP that we read ourselves, as pure functions.
 *
 * Nothing here allocates outside the given arena, asks the clock or touches a socket, so every rule has a test
 * without a fixture and a fuzz target. What they promise together:
 *   1. Any bytes may come in; none is read past the end of its slice.
 *   2. What comes out as text is valid UTF-8 without NUL.
 *   3. A header that does not follow its grammar counts as absent for negotiation (the client gets the plain
 *      answer), and as an error (INVALID) where it decides what a request means. */
#pragma once

#include "base/arena.h"

/* %XX becomes its byte, and in forms '+' a space. INVALID: a broken escape, NUL, not UTF-8. The result is
 * `text` itself when there was nothing to decode. */
typedef enum HttpDecode { HTTP_DECODE_PATH, HTTP_DECODE_FORM } HttpDecode;
MUST_USE Status http_decode(Slice text, HttpDecode how, Arena *arena, Slice *ret_text);

/* Cuts the next `name=value` off a query or form, still encoded; empty pairs ("a=1&&b=2") are skipped. A pair
 * without '=' has an empty value. False at the end. */
bool http_next_pair(Slice *rest, Slice *ret_name, Slice *ret_value);

/* What the request line asks for, split at '?': `path` starts with '/'. Takes origin form (/a?b) and absolute
 * form (http://host/a?b). INVALID: any other form, spaces, control characters, '#', broken escapes. */
typedef struct HttpTarget {
    Slice path;
    Slice query;
    Slice host; /* of the absolute form, perhaps with a port; else empty */
} HttpTarget;
MUST_USE Status http_parse_target(Slice target, HttpTarget *ret_target);

/* Letters, digits and !#$%&'*+-.^_`|~ , at least one: a header's name or a method. */
bool http_is_token(Slice text);

/* A host, perhaps with a port: letters, digits, and what stands in addresses; the rest has no business there. */
bool http_is_host(Slice text);

/* A path of this site that a browser may be sent to: "//host" and "/\host" leave the site, and browsers drop control
 * characters, which would turn "/\t/host" into one. */
bool http_is_own_path(Slice text);

/* "https://vote.example.org", "http://127.0.0.1:8080/": the slash at the end is left off. INVALID names the rule. */
typedef struct HttpOrigin {
    Slice text;
    bool is_secure; /* https */
} HttpOrigin;
MUST_USE Status http_parse_origin(Slice text, HttpOrigin *ret_origin, Reason *reason);

/* The value of the cookie `name` in a Cookie header, without quotes around it. The first of that name that holds only what
 * a cookie may hold; names are exact. False when there is none. */
bool http_cookie(Slice cookies, Slice name, Slice *ret_value);
/* Visible ASCII without quotes, comma, semicolon and backslash; may be empty. */
bool http_is_cookie_value(Slice text);

/* A quality in thousandths: http_quality("gzip;q=0.5, *;q=0", "gzip") is 500. -1 when the list neither names it nor
 * has a '*'. Malformed elements are skipped. */
int http_quality(Slice list, Slice name);

/* The encodings that an asset is stored in, in our order of preference. */
typedef enum HttpEncoding { HTTP_BROTLI, HTTP_GZIP, HTTP_IDENTITY, HTTP_ENCODINGS } HttpEncoding;
/* The best of those present in `available` (bit 1 << HttpEncoding; identity must be among them). The client's
 * quality decides, then our order. When it refuses all that we have, it gets identity, as RFC 9110 allows. */
HttpEncoding http_choose_encoding(Slice accept_encoding, unsigned available);
/* "br", "gzip", or NULL for identity. */
const char *http_encoding_name(HttpEncoding encoding);

/* True when Accept prefers application/json to text/html; a mere any-type is no preference. */
bool http_prefers_json(Slice accept);

/* "Application/JSON; charset=utf-8" is application/json. */
bool http_media_type_is(Slice content_type, Slice media_type);

/* If-None-Match against one entity tag (with its quotes, W/ or not), by weak comparison; '*' matches. */
bool http_etag_matches(Slice if_none_match, Slice etag);
