/* window_totals.h -- sums of counts that keep days only where something happened. */
#pragma once

#include "ranking/ranking_index.h"

void window_totals_clear(WindowTotals *totals);
void window_totals_change(WindowTotals *totals, int64_t time_us, int64_t change);
/* Adds, or with sign -1 takes away. */
void window_totals_add(WindowTotals *totals, const Count *count, int sign);
void window_totals_add_totals(WindowTotals *totals, const WindowTotals *other, int sign);
int64_t window_totals_window(const WindowTotals *totals, uint32_t today, uint32_t days);
/* Gives days back that no window up to `today` can see. */
void window_totals_trim(WindowTotals *totals, uint32_t today);
