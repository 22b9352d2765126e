/* exchange.c -- one request and its answer on the wire: the callbacks of libmicrohttpd.
 *
 * The library calls, for each request: exchange_request_line when the first line is there; exchange_handle once for the
 * complete head, then for each piece of the body, then once more; exchange_completed when the answer is out or the
 * client is gone. An answer that is queued at the first of these calls makes the library close the connection after it
 * without reading the body, which is just what a refused body needs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>

#include "web/errors.h"
#include "web/pool.h"
#include "web/server_internal.h"

/* Sent with every answer. Scripts, styles and pictures come from us alone, forms go to us alone, nobody frames us. Where the site is on
 * https, browsers ask it by nothing else for a year; other names below its own are their owner's business. */
static const struct {
    const char *name, *value;
    bool is_for_https;
} SECURITY_HEADERS[] = {
    {"Content-Security-Policy",
     "default-src 'none'; style-src 'self'; img-src 'self' data:; "
     "script-src 'self'; connect-src 'self'; "
     "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
     false},
    {"X-Content-Type-Options", "nosniff", false},
    {"Referrer-Policy", "same-origin", false},
    {"Cross-Origin-Opener-Policy", "same-origin", false},
    {"Permissions-Policy", "camera=(), geolocation=(), microphone=(), interest-cohort=()", false},
    {"Strict-Transport-Security", "max-age=31536000", true},
};
enum { SECURITY_HEADER_COUNT = sizeof SECURITY_HEADERS / sizeof SECURITY_HEADERS[0] };

/* What the answer says itself counts. */
static bool has_security_header(const WebRequest *request, size_t i)
{
    const WebAnswer *answer = &request->answer;
    return (request->server->is_secure || !SECURITY_HEADERS[i].is_for_https) &&
           answer_header(answer, SECURITY_HEADERS[i].name) == answer->header_count;
}

/* ---- Requests are reused ---- */

static WebRequest *take_request(WebServer *server)
{
    pthread_mutex_lock(&server->lock);
    WebRequest *request = server->spare;
    if (request != NULL) {
        server->spare = request->next;
        server->spare_count--;
    }
    pthread_mutex_unlock(&server->lock);
    return request != NULL ? request : request_new(server);
}

static void give_request(WebServer *server, WebRequest *request)
{
    bool is_kept;
    request_reset(request);
    pthread_mutex_lock(&server->lock);
    is_kept = server->spare_count < SPARE_REQUESTS;
    if (is_kept) {
        request->next = server->spare;
        server->spare = request;
        server->spare_count++;
    }
    pthread_mutex_unlock(&server->lock);
    if (!is_kept)
        request_free(request);
}

static Clock clock_of(const WebServer *server)
{
    return server->options.world.clock;
}

/* ---- The head ---- */

/* The library ends the address by a NUL in place of the space before "HTTP/1.1". When the client sent a NUL of its own,
 * what follows the first one is not the version, and the rest of the address would be lost in silence. */
static bool is_torn(const char *target, size_t size)
{
    return strcmp(MHD_get_version(), "0.9.75") == 0 && strncmp(target + size + 1, "HTTP/", 5) != 0;
}

void *exchange_request_line(void *context, const char *target, struct MHD_Connection *mhd)
{
    WebServer *server = context;
    WebRequest *request = take_request(server);
    request->connection =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    Slice line = target == NULL ? SLICE_EMPTY : slice_from(target);
    request->target_torn = target == NULL || is_torn(target, line.size);
    request->target = arena_copy(request->arena, line);
    return request;
}

static enum MHD_Result add_header(void *context, enum MHD_ValueKind kind, const char *name,
                                  size_t name_size, const char *value, size_t value_size)
{
    WebRequest *request = context;
    (void)kind;
    Slice content = value == NULL ? SLICE_EMPTY : slice_of(value, value_size);
    head_add(&request->head, slice_of(name, name_size), content, request->arena);
    return MHD_YES;
}

/* See head_is_whole. Later versions of the library refuse such heads by themselves, and need not keep this layout. */
static bool is_whole(const WebRequest *request, const char *method, const char *version,
                     size_t header_count)
{
    const char *start = version + strlen(version), *end = method + request->head_bytes;
    if (strcmp(MHD_get_version(), "0.9.75") != 0)
        return true;
    return start < end && head_is_whole(slice_of(start, (size_t)(end - start)), header_count);
}

