/* merge_test.c -- merges: the way of one, of several in a row, and those that fall back. */
#include "policies/policies_private.h"
#include "policies_fixture.h"

static void expect_members(uint64_t root, const uint64_t *expected, size_t expected_count)
{
    uint64_t *members;
    size_t count;
    EXPECT_STATUS(policies_members(fixture.policies, root, fixture.arena, &members, &count),
                  STATUS_OK);
    EXPECT_I64(count, expected_count);
    for (size_t i = 0; i < count; i++)
        EXPECT_I64(members[i], expected[i]);
}

static void expect_refused(uint64_t source, uint64_t target)
{
    Reason reason = {.rule = ""};
    EXPECT_STATUS(policies_merge(fixture.policies, source, target, 1, SLICE_EMPTY, &reason),
                  STATUS_REFUSED);
    EXPECT(reason.rule[0] != '\0');
}

TEST(a_merge_leads_to_its_target)
{
    policies_fixture_begin();
    uint64_t source = policies_fixture_active("Free buses"),
             target = policies_fixture_active("Free trams");
    expect_members(target, &target, 1);
    policies_fixture_merge(source, target);
    Policy policy = policies_fixture_read(source);
    EXPECT_I64(policy.facts.move_count, 4);
    const PolicyMove *merging = &policy.facts.moves[2], *merged = &policy.facts.moves[3];
    EXPECT_I64(merging->state, POLICY_MERGING);
    EXPECT_I64(merged->state, POLICY_MERGED);
    EXPECT(id_equal(merging->id, merged->id));
    EXPECT_I64(merged->other, target);
    EXPECT_I64(merged->actor, POLICIES_FIXTURE_ACTOR);
    EXPECT_SLICE(merged->reason, SLICE("the same"));
    EXPECT_I64(policies_fixture_root(source), target);
    expect_members(target, (uint64_t[]){target, source}, 2);
    expect_members(source, &source, 1);
    EXPECT_STATUS(policies_finish_merge(fixture.policies, source), STATUS_OK);
    policies_fixture_check(source, target);
    policies_fixture_end();
}

TEST(members_come_through_several_merges)
{
    policies_fixture_begin();
    uint64_t ids[6];
    for (int i = 0; i < 6; i++)
        ids[i] = policies_fixture_active("Free buses");
    policies_fixture_merge(ids[0], ids[2]);
    policies_fixture_merge(ids[1], ids[2]);
    policies_fixture_merge(ids[2], ids[4]);
    policies_fixture_merge(ids[3], ids[4]);
    policies_fixture_merge(ids[4], ids[5]);
    for (int i = 0; i < 6; i++)
        EXPECT_I64(policies_fixture_root(ids[i]), ids[5]);
    uint64_t expected[] = {ids[5], ids[4], ids[2], ids[3], ids[0], ids[1]};
    expect_members(ids[5], expected, 6);
    policies_fixture_restart();
    expect_members(ids[5], expected, 6);
    policies_fixture_check(ids[0], ids[5]);
    policies_fixture_end();
}

TEST(a_new_policy_can_be_the_target)
{
    Reason reason;
    policies_fixture_begin();
    uint64_t a = policies_fixture_active("Free buses"), b = policies_fixture_active("Free trams");
    NewPolicy both = policies_fixture_new("Free buses and trams");
    both.creator = 0;
    EXPECT_STATUS(policies_create(fixture.policies, &both, &reason), STATUS_OK);
    policies_fixture_merge(a, both.id);
    policies_fixture_merge(b, both.id);
    expect_members(both.id, (uint64_t[]){both.id, a, b}, 3);
    policies_fixture_end();
}

static PolicyMerge named(uint64_t source, uint64_t target)
{
    return (PolicyMerge){.id = policies_fixture_id(),
                         .source = source,
                         .target = target,
                         .actor = POLICIES_FIXTURE_ACTOR,
                         .reason = SLICE("the same")};
}

TEST(a_merge_that_is_sent_twice_is_one)
{
    Reason reason = {.rule = ""};
    policies_fixture_begin();
    uint64_t source = policies_fixture_active("Free buses"),
             target = policies_fixture_active("Free trams"),
             third = policies_fixture_active("Free trains");
    PolicyMerge merge = named(source, target);
    for (int i = 0; i < 3; i++)
        EXPECT_STATUS(policies_merge_named(fixture.policies, &merge, &reason), STATUS_OK);
    EXPECT_I64(policies_fixture_read(source).facts.move_count, 4);
    EXPECT(id_equal(policies_fixture_read(source).facts.moves[3].id, merge.id));
    /* Also when the target has gone on meanwhile. */
    policies_fixture_merge(target, third);
    EXPECT_STATUS(policies_merge_named(fixture.policies, &merge, &reason), STATUS_OK);
    /* The same name for something else is a mistake, and another name is another merge. */
    merge.target = third;
    EXPECT_STATUS(policies_merge_named(fixture.policies, &merge, &reason), STATUS_CONFLICT);
    EXPECT_SLICE(slice_from(reason.field), SLICE("target"));
    merge = named(source, third);
    EXPECT_STATUS(policies_merge_named(fixture.policies, &merge, &reason), STATUS_REFUSED);
    policies_fixture_check(source, third);
    policies_fixture_end();
}

