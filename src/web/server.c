/* server.c -- starting and stopping; see server.h. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "web/pool.h"
#include "web/server_private.h"

enum {
    FILES_BESIDE =
        512, /* open files for everything that is no connection: the store's, the log, … */
    STOP_STEP_MS = 10,
    OUTSIDE_THREADS = 4, /* WEB_OUTSIDE: they wait for others, and compute nothing */
    OUTSIDE_QUEUE =
        12, /* few enough that the last is answered within request_seconds, though each waits five for a silent server */
    BODY_RATE = 8 * 1024,   /* bytes a second, see connections.h */
    BODIES_PER_ADDRESS = 8, /* the share of one address is this part of bodies_bytes */
};

static void start_loops(WebServer *server)
{
    size_t count = (size_t)server->options.config->web_threads;
    server->loops = calloc(count, sizeof *server->loops);
    CHECK(server->loops != NULL);
    for (size_t i = 0; i < count; i++)
        loop_start(&server->loops[i], server);
}

static void hurry_loops(WebServer *server)
{
    for (size_t i = 0; i < (size_t)server->options.config->web_threads; i++)
        loop_hurry(&server->loops[i]);
}

static void stop_loops(WebServer *server)
{
    for (size_t i = 0; i < (size_t)server->options.config->web_threads; i++)
        loop_stop(&server->loops[i]);
    free(server->loops);
}

/* The soft limit is raised as far as we are allowed to. */
static Status ensure_files(const Config *config, Reason *reason)
{
    struct rlimit limit;
    rlim_t needed = (rlim_t)config->connections + (rlim_t)config->watchers + FILES_BESIDE;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (limit.rlim_cur >= needed)
        return STATUS_OK;
    limit.rlim_cur = limit.rlim_max < needed ? limit.rlim_max : needed;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= needed)
        return STATUS_OK;
    return reason_set(reason, STATUS_UNAVAILABLE, "connections",
                      "%lld connections and %lld watchers need %llu open files, and this process "
                      "may have %llu; raise that limit or lower the settings",
                      (long long)config->connections, (long long)config->watchers,
                      (unsigned long long)needed, (unsigned long long)limit.rlim_max);
}

static Status read_metrics_token(WebServer *server, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    const char *path = server->options.config->metrics_token_file;
    Reason why = {0};
    Slice token;
    if (path[0] == '\0')
        return STATUS_OK;
    if (disk_read_line(server->options.world.disk, path, METRICS_TOKEN_MAX, arena, &token, &why) !=
        STATUS_OK)
        return reason_set(reason, STATUS_INVALID, "metrics_token_file", "%s", why.rule);
    if (token.size < METRICS_TOKEN_MIN)
        return reason_set(reason, STATUS_INVALID, "metrics_token_file",
                          "%s must hold a token of at least %d characters", path,
                          METRICS_TOKEN_MIN);
    memcpy(server->metrics_token, token.data, token.size);
    server->metrics_token_size = token.size;
    return STATUS_OK;
}

static Status take_options(WebServer *server, Reason *reason)
{
    const WebOptions *options = &server->options;
    TRY(routes_check(options->routes, options->route_count, reason));
    TRY(routes_check(BUILT_IN_ROUTES, BUILT_IN_ROUTE_COUNT, reason));
    TRY(address_ranges_parse(slice_from(options->config->trusted_proxies), &server->trusted,
                             reason));
    TRY(read_metrics_token(server, reason));
    TRY(ensure_files(options->config, reason));
    server->route_count = options->route_count + BUILT_IN_ROUTE_COUNT;
    server->routes = calloc(server->route_count, sizeof *server->routes);
    CHECK(server->routes != NULL);
    if (options->route_count > 0)
        memcpy(server->routes, options->routes, options->route_count * sizeof *server->routes);
    memcpy(server->routes + options->route_count, BUILT_IN_ROUTES,
           BUILT_IN_ROUTE_COUNT * sizeof *server->routes);
    server->table = routes_of(server->routes, server->route_count);
    return STATUS_OK;
}

static void make_parts(WebServer *server)
{
    const Config *config = server->options.config;
    World world = server->options.world;
    ConnectionLimits limits = {.request_us = config->request_seconds * US_PER_S,
                               .idle_us = config->idle_seconds * US_PER_S,
                               .body_us = config->body_seconds * US_PER_S,
                               .body_rate = BODY_RATE,
                               .total = config->connections,
                               .per_address = config->connections_per_address,
                               .exempt = server->trusted};
    net_loop_open(&server->keeper, world.clock);
    server->connections = connections_new(&limits, &server->keeper);
    server->bodies = shares_new(config->bodies_bytes, config->bodies_bytes / BODIES_PER_ADDRESS,
                                &server->trusted);
    server->metrics = metrics_new(server->routes, server->route_count);
    if (config->page_cache_bytes > 0)
        server->page_cache = page_cache_new((size_t)config->page_cache_bytes, world);
    server->started_us = clock_now_us(world.clock);
    server->started_steady_us = clock_steady_us(world.clock);
    random_fill(world.random, server->id_prefix, sizeof server->id_prefix);
}

