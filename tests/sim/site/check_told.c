/* check_told.c -- P4 and P5: whoever was told "saved" is in the chain, whoever was told otherwise never gets in, and a form is
 * saved once. */
#include "site/site.h"

enum { TOKEN_LIFE_S = 6 * 86400 }; /* less than it is: clocks differ */

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
    bool same_form = entry != NULL && !id_is_zero(try->token) && id_equal(entry->token, try->token);
    if (try->sent && !id_equal(try->version, try->told_version) && !same_form)
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

/* A form that was saved and is sent again gets the same answer, as long as its token lives. */
static void check_again(Run *run, const SiteTry *saved, const SiteTry *again)
{
    bool same = again->status == STATUS_OK && again->outcome == SAVE_SAVED &&
                id_equal(again->told_version, saved->version);
    bool told = again->answered && (again->status == STATUS_OK || again->status == STATUS_REFUSED);
    if (id_equal(again->token, saved->token) && again->began_us > saved->ended_us &&
        again->ended_us < saved->began_us + TOKEN_LIFE_S * US_PER_S && told && !same)
        run_violated(run, "voter %llu sent a form again and got another answer",
                     (unsigned long long)saved->voter);
}

static void check_forms(Run *run, const Site *site)
{
    for (const SiteTry *saved = site->tries; saved != NULL; saved = saved->next) {
        if (!saved->answered || !saved->sent || saved->status != STATUS_OK ||
            saved->outcome != SAVE_SAVED || id_is_zero(saved->token))
            continue;
        for (const SiteTry *again = site->tries; again != NULL; again = again->next)
            if (id_equal(saved->version, saved->told_version))
                check_again(run, saved, again);
    }
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
    check_forms(run, site);
    for (size_t i = 0; i < facts->account_count; i++)
        check_tokens(run, &facts->chains[i]);
}

const Checker CHECK_TOLD = {"told the truth", check};
