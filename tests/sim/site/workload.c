/* workload.c -- the workload `votes`: its mistakes, its actions, set-up and a client's life. See site.h. */
#include "site/site.h"
#include "workloads.h"

static const Mutant MUTANTS[] = {
    {"last_save_wins", "an entry is appended whatever the head is", 20, 5},
    {"unknown_sent_again", "an unknown update is sent again, and that answer is believed", 60, 21},
    {"sum_by_clock", "a total is stamped by the clock instead of by its version", 200, 5},
    {"marks_consumed", "a sweep removes the marks that it has followed", 300, 19},
    {"no_mark", "a save makes no mark", 20, 1},
    {"additions_first", "additions are projected before withdrawals", 100, 18},
    {"projected_first", "an entry is called projected before it is", 60, 4},
    {"late_day_unmarked", "a day that changes when it is over is not marked", 60, 19},
    {"day_by_clock", "a change is dated by the projector's clock", 20, 1},
    {"plain_not_acknowledged", "nobody waits for the totals to be written", 60, 7},
    {"cells_before_sum", "voters' cells are read before the sum", 60, 4},
    {"merge_without_condition", "a merge lists its source on a target in any state", 60, 2},
    {"normal_read_believed", "a policy of which a normal read lacks a part is called damaged", 1500,
     139},
    {"names_without_condition", "the clean-up frees names without a condition", 300, 19},
    {"claim_without_id", "a freed claim looks as it did before", 400, 19},
    {"sweep_skips_hours", "the sweep of older marks skips hours", 1500, 630},
    {"failed_pass_is_whole", "a pass is called whole though a read failed", 300, 24},
    {"ranking_adds_dropped", "a save that is not saved is in the ranking", 60, 4},
    {"refresh_ten_minutes", "who slept for longer than ten minutes does not ask what changed", 300,
     84},
    {"verify_ignores_seq", "the auditor takes what is behind for what is coming", 60, 4},
    {"one_page_of_marks", "a sweep stops after a page of marks", 60, 2},
    {"one_round", "a voter's entries are projected for one round only", 60, 4},
    {"another_hour_remembered", "a sum is remembered with the change of another hour", 200, 4},
    {"copy_forgotten_first", "a voter's copy is forgotten before the save and not after it", 100,
     8},
    {"fence_keeps_copy", "a voter's copy is not forgotten when a fence is appended", 100, 8},
    {"stamp_after_read", "what a reader keeps is stamped after it was read", 100, 8},
    {"ok_before_sync", "a save is told before it is durable", 600, 38},
    {"generation_unnoticed", "a ranking stays on counts that were built anew", 200, 11},
    {"left_unnoticed", "a sweep passes over whoever left and is not gone", 200, 16},
    {"follower_looks_once", "a marked count is looked at once", 100, 4},
    {"move_looked_at_once", "a marked policy is looked at once", 100, 4},
};

/* ---- Actions --------------------------------------------------------------------------------------------- */

/* What a run is about; a quarter of the seeds is about nothing in particular. */
typedef enum Theme { THEME_PEOPLE, THEME_MODERATORS, THEME_NAMES, THEME_NONE, THEME_COUNT } Theme;

/* What a client may do next, and how often; the seed turns some of it off, and its theme up. */
static const struct {
    SiteAction *act;
    uint32_t weight;
    bool always;
    Theme theme;
} ACTIONS[] = {
    {people_save, 30, true, THEME_PEOPLE},         {people_look, 10, true, THEME_PEOPLE},
    {people_send_again, 6, false, THEME_PEOPLE},   {people_create, 3, false, THEME_PEOPLE},
    {people_leave, 1, false, THEME_NONE},          {moderators_add, 2, true, THEME_MODERATORS},
    {moderators_move, 1, false, THEME_MODERATORS}, {moderators_merge, 2, false, THEME_MODERATORS},
    {moderators_set, 1, false, THEME_MODERATORS},  {names_register, 4, false, THEME_NAMES},
    {names_confirm, 2, false, THEME_NAMES},        {names_rename, 8, true, THEME_NAMES},
    {sweeps_recent, 2, false, THEME_NONE},         {sweeps_policies, 1, false, THEME_NONE},
    {sweeps_accounts, 1, false, THEME_NONE},       {sweeps_rebuild, 1, false, THEME_NONE},
    {watch_counts, 10, true, THEME_PEOPLE},        {watch_history, 2, true, THEME_PEOPLE},
    {watch_names, 6, true, THEME_NAMES},           {watch_past, 1, true, THEME_PEOPLE},
    {people_together, 6, false, THEME_PEOPLE},     {people_page, 12, true, THEME_PEOPLE},
};
enum { ACTION_COUNT = sizeof ACTIONS / sizeof ACTIONS[0] };

