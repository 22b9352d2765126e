/* races_test.c -- many threads on the same policies: one stands, nothing is lost, no merge closes a cycle. */
#include "policies_fixture.h"

#include <stdatomic.h>

enum { THREADS = 16, ROUNDS = 8 };

static uint64_t ids[THREADS];
static Status answers[THREADS];

static int count_of(Status status)
{
    int count = 0;
    for (int i = 0; i < THREADS; i++)
        count += answers[i] == status;
    return count;
}

static void expect_one_winner(void)
{
    EXPECT_I64(count_of(STATUS_OK), 1);
    EXPECT_I64(count_of(STATUS_CONFLICT), THREADS - 1);
}

/* ---- One row --------------------------------------------------------------------------------------------------- */

typedef struct Editing {
    uint64_t id;
    Id seen;
} Editing;

static void edit_one(int index, void *context)
{
    const Editing *editing = context;
    char name[20];
    snprintf(name, sizeof name, "Editor %d", index);
    PolicyText text = policies_fixture_text(name);
    answers[index] = policies_edit(fixture.policies, editing->id, editing->seen, &text,
                                   (uint64_t)index + 1, NULL);
}

TEST(of_many_editors_on_one_version_one_stands)
{
    policies_fixture_begin();
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        uint64_t id = policies_fixture_active("Free buses");
        Editing editing = {id, policies_fixture_read(id).version};
        policies_fixture_threads(THREADS, edit_one, &editing);
        expect_one_winner();
        PolicyRevision revision;
        EXPECT_STATUS(policies_revision(fixture.policies, id, 2, fixture.arena, &revision),
                      STATUS_OK);
        EXPECT_STATUS(answers[revision.editor - 1], STATUS_OK);
        EXPECT_I64(policies_fixture_read(id).revision, 2);
    }
    policies_fixture_end();
}

static void move_one(int index, void *context)
{
    PolicyMove move = {.state = index % 2 == 0 ? POLICY_RETIRED : POLICY_PENDING_DELETION,
                       .actor = (uint64_t)index + 1};
    answers[index] =
        policies_move(fixture.policies, *(uint64_t *)context, POLICY_ACTIVE, &move, NULL);
}

TEST(of_many_moves_one_stands)
{
    policies_fixture_begin();
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t id = policies_fixture_active("Free buses");
        policies_fixture_threads(THREADS, move_one, &id);
        expect_one_winner();
        Policy policy = policies_fixture_read(id);
        EXPECT_I64(policy.facts.move_count, 3);
        EXPECT_STATUS(answers[policy.facts.moves[2].actor - 1], STATUS_OK);
    }
    policies_fixture_end();
}

static void create_one(int index, void *context)
{
    NewPolicy policy = {.id = *(uint64_t *)context,
                        .text = policies_fixture_text("Free buses"),
                        .creator = (uint64_t)index + 1,
                        .version = policies_fixture_id(),
                        .time_us = 1};
    answers[index] = policies_create(fixture.policies, &policy, NULL);
}

TEST(of_many_that_take_an_id_one_gets_it)
{
    policies_fixture_begin();
    uint64_t id = policies_fixture_next_id();
    policies_fixture_threads(THREADS, create_one, &id);
    expect_one_winner();
    EXPECT_STATUS(answers[policies_fixture_read(id).creator - 1], STATUS_OK);
    policies_fixture_end();
}

/* ---- Merges ---------------------------------------------------------------------------------------------------- */

typedef struct Merging {
    int step; /* to the policy so many places on */
    bool pairs;
} Merging;

static void merge_one(int index, void *context)
{
    const Merging *merging = context;
    int target = merging->pairs ? index ^ 1 : (index + merging->step) % THREADS;
    answers[index] =
        policies_merge(fixture.policies, ids[index], ids[target], 1, SLICE_EMPTY, NULL);
}

/* Nobody else merges that policy, so what its thread was told is what became of it. */
static void expect_settled(void)
{
    for (int i = 0; i < THREADS; i++) {
        EXPECT_STATUS(policies_finish_merge(fixture.policies, ids[i]), STATUS_OK);
        EXPECT_I64(policies_fixture_state(ids[i]),
                   answers[i] == STATUS_OK ? POLICY_MERGED : POLICY_ACTIVE);
        EXPECT(answers[i] == STATUS_OK || answers[i] == STATUS_REFUSED);
    }
    EXPECT(count_of(STATUS_OK) < THREADS);
}

static void merge_at_once(Merging merging)
{
    policies_fixture_begin();
    int stood = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < THREADS; i++)
            ids[i] = policies_fixture_active("Free buses");
        policies_fixture_threads(THREADS, merge_one, &merging);
        expect_settled();
        stood += count_of(STATUS_OK);
        policies_fixture_check(ids[0], ids[THREADS - 1]);
        policies_fixture_restart(); /* the store says the same as the cache */
        policies_fixture_check(ids[0], ids[THREADS - 1]);
    }
    printf("# %d of %d merges stood\n", stood, ROUNDS * THREADS);
    policies_fixture_end();
}

TEST(merges_in_a_ring)
{
    merge_at_once((Merging){.step = 1});
}

TEST(merges_in_a_wider_ring)
{
    merge_at_once((Merging){.step = 5});
}

