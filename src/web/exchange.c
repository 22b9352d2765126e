/* exchange.c -- one request, from its head to its line in the log: what its channel does with it, step by step. */
#include "web/answer_head.h"
#include "web/errors.h"
#include "web/loop.h"
#include "web/pool.h"
#include "web/server_private.h"

static Clock clock_of(const WebRequest *request)
{
    return request->server->options.world.clock;
}

/* ---- The head ---- */

static void begin(WebRequest *request, Connection *connection)
{
    request->connection = connection;
    request->begun_us = clock_steady_us(clock_of(request));
}

/* A list of words; of those that we know, one counts. */
static bool wants_close(const HttpHead *head)
{
    Slice rest = head->values[HEAD_CONNECTION], word;
    if (head->is_http_1_0)
        return true;
    while (head->present[HEAD_CONNECTION] && slice_split(&rest, ',', &word))
        if (slice_equal_ignoring_case(slice_trim(word), SLICE("close")))
            return true;
    return false;
}

void exchange_begin(WebRequest *request, Connection *connection, Slice head)
{
    begin(request, connection);
    FramingLine line =
        framing_read_head(arena_copy(request->arena, head), &request->head, request->arena);
    request->method = line.method;
    request->target = line.target;
    request->is_head = slice_equal(line.method, SLICE("HEAD"));
    request->answer.close = wants_close(&request->head);
    answer_judge(request);
}

/* The address is too long where its line has no end in what may be a head. */
void exchange_begin_torn(WebRequest *request, Connection *connection, Slice start)
{
    begin(request, connection);
    Slice line = slice_of(start.data, slice_find(start, '\r'));
    bool has_line = line.size < start.size;
    request->method = arena_copy(request->arena, slice_of(line.data, slice_find(line, ' ')));
    line = slice_after(line, request->method.size + 1);
    request->target = arena_copy(request->arena, slice_of(line.data, slice_find(line, ' ')));
    request->is_head = slice_equal(request->method, SLICE("HEAD"));
    request->answer.close = true;
    request->client = connection_peer(connection);
    request->status =
        web_fail(request, has_line ? ERROR_HEAD_LARGE : ERROR_TARGET_LONG, STATUS_TOO_LARGE);
}

/* ---- The body ---- */

/* What is not said counts as the most that it may become. */
static void take_share(WebRequest *request)
{
    uint64_t size = request->body_max;
    (void)head_body_size(&request->head, &size);
    switch (shares_take(request->server->bodies, request->client, (int64_t)size)) {
    case SHARES_TAKEN:
        request->body_share = (int64_t)size;
        return;
    case SHARES_ADDRESS_FULL:
        request->status = reason_set(&request->reason, STATUS_THROTTLED, NULL,
                                     "too much is being sent from your network address at this "
                                     "moment");
        return;
    case SHARES_FULL:
        request->status = reason_set(&request->reason, STATUS_UNAVAILABLE, NULL,
                                     "too much is being sent to us at this moment");
        return;
    }
}

bool exchange_wants_body(WebRequest *request, bool is_here)
{
    bool has_body = head_has_body(&request->head);
    if (request->status == STATUS_OK && has_body && !is_here)
        answer_admit(request);
    bool is_sent_elsewhere = request->answer.code >= 300;
    if (request->status == STATUS_OK && has_body && !is_sent_elsewhere)
        take_share(request);
    if (request->status == STATUS_OK && !is_sent_elsewhere)
        return has_body;
    if (has_body) { /* nobody reads it: the connection must end */
        request->answer.close = true;
        connection_linger(request->connection);
    }
    return false;
}

bool exchange_expects_continue(const WebRequest *request)
{
    const HttpHead *head = &request->head;
    return head->present[HEAD_EXPECT] && !head->is_http_1_0 &&
           slice_equal_ignoring_case(head->values[HEAD_EXPECT], SLICE("100-continue"));
}

void exchange_refuse_body(WebRequest *request, FramingStep why)
{
    request->answer.close = true;
    connection_linger(request->connection);
    request->status =
        why == FRAMING_TOO_LARGE
            ? reason_set(&request->reason, STATUS_TOO_LARGE, "body", "at most %llu bytes",
                         (unsigned long long)request->body_max)
            : reason_set(&request->reason, STATUS_INVALID, "body", "is not in well-formed chunks");
}

/* ---- The answer ---- */

/* What those are told for whom a pool has no room: the handler does not run at all. */
static const struct {
    Status status;
    const char *rule;
    const char *of_address; /* the same when only their address has none */
} NO_ROOM[WEB_THREAD_KINDS] = {
    [WEB_SAVE] = {STATUS_UNAVAILABLE, "too many people save something at this moment",
                  "too much is being saved from your network address at this moment; try again"},
    [WEB_PASSWORD] = {STATUS_THROTTLED, "too many people log in at this moment",
                      "too many people log in from your network at this moment; try again"},
    [WEB_OUTSIDE] = {STATUS_UNAVAILABLE, "too many people wait for another site at this moment",
                     NULL},
    [WEB_COMPUTE] = {STATUS_UNAVAILABLE, "too many people ask for such pages at this moment",
                     "too many such pages are being made for your network address at this moment"},
};

static void refuse_place(WebRequest *request, SharesAnswer why)
{
    WebThreads threads = route_threads(request->match.route);
    request->status = why == SHARES_FULL ? reason_set(&request->reason, NO_ROOM[threads].status,
                                                      NULL, "%s", NO_ROOM[threads].rule)
                                         : reason_set(&request->reason, STATUS_THROTTLED, NULL,
                                                      "%s", NO_ROOM[threads].of_address);
}

