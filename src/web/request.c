/* request.c -- see request.h. */
#include "web/server_internal.h"

#include <stdlib.h>

WebRequest *request_new(WebServer *server)
{
    WebRequest *request = calloc(1, sizeof *request);
    CHECK(request != NULL);
    request->server = server;
    request->arena = arena_new();
    request->answer.code = 200;
    return request;
}

void request_free(WebRequest *request)
{
    json_free(request->json);
    buffer_free(&request->body);
    buffer_free(&request->answer.buffer);
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
    Buffer body = kept_buffer(&request->body), answer = kept_buffer(&request->answer.buffer);
    json_free(request->json);
    arena_reset(request->arena);
    *request = (WebRequest){.server = request->server,
                            .arena = request->arena,
                            .body = body,
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

static const WebValue *value_of(const WebRequest *request, size_t index, unsigned kinds)
{
    CHECK(index < route_param_count(request->match.route));
    CHECK((kinds & 1u << request->match.route->params[index].kind) != 0);
    return &request->values[index];
}

bool web_has(const WebRequest *request, size_t index)
{
    return value_of(request, index, ~0u)->present;
}

uint64_t web_id(const WebRequest *request, size_t index)
{
    return (uint64_t)value_of(request, index, 1u << WEB_ID)->number;
}

int64_t web_number(const WebRequest *request, size_t index)
{
    return value_of(request, index, 1u << WEB_NUMBER)->number;
}

Slice web_text(const WebRequest *request, size_t index)
{
    unsigned kinds = 1u << WEB_LINE | 1u << WEB_TEXT | 1u << WEB_WORD;
    const WebValue *value = value_of(request, index, kinds);
    return value->present ? value->text : SLICE_EMPTY;
}

size_t web_word(const WebRequest *request, size_t index)
{
    return (size_t)value_of(request, index, 1u << WEB_WORD)->number;
}

bool web_switch(const WebRequest *request, size_t index)
{
    return value_of(request, index, 1u << WEB_SWITCH)->number != 0;
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

Slice web_request_id(const WebRequest *request)
{
    return request->id;
}

bool web_wants_json(const WebRequest *request)
{
    return slice_starts_with(request->path.path, SLICE("/api/")) ||
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

void web_header(WebRequest *request, const char *name, const char *value)
{
    WebAnswer *answer = &request->answer;
    CHECK(answer->header_count < WEB_HEADERS_MAX);
    answer->headers[answer->header_count].name = name;
    answer->headers[answer->header_count].value = value;
    answer->header_count++;
}

void web_redirect(WebRequest *request, int code, Slice location)
{
    CHECK(location.size > 0 && location.data[0] == '/');
    answer_clear(request);
    web_code(request, code);
    web_header(request, "Location", arena_text(request->arena, location));
}