TEST(a_merge_that_fell_back_stays_so)
{
    Reason reason = {.rule = ""};
    policies_fixture_begin();
    uint64_t source = policies_fixture_active("Free buses"),
             target = policies_fixture_active("Free trams");
    PolicyMerge merge = named(source, target);
    faulty_plan(&fixture.faulty, 3, FAULT_DONE, FAULT_FOREVER); /* merging, and then nothing */
    EXPECT_STATUS(policies_merge_named(fixture.policies, &merge, &reason), STATUS_UNKNOWN);
    policies_fixture_restart();
    EXPECT_I64(policies_fixture_state(source), POLICY_MERGING);
    EXPECT_STATUS(policies_fixture_move(target, POLICY_RETIRED), STATUS_OK);
    EXPECT_STATUS(policies_merge_named(fixture.policies, &merge, &reason), STATUS_REFUSED);
    EXPECT_I64(policies_fixture_state(source), POLICY_ACTIVE);
    EXPECT_STATUS(policies_merge_named(fixture.policies, &merge, &reason), STATUS_REFUSED);
    EXPECT_I64(policies_fixture_read(source).facts.move_count, 4);
    policies_fixture_end();
}

TEST(a_merge_into_a_new_policy_makes_one_of_them)
{
    Reason reason = {.rule = ""};
    policies_fixture_begin();
    uint64_t a = policies_fixture_active("Free buses"), b = policies_fixture_active("Free trams"),
             first, again;
    PolicyText text = policies_fixture_text("Free buses and trams"),
               bad = policies_fixture_text("x");
    PolicyMerge merge = named(a, 0), other = named(a, 0), nowhere = named(4711, 0);
    EXPECT_STATUS(policies_merge_target(fixture.policies, &merge, &text, &first, &reason),
                  STATUS_OK);
    EXPECT_STATUS(policies_merge_target(fixture.policies, &merge, &text, &again, &reason),
                  STATUS_OK);
    EXPECT_I64(first, again);
    policies_fixture_restart();
    EXPECT_STATUS(policies_merge_target(fixture.policies, &merge, &text, &again, &reason),
                  STATUS_OK);
    EXPECT_I64(first, again);
    EXPECT_STATUS(policies_merge_target(fixture.policies, &other, &text, &again, &reason),
                  STATUS_OK);
    EXPECT(first != again);
    EXPECT_STATUS(policies_merge_target(fixture.policies, &other, &bad, &again, &reason),
                  STATUS_INVALID);
    EXPECT_STATUS(policies_merge_target(fixture.policies, &nowhere, &text, &again, &reason),
                  STATUS_NOT_FOUND);
    Policy made = policies_fixture_read(first);
    EXPECT_I64(made.facts.moves[0].state, POLICY_ACTIVE);
    EXPECT_I64(made.owner, 0);
    EXPECT_SLICE(made.text.name, SLICE("Free buses and trams"));
    /* Both sources go there by the same name. */
    merge.target = first;
    EXPECT_STATUS(policies_merge_named(fixture.policies, &merge, &reason), STATUS_OK);
    merge.source = b;
    EXPECT_STATUS(policies_merge_named(fixture.policies, &merge, &reason), STATUS_OK);
    expect_members(first, (uint64_t[]){first, a, b}, 3);
    policies_fixture_end();
}

/* By the target's clock the target came later; still it is there when the source comes to it. */
TEST(a_member_finds_its_root_at_any_time_after_its_merge)
{
    policies_fixture_begin();
    uint64_t source = policies_fixture_active("Free buses");
    test_world_step(&fixture.own, 300 * US_PER_S);
    uint64_t target = policies_fixture_active("Free trams");
    test_world_step(&fixture.own, -300 * US_PER_S);
    policies_fixture_merge(source, target);
    int64_t merged_us = policies_fixture_read(source).facts.moves[3].time_us;
    EXPECT(merged_us >= policies_fixture_read(target).facts.moves[1].time_us);
    policies_fixture_end();
}

