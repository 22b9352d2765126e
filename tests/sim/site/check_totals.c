/* check_totals.c -- P2: every total is the sum of what voters hold, of a policy alone and of a root with its members. */
#include "site/site.h"

static int64_t held_on(const SiteFacts *facts, uint64_t policy)
{
    int64_t held = 0;
    for (size_t i = 0; i < facts->account_count; i++)
        held += chain_held(&facts->chains[i], facts->chains[i].count, policy);
    return held;
}

static void check_own(SiteInstance *instance, const SiteFacts *facts, uint64_t policy)
{
    Count count;
    Recount recount;
    int64_t held = held_on(facts, policy);
    if (!site_instance_heard(instance, "votes_count",
                             votes_count(instance->votes, policy, instance->arena, &count)) ||
        !site_instance_heard(instance, "votes_recount",
                             votes_recount(instance->votes, policy, &recount)))
        return;
    if (count.total != held || recount.sums != held || recount.cells != held)
        run_violated(instance->run,
                     "policy %llu: voters hold %lld, the total is %lld, sums %lld, cells %lld",
                     (unsigned long long)policy, (long long)held, (long long)count.total,
                     (long long)recount.sums, (long long)recount.cells);
}

static void check_root(SiteInstance *instance, const SiteFacts *facts, uint64_t root)
{
    uint64_t *members;
    size_t count;
    int64_t held = 0, total = 0;
    if (!site_instance_heard(
            instance, "policies_members",
            policies_members(instance->policies, root, instance->arena, &members, &count)))
        return;
    for (size_t i = 0; i < count; i++) {
        Count own = {0};
        (void)site_instance_heard(instance, "votes_count",
                                  votes_count(instance->votes, members[i], instance->arena, &own));
        total += own.total;
    }
    for (size_t i = 0; i < facts->policy_count; i++) {
        PolicyStanding standing;
        if (policy_standing(&facts->lookup, facts->policies[i].id, INT64_MAX, &standing) &&
            standing.root == root)
            held += held_on(facts, facts->policies[i].id);
    }
    if (total != held)
        run_violated(instance->run, "root %llu: voters hold %lld, its members have %lld",
                     (unsigned long long)root, (long long)held, (long long)total);
}

static void check(Run *run, Store *store, Arena *arena)
{
    const SiteFacts *facts = site_facts(run, store);
    SITE_INSTANCE_SCOPE SiteInstance instance;
    site_instance_open(&instance, run, NULL, store, arena);
    for (size_t i = 0; facts != NULL && i < facts->policy_count; i++) {
        const PolicyFacts *policy = &facts->policies[i].facts;
        check_own(&instance, facts, policy->id);
        if (policy->moves[policy->move_count - 1].state != POLICY_MERGED)
            check_root(&instance, facts, policy->id);
    }
}

const Checker CHECK_TOTALS = {"totals are what voters hold", check};
