/* stage.c -- see stage.h. */
#include "stage.h"

#include <pthread.h>

#include "store/rocksdb/rocksdb.h"

Stage stage;

Policies *stage_instance(void)
{
    PoliciesOptions options = {.store = &stage.faulty.store,
                               .world = stage.world,
                               .id_block = 64,
                               .cache_s = STAGE_CACHE_S};
    return policies_new(&options);
}

void stage_begin(void)
{
    Reason reason = {.rule = ""};
    stage = (Stage){.arena = arena_new()};
    stage.world = test_world(&stage.own, 1);
    RocksdbOptions options = {.directory = test_directory(),
                              .create = true,
                              .cache_bytes = 8 * 1024 * 1024,
                              .write_buffer_bytes = 4 * 1024 * 1024,
                              .grace_s = 10 * 86400,
                              .reopen_s = 1,
                              .world = stage.world,
                              .tables = TABLES};
    EXPECT_STATUS(store_rocksdb_open(&options, &stage.store, &reason), STATUS_OK);
    faulty_init(&stage.faulty, stage.store, stage.arena);
    stage.policies = stage_instance();
    EXPECT_STATUS(policies_ensure_categories(stage.policies, POLICY_CATEGORIES,
                                             POLICY_CATEGORY_COUNT, &reason),
                  STATUS_OK);
}

void stage_end(void)
{
    policies_free(stage.policies);
    store_close(stage.store);
    arena_free(stage.arena);
}

void stage_renew(void)
{
    stage.faulty.at = 0;
    policies_free(stage.policies);
    stage.policies = stage_instance();
}

void stage_restart(void)
{
    faulty_plan(&stage.faulty, 0, FAULT_REFUSED, FAULT_ONCE);
    stage_renew();
}

PolicyText stage_text(const char *name)
{
    return (PolicyText){.name = slice_from(name),
                        .description = SLICE("What it is.\nAnd more."),
                        .rationale = SLICE("Why."),
                        .links = {SLICE("https://example.org/a")},
                        .link_count = 1,
                        .category = 1};
}

Id stage_id(void)
{
    return id_new(stage.world.clock, stage.world.random);
}

uint64_t stage_next_id(void)
{
    uint64_t id = 0;
    EXPECT_STATUS(policies_next_id(stage.policies, &id), STATUS_OK);
    return id;
}

NewPolicy stage_new(const char *name)
{
    return (NewPolicy){.id = stage_next_id(),
                       .text = stage_text(name),
                       .creator = STAGE_OWNER,
                       .seq = 3,
                       .version = stage_id(),
                       .time_us = clock_now_us(stage.world.clock)};
}

uint64_t stage_pending(const char *name)
{
    Reason reason = {.rule = ""};
    NewPolicy policy = stage_new(name);
    EXPECT_STATUS(policies_create(stage.policies, &policy, &reason), STATUS_OK);
    return policy.id;
}

uint64_t stage_active(const char *name)
{
    uint64_t id = stage_pending(name);
    EXPECT_STATUS(stage_move(id, POLICY_ACTIVE), STATUS_OK);
    return id;
}

Status stage_move(uint64_t id, PolicyState to)
{
    Reason reason;
    PolicyMove move = {.state = to,
                       .actor = STAGE_ACTOR,
                       .percent = to == POLICY_RETIRED ? STAGE_PERCENT : 0,
                       .reason = SLICE("because")};
    return policies_move(stage.policies, id, stage_state(id), &move, &reason);
}

void stage_merge(uint64_t source, uint64_t target)
{
    Reason reason = {.rule = ""};
    EXPECT_STATUS(
        policies_merge(stage.policies, source, target, STAGE_ACTOR, SLICE("the same"), &reason),
        STATUS_OK);
}

Policy stage_read(uint64_t id)
{
    Policy policy = {.id = 0};
    EXPECT_STATUS(policies_fresh(stage.policies, id, stage.arena, &policy), STATUS_OK);
    return policy;
}

static PolicyState last_state(const Policy *policy)
{
    return policy->facts.moves[policy->facts.move_count - 1].state;
}

PolicyState stage_state(uint64_t id)
{
    Policy policy = stage_read(id);
    return last_state(&policy);
}

uint64_t stage_root(uint64_t id)
{
    PoliciesReader reader = {.policies = stage.policies, .arena = stage.arena};
    PolicyBook book = policies_book(&reader);
    PolicyStanding standing;
    bool found = policy_standing(&book, id, INT64_MAX, &standing);
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

void stage_threads(int count, void (*run)(int index, void *context), void *context)
{
    pthread_barrier_t start;
    Thread *threads = ARENA_ARRAY(stage.arena, (size_t)count, Thread);
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
    EXPECT_STATUS(policies_members(stage.policies, root, stage.arena, &members, &count), STATUS_OK);
    EXPECT_I64(members[0], root);
    for (size_t i = 0; i < count; i++)
        if (members[i] == id)
            return true;
    return false;
}

void stage_check(uint64_t first, uint64_t last)
{
    for (uint64_t id = first; id <= last; id++) {
        Policy policy = stage_read(id);
        check_moves(&policy);
        uint64_t root = stage_root(id);
        bool merged = last_state(&policy) == POLICY_MERGED;
        EXPECT(merged ? root != 0 && root != id : root == id);
        for (uint64_t other = first; other <= last; other++)
            if (stage_state(other) != POLICY_MERGED)
                EXPECT(is_member(id, other) == (other == root));
    }
}
