/* compress.h -- bytes in gzip and Brotli, for answers that are sent many times. Pure. */
#pragma once

#include "base/bytes.h"
#include "web/http_rules.h"

/* Levels that take about a millisecond for a page of 30 KiB. False, and nothing in `out`, when the result would not be smaller.
 * HTTP_IDENTITY is a bug. */
bool compress_to(HttpEncoding encoding, Slice plain, Buffer *out);
