/* timer.c -- see timer.h. An eventfd and two timerfds; the wall's is cancelled by the kernel when the clock is set. */
#include "journal/timer.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* A timer that is far away is set all the same: only one that is set is cancelled when the clock is. */
#define FAR_MS INT64_C(7258118400000) /* the year 2200 */

Status timer_open(Timer *timer, bool still, Reason *reason)
{
    *timer = (Timer){.wall = -1, .boot = -1, .wall_ms = -1, .boot_ms = -1};
    timer->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (timer->event >= 0 && still)
        return STATUS_OK;
    if (timer->event >= 0)
        timer->wall = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (timer->wall >= 0)
        timer->boot = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (timer->boot >= 0)
        return STATUS_OK;
    Status status = reason_set(reason, STATUS_UNAVAILABLE, NULL, "no timer: %s", strerror(errno));
    timer_close(timer);
    return status;
}

void timer_close(Timer *timer)
{
    const int fds[] = {timer->event, timer->wall, timer->boot};
    for (size_t i = 0; i < 3; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

void timer_call(const Timer *timer)
{
    uint64_t one = 1;
    ssize_t wrote = write(timer->event, &one, sizeof one);
    CHECK(wrote == sizeof one || errno == EAGAIN); /* the sleeper has been called often enough */
}

static void set(int fd, int flags, int64_t ms)
{
    struct itimerspec at = {.it_value = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}};
    if (ms <= 0)
        at.it_value.tv_nsec = 1; /* zero would switch it off */
    CHECK(timerfd_settime(fd, flags, &at, NULL) == 0);
}

/* What has fired has to be set again. */
static bool drain(int fd)
{
    uint64_t count;
    ssize_t got = fd < 0 ? -1 : read(fd, &count, sizeof count);
    return got == sizeof count || (fd >= 0 && errno == ECANCELED);
}

void timer_sleep(Timer *timer, int64_t wall_ms, int64_t boot_ms)
{
    struct pollfd fds[3] = {
        {timer->event, POLLIN, 0}, {timer->wall, POLLIN, 0}, {timer->boot, POLLIN, 0}};
    wall_ms = wall_ms < FAR_MS ? wall_ms : FAR_MS;
    boot_ms = boot_ms < FAR_MS ? boot_ms : FAR_MS;
    if (timer->wall >= 0 && wall_ms != timer->wall_ms)
        set(timer->wall, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, wall_ms);
    if (timer->boot >= 0 && boot_ms != timer->boot_ms)
        set(timer->boot, TFD_TIMER_ABSTIME, boot_ms);
    timer->wall_ms = wall_ms;
    timer->boot_ms = boot_ms;
    if (poll(fds, timer->wall >= 0 ? 3 : 1, -1) < 0)
        CHECK(errno == EINTR);
    drain(timer->event);
    if (fds[1].revents != 0 && drain(timer->wall))
        timer->wall_ms = -1;
    if (fds[2].revents != 0 && drain(timer->boot))
        timer->boot_ms = -1;
}
