/* crash_test.c -- every operation with its n-th store call going wrong, for n = 1, 2, 3 … until it is through without.
 *
 * The call is refused, lost, done without an answer, or done late; it is the only one, begins an outage, or ends the process. Whatever was
 * answered must be true when all has arrived: OK means done, anything but OK and UNKNOWN means not done and never will be.
 * Then the operation is repeated (a merge is finished by the sweep's call), with what is late arriving at every moment of that,
 * and the promises of policies.h must hold. */
#include "policies/answers.h"
#include "policies_fixture.h"

/* What the scenarios work on; new for every run. */
static uint64_t source, target;
static NewPolicy created;
static PolicyMove move;
static PolicyText text;
static Id seen;
static char party_name[32];
static int runs;

static void prepare_create(void)
{
    created = policies_fixture_new("Free buses");
    source = target = created.id;
}

static Status run_create(void)
{
    return policies_create(fixture.policies, &created, NULL);
}

static bool done_create(void)
{
    Policy policy;
    return policies_fresh(fixture.policies, created.id, fixture.arena, &policy) == STATUS_OK &&
           id_equal(policy.created_version, created.version);
}

static void prepare_move(void)
{
    source = target = policies_fixture_pending("Free buses");
    move = (PolicyMove){.state = POLICY_ACTIVE, .actor = POLICIES_FIXTURE_OWNER};
}

static Status run_move(void)
{
    return policies_move(fixture.policies, source, POLICY_PENDING, &move, NULL);
}

static bool done_move(void)
{
    Policy policy = policies_fixture_read(source);
    return policy.facts.move_count == 2 && id_equal(policy.facts.moves[1].id, move.id);
}

static void prepare_edit(void)
{
    source = target = policies_fixture_active("Free buses");
    text = policies_fixture_text("Free trams");
    seen = policies_fixture_read(source).version;
}

static Status run_edit(void)
{
    return policies_edit(fixture.policies, source, seen, &text, 1, NULL);
}

static bool done_edit(void)
{
    Policy policy = policies_fixture_read(source);
    PolicyRevision first;
    if (policy.revision == 1)
        return false;
    EXPECT_I64(policy.revision, 2);
    EXPECT_STATUS(policies_revision(fixture.policies, source, 1, fixture.arena, &first), STATUS_OK);
    EXPECT_SLICE(first.text.name, SLICE("Free buses"));
    return slice_equal(policy.text.name, SLICE("Free trams"));
}

static void prepare_merge(void)
{
    source = policies_fixture_active("Free buses");
    target = policies_fixture_active("Free trams");
}

static Status run_merge(void)
{
    return policies_merge(fixture.policies, source, target, POLICIES_FIXTURE_ACTOR,
                          SLICE("the same"), NULL);
}

static bool done_merge(void)
{
    return policies_fixture_state(source) == POLICY_MERGED;
}

/* The sweep's call settles it, now and at the next sweep, for a first step that arrived late; a merge that never began is asked
 * for again. */
static Status again_merge(void)
{
    for (int i = 0; i < 3; i++) {
        TRY(policies_finish_merge(fixture.policies, source));
        PolicyState state = policies_fixture_state(source);
        if (state == POLICY_MERGED)
            return STATUS_OK;
        Status status = state == POLICY_ACTIVE ? run_merge() : STATUS_OK;
        if (status == STATUS_UNAVAILABLE || status == STATUS_UNKNOWN)
            return status;
    }
    return policies_fixture_state(source) == POLICY_MERGED ? STATUS_OK : STATUS_CONFLICT;
}

/* A merge into a new policy, by its name: repeated, it is the same merge into the same policy. */
static PolicyMerge merge;

static void prepare_new_target(void)
{
    source = target = policies_fixture_active("Free buses");
    merge =
        (PolicyMerge){.id = policies_fixture_id(), .source = source, .reason = SLICE("the same")};
    text = policies_fixture_text("Free buses and trams");
}

