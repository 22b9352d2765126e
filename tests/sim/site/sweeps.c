/* sweeps.c -- background work as the tasks of the site do it, and the bound on its lag. See site.h. */
#include "site/site.h"

enum { MARKS_DAYS = 30 };

void sweeps_waiting(SiteInstance *instance)
{
    size_t taken;
    (void)site_instance_heard(instance, "votes_project_waiting",
                              votes_project_waiting(instance->votes, 100, &taken));
}

/* ---- Marks ----------------------------------------------------------------------------------------------- */

void sweeps_recent(SiteInstance *instance)
{
    uint32_t hour = ledger_hour(clock_now_us(instance->world.clock));
    for (uint32_t back = 0; back < 2 && site_instance_alive(instance); back++) {
        size_t behind;
        (void)site_instance_heard(instance, "votes_sweep_hour",
                                  votes_sweep_hour(instance->votes, hour - back, &behind));
    }
}

static uint64_t number_in(SiteInstance *instance, const Read *read, Status *ret_status)
{
    Cell cell = {.value = SLICE_EMPTY};
    LedgerHead head = {0};
    Status status = store_read(instance->store, read, instance->arena, &cell);
    Reader reader = reader_of(cell.value);
    uint64_t seq = 0;
    if (status == STATUS_OK && read->table == &TABLE_VOTERS)
        status = ledger_get_head(cell.value, &head), seq = head.seq;
    else if (status == STATUS_OK)
        seq = reader_u64(&reader);
    *ret_status = status == STATUS_NOT_FOUND ? STATUS_OK : status;
    return seq;
}

/* Something of this process that may have written to the voter's row is on its way to saying so: until then its copies may lag. */
static bool is_under_way(const SiteProcess *process, uint64_t voter)
{
    for (size_t i = 0; i < SITE_VIEWS; i++) {
        const SiteInstance *view = process->views[i];
        for (size_t k = 0; view != NULL && k < view->try_count; k++)
            if (view->try[k]->voter == voter)
                return true;
        if (view != NULL && view->marking)
            return true;
    }
    return false;
}

uint64_t marks_head(SiteInstance *instance, SitePerson *person, Status *ret_status)
{
    Read read = {&TABLE_VOTERS, ledger_u64(instance->arena, person->account), SLICE("head"),
                 STORE_SERIAL};
    uint64_t seq = number_in(instance, &read, ret_status);
    if (site_instance_alive(instance) && *ret_status == STATUS_OK && seq > 0 &&
        !is_under_way(instance->process, person->account))
        site_note_head(instance, person, seq); /* no page may show less from now on */
    return seq;
}

uint64_t marks_projected(SiteInstance *instance, uint32_t generation, uint64_t voter,
                         Status *ret_status)
{
    Slice row = ledger_projected_row(instance->arena, generation, voter);
    Read read = {&TABLE_PROJECTED, row, SLICE("seq"), STORE_NORMAL};
    return number_in(instance, &read, ret_status);
}

/* Every hour that can have marks; the others are empty, and looking at them all would only take time. */
static bool follow_all_marks(SiteInstance *instance)
{
    Site *site = instance->site;
    uint32_t now = ledger_hour(clock_now_us(instance->world.clock));
    bool all = true;
    for (size_t i = 0; i < site->hour_count && site_instance_alive(instance); i++) {
        size_t behind;
        if (site->hours[i] + MARKS_DAYS * 24 < now)
            continue;
        Status status = votes_sweep_hour(instance->votes, site->hours[i], &behind);
        all &= site_instance_heard(instance, "votes_sweep_hour", status);
    }
    return all && site_instance_alive(instance);
}

/* The bound on lag: an entry that stood when the sweep began is projected when the sweep ends well, whatever fails, because its
 * mark was there before it. An entry whose mark is too old for this sweep was seen by an earlier one, or by the slow pass. */
void sweeps_older(SiteInstance *instance)
{
    Site *site = instance->site;
    uint64_t heads[SITE_PEOPLE_MAX] = {0};
    size_t count = site->person_count;
    int64_t now_us = sim_world_now_us(sim_world(run_sim(instance->run)));
    Generations before, after;
    Status status = votes_generations(instance->votes, &before);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        heads[i] = marks_head(instance, &site->people[i], &status);
    if (!follow_all_marks(instance) || status != STATUS_OK ||
        now_us > MARKS_DAYS * S_PER_DAY * US_PER_S ||
        votes_generations(instance->votes, &after) != STATUS_OK || before.step != after.step)
        return;
    for (size_t i = 0; i < count; i++) {
        uint64_t projected =
            marks_projected(instance, after.current, site->people[i].account, &status);
        if (site_instance_alive(instance) && status == STATUS_OK && projected < heads[i])
            run_violated(instance->run,
                         "voter %llu: all marks were followed, but entry %llu is not projected",
                         (unsigned long long)site->people[i].account, (unsigned long long)heads[i]);
    }
}