/* See server_head_room. */
static uint64_t memory_of(const WebRequest *request, struct MHD_Connection *mhd)
{
    enum { ENTRY = 64 };
    int entries = MHD_get_connection_values_n(
        mhd, MHD_HEADER_KIND | MHD_COOKIE_KIND | MHD_GET_ARGUMENT_KIND, NULL, NULL);
    return request->head_bytes + request->head.values[HEAD_COOKIE].size + ENTRY * (uint64_t)entries;
}

static void begin(WebRequest *request, struct MHD_Connection *mhd, const char *method,
                  const char *version)
{
    WebServer *server = request->server;
    request->begun_us = clock_steady_us(clock_of(server));
    request->has_begun = true;
    connection_begin(request->connection, request->begun_us);
    request->method = slice_from(method);
    request->head.is_http_1_0 = strcmp(version, "HTTP/1.0") == 0;
    request->head_bytes =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;
    int count = MHD_get_connection_values_n(mhd, MHD_HEADER_KIND, add_header, request);
    request->head_memory = memory_of(request, mhd);
    if (!is_whole(request, method, version, (size_t)count))
        request->head.fault = "the head holds a NUL byte, a folded line, or a line without CR LF";
    answer_judge(request);
}

/* ---- The answer ---- */

static void put_header(struct MHD_Response *response, const char *name, const char *value)
{
    CHECK(MHD_add_response_header(response, name, value) == MHD_YES);
}

static void put_headers(WebRequest *request, struct MHD_Response *response)
{
    const WebAnswer *answer = &request->answer;
    if (answer->content_type != NULL)
        put_header(response, "Content-Type", answer->content_type);
    for (size_t i = 0; i < SECURITY_HEADER_COUNT; i++)
        if (has_security_header(request, i))
            put_header(response, SECURITY_HEADERS[i].name, SECURITY_HEADERS[i].value);
    for (size_t i = 0; i < answer->header_count; i++)
        put_header(response, answer->headers[i].name, answer->headers[i].value);
    for (size_t i = 0; i < request->cookie_count; i++)
        put_header(response, "Set-Cookie", request->cookies[i].line);
    if (request->page == NULL)
        put_header(response, "X-Request-Id", arena_text(request->arena, web_request_id(request)));
    if (answer->close)
        put_header(response, "Connection", "close");
}

static struct MHD_Response *new_response(WebRequest *request)
{
    Slice body = answer_body(request);
    /* The library only reads it; its type is older than const. */
    void *bytes = (void *)(uintptr_t)body.data;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(body.size, bytes, MHD_RESPMEM_PERSISTENT);
    CHECK(response != NULL);
    put_headers(request, response);
    return response;
}

/* A page from memory is sent by one and the same response to everybody: each header costs the library three pieces of memory. */
static enum MHD_Result queue_answer(WebRequest *request, struct MHD_Connection *mhd)
{
    const WebAnswer *answer = &request->answer;
    struct MHD_Response *response =
        answer->is_page ? page_response(request->page, answer->encoding) : NULL;
    bool is_kept = response != NULL;
    if (!is_kept) {
        response = new_response(request);
        is_kept = answer->is_page && page_keep_response(request->page, answer->encoding, response);
    }
    enum MHD_Result queued = MHD_queue_response(mhd, (unsigned)answer->code, response);
    if (!is_kept)
        MHD_destroy_response(response);
    request->is_answered = queued == MHD_YES;
    return queued;
}

/* ---- Answers that we send ourselves ---- */

static void print_date(WebRequest *request, Buffer *out)
{
    char text[64];
    struct tm utc;
    time_t seconds = (time_t)(clock_now_us(clock_of(request->server)) / US_PER_S);
    CHECK(gmtime_r(&seconds, &utc) != NULL);
    size_t size = strftime(text, sizeof text, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &utc);
    buffer_bytes(out, slice_of(text, size));
}