TEST(only_active_policies_merge_and_take_sources)
{
    Reason reason;
    policies_fixture_begin();
    uint64_t active = policies_fixture_active("Free buses"),
             pending = policies_fixture_pending("Free trams");
    uint64_t retired = policies_fixture_active("Free trains"),
             merged = policies_fixture_active("Free bikes");
    uint64_t root = policies_fixture_active("Free all");
    EXPECT_STATUS(policies_fixture_move(retired, POLICY_RETIRED), STATUS_OK);
    policies_fixture_merge(merged, root);
    expect_refused(active, pending);
    expect_refused(active, retired);
    expect_refused(active, merged);
    expect_refused(active, 4711);
    expect_refused(pending, active);
    expect_refused(retired, active);
    expect_refused(merged, active);
    expect_refused(root, merged); /* which would be a cycle */
    EXPECT_STATUS(policies_merge(fixture.policies, active, active, 1, SLICE_EMPTY, &reason),
                  STATUS_INVALID);
    EXPECT_I64(policies_fixture_read(active).facts.move_count, 2);
    policies_fixture_check(active, root);
    policies_fixture_end();
}

/* Leaves the source `merging`: the process dies right after that step was done. */
static void begin_merge_and_die(uint64_t source, uint64_t target)
{
    Reason reason;
    enum { CALLS_BEFORE = 2 }; /* the target's row, the source's row */
    faulty_plan(&fixture.faulty, CALLS_BEFORE + 1, FAULT_DONE, FAULT_FOREVER);
    EXPECT_STATUS(policies_merge(fixture.policies, source, target, 1, SLICE_EMPTY, &reason),
                  STATUS_UNKNOWN);
    policies_fixture_restart();
    EXPECT_I64(policies_fixture_state(source), POLICY_MERGING);
}

TEST(an_unfinished_merge_is_finished)
{
    policies_fixture_begin();
    uint64_t source = policies_fixture_active("Free buses"),
             target = policies_fixture_active("Free trams");
    begin_merge_and_die(source, target);
    expect_refused(target, source);
    EXPECT_STATUS(policies_finish_merge(fixture.policies, source), STATUS_OK);
    EXPECT_I64(policies_fixture_state(source), POLICY_MERGED);
    policies_fixture_check(source, target);
    policies_fixture_end();
}

/* Whatever call the store begins to refuse at, for as long as an update is tried: nothing is left `merging` that the handle does not
 * know of. Returns whether there was such a call. */
static bool merge_in_an_outage(int at, FaultFate fate)
{
    Reason reason;
    uint64_t left[POLICIES_LEFT_MAX];
    policies_fixture_begin();
    uint64_t source = policies_fixture_active("Free buses"),
             target = policies_fixture_active("Free trams");
    faulty_plan(&fixture.faulty, at, fate, FAULT_OUTAGE);
    Status status = policies_merge(fixture.policies, source, target, 1, SLICE_EMPTY, &reason);
    bool struck = faulty_struck(&fixture.faulty);
    faulty_plan(&fixture.faulty, 0, fate, FAULT_ONCE);
    size_t count = policies_left_merges(fixture.policies, left);
    EXPECT_I64(count, status == STATUS_UNKNOWN);
    for (size_t i = 0; i < count; i++) {
        EXPECT_I64(left[i], source);
        EXPECT_STATUS(policies_finish_merge(fixture.policies, left[i]), STATUS_OK);
    }
    EXPECT(policies_fixture_state(source) != POLICY_MERGING);
    EXPECT_I64(policies_left_merges(fixture.policies, left), 0);
    policies_fixture_end();
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
    policies_fixture_begin();
    uint64_t source = policies_fixture_active("Free buses"),
             target = policies_fixture_active("Free trams");
    begin_merge_and_die(source, target);
    EXPECT_STATUS(policies_fixture_move(target, POLICY_RETIRED), STATUS_OK);
    EXPECT_STATUS(policies_finish_merge(fixture.policies, source), STATUS_OK);
    EXPECT_I64(policies_fixture_state(source), POLICY_ACTIVE);
    policies_fixture_check(source, target);
    policies_fixture_end();
}

/* The first step of a merge whose target was still active when it was looked at. */
static void begin_late(uint64_t source, uint64_t target)
{
    PolicyRow row;
    PolicyMove move = {.state = POLICY_MERGING, .id = policies_fixture_id(), .other = target};
    EXPECT_STATUS(policy_row_read(fixture.policies, source, STORE_SERIAL, fixture.arena, &row),
                  STATUS_OK);
    EXPECT_STATUS(policy_append(fixture.policies, &row, &move, 0), STATUS_OK);
}