/* Background work of a sweeper; how often: from `least` times in a meeting's time to `most` times, or each `minutes`. What follows
 * fresh marks rests when there are none. */
static const struct {
    SiteAction *act;
    int64_t least, most, minutes;
} TASKS[] = {
    {sweeps_recent, 1, 12, 60}, {sweeps_older, 1, 4, 0},    {sweeps_slow, 1, 1, 7 * 24 * 60},
    {sweeps_policies, 1, 4, 0}, {sweeps_accounts, 1, 1, 0}, {watch_counts, 4, 32, 0},
    {watch_past, 1, 4, 0},      {sweeps_left, 1, 4, 0},
};
enum { TASK_COUNT = sizeof TASKS / sizeof TASKS[0] };

static SiteAction *draw_action(SiteInstance *instance)
{
    uint64_t total = 0;
    for (size_t i = 0; i < ACTION_COUNT; i++)
        total += instance->site->weights[i];
    uint64_t luck = site_instance_draw(instance, total);
    for (size_t i = 0;; i++) {
        if (luck < instance->site->weights[i])
            return ACTIONS[i].act;
        luck -= instance->site->weights[i];
    }
}

/* ---- Set-up ---------------------------------------------------------------------------------------------- */

static void add_voter(SiteInstance *instance, uint64_t days)
{
    Reason reason = {.rule = ""};
    uint64_t id;
    Slice name = arena_print(instance->arena, "voter%zu", instance->site->person_count);
    Registration registration = {
        .name = name,
        .email = arena_print(instance->arena, "%.*s@example.org", SLICE_ARG(name)),
        .without_password = true,
        .confirmed = true,
        .registered_us = clock_now_us(instance->world.clock) - (int64_t)days * S_PER_DAY * US_PER_S,
        .address = SLICE_EMPTY,
        .cookie = SLICE_EMPTY};
    CHECK(accounts_register(instance->accounts, &registration, &id, &reason) == STATUS_OK);
    site_add_person(instance->site, id)->confirmed = true;
}

static void add_policy(SiteInstance *instance)
{
    Reason reason = {.rule = ""};
    NewPolicy policy = {.text = {.name = arena_print(instance->arena, "old policy %zu",
                                                     instance->site->policy_count),
                                 .description = SLICE("A text."),
                                 .rationale = SLICE_EMPTY,
                                 .category = 1},
                        .version = id_new(instance->world.clock, instance->world.random),
                        .time_us = clock_now_us(instance->world.clock)};
    CHECK(policies_next_id(instance->policies, &policy.id) == STATUS_OK);
    CHECK(policies_create(instance->policies, &policy, &reason) == STATUS_OK);
    site_add_policy(instance->site, policy.id);
}

static void populate(Run *run, Store *store)
{
    ARENA_SCOPE Arena *arena = arena_new();
    SITE_INSTANCE_SCOPE SiteInstance instance;
    Reason reason = {.rule = ""};
    site_instance_open(&instance, run, NULL, store, arena);
    CHECK(policies_ensure_categories(instance.policies, POLICY_CATEGORIES, 1, &reason) ==
          STATUS_OK);
    uint64_t voters = 2 + run_draw(run, 4);
    if (((const Site *)run_state(run))->crowd)
        voters += 10;
    for (uint64_t i = voters; i > 0; i--)
        add_voter(&instance, run_draw(run, 60));
    for (uint64_t i = 2 + run_draw(run, 4); i > 0; i--)
        add_policy(&instance);
    if (run_is_exhaustive(run))
        people_begin_rush(&instance);
}

static void draw_habits(Run *run, Site *site)
{
    Arena *arena = run_arena(run);
    site->weights = ARENA_ARRAY(arena, ACTION_COUNT, uint32_t);
    site->periods_us = ARENA_ARRAY(arena, TASK_COUNT, int64_t);
    site->meeting_us = run_length_us(run) / (int64_t)(4 + run_draw(run, 12));
    Theme theme = (Theme)run_draw(run, THEME_COUNT);
    for (size_t i = 0; i < ACTION_COUNT; i++) {
        bool on = run_draw(run, 3) > 0 || ACTIONS[i].always;
        uint64_t louder = run_draw(run, 3) + (ACTIONS[i].theme == theme ? 4 : 0);
        site->weights[i] = on ? ACTIONS[i].weight << louder : 0;
    }
    for (size_t i = 0; i < TASK_COUNT; i++) {
        uint64_t range = (uint64_t)(TASKS[i].most - TASKS[i].least) + 1;
        int64_t often = TASKS[i].least + (int64_t)run_draw(run, range);
        site->periods_us[i] =
            (TASKS[i].minutes > 0 ? TASKS[i].minutes * 60 * US_PER_S : site->meeting_us) / often;
    }
    site->sweepers_wanted = 1 + run_draw(run, 2);
    site->cache_s = (int64_t)run_draw(run, 61);
    site->grace_s = 60 << run_draw(run, 10);
    site->lone = run_draw(run, 3) == 0;
}

