/* merge_test.c -- merges: the way of one, of several in a row, and those that fall back. */
#include "policies/policies_internal.h"
#include "stage.h"

static void expect_members(uint64_t root, const uint64_t *expected, size_t expected_count)
{
    uint64_t *members;
    size_t count;
    EXPECT_STATUS(policies_members(stage.policies, root, stage.arena, &members, &count), STATUS_OK);
    EXPECT_I64(count, expected_count);
    for (size_t i = 0; i < count; i++)
        EXPECT_I64(members[i], expected[i]);
}

static void expect_refused(uint64_t source, uint64_t target)
{
    Reason reason = {.rule = ""};
    EXPECT_STATUS(policies_merge(stage.policies, source, target, 1, SLICE_EMPTY, &reason),
                  STATUS_REFUSED);
    EXPECT(reason.rule[0] != '\0');
}

TEST(a_merge_leads_to_its_target)
{
    stage_begin();
    uint64_t source = stage_active("Free buses"), target = stage_active("Free trams");
    expect_members(target, &target, 1);
    stage_merge(source, target);
    Policy policy = stage_read(source);
    EXPECT_I64(policy.facts.move_count, 4);
    const PolicyMove *merging = &policy.facts.moves[2], *merged = &policy.facts.moves[3];
    EXPECT_I64(merging->state, POLICY_MERGING);
    EXPECT_I64(merged->state, POLICY_MERGED);
    EXPECT(id_equal(merging->id, merged->id));
    EXPECT_I64(merged->other, target);
    EXPECT_I64(merged->actor, STAGE_ACTOR);
    EXPECT_SLICE(merged->reason, SLICE("the same"));
    EXPECT_I64(stage_root(source), target);
    expect_members(target, (uint64_t[]){target, source}, 2);
    expect_members(source, &source, 1);
    EXPECT_STATUS(policies_finish_merge(stage.policies, source), STATUS_OK);
    stage_check(source, target);
    stage_end();
}

TEST(members_come_through_several_merges)
{
    stage_begin();
    uint64_t ids[6];
    for (int i = 0; i < 6; i++)
        ids[i] = stage_active("Free buses");
    stage_merge(ids[0], ids[2]);
    stage_merge(ids[1], ids[2]);
    stage_merge(ids[2], ids[4]);
    stage_merge(ids[3], ids[4]);
    stage_merge(ids[4], ids[5]);
    for (int i = 0; i < 6; i++)
        EXPECT_I64(stage_root(ids[i]), ids[5]);
    uint64_t expected[] = {ids[5], ids[4], ids[2], ids[3], ids[0], ids[1]};
    expect_members(ids[5], expected, 6);
    stage_restart();
    expect_members(ids[5], expected, 6);
    stage_check(ids[0], ids[5]);
    stage_end();
}

TEST(a_new_policy_can_be_the_target)
{
    Reason reason;
    stage_begin();
    uint64_t a = stage_active("Free buses"), b = stage_active("Free trams");
    NewPolicy both = stage_new("Free buses and trams");
    both.creator = 0;
    EXPECT_STATUS(policies_create(stage.policies, &both, &reason), STATUS_OK);
    stage_merge(a, both.id);
    stage_merge(b, both.id);
    expect_members(both.id, (uint64_t[]){both.id, a, b}, 3);
    stage_end();
}

static PolicyMerge named(uint64_t source, uint64_t target)
{
    return (PolicyMerge){.id = stage_id(),
                         .source = source,
                         .target = target,
                         .actor = STAGE_ACTOR,
                         .reason = SLICE("the same")};
}

TEST(a_merge_that_is_sent_twice_is_one)
{
    Reason reason = {.rule = ""};
    stage_begin();
    uint64_t source = stage_active("Free buses"), target = stage_active("Free trams"),
             third = stage_active("Free trains");
    PolicyMerge merge = named(source, target);
    for (int i = 0; i < 3; i++)
        EXPECT_STATUS(policies_merge_named(stage.policies, &merge, &reason), STATUS_OK);
    EXPECT_I64(stage_read(source).facts.move_count, 4);
    EXPECT(id_equal(stage_read(source).facts.moves[3].id, merge.id));
    /* Also when the target has gone on meanwhile. */
    stage_merge(target, third);
    EXPECT_STATUS(policies_merge_named(stage.policies, &merge, &reason), STATUS_OK);
    /* The same name for something else is a mistake, and another name is another merge. */
    merge.target = third;
    EXPECT_STATUS(policies_merge_named(stage.policies, &merge, &reason), STATUS_CONFLICT);
    EXPECT_SLICE(slice_from(reason.field), SLICE("target"));
    merge = named(source, third);
    EXPECT_STATUS(policies_merge_named(stage.policies, &merge, &reason), STATUS_REFUSED);
    stage_check(source, third);
    stage_end();
}

