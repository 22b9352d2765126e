/* time_text.h -- moments as people and scripts write them. Pure. */
#pragma once

#include "base/slice.h"

/* A moment in parts, UTC; months and days from 1. */
typedef struct Utc {
    int year, month, day, hour, minute, second;
} Utc;

#define TIME_MAX_US INT64_C(253402300799999999) /* the end of the year 9999 */

/* Times outside of 1970 to 9999 become the nearest inside. (The C library's gmtime_r takes a lock, which every line of a log would
 * wait for.) */
Utc utc_of(int64_t us);
/* "January" … for 1 to 12. */
const char *month_name(int month);
/* So many digits, with zeros in front; returns where the next character goes. */
char *put_digits(char *to, int64_t number, int width);
/* 2026-01-31T12:00:00, in 19 bytes plus NUL. */
enum { UTC_TEXT = 20 };
void utc_text(Utc utc, char to[UTC_TEXT]);

/* 2026-01-31, 2026-01-31T12:00, 2026-01-31T12:00:00, each with or without Z, always UTC; or seconds since 1970. From 1970 to
 * 9999. INVALID otherwise. */
MUST_USE Status time_from_text(Slice text, int64_t *ret_us);
