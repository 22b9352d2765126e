/* watchers_main.c -- a crowd of browsers that watch: opens many streams of events and says when each was told.
 *
 *     bench_watchers SOURCE HOST PORT TARGET     as in 127.0.0.2 127.0.0.1 8080 /events?topic=front
 * SOURCE is the address to come from: a pair of addresses has some 28,000 ports for one port of the server, and a process here may open
 * 20,000 files, so a large crowd is several of these, each from an address of its own. Commands:
 *     open N     opens N more, a hundred at a time, until each has its first event
 *     since NS   from now on, the first event of each watcher counts as told of a change at this moment (CLOCK_MONOTONIC, as
 *                Python's time.monotonic_ns)
 *     told MS    waits until all were told since then, or so long; how many were, and after how long
 *     report     what is open, and all events so far */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

enum { MOST = 20000, BATCH = 256, AT_ONCE = 100, MS = 1000000 };

typedef struct Watcher {
    int fd;
    unsigned char matched; /* bytes of "data: " seen at the end of what came */
    bool has_begun;
    uint64_t round; /* the last `since` that it was told of */
} Watcher;

typedef struct Crowd {
    struct sockaddr_in source, server;
    char request[1024];
    int request_size, epoll_fd;
    size_t count; /* opened; written by the thread that obeys */
    Watcher watchers[MOST];
    _Atomic uint64_t begun, closed, events, round, told;
    _Atomic int64_t since_ns;
    pthread_mutex_t lock; /* delays */
    BenchHistogram delays;
    int64_t longest_ns;
} Crowd;

static Crowd crowd;

/* ---- The thread that reads ---- */

static void be_told(Watcher *watcher, int64_t now_ns)
{
    uint64_t round = atomic_load(&crowd.round);
    if (!watcher->has_begun) {
        watcher->has_begun = true;
        watcher->round = round;
        atomic_fetch_add(&crowd.begun, 1);
        return;
    }
    if (watcher->round == round)
        return;
    watcher->round = round;
    int64_t delay_ns = now_ns - atomic_load(&crowd.since_ns);
    pthread_mutex_lock(&crowd.lock);
    bench_histogram_add(&crowd.delays, (uint64_t)delay_ns);
    crowd.longest_ns = delay_ns > crowd.longest_ns ? delay_ns : crowd.longest_ns;
    pthread_mutex_unlock(&crowd.lock);
    atomic_fetch_add(&crowd.told, 1);
}

static void look_for_events(Watcher *watcher, const char *bytes, size_t size)
{
    static const char sign[] = "\ndata: ";
    for (size_t i = 0; i < size; i++) {
        watcher->matched = bytes[i] == sign[watcher->matched] ? watcher->matched + 1
                           : bytes[i] == sign[0]              ? 1
                                                              : 0;
        if (watcher->matched < sizeof sign - 1)
            continue;
        watcher->matched = 0;
        atomic_fetch_add_explicit(&crowd.events, 1, memory_order_relaxed);
        be_told(watcher, bench_now_ns());
    }
}

