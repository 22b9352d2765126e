/* notice_counts.h -- how many notices somebody has, for the header of every page.
 *
 * The list is made from all policies that a person has to do with (votes/notices.h): too much work for each page. So the number is
 * kept for NOTICE_COUNT_S seconds, and forgotten at once when the person dismisses something here. At most NOTICE_COUNT_SLOTS people
 * are kept; two that meet in one place take turns. Calls may come from any thread. */
#pragma once

#include "base/world.h"

typedef struct NoticeCounts NoticeCounts;

enum { NOTICE_COUNT_S = 30, NOTICE_COUNT_BITS = 14, NOTICE_COUNT_SLOTS = 1 << NOTICE_COUNT_BITS };

NoticeCounts *notice_counts_new(Clock clock);
void notice_counts_free(NoticeCounts *counts);
/* False: not known, or too old. */
bool notice_counts_find(NoticeCounts *counts, uint64_t account, size_t *ret_count);
void notice_counts_put(NoticeCounts *counts, uint64_t account, size_t count);
void notice_counts_forget(NoticeCounts *counts, uint64_t account);
