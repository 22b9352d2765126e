/* site.h -- a whole site on a real store, with a clock of the test's own, and a naive ranking to compare with.
 *
 * A test begins with site_begin and ends with site_end. The naive ranking reads every voter's log and every policy's moves, and adds up
 * from nothing, at any moment. Short forms fail the test when something is not OK, so they are for the test's own thread. */
#pragma once

#include "between.h"
#include "ranking/ranking.h"
#include "test.h"
#include "world.h"

#define HOUR_US (3600 * US_PER_S)
#define DAY_US  (S_PER_DAY * US_PER_S)

enum {
    SITE_VOTERS = 8,
    SITE_POLICIES_MAX = 200,
    SITE_CATEGORIES = 3,
    SITE_PARTIES = 2,
    SITE_WINDOW = 3
};

typedef struct Site {
    TestWorld own;
    World world;
    Store *store, *real; /* the one that the modules use, and RocksDB behind it */
    Between between;
    Accounts *accounts;
    Policies *policies;
    Ranking *ranking;
    Votes *votes;
    Arena *arena;
    uint64_t voters[SITE_VOTERS];
    uint64_t ids[SITE_POLICIES_MAX]; /* of all policies that were made */
    size_t count;
} Site;

extern Site site;
/* Set before site_begin: other instances follow what this one changes. */
extern bool site_is_shared;

void site_begin(uint64_t seed);
void site_end(void);
/* Another process on the same data: projects what was left behind, then loads. */
void site_restart(void);
/* Another instance beside it, with a ranking that hears nothing of the site's; to be freed with site_part. */
typedef struct Other {
    Ranking *ranking;
    Votes *votes;
} Other;
Other site_other(void);
void site_part(Other *other);

uint64_t site_below(uint64_t bound);
/* A policy of the first voter, active and known to the ranking. */
uint64_t site_create(uint64_t category, uint64_t party);
/* One line of a voter (0 … SITE_VOTERS - 1) shall hold this much. */
void site_hold(size_t voter, uint64_t policy, int64_t held);
/* The same, dated as a generator of past data does. */
void site_hold_at(size_t voter, uint64_t policy, int64_t held, int64_t time_us);
void site_move(uint64_t policy, PolicyState to);
void site_merge(uint64_t source, uint64_t target);
void site_edit(uint64_t policy, uint64_t category, uint64_t party);
void site_project(void);
PolicyState site_state(uint64_t policy);
/* Something happens: mostly saves, sometimes a move, a merge, an edit, a projection, some hours. */
void site_step(void);

/* ---- The naive ranking ------------------------------------------------------------------------------------------ */

typedef struct Naive {
    RankRow rows[SITE_POLICIES_MAX];
    size_t count;
} Naive;

/* All that was saved up to and including a moment, with the states of that moment and the window that ends with its day. For
 * now: INT64_MAX, and the clock's day. */
Naive site_naive(const RankQuery *query, int64_t time_us);
/* Pages and places of many queries are the naive ones, now. */
void site_check(Ranking *ranking);
/* The same for the ends of some past hours from `first` on. */
void site_check_past(Ranking *ranking, uint32_t first);
/* One query: all pages. */
void site_check_pages(Ranking *ranking, const RankQuery *query);
