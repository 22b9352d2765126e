/* journal_peer.c -- clients of beanstalkd's protocol for the journal's benchmark, on loopback: beanstalkd or ours, it does not know.
 *
 *     bench_journal_peer PORT CLIENTS PID [BODY]
 * Commands: puts MS, work MS (reserve and delete), cycle MS; claims N (one client, with N ready jobs), later N (puts for in an hour),
 * empty, wakes N (timed jobs, at most 1000), burst N (jobs put and worked off). Costs of the server are those of PID. BODY is the size of a job,
 * 100 bytes when it is not given. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

enum { BODY_MAX = 65535, HEAD_MAX = 64, WAKES_MAX = 1000, APART_MS = 7, LATER_S = 3600 };

typedef struct PeerBench {
    int port, clients;
    const char *pid;
    size_t body;
    int delay_s;
} PeerBench;

typedef struct PeerClient {
    const PeerBench *bench;
    int fd;
    size_t size;
    char buffer[BODY_MAX + 512];
} PeerClient;

static void *client_begin(void *context, int client)
{
    const PeerBench *bench = context;
    PeerClient *self = calloc(1, sizeof *self);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)bench->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1;
    (void)client;
    if (self == NULL || (self->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0 ||
        connect(self->fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        setsockopt(self->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0)
        bench_fail("the server does not take a connection");
    self->bench = bench;
    return self;
}

static void client_end(void *state)
{
    PeerClient *self = state;
    close(self->fd);
    free(self);
}

static void say(PeerClient *self, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t written = write(self->fd, text, size);
        if (written <= 0)
            bench_fail("the server does not listen");
        text += written;
        size -= (size_t)written;
    }
}

/* Until `size` bytes are there. */
static void hear(PeerClient *self, size_t size)
{
    while (self->size < size) {
        ssize_t got =
            read(self->fd, self->buffer + self->size, sizeof self->buffer - 1 - self->size);
        if (got <= 0)
            bench_fail("the server has gone");
        self->size += (size_t)got;
    }
}

/* The next line, without its end; the rest of what came stays. */
static size_t hear_line(PeerClient *self)
{
    for (;;) {
        char *end = memmem(self->buffer, self->size, "\r\n", 2);
        if (end != NULL)
            return (size_t)(end - self->buffer) + 2;
        hear(self, self->size + 1);
    }
}

static void take(PeerClient *self, size_t size)
{
    memmove(self->buffer, self->buffer + size, self->size - size);
    self->size -= size;
}

static void expect(PeerClient *self, const char *word)
{
    size_t size = hear_line(self);
    if (strncmp(self->buffer, word, strlen(word)) != 0)
        bench_fail("the server says %.*s", (int)size, self->buffer);
}

/* The id of the job. */
static uint64_t put_job(PeerClient *self)
{
    static const char END[] = "\r\n";
    const PeerBench *bench = self->bench;
    char text[HEAD_MAX + BODY_MAX + sizeof END];
    int head = snprintf(text, HEAD_MAX, "put 100 %d 3600 %zu\r\n", bench->delay_s, bench->body);
    memset(text + head, 'x', bench->body);
    memcpy(text + (size_t)head + bench->body, END, 2);
    say(self, text, (size_t)head + bench->body + 2);
    expect(self, "INSERTED ");
    uint64_t id = strtoull(self->buffer + 9, NULL, 10);
    take(self, hear_line(self));
    return id;
}

static uint64_t put(void *state)
{
    put_job(state);
    return 1;
}

/* The id of a job, or 0 when there is none within these seconds. */
static uint64_t reserve_job(PeerClient *self, int wait_s)
{
    char line[HEAD_MAX];
    int written = snprintf(line, sizeof line, "reserve-with-timeout %d\r\n", wait_s);
    say(self, line, (size_t)written);
    size_t size = hear_line(self);
    if (strncmp(self->buffer, "TIMED_OUT", 9) == 0) {
        take(self, size);
        return 0;
    }
    expect(self, "RESERVED ");
    char *end;
    uint64_t id = strtoull(self->buffer + 9, &end, 10);
    size_t body = strtoull(end, NULL, 10);
    hear(self, size + body + 2);
    take(self, size + body + 2);
    return id;
}

static void delete_job(PeerClient *self, uint64_t id)
{
    char line[HEAD_MAX];
    int written = snprintf(line, sizeof line, "delete %llu\r\n", (unsigned long long)id);
    say(self, line, (size_t)written);
    expect(self, "DELETED");
    take(self, hear_line(self));
}

static uint64_t claim(void *state)
{
    return reserve_job(state, 0) != 0;
}

static uint64_t work(void *state)
{
    uint64_t id = reserve_job(state, 0);
    if (id != 0)
        delete_job(state, id);
    return id != 0;
}

static uint64_t cycle(void *state)
{
    return put(state) & work(state);
}

/* CPU is the time of its process as /proc has it, in ticks. */
static void server_usage(void *server, BenchUsage *ret_usage)
{
    const PeerBench *bench = server;
    char path[64];
    long long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", bench->pid);
    FILE *file = fopen(path, "r");
    if (file == NULL ||
        fscanf(file, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld", &user,
               &system) != 2)
        bench_fail("%s cannot be read", path);
    fclose(file);
    *ret_usage = (BenchUsage){.cpu_us = (user + system) * 1000000 / sysconf(_SC_CLK_TCK),
                              .written_bytes = bench_written_bytes(bench->pid)};
}