/* The target's step alone; `target` is its row, however old: its state has not changed. */
static void list_on(const PolicyRow *target, uint64_t source)
{
    Policy policy = policies_fixture_read(source);
    PolicySource listing = {source, policy.facts.moves[policy.facts.move_count - 1].id};
    Change change = {.column = policy_source_column(&listing, fixture.arena),
                     .value = POLICY_LISTED};
    Condition condition = {.column = SLICE("state"), .value = target->state_value};
    Update update = {.conditions = &condition,
                     .condition_count = 1,
                     .changes = &change,
                     .change_count = 1,
                     .proof = change.column};
    EXPECT_STATUS(policy_update(fixture.policies, target->known.facts.id, &update, fixture.arena),
                  STATUS_OK);
}

static void list_only(uint64_t source, uint64_t target)
{
    PolicyRow row;
    EXPECT_STATUS(policy_row_read(fixture.policies, target, STORE_SERIAL, fixture.arena, &row),
                  STATUS_OK);
    list_on(&row, source);
    policies_fixture_restart();
}

/* Promise 3: by the source's own row, with the same id. */
TEST(a_listing_counts_only_while_the_source_agrees)
{
    policies_fixture_begin();
    uint64_t source = policies_fixture_active("Free buses"),
             target = policies_fixture_active("Free trams");
    begin_late(source, target);
    list_only(source, target);
    expect_members(target, &target, 1); /* it is not merged yet */
    PolicyRow row;
    PolicyMove back = {.state = POLICY_ACTIVE, .id = policies_fixture_id()};
    EXPECT_STATUS(policy_row_read(fixture.policies, source, STORE_SERIAL, fixture.arena, &row),
                  STATUS_OK);
    EXPECT_STATUS(policy_append(fixture.policies, &row, &back, 0), STATUS_OK);
    expect_members(target, &target, 1); /* and fell back */
    policies_fixture_merge(source, target);
    expect_members(target, (uint64_t[]){target, source}, 2); /* once, though listed twice */
    policies_fixture_check(source, target);
    policies_fixture_end();
}

TEST(of_opposite_merges_at_most_one_stands)
{
    policies_fixture_begin();
    uint64_t a = policies_fixture_active("Free buses"), b = policies_fixture_active("Free trams");
    begin_late(a, b);
    begin_late(b, a);
    EXPECT_STATUS(policies_finish_merge(fixture.policies, a), STATUS_OK);
    EXPECT_I64(policies_fixture_state(a), POLICY_ACTIVE); /* b, which is merging, takes nothing */
    EXPECT_STATUS(policies_finish_merge(fixture.policies, b), STATUS_OK);
    EXPECT_I64(policies_fixture_root(b), a);
    expect_refused(a, b);
    policies_fixture_check(a, b);
    policies_fixture_end();
}

TEST(a_ring_of_merges_is_broken)
{
    enum { RING = 5 };
    uint64_t ids[RING];
    policies_fixture_begin();
    for (int i = 0; i < RING; i++)
        ids[i] = policies_fixture_active("Free buses");
    for (int i = 0; i < RING; i++)
        begin_late(ids[i], ids[(i + 1) % RING]);
    for (int i = 0; i < RING; i++)
        EXPECT_STATUS(policies_finish_merge(fixture.policies, ids[i]), STATUS_OK);
    for (int i = 0; i < RING; i++)
        EXPECT(policies_fixture_state(ids[i]) != POLICY_MERGING);
    policies_fixture_check(ids[0], ids[RING - 1]);
    policies_fixture_end();
}