static void free_server(WebServer *server)
{
    if (server->connections != NULL) {
        connections_free(server->connections);
        net_loop_close(&server->keeper);
    }
    shares_free(server->bodies);
    metrics_free(server->metrics);
    page_cache_free(server->page_cache);
    for (size_t i = 0; i < WEB_THREAD_KINDS; i++)
        pool_free(server->pools[i]);
    routes_free(&server->table);
    free(server->routes);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

/* The port is known only now. Nobody can follow a link to the address that stands for all of a machine's. */
static void name_public_url(WebServer *server)
{
    NetPlace listen;
    HttpOrigin origin;
    const char *setting = server->options.config->public_url;
    if (http_parse_origin(slice_from(setting), &origin, NULL) == STATUS_OK) {
        snprintf(server->public_url, PUBLIC_URL_TEXT, "%.*s", SLICE_ARG(origin.text));
        server->is_secure = origin.is_secure;
        return;
    }
    CHECK(net_parse_place(slice_from(server->options.config->listen), &listen, NULL) == STATUS_OK);
    bool is_any = strcmp(listen.host, "0.0.0.0") == 0 || strcmp(listen.host, "::") == 0;
    bool is_ipv6 = !is_any && strchr(listen.host, ':') != NULL;
    snprintf(server->public_url, PUBLIC_URL_TEXT, "http://%s%s%s:%u", is_ipv6 ? "[" : "",
             is_any ? "localhost" : listen.host, is_ipv6 ? "]" : "", (unsigned)server->port);
}

static void start_pools(WebServer *server)
{
    const Config *config = server->options.config;
    /* A /24 or a /48 may have four shares (address_networks); an eighth of the places each leaves a third to others. */
    unsigned password_places = (unsigned)(config->password_threads + config->password_queue);
    unsigned save_places = (unsigned)(config->save_threads + config->save_queue);
    const PoolOptions pools[WEB_THREAD_KINDS] = {
        [WEB_SAVE] = {.kind = THREAD_WEB_SAVE,
                      .threads = (unsigned)config->save_threads,
                      .queue = (unsigned)config->save_queue,
                      .per_address = (save_places + 7) / 8,
                      .exempt = &server->trusted,
                      .batch = server->options.batch_max},
        [WEB_PASSWORD] = {.kind = THREAD_WEB_PASSWORD,
                          .threads = (unsigned)config->password_threads,
                          .queue = (unsigned)config->password_queue,
                          .per_address = (password_places + 7) / 8,
                          .exempt = &server->trusted},
        [WEB_OUTSIDE] = {.kind = THREAD_WEB_OUTSIDE,
                         .threads = OUTSIDE_THREADS,
                         .queue = OUTSIDE_QUEUE},
        [WEB_COMPUTE] = {.kind = THREAD_WEB_PAGE,
                         .threads = (unsigned)config->page_threads,
                         .queue = (unsigned)config->page_queue,
                         .per_address = (unsigned)config->page_queue_per_address,
                         .yields = true,
                         .exempt = &server->trusted},
    };
    for (size_t i = 0; i < WEB_THREAD_KINDS; i++)
        if (pools[i].threads > 0)
            server->pools[i] = pool_start(&pools[i]);
}

static void stop_pools(WebServer *server)
{
    for (size_t i = 0; i < WEB_THREAD_KINDS; i++)
        if (server->pools[i] != NULL)
            pool_stop(server->pools[i]);
}

static Status start(WebServer *server, Reason *reason)
{
    TRY(web_server_check(server->options.config, reason));
    TRY(take_options(server, reason));
    make_parts(server);
    TRY(listener_open(server, reason));
    name_public_url(server);
    start_pools(server);
    start_loops(server);
    log_gather(server->options.log, true); /* the acceptor flushes */
    acceptor_start(server);
    return STATUS_OK;
}

Status web_server_check(const Config *config, Reason *reason)
{
    NetPlace listen;
    HttpOrigin origin;
    AddressRanges trusted;
    TRY(net_parse_place(slice_from(config->listen), &listen, reason));
    if (config->public_url[0] != '\0')
        TRY(http_parse_origin(slice_from(config->public_url), &origin, reason));
    return address_ranges_parse(slice_from(config->trusted_proxies), &trusted, reason);
}

Status web_server_start(const WebOptions *options, WebServer **ret_server, Reason *reason)
{
    WebServer *server = calloc(1, sizeof *server);
    CHECK(server != NULL);
    server->options = *options;
    CHECK(pthread_mutex_init(&server->lock, NULL) == 0);
    Status status = start(server, reason);
    if (status != STATUS_OK) {
        free_server(server);
        return status;
    }
    *ret_server = server;
    return STATUS_OK;
}

uint16_t web_server_port(const WebServer *server)
{
    return server->port;
}

const char *web_server_public_url(const WebServer *server)
{
    return server->public_url;
}

void web_server_maintenance(WebServer *server, const char *message)
{
    pthread_mutex_lock(&server->lock);
    snprintf(server->maintenance_text, sizeof server->maintenance_text, "%s",
             message != NULL ? message : "");
    pthread_mutex_unlock(&server->lock);
    atomic_store(&server->maintenance, message != NULL);
}

/* Until no request is under way or the time is over. A connection may become idle, or be accepted, at any moment, so
 * idle ones are cut again at each step. */
static void wait_for_requests(WebServer *server)
{
    Clock clock = server->options.world.clock;
    int64_t until_us = clock_steady_us(clock) + server->options.config->stop_seconds * US_PER_S;
    do {
        connections_cut_idle(server->connections);
        if (connections_busy(server->connections) == 0)
            return;
        hurry_loops(server);
        clock_sleep_us(clock, STOP_STEP_MS * US_PER_MS);
    } while (clock_steady_us(clock) < until_us);
    LogLine line = log_line(server->options.log, LOG_WARNING, "stop_cuts_requests");
    log_i64(&line, "requests", (int64_t)connections_busy(server->connections));
    log_end(&line);
}

void web_server_stop(WebServer *server)
{
    atomic_store(&server->stopping, true);
    listener_close(server);
    wait_for_requests(server);
    acceptor_stop(server);
    stop_pools(server); /* what they have goes back to the loops */
    stop_loops(server);
    log_gather(server->options.log, false);
    free_server(server);
}
