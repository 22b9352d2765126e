/* histogram.h -- how often a value fell between which bounds, as Prometheus wants it.
 *
 * A histogram belongs to one thread, or to whoever holds its lock; the kind of its bounds is told with each call. web/metrics.h prints it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { HISTOGRAM_BOUNDS = 14, HISTOGRAM_BUCKETS = HISTOGRAM_BOUNDS + 1 };

typedef struct HistogramKind {
    int64_t bounds[HISTOGRAM_BOUNDS]; /* upper ones, rising; the last bucket has none */
    double unit;                      /* what is printed is the value divided by this */
} HistogramKind;

typedef struct Histogram {
    uint64_t buckets[HISTOGRAM_BUCKETS];
    uint64_t sum;
} Histogram;

static inline size_t histogram_bucket(const HistogramKind *kind, int64_t value)
{
    size_t bucket = 0;
    while (bucket < HISTOGRAM_BOUNDS && value > kind->bounds[bucket])
        bucket++;
    return bucket;
}

/* A value below 0 counts as 0. */
static inline void histogram_add(Histogram *histogram, const HistogramKind *kind, int64_t value)
{
    value = value < 0 ? 0 : value;
    histogram->buckets[histogram_bucket(kind, value)]++;
    histogram->sum += (uint64_t)value;
}
