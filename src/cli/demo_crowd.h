/* demo_crowd.h -- a made-up electorate that lives through days of a site: registers, writes policies, votes, quarrels.
 *
 * Everything is done by the operations of the site, at the time of the crowd's own clock, hour by hour, in one thread.
 *   1. The same plan on an empty store gives the same ledger: ids, versions, times, votes. Luck comes from the seed alone.
 *   2. Nothing is later than `until_us`.
 *   3. It is alive: people come in the first day and then steadily; they vote by day more than by night; a few policies have most of
 *      the votes, and which ones changes; some are merged, retired, hidden, edited.
 * Not promised: that all policies come to be: each costs its creator what creating costs, and a short time may not earn it. */
#pragma once

#include <stdatomic.h>

#include "app/app.h"

enum { DEMO_VOTERS_MAX = 10000000, DEMO_POLICIES_MAX = 100000, DEMO_DAYS_MAX = 3650 };

typedef struct DemoPlan {
    uint64_t voters; /* at least 1 */
    uint64_t policies;
    uint32_t days; /* at least 1 */
    uint64_t seed;
    int64_t until_us; /* the end of an hour */
} DemoPlan;

/* The machine's disk, with a time and a luck of the crowd's own. Both clocks follow that time, so that none of its hours looks like a clock
 * that was set. */
typedef struct DemoWorld {
    _Atomic int64_t now_us; /* the store reads it, too */
    int64_t began_us;
    _Atomic uint64_t luck;
    World real;
} DemoWorld;

/* Begins at the plan's beginning; `own` must outlive what it is passed to. */
World demo_world(DemoWorld *own, World real, const DemoPlan *plan);

typedef struct DemoSummary {
    uint64_t voters, policies, saves, refused, merged, retired, hidden, edited;
} DemoSummary;

typedef struct DemoRun {
    App *app;
    DemoWorld *world;
    const DemoPlan *plan;
    /* After each hour of so many. */
    void (*progress)(void *self, uint64_t hour, uint64_t hours, const DemoSummary *summary);
    void *self;
} DemoRun;

MUST_USE Status demo_run(const DemoRun *run, DemoSummary *ret_summary, Reason *reason);
