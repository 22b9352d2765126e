/* check_money.c -- P1 and P7 once more, by code that shares nothing with the product's rules: what a voter has at each entry, what a
 * withdrawal costs, and that no move of a policy lowers anyone's balance. The rules are those of docs/rules.md, read anew. See site.h. */
#include "site/site.h"

typedef struct Holding {
    uint64_t policy;
    int64_t held, withdrawn_centi;
} Holding;

typedef struct Purse {
    const SiteFacts *facts;
    const SiteChain *chain;
    Holding *lines;
    size_t count;
} Purse;

/* ---- Salary ------------------------------------------------------------------------------------------------ */

static const VotingSettings *in_force(const SiteFacts *facts, int64_t time_us)
{
    const VotingSettings *found = &facts->settings.versions[0];
    for (size_t i = 1; i < facts->settings.count; i++)
        if (facts->settings.versions[i].from_us <= time_us)
            found = &facts->settings.versions[i];
    return found;
}

/* Period after period, each by what was in force when it began. */
static int64_t earned(const Purse *purse, int64_t time_us)
{
    int64_t sum = 0;
    for (int64_t at_us = purse->chain->account->registered_us; at_us <= time_us;) {
        const VotingSettings *settings = in_force(purse->facts, at_us);
        sum += settings->salary;
        at_us += settings->salary_days * INT64_C(86400000000);
    }
    return sum;
}

/* ---- What lines cost --------------------------------------------------------------------------------------- */

/* The last move that had happened at `time_us`, or just before it; -1: none. */
static int last_move(const Policy *policy, int64_t time_us, bool before)
{
    int found = -1;
    for (size_t i = 0; policy != NULL && i < policy->facts.move_count; i++)
        if (policy->facts.moves[i].time_us < time_us ||
            (!before && policy->facts.moves[i].time_us == time_us))
            found = (int)i;
    return found;
}

static int64_t in_pollies(int64_t centi)
{
    return centi / 100 + (centi % 100 > 0);
}

static int64_t cost(const Purse *purse, const Holding *line, int64_t time_us, bool before)
{
    const Policy *policy = facts_policy(purse->facts, line->policy);
    int64_t whole = line->held + in_pollies(line->withdrawn_centi);
    int at = last_move(policy, time_us, before);
    for (int merges = 0; at >= 0 && policy->facts.moves[at].state == POLICY_MERGED; merges++) {
        policy = facts_policy(purse->facts, policy->facts.moves[at].other);
        at = last_move(policy, time_us, before);
        if (merges > 100)
            return whole;
    }
    if (at < 0)
        return whole;
    if (policy->facts.moves[at].state == POLICY_PENDING_DELETION && at > 0)
        at--;
    const PolicyMove *move = &policy->facts.moves[at];
    if (move->state == POLICY_VOID || move->state == POLICY_DELETED)
        return 0;
    if (move->state != POLICY_RETIRED)
        return whole;
    bool pays = policy->id == line->policy && move->payer == purse->chain->account->id;
    return pays ? in_pollies(line->withdrawn_centi + line->held * move->percent) : 0;
}

static int64_t balance(const Purse *purse, int64_t time_us, bool before)
{
    int64_t left = earned(purse, time_us);
    for (size_t i = 0; i < purse->count; i++)
        left -= cost(purse, &purse->lines[i], time_us, before);
    return left;
}

/* ---- An entry ------------------------------------------------------------------------------------------------ */

static Holding *line_of(Purse *purse, uint64_t policy)
{
    for (size_t i = 0; i < purse->count; i++)
        if (purse->lines[i].policy == policy)
            return &purse->lines[i];
    purse->lines[purse->count] = (Holding){.policy = policy};
    return &purse->lines[purse->count++];
}

/* A withdrawal has its price at the setting of its time. From a policy that is merged it is free; whoever saved through an instance that had
 * not heard of the merge paid. */
static void take_change(Run *run, Purse *purse, const Entry *entry, const EntryChange *change)
{
    Holding *line = line_of(purse, change->policy);
    const Policy *policy = facts_policy(purse->facts, change->policy);
    int64_t less = line->held > change->held ? line->held - change->held : 0;
    int64_t price = less * in_force(purse->facts, entry->time_us)->withdrawal_percent;
    int at = last_move(policy, entry->time_us, false);
    bool merged = at >= 0 && policy->facts.moves[at].state == POLICY_MERGED;
    int64_t charged = change->withdrawn_centi - line->withdrawn_centi;
    if (!entry->closing && charged != price && !(merged && charged == 0))
        run_violated(run,
                     "voter %llu: entry %llu takes %lld from policy %llu and is charged %lld "
                     "hundredths instead of %lld",
                     (unsigned long long)purse->chain->account->id, (unsigned long long)entry->seq,
                     (long long)less, (unsigned long long)change->policy, (long long)charged,
                     (long long)price);
    line->held = change->held;
    line->withdrawn_centi = change->withdrawn_centi;
}

