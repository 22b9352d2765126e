/* check_moves.c -- policies make only the moves there are, no merge closes a ring, nothing is left half done, a policy exists
 * exactly if the entry that creates it does, and moderators were told the truth. */
#include "site/site.h"

/* ---- A policy's own list --------------------------------------------------------------------------------- */

static void check_list(Run *run, const Policy *policy)
{
    const PolicyFacts *facts = &policy->facts;
    unsigned long long id = policy->id;
    PolicyState first = policy->creator == 0 ? POLICY_ACTIVE : POLICY_PENDING;
    PolicyState last = facts->moves[facts->move_count - 1].state;
    if (facts->moves[0].state != first)
        run_violated(run, "policy %llu began as %s", id, policy_state_text(facts->moves[0].state));
    for (size_t i = 1; i < facts->move_count; i++) {
        PolicyFacts until = {facts->id, facts->moves, i};
        const PolicyMove *move = &facts->moves[i];
        if (policy_check_move(&until, move->state, NULL) != STATUS_OK ||
            move->time_us <= facts->moves[i - 1].time_us)
            run_violated(run, "policy %llu: from %s to %s is no move", id,
                         policy_state_text(facts->moves[i - 1].state),
                         policy_state_text(move->state));
    }
    if (last == POLICY_PENDING || last == POLICY_MERGING)
        run_violated(run, "policy %llu is still %s", id, policy_state_text(last));
}

static void check_way(Run *run, const SiteFacts *facts, const Policy *policy)
{
    PolicyStanding standing;
    if (!policy_standing(&facts->lookup, policy->id, INT64_MAX, &standing))
        run_violated(run, "policy %llu leads to no root", (unsigned long long)policy->id);
}

static void check_creation(Run *run, const SiteFacts *facts, const Policy *policy)
{
    const SiteChain *chain = facts_chain(facts, policy->creator);
    if (policy->creator == 0 || chain == NULL)
        return;
    const Entry *entry =
        policy->created_seq <= chain->count ? &chain->entries[policy->created_seq - 1] : NULL;
    bool created = entry != NULL && id_equal(entry->version, policy->created_version);
    bool is_void = policy->facts.moves[policy->facts.move_count - 1].state == POLICY_VOID;
    if (created == is_void || (created && entry->created != policy->id))
        run_violated(run, "policy %llu is %s, and the entry that creates it is %s",
                     (unsigned long long)policy->id, is_void ? "void" : "not void",
                     created ? "there" : "not there");
}

/* ---- What was told --------------------------------------------------------------------------------------- */

static bool has_move(const PolicyFacts *facts, PolicyState state, uint64_t actor)
{
    for (size_t i = 0; i < facts->move_count; i++)
        if (facts->moves[i].state == state && facts->moves[i].actor == actor)
            return true;
    return false;
}

static void check_told(Run *run, const SiteFacts *facts, const SiteMove *move)
{
    const Policy *policy = facts_policy(facts, move->policy);
    if (!move->answered || move->status == STATUS_UNKNOWN)
        return;
    bool done = policy != NULL && has_move(&policy->facts, move->to, move->actor);
    bool begun = policy != NULL && id_is_zero(move->id) && move->status != STATUS_REFUSED &&
                 has_move(&policy->facts, POLICY_MERGING, move->actor);
    if (done != (move->status == STATUS_OK) || (begun && move->status != STATUS_OK))
        run_violated(run, "policy %llu: becoming %s was told %s and is %s",
                     (unsigned long long)move->policy, policy_state_text(move->to),
                     status_name(move->status),
                     done    ? "done"
                     : begun ? "begun"
                             : "not done");
}

static void check(Run *run, Store *store, Arena *arena)
{
    const Site *site = run_state(run);
    const SiteFacts *facts = site_facts(run, store);
    (void)arena;
    if (facts == NULL)
        return;
    for (size_t i = 0; i < facts->policy_count; i++) {
        check_list(run, &facts->policies[i]);
        check_way(run, facts, &facts->policies[i]);
        check_creation(run, facts, &facts->policies[i]);
    }
    for (const SiteMove *move = site->moves; move != NULL; move = move->next)
        check_told(run, facts, move);
}

const Checker CHECK_MOVES = {"only allowed moves", check};
