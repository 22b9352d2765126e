/* sweeps.c -- background work as the tasks of the site do it, and the bound on its lag. See site.h. */
#include "site/site.h"

enum { MARKS_DAYS = 30 };

void sweeps_waiting(Hands *hands)
{
    size_t taken;
    (void)hands_heard(hands, "votes_project_waiting",
                      votes_project_waiting(hands->votes, 100, &taken));
}

/* ---- Marks ----------------------------------------------------------------------------------------------- */

void sweeps_recent(Hands *hands)
{
    uint32_t hour = ledger_hour(clock_now_us(hands->world.clock));
    for (uint32_t back = 0; back < 2 && hands_alive(hands); back++) {
        size_t behind;
        (void)hands_heard(hands, "votes_sweep_hour",
                          votes_sweep_hour(hands->votes, hour - back, &behind));
    }
}

static uint64_t number_in(Hands *hands, const Read *read, Status *ret_status)
{
    Cell cell = {.value = SLICE_EMPTY};
    Head head = {0};
    Status status = store_read(hands->store, read, hands->arena, &cell);
    Reader reader = reader_of(cell.value);
    uint64_t seq = 0;
    if (status == STATUS_OK && read->table == &TABLE_VOTERS)
        status = ledger_get_head(cell.value, &head), seq = head.seq;
    else if (status == STATUS_OK)
        seq = reader_u64(&reader);
    *ret_status = status == STATUS_NOT_FOUND ? STATUS_OK : status;
    return seq;
}

uint64_t marks_head(Hands *hands, uint64_t voter, Status *ret_status)
{
    Read read = {&TABLE_VOTERS, ledger_u64(hands->arena, voter), SLICE("head"), STORE_SERIAL};
    return number_in(hands, &read, ret_status);
}

uint64_t marks_projected(Hands *hands, uint32_t generation, uint64_t voter, Status *ret_status)
{
    Slice row = ledger_projected_row(hands->arena, generation, voter);
    Read read = {&TABLE_PROJECTED, row, SLICE("seq"), STORE_NORMAL};
    return number_in(hands, &read, ret_status);
}

/* Every hour that can have marks; the others are empty, and looking at them all would only take time. */
static bool follow_all_marks(Hands *hands)
{
    Site *site = hands->site;
    uint32_t now = ledger_hour(clock_now_us(hands->world.clock));
    bool all = true;
    for (size_t i = 0; i < site->hour_count && hands_alive(hands); i++) {
        size_t behind;
        if (site->hours[i] + MARKS_DAYS * 24 < now)
            continue;
        Status status = votes_sweep_hour(hands->votes, site->hours[i], &behind);
        all &= hands_heard(hands, "votes_sweep_hour", status);
    }
    return all && hands_alive(hands);
}

/* The bound on lag: an entry that stood when the sweep began is projected when the sweep ends well, whatever fails, because its
 * mark was there before it. An entry whose mark is too old for this sweep was seen by an earlier one, or by the slow pass. */
void sweeps_older(Hands *hands)
{
    Site *site = hands->site;
    uint64_t heads[SITE_PEOPLE_MOST] = {0};
    size_t count = site->person_count;
    int64_t now_us = sim_world_now_us(sim_world(run_sim(hands->run)));
    Generations before, after;
    Status status = votes_generations(hands->votes, &before);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        heads[i] = marks_head(hands, site->people[i].account, &status);
    if (!follow_all_marks(hands) || status != STATUS_OK ||
        now_us > MARKS_DAYS * S_PER_DAY * US_PER_S ||
        votes_generations(hands->votes, &after) != STATUS_OK || before.step != after.step)
        return;
    for (size_t i = 0; i < count; i++) {
        uint64_t projected =
            marks_projected(hands, after.current, site->people[i].account, &status);
        if (hands_alive(hands) && status == STATUS_OK && projected < heads[i])
            run_violated(hands->run,
                         "voter %llu: all marks were followed, but entry %llu is not projected",
                         (unsigned long long)site->people[i].account, (unsigned long long)heads[i]);
    }
}

void sweeps_slow(Hands *hands)
{
    Slice position = SLICE_EMPTY;
    for (bool more = true; more && hands_alive(hands);) {
        size_t behind;
        if (!hands_heard(
                hands, "votes_sweep_page",
                votes_sweep_page(hands->votes, position, hands->arena, &position, &more, &behind)))
            return;
    }
}

void sweeps_rebuild(Hands *hands)
{
    RebuildOptions options = {.settle_s = GENERATIONS_CACHE_S + 5};
    (void)hands_heard(hands, "votes_rebuild", votes_rebuild(hands->votes, &options));
}

/* ---- Policies -------------------------------------------------------------------------------------------- */

static void end_deletion(Hands *hands, const Policy *policy, const PolicyMove *last)
{
    SettingsHistory settings;
    Reason reason = {.rule = ""};
    int64_t now_us = clock_now_us(hands->world.clock);
    PolicyMove move = {.state = POLICY_DELETED, .reason = SLICE_EMPTY};
    if (!hands_heard(hands, "accounts_settings",
                     accounts_settings(hands->accounts, hands->arena, &settings)))
        return;
    int64_t days = settings_at(&settings, now_us)->appeal_days;
    if (last->time_us + days * S_PER_DAY * US_PER_S < now_us &&
        hands_heard(
            hands, "deleting",
            policies_move(hands->policies, policy->id, POLICY_PENDING_DELETION, &move, &reason)))
        (void)hands_heard(hands, "policies_obliterate",
                          policies_obliterate(hands->policies, policy->id));
}

static void settle(Hands *hands, const Policy *policy)
{
    const PolicyMove *last = &policy->facts.moves[policy->facts.move_count - 1];
    if (last->state == POLICY_PENDING) {
        hands->marking = true; /* a fence is marked, and nobody is told of it */
        (void)hands_heard(hands, "votes_settle_creation",
                          votes_settle_creation(hands->votes, policy->id, hands->site->grace_s));
        hands->marking = false;
    } else if (last->state == POLICY_MERGING) {
        (void)hands_heard(hands, "policies_finish_merge",
                          policies_finish_merge(hands->policies, policy->id));
    } else if (last->state == POLICY_PENDING_DELETION) {
        end_deletion(hands, policy, last);
    }
}

void sweeps_policies(Hands *hands)
{
    Slice position = SLICE_EMPTY;
    for (bool more = true; more && hands_alive(hands);) {
        Policy *policies;
        size_t count;
        Status status = policies_list(hands->policies, position, hands->arena, &policies, &count,
                                      &position, &more);
        if (status == STATUS_NOT_FOUND && hands_alive(hands))
            run_violated(hands->run, "a list of policies is cut off by one that is not there");
        if (!hands_heard(hands, "policies_list", status))
            return;
        for (size_t i = 0; i < count && hands_alive(hands); i++)
            settle(hands, &policies[i]);
    }
}

/* ---- Accounts -------------------------------------------------------------------------------------------- */

void sweeps_accounts(Hands *hands)
{
    Slice position = SLICE_EMPTY;
    for (bool more = true; more && hands_alive(hands);) {
        Account *accounts;
        size_t count;
        if (!hands_heard(hands, "accounts_list",
                         accounts_list(hands->accounts, position, hands->arena, &accounts, &count,
                                       &position, &more)))
            return;
        for (size_t i = 0; i < count && hands_alive(hands); i++)
            (void)hands_heard(hands, "accounts_expire",
                              accounts_expire(hands->accounts, accounts[i].id));
    }
}