static const SiteTry *told_of(const Site *site, const Entry *entry)
{
    for (const SiteTry *try = site->tries; try != NULL; try = try->next)
        if (try->sent && try->answered && try->status == STATUS_OK && try->outcome == SAVE_SAVED &&
            !id_is_zero(try->token) && id_equal(try->version, entry->version) &&
            id_equal(try->told_version, entry->version))
            return try;
    return NULL;
}

/* An instance that has not heard of a move may tell less than there is, never more. */
static void check_entry(Run *run, const Purse *purse, const Entry *entry)
{
    int64_t now = balance(purse, entry->time_us, false);
    const SiteTry *try = told_of(run_state(run), entry);
    if (now < 0)
        run_violated(run, "voter %llu: by our own count the balance at entry %llu is %lld",
                     (unsigned long long)purse->chain->account->id, (unsigned long long)entry->seq,
                     (long long)now);
    if (try != NULL && (try->told_balance > now || try->told_balance < 0))
        run_violated(run, "voter %llu was told a balance of %lld at entry %llu, it was %lld",
                     (unsigned long long)purse->chain->account->id, (long long)try->told_balance,
                     (unsigned long long)entry->seq, (long long)now);
}

/* P7, while the lines are as they are: from this entry to the next. */
static void check_moves(Run *run, const Purse *purse, int64_t from_us, int64_t to_us)
{
    for (size_t i = 0; i < purse->count; i++) {
        const Policy *policy = facts_policy(purse->facts, purse->lines[i].policy);
        for (size_t k = 0; k < policy->facts.move_count; k++) {
            int64_t at_us = policy->facts.moves[k].time_us;
            if (at_us < from_us || at_us >= to_us)
                continue;
            int64_t before = balance(purse, at_us, true), after = balance(purse, at_us, false);
            if (after < before)
                run_violated(run, "policy %llu becomes %s, and voter %llu has %lld instead of %lld",
                             (unsigned long long)policy->id,
                             policy_state_text(policy->facts.moves[k].state),
                             (unsigned long long)purse->chain->account->id, (long long)after,
                             (long long)before);
        }
    }
}

static void check_chain(Run *run, const SiteFacts *facts, const SiteChain *chain, Arena *arena)
{
    Purse purse = {facts, chain, ARENA_ARRAY(arena, facts->policy_count + 1, Holding), 0};
    for (size_t i = 0; i < chain->count; i++) {
        const Entry *entry = &chain->entries[i];
        for (size_t k = 0; k < entry->change_count; k++) {
            if (facts_policy(facts, entry->changes[k].policy) == NULL)
                return; /* check_paid tells */
            take_change(run, &purse, entry, &entry->changes[k]);
        }
        check_entry(run, &purse, entry);
        check_moves(run, &purse, entry->time_us,
                    i + 1 < chain->count ? chain->entries[i + 1].time_us : INT64_MAX);
    }
}

/* What the product says stands, at a moment that lies between two of our own. */
static void check_shown(SiteInstance *instance, const SiteFacts *facts, const SiteChain *chain)
{
    Purse purse = {facts, chain, ARENA_ARRAY(instance->arena, facts->policy_count + 1, Holding), 0};
    VoterState state;
    for (size_t i = 0; i < chain->count; i++)
        for (size_t k = 0; k < chain->entries[i].change_count; k++) {
            const EntryChange *change = &chain->entries[i].changes[k];
            if (facts_policy(facts, change->policy) == NULL)
                return;
            *line_of(&purse, change->policy) =
                (Holding){change->policy, change->held, change->withdrawn_centi};
        }
    int64_t before_us = clock_now_us(instance->world.clock);
    if (!site_instance_heard(
            instance, "votes_show",
            votes_show(instance->votes, chain->account->id, instance->arena, &state)))
        return;
    int64_t before = balance(&purse, before_us, false),
            after = balance(&purse, clock_now_us(instance->world.clock), false);
    if (before == after && state.balance != before)
        run_violated(instance->run, "voter %llu is shown a balance of %lld, it is %lld",
                     (unsigned long long)chain->account->id, (long long)state.balance,
                     (long long)before);
}

static void check(Run *run, Store *store, Arena *arena)
{
    const SiteFacts *facts = site_facts(run, store);
    SITE_INSTANCE_SCOPE SiteInstance instance;
    site_instance_open(&instance, run, NULL, store, arena);
    for (size_t i = 0; facts != NULL && i < facts->account_count; i++) {
        check_chain(run, facts, &facts->chains[i], arena);
        check_shown(&instance, facts, &facts->chains[i]);
    }
}

const Checker CHECK_MONEY = {"nobody has more or less than the rules give", check};