static Status run_new_target(void)
{
    TRY(policies_merge_target(fixture.policies, &merge, &text, &merge.target, NULL));
    return policies_merge_named(fixture.policies, &merge, NULL);
}

static bool done_new_target(void)
{
    Policy policy = policies_fixture_read(source);
    const PolicyMove *last = &policy.facts.moves[policy.facts.move_count - 1];
    return last->state == POLICY_MERGED && last->other == merge.target;
}

static Status again_new_target(void)
{
    Status status = run_new_target();
    if (status == STATUS_REFUSED) { /* it fell back, and another try needs another name */
        merge.id = policies_fixture_id();
        status = run_new_target();
    }
    return status;
}

static void prepare_restore(void)
{
    source = target = policies_fixture_active("Free buses");
    EXPECT_STATUS(policies_fixture_move(source, POLICY_RETIRED), STATUS_OK);
    EXPECT_STATUS(policies_fixture_move(source, POLICY_PENDING_DELETION), STATUS_OK);
    move = (PolicyMove){
        .id = policies_fixture_id(), .actor = POLICIES_FIXTURE_ACTOR, .reason = SLICE("a mistake")};
}

static Status run_restore(void)
{
    return policies_restore(fixture.policies, source, &move, NULL);
}

static bool done_restore(void)
{
    Policy policy = policies_fixture_read(source);
    const PolicyMove *last = &policy.facts.moves[policy.facts.move_count - 1];
    EXPECT(policy.facts.move_count <= 5);
    return last->state == POLICY_RETIRED && id_equal(last->id, move.id) &&
           last->payer == POLICIES_FIXTURE_OWNER && last->percent == POLICIES_FIXTURE_PERCENT;
}

static void prepare_answer(void)
{
    source = target = policies_fixture_active("Free buses");
    AnswerRequest first = {
        .outcome = OUTCOME_CONSIDERING, .text = SLICE("We look at it."), .author = 3};
    AnswerState state;
    EXPECT_STATUS(answers_give(fixture.policies, source, &first, NULL), STATUS_OK);
    EXPECT_STATUS(answers_read(fixture.policies, source, fixture.arena, &state), STATUS_OK);
    seen = state.answer.version;
}

static Status run_answer(void)
{
    AnswerRequest want = {
        .seen = seen, .outcome = OUTCOME_ACCEPTED, .text = SLICE("We do it."), .author = 4};
    return answers_give(fixture.policies, source, &want, NULL);
}

static bool done_answer(void)
{
    AnswerState state;
    Answer first;
    EXPECT_STATUS(answers_read(fixture.policies, source, fixture.arena, &state), STATUS_OK);
    EXPECT(state.is_answered && state.answer.revision <= 2);
    EXPECT_STATUS(answers_revision(fixture.policies, source, 1, fixture.arena, &first), STATUS_OK);
    EXPECT_SLICE(first.text, SLICE("We look at it."));
    return state.answer.revision == 2 && state.answer.outcome == OUTCOME_ACCEPTED;
}

static Status run_due(void)
{
    TRY(answers_note_due(fixture.policies, source, 1000));
    return answers_note_told(fixture.policies, source);
}

static bool done_due(void)
{
    AnswerState state;
    EXPECT_STATUS(answers_read(fixture.policies, source, fixture.arena, &state), STATUS_OK);
    return state.is_due && state.is_told && state.due_votes == 1000;
}

static void prepare_disown(void)
{
    source = target = policies_fixture_active("Free buses");
}

static Status run_disown(void)
{
    return policies_disown(fixture.policies, source, POLICIES_FIXTURE_OWNER);
}

static bool done_disown(void)
{
    return policies_fixture_read(source).owner == 0;
}

