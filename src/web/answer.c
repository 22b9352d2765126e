/* answer.c -- from a complete head to a judged request, and from a complete request to its answer.
 *
 * Judging happens before the body is read, so that whatever can be refused by the head alone is refused without
 * reading on. Each step either leaves request->status OK or names what is wrong; the first fault stands. */
#include "web/errors.h"
#include "web/multipart.h"
#include "web/server_private.h"

enum {
    TARGET_MAX = 8000
}; /* what RFC 9110 asks servers to take at least; with header_bytes for the rest of the head */

static Status judge_target(WebRequest *request)
{
    if (request->target.size > TARGET_MAX)
        return web_fail(request, ERROR_TARGET_LONG, STATUS_TOO_LARGE);
    if (http_parse_target(request->target, &request->path) == STATUS_OK)
        return STATUS_OK;
    request->answer.close = true;
    return reason_set(&request->reason, STATUS_INVALID, NULL,
                      "the address must start with /, hold no spaces or control characters, and "
                      "have two hex digits after every %%");
}

static Status judge_framing(WebRequest *request)
{
    Status status = head_judge(&request->head, &request->reason);
    if (status != STATUS_OK) {
        request->answer.close = true;
        connection_linger(request->connection); /* nobody knows what follows it */
    }
    return status;
}

static Status judge_host(WebRequest *request)
{
    const WebOptions *options = &request->server->options;
    Slice host = web_head(request, HEAD_HOST), other = request->path.host;
    if (other.size > 0 && !slice_equal_ignoring_case(other, host)) {
        request->answer.close = true;
        return reason_set(&request->reason, STATUS_INVALID, NULL,
                          "the address and the Host header must name the same host");
    }
    if (options->is_our_host == NULL || options->is_our_host(options->context, host))
        return STATUS_OK;
    return web_fail(request, ERROR_HOST, STATUS_INVALID);
}

/* RFC 9110: 405 for a method we know and do not serve (WEB_METHODS, which no route has), 501 for one we have never
 * heard of. */
static Status judge_method(WebRequest *request, WebMethod *ret_method)
{
    static const char *const others[] = {"OPTIONS", "TRACE", "CONNECT", "QUERY"};
    if (request->is_head) {
        *ret_method = WEB_GET;
        return STATUS_OK;
    }
    if (route_method(request->method, ret_method))
        return STATUS_OK;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (slice_equal(request->method, slice_from(others[i]))) {
            *ret_method = WEB_METHODS;
            return STATUS_OK;
        }
    }
    return web_fail(request, ERROR_METHOD_UNKNOWN, STATUS_INVALID);
}

static Status judge_route(WebRequest *request, WebMethod method)
{
    const WebServer *server = request->server;
    request->match = routes_find(&server->table, method, request->path.path);
    if (request->match.route != NULL)
        return STATUS_OK;
    if (request->match.allowed != 0)
        return web_fail(request, ERROR_METHOD, STATUS_INVALID);
    return STATUS_NOT_FOUND;
}

/* Whether the server as a whole takes requests now. */
static Status judge_mode(WebRequest *request)
{
    WebServer *server = request->server;
    const WebRoute *route = request->match.route;
    if (atomic_load(&server->stopping))
        request->answer.close = true;
    if (route != NULL && route->always)
        return STATUS_OK;
    if (atomic_load(&server->stopping))
        return web_fail(request, ERROR_STOPPING, STATUS_UNAVAILABLE);
    if (!atomic_load(&server->maintenance))
        return STATUS_OK;
    pthread_mutex_lock(&server->lock);
    reason_set(&request->reason, STATUS_OK, NULL, "%s", server->maintenance_text);
    pthread_mutex_unlock(&server->lock);
    return web_fail(request, ERROR_MAINTENANCE, STATUS_UNAVAILABLE);
}

Status web_limit_body(WebRequest *request, uint64_t most)
{
    uint64_t size = 0;
    if (request->body_max > most)
        request->body_max = most;
    return head_body_size(&request->head, &size) && size > request->body_max
               ? reason_set(&request->reason, STATUS_TOO_LARGE, "body", "at most %llu bytes",
                            (unsigned long long)request->body_max)
               : STATUS_OK;
}

