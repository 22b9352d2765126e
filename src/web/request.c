/* request.c -- see request.h. */
#include "web/multipart.h"
#include "web/server_private.h"

#include <stdlib.h>
#include <strings.h>

WebRequest *request_new(WebServer *server)
{
    WebRequest *request = calloc(1, sizeof *request);
    CHECK(request != NULL);
    request->server = server;
    request->arena = arena_new();
    request->answer.code = 200;
    return request;
}

void request_unwatch(WebRequest *request)
{
    if (request->watches != NULL)
        events_unreserve(request->watches, request->client);
    request->watches = NULL;
}

/* What the request holds of others' things. */
static void let_go(WebRequest *request)
{
    json_free(request->json);
    if (request->page != NULL)
        page_release(request->page);
    request_unwatch(request);
}

void request_free(WebRequest *request)
{
    let_go(request);
    buffer_free(&request->body);
    buffer_free(&request->answer.buffer);
    buffer_free(&request->out);
    arena_free(request->arena);
    free(request);
}

/* A buffer that one large request made large would stay so for ever. */
static Buffer kept_buffer(Buffer *buffer)
{
    enum { LARGEST_KEPT = 256 * 1024 };
    if (buffer->capacity > LARGEST_KEPT)
        buffer_free(buffer);
    buffer_clear(buffer);
    return *buffer;
}

void request_reset(WebRequest *request)
{
    Buffer body = kept_buffer(&request->body), answer = kept_buffer(&request->answer.buffer),
           out = kept_buffer(&request->out);
    let_go(request);
    arena_reset(request->arena);
    *request = (WebRequest){.server = request->server,
                            .arena = request->arena,
                            .body = body,
                            .out = out,
                            .answer = {.code = 200, .buffer = answer}};
}

void answer_clear(WebRequest *request)
{
    Buffer buffer = request->answer.buffer;
    bool closes = request->answer.close;
    buffer_clear(&buffer);
    request->answer = (WebAnswer){.code = 200, .buffer = buffer, .close = closes};
}

Slice answer_body(const WebRequest *request)
{
    const WebAnswer *answer = &request->answer;
    return answer->is_static ? answer->body : buffer_slice(&answer->buffer);
}

void *web_context(const WebRequest *request)
{
    return request->server->options.context;
}

Arena *web_arena(WebRequest *request)
{
    return request->arena;
}

Reason *web_reason(WebRequest *request)
{
    return &request->reason;
}

Status web_fail(WebRequest *request, int error, Status status)
{
    request->code = error;
    return status;
}

static const WebValue *value_of(const WebRequest *request, size_t index, unsigned kinds)
{
    CHECK(index < route_param_count(request->match.route));
    CHECK((kinds & 1u << request->match.route->params[index].kind) != 0);
    return &request->values[index];
}

const WebValue *web_value(const WebRequest *request, size_t index)
{
    return value_of(request, index, ~0u);
}

bool web_has(const WebRequest *request, size_t index)
{
    return value_of(request, index, ~0u)->present;
}

uint64_t web_id(const WebRequest *request, size_t index)
{
    return (uint64_t)value_of(request, index, 1u << WEB_ID | 1u << WEB_SLUG)->number;
}

int64_t web_number(const WebRequest *request, size_t index)
{
    return value_of(request, index, 1u << WEB_NUMBER)->number;
}

Slice web_text(const WebRequest *request, size_t index)
{
    unsigned kinds =
        1u << WEB_LINE | 1u << WEB_TEXT | 1u << WEB_WORD | 1u << WEB_OPAQUE | 1u << WEB_SLUG;
    const WebValue *value = value_of(request, index, kinds);
    return value->present ? value->text : SLICE_EMPTY;
}

Status web_path_text(WebRequest *request, size_t index, Slice *ret_text)
{
    const WebRoute *route = request->match.route;
    WebValue value;
    Slice text;
    CHECK(index < WEB_CAPTURES_MAX && route->params[index].from == WEB_PATH);
    if (http_decode(request->match.captures[index], HTTP_DECODE_PATH, request->arena, &text) !=
        STATUS_OK)
        return reason_set(&request->reason, STATUS_INVALID, route->params[index].name,
                          "must be UTF-8 text without NUL");
    TRY(param_from_texts(&route->params[index], &text, 1, request->arena, &value,
                         &request->reason));
    *ret_text = value.text;
    return STATUS_OK;
}

size_t web_word(const WebRequest *request, size_t index)
{
    return (size_t)value_of(request, index, 1u << WEB_WORD)->number;
}

