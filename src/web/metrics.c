/* metrics.c -- see metrics.h. */
#include "web/metrics.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { CLASSES = 5 }; /* 1xx to 5xx */

static const HistogramKind DURATION = {{100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000,
                                        100000, 250000, 1000000, 5000000, 30000000},
                                       1e6};

typedef struct RouteCounts {
    _Atomic uint64_t by_class[CLASSES];
} RouteCounts;

struct Metrics {
    const WebRoute *routes;
    size_t route_count;
    _Atomic uint64_t buckets[HISTOGRAM_BUCKETS];
    _Atomic uint64_t duration_us;
    _Atomic uint64_t bytes;
    RouteCounts counts[]; /* one more than routes */
};

Metrics *metrics_new(const WebRoute *routes, size_t count)
{
    Metrics *metrics = calloc(1, sizeof *metrics + (count + 1) * sizeof(RouteCounts));
    CHECK(metrics != NULL);
    metrics->routes = routes;
    metrics->route_count = count;
    return metrics;
}

void metrics_free(Metrics *metrics)
{
    free(metrics);
}

static void add(_Atomic uint64_t *counter, uint64_t amount)
{
    atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
}

static uint64_t value_of(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void metrics_count(Metrics *metrics, const MetricsRequest *request)
{
    CHECK(request->route <= metrics->route_count && request->code >= 100 && request->code < 600);
    add(&metrics->counts[request->route].by_class[request->code / 100 - 1], 1);
    add(&metrics->buckets[histogram_bucket(&DURATION, request->duration_us)], 1);
    add(&metrics->duration_us, (uint64_t)request->duration_us);
    add(&metrics->bytes, request->bytes);
}

void metrics_print_head(Buffer *out, const char *name, const char *help, const char *type)
{
    buffer_print(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void print_requests(const Metrics *metrics, Buffer *out)
{
    metrics_print_head(out, "ostraka_http_requests_total", "Answered requests.", "counter");
    for (size_t i = 0; i <= metrics->route_count; i++) {
        bool is_route = i < metrics->route_count;
        for (int class = 0; class < CLASSES; class ++) {
            uint64_t count = value_of(&metrics->counts[i].by_class[class]);
            if (count == 0)
                continue;
            buffer_print(
                out, "ostraka_http_requests_total{method=\"%s\",route=\"%s\",code=\"%dxx\"} %llu\n",
                is_route ? route_method_name(metrics->routes[i].method) : "",
                is_route ? metrics->routes[i].path : "", class + 1, (unsigned long long)count);
        }
    }
}

static void print_durations(const Metrics *metrics, Buffer *out)
{
    Histogram histogram = {.sum = value_of(&metrics->duration_us)};
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        histogram.buckets[i] = value_of(&metrics->buckets[i]);
    metrics_print_head(out, "ostraka_http_request_seconds",
                       "From a request's complete head to the last byte of its answer.",
                       "histogram");
    metrics_print_histogram(out, "ostraka_http_request_seconds", SLICE_EMPTY, &DURATION,
                            &histogram);
}

void metrics_print(const Metrics *metrics, Buffer *out)
{
    print_requests(metrics, out);
    print_durations(metrics, out);
    metrics_print_one(out, "ostraka_http_answer_bytes_total", "Bytes of answers, without heads.",
                      true, (double)value_of(&metrics->bytes));
}

void metrics_print_one(Buffer *out, const char *name, const char *help, bool counter, double value)
{
    metrics_print_head(out, name, help, counter ? "counter" : "gauge");
    if (fabs(value) < 9e15 && value == (double)(int64_t)value)
        buffer_print(out, "%s %lld\n", name, (long long)value);
    else
        buffer_print(out, "%s %.17g\n", name, value);
}

void metrics_print_histogram(Buffer *out, const char *name, Slice labels, const HistogramKind *kind,
                             const Histogram *histogram)
{
    const char *open = labels.size > 0 ? "{" : "", *close = labels.size > 0 ? "}" : "";
    Slice alone = slice_of(labels.data, labels.size > 0 ? labels.size - 1 : 0);
    uint64_t below = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        below += histogram->buckets[i];
        buffer_print(out, "%s_bucket{%.*sle=\"", name, SLICE_ARG(labels));
        if (i < HISTOGRAM_BOUNDS)
            buffer_print(out, "%g", (double)kind->bounds[i] / kind->unit);
        else
            buffer_text(out, "+Inf");
        buffer_print(out, "\"} %llu\n", (unsigned long long)below);
    }
    buffer_print(out, "%s_sum%s%.*s%s %.6f\n", name, open, SLICE_ARG(alone), close,
                 (double)histogram->sum / kind->unit);
    buffer_print(out, "%s_count%s%.*s%s %llu\n", name, open, SLICE_ARG(alone), close,
                 (unsigned long long)below);
}