static void prepare_obliterate(void)
{
    prepare_edit();
    EXPECT_STATUS(run_edit(), STATUS_OK);
    EXPECT_STATUS(policies_fixture_move(source, POLICY_PENDING_DELETION), STATUS_OK);
    EXPECT_STATUS(policies_fixture_move(source, POLICY_DELETED), STATUS_OK);
}

static Status run_obliterate(void)
{
    return policies_obliterate(fixture.policies, source);
}

static bool done_obliterate(void)
{
    PolicyRevision revision;
    Status first = policies_revision(fixture.policies, source, 1, fixture.arena, &revision);
    bool gone = policies_fixture_read(source).revision == 0;
    EXPECT_STATUS(first, gone ? STATUS_NOT_FOUND : STATUS_OK);
    return gone;
}

static void prepare_group(void)
{
    source = target = policies_fixture_active("Free buses");
    snprintf(party_name, sizeof party_name, "Party %d", ++runs);
}

static Status run_group(void)
{
    uint64_t id;
    PolicyGroup group = {
        .name = slice_from(party_name), .description = SLICE_EMPTY, .active = true};
    return policies_set_group(fixture.policies, GROUP_PARTY, &group, &id, NULL);
}

static bool done_group(void)
{
    PolicyGroup *groups;
    size_t count = 0, found = 0;
    EXPECT_STATUS(policies_groups(fixture.policies, GROUP_PARTY, fixture.arena, &groups, &count),
                  STATUS_OK);
    for (size_t i = 0; i < count; i++)
        found += slice_equal(groups[i].name, slice_from(party_name));
    EXPECT(found <= 1);
    return found == 1;
}

static Status again_group(void)
{
    Status status = run_group();
    return status == STATUS_REFUSED ? STATUS_OK : status; /* whether it is there is seen to next */
}

typedef struct Scenario {
    void (*prepare)(void);
    Status (*run)(void);
    bool (*done)(void);
    Status (*again)(void);
} Scenario;

/* What goes wrong in one run. What is late arrives before the repetition, before its n-th call, or after it. */
typedef struct Plan {
    int at;
    FaultFate fate;
    int lasts;
    int arrives_at; /* 0: before; more than it has calls: after */
} Plan;

typedef struct Outcome {
    bool struck; /* the planned call came */
    bool was_late, arrived_within;
} Outcome;

static Outcome strike(const Scenario *scenario, const Plan *plan)
{
    scenario->prepare();
    faulty_plan(&fixture.faulty, plan->at, plan->fate, plan->lasts);
    Status status = scenario->run();
    Outcome outcome = {faulty_struck(&fixture.faulty), fixture.faulty.has_late, false};
    faulty_arrive(&fixture.faulty, 0);
    if (plan->lasts == FAULT_FOREVER)
        policies_fixture_renew();
    if (plan->arrives_at == 0)
        faulty_deliver(&fixture.faulty);
    if (status == STATUS_OK)
        EXPECT(scenario->done());
    else if (status != STATUS_UNKNOWN)
        EXPECT(!scenario->done());
    if (!outcome.struck)
        EXPECT_STATUS(status, STATUS_OK);
    faulty_arrive(&fixture.faulty, plan->arrives_at);
    EXPECT_STATUS(scenario->again(), STATUS_OK);
    outcome.arrived_within = outcome.was_late && !fixture.faulty.has_late;
    faulty_arrive(&fixture.faulty, 0);
    EXPECT(scenario->done());
    faulty_deliver(&fixture.faulty);
    EXPECT(scenario->done());
    policies_fixture_renew();
    policies_fixture_check(source, target);
    return outcome;
}

/* The same run with the late update arriving at every moment of the repetition. */
static void arrive_at_every_call(const Scenario *scenario, Plan plan)
{
    do
        plan.arrives_at++;
    while (strike(scenario, &plan).arrived_within);
}

