/* yesterday.h -- the ranks of a day ago, for the small arrows beside a rank.
 *
 * Two rankings of the hour that ended a day ago, that of the window in force now and that of all votes, as a table from policy to rank;
 * read once an hour, and when the window changes; replaced whole. Before the first one, and for other rankings (a category, another window), nothing is said. */
#pragma once

#include "operations/policy_summary.h"

enum { YESTERDAY_MAX = 10000 }; /* places that are kept; arrows below them interest nobody */

typedef struct Yesterday Yesterday;

Yesterday *yesterday_new(App *app);
void yesterday_free(Yesterday *yesterday);
/* OK also when the ranks of that hour are known already. */
MUST_USE Status yesterday_refresh(Yesterday *yesterday);
/* Sets has_change, change and is_new of a summary whose rank is set. */
void yesterday_compare(Yesterday *yesterday, const RankQuery *query, PolicySummary *summary);
