/* server_main.c -- a real server with routes for the tests: every kind of parameter, a slow handler, a body, a page of
 * 4 KiB, one route for each status.
 *
 * Usage: test_server LOGFILE [framed=on] [NAME=VALUE…]   with the names of config.h; framed: with an error page of its own
 * Prints "port N" when it serves. Takes commands on its input, one a line: "maintenance TEXT", "open", "read-only TEXT",
 * "writable", "stop"; answers each with "done". The end of its input stops it too. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "viewer_routes.h"
#include "web/html.h"
#include "web/layout.h"

enum { PAGE_BYTES = 4096 };

static World world;
static Log *own_log;
static bool is_framed;
static pthread_mutex_t health_lock = PTHREAD_MUTEX_INITIALIZER;
static StoreHealth health = {.engine = "test", .writable = true};

static const char *const COLOURS[] = {"red", "green", "blue", NULL};

/* ---- Handlers ---- */

static void write_values(WebRequest *request)
{
    JsonWriter writer = web_write_json(request);
    json_object_begin(&writer);
    json_member_i64(&writer, "id", (int64_t)web_id(request, 0));
    json_member_i64(&writer, "count", web_number(request, 1));
    json_member_bool(&writer, "has_line", web_has(request, 2));
    json_member_string(&writer, "line", web_text(request, 2));
    json_member_string(&writer, "text", web_text(request, 3));
    json_member_i64(&writer, "word", (int64_t)web_word(request, 4));
    json_member_bool(&writer, "switch", web_switch(request, 5));
    json_object_end(&writer);
}

static Status echo(WebRequest *request)
{
    write_values(request);
    return STATUS_OK;
}

static Status body(WebRequest *request)
{
    JsonWriter writer = web_write_json(request);
    uint64_t sum = 0;
    Slice bytes = web_body(request);
    for (size_t i = 0; i < bytes.size; i++)
        sum += (unsigned char)bytes.data[i];
    json_object_begin(&writer);
    json_member_i64(&writer, "size", (int64_t)bytes.size);
    json_member_i64(&writer, "sum", (int64_t)sum);
    json_object_end(&writer);
    return STATUS_OK;
}

/* Says in the log that it has begun, for tests that wait for that. */
static Status slow(WebRequest *request)
{
    LogLine line = log_line(own_log, LOG_INFO, "sleeps");
    log_end(&line);
    log_flush(own_log);
    clock_sleep_us(world.clock, web_number(request, 0) * US_PER_MS);
    buffer_text(web_out(request, "text/plain"), "slept\n");
    return STATUS_OK;
}

/* Done together with others: each says how many they were. `n` fails before that (1), or after (2). */
enum { TOGETHER_MS, TOGETHER_N };

static Status after_together(WebRequest *request, size_t count)
{
    if (web_number(request, TOGETHER_N) == 2)
        return reason_set(web_reason(request), STATUS_REFUSED, "n", "is two");
    buffer_print(web_out(request, "text/plain"), "%s of %zu\n",
                 arena_text(web_arena(request), web_cookie(request, "who")), count);
    return STATUS_OK;
}

static void wait_together(WebRequest *const *requests, size_t count, Status *ret_statuses)
{
    int64_t most_ms = 0;
    size_t well = 0;
    for (size_t i = 0; i < count; i++) {
        bool fails = web_number(requests[i], TOGETHER_N) == 1;
        ret_statuses[i] =
            fails ? reason_set(web_reason(requests[i]), STATUS_INVALID, "n", "is one") : STATUS_OK;
        well += !fails;
        if (!fails && web_number(requests[i], TOGETHER_MS) > most_ms)
            most_ms = web_number(requests[i], TOGETHER_MS);
    }
    clock_sleep_us(world.clock, most_ms * US_PER_MS);
    for (size_t i = 0; i < count; i++)
        if (ret_statuses[i] == STATUS_OK)
            ret_statuses[i] = after_together(requests[i], well);
}

/* Built anew for each request, with numbers that differ: what the benchmark compares with a file. */
static Status page(WebRequest *request)
{
    static _Atomic int64_t count;
    Buffer *out = web_html(request);
    layout_begin(out, SLICE("A page"));
    HTML(out, "<h1>A page of four KiB</h1>\n<p>Shown ");
    html_number(out, ++count);
    HTML(out, " times</p>\n<ol>\n");
    for (int row = 1; out->size < PAGE_BYTES - 400; row++) {
        HTML(out, "<li>Policy <b>");
        html_number(out, row);
        HTML(out, "</b>: ");
        html_text(out, SLICE("Clean rivers & lakes"));
        HTML(out, "</li>\n");
    }
    HTML(out, "</ol>\n");
    layout_end(out);
    size_t missing = PAGE_BYTES - out->size;
    memset(buffer_reserve(out, missing), '\n', missing);
    out->size += missing;
    return STATUS_OK;
}

/* A large answer, for clients that read slowly. */
static Status large(WebRequest *request)
{
    Buffer *out = web_out(request, "application/octet-stream");
    size_t size = (size_t)web_number(request, 0);
    memset(buffer_reserve(out, size), 'x', size);
    out->size += size;
    return STATUS_OK;
}

