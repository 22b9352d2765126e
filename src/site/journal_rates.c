/* journal_rates.c -- see journal_rates.h. For each journal a ring of its totals as they were at each full minute. */
#include "site/journal_rates.h"

#include <pthread.h>
#include <stdlib.h>

#include "journal/journal.h"
#include "site/site_private.h"

enum { LOOKS = JOURNAL_RATE_MINUTES + 1, MINUTE_S = 60 };

typedef struct Look {
    int64_t minute; /* since 1970; 0: there was none */
    uint64_t puts, ends;
} Look;

typedef struct Rated {
    struct Rated *next;
    Look looks[LOOKS]; /* minute modulo LOOKS */
    Slice name;
    char text[];
} Rated;

struct JournalRates {
    Site *site;
    int64_t minute; /* of the last look */
    pthread_mutex_t lock;
    Rated *first;
};

JournalRates *journal_rates_new(Site *site)
{
    JournalRates *rates = calloc(1, sizeof *rates);
    CHECK(rates != NULL && pthread_mutex_init(&rates->lock, NULL) == 0);
    rates->site = site;
    return rates;
}

static void free_older(Rated **link, int64_t minute)
{
    while (*link != NULL) {
        Rated *rated = *link;
        bool is_old = true;
        for (size_t i = 0; i < LOOKS; i++)
            is_old &= rated->looks[i].minute + LOOKS < minute;
        if (is_old) {
            *link = rated->next;
            free(rated);
        } else {
            link = &rated->next;
        }
    }
}

void journal_rates_free(JournalRates *rates)
{
    if (rates == NULL)
        return;
    free_older(&rates->first, INT64_MAX);
    pthread_mutex_destroy(&rates->lock);
    free(rates);
}

static Rated *find(JournalRates *rates, Slice name)
{
    Rated *rated = rates->first;
    while (rated != NULL && !slice_equal(rated->name, name))
        rated = rated->next;
    return rated;
}

static Rated *find_or_make(JournalRates *rates, Slice name)
{
    Rated *rated = find(rates, name);
    if (rated != NULL)
        return rated;
    rated = calloc(1, sizeof *rated + name.size);
    CHECK(rated != NULL);
    memcpy(rated->text, name.data, name.size);
    rated->name = slice_of(rated->text, name.size);
    rated->next = rates->first;
    rates->first = rated;
    return rated;
}

static void look(JournalRates *rates, int64_t minute)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Journals *journals;
    Slice *names;
    size_t count;
    if (app_journals(rates->site->app, &journals, NULL) != STATUS_OK ||
        journal_names(journals, arena, &names, &count, NULL) != STATUS_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        JournalStats stats;
        if (journal_stats(journals, names[i], &stats, NULL) != STATUS_OK)
            continue;
        pthread_mutex_lock(&rates->lock);
        find_or_make(rates, names[i])->looks[minute % LOOKS] =
            (Look){minute, journal_puts(&stats), stats.counters[JOURNAL_COUNT_DONE]};
        pthread_mutex_unlock(&rates->lock);
    }
    pthread_mutex_lock(&rates->lock);
    free_older(&rates->first, minute);
    pthread_mutex_unlock(&rates->lock);
}

void journal_rates_tick(JournalRates *rates)
{
    int64_t minute = clock_now_us(rates->site->app->world.clock) / US_PER_S / MINUTE_S;
    if (minute == rates->minute)
        return;
    rates->minute = minute;
    look(rates, minute);
}

/* A minute's figure is the difference of two looks. */
static void add_point(JournalRate *rate, int64_t minute, uint64_t before, uint64_t after)
{
    int64_t value = after > before ? (int64_t)(after - before) : 0;
    rate->points[rate->count++] =
        (ChartPoint){.time_us = (minute - 1) * MINUTE_S * US_PER_S, .value = value};
    rate->last = value;
}

JournalRateView journal_rates_view(JournalRates *rates, Slice journal, Arena *arena)
{
    JournalRateView view = {.puts.points = ARENA_ARRAY(arena, LOOKS, ChartPoint),
                            .ends.points = ARENA_ARRAY(arena, LOOKS, ChartPoint)};
    pthread_mutex_lock(&rates->lock);
    const Rated *rated = find(rates, journal);
    int64_t now = clock_now_us(rates->site->app->world.clock) / US_PER_S / MINUTE_S;
    for (int64_t minute = now - LOOKS + 2; rated != NULL && minute <= now; minute++) {
        const Look *before = &rated->looks[(minute - 1) % LOOKS],
                   *after = &rated->looks[minute % LOOKS];
        if (before->minute != minute - 1 || after->minute != minute)
            continue;
        add_point(&view.puts, minute, before->puts, after->puts);
        add_point(&view.ends, minute, before->ends, after->ends);
    }
    pthread_mutex_unlock(&rates->lock);
    return view;
}
