/* http_main.c -- our server with a page of 4 KiB that is rendered for each request.
 *
 *     bench_http LOGFILE [NAME=VALUE…]   with the names of config.h
 * Prints "port N" when it serves, and stops at the end of its input. /page is the page; /kept?kib=N is one of N KiB from the page
 * cache; /body takes a body, for clients that send one slowly. The page has the same size each time, so that a file can stand beside it. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "bench.h"
#include "web/html.h"
#include "web/request.h"
#include "web/server.h"

enum { PAGE_BYTES = 4096, ROWS = 28 };

/* A list of policies as a start page would show it: text to escape, numbers to format, one number that changes. */
static Status page(WebRequest *request)
{
    static atomic_int_fast64_t shown;
    int64_t now = atomic_fetch_add_explicit(&shown, 1, memory_order_relaxed);
    Buffer *out = web_html(request);
    HTML(out,
         "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Policies</title>"
         "<link rel=\"stylesheet\" "
         "href=\"/assets/site.css\"></head>\n<body><main><h1>Policies</h1>\n<ol>\n");
    for (int64_t row = 0; row < ROWS; row++) {
        HTML(out, "<li><a href=\"/policies/");
        buffer_decimal(out, 1000000 + (now * 7919 + row * 104729) % 9000000);
        HTML(out, "\">");
        html_text(out, SLICE("Clean rivers & lakes for \"everybody\""));
        HTML(out, "</a> <b>");
        html_number(out, 10000 + (now + row) % 90000);
        HTML(out, "</b></li>\n");
    }
    HTML(out, "</ol></main></body></html>\n");
    CHECK(out->size <= PAGE_BYTES);
    size_t missing = PAGE_BYTES - out->size;
    memset(buffer_reserve(out, missing), '\n', missing);
    out->size += missing;
    return STATUS_OK;
}

static Status kept(WebRequest *request)
{
    size_t size = (size_t)web_number(request, 0) * 1024;
    Buffer *out = web_html(request);
    for (int64_t row = 0; out->size < size; row++) {
        HTML(out, "<li>Clean rivers <b>");
        html_number(out, row);
        HTML(out, "</b></li>\n");
    }
    out->size = size;
    return STATUS_OK;
}

static Status body(WebRequest *request)
{
    buffer_decimal(web_html(request), (int64_t)web_body(request).size);
    return STATUS_OK;
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/page", page, .help = "The page."},
    {WEB_GET, "/kept", kept, .help = "A page from the cache.", .cache_ms = 1000,
     .params = {{"kib", WEB_QUERY, WEB_NUMBER, .least = 1, .most = 64, .help = "Its size."}}},
    {WEB_POST, "/body", body, .help = "The size of a body.", .body_bytes = WEB_BODY_DEFAULT},
};

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
    if (count < 2)
        bench_fail("usage: bench_http LOGFILE [NAME=VALUE…]");
    int fd = open(words[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        bench_fail("cannot write %s", words[1]);
    Config config;
    settings(&config, count, words, arena);
    World world = world_real();
    Log *log = log_new(fd, LOG_INFO, world.clock);
    WebOptions options = {.config = &config,
                          .world = world,
                          .log = log,
                          .routes = ROUTES,
                          .route_count = sizeof ROUTES / sizeof *ROUTES};
    WebServer *server;
    Reason reason = {0};
    if (web_server_start(&options, &server, &reason) != STATUS_OK)
        bench_fail("the server does not start: %s", reason.rule);
    printf("port %u\n", (unsigned)web_server_port(server));
    fflush(stdout);
    while (getchar() != EOF)
        ;
    web_server_stop(server);
    log_free(log);
    close(fd);
    return 0;
}
