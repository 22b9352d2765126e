/* clock_guard.c -- see clock_guard.h. */
#include "base/clock_guard.h"

#include <pthread.h>
#include <stdlib.h>

struct ClockGuard {
    Clock clock;
    pthread_mutex_t lock;
    ClockReading trusted;
    size_t others, behind; /* other instances, and those that are more than CLOCK_GUARD_S behind */
};

ClockGuard *clock_guard_new(Clock clock)
{
    ClockGuard *guard = calloc(1, sizeof *guard);
    CHECK(guard != NULL && pthread_mutex_init(&guard->lock, NULL) == 0);
    guard->clock = clock;
    guard->trusted = clock_reading(clock);
    return guard;
}

void clock_guard_free(ClockGuard *guard)
{
    if (guard == NULL)
        return;
    CHECK(pthread_mutex_destroy(&guard->lock) == 0);
    free(guard);
}

void clock_guard_hear(ClockGuard *guard, const int64_t *others_us, size_t count)
{
    int64_t now_us = clock_now_us(guard->clock);
    size_t behind = 0;
    for (size_t i = 0; i < count; i++)
        behind += now_us - others_us[i] > CLOCK_GUARD_S * US_PER_S;
    CHECK(pthread_mutex_lock(&guard->lock) == 0);
    guard->others = count;
    guard->behind = behind;
    CHECK(pthread_mutex_unlock(&guard->lock) == 0);
}

void clock_guard_confirm(ClockGuard *guard)
{
    CHECK(pthread_mutex_lock(&guard->lock) == 0);
    guard->trusted = clock_reading(guard->clock);
    CHECK(pthread_mutex_unlock(&guard->lock) == 0);
}

static ClockGuard copy_of(const ClockGuard *guard)
{
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&guard->lock;
    ClockGuard copy = {.clock = guard->clock};
    CHECK(pthread_mutex_lock(lock) == 0);
    copy.trusted = guard->trusted;
    copy.others = guard->others;
    copy.behind = guard->behind;
    CHECK(pthread_mutex_unlock(lock) == 0);
    return copy;
}

static int64_t stepped_us(const ClockGuard *copy)
{
    ClockReading now = clock_reading(copy->clock);
    return (now.now_us - copy->trusted.now_us) - (now.steady_us - copy->trusted.steady_us);
}

int64_t clock_guard_stepped_s(const ClockGuard *guard)
{
    ClockGuard copy = copy_of(guard);
    return stepped_us(&copy) / US_PER_S;
}

Status clock_guard_check(const ClockGuard *guard, Reason *reason)
{
    if (guard == NULL)
        return STATUS_OK;
    ClockGuard copy = copy_of(guard);
    int64_t us = stepped_us(&copy);
    if (us > CLOCK_GUARD_S * US_PER_S || us < -CLOCK_GUARD_S * US_PER_S)
        return reason_set(reason, STATUS_UNAVAILABLE, "",
                          "the clock of this machine was set %s by %lld minutes: when it is right, "
                          "somebody who runs the site confirms it by `ostraka clock confirm`",
                          us > 0 ? "ahead" : "back",
                          (long long)((us > 0 ? us : -us) / (60 * US_PER_S)));
    if (2 * copy.behind > copy.others)
        return reason_set(reason, STATUS_UNAVAILABLE, "",
                          "the clock of this machine is more than %d minutes ahead of the other "
                          "instances of the site",
                          CLOCK_GUARD_S / 60);
    return STATUS_OK;
}
