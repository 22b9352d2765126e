/* curves.c -- see curves.h. A table of fixed size by hash of the policy, as in cards.c; each slot holds its curve itself. */
#include "site/curves.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { LOCKS = 64, WAIT_STEP_MS = 10 };

typedef struct Slot {
    uint64_t policy; /* 0: free */
    RankQuery query;
    uint32_t hour; /* the last one that was over */
    Curve curve;
} Slot;

struct Curves {
    App *app;
    _Atomic int under_way;
    pthread_mutex_t locks[LOCKS];
    Slot *slots;
};

Curves *curves_new(App *app)
{
    Curves *curves = calloc(1, sizeof *curves);
    CHECK(curves != NULL);
    curves->app = app;
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

static bool enter(Curves *curves, int64_t wait_ms)
{
    for (;; wait_ms -= WAIT_STEP_MS) {
        int before = atomic_load(&curves->under_way);
        while (before < CURVES_AT_ONCE)
            if (atomic_compare_exchange_weak(&curves->under_way, &before, before + 1))
                return true;
        if (wait_ms <= 0)
            return false;
        clock_sleep_us(curves->app->world.clock, WAIT_STEP_MS * US_PER_MS);
    }
}

static Status ask(Curves *curves, const CurveQuestion *question, int64_t wait_ms,
                  RankMoment *ret_moments)
{
    if (!enter(curves, wait_ms))
        return STATUS_UNAVAILABLE;
    Status status = ranking_history(curves->app->ranking, &question->query, question->policy,
                                    question->hours, question->count, ret_moments);
    atomic_fetch_sub(&curves->under_way, 1);
    return status;
}

Status curves_history(Curves *curves, const CurveQuestion *question, RankMoment *ret_moments)
{
    return ask(curves, question, CURVES_WAIT_MS, ret_moments);
}

/* ---- Kept ranks ------------------------------------------------------------------------------------------------------ */

static size_t slot_of(uint64_t policy)
{
    return (policy * UINT64_C(0x9E3779B97F4A7C15) >> 32) % CURVES_MOST;
}

static bool is_for(const Slot *slot, const RankQuery *query, uint64_t policy, uint32_t hour)
{
    return slot->policy == policy && slot->hour == hour && slot->query.days == query->days &&
           slot->query.category == query->category && slot->query.party == query->party;
}

Status curves_ranks(Curves *curves, const RankQuery *query, uint64_t policy, Curve *ret_curve)
{
    uint32_t hour = (uint32_t)(clock_now_us(curves->app->world.clock) / HOUR_US) - 1;
    size_t index = slot_of(policy);
    pthread_mutex_t *lock = &curves->locks[index % LOCKS];
    Slot *slot = &curves->slots[index];
    uint32_t hours[CURVE_DAYS];
    Slot fresh = {.policy = policy, .query = *query, .hour = hour};

    pthread_mutex_lock(lock);
    bool found = is_for(slot, query, policy, hour);
    if (found)
        *ret_curve = slot->curve;
    pthread_mutex_unlock(lock);
    if (found)
        return STATUS_OK;
    fresh.curve.count = curve_days(hour, CURVE_DAYS, hours);
    CurveQuestion question = {*query, policy, hours, fresh.curve.count};
    TRY(ask(curves, &question, 0, fresh.curve.moments));
    pthread_mutex_lock(lock);
    *slot = fresh;
    pthread_mutex_unlock(lock);
    *ret_curve = fresh.curve;
    return STATUS_OK;
}
