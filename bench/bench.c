/* bench.c -- loads, latencies, costs and commands of the benchmark programs. */
#include "bench.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)

int64_t bench_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

void bench_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

/* SplitMix64: any seed is a good one, and a step is a few cycles. */
uint64_t bench_random_u64(BenchRandom *random)
{
    uint64_t mixed = random->state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

BenchRandom bench_random(uint64_t seed)
{
    BenchRandom random = {.state = seed};
    random.state = bench_random_u64(&random);
    return random;
}

uint64_t bench_random_below(BenchRandom *random, uint64_t below)
{
    return bench_random_u64(random) % below; /* the bias is below / 2^64: nothing */
}

/* ---- Latencies -------------------------------------------------------------------------------------------- */

enum { SUB_BITS = 5, SUB = 1 << SUB_BITS };

static size_t bucket_of(uint64_t ns)
{
    if (ns < SUB)
        return (size_t)ns;
    unsigned shift = 63 - (unsigned)__builtin_clzll(ns) - SUB_BITS;
    return (size_t)(shift + 1) * SUB + (size_t)((ns >> shift) - SUB);
}

/* The upper end of a bucket: a percentile is never told too low. */
static uint64_t bucket_end(size_t bucket)
{
    if (bucket < SUB)
        return bucket;
    unsigned shift = (unsigned)(bucket / SUB) - 1;
    return ((uint64_t)(bucket % SUB) + SUB + 1) << shift;
}

void bench_histogram_add(BenchHistogram *histogram, uint64_t ns)
{
    histogram->counts[bucket_of(ns)]++;
    histogram->total++;
}

void bench_histogram_merge(BenchHistogram *into, const BenchHistogram *from)
{
    for (size_t i = 0; i < BENCH_BUCKETS; i++)
        into->counts[i] += from->counts[i];
    into->total += from->total;
}

double bench_histogram_us(const BenchHistogram *histogram, double part)
{
    uint64_t wanted = (uint64_t)(part * (double)histogram->total), seen = 0;
    for (size_t i = 0; i < BENCH_BUCKETS; i++) {
        seen += histogram->counts[i];
        if (seen > wanted)
            return (double)bucket_end(i) / 1000.0;
    }
    return 0;
}

/* ---- Costs ------------------------------------------------------------------------------------------------ */

int64_t bench_written_bytes(const char *pid)
{
    char path[64], line[128];
    snprintf(path, sizeof path, "/proc/%s/io", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    int64_t bytes = 0;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "wchar: ", 7) == 0)
            bytes = strtoll(line + 7, NULL, 10);
    fclose(file);
    return bytes;
}

void bench_usage_self(void *unused, BenchUsage *ret_usage)
{
    (void)unused;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    *ret_usage = (BenchUsage){
        .cpu_us = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000) +
                  usage.ru_utime.tv_usec + usage.ru_stime.tv_usec,
        .written_bytes = bench_written_bytes("self"),
        .syncs = bench_sync_count(),
    };
}

static BenchUsage usage_since(BenchUsage before, BenchUsage after)
{
    return (BenchUsage){
        .cpu_us = after.cpu_us - before.cpu_us,
        .written_bytes = after.written_bytes - before.written_bytes,
        .syncs = after.syncs - before.syncs,
    };
}

/* ---- Loads ------------------------------------------------------------------------------------------------ */

typedef struct Run {
    const BenchLoad *load;
    atomic_bool stop;
    atomic_uint_fast64_t taken; /* steps handed out, when they are counted */
    pthread_barrier_t start;
} Run;

typedef struct Client {
    Run *run;
    int number;
    uint64_t units, misses;
    BenchHistogram latency;
} Client;

static bool may_go_on(Run *run)
{
    if (atomic_load_explicit(&run->stop, memory_order_relaxed))
        return false;
    return run->load->steps == 0 || atomic_fetch_add(&run->taken, 1) < run->load->steps;
}

