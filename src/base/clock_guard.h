/* clock_guard.h -- whether the wall clock may date what cannot be undone.
 *
 * A move of a policy dated far ahead refuses every later save of whoever holds votes there, until that time has come. So no move is made
 *   1. while the wall clock has stepped by more than CLOCK_GUARD_S against the steady one since the process started, or since somebody
 *      confirmed the time that it shows: nobody knows which of the two times was right;
 *   2. while it is more than CLOCK_GUARD_S ahead of most other live instances, as their heartbeats say.
 * Not promised: that a clock which was wrong when the only instance started is found out. All calls may come from any thread. */
#pragma once

#include "base/world.h"

enum { CLOCK_GUARD_S = 600 };

typedef struct ClockGuard ClockGuard;

ClockGuard *clock_guard_new(Clock clock);
void clock_guard_free(ClockGuard *guard);
/* What the clocks of the other live instances say, as of now. */
void clock_guard_hear(ClockGuard *guard, const int64_t *others_us, size_t count);
/* Somebody looked: the time that the wall clock shows now is right. */
void clock_guard_confirm(ClockGuard *guard);
/* How far the wall clock has stepped since the start, or since that; in seconds, below zero: back. */
int64_t clock_guard_stepped_s(const ClockGuard *guard);
/* UNAVAILABLE, with what to do. NULL: nobody watches, OK. */
MUST_USE Status clock_guard_check(const ClockGuard *guard, Reason *reason);
