/* schedule.c -- background work by the site's own scheduler, and what its tasks say of themselves. See site.h. */
#include "site/site.h"
#include "tasks/tasks_private.h"

enum { TURNS_MAX = 4000, MARKS_DAYS = 30, SKEW_MINUTES = 11 };

void schedule_open(SiteInstance *instance)
{
    instance->tasks = tasks_new(&(TasksOptions){.store = instance->store,
                                                .shared = true,
                                                .world = instance->world,
                                                .accounts = instance->accounts,
                                                .policies = instance->policies,
                                                .votes = instance->votes,
                                                .ranking = instance->ranking,
                                                .creation_grace_s = instance->site->grace_s,
                                                .address = "here"});
    tasks_after_crash(instance->tasks, true);
}

/* A failure that no fault explains. */
static void look_at_errors(const SiteInstance *instance)
{
    static const Status BUGS[] = {STATUS_CORRUPT, STATUS_INVALID, STATUS_TOO_LARGE};
    for (size_t i = 0; i < instance->tasks->part_count; i++)
        for (size_t k = 0; k < sizeof BUGS / sizeof BUGS[0]; k++)
            if (strcmp(instance->tasks->parts[i].state.error, status_text(BUGS[k])) == 0)
                run_violated(instance->run, "the task %s says: %s",
                             instance->tasks->parts[i].task->name, status_text(BUGS[k]));
}

/* Whatever is due. A fence that a creation needs is marked in the hour of that moment. */
void schedule_turns(SiteInstance *instance)
{
    instance->marking = true;
    for (int i = 0;
         i < TURNS_MAX && site_instance_alive(instance) && tasks_turn(instance->tasks) == 0; i++)
        ;
    instance->marking = false;
    look_at_errors(instance);
}

/* ---- What a whole pass means ----------------------------------------------------------------------------- */

/* Whether the task says of the pass that this instance has just made that nothing was left out. */
static bool is_whole(const SiteInstance *instance, const char *name)
{
    for (size_t i = 0; i < instance->tasks->part_count; i++) {
        const TaskPart *part = &instance->tasks->parts[i];
        if (strcmp(part->task->name, name) == 0 &&
            (part->state.under_way || part->state.whole_us != part->state.begun_us))
            return false;
    }
    return true;
}

bool schedule_run(SiteInstance *instance, const char *name)
{
    Reason reason = {.rule = ""};
    instance->marking = true;
    Status status = tasks_run(instance->tasks, slice_from(name), &reason);
    instance->marking = false;
    (void)site_instance_heard(instance, name, status);
    return site_instance_alive(instance) && is_whole(instance, name);
}

/* By marks, as long as no mark can have gone, and while no clock is in another hour than the others; or over all voters. */
static bool pass_over(SiteInstance *instance)
{
    int64_t now_us = sim_world_now_us(sim_world(run_sim(instance->run)));
    int64_t minute = clock_now_us(instance->world.clock) / (60 * US_PER_S) % 60;
    bool by_marks = now_us < MARKS_DAYS * S_PER_DAY * US_PER_S && minute >= SKEW_MINUTES &&
                    minute < 60 - SKEW_MINUTES && site_instance_draw(instance, 4) > 0;
    if (!by_marks)
        return schedule_run(instance, "pass");
    bool recent = schedule_run(instance, "sweep");
    return schedule_run(instance, "sweep-older") && recent;
}

/* What stood when the pass began is projected when it says that it was whole. */
void watch_tasks(SiteInstance *instance)
{
    Site *site = instance->site;
    uint64_t heads[SITE_PEOPLE_MAX] = {0};
    size_t count = site->person_count;
    Generations before, after;
    Status status = votes_generations(instance->votes, &before);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        heads[i] = marks_head(instance, &site->people[i], &status);
    if (status != STATUS_OK || !pass_over(instance) ||
        votes_generations(instance->votes, &after) != STATUS_OK || before.step != after.step)
        return;
    for (size_t i = 0; i < count; i++) {
        uint64_t voter = site->people[i].account;
        uint64_t projected = marks_projected(instance, after.current, voter, &status);
        if (site_instance_alive(instance) && status == STATUS_OK && projected < heads[i])
            run_violated(instance->run,
                         "voter %llu: a pass calls itself whole, but entry %llu is not projected",
                         (unsigned long long)voter, (unsigned long long)heads[i]);
    }
}

/* ---- After everything was healed --------------------------------------------------------------------------- */

void schedule_quiet(SiteInstance *instance)
{
    static const char *const NAMES[] = {"moves",   "names",   "pass",  "sweep",
                                        "leaving", "recount", "lists", "checkpoint"};
    schedule_open(instance);
    (void)shown_refresh(instance);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        if (!schedule_run(instance, NAMES[i]))
            run_violated(instance->run, "all is well, and the task %s is not whole", NAMES[i]);
}