static void *client_main(void *argument)
{
    Client *client = argument;
    const BenchLoad *load = client->run->load;
    void *state = load->begin(load->context, client->number);
    pthread_barrier_wait(&client->run->start);
    int64_t before = bench_now_ns();
    while (may_go_on(client->run)) {
        uint64_t units = load->step(state);
        int64_t after = bench_now_ns();
        bench_histogram_add(&client->latency, (uint64_t)(after - before));
        before = after;
        client->units += units;
        client->misses += units == 0;
    }
    load->end(state);
    return NULL;
}

static void sleep_until_ns(int64_t ns)
{
    struct timespec until = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

static void usages(const BenchLoad *load, BenchUsage *ret_self, BenchUsage *ret_server)
{
    bench_usage_self(NULL, ret_self);
    *ret_server = (BenchUsage){0};
    if (load->server_usage != NULL)
        load->server_usage(load->server, ret_server);
}

void bench_run(const BenchLoad *load, BenchResult *ret_result)
{
    size_t count = (size_t)load->clients;
    Run run = {.load = load};
    Client *clients = calloc(count, sizeof *clients);
    pthread_t *threads = calloc(count, sizeof *threads);
    CHECK(clients != NULL && threads != NULL);
    pthread_barrier_init(&run.start, NULL, (unsigned)count + 1);
    for (size_t i = 0; i < count; i++) {
        clients[i].run = &run;
        clients[i].number = (int)i;
        CHECK(pthread_create(&threads[i], NULL, client_main, &clients[i]) == 0);
    }
    BenchUsage self, server, self_after, server_after;
    usages(load, &self, &server);
    pthread_barrier_wait(&run.start);
    int64_t began = bench_now_ns();
    if (load->steps == 0) {
        sleep_until_ns(began + load->duration_ms * 1000000);
        atomic_store(&run.stop, true);
    }
    *ret_result = (BenchResult){0};
    for (size_t i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        ret_result->units += clients[i].units;
        ret_result->misses += clients[i].misses;
        bench_histogram_merge(&ret_result->latency, &clients[i].latency);
    }
    ret_result->seconds = (double)(bench_now_ns() - began) / (double)NS_PER_S;
    usages(load, &self_after, &server_after);
    ret_result->self = usage_since(self, self_after);
    ret_result->server = usage_since(server, server_after);
    pthread_barrier_destroy(&run.start);
    free(threads);
    free(clients);
}

void bench_print(const BenchResult *result)
{
    printf("{\"units\": %" PRIu64 ", \"misses\": %" PRIu64 ", \"seconds\": %.6f, \"p50_us\": %.2f, "
           "\"p99_us\": %.2f, \"most_us\": %.2f, \"cpu_us\": %" PRId64 ", \"written\": %" PRId64
           ", \"syncs\": %" PRId64 ", \"server_cpu_us\": %" PRId64 ", \"server_written\": %" PRId64
           ", \"server_syncs\": %" PRId64 "}\n",
           result->units, result->misses, result->seconds,
           bench_histogram_us(&result->latency, 0.5), bench_histogram_us(&result->latency, 0.99),
           bench_histogram_us(&result->latency, 1.0 - 1e-12), result->self.cpu_us,
           result->self.written_bytes, result->self.syncs, result->server.cpu_us,
           result->server.written_bytes, result->server.syncs);
}

/* ---- Commands --------------------------------------------------------------------------------------------- */

static const BenchCommand *find(const BenchCommand *commands, const char *name)
{
    for (; commands->name != NULL; commands++)
        if (strcmp(commands->name, name) == 0)
            return commands;
    bench_fail("there is no command '%s'", name);
}

void bench_obey(const BenchCommand *commands, void *context)
{
    char line[256];
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *rest = line, *name = strsep(&rest, " \n");
        int64_t number = rest != NULL ? strtoll(rest, NULL, 10) : 0;
        find(commands, name)->run(context, number);
        fflush(stdout);
    }
}
