/* check_pictures.c -- P2 all the time: what the counts showed at a moment was what a voter held after some entry, or that on its way to the
 * next with nothing added before everything was taken away. So no polly ever showed on two policies.
 *
 * A picture is of one bucket, and is compared where one voter alone is in it. */
#include "site/site.h"

static const SiteChain *only_chain(const SiteFacts *facts, uint8_t bucket)
{
    const SiteChain *found = NULL;
    for (size_t i = 0; i < facts->account_count; i++) {
        const SiteChain *chain = &facts->chains[i];
        if (chain->count == 0 || ledger_shard(chain->account->id) != bucket)
            continue;
        if (found != NULL)
            return NULL;
        found = chain;
    }
    return found;
}

/* Whether it shows the first `count` entries, and of the next perhaps a part. */
static bool shows(const SitePicture *picture, const SiteChain *chain, size_t count)
{
    bool added = false, missing = false;
    for (size_t i = 0; i < picture->count; i++) {
        int64_t before = chain_held(chain, count, picture->policies[i]);
        int64_t after = chain_held(chain, count + (count < chain->count), picture->policies[i]);
        int64_t total = picture->totals[i];
        if (total != before && total != after)
            return false;
        added |= after > before && total == after;
        missing |= after < before && total == before;
    }
    return !(added && missing);
}

static void check(Run *run, Store *store, Arena *arena)
{
    const Site *site = run_state(run);
    const SiteFacts *facts = site_facts(run, store);
    (void)arena;
    if (facts == NULL)
        return;
    for (const SitePicture *picture = site->pictures; picture != NULL; picture = picture->next) {
        const SiteChain *chain = only_chain(facts, picture->bucket);
        size_t count = 0;
        while (chain != NULL && count <= chain->count && !shows(picture, chain, count))
            count++;
        if (chain != NULL && count > chain->count)
            run_violated(run, "voter %llu: the counts showed what was never held",
                         (unsigned long long)chain->account->id);
    }
}

const Checker CHECK_PICTURES = {"no polly on two policies", check};