TEST(a_merge_that_fell_back_stays_so)
{
    Reason reason = {.rule = ""};
    stage_begin();
    uint64_t source = stage_active("Free buses"), target = stage_active("Free trams");
    PolicyMerge merge = named(source, target);
    faulty_plan(&stage.faulty, 3, FAULT_DONE, FAULT_FOREVER); /* merging, and then nothing */
    EXPECT_STATUS(policies_merge_named(stage.policies, &merge, &reason), STATUS_UNKNOWN);
    stage_restart();
    EXPECT_I64(stage_state(source), POLICY_MERGING);
    EXPECT_STATUS(stage_move(target, POLICY_RETIRED), STATUS_OK);
    EXPECT_STATUS(policies_merge_named(stage.policies, &merge, &reason), STATUS_REFUSED);
    EXPECT_I64(stage_state(source), POLICY_ACTIVE);
    EXPECT_STATUS(policies_merge_named(stage.policies, &merge, &reason), STATUS_REFUSED);
    EXPECT_I64(stage_read(source).facts.move_count, 4);
    stage_end();
}

TEST(a_merge_into_a_new_policy_makes_one_of_them)
{
    Reason reason = {.rule = ""};
    stage_begin();
    uint64_t a = stage_active("Free buses"), b = stage_active("Free trams"), first, again;
    PolicyText text = stage_text("Free buses and trams"), bad = stage_text("x");
    PolicyMerge merge = named(a, 0), other = named(a, 0), nowhere = named(4711, 0);
    EXPECT_STATUS(policies_merge_target(stage.policies, &merge, &text, &first, &reason), STATUS_OK);
    EXPECT_STATUS(policies_merge_target(stage.policies, &merge, &text, &again, &reason), STATUS_OK);
    EXPECT_I64(first, again);
    stage_restart();
    EXPECT_STATUS(policies_merge_target(stage.policies, &merge, &text, &again, &reason), STATUS_OK);
    EXPECT_I64(first, again);
    EXPECT_STATUS(policies_merge_target(stage.policies, &other, &text, &again, &reason), STATUS_OK);
    EXPECT(first != again);
    EXPECT_STATUS(policies_merge_target(stage.policies, &other, &bad, &again, &reason),
                  STATUS_INVALID);
    EXPECT_STATUS(policies_merge_target(stage.policies, &nowhere, &text, &again, &reason),
                  STATUS_NOT_FOUND);
    Policy made = stage_read(first);
    EXPECT_I64(made.facts.moves[0].state, POLICY_ACTIVE);
    EXPECT_I64(made.owner, 0);
    EXPECT_SLICE(made.text.name, SLICE("Free buses and trams"));
    /* Both sources go there by the same name. */
    merge.target = first;
    EXPECT_STATUS(policies_merge_named(stage.policies, &merge, &reason), STATUS_OK);
    merge.source = b;
    EXPECT_STATUS(policies_merge_named(stage.policies, &merge, &reason), STATUS_OK);
    expect_members(first, (uint64_t[]){first, a, b}, 3);
    stage_end();
}

/* By the target's clock the target came later; still it is there when the source comes to it. */
TEST(a_member_finds_its_root_at_any_time_after_its_merge)
{
    stage_begin();
    uint64_t source = stage_active("Free buses");
    test_world_step(&stage.own, 3600 * US_PER_S);
    uint64_t target = stage_active("Free trams");
    test_world_step(&stage.own, -3600 * US_PER_S);
    stage_merge(source, target);
    int64_t merged_us = stage_read(source).facts.moves[3].time_us;
    EXPECT(merged_us >= stage_read(target).facts.moves[1].time_us);
    stage_end();
}

