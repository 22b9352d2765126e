/* check_rush.c -- of all saves on one version at most one stands; and when nothing failed, exactly one, and all others were told so. */
#include "site/site.h"

enum { BEFORE = 1 }; /* entries that were there when it began */

static size_t told(const Site *site, SaveOutcome outcome)
{
    size_t count = 0;
    for (const SiteTry *try = site->tries; try != NULL; try = try->next)
        count += try->answered && try->status == STATUS_OK && try->outcome == outcome;
    return count;
}

static void check(Run *run, Store *store, Arena *arena)
{
    const Site *site = run_state(run);
    const SiteFacts *facts = site_facts(run, store);
    size_t faults, tries = 0;
    (void)arena;
    if (facts == NULL || !run_is_exhaustive(run))
        return;
    size_t entries = facts_chain(facts, site->people[0].account)->count;
    for (const SiteTry *try = site->tries; try != NULL; try = try->next)
        tries++;
    (void)sim_world_faults(sim_world(run_sim(run)), &faults);
    size_t saved = told(site, SAVE_SAVED), stale = told(site, SAVE_STALE);
    if (entries > BEFORE + 1 || saved > BEFORE + 1)
        run_violated(run, "%zu saves on one version stand, %zu were told so", entries - BEFORE,
                     saved - BEFORE);
    if (faults == 0 && (entries != BEFORE + 1 || saved != BEFORE + 1 || saved + stale != tries))
        run_violated(run, "of %zu saves %zu were told saved and %zu stale, and %zu stand",
                     tries - BEFORE, saved - BEFORE, stale, entries - BEFORE);
}

const Checker CHECK_RUSH = {"one of many stands", check};