/* Which machinery the site has: a cluster that is shared or one process alone, and how many things go on in a process at once. */
static void draw_process(Run *run, Site *site)
{
    if (run_is_exhaustive(run))
        return;
    site->copies_us = (int64_t)run_draw(run, 3) * 40 * US_PER_S;
    site->beside = run_draw(run, 2) == 0 ? 1 + run_draw(run, SITE_VIEWS - 1) : 0;
    site->crowd = run_draw(run, 4) == 0;
    if (run_draw(run, 3) > 0)
        return;
    site->solo = run_solo(run);
    site->beside = 1 + run_draw(run, SITE_VIEWS - 1);
}

/* After all else, so that it changes nothing of the other runs. */
static void draw_schedule(Run *run, Site *site)
{
    enum { LEAST_S = 1200 };
    site->scheduled = run_draw(run, 3) == 0 && !run_is_exhaustive(run);
    site->turn_us = LEAST_S * US_PER_S + site->meeting_us / (int64_t)(1 + run_draw(run, 16));
}

/* In some seeds instances die every few saves, each time leaving one machine with the write, which comes back days later; in others
 * many updates are left unfinished, and their repetitions are not. What arrives late is what sweeps and claims must stand. */
static void provoke(Run *run, SimSwarm *swarm)
{
    uint64_t mood = run_draw(run, 4);
    swarm->most_us[SIM_LATE] = (1 + (int64_t)run_draw(run, 5)) * S_PER_DAY * US_PER_S;
    if (mood == 0) {
        swarm->rate[SIM_TARGETED] = 10000 + (uint32_t)run_draw(run, 20000);
        swarm->most_us[SIM_TARGETED] = 2 * S_PER_DAY * US_PER_S;
    } else if (mood == 1) {
        swarm->rate[SIM_LATE] = 50000 + (uint32_t)run_draw(run, 200000);
        swarm->rate[SIM_UNMET] = 900000;
    }
}

static void *setup(Run *run, Store *store)
{
    Site *site = ARENA_NEW(run_arena(run), Site);
    run_set_state(run, site);
    draw_habits(run, site);
    draw_process(run, site);
    populate(run, store);
    draw_schedule(run, site);
    return site;
}

/* ---- A client's life ------------------------------------------------------------------------------------- */

/* At a meeting everybody works; between two only sweepers do, and what was late arrives. */
static void pause_people(SiteInstance *instance)
{
    uint64_t luck = site_instance_draw(instance, 24);
    int64_t us = 1 + (int64_t)site_instance_draw(instance, 10 * US_PER_MS);
    int64_t now_us = sim_world_now_us(sim_world(run_sim(instance->run)));
    if (luck == 0)
        us = instance->site->meeting_us - now_us % instance->site->meeting_us;
    else if (luck < 4)
        us = (int64_t)site_instance_draw(instance, 3 * US_PER_S);
    else if (luck == 4)
        us = (int64_t)site_instance_draw(instance, 2 * 3600 * US_PER_S);
    clock_sleep_us(instance->world.clock, us);
}

/* Instances with rankings look at them now and then. */
static bool looks_at_ranking(SiteInstance *instance)
{
    bool is_first = instance->client == instance->process->first.client;
    if (!instance->site->scheduled || !is_first || site_instance_draw(instance, 8) > 0)
        return false;
    static SiteAction *const LOOKS[] = {watch_ranking, watch_refresh, watch_refresh, watch_follow};
    LOOKS[site_instance_draw(instance, sizeof LOOKS / sizeof LOOKS[0])](instance);
    return true;
}

static void play_people(SiteInstance *instance)
{
    while (run_working(instance->run, instance->client)) {
        if (run_is_exhaustive(instance->run))
            people_rush(instance);
        else if (looks_at_ranking(instance))
            ;
        else if (!moderators_join_storm(instance))
            draw_action(instance)(instance);
        arena_reset(instance->arena);
        pause_people(instance);
    }
}

static void sleep_until(SiteInstance *instance, int64_t at_us)
{
    int64_t now_us = sim_world_now_us(sim_world(run_sim(instance->run)));
    if (at_us > now_us)
        clock_sleep_us(instance->world.clock, at_us - now_us);
}

/* When a task is due again. */
static int64_t due_after(const SiteInstance *instance, size_t task)
{
    const Site *site = instance->site;
    int64_t now_us = sim_world_now_us(sim_world(run_sim(instance->run)));
    if (TASKS[task].act == sweeps_recent && now_us - site->marked_us > 2 * 3600 * US_PER_S)
        now_us += site->meeting_us - now_us % site->meeting_us;
    return now_us + site->periods_us[task];
}

