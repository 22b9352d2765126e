/* check_caught_up.c -- after the quiet sweeps everything is projected. */
#include "site/site.h"

static void check(Run *run, Store *store, Arena *arena)
{
    const SiteFacts *facts = site_facts(run, store);
    (void)arena;
    for (size_t i = 0; facts != NULL && i < facts->account_count; i++)
        if (facts->chains[i].projected != facts->chains[i].count)
            run_violated(run, "voter %llu has %zu entries, %llu are projected",
                         (unsigned long long)facts->accounts[i].id, facts->chains[i].count,
                         (unsigned long long)facts->chains[i].projected);
}

const Checker CHECK_CAUGHT_UP = {"caught up", check};
