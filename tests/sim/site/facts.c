/* facts.c -- all that stands in the end, read once, from outside, by serial reads where there are any. See site.h. */
#include "site/site.h"

enum { ALL_MAX = 400, ENTRIES_MAX = 9000 };

static const PolicyFacts *find(void *self, uint64_t id)
{
    const Policy *policy = facts_policy(self, id);
    return policy != NULL ? &policy->facts : NULL;
}

const Policy *facts_policy(const SiteFacts *facts, uint64_t policy)
{
    for (size_t i = 0; i < facts->policy_count; i++)
        if (facts->policies[i].id == policy)
            return &facts->policies[i];
    return NULL;
}

const SiteChain *facts_chain(const SiteFacts *facts, uint64_t account)
{
    for (size_t i = 0; i < facts->account_count; i++)
        if (facts->accounts[i].id == account)
            return &facts->chains[i];
    return NULL;
}

int64_t chain_held(const SiteChain *chain, size_t count, uint64_t policy)
{
    for (size_t i = count; i > 0; i--)
        for (size_t k = 0; k < chain->entries[i - 1].change_count; k++)
            if (chain->entries[i - 1].changes[k].policy == policy)
                return chain->entries[i - 1].changes[k].held;
    return 0;
}

/* ---- Reading --------------------------------------------------------------------------------------------- */

static Status read_accounts(SiteInstance *instance, SiteFacts *facts)
{
    Slice position = SLICE_EMPTY;
    facts->accounts = ARENA_ARRAY(instance->arena, ALL_MAX, Account);
    for (bool more = true; more;) {
        Account *page;
        size_t count;
        TRY(accounts_list(instance->accounts, position, instance->arena, &page, &count, &position,
                          &more));
        CHECK(facts->account_count + count <= ALL_MAX);
        for (size_t i = 0; i < count; i++)
            TRY(accounts_read(instance->accounts, page[i].id, instance->arena,
                              &facts->accounts[facts->account_count++]));
    }
    return STATUS_OK;
}

static Status read_policies(SiteInstance *instance, SiteFacts *facts)
{
    Slice position = SLICE_EMPTY;
    facts->policies = ARENA_ARRAY(instance->arena, ALL_MAX, Policy);
    for (bool more = true; more;) {
        Policy *page;
        size_t count;
        TRY(policies_list(instance->policies, position, instance->arena, &page, &count, &position,
                          &more));
        CHECK(facts->policy_count + count <= ALL_MAX);
        for (size_t i = 0; i < count; i++)
            TRY(policies_fresh(instance->policies, page[i].id, instance->arena,
                               &facts->policies[facts->policy_count++]));
    }
    return STATUS_OK;
}

static Status read_projected(SiteInstance *instance, uint64_t voter, uint64_t *ret_seq)
{
    Cell cell;
    Slice row = ledger_projected_row(instance->arena, votes_generation(instance->votes), voter);
    Status status =
        store_read(instance->store, &(Read){&TABLE_PROJECTED, row, SLICE("seq"), STORE_NORMAL},
                   instance->arena, &cell);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    Reader reader = reader_of(cell.value);
    *ret_seq = reader_u64(&reader);
    return reader_done(&reader) ? STATUS_OK : STATUS_CORRUPT;
}

static Status read_chain(SiteInstance *instance, const Account *account, SiteChain *chain)
{
    Entry *newest_first;
    VoterState state;
    Cell cell;
    Slice row = ledger_u64(instance->arena, account->id);
    chain->account = account;
    TRY(votes_history(instance->votes, account->id, 0, ENTRIES_MAX, instance->arena, &newest_first,
                      &chain->count));
    chain->entries = ARENA_ARRAY(instance->arena, chain->count, Entry);
    for (size_t i = 0; i < chain->count; i++)
        chain->entries[i] = newest_first[chain->count - 1 - i];
    TRY(votes_show(instance->votes, account->id, instance->arena, &state));
    chain->lines = state.lines;
    chain->line_count = state.line_count;
    Status status =
        store_read(instance->store, &(Read){&TABLE_VOTERS, row, SLICE("head"), STORE_SERIAL},
                   instance->arena, &cell);
    if (status == STATUS_OK)
        status = ledger_get_head(cell.value, &chain->head);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    return read_projected(instance, account->id, &chain->projected);
}

static Status read_all(SiteInstance *instance, SiteFacts *facts)
{
    TRY(settings_read(accounts_settings(instance->accounts), instance->arena, &facts->settings));
    TRY(read_accounts(instance, facts));
    TRY(read_policies(instance, facts));
    facts->lookup = (PolicyLookup){find, facts};
    facts->chains = ARENA_ARRAY(instance->arena, facts->account_count, SiteChain);
    for (size_t i = 0; i < facts->account_count; i++)
        TRY(read_chain(instance, &facts->accounts[i], &facts->chains[i]));
    return STATUS_OK;
}

const SiteFacts *site_facts(Run *run, Store *store)
{
    Site *site = run_state(run);
    if (site->facts != NULL)
        return site->facts;
    SITE_INSTANCE_SCOPE SiteInstance instance;
    site_instance_open(&instance, run, NULL, store, run_arena(run));
    SiteFacts *facts = ARENA_NEW(run_arena(run), SiteFacts);
    if (!site_instance_heard(&instance, "reading all that stands", read_all(&instance, facts)))
        return NULL;
    site->facts = facts;
    return facts;
}
