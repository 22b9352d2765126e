/* tally.h -- sums of counts that keep days only where something happened. */
#pragma once

#include "ranking/book.h"

void tally_clear(Tally *tally);
void tally_change(Tally *tally, int64_t time_us, int64_t change);
/* Adds, or with sign -1 takes away. */
void tally_add(Tally *tally, const Count *count, int sign);
void tally_add_tally(Tally *tally, const Tally *other, int sign);
int64_t tally_window(const Tally *tally, uint32_t today, uint32_t days);
/* Gives days back that no window up to `today` can see. */
void tally_trim(Tally *tally, uint32_t today);
