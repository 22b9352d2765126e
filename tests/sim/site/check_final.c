/* check_final.c -- P3: each voter's log is one chain from 1 to its head, its lines are what the log says, and no entry
 * differs from what anybody ever saw. */
#include "site/site.h"

static void check_entry(Run *run, const SiteChain *chain, size_t at)
{
    const Entry *entry = &chain->entries[at];
    unsigned long long voter = chain->account->id, seq = entry->seq;
    Id before = at > 0 ? chain->entries[at - 1].version : (Id){{0}};
    if (entry->seq != at + 1 || !id_equal(entry->prev, before))
        run_violated(run, "voter %llu: entry %llu does not follow the one before it", voter, seq);
    if (at > 0 && entry->time_us <= chain->entries[at - 1].time_us)
        run_violated(run, "voter %llu: entry %llu is not later than the one before it", voter, seq);
    if (at > 0 && chain->entries[at - 1].closing)
        run_violated(run, "voter %llu: entry %llu comes after the closing one", voter, seq);
    for (size_t i = 0; i < entry->change_count; i++)
        if (entry->changes[i].before != chain_held(chain, at, entry->changes[i].policy) ||
            entry->changes[i].held < 0)
            run_violated(run, "voter %llu: entry %llu changes policy %llu from what was not there",
                         voter, seq, (unsigned long long)entry->changes[i].policy);
}

static void check_end(Run *run, const SiteChain *chain)
{
    unsigned long long voter = chain->account->id;
    int64_t held = 0;
    const Entry *last = chain->count > 0 ? &chain->entries[chain->count - 1] : NULL;
    for (size_t i = 0; i < chain->line_count; i++) {
        const VoteLine *line = &chain->lines[i];
        held += line->held;
        if (line->held != chain_held(chain, chain->count, line->policy))
            run_violated(run, "voter %llu: the line on policy %llu is not what the log says", voter,
                         (unsigned long long)line->policy);
    }
    if (chain->head.seq != chain->count || chain->head.held != held ||
        (last != NULL && !id_equal(chain->head.version, last->version)))
        run_violated(run, "voter %llu: the head (seq %llu, %lld held) is not the log's end", voter,
                     (unsigned long long)chain->head.seq, (long long)chain->head.held);
    if (chain->account->state == ACCOUNT_CLOSED && (last == NULL || !last->closing))
        run_violated(run, "voter %llu: the account is closed and the log is not", voter);
}

static void check_seen(Run *run, SitePerson *person, const SiteChain *chain)
{
    for (size_t i = 0; i < chain->count; i++)
        site_saw_entry(run, person, &chain->entries[i]);
    for (size_t i = chain->count; i < person->entry_room; i++)
        if (!id_is_zero(person->entries[i].version))
            run_violated(run, "voter %llu: entry %zu was seen and is gone",
                         (unsigned long long)person->account, i + 1);
    if (person->seen_seq > chain->count)
        run_violated(run, "voter %llu: head %llu was seen, now there are %zu entries",
                     (unsigned long long)person->account, (unsigned long long)person->seen_seq,
                     chain->count);
}

static void check(Run *run, Store *store, Arena *arena)
{
    Site *site = run_state(run);
    const SiteFacts *facts = site_facts(run, store);
    (void)arena;
    for (size_t i = 0; facts != NULL && i < facts->account_count; i++) {
        const SiteChain *chain = &facts->chains[i];
        for (size_t k = 0; k < chain->count; k++)
            check_entry(run, chain, k);
        check_end(run, chain);
        SitePerson *person = site_person(site, chain->account->id);
        if (person != NULL)
            check_seen(run, person, chain);
    }
}

const Checker CHECK_FINAL = {"final at once", check};
