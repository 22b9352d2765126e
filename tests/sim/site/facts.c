/* facts.c -- all that stands in the end, read once, from outside, by serial reads where there are any. See site.h. */
#include "site/site.h"

enum { ALL_MOST = 400, ENTRIES_MOST = 9000 };

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

static Status read_accounts(Hands *hands, SiteFacts *facts)
{
    Slice position = SLICE_EMPTY;
    facts->accounts = ARENA_ARRAY(hands->arena, ALL_MOST, Account);
    for (bool more = true; more;) {
        Account *page;
        size_t count;
        TRY(accounts_list(hands->accounts, position, hands->arena, &page, &count, &position,
                          &more));
        CHECK(facts->account_count + count <= ALL_MOST);
        for (size_t i = 0; i < count; i++)
            TRY(accounts_read(hands->accounts, page[i].id, hands->arena,
                              &facts->accounts[facts->account_count++]));
    }
    return STATUS_OK;
}

static Status read_policies(Hands *hands, SiteFacts *facts)
{
    Slice position = SLICE_EMPTY;
    facts->policies = ARENA_ARRAY(hands->arena, ALL_MOST, Policy);
    for (bool more = true; more;) {
        Policy *page;
        size_t count;
        TRY(policies_list(hands->policies, position, hands->arena, &page, &count, &position,
                          &more));
        CHECK(facts->policy_count + count <= ALL_MOST);
        for (size_t i = 0; i < count; i++)
            TRY(policies_fresh(hands->policies, page[i].id, hands->arena,
                               &facts->policies[facts->policy_count++]));
    }
    return STATUS_OK;
}

static Status read_projected(Hands *hands, uint64_t voter, uint64_t *ret_seq)
{
    Cell cell;
    Slice row = ledger_projected_row(hands->arena, votes_generation(hands->votes), voter);
    Status status =
        store_read(hands->store, &(Read){&TABLE_PROJECTED, row, SLICE("seq"), STORE_NORMAL},
                   hands->arena, &cell);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    Reader reader = reader_of(cell.value);
    *ret_seq = reader_u64(&reader);
    return reader_done(&reader) ? STATUS_OK : STATUS_CORRUPT;
}

static Status read_chain(Hands *hands, const Account *account, SiteChain *chain)
{
    Entry *newest_first;
    VoterState state;
    Cell cell;
    Slice row = ledger_u64(hands->arena, account->id);
    chain->account = account;
    TRY(votes_history(hands->votes, account->id, 0, ENTRIES_MOST, hands->arena, &newest_first,
                      &chain->count));
    chain->entries = ARENA_ARRAY(hands->arena, chain->count, Entry);
    for (size_t i = 0; i < chain->count; i++)
        chain->entries[i] = newest_first[chain->count - 1 - i];
    TRY(votes_show(hands->votes, account->id, hands->arena, &state));
    chain->lines = state.lines;
    chain->line_count = state.line_count;
    Status status =
        store_read(hands->store, &(Read){&TABLE_VOTERS, row, SLICE("head"), STORE_SERIAL},
                   hands->arena, &cell);
    if (status == STATUS_OK)
        status = ledger_get_head(cell.value, &chain->head);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    return read_projected(hands, account->id, &chain->projected);
}

static Status read_all(Hands *hands, SiteFacts *facts)
{
    TRY(accounts_settings(hands->accounts, hands->arena, &facts->settings));
    TRY(read_accounts(hands, facts));
    TRY(read_policies(hands, facts));
    facts->book = (PolicyBook){find, facts};
    facts->chains = ARENA_ARRAY(hands->arena, facts->account_count, SiteChain);
    for (size_t i = 0; i < facts->account_count; i++)
        TRY(read_chain(hands, &facts->accounts[i], &facts->chains[i]));
    return STATUS_OK;
}

const SiteFacts *site_facts(Run *run, Store *store)
{
    Site *site = run_state(run);
    if (site->facts != NULL)
        return site->facts;
    HANDS_SCOPE Hands hands;
    hands_open(&hands, run, NULL, store, run_arena(run));
    SiteFacts *facts = ARENA_NEW(run_arena(run), SiteFacts);
    if (!hands_heard(&hands, "reading all that stands", read_all(&hands, facts)))
        return NULL;
    site->facts = facts;
    return facts;
}