static void play_sweeper(SiteInstance *instance)
{
    int64_t due_us[TASK_COUNT], now_us = sim_world_now_us(sim_world(run_sim(instance->run)));
    for (size_t i = 0; i < TASK_COUNT; i++)
        due_us[i] =
            now_us + (int64_t)site_instance_draw(instance, (uint64_t)instance->site->periods_us[i]);
    for (;;) {
        size_t next = 0;
        for (size_t i = 1; i < TASK_COUNT; i++)
            if (due_us[i] < due_us[next])
                next = i;
        sleep_until(instance, due_us[next]);
        if (!run_working(instance->run, instance->client))
            return;
        TASKS[next].act(instance);
        arena_reset(instance->arena);
        due_us[next] = due_after(instance, next);
    }
}

static void play_scheduler(SiteInstance *instance)
{
    static SiteAction *const WATCHES[] = {watch_tasks, watch_tasks, watch_ranking, watch_counts,
                                          watch_past};
    schedule_open(instance);
    while (run_working(instance->run, instance->client)) {
        schedule_turns(instance);
        if (site_instance_alive(instance))
            WATCHES[site_instance_draw(instance, sizeof WATCHES / sizeof WATCHES[0])](instance);
        arena_reset(instance->arena);
        clock_sleep_us(
            instance->world.clock,
            1 + (int64_t)site_instance_draw(instance, 2 * (uint64_t)instance->site->turn_us));
    }
}

static void play(SiteInstance *instance, bool sweeper)
{
    if (sweeper && instance->site->scheduled)
        play_scheduler(instance);
    else if (sweeper)
        play_sweeper(instance);
    else
        play_people(instance);
}

/* What one more client of a process does. */
typedef struct Beside {
    SiteInstance instance;
    bool sweeper;
} Beside;

static void beside_life(SimClient *client, void *context)
{
    Beside *beside = context;
    ARENA_SCOPE Arena *arena = arena_new();
    (void)client;
    beside->instance.arena = arena;
    play(&beside->instance, beside->sweeper);
    site_instance_close(&beside->instance);
}

/* The one process that a store of one machine has does its background work itself. */
static void start_beside(SiteInstance *instance)
{
    const Site *site = instance->site;
    for (size_t i = 0; i < site->beside; i++) {
        Beside *beside = ARENA_NEW(run_arena(instance->run), Beside);
        SimClient *client = sim_client_join(instance->client, beside_life, beside);
        beside->sweeper = i == 0 && site->solo != NULL;
        site_instance_join(&beside->instance, instance->process, client, NULL);
    }
}

static void client_work(Run *run, SimClient *client, Store *store, Arena *arena)
{
    Site *site = run_state(run);
    SITE_INSTANCE_SCOPE SiteInstance instance;
    site_instance_open(&instance, run, client, store, arena);
    start_beside(&instance);
    bool sweeper =
        !run_is_exhaustive(run) && site->solo == NULL && site->sweepers < site->sweepers_wanted;
    site->sweepers += sweeper;
    play(&instance, sweeper);
    site->sweepers -= sweeper;
}

/* One machine has one process. */
static uint32_t lives(Run *run, uint32_t wanted)
{
    return ((const Site *)run_state(run))->solo != NULL ? 1 : wanted;
}

/* All is well again, and everything that was left behind is found. */
static void quiet_sweep(Run *run, Store *store, Arena *arena)
{
    SITE_INSTANCE_SCOPE SiteInstance instance;
    site_instance_open(&instance, run, NULL, store, arena);
    if (((const Site *)run_state(run))->scheduled) {
        schedule_quiet(&instance);
        return;
    }
    sweeps_policies(&instance);
    sweeps_accounts(&instance);
    sweeps_slow(&instance);
    sweeps_left(&instance);
}

static const Checker *const CHECKERS[] = {
    &CHECK_FINAL,     &CHECK_TOLD,     &CHECK_PAID,   &CHECK_MONEY, &CHECK_PAGES, &CHECK_TOTALS,
    &CHECK_PICTURES,  &CHECK_PAST,     &CHECK_NAMES,  &CHECK_MOVES, &CHECK_TEXTS, &CHECK_RUSH,
    &CHECK_CAUGHT_UP, &CHECK_FOLLOWED, &CHECK_COPIES, &CHECK_AUDIT, NULL};

const Workload WORKLOAD_VOTES = {
    .name = "votes",
    .mutants = MUTANTS,
    .mutant_count = sizeof MUTANTS / sizeof MUTANTS[0],
    .checkers = CHECKERS,
    .setup = setup,
    .client = client_work,
    .sweep = quiet_sweep,
    .provoke = provoke,
    .lives = lives,
    .pieces = 1,
    .scenarios = 2,
};
