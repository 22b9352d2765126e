/* watched_main.c -- our server with nothing but events: what bench_watchers watches when the site is not what is measured.
 *
 *     bench_watched LOGFILE [NAME=VALUE…]   with the names of config.h
 * Prints "port N" when it serves. /events?topic=T is the stream of a state of some 200 bytes. Commands:
 *     change N   the state of topic "all" changes N times
 *     report     watchers, events, the last round, and the memory of this process */
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "bench.h"
#include "web/request.h"
#include "web/server.h"

static Events *events;
static atomic_int_fast64_t state;

static Status build(void *self, Slice topic, Buffer *out)
{
    int64_t now = atomic_load(&state);
    (void)self;
    buffer_print(out, "{\"topic\":\"%.*s\",\"rows\":[", SLICE_ARG(topic));
    for (int64_t row = 1; row <= 4; row++)
        buffer_print(out, "%s{\"id\":%lld,\"rank\":%lld,\"votes\":%lld}", row > 1 ? "," : "",
                     (long long)row * 1000, (long long)row, (long long)(now + 100 - row));
    buffer_text(out, "]}");
    return STATUS_OK;
}

static Status watch(WebRequest *request)
{
    return web_watch(request, events, web_text(request, 0));
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/events", watch, .help = "The stream.",
     .params = {{"topic", WEB_QUERY, WEB_OPAQUE, .least = 1, .most = 20, .help = "Of what."}}},
};

static void change(void *unused, int64_t number)
{
    (void)unused;
    for (int64_t i = 0; i < number; i++) {
        atomic_fetch_add(&state, 1);
        events_changed(events, SLICE("all"));
    }
    printf("{\"changes\": %lld}\n", (long long)atomic_load(&state));
}

static void report(void *unused, int64_t number)
{
    EventsFigures figures = events_figures(events);
    struct mallinfo2 heap = mallinfo2();
    BenchUsage usage = {0};
    (void)unused;
    (void)number;
    bench_usage_self(NULL, &usage);
    printf("{\"watchers\": %llu, \"events\": %llu, \"builds\": %llu, \"round_ms\": %.1f, "
           "\"interval_ms\": %.0f, \"heap_bytes\": %zu, \"cpu_us\": %lld}\n",
           (unsigned long long)figures.watchers, (unsigned long long)figures.events,
           (unsigned long long)figures.builds, (double)figures.round_us / 1e3,
           (double)figures.interval_us / 1e3, heap.uordblks + heap.hblkhd, (long long)usage.cpu_us);
}

static const BenchCommand COMMANDS[] = {{"change", change}, {"report", report}, {NULL, NULL}};

static void settings(Config *config, int count, char **words, Arena *arena)
{
    Reason reason = {0};
    config_defaults(config);
    for (int i = 2; i < count; i++) {
        Slice word = slice_from(words[i]);
        size_t equals = slice_find(word, '=');
        if (config_set(config, slice_of(word.data, equals), slice_after(word, equals + 1), arena,
                       &reason) != STATUS_OK)
            bench_fail("%s: %s", words[i], reason.rule);
    }
}

int main(int count, char **words)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Config config;
    Reason reason = {0};
    WebServer *server;
    if (count < 2)
        bench_fail("usage: bench_watched LOGFILE [NAME=VALUE…]");
    int fd = open(words[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        bench_fail("cannot write %s", words[1]);
    settings(&config, count, words, arena);
    World world = world_real();
    Log *log = log_new(fd, LOG_INFO, world.clock);
    WebOptions options = {
        .config = &config, .world = world, .log = log, .routes = ROUTES, .route_count = 1};
    EventsOptions live = {.config = &config, .world = world, .build = build};
    if (events_start(&live, &events, &reason) != STATUS_OK ||
        web_server_start(&options, &server, &reason) != STATUS_OK)
        bench_fail("the server does not start: %s", reason.rule);
    printf("port %u\n", (unsigned)web_server_port(server));
    fflush(stdout);
    bench_obey(COMMANDS, NULL);
    web_server_stop(server);
    events_stop(events);
    log_free(log);
    close(fd);
    return 0;
}