TEST(merges_in_opposite_pairs)
{
    merge_at_once((Merging){.pairs = true});
}

static void merge_or_finish(int index, void *context)
{
    (void)context;
    if (index < 4)
        answers[index] = policies_merge(fixture.policies, ids[0], ids[1], 1, SLICE_EMPTY, NULL);
    else
        answers[index] = policies_finish_merge(fixture.policies, ids[0]);
}

TEST(finishing_while_it_runs_does_no_harm)
{
    policies_fixture_begin();
    for (int round = 0; round < ROUNDS; round++) {
        ids[0] = policies_fixture_active("Free buses");
        ids[1] = policies_fixture_active("Free trams");
        policies_fixture_threads(THREADS, merge_or_finish, NULL);
        EXPECT_I64(policies_fixture_state(ids[0]), POLICY_MERGED);
        int told = 0;
        for (int i = 0; i < 4; i++)
            told += answers[i] == STATUS_OK;
        EXPECT_I64(told, 1);
        policies_fixture_check(ids[0], ids[1]);
    }
    policies_fixture_end();
}

/* ---- Readers and groups ---------------------------------------------------------------------------------------- */

static atomic_int wrong;

/* One moves, the others read by the book: what they see only ever moves on. */
static void read_or_move(int index, void *context)
{
    ARENA_SCOPE Arena *arena = arena_new();
    uint64_t id = *(uint64_t *)context;
    size_t last = 0;
    for (int i = 0; i < 40; i++) {
        PoliciesReader reader = {.policies = fixture.policies, .arena = arena};
        PolicyLookup lookup = policies_lookup(&reader);
        const PolicyFacts *facts = lookup.find(lookup.self, id);
        if (facts == NULL || facts->move_count < last)
            atomic_fetch_add(&wrong, 1);
        else
            last = facts->move_count;
        bool away = i % 2 == 0;
        PolicyMove move = {.state = away ? POLICY_PENDING_DELETION : POLICY_ACTIVE};
        PolicyState from = away ? POLICY_ACTIVE : POLICY_PENDING_DELETION;
        if (index == 0 && policies_move(fixture.policies, id, from, &move, NULL) != STATUS_OK)
            atomic_fetch_add(&wrong, 1);
    }
}

TEST(readers_never_see_a_policy_move_back)
{
    policies_fixture_begin();
    uint64_t id = policies_fixture_active("Free buses");
    policies_fixture_threads(THREADS, read_or_move, &id);
    EXPECT_I64(wrong, 0);
    EXPECT_I64(policies_fixture_read(id).facts.move_count, 42);
    policies_fixture_end();
}

static void ensure_or_add(int index, void *context)
{
    uint64_t id;
    Slice names[] = {SLICE("One"), SLICE("Two"), SLICE("Three"), SLICE("Four"), SLICE("Five")};
    PolicyGroup group = {.name = SLICE("The Party"), .description = SLICE_EMPTY, .active = true};
    (void)context;
    answers[index] = policies_ensure_categories(fixture.policies, names, 5, NULL);
    Status status = policies_set_group(fixture.policies, GROUP_PARTY, &group, &id, NULL);
    if (status != STATUS_OK && status != STATUS_REFUSED)
        atomic_fetch_add(&wrong, 1);
}

static uint64_t group_ids[THREADS];

static void add_own(int index, void *context)
{
    char name[20];
    (void)context;
    snprintf(name, sizeof name, "Party %d", index);
    PolicyGroup group = {.name = slice_from(name), .description = SLICE_EMPTY, .active = true};
    answers[index] =
        policies_set_group(fixture.policies, GROUP_PARTY, &group, &group_ids[index], NULL);
}

TEST(no_group_that_was_added_is_lost)
{
    PolicyGroup *groups;
    size_t count = 0;
    policies_fixture_begin();
    policies_fixture_threads(THREADS, add_own, NULL);
    EXPECT_STATUS(policies_groups(fixture.policies, GROUP_PARTY, fixture.arena, &groups, &count),
                  STATUS_OK);
    EXPECT_I64(count, count_of(STATUS_OK));
    EXPECT(count >= 1);
    EXPECT_I64(count_of(STATUS_OK) + count_of(STATUS_CONFLICT), THREADS);
    for (int i = 0; i < THREADS; i++)
        if (answers[i] == STATUS_OK)
            EXPECT_SLICE(groups[group_ids[i] - 1].name, arena_print(fixture.arena, "Party %d", i));
    policies_fixture_end();
}

TEST(many_instances_start_at_once)
{
    PolicyGroup *groups;
    size_t count = 0;
    policies_fixture_begin();
    policies_fixture_threads(THREADS, ensure_or_add, NULL);
    EXPECT_I64(count_of(STATUS_OK), THREADS);
    EXPECT_I64(wrong, 0);
    EXPECT_STATUS(policies_groups(fixture.policies, GROUP_CATEGORY, fixture.arena, &groups, &count),
                  STATUS_OK);
    EXPECT_I64(count, POLICY_CATEGORY_COUNT + 5);
    EXPECT_STATUS(policies_groups(fixture.policies, GROUP_PARTY, fixture.arena, &groups, &count),
                  STATUS_OK);
    EXPECT_I64(count, 1);
    policies_fixture_end();
}
