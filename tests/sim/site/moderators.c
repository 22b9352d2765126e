/* moderators.c -- moves of policies, storms of merges, and settings that change. See site.h. */
#include "site/site.h"

enum { FIRST_ACTOR = 1000000 };

static SiteMove *note_move(Hands *hands, uint64_t policy, PolicyState to, Id id)
{
    Site *site = hands->site;
    SiteMove *move = ARENA_NEW(run_arena(hands->run), SiteMove);
    *move = (SiteMove){.policy = policy,
                       .actor = FIRST_ACTOR + site->move_count++,
                       .id = id,
                       .to = to,
                       .next = site->moves};
    site->moves = move;
    return move;
}

static void hear_move(Hands *hands, SiteMove *move, Status status)
{
    move->answered = hands_alive(hands);
    move->status = status;
    (void)hands_heard(hands, "a move", status);
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

void moderators_move(Hands *hands)
{
    uint64_t policy = site_any_policy(hands);
    size_t at = hands_draw(hands, sizeof TRIED / sizeof TRIED[0]);
    Reason reason = {.rule = ""};
    Id id = id_new(hands->world.clock, hands->world.random);
    SiteMove *noted = note_move(hands, policy, TRIED[at].to, id);
    PolicyMove move = {
        .state = TRIED[at].to, .id = id, .actor = noted->actor, .reason = SLICE("because")};
    if (move.state == POLICY_RETIRED && TRIED[at].from == POLICY_ACTIVE)
        move.percent = 50;
    Status status = policies_move(hands->policies, policy, TRIED[at].from, &move, &reason);
    if (status == STATUS_UNKNOWN && hands_draw(hands, 2) == 0) {
        status = policies_move(hands->policies, policy, TRIED[at].from, &move, &reason);
        if (status == STATUS_UNAVAILABLE) /* the second request; the first may be done */
            status = STATUS_UNKNOWN;
    }
    hear_move(hands, noted, status);
}

/* A new one that a merge may lead to: active at once, without owner. */
void moderators_add(Hands *hands)
{
    Site *site = hands->site;
    Reason reason = {.rule = ""};
    NewPolicy policy = {.text = {.name = arena_print(hands->arena, "added %zu", site->policy_count),
                                 .description = SLICE("A text."),
                                 .rationale = SLICE_EMPTY,
                                 .category = 1},
                        .version = id_new(hands->world.clock, hands->world.random),
                        .time_us = clock_now_us(hands->world.clock)};
    if (site->policy_count >= SITE_POLICIES_MOST * 3 / 4 ||
        !hands_heard(hands, "policies_next_id", policies_next_id(hands->policies, &policy.id)))
        return;
    if (hands_heard(hands, "policies_create", policies_create(hands->policies, &policy, &reason)))
        site_add_policy(site, policy.id);
}

/* ---- Merges ---------------------------------------------------------------------------------------------- */

static void merge(Hands *hands, uint64_t source, uint64_t target)
{
    Reason reason = {.rule = ""};
    SiteMove *noted = note_move(hands, source, POLICY_MERGED, (Id){{0}});
    hear_move(
        hands, noted,
        policies_merge(hands->policies, source, target, noted->actor, SLICE("the same"), &reason));
}

bool moderators_join_storm(Hands *hands)
{
    Site *site = hands->site;
    int64_t wait_us = site->storm_us - sim_world_now_us(sim_world(run_sim(hands->run)));
    if (wait_us <= 0)
        return false;
    uint32_t one = site->storm_merges++ % 2;
    uint64_t source = site->storm[one], target = site->storm[1 - one];
    clock_sleep_us(hands->world.clock, wait_us);
    merge(hands, source, target);
    return true;
}

/* Alone, or with whoever comes within some seconds: then all merge at one moment, half of them the other way round. */
void moderators_merge(Hands *hands)
{
    Site *site = hands->site;
    uint64_t source = site_any_policy(hands), target = site_any_policy(hands);
    if (source == target)
        return;
    if (hands_draw(hands, 2) == 0) {
        merge(hands, source, target);
        return;
    }
    site->storm[0] = source;
    site->storm[1] = target;
    site->storm_us = sim_world_now_us(sim_world(run_sim(hands->run))) + 3 * US_PER_S;
    (void)moderators_join_storm(hands);
}

/* ---- Texts and settings ---------------------------------------------------------------------------------- */

/* On the version that was just seen, or on none that is there. */
void moderators_edit(Hands *hands)
{
    Site *site = hands->site;
    Policy policy;
    Reason reason = {.rule = ""};
    uint64_t id = site_any_policy(hands);
    if (!hands_heard(hands, "policies_read",
                     policies_read(hands->policies, id, hands->arena, &policy)) ||
        policy.revision == 0)
        return;
    SiteEdit *edit = ARENA_NEW(run_arena(hands->run), SiteEdit);
    *edit = (SiteEdit){.policy = id, .number = ++site->edit_count, .next = site->edits};
    site->edits = edit;
    PolicyText text = policy.text;
    text.description = arena_print(hands->arena, "edit %llu", (unsigned long long)edit->number);
    if (hands_draw(hands, 2) == 0)
        text.name =
            arena_print(hands->arena, "name %llu", (unsigned long long)hands_draw(hands, 4));
    edit->status = policies_edit(hands->policies, id, policy.version, &text, 1, &reason);
    edit->answered = hands_alive(hands);
    (void)hands_heard(hands, "policies_edit", edit->status);
}

void moderators_set(Hands *hands)
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
    size_t at = hands_draw(hands, sizeof VALUES / sizeof VALUES[0]);
    Reason reason = {.rule = ""};
    (void)hands_heard(
        hands, "accounts_set_setting",
        accounts_set_setting(hands->accounts, VALUES[at].name, VALUES[at].value, 0, &reason));
}
