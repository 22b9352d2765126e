/* schedule.c -- background work by the site's own scheduler, and what its tasks say of themselves. See site.h. */
#include "site/site.h"
#include "tasks/inside.h"

enum { TURNS_MOST = 4000, MARKS_DAYS = 30, SKEW_MINUTES = 11 };

void schedule_open(Hands *hands)
{
    hands->tasks = tasks_new(&(TasksOptions){.store = hands->store,
                                             .shared = true,
                                             .world = hands->world,
                                             .accounts = hands->accounts,
                                             .policies = hands->policies,
                                             .votes = hands->votes,
                                             .ranking = hands->ranking,
                                             .creation_grace_s = hands->site->grace_s,
                                             .address = "here"});
    tasks_after_crash(hands->tasks, true);
}

/* A failure that no fault explains. */
static void look_at_errors(const Hands *hands)
{
    static const Status BUGS[] = {STATUS_CORRUPT, STATUS_INVALID, STATUS_TOO_LARGE};
    for (size_t i = 0; i < hands->tasks->part_count; i++)
        for (size_t k = 0; k < sizeof BUGS / sizeof BUGS[0]; k++)
            if (strcmp(hands->tasks->parts[i].state.error, status_text(BUGS[k])) == 0)
                run_violated(hands->run, "the task %s says: %s", hands->tasks->parts[i].task->name,
                             status_text(BUGS[k]));
}

/* Whatever is due. A fence that a creation needs is marked in the hour of that moment. */
void schedule_turns(Hands *hands)
{
    hands->marking = true;
    for (int i = 0; i < TURNS_MOST && hands_alive(hands) && tasks_turn(hands->tasks) == 0; i++)
        ;
    hands->marking = false;
    look_at_errors(hands);
}

/* ---- What a whole pass means ----------------------------------------------------------------------------- */

/* Whether the task says of the pass that this instance has just made that nothing was left out. */
static bool is_whole(const Hands *hands, const char *name)
{
    for (size_t i = 0; i < hands->tasks->part_count; i++) {
        const TaskPart *part = &hands->tasks->parts[i];
        if (strcmp(part->task->name, name) == 0 &&
            (part->state.under_way || part->state.whole_us != part->state.begun_us))
            return false;
    }
    return true;
}

bool schedule_run(Hands *hands, const char *name)
{
    Reason reason = {.rule = ""};
    hands->marking = true;
    Status status = tasks_run(hands->tasks, slice_from(name), &reason);
    hands->marking = false;
    (void)hands_heard(hands, name, status);
    return hands_alive(hands) && is_whole(hands, name);
}

/* By marks, as long as no mark can have gone, and while no clock is in another hour than the others; or over all voters. */
static bool pass_over(Hands *hands)
{
    int64_t now_us = sim_world_now_us(sim_world(run_sim(hands->run)));
    int64_t minute = clock_now_us(hands->world.clock) / (60 * US_PER_S) % 60;
    bool by_marks = now_us < MARKS_DAYS * S_PER_DAY * US_PER_S && minute >= SKEW_MINUTES &&
                    minute < 60 - SKEW_MINUTES && hands_draw(hands, 4) > 0;
    if (!by_marks)
        return schedule_run(hands, "pass");
    bool recent = schedule_run(hands, "sweep");
    return schedule_run(hands, "sweep-older") && recent;
}

/* What stood when the pass began is projected when it says that it was whole. */
void watch_tasks(Hands *hands)
{
    Site *site = hands->site;
    uint64_t heads[SITE_PEOPLE_MOST] = {0};
    size_t count = site->person_count;
    Generations before, after;
    Status status = votes_generations(hands->votes, &before);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        heads[i] = marks_head(hands, site->people[i].account, &status);
    if (status != STATUS_OK || !pass_over(hands) ||
        votes_generations(hands->votes, &after) != STATUS_OK || before.step != after.step)
        return;
    for (size_t i = 0; i < count; i++) {
        uint64_t voter = site->people[i].account;
        uint64_t projected = marks_projected(hands, after.current, voter, &status);
        if (hands_alive(hands) && status == STATUS_OK && projected < heads[i])
            run_violated(hands->run,
                         "voter %llu: a pass calls itself whole, but entry %llu is not projected",
                         (unsigned long long)voter, (unsigned long long)heads[i]);
    }
}

/* ---- After everything was healed --------------------------------------------------------------------------- */

void schedule_quiet(Hands *hands)
{
    static const char *const NAMES[] = {"moves",   "names", "pass",      "sweep",
                                        "recount", "lists", "checkpoint"};
    schedule_open(hands);
    (void)shown_refresh(hands);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        if (!schedule_run(hands, NAMES[i]))
            run_violated(hands->run, "all is well, and the task %s is not whole", NAMES[i]);
}