/* A merge that fell back, and its listing arrives after another merge of the same source succeeded. */
TEST(a_late_listing_of_a_merge_that_fell_back_changes_nothing)
{
    Reason reason;
    policies_fixture_begin();
    uint64_t source = policies_fixture_active("Free buses"),
             target = policies_fixture_active("Free trams");
    enum { CALLS_BEFORE_LISTING = 64 };
    for (int at = 4; at < CALLS_BEFORE_LISTING; at++) {
        faulty_plan(&fixture.faulty, at, FAULT_LATE, FAULT_FOREVER);
        Status status = policies_merge(fixture.policies, source, target, 1, SLICE_EMPTY, &reason);
        EXPECT_STATUS(status, STATUS_UNKNOWN);
        if (fixture.faulty.has_late && slice_starts_with(fixture.faulty.late.proof, SLICE("l/")))
            break;
        fixture.faulty.has_late = false;
        policies_fixture_restart();
        source = policies_fixture_active("Free buses");
        target = policies_fixture_active("Free trams");
    }
    Faulty kept = {.store = fixture.faulty.store, .late = fixture.faulty.late};
    EXPECT(fixture.faulty.has_late);
    policies_fixture_renew();
    /* The target goes and comes back, so that the first merge falls back in between. */
    EXPECT_STATUS(policies_fixture_move(target, POLICY_PENDING_DELETION), STATUS_OK);
    EXPECT_STATUS(policies_finish_merge(fixture.policies, source), STATUS_OK);
    EXPECT_I64(policies_fixture_state(source), POLICY_ACTIVE);
    EXPECT_STATUS(policies_fixture_move(target, POLICY_ACTIVE), STATUS_OK);
    policies_fixture_merge(source, target);
    EXPECT_STATUS(store_update_if(fixture.store, &kept.late, fixture.arena, NULL), STATUS_CONFLICT);
    EXPECT_I64(policies_fixture_root(source), target);
    policies_fixture_check(source, target);
    policies_fixture_end();
}

/* ---- Bounds -------------------------------------------------------------------------------------------------- */

TEST(merges_in_a_row_are_as_many_as_rules_can_follow)
{
    uint64_t ids[POLICY_MERGE_DEPTH + 1];
    policies_fixture_begin();
    for (int i = 0; i <= POLICY_MERGE_DEPTH; i++)
        ids[i] = policies_fixture_active("Free buses");
    for (int i = 0; i < POLICY_MERGE_DEPTH - 1; i++)
        policies_fixture_merge(ids[i], ids[i + 1]);
    uint64_t root = ids[POLICY_MERGE_DEPTH - 1];
    EXPECT_I64(policies_fixture_root(ids[0]), root);
    expect_refused(root, ids[POLICY_MERGE_DEPTH]);
    EXPECT_I64(policies_fixture_state(root), POLICY_ACTIVE);
    EXPECT_I64(policies_fixture_root(ids[0]), root);
    policies_fixture_merge(ids[POLICY_MERGE_DEPTH], root);
    policies_fixture_end();
}

enum { THREADS = 16, MERGES = 4 };

/* Many at once share the store's syncs. */
static void merge_many(int index, void *root)
{
    (void)index;
    for (int i = 0; i < MERGES; i++) {
        NewPolicy policy = {.text = policies_fixture_text("Free bikes"),
                            .version = policies_fixture_id(),
                            .time_us = 1};
        CHECK(policies_next_id(fixture.policies, &policy.id) == STATUS_OK);
        CHECK(policies_create(fixture.policies, &policy, NULL) == STATUS_OK);
        CHECK(policies_merge(fixture.policies, policy.id, *(uint64_t *)root, 1, SLICE_EMPTY,
                             NULL) == STATUS_OK);
    }
}

/* A new source of the root by the three steps of a merge, without the look at all members that each merge takes before: with it, a thousand
 * of them would read half a million rows. */
static void merge_unasked(const PolicyRow *root)
{
    PolicyRow row;
    uint64_t source = policies_fixture_active("Free bikes");
    begin_late(source, root->known.facts.id);
    list_on(root, source);
    EXPECT_STATUS(policy_row_read(fixture.policies, source, STORE_SERIAL, fixture.arena, &row),
                  STATUS_OK);
    PolicyMove merged = *policy_last(&row);
    merged.state = POLICY_MERGED;
    EXPECT_STATUS(policy_append(fixture.policies, &row, &merged, 0), STATUS_OK);
}

TEST(a_root_has_at_most_a_thousand_members)
{
    PolicyRow row;
    policies_fixture_begin();
    uint64_t root = policies_fixture_active("Free buses");
    uint64_t second = policies_fixture_active("Free trams");
    policies_fixture_merge(policies_fixture_active("Free trains"), second);
    policies_fixture_threads(THREADS, merge_many, &root);
    EXPECT_STATUS(policy_row_read(fixture.policies, root, STORE_SERIAL, fixture.arena, &row),
                  STATUS_OK);
    for (int i = THREADS * MERGES; i < POLICY_MEMBERS_MAX - 2; i++)
        merge_unasked(&row);
    expect_refused(second, root); /* two more */
    policies_fixture_merge(policies_fixture_active("Free bikes"), root);
    expect_refused(policies_fixture_active("Free bikes"), root);
    uint64_t *members;
    size_t count;
    EXPECT_STATUS(policies_members(fixture.policies, root, fixture.arena, &members, &count),
                  STATUS_OK);
    EXPECT_I64(count, POLICY_MEMBERS_MAX);
    policies_fixture_end();
}
