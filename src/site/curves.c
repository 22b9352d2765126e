/* curves.c -- see curves.h. Days are lists of places sorted by policy, replaced whole. What was asked for by a single policy stands in a
 * table of fixed size by hash, as in cards.c. */
#include "site/curves.h"

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
    int64_t read_us; /* by the steady clock */
    bool is_whole;   /* all policies are among them */
    size_t count;
    Place *places; /* by policy; NULL: nothing is known */
} Day;

typedef struct Slot {
    uint64_t policy; /* 0: free */
    uint32_t window, hour;
    Curve curve;
} Slot;

struct Curves {
    App *app;
    int at_once;
    _Atomic int under_way;
    pthread_rwlock_t days_lock; /* guards the next two */
    Day days[CURVE_DAYS];
    uint32_t window;
    pthread_mutex_t locks[LOCKS];
    Slot *slots;
};

Curves *curves_new(App *app, int at_once)
{
    Curves *curves = calloc(1, sizeof *curves);
    CHECK(curves != NULL && pthread_rwlock_init(&curves->days_lock, NULL) == 0);
    curves->app = app;
    curves->at_once = at_once;
    curves->slots = calloc(CURVES_MOST, sizeof *curves->slots);
    CHECK(curves->slots != NULL);
    for (size_t i = 0; i < LOCKS; i++)
        CHECK(pthread_mutex_init(&curves->locks[i], NULL) == 0);
    return curves;
}

void curves_free(Curves *curves)
{
    if (curves == NULL)
        return;
    for (size_t i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&curves->locks[i]);
    for (size_t i = 0; i < CURVE_DAYS; i++)
        free(curves->days[i].places);
    pthread_rwlock_destroy(&curves->days_lock);
    free(curves->slots);
    free(curves);
}

size_t curve_days(uint32_t last, size_t count, uint32_t *ret_hours)
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

static bool enter(Curves *curves)
{
    int before = atomic_load(&curves->under_way);
    while (before < curves->at_once)
        if (atomic_compare_exchange_weak(&curves->under_way, &before, before + 1))
            return true;
    return false;
}

Status curves_history(Curves *curves, const CurveQuestion *question, RankMoment *ret_moments)
{
    if (!enter(curves))
        return STATUS_UNAVAILABLE;
    Status status = ranking_history(curves->app->ranking, &question->query, question->policy,
                                    question->hours, question->count, ret_moments);
    atomic_fetch_sub(&curves->under_way, 1);
    return status;
}

/* ---- The first places of the last days -------------------------------------------------------------------------------- */

static uint32_t last_hour(const Curves *curves)
{
    return (uint32_t)(clock_now_us(curves->app->world.clock) / HOUR_US) - 1;
}

static int by_policy(const void *a, const void *b)
{
    const Place *x = a, *y = b;
    return x->policy < y->policy ? -1 : x->policy > y->policy;
}

static Status read_day(Curves *curves, uint32_t window, uint32_t hour, Day *ret_day)
{
    ARENA_SCOPE Arena *arena = arena_new();
    RankQuery query = {.days = window};
    RankPage page;
    Day day = {.hour = hour, .read_us = clock_steady_us(curves->app->world.clock)};
    TRY(ranking_page_at(curves->app->ranking, &query, hour, 0, CURVES_PLACES, arena, &page));
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
    return hour / DAY_HOURS % CURVE_DAYS;
}

/* Only the caller's thread writes days, so it may look at them without the lock. */
static bool is_fresh(const Curves *curves, uint32_t window, uint32_t hour)
{
    const Day *day = &curves->days[place_of_day(hour)];
    int64_t age_us = clock_steady_us(curves->app->world.clock) - day->read_us;
    return day->places != NULL && day->hour == hour && curves->window == window &&
           age_us < S_PER_DAY * US_PER_S;
}