void sweeps_slow(SiteInstance *instance)
{
    Slice position = SLICE_EMPTY;
    for (bool more = true; more && site_instance_alive(instance);) {
        size_t behind;
        if (!site_instance_heard(instance, "votes_sweep_page",
                                 votes_sweep_page(instance->votes, position, instance->arena,
                                                  &position, &more, &behind)))
            return;
    }
}

void sweeps_rebuild(SiteInstance *instance)
{
    RebuildOptions options = {.settle_s = GENERATIONS_CACHE_S + 5};
    (void)site_instance_heard(instance, "votes_rebuild", votes_rebuild(instance->votes, &options));
}

/* ---- Policies -------------------------------------------------------------------------------------------- */

static void end_deletion(SiteInstance *instance, const Policy *policy, const PolicyMove *last)
{
    SettingsHistory settings;
    Reason reason = {.rule = ""};
    int64_t now_us = clock_now_us(instance->world.clock);
    PolicyMove move = {.state = POLICY_DELETED, .reason = SLICE_EMPTY};
    if (!site_instance_heard(
            instance, "accounts_settings",
            settings_read(accounts_settings(instance->accounts), instance->arena, &settings)))
        return;
    int64_t days = settings_at(&settings, now_us)->appeal_days;
    if (last->time_us + days * S_PER_DAY * US_PER_S < now_us &&
        site_instance_heard(
            instance, "deleting",
            policies_move(instance->policies, policy->id, POLICY_PENDING_DELETION, &move, &reason)))
        (void)site_instance_heard(instance, "policies_obliterate",
                                  policies_obliterate(instance->policies, policy->id));
}

static void settle(SiteInstance *instance, const Policy *policy)
{
    const PolicyMove *last = &policy->facts.moves[policy->facts.move_count - 1];
    if (last->state == POLICY_PENDING) {
        instance->marking = true; /* a fence is marked, and nobody is told of it */
        (void)site_instance_heard(
            instance, "votes_settle_creation",
            votes_settle_creation(instance->votes, policy->id, instance->site->grace_s));
        instance->marking = false;
    } else if (last->state == POLICY_MERGING) {
        (void)site_instance_heard(instance, "policies_finish_merge",
                                  policies_finish_merge(instance->policies, policy->id));
    } else if (last->state == POLICY_PENDING_DELETION) {
        end_deletion(instance, policy, last);
    }
}

void sweeps_policies(SiteInstance *instance)
{
    Slice position = SLICE_EMPTY;
    for (bool more = true; more && site_instance_alive(instance);) {
        Policy *policies;
        size_t count;
        Status status = policies_list(instance->policies, position, instance->arena, &policies,
                                      &count, &position, &more);
        if (status == STATUS_NOT_FOUND && site_instance_alive(instance))
            run_violated(instance->run, "a list of policies is cut off by one that is not there");
        if (!site_instance_heard(instance, "policies_list", status))
            return;
        for (size_t i = 0; i < count && site_instance_alive(instance); i++)
            settle(instance, &policies[i]);
    }
}

/* ---- Leaving --------------------------------------------------------------------------------------------- */

void sweeps_leave(SiteInstance *instance, uint64_t voter)
{
    Reason reason = {.rule = ""};
    const Leaving leaving = {.accounts = instance->accounts, .policies = instance->policies};
    (void)site_instance_heard(instance, "leaving_finish", leaving_finish(&leaving, voter, &reason));
}

/* Whom the sweeps of marks and voters have met. */
void sweeps_left(SiteInstance *instance)
{
    uint64_t voters[VOTES_LEFT_MAX];
    size_t count = votes_take_left(instance->votes, voters);
    for (size_t i = 0; i < count && site_instance_alive(instance); i++)
        sweeps_leave(instance, voters[i]);
}

/* ---- Accounts -------------------------------------------------------------------------------------------- */

void sweeps_accounts(SiteInstance *instance)
{
    Slice position = SLICE_EMPTY;
    for (bool more = true; more && site_instance_alive(instance);) {
        Account *accounts;
        size_t count;
        if (!site_instance_heard(instance, "accounts_list",
                                 accounts_list(instance->accounts, position, instance->arena,
                                               &accounts, &count, &position, &more)))
            return;
        for (size_t i = 0; i < count && site_instance_alive(instance); i++)
            (void)site_instance_heard(instance, "accounts_expire",
                                      accounts_expire(instance->accounts, accounts[i].id));
    }
}