TEST(only_active_policies_merge_and_take_sources)
{
    Reason reason;
    stage_begin();
    uint64_t active = stage_active("Free buses"), pending = stage_pending("Free trams");
    uint64_t retired = stage_active("Free trains"), merged = stage_active("Free bikes");
    uint64_t root = stage_active("Free all");
    EXPECT_STATUS(stage_move(retired, POLICY_RETIRED), STATUS_OK);
    stage_merge(merged, root);
    expect_refused(active, pending);
    expect_refused(active, retired);
    expect_refused(active, merged);
    expect_refused(active, 4711);
    expect_refused(pending, active);
    expect_refused(retired, active);
    expect_refused(merged, active);
    expect_refused(root, merged); /* which would be a cycle */
    EXPECT_STATUS(policies_merge(stage.policies, active, active, 1, SLICE_EMPTY, &reason),
                  STATUS_INVALID);
    EXPECT_I64(stage_read(active).facts.move_count, 2);
    stage_check(active, root);
    stage_end();
}

/* Leaves the source `merging`: the process dies right after that step was done. */
static void begin_merge_and_die(uint64_t source, uint64_t target)
{
    Reason reason;
    enum { CALLS_BEFORE = 2 }; /* the target's row, the source's row */
    faulty_plan(&stage.faulty, CALLS_BEFORE + 1, FAULT_DONE, FAULT_FOREVER);
    EXPECT_STATUS(policies_merge(stage.policies, source, target, 1, SLICE_EMPTY, &reason),
                  STATUS_UNKNOWN);
    stage_restart();
    EXPECT_I64(stage_state(source), POLICY_MERGING);
}

TEST(an_unfinished_merge_is_finished)
{
    stage_begin();
    uint64_t source = stage_active("Free buses"), target = stage_active("Free trams");
    begin_merge_and_die(source, target);
    expect_refused(target, source);
    EXPECT_STATUS(policies_finish_merge(stage.policies, source), STATUS_OK);
    EXPECT_I64(stage_state(source), POLICY_MERGED);
    stage_check(source, target);
    stage_end();
}

/* Whatever call the store begins to refuse at, for as long as an update is tried: nothing is left `merging` that the handle does not
 * know of. Returns whether there was such a call. */
static bool merge_in_an_outage(int at, FaultFate fate)
{
    Reason reason;
    uint64_t left[POLICIES_LEFT_MOST];
    stage_begin();
    uint64_t source = stage_active("Free buses"), target = stage_active("Free trams");
    faulty_plan(&stage.faulty, at, fate, FAULT_OUTAGE);
    Status status = policies_merge(stage.policies, source, target, 1, SLICE_EMPTY, &reason);
    bool struck = faulty_struck(&stage.faulty);
    faulty_plan(&stage.faulty, 0, fate, FAULT_ONCE);
    size_t count = policies_left_merges(stage.policies, left);
    EXPECT_I64(count, status == STATUS_UNKNOWN);
    for (size_t i = 0; i < count; i++) {
        EXPECT_I64(left[i], source);
        EXPECT_STATUS(policies_finish_merge(stage.policies, left[i]), STATUS_OK);
    }
    EXPECT(stage_state(source) != POLICY_MERGING);
    EXPECT_I64(policies_left_merges(stage.policies, left), 0);
    stage_end();
    return struck;
}

TEST(a_merge_that_the_store_interrupts_is_remembered_until_it_is_finished)
{
    for (FaultFate fate = FAULT_REFUSED; fate < FAULT_LATE; fate++) {
        int calls = 0;
        while (merge_in_an_outage(calls + 1, fate))
            calls++;
        EXPECT(calls > 4);
    }
}

TEST(an_unfinished_merge_falls_back_when_its_target_is_gone)
{
    stage_begin();
    uint64_t source = stage_active("Free buses"), target = stage_active("Free trams");
    begin_merge_and_die(source, target);
    EXPECT_STATUS(stage_move(target, POLICY_RETIRED), STATUS_OK);
    EXPECT_STATUS(policies_finish_merge(stage.policies, source), STATUS_OK);
    EXPECT_I64(stage_state(source), POLICY_ACTIVE);
    stage_check(source, target);
    stage_end();
}

/* The first step of a merge whose target was still active when it was looked at. */
static void begin_late(uint64_t source, uint64_t target)
{
    PolicyRow row;
    PolicyMove move = {.state = POLICY_MERGING, .id = stage_id(), .other = target};
    EXPECT_STATUS(policy_row_read(stage.policies, source, STORE_SERIAL, stage.arena, &row),
                  STATUS_OK);
    EXPECT_STATUS(policy_append(stage.policies, &row, &move, 0), STATUS_OK);
}