/* The head of an answer that ends with its connection. */
static void print_head(WebRequest *request, Buffer *out, const char *words)
{
    const WebAnswer *answer = &request->answer;
    buffer_print(out, "HTTP/1.1 %d %s\r\n", answer->code, words);
    print_date(request, out);
    buffer_print(out, "Content-Type: %s\r\nConnection: close\r\nX-Request-Id: %.*s\r\n",
                 answer->content_type, SLICE_ARG(web_request_id(request)));
    for (size_t i = 0; i < SECURITY_HEADER_COUNT; i++)
        if (has_security_header(request, i))
            buffer_print(out, "%s: %s\r\n", SECURITY_HEADERS[i].name, SECURITY_HEADERS[i].value);
    for (size_t i = 0; i < answer->header_count; i++)
        buffer_print(out, "%s: %s\r\n", answer->headers[i].name, answer->headers[i].value);
    for (size_t i = 0; i < request->cookie_count; i++)
        buffer_print(out, "Set-Cookie: %s\r\n", request->cookies[i].line);
}

/* Each comes back after a time of its own when the connection ends. */
static uint64_t retry_ms(const WebServer *server)
{
    enum { LEAST = 2000, SPREAD = 3000 };
    return LEAST + random_u64(server->options.world.random) % SPREAD;
}

/* The events get a second handle of the socket; the library closes its own. */
static bool hand_over(WebRequest *request)
{
    BUFFER_SCOPE Buffer head = {0};
    int fd = fcntl(connection_fd(request->connection), F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return false;
    print_head(request, &head, "OK");
    buffer_print(&head, "\r\nretry: %llu\n\n", (unsigned long long)retry_ms(request->server));
    events_adopt(request->watches, &(EventsWatcher){.fd = fd,
                                                    .client = request->client,
                                                    .topic = request->topic,
                                                    .head = buffer_slice(&head)});
    request->watches = NULL; /* the place is the watcher's now */
    request->is_answered = request->is_handed_over = true;
    return true;
}

/* Of a HEAD, the head is all there is. */
static enum MHD_Result send_answer(WebRequest *request, struct MHD_Connection *mhd)
{
    if (request->watches == NULL || request->is_head)
        return queue_answer(request, mhd);
    if (hand_over(request))
        return MHD_NO;
    request_unwatch(request);
    error_answer(request, error_words(0, STATUS_UNAVAILABLE));
    return queue_answer(request, mhd);
}

/* Where the library lets nobody answer, or has no room for it. Nothing of ours is on its way at this point, so the answer can go to the
 * socket directly; then the connection ends. */
static enum MHD_Result refuse_directly(WebRequest *request, const char *words)
{
    BUFFER_SCOPE Buffer out = {0};
    answer_make(request);
    Slice body = answer_body(request);
    print_head(request, &out, words);
    buffer_print(&out, "Content-Length: %zu\r\n\r\n", body.size);
    buffer_bytes(&out, body);
    ssize_t sent = send(connection_fd(request->connection), out.data, out.size, MSG_NOSIGNAL);
    request->is_answered = sent == (ssize_t)out.size;
    connection_linger(request->connection);
    return MHD_NO;
}

static enum MHD_Result take_body(WebRequest *request, Slice piece)
{
    if (piece.size >
        request->body_most - request->body.size) { /* chunked: nobody said how much it is */
        request->status = reason_set(&request->reason, STATUS_TOO_LARGE, "body",
                                     "at most %llu bytes", (unsigned long long)request->body_most);
        return refuse_directly(request, "Content Too Large");
    }
    buffer_bytes(&request->body, piece);
    return MHD_YES;
}

static enum MHD_Result take_head(WebRequest *request, struct MHD_Connection *mhd)
{
    bool has_body = head_has_body(&request->head);
    if (request->code == ERROR_HEAD_LARGE)
        return refuse_directly(request, "Request Header Fields Too Large");
    if (request->status == STATUS_OK || (!has_body && !request->answer.close))
        return MHD_YES; /* answered when the library says that the request is complete */
    if (has_body)
        connection_linger(request->connection);
    request->answer.close = true;
    answer_make(request);
    return queue_answer(request, mhd);
}

/* What those are told for whom a pool has no room: the handler does not run at all. */
static const struct {
    Status status;
    const char *rule;
} NO_ROOM[WEB_THREAD_KINDS] = {
    [WEB_SAVE] = {STATUS_UNAVAILABLE, "too many people save something at this moment"},
    [WEB_PASSWORD] = {STATUS_THROTTLED, "too many people log in at this moment"},
    [WEB_OUTSIDE] = {STATUS_UNAVAILABLE, "too many people wait for another site at this moment"},
};

/* Makes the answer here, unless it is made already. True: it is made elsewhere, and we are called again then. */
static bool make_elsewhere(WebRequest *request, struct MHD_Connection *mhd)
{
    if (atomic_load(&request->is_made))
        return false;
    if (request->status == STATUS_OK) {
        WebThreads threads = route_threads(request->match.route);
        Pool *pool = request->server->pools[threads];
        if (pool != NULL && pool_take(pool, request, mhd))
            return true;
        if (pool != NULL)
            request->status = reason_set(&request->reason, NO_ROOM[threads].status, NULL, "%s",
                                         NO_ROOM[threads].rule);
    }
    answer_make(request);
    return false;
}

enum MHD_Result exchange_handle(void *server, struct MHD_Connection *mhd, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_size, void **context)
{
    WebRequest *request = *context;
    (void)server;
    if (!request->has_begun) {
        /* A NUL behind the method, or more than one space. */
        request->target_torn |= url != method + strlen(method) + 1;
        begin(request, mhd, method, version);
        return take_head(request, mhd);
    }
    if (*upload_size > 0) {
        Slice piece = slice_of(upload, *upload_size);
        *upload_size = 0;
        return take_body(request, piece);
    }
    return make_elsewhere(request, mhd) ? MHD_YES : send_answer(request, mhd);
}

/* ---- The end ---- */

/* The code that went out, also when the library answered by itself; 0 when nobody did. */
static int code_sent(const WebRequest *request, struct MHD_Connection *mhd)
{
    if (request->is_answered)
        return request->answer.code;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_HTTP_STATUS);
    return info == NULL ? 0 : (int)info->http_status;
}