/* Whether it got a place. Whoever lost theirs to it is answered here. */
static bool take_place(Pool *pool, WebRequest *request)
{
    WebRequest *displaced;
    SharesAnswer taken = pool_take(pool, request, &displaced);
    if (displaced != NULL) {
        refuse_place(displaced, SHARES_ADDRESS_FULL);
        answer_make(displaced);
        loop_give(displaced->channel->loop, displaced->channel);
    }
    if (taken != SHARES_TAKEN)
        refuse_place(request, taken);
    return taken == SHARES_TAKEN;
}

/* Places are few where handlers take long: only who was admitted gets one, and nobody for a page that is there. Those for saves are many, and
 * whoever is admitted there shares the work of these threads; but not for a route that everybody may ask and that has a rule of its own. */
bool exchange_make(WebRequest *request)
{
    WebThreads threads =
        request->status == STATUS_OK
            ? route_threads_with(request->match.route, request->path.query, request->arena)
            : WEB_ANSWER;
    Pool *pool = request->server->pools[threads];
    bool is_admitted_there = threads == WEB_SAVE && request->match.route->admits == NULL;
    if (pool != NULL && (is_admitted_there || answer_look(request)) && take_place(pool, request))
        return false;
    answer_make(request);
    if (!request_is_later(request))
        return true;
    exchange_start_later(request);
    return false;
}

/* ---- Answers that come later ---- */

/* Whoever comes last of the two gives the channel to its loop, so that nothing of the request is touched after that. */
static void one_less_left(WebRequest *request)
{
    Channel *channel = request->channel;
    if (atomic_fetch_sub(&request->later_left, 1) == 1)
        loop_give(channel->loop, channel);
}

void web_ready(WebRequest *request)
{
    one_less_left(request);
}

void exchange_start_later(WebRequest *request)
{
    atomic_store(&request->later_left, 2);
    request->later.start(request->later.work);
    atomic_store(&request->later_started, true);
    if (atomic_load(&request->later_cancels) || atomic_load(&request->server->stopping))
        request->later.cancel(request->later.work);
    one_less_left(request);
}

/* Before it has started whoever starts it finds the wish. */
void exchange_cancel_later(WebRequest *request)
{
    atomic_store(&request->later_cancels, true);
    if (atomic_load(&request->later_started))
        request->later.cancel(request->later.work);
}

void exchange_end_later(WebRequest *request)
{
    WebLater later = request->later;
    request->later.start = NULL;
    request->status = later.end(request, later.work);
    answer_end(request);
}

static struct iovec part_of(Slice bytes)
{
    /* The kernel only reads it; its type is older than const. */
    return (struct iovec){(void *)(uintptr_t)bytes.data, bytes.size};
}

/* The head of a page from memory is the same for everybody, but for the date. */
static Slice kept_head(WebRequest *request, size_t size)
{
    const WebAnswer *answer = &request->answer;
    Slice head = page_head(request->page, answer->encoding);
    if (head.size > 0)
        return head;
    BUFFER_SCOPE Buffer made = {0};
    answer_head_rest(request, size, &made);
    return page_keep_head(request->page, answer->encoding, buffer_slice(&made));
}

size_t exchange_parts(WebRequest *request, Slice date_line, struct iovec parts[EXCHANGE_PARTS])
{
    const WebAnswer *answer = &request->answer;
    Slice body = answer_body(request), rest = SLICE_EMPTY;
    size_t count = 0;
    buffer_clear(&request->out);
    answer_head_begin(answer->code, date_line, &request->out);
    if (answer->is_page)
        rest = kept_head(request, body.size);
    else
        answer_head_rest(request, body.size, &request->out);
    parts[count++] = part_of(buffer_slice(&request->out));
    if (rest.size > 0)
        parts[count++] = part_of(rest);
    if (body.size > 0 && !request->is_head)
        parts[count++] = part_of(body);
    request->is_answered = true;
    return count;
}

/* Each comes back after a time of its own when the connection ends. */
static uint64_t retry_ms(const WebServer *server)
{
    enum { LEAST = 2000, SPREAD = 3000 };
    return LEAST + random_u64(server->options.world.random) % SPREAD;
}

bool exchange_is_watch(const WebRequest *request)
{
    return request->watches != NULL && !request->is_head; /* of a HEAD, the head is all there is */
}

void exchange_hand_over(WebRequest *request, Slice date_line, int fd)
{
    buffer_clear(&request->out);
    answer_head_begin(request->answer.code, date_line, &request->out);
    answer_head_rest(request, ANSWER_OPEN, &request->out);
    buffer_print(&request->out, "retry: %llu\n\n", (unsigned long long)retry_ms(request->server));
    events_adopt(request->watches, &(EventsWatcher){.fd = fd,
                                                    .client = request->client,
                                                    .topic = request->topic,
                                                    .head = buffer_slice(&request->out)});
    request->watches = NULL; /* the place is the watcher's now */
    request->is_answered = request->is_handed_over = true;
}

/* ---- The end ---- */

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
    address_format(request->client, address);
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

void exchange_end(WebRequest *request, bool is_cut)
{
    if (request->body_share > 0)
        shares_give(request->server->bodies, request->client, request->body_share);
    request->body_share = 0;
    MetricsRequest counted = {.route = route_index(request),
                              .code = request->is_answered ? request->answer.code : 0,
                              .duration_us =
                                  clock_steady_us(clock_of(request)) - request->begun_us};
    if (request->is_answered && !request->is_head)
        counted.bytes = answer_body(request).size;
    if (counted.code != 0)
        metrics_count(request->server->metrics, &counted);
    log_request(request, &counted, is_cut);
}
