/* timers.h -- moments at which something is due: a heap, earliest first. For one thread.
 *
 * A Timer is part of what waits for it (OWNER_OF finds the whole), so setting one allocates nothing but the heap's growth. A timer
 * that is due is cleared before its function runs, which may set it again. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The struct that `pointer` is the given member of. */
#define OWNER_OF(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

typedef struct Timer {
    void (*due)(struct Timer *timer);
    int64_t at_us;
    size_t place; /* in the heap, from 1; 0: not set */
} Timer;

typedef struct Timers {
    Timer **heap;
    size_t count, capacity;
} Timers;

void timers_free(Timers *timers);
/* Sets it, or moves it when it is set. */
void timers_set(Timers *timers, Timer *timer, int64_t at_us);
/* Not set is fine. */
void timers_clear(Timers *timers, Timer *timer);
/* When the first is due; INT64_MAX: none is set. */
int64_t timers_next_us(const Timers *timers);
/* Runs what is due by now. */
void timers_run(Timers *timers, int64_t now_us);

static inline bool timer_is_set(const Timer *timer)
{
    return timer->place != 0;
}