/* The target's step alone; `target` is its row, however old: its state has not changed. */
static void list_on(const PolicyRow *target, uint64_t source)
{
    Policy policy = stage_read(source);
    PolicySource listing = {source, policy.facts.moves[policy.facts.move_count - 1].id};
    Change change = {.column = policy_source_column(&listing, stage.arena), .value = POLICY_LISTED};
    Condition condition = {.column = SLICE("state"), .value = target->state_value};
    Update update = {.conditions = &condition,
                     .condition_count = 1,
                     .changes = &change,
                     .change_count = 1,
                     .proof = change.column};
    EXPECT_STATUS(policy_update(stage.policies, target->known.facts.id, &update, stage.arena),
                  STATUS_OK);
}

static void list_only(uint64_t source, uint64_t target)
{
    PolicyRow row;
    EXPECT_STATUS(policy_row_read(stage.policies, target, STORE_SERIAL, stage.arena, &row),
                  STATUS_OK);
    list_on(&row, source);
    stage_restart();
}

/* Promise 3: by the source's own row, with the same id. */
TEST(a_listing_counts_only_while_the_source_agrees)
{
    stage_begin();
    uint64_t source = stage_active("Free buses"), target = stage_active("Free trams");
    begin_late(source, target);
    list_only(source, target);
    expect_members(target, &target, 1); /* it is not merged yet */
    PolicyRow row;
    PolicyMove back = {.state = POLICY_ACTIVE, .id = stage_id()};
    EXPECT_STATUS(policy_row_read(stage.policies, source, STORE_SERIAL, stage.arena, &row),
                  STATUS_OK);
    EXPECT_STATUS(policy_append(stage.policies, &row, &back, 0), STATUS_OK);
    expect_members(target, &target, 1); /* and fell back */
    stage_merge(source, target);
    expect_members(target, (uint64_t[]){target, source}, 2); /* once, though listed twice */
    stage_check(source, target);
    stage_end();
}

TEST(of_opposite_merges_at_most_one_stands)
{
    stage_begin();
    uint64_t a = stage_active("Free buses"), b = stage_active("Free trams");
    begin_late(a, b);
    begin_late(b, a);
    EXPECT_STATUS(policies_finish_merge(stage.policies, a), STATUS_OK);
    EXPECT_I64(stage_state(a), POLICY_ACTIVE); /* b, which is merging, takes nothing */
    EXPECT_STATUS(policies_finish_merge(stage.policies, b), STATUS_OK);
    EXPECT_I64(stage_root(b), a);
    expect_refused(a, b);
    stage_check(a, b);
    stage_end();
}

TEST(a_ring_of_merges_is_broken)
{
    enum { RING = 5 };
    uint64_t ids[RING];
    stage_begin();
    for (int i = 0; i < RING; i++)
        ids[i] = stage_active("Free buses");
    for (int i = 0; i < RING; i++)
        begin_late(ids[i], ids[(i + 1) % RING]);
    for (int i = 0; i < RING; i++)
        EXPECT_STATUS(policies_finish_merge(stage.policies, ids[i]), STATUS_OK);
    for (int i = 0; i < RING; i++)
        EXPECT(stage_state(ids[i]) != POLICY_MERGING);
    stage_check(ids[0], ids[RING - 1]);
    stage_end();
}

