/* rank_cache.c -- see rank_cache.h. Days are lists of places sorted by policy, replaced whole. What was asked for by a single policy stands in a
 * table of fixed size by hash, as in policy_summary.c. */
#include "operations/rank_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { LOCKS = 64 };

typedef struct Place {
    uint64_t policy, rank;
} Place;

/* The first places at the end of an hour. */
typedef struct Day {
    uint32_t hour;
    ClockReading read_at;
    bool is_whole; /* all policies are among them */
    size_t count;
    Place *places; /* by policy; NULL: nothing is known */
} Day;

typedef struct Slot {
    uint64_t policy; /* 0: free */
    uint32_t window, hour;
    RankCurve curve;
} Slot;

struct RankCache {
    App *app;
    int at_once;
    _Atomic int under_way;
    pthread_rwlock_t days_lock; /* guards the next two */
    Day days[RANK_CURVE_DAYS];
    uint32_t window;
    pthread_mutex_t locks[LOCKS];
    Slot *slots;
};

RankCache *rank_cache_new(App *app, const Config *config)
{
    RankCache *rank_cache = calloc(1, sizeof *rank_cache);
    CHECK(rank_cache != NULL && pthread_rwlock_init(&rank_cache->days_lock, NULL) == 0);
    rank_cache->app = app;
    rank_cache->at_once = config->web_threads < 4 ? 1 : (int)config->web_threads / 2;
    rank_cache->slots = calloc(RANK_CACHE_MAX, sizeof *rank_cache->slots);
    CHECK(rank_cache->slots != NULL);
    for (size_t i = 0; i < LOCKS; i++)
        CHECK(pthread_mutex_init(&rank_cache->locks[i], NULL) == 0);
    return rank_cache;
}

void rank_cache_free(RankCache *rank_cache)
{
    if (rank_cache == NULL)
        return;
    for (size_t i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&rank_cache->locks[i]);
    for (size_t i = 0; i < RANK_CURVE_DAYS; i++)
        free(rank_cache->days[i].places);
    pthread_rwlock_destroy(&rank_cache->days_lock);
    free(rank_cache->slots);
    free(rank_cache);
}

size_t rank_curve_days(uint32_t last, size_t count, uint32_t *ret_hours)
{
    uint32_t today = last / DAY_HOURS;
    if (count > (size_t)today + 1)
        count = (size_t)today + 1;
    for (size_t i = 0; i < count; i++) {
        uint32_t day = today - (uint32_t)(count - 1 - i);
        ret_hours[i] = day == today ? last : day * DAY_HOURS + DAY_HOURS - 1;
    }
    return count;
}

/* ---- Few at a time ------------------------------------------------------------------------------------------------- */

static bool enter(RankCache *rank_cache)
{
    int before = atomic_load(&rank_cache->under_way);
    while (before < rank_cache->at_once)
        if (atomic_compare_exchange_weak(&rank_cache->under_way, &before, before + 1))
            return true;
    return false;
}

Status rank_cache_history(RankCache *rank_cache, const RankHistoryQuery *question,
                          RankMoment *ret_moments)
{
    if (!enter(rank_cache))
        return STATUS_UNAVAILABLE;
    Status status = ranking_history(rank_cache->app->ranking, &question->query, question->policy,
                                    question->hours, question->count, ret_moments);
    atomic_fetch_sub(&rank_cache->under_way, 1);
    return status;
}

/* ---- The first places of the last days -------------------------------------------------------------------------------- */

static uint32_t last_hour(const RankCache *rank_cache)
{
    return (uint32_t)(clock_now_us(rank_cache->app->world.clock) / HOUR_US) - 1;
}

static int by_policy(const void *a, const void *b)
{
    const Place *x = a, *y = b;
    return x->policy < y->policy ? -1 : x->policy > y->policy;
}

static Status read_day(RankCache *rank_cache, uint32_t window, uint32_t hour, Day *ret_day)
{
    ARENA_SCOPE Arena *arena = arena_new();
    RankQuery query = {.days = window};
    RankPage page;
    Day day = {.hour = hour, .read_at = clock_reading(rank_cache->app->world.clock)};
    TRY(ranking_page_at(rank_cache->app->ranking, &query, hour, 0, RANK_CACHE_PLACES, arena,
                        &page));
    day.is_whole = page.policies <= page.count;
    day.count = page.count;
    day.places = calloc(page.count + 1, sizeof *day.places);
    CHECK(day.places != NULL);
    for (size_t i = 0; i < page.count; i++)
        day.places[i] = (Place){page.rows[i].policy, page.rows[i].rank};
    qsort(day.places, day.count, sizeof *day.places, by_policy);
    *ret_day = day;
    return STATUS_OK;
}

/* A day has its place by its number, so that tomorrow takes the place of the oldest. */
static size_t place_of_day(uint32_t hour)
{
    return hour / DAY_HOURS % RANK_CURVE_DAYS;
}