static void put_day(Curves *curves, uint32_t window, const Day *day)
{
    Day *to = &curves->days[place_of_day(day->hour)];
    pthread_rwlock_wrlock(&curves->days_lock);
    for (size_t i = 0; curves->window != window && i < CURVE_DAYS; i++) {
        free(curves->days[i].places);
        curves->days[i] = (Day){0};
    }
    curves->window = window;
    free(to->places);
    *to = *day;
    pthread_rwlock_unlock(&curves->days_lock);
}

bool curves_refresh(Curves *curves, uint32_t window)
{
    uint32_t hours[CURVE_DAYS];
    size_t count = curve_days(last_hour(curves), CURVE_DAYS, hours);
    Day day;
    while (count > 0 && is_fresh(curves, window, hours[count - 1]))
        count--;
    if (count == 0 || read_day(curves, window, hours[count - 1], &day) != STATUS_OK)
        return false;
    put_day(curves, window, &day);
    return true;
}

/* A day's list may be of an earlier hour of that day, until the next refresh. */
static bool find_in_day(const Day *day, uint64_t policy, CurvePoint *point)
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
static bool find_in_days(Curves *curves, uint32_t window, uint64_t policy, Curve *ret_curve)
{
    Curve curve = *ret_curve;
    pthread_rwlock_rdlock(&curves->days_lock);
    size_t found = 0;
    while (curves->window == window && found < curve.count &&
           find_in_day(&curves->days[place_of_day(curve.points[found].hour)], policy,
                       &curve.points[found]))
        found++;
    pthread_rwlock_unlock(&curves->days_lock);
    if (found == 0 || found + 1 < curve.count)
        return false;
    curve.count = found;
    *ret_curve = curve;
    return true;
}

/* ---- What single policies asked for ------------------------------------------------------------------------------------- */

static size_t slot_of(uint64_t policy)
{
    return (size_t)(policy * UINT64_C(0x9E3779B97F4A7C15) >> (64 - CURVES_BITS));
}

static bool find_in_slots(Curves *curves, uint32_t window, uint64_t policy, Curve *curve)
{
    size_t index = slot_of(policy);
    const Slot *slot = &curves->slots[index];
    uint32_t hour = curve->points[curve->count - 1].hour;
    pthread_mutex_lock(&curves->locks[index % LOCKS]);
    bool found = slot->policy == policy && slot->hour == hour && slot->window == window;
    if (found)
        *curve = slot->curve;
    pthread_mutex_unlock(&curves->locks[index % LOCKS]);
    return found;
}

static Status ask_for_one(Curves *curves, uint32_t window, uint64_t policy, Curve *curve)
{
    uint32_t hours[CURVE_DAYS];
    RankMoment moments[CURVE_DAYS];
    size_t index = slot_of(policy);
    CurveQuestion question = {{.days = window}, policy, hours, curve->count};
    for (size_t i = 0; i < curve->count; i++)
        hours[i] = curve->points[i].hour;
    TRY(curves_history(curves, &question, moments));
    for (size_t i = 0; i < curve->count; i++)
        curve->points[i].rank = moments[i].rank;
    pthread_mutex_lock(&curves->locks[index % LOCKS]);
    curves->slots[index] = (Slot){policy, window, hours[curve->count - 1], *curve};
    pthread_mutex_unlock(&curves->locks[index % LOCKS]);
    return STATUS_OK;
}

Status curves_ranks(Curves *curves, uint32_t window, uint64_t policy, Curve *ret_curve)
{
    Curve curve = {0};
    uint32_t hours[CURVE_DAYS];
    curve.count = curve_days(last_hour(curves), CURVE_DAYS, hours);
    for (size_t i = 0; i < curve.count; i++)
        curve.points[i].hour = hours[i];
    if (!find_in_days(curves, window, policy, &curve) &&
        !find_in_slots(curves, window, policy, &curve))
        TRY(ask_for_one(curves, window, policy, &curve));
    *ret_curve = curve;
    return STATUS_OK;
}
