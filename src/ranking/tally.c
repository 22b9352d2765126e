/* tally.c -- see tally.h. */
#include "ranking/tally.h"

#include <stdlib.h>

void tally_clear(Tally *tally)
{
    free(tally->recent);
    *tally = (Tally){0};
}

static Count *recent_of(Tally *tally)
{
    if (tally->recent == NULL) {
        tally->recent = calloc(1, sizeof *tally->recent);
        CHECK(tally->recent != NULL);
    }
    return tally->recent;
}

void tally_change(Tally *tally, int64_t time_us, int64_t change)
{
    tally->total += change;
    if (change != 0)
        count_change(recent_of(tally), time_us, change);
}

static bool has_days(const Count *count)
{
    for (size_t i = 0; i < COUNT_DAYS; i++)
        if (count->days[i] != 0)
            return true;
    return false;
}

static void add_days(Tally *tally, const Count *count, int sign)
{
    Count signed_count = *count;
    if (!has_days(count))
        return;
    signed_count.total = 0; /* the tally has its own */
    for (size_t i = 0; i < COUNT_DAYS; i++)
        signed_count.days[i] *= sign;
    count_add(recent_of(tally), &signed_count);
}

void tally_add(Tally *tally, const Count *count, int sign)
{
    tally->total += sign * count->total;
    add_days(tally, count, sign);
}

void tally_add_tally(Tally *tally, const Tally *other, int sign)
{
    tally->total += sign * other->total;
    if (other->recent != NULL)
        add_days(tally, other->recent, sign);
}

int64_t tally_window(const Tally *tally, uint32_t today, uint32_t days)
{
    if (days == 0)
        return tally->total;
    return tally->recent == NULL ? 0 : count_window(tally->recent, today, days);
}

void tally_trim(Tally *tally, uint32_t today)
{
    if (tally->recent != NULL && tally->recent->day + COUNT_DAYS < today) {
        free(tally->recent);
        tally->recent = NULL;
    }
}