static Status judge_body(WebRequest *request)
{
    const WebRoute *route = request->match.route;
    Slice type = request->head.values[HEAD_CONTENT_TYPE];
    request->body_max = route->body_bytes == WEB_BODY_DEFAULT
                            ? (uint64_t)request->server->options.config->body_bytes
                            : (uint64_t)route->body_bytes;
    if (!head_has_body(&request->head))
        return STATUS_OK;
    if (request->body_max == 0)
        return reason_set(&request->reason, STATUS_TOO_LARGE, "body", "this address takes none");
    TRY(web_limit_body(request, request->body_max));
    if (route_takes(route, WEB_FORM) && !(route->files && multipart_is(type)) &&
        !http_media_type_is(type, SLICE("application/x-www-form-urlencoded")))
        return reason_set(&request->reason, STATUS_INVALID, "Content-Type",
                          "must be application/x-www-form-urlencoded");
    if (route_takes(route, WEB_JSON) && !http_media_type_is(type, SLICE("application/json")))
        return reason_set(&request->reason, STATUS_INVALID, "Content-Type",
                          "must be application/json");
    return STATUS_OK;
}

static Status judge(WebRequest *request)
{
    WebMethod method = WEB_GET;
    TRY(judge_framing(request));
    TRY(judge_target(request));
    TRY(judge_host(request));
    TRY(judge_method(request, &method));
    Status found = judge_route(request, method);
    TRY(judge_mode(request));
    TRY(found);
    connection_allow(request->connection, request->match.route->seconds * US_PER_S);
    return judge_body(request);
}

void answer_judge(WebRequest *request)
{
    request->status = judge(request);
    request->client =
        address_of_client(connection_peer(request->connection),
                          request->head.values[HEAD_FORWARDED_FOR], &request->server->trusted);
}

/* ---- The answer ---- */

static void add_allow(WebRequest *request)
{
    BUFFER_SCOPE Buffer names = {0};
    for (int method = 0; method < WEB_METHODS; method++) {
        if ((request->match.allowed & 1u << method) == 0)
            continue;
        buffer_text(&names, names.size > 0 ? ", " : "");
        buffer_text(&names, route_method_name((WebMethod)method));
        if (method == WEB_GET)
            buffer_text(&names, ", HEAD");
    }
    web_header(request, "Allow", arena_text(request->arena, buffer_slice(&names)));
}

/* "/policies/" is a slip for "/policies", when that exists. */
static bool redirect_without_slash(WebRequest *request)
{
    const WebServer *server = request->server;
    Slice path = request->path.path;
    if (path.size < 2 || path.data[path.size - 1] != '/')
        return false;
    path.size--;
    if (routes_find(&server->table, WEB_GET, path).allowed == 0)
        return false;
    Slice query = request->path.query;
    web_redirect(request, 308,
                 query.size == 0
                     ? path
                     : arena_print(request->arena, "%.*s?%.*s", SLICE_ARG(path), SLICE_ARG(query)));
    return true;
}

static bool is_for_programs(const WebRequest *request)
{
    return slice_starts_with(request->target, SLICE("/api/")) ||
           slice_equal(request->path.path, SLICE("/metrics"));
}

static void answer_failure(WebRequest *request, Status status)
{
    const WebRoute *route = request->match.route;
    request_unwatch(request);
    if (route != NULL && route->by_program && status == STATUS_INVALID && request->code == 0 &&
        request->reason.field[0] != '\0')
        request->code = ERROR_FIELD;
    error_answer(request, error_words(request->code, status));
    if (request->code == ERROR_METHOD)
        add_allow(request);
    if (request->answer.code == 401)
        web_header(request, "WWW-Authenticate", is_for_programs(request) ? "Bearer" : "Cookie");
}

/* What has a form's files in it is read as a form once, for all who ask for its fields. */
static Status parse_form(WebRequest *request, Slice *ret_form)
{
    Slice type = request->head.values[HEAD_CONTENT_TYPE];
    request->form = web_body(request);
    if (request->match.route->files && multipart_is(type))
        TRY(multipart_form(type, web_body(request), request->arena, &request->form,
                           &request->reason));
    *ret_form = request->form;
    return STATUS_OK;
}

/* As many values as the route's parameters can hold, and some more, so that whoever is over one's bound is told which. */
static JsonBounds json_bounds(const WebRequest *request)
{
    enum { MORE = 1000 };
    const WebRoute *route = request->match.route;
    JsonBounds bounds = {(size_t)request->body_max, MORE};
    for (size_t i = 0; i < route_param_count(route); i++)
        bounds.values += 2 + 2 * (size_t)route->params[i].most_count;
    return bounds;
}

