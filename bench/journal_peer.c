/* journal_peer.c -- beanstalkd's side of the journal's benchmark: a connection a client, over its own protocol on loopback.
 *
 *     bench_journal_peer PORT CLIENTS PID
 * Commands as in journal_main.c: puts MS, work MS (reserve and delete), cycle MS. Costs of the server are those of PID. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

enum { DATA = 100, LINE_MAX_BYTES = 512 };

typedef struct PeerBench {
    int port, clients;
    const char *pid;
} PeerBench;

typedef struct PeerClient {
    int fd;
    char buffer[LINE_MAX_BYTES];
    size_t size;
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
        bench_fail("beanstalkd does not take a connection");
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
    if (write(self->fd, text, size) != (ssize_t)size)
        bench_fail("beanstalkd does not listen");
}

/* Until `size` bytes are there. */
static void hear(PeerClient *self, size_t size)
{
    while (self->size < size) {
        ssize_t got =
            read(self->fd, self->buffer + self->size, sizeof self->buffer - 1 - self->size);
        if (got <= 0)
            bench_fail("beanstalkd has gone");
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
        bench_fail("beanstalkd says %.*s", (int)size, self->buffer);
}

static uint64_t put(void *state)
{
    static const char HEAD[] = "put 100 0 3600 100\r\n";
    char text[sizeof HEAD - 1 + DATA + 2];
    PeerClient *self = state;
    memcpy(text, HEAD, sizeof HEAD - 1);
    memset(text + sizeof HEAD - 1, 'x', DATA);
    memcpy(text + sizeof HEAD - 1 + DATA, "\r\n", 2);
    say(self, text, sizeof text);
    expect(self, "INSERTED");
    take(self, hear_line(self));
    return 1;
}

static uint64_t work(void *state)
{
    PeerClient *self = state;
    char line[64];
    say(self, "reserve-with-timeout 0\r\n", 24);
    size_t size = hear_line(self);
    if (strncmp(self->buffer, "TIMED_OUT", 9) == 0) {
        take(self, size);
        return 0;
    }
    expect(self, "RESERVED");
    unsigned long long id = strtoull(self->buffer + 9, NULL, 10);
    hear(self, size + DATA + 2);
    take(self, size + DATA + 2);
    int written = snprintf(line, sizeof line, "delete %llu\r\n", id);
    say(self, line, (size_t)written);
    expect(self, "DELETED");
    take(self, hear_line(self));
    return 1;
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

static void run(PeerBench *bench, uint64_t (*step)(void *), int64_t ms)
{
    BenchLoad load = {.clients = bench->clients,
                      .duration_ms = ms,
                      .context = bench,
                      .begin = client_begin,
                      .step = step,
                      .end = client_end,
                      .server_usage = server_usage,
                      .server = bench};
    BenchResult result;
    bench_run(&load, &result);
    bench_print(&result);
}

static void command_puts(void *context, int64_t ms)
{
    run(context, put, ms);
}

static void command_work(void *context, int64_t ms)
{
    run(context, work, ms);
}

static void command_cycle(void *context, int64_t ms)
{
    run(context, cycle, ms);
}

int main(int count, char **words)
{
    static const BenchCommand COMMANDS[] = {
        {"puts", command_puts}, {"work", command_work}, {"cycle", command_cycle}, {NULL, NULL}};
    if (count != 4)
        bench_fail("usage: bench_journal_peer PORT CLIENTS PID");
    PeerBench bench = {.port = atoi(words[1]), .clients = atoi(words[2]), .pid = words[3]};
    bench_obey(COMMANDS, &bench);
    return 0;
}
