/* policies_fixture.c -- see policies_fixture.h. */
#include "policies_fixture.h"

#include <pthread.h>

#include "store/rocksdb/rocksdb.h"

PoliciesFixture fixture;

Policies *policies_fixture_instance(void)
{
    PoliciesOptions options = {.store = &fixture.faulty.store,
                               .world = fixture.world,
                               .id_block = 64,
                               .cache_s = POLICIES_FIXTURE_CACHE_S};
    return policies_new(&options);
}

void policies_fixture_begin(void)
{
    Reason reason = {.rule = ""};
    fixture = (PoliciesFixture){.arena = arena_new()};
    fixture.world = test_world(&fixture.own, 1);
    RocksdbOptions options = {.directory = test_directory(),
                              .create = true,
                              .cache_bytes = 8 * 1024 * 1024,
                              .write_buffer_bytes = 4 * 1024 * 1024,
                              .grace_s = 10 * 86400,
                              .reopen_s = 1,
                              .world = fixture.world,
                              .tables = TABLES};
    EXPECT_STATUS(store_rocksdb_open(&options, &fixture.store, &reason), STATUS_OK);
    faulty_init(&fixture.faulty, fixture.store, fixture.arena);
    fixture.policies = policies_fixture_instance();
    EXPECT_STATUS(policies_ensure_categories(fixture.policies, POLICY_CATEGORIES,
                                             POLICY_CATEGORY_COUNT, &reason),
                  STATUS_OK);
}

void policies_fixture_end(void)
{
    policies_free(fixture.policies);
    store_close(fixture.store);
    arena_free(fixture.arena);
}

void policies_fixture_renew(void)
{
    fixture.faulty.at = 0;
    policies_free(fixture.policies);
    fixture.policies = policies_fixture_instance();
}

void policies_fixture_restart(void)
{
    faulty_plan(&fixture.faulty, 0, FAULT_REFUSED, FAULT_ONCE);
    policies_fixture_renew();
}

PolicyText policies_fixture_text(const char *name)
{
    return (PolicyText){.name = slice_from(name),
                        .description = SLICE("What it is.\nAnd more."),
                        .rationale = SLICE("Why."),
                        .links = {SLICE("https://example.org/a")},
                        .link_count = 1,
                        .category = 1};
}

Id policies_fixture_id(void)
{
    return id_new(fixture.world.clock, fixture.world.random);
}

uint64_t policies_fixture_next_id(void)
{
    uint64_t id = 0;
    EXPECT_STATUS(policies_next_id(fixture.policies, &id), STATUS_OK);
    return id;
}

NewPolicy policies_fixture_new(const char *name)
{
    return (NewPolicy){.id = policies_fixture_next_id(),
                       .text = policies_fixture_text(name),
                       .creator = POLICIES_FIXTURE_OWNER,
                       .seq = 3,
                       .version = policies_fixture_id(),
                       .time_us = clock_now_us(fixture.world.clock)};
}

uint64_t policies_fixture_pending(const char *name)
{
    Reason reason = {.rule = ""};
    NewPolicy policy = policies_fixture_new(name);
    EXPECT_STATUS(policies_create(fixture.policies, &policy, &reason), STATUS_OK);
    return policy.id;
}

uint64_t policies_fixture_active(const char *name)
{
    uint64_t id = policies_fixture_pending(name);
    EXPECT_STATUS(policies_fixture_move(id, POLICY_ACTIVE), STATUS_OK);
    return id;
}

Status policies_fixture_move(uint64_t id, PolicyState to)
{
    Reason reason;
    PolicyMove move = {.state = to,
                       .actor = POLICIES_FIXTURE_ACTOR,
                       .percent = to == POLICY_RETIRED ? POLICIES_FIXTURE_PERCENT : 0,
                       .reason = SLICE("because")};
    return policies_move(fixture.policies, id, policies_fixture_state(id), &move, &reason);
}

