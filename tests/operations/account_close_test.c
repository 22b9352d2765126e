/* account_close_test.c -- leaving, with every call of the store going wrong in turn, and with a crash behind every one. */
#include "operations/account_close.h"

#include "faulty.h"
#include "store/rocksdb/rocksdb.h"
#include "test.h"
#include "world.h"

static struct {
    TestWorld own;
    World world;
    Config config;
    Store *store;
    Faulty faulty;
    App app;
    Operations *ops;
    Arena *arena;
    uint64_t policy; /* that everybody votes for */
    int people;
} hall;

static void open_app(void)
{
    Reason reason = {.rule = ""};
    faulty_arrive(&hall.faulty, 0);
    AppParts parts = {&hall.faulty.store, hall.world, vault_for_tests(1), &hall.config};
    EXPECT_STATUS(app_open(&parts, &hall.app, &reason), STATUS_OK);
    hall.ops = operations_new(&(OperationsOptions){.app = &hall.app, .config = &hall.config});
}

static void close_app(void)
{
    operations_free(hall.ops);
    app_close(&hall.app);
}

static uint64_t person(void)
{
    uint64_t id = 0;
    Slice name = arena_print(hall.arena, "person%d", hall.people++);
    Registration registration = {.name = name,
                                 .email =
                                     arena_print(hall.arena, "%.*s@example.org", SLICE_ARG(name)),
                                 .without_password = true,
                                 .confirmed = true};
    EXPECT_STATUS(accounts_register(hall.app.accounts, &registration, &id, &(Reason){0}),
                  STATUS_OK);
    return id;
}

static uint64_t create(uint64_t owner, int64_t held)
{
    SaveResult result = {.created = 0};
    PolicyText text = {.name = arena_print(hall.arena, "Policy of %llu", (unsigned long long)owner),
                       .description = SLICE("A text."),
                       .rationale = SLICE_EMPTY,
                       .category = 1};
    SaveRequest request = {.voter = owner, .create = &text, .create_held = held};
    EXPECT_STATUS(votes_save(hall.app.votes, &request, hall.arena, &result, &(Reason){0}),
                  STATUS_OK);
    EXPECT_I64(result.outcome, SAVE_SAVED);
    return result.created;
}

static void begin(void)
{
    Reason reason = {.rule = ""};
    hall.arena = arena_new();
    hall.people = 0;
    hall.world = test_world(&hall.own, 1);
    config_defaults(&hall.config);
    RocksdbOptions options = {.directory = test_directory(),
                              .create = true,
                              .cache_bytes = 8 * 1024 * 1024,
                              .write_buffer_bytes = 4 * 1024 * 1024,
                              .grace_s = 10 * 86400,
                              .reopen_s = 1,
                              .world = hall.world,
                              .tables = TABLES};
    EXPECT_STATUS(store_rocksdb_open(&options, &hall.store, &reason), STATUS_OK);
    faulty_init(&hall.faulty, hall.store, hall.arena);
    open_app();
}

static void end(void)
{
    close_app();
    store_close(hall.store);
    arena_free(hall.arena);
}

static void run(const char *task)
{
    Reason reason = {.rule = ""};
    EXPECT_STATUS(tasks_run(app_tasks(&hall.app), slice_from(task), &reason), STATUS_OK);
}

/* All of it is there, or nothing. */
static bool is_gone(uint64_t id, uint64_t policy)
{
    bool gone = false;
    VoterState state;
    Policy owned;
    EXPECT_STATUS(accounts_is_gone(hall.app.accounts, id, &gone), STATUS_OK);
    EXPECT_STATUS(votes_show(hall.app.votes, id, hall.arena, &state), STATUS_OK);
    EXPECT_STATUS(policies_fresh(hall.app.policies, policy, hall.arena, &owned), STATUS_OK);
    EXPECT(state.closed == gone);
    EXPECT_I64(state.lines[0].held, gone ? 0 : 100);
    EXPECT_I64(owned.owner, gone ? 0 : (int64_t)id);
    return gone;
}

/* The n-th call goes wrong. Returns whether there was one. */
static bool leave(int n, FaultFate fate, int lasts)
{
    uint64_t id = person(), policy = create(id, 100);
    faulty_plan(&hall.faulty, n, fate, lasts);
    Status status = account_close(hall.ops, id, &(Reason){0});
    bool struck = faulty_struck(&hall.faulty);
    if (lasts == FAULT_FOREVER) { /* the process died there */
        close_app();
        open_app();
    }
    faulty_arrive(&hall.faulty, 0);
    faulty_deliver(&hall.faulty);
    run("sweep");
    run("leaving");
    bool gone = is_gone(id, policy);
    bool told_done = status == STATUS_OK, told_unknown = status == STATUS_UNKNOWN;
    if (!told_unknown && told_done != gone)
        test_fail(__FILE__, __LINE__, "call %d, fate %d: told %s, and it is %s", n, (int)fate,
                  status_name(status), gone ? "done" : "not done");
    return struck;
}

TEST(leaving_is_done_or_not_whichever_call_fails)
{
    begin();
    for (int fate = 0; fate < FAULT_FATES; fate++)
        for (int n = 1; leave(n, (FaultFate)fate, FAULT_ONCE); n++)
            continue;
    end();
}

TEST(leaving_is_finished_after_a_crash_behind_any_call)
{
    begin();
    for (int n = 1; leave(n, FAULT_REFUSED, FAULT_FOREVER); n++)
        continue;
    for (int n = 1; leave(n, FAULT_LATE, FAULT_FOREVER); n++)
        continue;
    end();
}
