/* shim.c -- what libfault.so offers to the program itself (fault.h). */
#include "real.h"
#include "watch.h"

static uint64_t api_count(unsigned kinds)
{
    watch_lock();
    uint64_t count = plan_count(kinds);
    watch_unlock();
    return count;
}

static uint64_t api_injected(void)
{
    watch_lock();
    uint64_t count = plan_injected();
    watch_unlock();
    return count;
}

static void api_fail_from_now(unsigned kinds, int error)
{
    watch_lock();
    plan_fail_from_now(kinds, error);
    watch_unlock();
}

static void api_clear(void)
{
    watch_lock();
    plan_clear();
    watch_unlock();
}

static void api_cut(void)
{
    watch_lock();
    watch_cut();
}

extern const FaultApi fault_api_table;
EXPORT const FaultApi fault_api_table = {
    .count = api_count,
    .injected = api_injected,
    .fail_from_now = api_fail_from_now,
    .clear = api_clear,
    .cut = api_cut,
};
