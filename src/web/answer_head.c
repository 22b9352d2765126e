/* answer_head.c -- see answer_head.h. */
#include "web/answer_head.h"

#include <stdio.h>

#include "base/time_text.h"
#include "web/server_private.h"

/* Sent with every answer. Scripts, styles and pictures come from us alone, forms go to us alone, nobody frames us. Where the site is on
 * https, browsers ask it by nothing else for a year; other names below its own are their owner's business. */
#define HEADER(name, value, is_for_https)                      \
    {                                                          \
        name, SLICE_INIT(name ": " value "\r\n"), is_for_https \
    }
#define SLICE_INIT(literal)                \
    {                                      \
        "" literal "", sizeof(literal) - 1 \
    }
static const struct {
    const char *name;
    Slice line;
    bool is_for_https;
} SECURITY_HEADERS[] = {
    HEADER("Content-Security-Policy",
           "default-src 'none'; style-src 'self'; img-src 'self' data:; "
           "script-src 'self'; connect-src 'self'; "
           "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
           false),
    HEADER("X-Content-Type-Options", "nosniff", false),
    HEADER("Referrer-Policy", "same-origin", false),
    HEADER("Cross-Origin-Opener-Policy", "same-origin", false),
    HEADER("Permissions-Policy", "camera=(), geolocation=(), microphone=(), interest-cohort=()",
           false),
    HEADER("Strict-Transport-Security", "max-age=31536000", true),
};
enum { SECURITY_HEADER_COUNT = sizeof SECURITY_HEADERS / sizeof SECURITY_HEADERS[0] };

/* The words behind a code, which nobody reads but people who look at the wire. */
static const struct {
    int code;
    const char *words;
} CODES[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {303, "See Other"},
    {304, "Not Modified"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {409, "Conflict"},
    {410, "Gone"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
};

void answer_head_begin(int code, Slice date_line, Buffer *out)
{
    const char *words = "Other";
    for (size_t i = 0; i < sizeof CODES / sizeof CODES[0]; i++)
        if (CODES[i].code == code)
            words = CODES[i].words;
    buffer_bytes(out, SLICE("HTTP/1.1 "));
    buffer_decimal(out, code);
    buffer_u8(out, ' ');
    buffer_text(out, words);
    buffer_bytes(out, SLICE("\r\n"));
    buffer_bytes(out, date_line);
}

static void put_line(Buffer *out, const char *name, Slice value)
{
    buffer_text(out, name);
    buffer_bytes(out, SLICE(": "));
    buffer_bytes(out, value);
    buffer_bytes(out, SLICE("\r\n"));
}

/* What the answer says itself counts. */
static bool has_security_header(const WebRequest *request, size_t i)
{
    const WebAnswer *answer = &request->answer;
    return (request->server->is_secure || !SECURITY_HEADERS[i].is_for_https) &&
           answer_header(answer, SECURITY_HEADERS[i].name) == answer->header_count;
}

/* What says nothing of it and has no version may hold anything that was made for one person, and what is in an address may be a secret: a
 * browser or proxy must not keep it. */
static bool says_who_may_keep(const WebAnswer *answer)
{
    return answer_header(answer, "Cache-Control") < answer->header_count ||
           answer_header(answer, "ETag") < answer->header_count;
}

void answer_head_rest(WebRequest *request, size_t size, Buffer *out)
{
    const WebAnswer *answer = &request->answer;
    if (answer->content_type != NULL)
        put_line(out, "Content-Type", slice_from(answer->content_type));
    for (size_t i = 0; i < SECURITY_HEADER_COUNT; i++)
        if (has_security_header(request, i))
            buffer_bytes(out, SECURITY_HEADERS[i].line);
    for (size_t i = 0; i < answer->header_count; i++)
        put_line(out, answer->headers[i].name, slice_from(answer->headers[i].value));
    if (!says_who_may_keep(answer))
        buffer_bytes(out, SLICE("Cache-Control: no-store\r\n"));
    for (size_t i = 0; i < request->cookie_count; i++)
        put_line(out, "Set-Cookie", slice_from(request->cookies[i].line));
    if (request->page == NULL)
        put_line(out, "X-Request-Id", web_request_id(request));
    if (answer->close || size == ANSWER_OPEN)
        buffer_bytes(out, SLICE("Connection: close\r\n"));
    if (size != ANSWER_OPEN && answer->code != 304 && answer->code != 204) {
        buffer_bytes(out, SLICE("Content-Length: "));
        buffer_decimal(out, (int64_t)size);
        buffer_bytes(out, SLICE("\r\n"));
    }
    buffer_bytes(out, SLICE("\r\n"));
}

/* The day of the week of the first of January 1970 was a Thursday. */
size_t answer_date_line(int64_t now_us, char to[DATE_LINE_MAX])
{
    static const char days[] = "ThuFriSatSunMonTueWed";
    Utc utc = utc_of(now_us);
    int64_t day = now_us / (86400 * US_PER_S) % 7;
    return (size_t)snprintf(to, DATE_LINE_MAX, "Date: %.3s, %02d %.3s %04d %02d:%02d:%02d GMT\r\n",
                            days + 3 * (day < 0 ? 0 : day), utc.day, month_name(utc.month),
                            utc.year, utc.hour, utc.minute, utc.second);
}