bool web_switch(const WebRequest *request, size_t index)
{
    return value_of(request, index, 1u << WEB_SWITCH)->number != 0;
}

const WebNumber *web_numbers(const WebRequest *request, size_t index, size_t *ret_count)
{
    const WebValue *value = value_of(request, index, 1u << WEB_NUMBERS);
    *ret_count = value->count;
    return value->numbers;
}

const Slice *web_texts(const WebRequest *request, size_t index, size_t *ret_count)
{
    const WebValue *value = value_of(request, index, 1u << WEB_TEXTS);
    *ret_count = value->count;
    return value->texts;
}

Slice web_head(const WebRequest *request, HeadName name)
{
    return request->head.present[name] ? request->head.values[name] : SLICE_EMPTY;
}

Address web_client(const WebRequest *request)
{
    return request->client;
}

const WebRoute *web_route(const WebRequest *request)
{
    return request->match.route;
}

void web_set_viewer(WebRequest *request, void *viewer)
{
    request->viewer = viewer;
    request->is_for_one = true;
}

void web_set_visitor(WebRequest *request, void *viewer)
{
    request->viewer = viewer;
    request->is_for_one = false;
}

void *web_viewer(const WebRequest *request)
{
    return request->viewer;
}

Slice web_public_url(const WebRequest *request)
{
    return slice_from(request->server->public_url);
}

Slice web_body(const WebRequest *request)
{
    return buffer_slice(&request->body);
}

const Json *web_json(const WebRequest *request)
{
    return request->json;
}

Slice web_path(const WebRequest *request)
{
    return request->path.path;
}

Slice web_query(const WebRequest *request)
{
    return request->path.query;
}

Slice web_target(const WebRequest *request)
{
    return request->target;
}

bool web_sends_form(const WebRequest *request)
{
    Slice type = request->head.values[HEAD_CONTENT_TYPE];
    return head_has_body(&request->head) &&
           (http_media_type_is(type, SLICE("application/x-www-form-urlencoded")) ||
            (request->match.route->files && multipart_is(type)));
}

/* Only a body that says it is a form is one. */
static Slice fields_of(const WebRequest *request, WebFrom from)
{
    Slice type = request->head.values[HEAD_CONTENT_TYPE];
    if (from == WEB_QUERY)
        return request->path.query;
    CHECK(from == WEB_FORM);
    if (request->form.data != NULL)
        return request->form;
    return http_media_type_is(type, SLICE("application/x-www-form-urlencoded")) ? web_body(request)
                                                                                : SLICE_EMPTY;
}

Slice web_field(WebRequest *request, WebFrom from, const char *name)
{
    Slice rest = fields_of(request, from), found = SLICE_EMPTY, field, value;
    size_t count = 0;
    while (http_next_pair(&rest, &field, &value)) {
        if (!slice_equal(field, slice_from(name)))
            continue;
        count++;
        found = value;
    }
    if (count != 1 || http_decode(found, HTTP_DECODE_FORM, request->arena, &value) != STATUS_OK)
        return SLICE_EMPTY;
    return value;
}

/* Six bytes of time, five of this process, five of a counter: unique without asking the kernel for randomness on each
 * request. */
static Id new_id(WebServer *server)
{
    Id id;
    uint64_t ms = (uint64_t)(clock_now_us(server->options.world.clock) / US_PER_MS);
    uint64_t count = atomic_fetch_add_explicit(&server->id_count, 1, memory_order_relaxed);
    for (int i = 0; i < 6; i++)
        id.bytes[i] = (unsigned char)(ms >> (40 - 8 * i));
    memcpy(id.bytes + 6, server->id_prefix, sizeof server->id_prefix);
    for (int i = 0; i < 5; i++)
        id.bytes[11 + i] = (unsigned char)(count >> (32 - 8 * i));
    return id;
}

Slice web_request_id(WebRequest *request)
{
    if (request->id.size == 0)
        request->id = id_text(new_id(request->server), request->arena);
    return request->id;
}

/* By the address as it came, because one that cannot be read has no path. */
bool web_wants_json(const WebRequest *request)
{
    return slice_starts_with(request->target, SLICE("/api/")) ||
           http_prefers_json(request->head.values[HEAD_ACCEPT]);
}

Buffer *web_out(WebRequest *request, const char *content_type)
{
    request->answer.content_type = content_type;
    return &request->answer.buffer;
}

Buffer *web_html(WebRequest *request)
{
    return web_out(request, "text/html; charset=utf-8");
}

