/* check_told.c -- P4 and P5: whoever was told "saved" is in the chain, whoever was told otherwise never gets in, and a form is
 * saved once. */
#include "site/site.h"

static const Entry *with_version(const SiteChain *chain, Id version)
{
    for (size_t i = 0; i < chain->count; i++)
        if (id_equal(chain->entries[i].version, version))
            return &chain->entries[i];
    return NULL;
}

/* "Saved" may also mean: nothing was to change, or this very form was saved by another request. */
static void check_saved(Run *run, const SiteChain *chain, const SiteTry *try)
{
    const Entry *entry = with_version(chain, try->told_version);
    if (id_is_zero(try->told_version))
        return;
    if (entry == NULL || (try->told_seq != 0 && entry->seq != try->told_seq))
        run_violated(run, "voter %llu was told that entry %llu is saved, and it is not",
                     (unsigned long long)try->voter, (unsigned long long)try->told_seq);
    if (try->sent && !id_equal(try->version, try->told_version))
        run_violated(run, "voter %llu was told of another entry than the one sent",
                     (unsigned long long)try->voter);
}

static void check_try(Run *run, const SiteChain *chain, const SiteTry *try)
{
    bool open = !try->answered || try->status == STATUS_UNKNOWN ||
                (try->status == STATUS_OK && try->outcome == SAVE_UNKNOWN);
    if (open)
        return;
    if (try->status == STATUS_OK && try->outcome == SAVE_SAVED)
        check_saved(run, chain, try);
    else if (try->sent && with_version(chain, try->version) != NULL)
        run_violated(
            run, "voter %llu was told %s, and it was saved", (unsigned long long)try->voter,
            try->status == STATUS_OK ? save_outcome_text(try->outcome) : status_name(try->status));
}

static void check_tokens(Run *run, const SiteChain *chain)
{
    for (size_t i = 0; i < chain->count; i++)
        for (size_t k = 0; k < i; k++)
            if (!id_is_zero(chain->entries[i].token) &&
                id_equal(chain->entries[i].token, chain->entries[k].token))
                run_violated(run, "voter %llu: entries %zu and %zu are one form",
                             (unsigned long long)chain->account->id, k + 1, i + 1);
}

static void check(Run *run, Store *store, Arena *arena)
{
    const Site *site = run_state(run);
    const SiteFacts *facts = site_facts(run, store);
    (void)arena;
    if (facts == NULL)
        return;
    for (const SiteTry *try = site->tries; try != NULL; try = try->next) {
        const SiteChain *chain = facts_chain(facts, try->voter);
        if (chain == NULL)
            run_violated(run, "account %llu is gone", (unsigned long long)try->voter);
        else
            check_try(run, chain, try);
    }
    for (size_t i = 0; i < facts->account_count; i++)
        check_tokens(run, &facts->chains[i]);
}

const Checker CHECK_TOLD = {"told the truth", check};
