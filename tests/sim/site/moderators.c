/* moderators.c -- moves of policies, storms of merges, and settings that change. See site.h. */
#include "site/site.h"

enum { FIRST_ACTOR = 1000000 };

static SiteMove *note_move(SiteInstance *instance, uint64_t policy, PolicyState to, Id id)
{
    Site *site = instance->site;
    SiteMove *move = ARENA_NEW(run_arena(instance->run), SiteMove);
    *move = (SiteMove){.policy = policy,
                       .actor = FIRST_ACTOR + site->move_count++,
                       .id = id,
                       .to = to,
                       .next = site->moves};
    site->moves = move;
    return move;
}

static void hear_move(SiteInstance *instance, SiteMove *move, Status status)
{
    move->answered = site_instance_alive(instance);
    move->status = status;
    (void)site_instance_heard(instance, "a move", status);
}

/* Some of these are refused: they are tried from states that do not allow them, too. */
static const struct {
    PolicyState from, to;
} TRIED[] = {
    {POLICY_ACTIVE, POLICY_RETIRED},           {POLICY_ACTIVE, POLICY_PENDING_DELETION},
    {POLICY_RETIRED, POLICY_PENDING_DELETION}, {POLICY_PENDING_DELETION, POLICY_ACTIVE},
    {POLICY_PENDING_DELETION, POLICY_RETIRED}, {POLICY_RETIRED, POLICY_ACTIVE},
    {POLICY_PENDING_DELETION, POLICY_ACTIVE},  {POLICY_MERGED, POLICY_ACTIVE},
};

void moderators_move(SiteInstance *instance)
{
    uint64_t policy = site_any_policy(instance);
    size_t at = site_instance_draw(instance, sizeof TRIED / sizeof TRIED[0]);
    Reason reason = {.rule = ""};
    Id id = id_new(instance->world.clock, instance->world.random);
    SiteMove *noted = note_move(instance, policy, TRIED[at].to, id);
    PolicyMove move = {
        .state = TRIED[at].to, .id = id, .actor = noted->actor, .reason = SLICE("because")};
    if (move.state == POLICY_RETIRED && TRIED[at].from == POLICY_ACTIVE)
        move.percent = 50;
    Status status = policies_move(instance->policies, policy, TRIED[at].from, &move, &reason);
    if (status == STATUS_UNKNOWN && site_instance_draw(instance, 2) == 0) {
        status = policies_move(instance->policies, policy, TRIED[at].from, &move, &reason);
        if (status == STATUS_UNAVAILABLE) /* the second request; the first may be done */
            status = STATUS_UNKNOWN;
    }
    hear_move(instance, noted, status);
}

/* A new one that a merge may lead to: active at once, without owner. */
void moderators_add(SiteInstance *instance)
{
    Site *site = instance->site;
    Reason reason = {.rule = ""};
    NewPolicy policy = {
        .text = {.name = arena_print(instance->arena, "added %zu", site->policy_count),
                 .description = SLICE("A text."),
                 .rationale = SLICE_EMPTY,
                 .category = 1},
        .version = id_new(instance->world.clock, instance->world.random),
        .time_us = clock_now_us(instance->world.clock)};
    if (site->policy_count >= SITE_POLICIES_MAX * 3 / 4 ||
        !site_instance_heard(instance, "policies_next_id",
                             policies_next_id(instance->policies, &policy.id)))
        return;
    if (site_instance_heard(instance, "policies_create",
                            policies_create(instance->policies, &policy, &reason)))
        site_add_policy(site, policy.id);
}

/* ---- Merges ---------------------------------------------------------------------------------------------- */

static void merge(SiteInstance *instance, uint64_t source, uint64_t target)
{
    Reason reason = {.rule = ""};
    SiteMove *noted = note_move(instance, source, POLICY_MERGED, (Id){{0}});
    hear_move(instance, noted,
              policies_merge(instance->policies, source, target, noted->actor, SLICE("the same"),
                             &reason));
}

bool moderators_join_storm(SiteInstance *instance)
{
    Site *site = instance->site;
    int64_t wait_us = site->storm_us - sim_world_now_us(sim_world(run_sim(instance->run)));
    if (wait_us <= 0)
        return false;
    uint32_t one = site->storm_merges++ % 2;
    uint64_t source = site->storm[one], target = site->storm[1 - one];
    clock_sleep_us(instance->world.clock, wait_us);
    merge(instance, source, target);
    return true;
}

/* Alone, or with whoever comes within some seconds: then all merge at one moment, half of them the other way round. */
void moderators_merge(SiteInstance *instance)
{
    Site *site = instance->site;
    uint64_t source = site_any_policy(instance), target = site_any_policy(instance);
    if (source == target)
        return;
    if (site_instance_draw(instance, 2) == 0) {
        merge(instance, source, target);
        return;
    }
    site->storm[0] = source;
    site->storm[1] = target;
    site->storm_us = sim_world_now_us(sim_world(run_sim(instance->run))) + 3 * US_PER_S;
    (void)moderators_join_storm(instance);
}

/* ---- Texts and settings ---------------------------------------------------------------------------------- */

/* On the version that was just seen, or on none that is there. */
void moderators_edit(SiteInstance *instance)
{
    Site *site = instance->site;
    Policy policy;
    Reason reason = {.rule = ""};
    uint64_t id = site_any_policy(instance);
    if (!site_instance_heard(instance, "policies_read",
                             policies_read(instance->policies, id, instance->arena, &policy)) ||
        policy.revision == 0)
        return;
    SiteEdit *edit = ARENA_NEW(run_arena(instance->run), SiteEdit);
    *edit = (SiteEdit){.policy = id, .number = ++site->edit_count, .next = site->edits};
    site->edits = edit;
    PolicyText text = policy.text;
    text.description = arena_print(instance->arena, "edit %llu", (unsigned long long)edit->number);
    if (site_instance_draw(instance, 2) == 0)
        text.name = arena_print(instance->arena, "name %llu",
                                (unsigned long long)site_instance_draw(instance, 4));
    edit->status = policies_edit(instance->policies, id, policy.version, &text, 1, &reason);
    edit->answered = site_instance_alive(instance);
    (void)site_instance_heard(instance, "policies_edit", edit->status);
}

void moderators_set(SiteInstance *instance)
{
    static const struct {
        Slice name, value;
    } VALUES[] = {
        {{"withdrawal_percent", 18}, {"0", 1}},
        {{"withdrawal_percent", 18}, {"50", 2}},
        {{"salary", 6}, {"50", 2}},
        {{"salary", 6}, {"150", 3}},
        {{"create_cost", 11}, {"40", 2}},
    };
    size_t at = site_instance_draw(instance, sizeof VALUES / sizeof VALUES[0]);
    Reason reason = {.rule = ""};
    (void)site_instance_heard(instance, "accounts_set_setting",
                              settings_set(accounts_settings(instance->accounts), VALUES[at].name,
                                           VALUES[at].value, 0, &reason));
}