static Status status_page(WebRequest *request)
{
    Status status = (Status)web_number(request, 0);
    buffer_text(web_html(request), "this must not be seen");
    return status == STATUS_OK
               ? STATUS_OK
               : reason_set(web_reason(request), status, "field<>", "a rule & more");
}

#define PARAMS(from)                                                                           \
    {"id", from, WEB_ID, .help = "An id."}, {"count",                                          \
                                             from,                                             \
                                             WEB_NUMBER,                                       \
                                             .least = -5,                                      \
                                             .most = 10,                                       \
                                             .fallback = "7",                                  \
                                             .help = "A number."},                             \
        {"line", from, WEB_LINE, .least = 2, .most = 5, .optional = true, .help = "A line."},  \
        {"text", from, WEB_TEXT, .least = 0, .most = 20, .optional = true, .help = "A text."}, \
        {"word", from, WEB_WORD, .words = COLOURS, .fallback = "green", .help = "A colour."},  \
    {                                                                                          \
        "switch", from, WEB_SWITCH, .fallback = "off", .help = "On or off."                    \
    }

static const WebRoute ROUTES[] = {
    {WEB_GET, "/page", page, .help = "4 KiB."},
    {WEB_GET, "/slow", slow, .help = "Sleeps.",
     .params = {{"ms", WEB_QUERY, WEB_NUMBER, .least = 0, .most = 20000, .help = "How long."}}},
    {WEB_GET, "/slowly", slow, .threads = WEB_PASSWORD, .help = "Sleeps on a thread of its own.",
     .params = {{"ms", WEB_QUERY, WEB_NUMBER, .least = 0, .most = 20000, .help = "How long."}}},
    {WEB_POST, "/save", slow, .help = "Sleeps on a thread of its own.",
     .params = {{"ms", WEB_QUERY, WEB_NUMBER, .least = 0, .most = 20000, .help = "How long."}}},
    {WEB_POST, "/together", .batch = wait_together, .help = "Sleeps for several at once.",
     .params = {{"ms", WEB_QUERY, WEB_NUMBER, .least = 0, .most = 20000, .help = "How long."},
                {"n", WEB_QUERY, WEB_NUMBER, .least = 0, .most = 2, .fallback = "0",
                 .help = "Where it fails."}}},
    {WEB_GET, "/large", large, .help = "Many bytes.",
     .params = {{"bytes", WEB_QUERY, WEB_NUMBER, .least = 0, .most = 100000000,
                 .help = "How many."}}},
    {WEB_GET, "/status", status_page, .help = "A status.",
     .params = {{"n", WEB_QUERY, WEB_NUMBER, .least = 0, .most = STATUS_COUNT - 1,
                 .help = "Which."}}},
    {WEB_GET, "/api/status", status_page, .help = "A status.",
     .params = {{"n", WEB_QUERY, WEB_NUMBER, .least = 0, .most = STATUS_COUNT - 1,
                 .help = "Which."}}},
    {WEB_GET, "/echo", echo, .help = "Values.", .params = {PARAMS(WEB_QUERY)}},
    {WEB_POST, "/echo", echo, .help = "Values.", .body_bytes = 2000, .params = {PARAMS(WEB_FORM)}},
    {WEB_PUT, "/api/echo", echo, .help = "Values.", .body_bytes = 2000,
     .params = {PARAMS(WEB_JSON)}},
    {WEB_POST, "/body", body, .help = "Size and sum.", .body_bytes = WEB_BODY_DEFAULT},
    {WEB_POST, "/small", body, .help = "Size and sum.", .body_bytes = 10},
    {WEB_GET, "/items/{id}/parts/{part}", echo, .help = "Values.",
     .params = {{"id", WEB_PATH, WEB_ID, .help = "An id."},
                {"part", WEB_PATH, WEB_NUMBER, .least = 0, .most = 9, .help = "A number."},
                {"line", WEB_QUERY, WEB_LINE, .most = 9, .optional = true, .help = "A line."},
                {"text", WEB_QUERY, WEB_TEXT, .most = 9, .optional = true, .help = "A text."},
                {"word", WEB_QUERY, WEB_WORD, .words = COLOURS, .optional = true,
                 .help = "A colour."},
                {"switch", WEB_QUERY, WEB_SWITCH, .optional = true, .help = "On or off."}}},
};

/* ---- Events ---- */

static Events *events;
static _Atomic int64_t changes;

static Status build_state(void *self, Slice topic, Buffer *out)
{
    (void)self;
    buffer_print(out, "{\"topic\":\"%.*s\",\"changes\":%lld}", SLICE_ARG(topic),
                 (long long)changes);
    return STATUS_OK;
}

static Status watch(WebRequest *request)
{
    TRY(web_watch(request, events, web_text(request, 0)));
    web_header(request, "X-More", "yes");
    return web_switch(request, 1) ? STATUS_CONFLICT : STATUS_OK;
}

static Status change(WebRequest *request)
{
    changes++;
    events_changed(events, web_text(request, 0));
    buffer_text(web_out(request, "text/plain"), "changed\n");
    return STATUS_OK;
}

