/* check_pages.c -- what pages showed of a voter, perhaps from a copy in memory, is what stood after the entry that they named. See
 * site.h. */
#include "site/site.h"

static int64_t held_after(const SiteChain *chain, size_t count)
{
    int64_t held = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < chain->entries[i].change_count; k++)
            held += chain->entries[i].changes[k].held - chain->entries[i].changes[k].before;
    return held;
}

static void check(Run *run, Store *store, Arena *arena)
{
    const Site *site = run_state(run);
    const SiteFacts *facts = site_facts(run, store);
    (void)arena;
    for (const SiteShown *shown = site->showns; facts != NULL && shown != NULL;
         shown = shown->next) {
        const SiteChain *chain = facts_chain(facts, shown->voter);
        bool there = chain != NULL && shown->seq <= chain->count;
        Id version = there && shown->seq > 0 ? chain->entries[shown->seq - 1].version : (Id){{0}};
        if (!there || !id_equal(shown->version, version) ||
            shown->held != held_after(chain, shown->seq))
            run_violated(run, "voter %llu: a page showed entry %llu with %lld, which never stood",
                         (unsigned long long)shown->voter, (unsigned long long)shown->seq,
                         (long long)shown->held);
    }
}

const Checker CHECK_PAGES = {"pages show what stood", check};
