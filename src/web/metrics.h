/* metrics.h -- what the server counts, and how it is printed for Prometheus.
 *
 * Counting is a few relaxed atomic additions, so that /metrics costs the requests next to nothing. Per route and class
 * of status there is a counter, over all routes one histogram of durations. */
#pragma once

#include "base/bytes.h"
#include "base/histogram.h"
#include "web/route.h"

typedef struct Metrics Metrics;

/* One of these per answered request. */
typedef struct MetricsRequest {
    size_t route; /* index in the table, or the table's size for requests that found none */
    int code;
    int64_t duration_us;
    size_t bytes;
} MetricsRequest;

Metrics *metrics_new(const WebRoute *routes, size_t count);
void metrics_free(Metrics *metrics);
void metrics_count(Metrics *metrics, const MetricsRequest *request);
void metrics_print(const Metrics *metrics, Buffer *out);

/* One line of HELP, one of TYPE and one of value, for metrics without labels. */
void metrics_print_one(Buffer *out, const char *name, const char *help, bool counter, double value);
/* The lines of HELP and TYPE, once for a name; `type` is counter, gauge or histogram. */
void metrics_print_head(Buffer *out, const char *name, const char *help, const char *type);
/* The lines of one histogram, below its head. `labels` is empty or ends with a comma: `group="main",`. */
void metrics_print_histogram(Buffer *out, const char *name, Slice labels, const HistogramKind *kind,
                             const Histogram *histogram);
