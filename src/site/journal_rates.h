/* journal_rates.h -- how much goes through each journal, minute by minute over the last hour: for the charts of the admins' page. In memory, since
 * the start; the totals of the journals themselves are what lasts. */
#pragma once

#include "draw/charts.h"
#include "site/site.h"

enum { JOURNAL_RATE_MINUTES = 60 };

typedef struct JournalRates JournalRates;

JournalRates *journal_rates_new(Site *site);
void journal_rates_free(JournalRates *rates);
/* By the site's own thread, several times a second; looks once a minute. */
void journal_rates_tick(JournalRates *rates);

typedef struct JournalRate {
    ChartPoint *points;
    size_t count;
    int64_t last; /* of the last whole minute */
} JournalRate;
typedef struct JournalRateView {
    JournalRate puts, ends; /* entries that were put, and done; no points before two looks */
} JournalRateView;
JournalRateView journal_rates_view(JournalRates *rates, Slice journal, Arena *arena);