static void receive(Watcher *watcher)
{
    char bytes[16384];
    ssize_t got;
    while ((got = recv(watcher->fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        look_for_events(watcher, bytes, (size_t)got);
    if (got < 0 && errno == EAGAIN)
        return;
    close(watcher->fd);
    atomic_fetch_add(&crowd.closed, 1);
}

static void *read_all(void *unused)
{
    struct epoll_event batch[BATCH];
    (void)unused;
    for (;;) {
        int count = epoll_wait(crowd.epoll_fd, batch, BATCH, -1);
        for (int i = 0; i < count; i++)
            receive(batch[i].data.ptr);
    }
    return NULL;
}

/* ---- Commands ---- */

static void open_one(Watcher *watcher)
{
    int on = 1;
    struct epoll_event wanted = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = watcher};
    watcher->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (watcher->fd < 0)
        bench_fail("no more sockets after %zu: %s", crowd.count, strerrordesc_np(errno));
    setsockopt(watcher->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (bind(watcher->fd, (struct sockaddr *)&crowd.source, sizeof crowd.source) != 0 ||
        connect(watcher->fd, (struct sockaddr *)&crowd.server, sizeof crowd.server) != 0 ||
        send(watcher->fd, crowd.request, (size_t)crowd.request_size, MSG_NOSIGNAL) !=
            crowd.request_size)
        bench_fail("watcher %zu cannot connect: %s", crowd.count, strerrordesc_np(errno));
    if (epoll_ctl(crowd.epoll_fd, EPOLL_CTL_ADD, watcher->fd, &wanted) != 0)
        bench_fail("epoll: %s", strerrordesc_np(errno));
}

/* Until all that were opened have their first event. */
static void wait_for_first_events(void)
{
    int64_t until_ns = bench_now_ns() + INT64_C(30000) * MS;
    while (atomic_load(&crowd.begun) < crowd.count) {
        if (atomic_load(&crowd.closed) > 0)
            bench_fail("the server closed %llu of %zu watchers",
                       (unsigned long long)atomic_load(&crowd.closed), crowd.count);
        if (bench_now_ns() > until_ns)
            bench_fail("%llu of %zu watchers have no event after 30 s",
                       (unsigned long long)(crowd.count - atomic_load(&crowd.begun)), crowd.count);
        usleep(500);
    }
}

static void open_more(void *unused, int64_t number)
{
    int64_t began_ns = bench_now_ns();
    (void)unused;
    if (crowd.count + (size_t)number > MOST)
        bench_fail("at most %d watchers a process", MOST);
    for (int64_t i = 0; i < number; i++) {
        open_one(&crowd.watchers[crowd.count++]);
        if (i % AT_ONCE == AT_ONCE - 1)
            wait_for_first_events();
    }
    wait_for_first_events();
    printf("{\"open\": %zu, \"seconds\": %.3f}\n", crowd.count,
           (double)(bench_now_ns() - began_ns) / 1e9);
}

static void since(void *unused, int64_t moment_ns)
{
    (void)unused;
    pthread_mutex_lock(&crowd.lock);
    crowd.delays = (BenchHistogram){0};
    crowd.longest_ns = 0;
    pthread_mutex_unlock(&crowd.lock);
    atomic_store(&crowd.told, 0);
    atomic_store(&crowd.since_ns, moment_ns);
    atomic_fetch_add(&crowd.round, 1);
    printf("{\"since\": %lld}\n", (long long)moment_ns);
}

static void told(void *unused, int64_t patience_ms)
{
    int64_t until_ns = bench_now_ns() + patience_ms * MS;
    (void)unused;
    while (atomic_load(&crowd.told) < crowd.count - atomic_load(&crowd.closed) &&
           bench_now_ns() < until_ns)
        usleep(1000);
    pthread_mutex_lock(&crowd.lock);
    printf(
        "{\"open\": %zu, \"told\": %llu, \"p50_ms\": %.1f, \"p99_ms\": %.1f, \"most_ms\": %.1f}\n",
        crowd.count - (size_t)atomic_load(&crowd.closed),
        (unsigned long long)atomic_load(&crowd.told), bench_histogram_us(&crowd.delays, 0.5) / 1e3,
        bench_histogram_us(&crowd.delays, 0.99) / 1e3, (double)crowd.longest_ns / 1e6);
    pthread_mutex_unlock(&crowd.lock);
}

static void report(void *unused, int64_t number)
{
    (void)unused;
    (void)number;
    printf("{\"open\": %zu, \"closed\": %llu, \"events\": %llu}\n",
           crowd.count - (size_t)atomic_load(&crowd.closed),
           (unsigned long long)atomic_load(&crowd.closed),
           (unsigned long long)atomic_load(&crowd.events));
}

static const BenchCommand COMMANDS[] = {
    {"open", open_more}, {"since", since}, {"told", told}, {"report", report}, {NULL, NULL}};

static struct sockaddr_in address_of(const char *host, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
        bench_fail("%s is no address", host);
    return address;
}

int main(int count, char **words)
{
    struct rlimit files;
    pthread_t reader;
    if (count != 5)
        bench_fail("usage: bench_watchers SOURCE HOST PORT TARGET");
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    crowd.source = address_of(words[1], 0);
    crowd.server = address_of(words[2], atoi(words[3]));
    crowd.request_size = snprintf(crowd.request, sizeof crowd.request,
                                  "GET %.500s HTTP/1.1\r\nHost: %.100s:%.10s\r\n"
                                  "Accept: text/event-stream\r\n\r\n",
                                  words[4], words[2], words[3]);
    crowd.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    pthread_mutex_init(&crowd.lock, NULL);
    if (pthread_create(&reader, NULL, read_all, NULL) != 0)
        bench_fail("no thread");
    bench_obey(COMMANDS, NULL);
    return 0;
}
