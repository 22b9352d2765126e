/* window_totals.c -- see window_totals.h. */
#include "ranking/window_totals.h"

#include <stdlib.h>

void window_totals_clear(WindowTotals *totals)
{
    free(totals->recent);
    *totals = (WindowTotals){0};
}

static Count *recent_of(WindowTotals *totals)
{
    if (totals->recent == NULL) {
        totals->recent = calloc(1, sizeof *totals->recent);
        CHECK(totals->recent != NULL);
    }
    return totals->recent;
}

void window_totals_change(WindowTotals *totals, int64_t time_us, int64_t change)
{
    totals->total += change;
    if (change != 0)
        count_change(recent_of(totals), time_us, change);
}

static bool has_days(const Count *count)
{
    for (size_t i = 0; i < COUNT_DAYS; i++)
        if (count->days[i] != 0)
            return true;
    return false;
}

static void add_days(WindowTotals *totals, const Count *count, int sign)
{
    Count signed_count = *count;
    if (!has_days(count))
        return;
    signed_count.total = 0; /* the totals has its own */
    for (size_t i = 0; i < COUNT_DAYS; i++)
        signed_count.days[i] *= sign;
    count_add(recent_of(totals), &signed_count);
}

void window_totals_add(WindowTotals *totals, const Count *count, int sign)
{
    totals->total += sign * count->total;
    add_days(totals, count, sign);
}

void window_totals_add_totals(WindowTotals *totals, const WindowTotals *other, int sign)
{
    totals->total += sign * other->total;
    if (other->recent != NULL)
        add_days(totals, other->recent, sign);
}

int64_t window_totals_window(const WindowTotals *totals, uint32_t today, uint32_t days)
{
    if (days == 0)
        return totals->total;
    return totals->recent == NULL ? 0 : count_window(totals->recent, today, days);
}

void window_totals_trim(WindowTotals *totals, uint32_t today)
{
    if (totals->recent != NULL && totals->recent->day + COUNT_DAYS < today) {
        free(totals->recent);
        totals->recent = NULL;
    }
}