void policies_fixture_merge(uint64_t source, uint64_t target)
{
    Reason reason = {.rule = ""};
    EXPECT_STATUS(policies_merge(fixture.policies, source, target, POLICIES_FIXTURE_ACTOR,
                                 SLICE("the same"), &reason),
                  STATUS_OK);
}

Policy policies_fixture_read(uint64_t id)
{
    Policy policy = {.id = 0};
    EXPECT_STATUS(policies_fresh(fixture.policies, id, fixture.arena, &policy), STATUS_OK);
    return policy;
}

static PolicyState last_state(const Policy *policy)
{
    return policy->facts.moves[policy->facts.move_count - 1].state;
}

PolicyState policies_fixture_state(uint64_t id)
{
    Policy policy = policies_fixture_read(id);
    return last_state(&policy);
}

uint64_t policies_fixture_root(uint64_t id)
{
    PoliciesReader reader = {.policies = fixture.policies, .arena = fixture.arena};
    PolicyLookup lookup = policies_lookup(&reader);
    PolicyStanding standing;
    bool found = policy_standing(&lookup, id, INT64_MAX, &standing);
    EXPECT_STATUS(reader.failed, STATUS_OK);
    return found ? standing.root : 0;
}

/* ---- Threads --------------------------------------------------------------------------------------------------- */

typedef struct Thread {
    pthread_t id;
    int index;
    pthread_barrier_t *start;
    void (*run)(int index, void *context);
    void *context;
} Thread;

static void *thread_main(void *argument)
{
    Thread *thread = argument;
    pthread_barrier_wait(thread->start);
    thread->run(thread->index, thread->context);
    return NULL;
}

void policies_fixture_threads(int count, void (*run)(int index, void *context), void *context)
{
    pthread_barrier_t start;
    Thread *threads = ARENA_ARRAY(fixture.arena, (size_t)count, Thread);
    CHECK(pthread_barrier_init(&start, NULL, (unsigned)count) == 0);
    for (int i = 0; i < count; i++) {
        threads[i] = (Thread){.index = i, .start = &start, .run = run, .context = context};
        CHECK(pthread_create(&threads[i].id, NULL, thread_main, &threads[i]) == 0);
    }
    for (int i = 0; i < count; i++)
        CHECK(pthread_join(threads[i].id, NULL) == 0);
    CHECK(pthread_barrier_destroy(&start) == 0);
}

/* ---- Promises ------------------------------------------------------------------------------------------------- */

static void check_moves(const Policy *policy)
{
    for (size_t i = 1; i < policy->facts.move_count; i++) {
        PolicyFacts before = {policy->id, policy->facts.moves, i};
        EXPECT_STATUS(policy_check_move(&before, policy->facts.moves[i].state, NULL), STATUS_OK);
        EXPECT(policy->facts.moves[i].time_us > policy->facts.moves[i - 1].time_us);
        EXPECT(!id_is_zero(policy->facts.moves[i].id));
    }
}

static bool is_member(uint64_t id, uint64_t root)
{
    uint64_t *members;
    size_t count;
    EXPECT_STATUS(policies_members(fixture.policies, root, fixture.arena, &members, &count),
                  STATUS_OK);
    EXPECT_I64(members[0], root);
    for (size_t i = 0; i < count; i++)
        if (members[i] == id)
            return true;
    return false;
}

void policies_fixture_check(uint64_t first, uint64_t last)
{
    for (uint64_t id = first; id <= last; id++) {
        Policy policy = policies_fixture_read(id);
        check_moves(&policy);
        uint64_t root = policies_fixture_root(id);
        bool merged = last_state(&policy) == POLICY_MERGED;
        EXPECT(merged ? root != 0 && root != id : root == id);
        for (uint64_t other = first; other <= last; other++)
            if (policies_fixture_state(other) != POLICY_MERGED)
                EXPECT(is_member(id, other) == (other == root));
    }
}
