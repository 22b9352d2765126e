/* server_test.c -- a server in this process with clients on several threads: nothing races (this also runs under
 * ThreadSanitizer), and a stop in the middle loses no answer that was begun. What each request means is tested over
 * sockets by test_*.py. */
#include "web/server.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"
#include "web/request.h"

enum { CLIENTS = 4, REQUESTS = 150 };

static WebServer *server;
static Log *quiet; /* requests are below its level */
static _Atomic int64_t handled;

static Status count(WebRequest *request)
{
    handled++;
    buffer_decimal(web_out(request, "text/plain"), web_number(request, 0));
    return STATUS_OK;
}

/* One is answered by the thread that reads it, the other by one of a pool. */
#define COUNT_ROUTE(method)                                                              \
    {                                                                                    \
        method, "/count", count, .help = "Counts.", .params = {                          \
            {"n", WEB_QUERY, WEB_NUMBER, .least = 0, .most = 1000000, .help = "Echoed."} \
        }                                                                                \
    }
static const WebRoute ROUTES[] = {COUNT_ROUTE(WEB_GET), COUNT_ROUTE(WEB_POST)};
enum { ROUTE_COUNT = sizeof ROUTES / sizeof ROUTES[0] };

static void start_server(Config *config)
{
    Reason reason = {0};
    config_defaults(config);
    config->listen = "127.0.0.1:0";
    config->connections = 100;
    quiet = log_new(-1, LOG_ERROR, world_real().clock);
    WebOptions options = {.config = config,
                          .world = world_real(),
                          .log = quiet,
                          .routes = ROUTES,
                          .route_count = ROUTE_COUNT};
    EXPECT_STATUS(web_server_start(&options, &server, &reason), STATUS_OK);
}

static void stop_server(void)
{
    web_server_stop(server);
    log_free(quiet);
}

static int open_client(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(web_server_port(server)),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

/* The code of the answer, 0 when the connection ended without a byte of one, -1 when it ended inside. */
static int ask(int fd, int64_t number)
{
    char text[4096];
    size_t size = 0;
    int length = snprintf(text, sizeof text, "%s /count?n=%lld HTTP/1.1\r\nHost: a\r\n\r\n",
                          number % 2 == 0 ? "GET" : "POST", (long long)number);
    if (send(fd, text, (size_t)length, MSG_NOSIGNAL) != length)
        return 0;
    while (size < sizeof text - 1) {
        ssize_t got = recv(fd, text + size, sizeof text - 1 - size, 0);
        if (got <= 0)
            return size == 0 ? 0 : -1;
        size += (size_t)got;
        text[size] = '\0';
        const char *body = strstr(text, "\r\n\r\n"), *told = strstr(text, "Content-Length: ");
        if (body != NULL && told != NULL && strlen(body + 4) >= strtoul(told + 16, NULL, 10))
            return atoi(text + 9);
    }
    return -1;
}

static void *ask_many(void *unused)
{
    int fd = open_client();
    int64_t answered = 0;
    (void)unused;
    for (int i = 0; i < REQUESTS; i++)
        answered += ask(fd, i) > 0;
    close(fd);
    return (void *)(intptr_t)answered;
}

TEST(clients_on_several_threads_are_all_answered)
{
    Config config;
    pthread_t clients[CLIENTS];
    void *answered;
    handled = 0;
    start_server(&config);
    for (int i = 0; i < CLIENTS; i++)
        CHECK(pthread_create(&clients[i], NULL, ask_many, NULL) == 0);
    for (int i = 0; i < 20; i++)
        web_server_maintenance(server, i % 2 == 0 ? "back soon" : NULL);
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i], &answered);
        EXPECT_I64((intptr_t)answered, REQUESTS);
    }
    web_server_maintenance(server, NULL);
    int fd = open_client();
    EXPECT_I64(ask(fd, 5), 200);
    stop_server();
    EXPECT_I64(ask(fd, 6), 0);
    close(fd);
}

static _Atomic bool is_stopping;
static _Atomic int64_t torn, told_to_go;

static void *ask_until_stopped(void *unused)
{
    int code, fd = open_client();
    (void)unused;
    while ((code = ask(fd, 1)) == 200)
        continue;
    CHECK(is_stopping);
    torn += code == -1;
    told_to_go += code == 503 || code == 0;
    close(fd);
    return NULL;
}

TEST(a_stop_under_load_cuts_no_answer_in_two)
{
    Config config;
    pthread_t clients[CLIENTS];
    is_stopping = false;
    torn = told_to_go = 0;
    start_server(&config);
    for (int i = 0; i < CLIENTS; i++)
        CHECK(pthread_create(&clients[i], NULL, ask_until_stopped, NULL) == 0);
    usleep(100000);
    is_stopping = true;
    stop_server();
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    EXPECT_I64(torn, 0);
    EXPECT_I64(told_to_go, CLIENTS);
    EXPECT(handled > 0);
}

TEST(a_bad_table_stops_the_start)
{
    static const WebRoute bad[] = {{WEB_GET, "/{id}", count, .help = "No such parameter."}};
    Config config;
    Reason reason = {0};
    WebServer *untouched = NULL;
    config_defaults(&config);
    WebOptions options = {
        .config = &config, .world = world_real(), .routes = bad, .route_count = 1};
    EXPECT_STATUS(web_server_start(&options, &untouched, &reason), STATUS_INVALID);
    EXPECT(untouched == NULL);
    EXPECT_SLICE(slice_from(reason.field), SLICE("/{id}"));
}
