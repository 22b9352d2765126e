/* check_copies.c -- where nobody else writes, what a process keeps of a voter in memory is what is stored, also when a fence was appended,
 * when a slow reader comes back with what stood before, and when a page was looked at just before somebody left. See site.h. */
#include "site/site.h"

static SitePerson *person_of(SiteInstance *instance)
{
    return instance->process->quick.person;
}

/* What a creation leaves that was given up before its entry; settling it puts a fence where the entry would have been. */
static void append_fence(SiteInstance *instance)
{
    Reason reason = {.rule = ""};
    Status status = STATUS_OK;
    NewPolicy policy = {.text = {.name = SLICE("given up"),
                                 .description = SLICE("A text."),
                                 .rationale = SLICE_EMPTY,
                                 .category = 1},
                        .creator = person_of(instance)->account,
                        .seq = marks_head(instance, person_of(instance), &status) + 1,
                        .version = id_new(instance->world.clock, instance->world.random),
                        .time_us = clock_now_us(instance->world.clock)};
    if (site_instance_heard(instance, "a head", status) &&
        site_instance_heard(instance, "policies_next_id",
                            policies_next_id(instance->policies, &policy.id)) &&
        site_instance_heard(instance, "policies_create",
                            policies_create(instance->policies, &policy, &reason)))
        (void)site_instance_heard(instance, "votes_settle_creation",
                                  votes_settle_creation(instance->votes, policy.id, 0));
}

static uint64_t seq_of_page(SiteInstance *instance)
{
    Account account;
    VoterState state = {.seq = 0};
    Status status = accounts_recent(instance->accounts, person_of(instance)->account,
                                    instance->arena, &account);
    if (status == STATUS_OK)
        status = votes_cached(instance->votes, &account, instance->arena, &state);
    (void)site_instance_heard(instance, "a page", status);
    return state.seq;
}

static void expect_page(SiteInstance *instance, const char *when)
{
    Status status;
    uint64_t shown = seq_of_page(instance);
    uint64_t stored = marks_head(instance, person_of(instance), &status);
    if (site_instance_heard(instance, "a head", status) && shown != stored)
        run_violated(instance->run, "%s a page shows entry %llu of voter %llu, and %llu is stored",
                     when, (unsigned long long)shown,
                     (unsigned long long)person_of(instance)->account, (unsigned long long)stored);
}

static void look(SiteInstance *instance)
{
    (void)seq_of_page(instance);
}

static void happens(SiteInstance *instance, bool at_update, void (*what)(SiteInstance *))
{
    Quick *quick = &instance->process->quick;
    quick->reader = instance;
    quick->at_update = at_update;
    quick->meanwhile = what;
}

static void leave(SiteInstance *instance)
{
    Reason reason = {.rule = ""};
    happens(instance, true, look);
    if (site_instance_heard(instance, "votes_leave",
                            votes_leave(instance->votes, person_of(instance)->account, &reason)))
        sweeps_leave(instance, person_of(instance)->account);
    instance->process->quick.reader = NULL;
}

static void check(Run *run, Store *store, Arena *arena)
{
    Site *site = run_state(run);
    if (!site->scheduled || site->solo == NULL)
        return;
    SITE_INSTANCE_SCOPE SiteInstance instance;
    site_instance_open(&instance, run, NULL, store, arena);
    instance.process->quick.person = &site->people[0]; /* who never leaves */
    expect_page(&instance, "after the start");
    append_fence(&instance);
    expect_page(&instance, "after a fence");
    append_fence(&instance); /* nothing is kept now, so the next page reads */
    happens(&instance, false, append_fence);
    look(&instance);
    expect_page(&instance, "after a slow reader");
    instance.process->quick.person = &site->people[1];
    leave(&instance);
    expect_page(&instance, "after leaving");
    sweeps_slow(&instance);
}

const Checker CHECK_COPIES = {"copies are what is stored", check};