static Status parse_values(WebRequest *request)
{
    const WebRoute *route = request->match.route;
    if (request->has_values)
        return STATUS_OK;
    WebInput input = {.captures = request->match.captures, .query = request->path.query};
    if (route_takes(route, WEB_FORM))
        TRY(parse_form(request, &input.form));
    if (route_takes(route, WEB_JSON))
        TRY(json_parse(web_body(request), json_bounds(request), &request->json, &request->reason));
    input.json = request->json;
    request->has_values = true;
    return route_values(route, &input, request->arena, request->values, &request->reason);
}

/* The routes that every server has are for everybody, and need no look at who is asking. */
static bool is_of_application(const WebRequest *request)
{
    return (size_t)(request->match.route - request->server->routes) <
           request->server->options.route_count;
}

/* Whoever was admitted a while ago, because the body took long or others were first, may have been logged out meanwhile. */
static Status admit(WebRequest *request)
{
    const WebOptions *options = &request->server->options;
    int64_t now_us = clock_steady_us(options->world.clock);
    if (!is_of_application(request) || options->admit == NULL ||
        (request->admitted_us != 0 && now_us - request->admitted_us < ADMISSION_MS * US_PER_MS))
        return STATUS_OK;
    TRY(options->admit(request));
    request->admitted_us = now_us;
    return STATUS_OK;
}

static Status admit_body(WebRequest *request)
{
    const WebOptions *options = &request->server->options;
    return is_of_application(request) && options->admit_body != NULL ? options->admit_body(request)
                                                                     : STATUS_OK;
}

/* It is sent elsewhere, or is a page from memory. */
static bool is_made(const WebRequest *request)
{
    return request->page != NULL || request->answer.code >= 300;
}

/* All that costs little, and says whether there is more to do. Parameters of a body are left for later: reading them may take long. */
static Status look(WebRequest *request)
{
    TRY(request->status);
    if (!head_has_body(&request->head))
        TRY(parse_values(request));
    bool is_kept = cached_is_for(request);
    if (is_kept && !cached_must_admit(request) && cached_answer(request))
        return STATUS_OK;
    TRY(admit(request));
    if (is_kept && cached_must_admit(request) && !request->is_for_one && !is_made(request))
        (void)cached_answer(request);
    return STATUS_OK;
}

void answer_admit(WebRequest *request)
{
    request->status = admit(request);
}

bool answer_look(WebRequest *request)
{
    request->status = look(request);
    return request->status == STATUS_OK && !is_made(request);
}

/* Up to the answer; `ret_is_left`: the route's batch makes it. */
static Status begin(WebRequest *request, bool *ret_is_left)
{
    *ret_is_left = false;
    if (is_made(request))
        return STATUS_OK;
    TRY(look(request));
    if (is_made(request))
        return STATUS_OK;
    TRY(parse_values(request));
    TRY(admit_body(request));
    *ret_is_left = request->match.route->batch != NULL;
    return *ret_is_left ? STATUS_OK : request->match.route->handler(request);
}

void answers_begin(WebRequest *const *requests, size_t count)
{
    WebRequest *left[WEB_BATCH_MAX];
    Status statuses[WEB_BATCH_MAX];
    size_t left_count = 0;
    CHECK(count <= WEB_BATCH_MAX);
    for (size_t i = 0; i < count; i++) {
        bool is_left;
        requests[i]->status = begin(requests[i], &is_left);
        if (is_left)
            left[left_count++] = requests[i];
    }
    if (left_count > 0)
        left[0]->match.route->batch(left, left_count, statuses);
    for (size_t i = 0; i < left_count; i++)
        left[i]->status = statuses[i];
}

void answer_end(WebRequest *request)
{
    Status status = request->status;
    if (request->page != NULL || request_is_later(request))
        return; /* from memory, or made by request->later.end */
    cached_keep(request, status);
    if (status == STATUS_OK)
        return;
    if (status == STATUS_NOT_FOUND && request->match.route == NULL &&
        redirect_without_slash(request))
        return;
    answer_failure(request, status);
}

void answer_make(WebRequest *request)
{
    answers_begin(&request, 1);
    answer_end(request);
}
