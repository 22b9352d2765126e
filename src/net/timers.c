/* timers.c -- see timers.h. */
#include "net/timers.h"

#include <stdlib.h>

#include "base/status.h"

void timers_free(Timers *timers)
{
    free(timers->heap);
    *timers = (Timers){0};
}

static void put_at(Timers *timers, size_t place, Timer *timer)
{
    timers->heap[place - 1] = timer;
    timer->place = place;
}

static void rise(Timers *timers, Timer *timer)
{
    size_t place = timer->place;
    while (place > 1 && timers->heap[place / 2 - 1]->at_us > timer->at_us) {
        put_at(timers, place, timers->heap[place / 2 - 1]);
        place /= 2;
    }
    put_at(timers, place, timer);
}

static void sink(Timers *timers, Timer *timer)
{
    size_t place = timer->place;
    while (place * 2 <= timers->count) {
        size_t child = place * 2;
        if (child < timers->count && timers->heap[child]->at_us < timers->heap[child - 1]->at_us)
            child++;
        if (timers->heap[child - 1]->at_us >= timer->at_us)
            break;
        put_at(timers, place, timers->heap[child - 1]);
        place = child;
    }
    put_at(timers, place, timer);
}

void timers_set(Timers *timers, Timer *timer, int64_t at_us)
{
    timer->at_us = at_us;
    if (timer->place == 0) {
        if (timers->count == timers->capacity) {
            timers->capacity = timers->capacity == 0 ? 64 : timers->capacity * 2;
            timers->heap = realloc(timers->heap, timers->capacity * sizeof(Timer *));
            CHECK(timers->heap != NULL);
        }
        put_at(timers, ++timers->count, timer);
    }
    rise(timers, timer);
    sink(timers, timer);
}

void timers_clear(Timers *timers, Timer *timer)
{
    size_t place = timer->place;
    if (place == 0)
        return;
    Timer *last = timers->heap[--timers->count];
    timer->place = 0;
    if (last == timer)
        return;
    put_at(timers, place, last);
    rise(timers, last);
    sink(timers, last);
}

int64_t timers_next_us(const Timers *timers)
{
    return timers->count == 0 ? INT64_MAX : timers->heap[0]->at_us;
}

void timers_run(Timers *timers, int64_t now_us)
{
    while (timers_next_us(timers) <= now_us) {
        Timer *timer = timers->heap[0];
        timers_clear(timers, timer);
        timer->due(timer);
    }
}
