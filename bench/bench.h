/* bench.h -- what every benchmark program shares: loads run by many clients, latencies, costs, commands.
 *
 * A benchmark program opens what it measures once and then obeys commands on standard input, one a line
 * (`saves 5000`), and answers each with one line of JSON. The script that drives it can so let two programs take
 * turns while both stay warm, which is what makes a ratio of the two worth something.
 *   1. A load is run by `clients` threads, each with a state of its own; nothing is shared by the harness while it
 *      runs but one flag.
 *   2. Latency is the time between two ends of a step, so the harness costs one reading of the clock a step, on
 *      both sides of a comparison.
 *   3. Costs are those of the whole process (or of another one, see BenchLoad): CPU, bytes handed to the disk, syncs.
 * Failures end the program with a sentence: a benchmark that goes on after an error measures something else. */
#pragma once

#include "base/slice.h"

int64_t bench_now_ns(void);

/* Prints a sentence to stderr and exits 1. */
_Noreturn void bench_fail(const char *format, ...) PRINTF_LIKE(1, 2);

/* ---- Luck: the same on every run, one generator a client ------------------------------------------------- */

typedef struct BenchRandom {
    uint64_t state;
} BenchRandom;

/* Different for every seed, also for neighbours. */
BenchRandom bench_random(uint64_t seed);
uint64_t bench_random_u64(BenchRandom *random);
/* 0 … below - 1 */
uint64_t bench_random_below(BenchRandom *random, uint64_t below);

/* ---- Latencies: 32 buckets for each power of two of nanoseconds, so a percentile is within 3 % ------------ */

enum { BENCH_BUCKETS = 64 * 32 };

typedef struct BenchHistogram {
    uint64_t counts[BENCH_BUCKETS];
    uint64_t total;
} BenchHistogram;

void bench_histogram_add(BenchHistogram *histogram, uint64_t ns);
void bench_histogram_merge(BenchHistogram *into, const BenchHistogram *from);
/* `part` of 1: 0.99 gives p99. 0 when it is empty. */
double bench_histogram_us(const BenchHistogram *histogram, double part);

/* ---- Costs ------------------------------------------------------------------------------------------------ */

typedef struct BenchUsage {
    int64_t cpu_us;
    int64_t written_bytes; /* handed to the file system by write calls */
    int64_t syncs;
} BenchUsage;

/* Of this process; syncs are counted by standing between the program and libc (syncs.c). */
void bench_usage_self(void *unused, BenchUsage *ret_usage);
/* wchar in /proc/PID/io (`pid` as text, "self" too); what has gone meanwhile wrote nothing. Not write_bytes: that counts a
 * whole folio of the page cache when one byte of it turns dirty, twenty times too much for a log with large folios. */
int64_t bench_written_bytes(const char *pid);
int64_t bench_sync_count(void);

/* ---- Loads ------------------------------------------------------------------------------------------------ */

typedef struct BenchLoad {
    int clients;
    int64_t duration_ms; /* stop after this time … */
    uint64_t steps;      /* … or after this many steps together, when it is not 0 */
    void *context;       /* for begin */
    void *(*begin)(void *context, int client); /* a client's state */
    /* One step; returns the units of work it did (1 save, or the cells of a page), 0 for a lost race. */
    uint64_t (*step)(void *state);
    void (*end)(void *state);
    /* A second process whose cost is wanted, or NULL. */
    void (*server_usage)(void *server, BenchUsage *ret_usage);
    void *server;
} BenchLoad;

typedef struct BenchResult {
    uint64_t units;
    uint64_t misses; /* steps that did 0 units */
    double seconds;
    BenchUsage self, server;
    BenchHistogram latency;
} BenchResult;

void bench_run(const BenchLoad *load, BenchResult *ret_result);
/* One line of JSON on standard output. */
void bench_print(const BenchResult *result);

/* ---- Commands --------------------------------------------------------------------------------------------- */

typedef struct BenchCommand {
    const char *name;
    void (*run)(void *context,
                int64_t number); /* the number after the name, 0 when there is none */
} BenchCommand;

/* Obeys until the input ends. `commands` is ended by a NULL name. Each command prints one line. */
void bench_obey(const BenchCommand *commands, void *context);