static void run(PeerBench *bench, uint64_t (*step)(void *), int clients, int64_t ms, uint64_t steps,
                BenchResult *ret_result)
{
    BenchLoad load = {.clients = clients,
                      .duration_ms = ms,
                      .steps = steps,
                      .context = bench,
                      .begin = client_begin,
                      .step = step,
                      .end = client_end,
                      .server_usage = server_usage,
                      .server = bench};
    bench_run(&load, ret_result);
}

static void run_for(PeerBench *bench, uint64_t (*step)(void *), int64_t ms)
{
    BenchResult result;
    run(bench, step, bench->clients, ms, 0, &result);
    bench_print(&result);
}

static void command_puts(void *context, int64_t ms)
{
    run_for(context, put, ms);
}

static void command_work(void *context, int64_t ms)
{
    run_for(context, work, ms);
}

static void command_cycle(void *context, int64_t ms)
{
    run_for(context, cycle, ms);
}

static void put_many(PeerBench *bench, int64_t count, int delay_s, BenchResult *ret_result)
{
    bench->delay_s = delay_s;
    run(bench, put, bench->clients, 0, (uint64_t)count, ret_result);
    bench->delay_s = 0;
}

/* What one client reserves goes back when its connection ends, so that the next turn finds the same. */
static void command_claims(void *context, int64_t count)
{
    BenchResult result;
    put_many(context, count, 0, &result);
    run(context, claim, 1, 0, (uint64_t)count, &result);
    bench_print(&result);
}

static void command_later(void *context, int64_t count)
{
    BenchResult result;
    put_many(context, count, LATER_S, &result);
    bench_print(&result);
}

/* All that is ready, by all clients; each ends when it finds nothing. */
static uint64_t work_off(void *state)
{
    uint64_t units = 0;
    while (work(state) != 0)
        units++;
    return units;
}

static void command_empty(void *context, int64_t unused)
{
    PeerBench *bench = context;
    BenchResult result;
    (void)unused;
    run(bench, work_off, bench->clients, 0, (uint64_t)bench->clients, &result);
    bench_print(&result);
}

static void command_burst(void *context, int64_t count)
{
    BenchResult result;
    put_many(context, count, 0, &result);
    command_empty(context, 0);
}

static int64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Jobs are put 7 ms apart and come due as far apart, all after the last is put. Due is counted from when a put was sent, so that the way to the
 * server is in what is late. They are deleted at the end: no sync of theirs keeps the waiter from the next. */
static void command_wakes(void *context, int64_t count)
{
    static int64_t due_ns[WAKES_MAX];
    static uint64_t ids[WAKES_MAX];
    PeerBench *bench = context;
    PeerClient *self = client_begin(bench, 0);
    BenchHistogram late = {.total = 0};
    if (count > WAKES_MAX)
        bench_fail("at most %d", WAKES_MAX);
    bench->delay_s = (int)(count * (APART_MS + 8) / 1000) + 2;
    for (int64_t i = 0; i < count; i++) {
        struct timespec pause = {.tv_nsec = APART_MS * 1000000};
        nanosleep(&pause, NULL);
        due_ns[i] = wall_ns() + bench->delay_s * INT64_C(1000000000);
        ids[i] = put_job(self);
    }
    if (wall_ns() > due_ns[0])
        bench_fail("the first timed job was due before the last was put");
    bench->delay_s = 0;
    for (int64_t i = 0; i < count; i++) {
        if (reserve_job(self, 60) != ids[i])
            bench_fail("timed jobs come in another order");
        int64_t late_ns = wall_ns() - due_ns[i];
        if (late_ns < -1000000) /* servers count whole milliseconds */
            bench_fail("a job came %lld ns early", (long long)-late_ns);
        bench_histogram_add(&late, late_ns < 0 ? 0 : (uint64_t)late_ns);
    }
    for (int64_t i = 0; i < count; i++)
        delete_job(self, ids[i]);
    client_end(self);
    printf("{\"units\": %lld, \"p50_us\": %.1f, \"p99_us\": %.1f}\n", (long long)count,
           bench_histogram_us(&late, 0.5), bench_histogram_us(&late, 0.99));
}

int main(int count, char **words)
{
    static const BenchCommand COMMANDS[] = {
        {"puts", command_puts},     {"work", command_work},   {"cycle", command_cycle},
        {"claims", command_claims}, {"later", command_later}, {"empty", command_empty},
        {"wakes", command_wakes},   {"burst", command_burst}, {NULL, NULL}};
    if (count != 4 && count != 5)
        bench_fail("usage: bench_journal_peer PORT CLIENTS PID [BODY]");
    PeerBench bench = {.port = atoi(words[1]),
                       .clients = atoi(words[2]),
                       .pid = words[3],
                       .body = count == 5 ? strtoul(words[4], NULL, 10) : 100};
    if (bench.body > BODY_MAX)
        bench_fail("a job has at most %d bytes", BODY_MAX);
    bench_obey(COMMANDS, &bench);
    return 0;
}
