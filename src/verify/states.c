/* states.c -- policies and their moves, the lists that they are in, and the ranking in memory. */
#include "verify/verify_private.h"

enum { KEY_MOVES = 1, KEY_CREATED, KEY_ROOT };

static void wrong(Audit *audit, uint64_t policy, uint64_t key, const char *words)
{
    audit_differs(audit, WRONG(VERIFY_POLICIES, key), "policy %llu: %s", (unsigned long long)policy,
                  words);
}

/* ---- Moves ------------------------------------------------------------------------------------------------------ */

/* Past pending, the entry that it names is in the creator's chain; void, another one is. */
static Status check_creation(Audit *audit, const Policy *policy, Arena *arena)
{
    PolicyState state = policy->facts.moves[policy->facts.move_count - 1].state;
    EntryRead read = {.voter = policy->creator, .seq = policy->created_seq};
    if (policy->creator == 0 || state == POLICY_PENDING)
        return STATUS_OK;
    TRY(audit_entries(audit, &read, 1, arena));
    bool created = read.found && id_equal(read.entry.version, policy->created_version);
    if (state == POLICY_VOID ? created || !read.found : !created)
        wrong(audit, policy->id, KEY_CREATED,
              state == POLICY_VOID ? "it is void, and the entry that creates it may stand"
                                   : "the entry that creates it is not in its creator's log");
    return STATUS_OK;
}

Status check_policy(Audit *audit, const Unit *unit, Arena *arena)
{
    Policy policy;
    PolicyStanding standing;
    PoliciesReader reader = {.policies = audit->options->policies, .arena = arena};
    PolicyLookup lookup = policies_lookup(&reader);
    policies_forget(audit->options->policies, unit->id);
    Status status = policies_fresh(audit->options->policies, unit->id, arena, &policy);
    if (status == STATUS_CORRUPT || status == STATUS_NOT_FOUND) {
        wrong(audit, unit->id, 0, "its row cannot be read");
        return STATUS_OK;
    }
    TRY(status);
    const PolicyFacts *facts = &policy.facts;
    PolicyState first = policy.creator == 0 ? POLICY_ACTIVE : POLICY_PENDING;
    if (facts->moves[0].state != first)
        wrong(audit, policy.id, KEY_MOVES, "it did not begin as policies do");
    for (size_t i = 1; i < facts->move_count; i++) {
        PolicyFacts before = {facts->id, facts->moves, i};
        if (policy_check_move(&before, facts->moves[i].state, NULL) != STATUS_OK)
            wrong(audit, policy.id, KEY_MOVES, "it made a move that is none");
        if (facts->moves[i].time_us <= facts->moves[i - 1].time_us)
            wrong(audit, policy.id, KEY_MOVES, "its moves are not in the order of their times");
    }
    TRY(check_creation(audit, &policy, arena));
    bool found = policy_standing(&lookup, unit->id, INT64_MAX, &standing);
    TRY(reader.failed);
    if (!found)
        wrong(audit, unit->id, KEY_ROOT, "its merge leads nowhere");
    return STATUS_OK;
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

enum { INDEX_LOOKS = 20, INDEX_PAUSE_US = 50000 };

/* A list follows a change of its policy: what stays wrong is. */
Status audit_index(Audit *audit)
{
    BUFFER_SCOPE Buffer position = {0};
    for (bool more = true; more;) {
        ARENA_SCOPE Arena *arena = arena_new();
        Slice next = SLICE_EMPTY;
        size_t faults = 1;
        for (int i = 0; i < INDEX_LOOKS && faults > 0; i++) {
            if (i > 0)
                clock_sleep_us(audit->options->world.clock, INDEX_PAUSE_US);
            Status status =
                policies_check_index_page(audit->options->policies, buffer_slice(&position), arena,
                                          &(PolicyIndexPage){&next, &more, &faults});
            if (status != STATUS_CORRUPT) /* a policy cannot be read, which was told */
                TRY(status);
        }
        if (faults > 0)
            audit_fault(audit, VERIFY_POLICY_INDEX,
                        "the lists of policies have %zu wrong or missing places", faults);
        buffer_clear(&position);
        buffer_bytes(&position, next);
    }
    return STATUS_OK;
}

/* ---- Rankings ---------------------------------------------------------------------------------------------------- */

static Status count_root(Audit *audit, uint64_t root, Arena *arena, Count *ret_count)
{
    uint64_t *members;
    size_t count;
    *ret_count = (Count){0};
    TRY(policies_members(audit->options->policies, root, arena, &members, &count));
    for (size_t i = 0; i < count; i++) {
        Count own;
        TRY(votes_count(audit->options->votes, members[i], arena, &own));
        count_add(ret_count, &own);
    }
    return STATUS_OK;
}

/* What moves between two looks has another key the second time, and is dropped: only what stays different is wrong. */
static void compare(Audit *audit, uint64_t policy, uint32_t days, int64_t shown, int64_t counted)
{
    if (shown == counted)
        return;
    uint64_t key = (uint64_t)shown * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)counted << 6 ^ days;
    audit_differs(audit, WRONG(VERIFY_RANKING, key),
                  "the ranking of %u days shows %lld for policy %llu; its counts say %lld", days,
                  (long long)shown, (unsigned long long)policy, (long long)counted);
}

Status check_rank(Audit *audit, const Unit *unit, Arena *arena)
{
    const VerifyOptions *options = audit->options;
    int64_t now_us = clock_now_us(options->world.clock);
    uint32_t window = (uint32_t)settings_at(&audit->settings, now_us)->window_days;
    Policy policy;
    Count count = {0};
    RankPlace all = {0}, recent = {0};
    Status status = policies_fresh(options->policies, unit->id, arena, &policy);
    if (status == STATUS_CORRUPT || status == STATUS_NOT_FOUND)
        return STATUS_OK; /* told with the policy */
    TRY(status);
    bool listed = policy_state_listed(policy.facts.moves[policy.facts.move_count - 1].state);
    status = ranking_place(options->ranking, &(RankQuery){0}, unit->id, &all);
    if (status == STATUS_OK)
        status = ranking_place(options->ranking, &(RankQuery){.days = window}, unit->id, &recent);
    if (status != STATUS_NOT_FOUND)
        TRY(status);
    if ((status == STATUS_OK) != listed) {
        audit_differs(audit, WRONG(VERIFY_RANKING, 1), "policy %llu is %s, and %s in the ranking",
                      (unsigned long long)unit->id, listed ? "listed" : "not listed",
                      listed ? "not" : "stands");
        return STATUS_OK;
    }
    if (!listed)
        return STATUS_OK;
    TRY(count_root(audit, unit->id, arena, &count));
    compare(audit, unit->id, 0, all.self.total, count.total);
    compare(audit, unit->id, window, recent.self.votes,
            count_window(&count, count_day(now_us), window));
    return STATUS_OK;
}
