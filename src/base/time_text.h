/* time_text.h -- moments as people and scripts write them. Pure. */
#pragma once

#include "base/slice.h"

typedef struct Date {
    int64_t year, month, day; /* months and days from 1 */
} Date;

/* Of a day since 1970-01-01, not before it. (The C library's gmtime_r takes a lock, which every line of a log would wait for.) */
Date date_of_day(int64_t day);

/* 2026-01-31, 2026-01-31T12:00, 2026-01-31T12:00:00, each with or without Z, always UTC; or seconds since 1970. From 1970 to
 * 9999. INVALID otherwise. */
MUST_USE Status time_from_text(Slice text, int64_t *ret_us);