static const WebRoute EVENT_ROUTES[] = {
    {WEB_GET, "/events", watch, .help = "Events.",
     .params = {{"topic", WEB_QUERY, WEB_OPAQUE, .least = 1, .most = 20, .help = "Of what."},
                {"fail", WEB_QUERY, WEB_SWITCH, .fallback = "off", .help = "Fails afterwards."}}},
    {WEB_POST, "/change", change, .help = "A change.",
     .params = {{"topic", WEB_QUERY, WEB_OPAQUE, .least = 1, .most = 20, .help = "Of what."}}},
};
enum { EVENT_ROUTE_COUNT = sizeof EVENT_ROUTES / sizeof EVENT_ROUTES[0] };

static Status start_events(const Config *config, Reason *reason)
{
    EventsOptions options = {.config = config,
                             .world = world,
                             .build = build_state,
                             .interval_ms = 100,
                             .heartbeat_ms = 500};
    return events_start(&options, &events, reason);
}

static void print_metrics(void *context, Buffer *out)
{
    (void)context;
    events_print_metrics(events, out);
}

/* ---- The store that the health pages show ---- */

static void show_health(Store *store, StoreHealth *ret_health)
{
    (void)store;
    pthread_mutex_lock(&health_lock);
    *ret_health = health;
    pthread_mutex_unlock(&health_lock);
}

static void show_metrics(Store *store, StoreMetricVisit *visit, void *context)
{
    (void)store;
    visit(context, "ostraka_store_test_total", "A test.", true, 42);
}

/* ---- Commands ---- */

static void set_health(const char *reason)
{
    pthread_mutex_lock(&health_lock);
    health.writable = reason == NULL;
    snprintf(health.reason, sizeof health.reason, "%.250s", reason != NULL ? reason : "");
    pthread_mutex_unlock(&health_lock);
}

static bool obey(WebServer *server, char *line)
{
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "maintenance ", 12) == 0)
        web_server_maintenance(server, line + 12);
    else if (strcmp(line, "open") == 0)
        web_server_maintenance(server, NULL);
    else if (strncmp(line, "read-only ", 10) == 0)
        set_health(line + 10);
    else if (strcmp(line, "writable") == 0)
        set_health(NULL);
    else
        return false;
    return true;
}

static Status read_settings(int argc, char **argv, Config *config, Arena *arena, Reason *reason)
{
    config_defaults(config);
    for (int i = 2; i < argc; i++) {
        Slice setting = slice_from(argv[i]);
        size_t equals = slice_find(setting, '=');
        if (strcmp(argv[i], "framed=on") == 0) {
            is_framed = true;
            continue;
        }
        TRY(config_set(config, slice_of(argv[i], equals), slice_after(setting, equals + 1), arena,
                       reason));
    }
    return STATUS_OK;
}

static WebRoute *all_routes(Arena *arena, size_t *ret_count)
{
    size_t own = sizeof ROUTES / sizeof ROUTES[0];
    size_t count = own + EVENT_ROUTE_COUNT + VIEWER_ROUTE_COUNT;
    WebRoute *routes = ARENA_ARRAY(arena, count, WebRoute);
    memcpy(routes, ROUTES, sizeof ROUTES);
    memcpy(routes + own, EVENT_ROUTES, sizeof EVENT_ROUTES);
    memcpy(routes + own + EVENT_ROUTE_COUNT, VIEWER_ROUTES, VIEWER_ROUTE_COUNT * sizeof *routes);
    *ret_count = count;
    return routes;
}

static Status serve(const Config *config, Log *log, Arena *arena, Reason *reason)
{
    WebServer *server;
    char line[400];
    WebOptions options = {.config = config,
                          .world = world,
                          .log = log,
                          .store = {NULL, show_health, show_metrics},
                          .metrics = print_metrics,
                          .admit = viewer_admit,
                          .batch_max = 4,
                          .session_cookie = "session",
                          .page_variant = viewer_variant,
                          .error_page = is_framed ? viewer_error_page : NULL};
    options.routes = all_routes(arena, &options.route_count);
    TRY(start_events(config, reason));
    Status status = web_server_start(&options, &server, reason);
    if (status != STATUS_OK) {
        events_stop(events);
        return status;
    }
    printf("port %u\n", (unsigned)web_server_port(server));
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL && obey(server, line)) {
        printf("done\n");
        fflush(stdout);
    }
    web_server_stop(server);
    events_stop(events);
    printf("stopped\n");
    return STATUS_OK;
}

int main(int argc, char **argv)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Config config;
    Reason reason = {0};
    if (argc < 2)
        return 2;
    world = world_real();
    int fd = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    own_log = log_new(fd, LOG_INFO, world.clock);
    Status status = read_settings(argc, argv, &config, arena, &reason);
    if (status == STATUS_OK)
        status = serve(&config, own_log, arena, &reason);
    log_free(own_log);
    close(fd);
    if (status != STATUS_OK)
        fprintf(stderr, "%s: %s %s\n", status_name(status), reason.field, reason.rule);
    return status != STATUS_OK;
}
