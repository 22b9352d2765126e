/* timer.h -- sleeping until somebody calls, a date of the wall clock comes, or a moment of the clock that cannot be set.
 *
 * Setting the wall clock ends the sleep at once, in whichever direction. */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Timer {
    int event, wall, boot;
    int64_t wall_ms, boot_ms; /* what the two are set to */
} Timer;

/* `still`: only calls end the sleep. */
MUST_USE Status timer_open(Timer *timer, bool still, Reason *reason);
void timer_close(Timer *timer);
void timer_call(const Timer *timer);
/* INT64_MAX: not. */
void timer_sleep(Timer *timer, int64_t wall_ms, int64_t boot_ms);