/* A merge that fell back, and its listing arrives after another merge of the same source succeeded. */
TEST(a_late_listing_of_a_merge_that_fell_back_changes_nothing)
{
    Reason reason;
    stage_begin();
    uint64_t source = stage_active("Free buses"), target = stage_active("Free trams");
    enum { CALLS_BEFORE_LISTING = 64 };
    for (int at = 4; at < CALLS_BEFORE_LISTING; at++) {
        faulty_plan(&stage.faulty, at, FAULT_LATE, FAULT_FOREVER);
        Status status = policies_merge(stage.policies, source, target, 1, SLICE_EMPTY, &reason);
        EXPECT_STATUS(status, STATUS_UNKNOWN);
        if (stage.faulty.has_late && slice_starts_with(stage.faulty.late.proof, SLICE("l/")))
            break;
        stage.faulty.has_late = false;
        stage_restart();
        source = stage_active("Free buses");
        target = stage_active("Free trams");
    }
    Faulty kept = {.store = stage.faulty.store, .late = stage.faulty.late};
    EXPECT(stage.faulty.has_late);
    stage_renew();
    /* The target goes and comes back, so that the first merge falls back in between. */
    EXPECT_STATUS(stage_move(target, POLICY_PENDING_DELETION), STATUS_OK);
    EXPECT_STATUS(policies_finish_merge(stage.policies, source), STATUS_OK);
    EXPECT_I64(stage_state(source), POLICY_ACTIVE);
    EXPECT_STATUS(stage_move(target, POLICY_ACTIVE), STATUS_OK);
    stage_merge(source, target);
    EXPECT_STATUS(store_update_if(stage.store, &kept.late, stage.arena, NULL), STATUS_CONFLICT);
    EXPECT_I64(stage_root(source), target);
    stage_check(source, target);
    stage_end();
}

/* ---- Bounds -------------------------------------------------------------------------------------------------- */

TEST(merges_in_a_row_are_as_many_as_rules_can_follow)
{
    uint64_t ids[POLICY_MERGE_DEPTH + 1];
    stage_begin();
    for (int i = 0; i <= POLICY_MERGE_DEPTH; i++)
        ids[i] = stage_active("Free buses");
    for (int i = 0; i < POLICY_MERGE_DEPTH - 1; i++)
        stage_merge(ids[i], ids[i + 1]);
    uint64_t root = ids[POLICY_MERGE_DEPTH - 1];
    EXPECT_I64(stage_root(ids[0]), root);
    expect_refused(root, ids[POLICY_MERGE_DEPTH]);
    EXPECT_I64(stage_state(root), POLICY_ACTIVE);
    EXPECT_I64(stage_root(ids[0]), root);
    stage_merge(ids[POLICY_MERGE_DEPTH], root);
    stage_end();
}

enum { THREADS = 16, MERGES = 4 };

/* Many at once share the store's syncs. */
static void merge_many(int index, void *root)
{
    (void)index;
    for (int i = 0; i < MERGES; i++) {
        NewPolicy policy = {.text = stage_text("Free bikes"), .version = stage_id(), .time_us = 1};
        CHECK(policies_next_id(stage.policies, &policy.id) == STATUS_OK);
        CHECK(policies_create(stage.policies, &policy, NULL) == STATUS_OK);
        CHECK(policies_merge(stage.policies, policy.id, *(uint64_t *)root, 1, SLICE_EMPTY, NULL) ==
              STATUS_OK);
    }
}

/* A new source of the root by the three steps of a merge, without the look at all members that each merge takes before: with it, a thousand
 * of them would read half a million rows. */
static void merge_unasked(const PolicyRow *root)
{
    PolicyRow row;
    uint64_t source = stage_active("Free bikes");
    begin_late(source, root->known.facts.id);
    list_on(root, source);
    EXPECT_STATUS(policy_row_read(stage.policies, source, STORE_SERIAL, stage.arena, &row),
                  STATUS_OK);
    PolicyMove merged = *policy_last(&row);
    merged.state = POLICY_MERGED;
    EXPECT_STATUS(policy_append(stage.policies, &row, &merged, 0), STATUS_OK);
}

TEST(a_root_has_at_most_a_thousand_members)
{
    PolicyRow row;
    stage_begin();
    uint64_t root = stage_active("Free buses");
    uint64_t second = stage_active("Free trams");
    stage_merge(stage_active("Free trains"), second);
    stage_threads(THREADS, merge_many, &root);
    EXPECT_STATUS(policy_row_read(stage.policies, root, STORE_SERIAL, stage.arena, &row),
                  STATUS_OK);
    for (int i = THREADS * MERGES; i < POLICY_MEMBERS_MOST - 2; i++)
        merge_unasked(&row);
    expect_refused(second, root); /* two more */
    stage_merge(stage_active("Free bikes"), root);
    expect_refused(stage_active("Free bikes"), root);
    uint64_t *members;
    size_t count;
    EXPECT_STATUS(policies_members(stage.policies, root, stage.arena, &members, &count), STATUS_OK);
    EXPECT_I64(count, POLICY_MEMBERS_MOST);
    stage_end();
}