JsonWriter web_write_json(WebRequest *request)
{
    return json_writer(web_out(request, "application/json"));
}

void web_static(WebRequest *request, const char *content_type, Slice body)
{
    request->answer.content_type = content_type;
    request->answer.body = body;
    request->answer.is_static = true;
}

void web_code(WebRequest *request, int code)
{
    CHECK(code >= 200 && code < 600);
    request->answer.code = code;
}

size_t answer_header(const WebAnswer *answer, const char *name)
{
    size_t i = 0;
    while (i < answer->header_count && strcasecmp(answer->headers[i].name, name) != 0)
        i++;
    return i;
}

void web_header(WebRequest *request, const char *name, const char *value)
{
    WebAnswer *answer = &request->answer;
    size_t place = answer_header(answer, name);
    CHECK(place < WEB_HEADERS_MAX && strpbrk(value, "\r\n") == NULL);
    answer->headers[place].name = name;
    answer->headers[place].value = value;
    if (place == answer->header_count)
        answer->header_count++;
}

/* ---- Cookies ---- */

Slice web_cookie(const WebRequest *request, const char *name)
{
    Slice full = slice_from(name), value = SLICE_EMPTY;
    if (request->server->is_secure)
        full = arena_print(request->arena, "__Host-%s", name);
    (void)http_cookie(web_head(request, HEAD_COOKIE), full, &value);
    return value;
}

static WebCookie *cookie_place(WebRequest *request, CookieKind kind)
{
    size_t i = 0;
    while (i < request->cookie_count && request->cookies[i].kind != kind)
        i++;
    if (i == request->cookie_count)
        request->cookie_count++;
    return &request->cookies[i];
}

void web_set_cookie(WebRequest *request, CookieKind kind, Slice value, CookieLife life)
{
    BUFFER_SCOPE Buffer line = {0};
    bool is_secure = request->server->is_secure;
    CHECK(kind < COOKIE_KINDS && http_is_cookie_value(value));
    const CookieRow *row = &COOKIE_ROWS[kind];
    buffer_print(&line, "%s%s=%.*s; Path=/; HttpOnly; SameSite=Lax", is_secure ? "__Host-" : "",
                 row->name, SLICE_ARG(value));
    if (is_secure)
        buffer_text(&line, "; Secure");
    if (life != COOKIE_WHILE_OPEN)
        buffer_print(&line, "; Max-Age=%lld", life == COOKIE_GONE ? 0 : (long long)row->life_s);
    *cookie_place(request, kind) =
        (WebCookie){kind, arena_text(request->arena, buffer_slice(&line))};
}

/* ---- Whole answers ---- */

void web_redirect(WebRequest *request, int code, Slice location)
{
    CHECK(http_is_own_path(location));
    if (location.size > WEB_LOCATION_MAX)
        location.size = slice_find(location, '?');
    if (location.size > WEB_LOCATION_MAX)
        location = SLICE("/");
    answer_clear(request);
    web_code(request, code);
    web_header(request, "Location", arena_text(request->arena, location));
}

bool web_etag(WebRequest *request, Slice version)
{
    Slice etag = arena_print(request->arena, "\"%.*s\"", SLICE_ARG(version));
    CHECK(http_is_cookie_value(version)); /* what an entity tag and a list of them can hold */
    web_header(request, "ETag", arena_text(request->arena, etag));
    if (!http_etag_matches(web_head(request, HEAD_IF_NONE_MATCH), etag))
        return false;
    web_code(request, 304);
    request->answer.content_type = NULL;
    request->answer.is_static = false;
    buffer_clear(&request->answer.buffer);
    return true;
}

void web_made(WebRequest *request, int64_t steady_us)
{
    request->made_us = steady_us;
}

void web_private(WebRequest *request)
{
    web_header(request, "Cache-Control", "no-store");
}

void web_later(WebRequest *request, const WebLater *later)
{
    CHECK(!request_is_later(request));
    request->later = *later;
}

bool web_is_gone(const WebRequest *request)
{
    return atomic_load(&request->later_cancels);
}

/* Proxies that buffer would keep events back. */
Status web_watch(WebRequest *request, Events *events, Slice topic)
{
    CHECK(request->watches == NULL && topic.size <= EVENTS_TOPIC_MAX);
    TRY(events_reserve(events, request->client, &request->reason));
    request->watches = events;
    request->topic = arena_copy(request->arena, topic);
    (void)web_out(request, "text/event-stream");
    web_private(request);
    web_header(request, "X-Accel-Buffering", "no");
    return STATUS_OK;
}