static size_t route_index(const WebRequest *request)
{
    const WebServer *server = request->server;
    const WebRoute *route = request->match.route;
    return route == NULL ? server->route_count : (size_t)(route - server->routes);
}

/* Only the path is logged: the query may hold what is nobody's business. */
static void log_request(const WebRequest *request, const MetricsRequest *counted, bool is_cut)
{
    char address[ADDRESS_TEXT];
    Slice path = slice_of(request->target.data, slice_find(request->target, '?'));
    address_format(request->has_begun ? request->client : connection_peer(request->connection),
                   address);
    LogLine line = log_line(request->server->options.log, LOG_INFO, "request");
    log_string(&line, "method", request->method);
    log_string(&line, "path", path);
    log_i64(&line, "status", counted->code);
    log_i64(&line, "bytes", (int64_t)counted->bytes);
    log_i64(&line, "duration_us", counted->duration_us);
    log_text(&line, "address", address);
    if (request->id.size > 0)
        log_string(&line, "id", request->id);
    if (request->is_handed_over)
        log_text(&line, "outcome", "watching");
    else if (is_cut)
        log_text(&line, "outcome", "cut");
    log_end(&line);
}

void exchange_completed(void *context, struct MHD_Connection *mhd, void **slot,
                        enum MHD_RequestTerminationCode how)
{
    WebServer *server = context;
    WebRequest *request = *slot;
    if (request == NULL)
        return;
    int64_t now_us = clock_steady_us(clock_of(server));
    MetricsRequest counted = {.route = route_index(request), .code = code_sent(request, mhd)};
    if (request->is_answered && !request->is_head)
        counted.bytes = answer_body(request).size;
    if (request->has_begun) {
        connection_end(request->connection, now_us);
        counted.duration_us = now_us - request->begun_us;
    }
    if (counted.code != 0)
        metrics_count(server->metrics, &counted);
    log_request(request, &counted, how != MHD_REQUEST_TERMINATED_COMPLETED_OK);
    give_request(server, request);
    *slot = NULL;
}

void exchange_connection(void *context, struct MHD_Connection *mhd, void **slot,
                         enum MHD_ConnectionNotificationCode what)
{
    WebServer *server = context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        int fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        const struct sockaddr *peer =
            MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
        *slot = connections_add(server->connections, fd, address_of_socket(peer));
    } else {
        connections_remove(server->connections, *slot);
        *slot = NULL;
    }
}
