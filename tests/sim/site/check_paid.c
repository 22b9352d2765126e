/* check_paid.c -- P1 and P6: at every entry, judged at its own time by all moves and settings that there are, what is held and
 * paid is covered; and the setting that an entry names is the one of its time. */
#include "site/site.h"

static void put_line(VoteLine *lines, size_t *count, const EntryChange *change)
{
    size_t at = 0;
    while (at < *count && lines[at].policy < change->policy)
        at++;
    if (at == *count || lines[at].policy != change->policy) {
        memmove(lines + at + 1, lines + at, (*count - at) * sizeof *lines);
        ++*count;
    }
    lines[at] = (VoteLine){change->policy, change->held, change->withdrawn_centi};
}

static void check_chain(Run *run, const SiteFacts *facts, const SiteChain *chain, Arena *arena)
{
    VoteLine *lines = ARENA_ARRAY(arena, facts->policy_count + 1, VoteLine);
    VoteGround ground = {chain->account->id, chain->account->registered_us, &facts->settings,
                         &facts->lookup};
    size_t count = 0;
    for (size_t i = 0; i < chain->count; i++) {
        const Entry *entry = &chain->entries[i];
        for (size_t k = 0; k < entry->change_count; k++) {
            if (facts_policy(facts, entry->changes[k].policy) == NULL) {
                run_violated(run, "voter %llu holds something on policy %llu, which is not there",
                             (unsigned long long)ground.voter,
                             (unsigned long long)entry->changes[k].policy);
                return;
            }
            put_line(lines, &count, &entry->changes[k]);
        }
        int64_t balance = vote_balance(&ground, (VoteLines){lines, count}, entry->time_us);
        if (balance < 0)
            run_violated(run, "voter %llu: the balance at entry %llu is %lld",
                         (unsigned long long)ground.voter, (unsigned long long)entry->seq,
                         (long long)balance);
        if (!entry->fence &&
            entry->setting_version != settings_at(&facts->settings, entry->time_us)->version)
            run_violated(run,
                         "voter %llu: entry %llu was judged by setting %u, not by that of its time",
                         (unsigned long long)ground.voter, (unsigned long long)entry->seq,
                         entry->setting_version);
    }
}

static void check(Run *run, Store *store, Arena *arena)
{
    const SiteFacts *facts = site_facts(run, store);
    for (size_t i = 0; facts != NULL && i < facts->account_count; i++)
        check_chain(run, facts, &facts->chains[i], arena);
}

const Checker CHECK_PAID = {"no double spend", check};