/* Only the caller's thread writes days, so it may look at them without the lock. */
static bool is_fresh(const RankCache *rank_cache, uint32_t window, uint32_t hour)
{
    const Day *day = &rank_cache->days[place_of_day(hour)];
    int64_t age_us = clock_age_us(rank_cache->app->world.clock, day->read_at);
    return day->places != NULL && day->hour == hour && rank_cache->window == window &&
           age_us < S_PER_DAY * US_PER_S;
}

static void put_day(RankCache *rank_cache, uint32_t window, const Day *day)
{
    Day *to = &rank_cache->days[place_of_day(day->hour)];
    pthread_rwlock_wrlock(&rank_cache->days_lock);
    for (size_t i = 0; rank_cache->window != window && i < RANK_CURVE_DAYS; i++) {
        free(rank_cache->days[i].places);
        rank_cache->days[i] = (Day){0};
    }
    rank_cache->window = window;
    free(to->places);
    *to = *day;
    pthread_rwlock_unlock(&rank_cache->days_lock);
}

bool rank_cache_refresh(RankCache *rank_cache, uint32_t window)
{
    uint32_t hours[RANK_CURVE_DAYS];
    size_t count = rank_curve_days(last_hour(rank_cache), RANK_CURVE_DAYS, hours);
    Day day;
    while (count > 0 && is_fresh(rank_cache, window, hours[count - 1]))
        count--;
    if (count == 0 || read_day(rank_cache, window, hours[count - 1], &day) != STATUS_OK)
        return false;
    put_day(rank_cache, window, &day);
    return true;
}

/* A day's list may be of an earlier hour of that day, until the next refresh. */
static bool find_in_day(const Day *day, uint64_t policy, RankCurvePoint *point)
{
    Place key = {.policy = policy};
    if (day->places == NULL || day->hour / DAY_HOURS != point->hour / DAY_HOURS)
        return false;
    const Place *found = bsearch(&key, day->places, day->count, sizeof key, by_policy);
    point->hour = day->hour;
    point->rank = found != NULL ? found->rank : 0;
    return found != NULL || day->is_whole;
}

/* False when a day is not known, or the policy is not among its places though others are left out. A day that has just begun may be
 * missing. */
static bool find_in_days(RankCache *rank_cache, uint32_t window, uint64_t policy,
                         RankCurve *ret_curve)
{
    RankCurve curve = *ret_curve;
    pthread_rwlock_rdlock(&rank_cache->days_lock);
    size_t found = 0;
    while (rank_cache->window == window && found < curve.count &&
           find_in_day(&rank_cache->days[place_of_day(curve.points[found].hour)], policy,
                       &curve.points[found]))
        found++;
    pthread_rwlock_unlock(&rank_cache->days_lock);
    if (found == 0 || found + 1 < curve.count)
        return false;
    curve.count = found;
    *ret_curve = curve;
    return true;
}

/* ---- What single policies asked for ------------------------------------------------------------------------------------- */

static size_t slot_of(uint64_t policy)
{
    return (size_t)(policy * UINT64_C(0x9E3779B97F4A7C15) >> (64 - RANK_CACHE_BITS));
}

static bool find_in_slots(RankCache *rank_cache, uint32_t window, uint64_t policy, RankCurve *curve)
{
    size_t index = slot_of(policy);
    const Slot *slot = &rank_cache->slots[index];
    uint32_t hour = curve->points[curve->count - 1].hour;
    pthread_mutex_lock(&rank_cache->locks[index % LOCKS]);
    bool found = slot->policy == policy && slot->hour == hour && slot->window == window;
    if (found)
        *curve = slot->curve;
    pthread_mutex_unlock(&rank_cache->locks[index % LOCKS]);
    return found;
}

static Status ask_for_one(RankCache *rank_cache, uint32_t window, uint64_t policy, RankCurve *curve)
{
    uint32_t hours[RANK_CURVE_DAYS];
    RankMoment moments[RANK_CURVE_DAYS];
    size_t index = slot_of(policy);
    RankHistoryQuery question = {{.days = window}, policy, hours, curve->count};
    for (size_t i = 0; i < curve->count; i++)
        hours[i] = curve->points[i].hour;
    TRY(rank_cache_history(rank_cache, &question, moments));
    for (size_t i = 0; i < curve->count; i++)
        curve->points[i].rank = moments[i].rank;
    pthread_mutex_lock(&rank_cache->locks[index % LOCKS]);
    rank_cache->slots[index] = (Slot){policy, window, hours[curve->count - 1], *curve};
    pthread_mutex_unlock(&rank_cache->locks[index % LOCKS]);
    return STATUS_OK;
}

Status rank_cache_ranks(RankCache *rank_cache, uint32_t window, uint64_t policy,
                        RankCurve *ret_curve)
{
    RankCurve curve = {0};
    uint32_t hours[RANK_CURVE_DAYS];
    curve.count = rank_curve_days(last_hour(rank_cache), RANK_CURVE_DAYS, hours);
    for (size_t i = 0; i < curve.count; i++)
        curve.points[i].hour = hours[i];
    if (!find_in_days(rank_cache, window, policy, &curve) &&
        !find_in_slots(rank_cache, window, policy, &curve))
        TRY(ask_for_one(rank_cache, window, policy, &curve));
    *ret_curve = curve;
    return STATUS_OK;
}