static void try_everything(const Scenario *scenario)
{
    policies_fixture_begin();
    for (int fate = 0; fate < FAULT_FATES; fate++)
        for (int i = 0; i < 3; i++) {
            static const int lasts[] = {FAULT_ONCE, FAULT_OUTAGE, FAULT_FOREVER};
            Plan plan = {.fate = (FaultFate)fate, .lasts = lasts[i]};
            Outcome outcome = {.struck = true};
            for (plan.at = 1; outcome.struck; plan.at++) {
                outcome = strike(scenario, &plan);
                if (outcome.was_late)
                    arrive_at_every_call(scenario, plan);
            }
            EXPECT(plan.at > 3);
        }
    policies_fixture_end();
}

/* ---- A rival in between ----------------------------------------------------------------------------------------- */

/* Somebody else's request is under way and arrives right after ours was lost: ours must not be taken for done. */
static void lose_to_a_rival(const Scenario *scenario, Status (*rival)(void))
{
    policies_fixture_begin();
    for (int at = 1; at <= 4; at++) {
        scenario->prepare();
        for (int call = 1; !fixture.faulty.has_late; call++) {
            faulty_plan(&fixture.faulty, call, FAULT_LATE, FAULT_FOREVER);
            EXPECT(rival() != STATUS_OK);
        }
        policies_fixture_renew();
        fixture.faulty.calls = 0;
        fixture.faulty.at = at;
        fixture.faulty.fate = FAULT_LOST;
        fixture.faulty.lasts = FAULT_ONCE;
        fixture.faulty.arrives_at = at + 1;
        Status status = scenario->run();
        faulty_arrive(&fixture.faulty, 0);
        fixture.faulty.has_late = false;
        EXPECT(status != STATUS_UNKNOWN);
        EXPECT(scenario->done() == (status == STATUS_OK));
    }
    policies_fixture_end();
}

static Status rival_edit(void)
{
    PolicyText other = policies_fixture_text("Free trains");
    return policies_edit(fixture.policies, source, seen, &other, 2, NULL);
}

static Status rival_move(void)
{
    PolicyMove other = {.state = POLICY_VOID};
    return policies_move(fixture.policies, source, POLICY_PENDING, &other, NULL);
}

TEST(another_editor_right_after_ours_was_lost)
{
    lose_to_a_rival(&(Scenario){prepare_edit, run_edit, done_edit, run_edit}, rival_edit);
}

TEST(another_move_right_after_ours_was_lost)
{
    lose_to_a_rival(&(Scenario){prepare_move, run_move, done_move, run_move}, rival_move);
}

/* ---- All of them ---------------------------------------------------------------------------------------------- */

TEST(create)
{
    try_everything(&(Scenario){prepare_create, run_create, done_create, run_create});
}

TEST(move)
{
    try_everything(&(Scenario){prepare_move, run_move, done_move, run_move});
}

TEST(edit)
{
    try_everything(&(Scenario){prepare_edit, run_edit, done_edit, run_edit});
}

TEST(merge)
{
    try_everything(&(Scenario){prepare_merge, run_merge, done_merge, again_merge});
}

TEST(merge_into_a_new_policy)
{
    try_everything(
        &(Scenario){prepare_new_target, run_new_target, done_new_target, again_new_target});
}

TEST(restore)
{
    try_everything(&(Scenario){prepare_restore, run_restore, done_restore, run_restore});
}

TEST(answer)
{
    try_everything(&(Scenario){prepare_answer, run_answer, done_answer, run_answer});
}

TEST(note_that_an_answer_is_due)
{
    try_everything(&(Scenario){prepare_disown, run_due, done_due, run_due});
}

TEST(disown)
{
    try_everything(&(Scenario){prepare_disown, run_disown, done_disown, run_disown});
}

TEST(obliterate)
{
    try_everything(
        &(Scenario){prepare_obliterate, run_obliterate, done_obliterate, run_obliterate});
}

TEST(set_group)
{
    try_everything(&(Scenario){prepare_group, run_group, done_group, again_group});
}
