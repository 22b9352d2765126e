/* journal_metrics.h -- the figures of the journals for /metrics. */
#pragma once

#include "app/app.h"
#include "base/bytes.h"

void journal_metrics_print(App *app, Buffer *out);
