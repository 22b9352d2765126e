/* live_test.c -- verify beside saves: whatever it meets halfway, a healthy site has no faults. */
#include <pthread.h>
#include <stdatomic.h>

#include "ledger_fixture.h"
#include "verify/verify.h"

enum { SAVERS = 4, VOTERS = 12, POLICIES = 3, RUNS = 5, SAVES = 500 };

typedef struct Load {
    uint64_t voters[VOTERS], policies[POLICIES];
    atomic_bool ends;
    atomic_int saves, failures;
    pthread_t threads[SAVERS + 1];
} Load;

static Load load;
static char words[4096];

static void hear(void *self, const VerifyFault *fault)
{
    (void)self;
    size_t used = strlen(words);
    snprintf(words + used, sizeof words - used, "%s: %s\n", verify_kind_text(fault->kind),
             fault->words);
}

static void *save_on(void *argument)
{
    int self = (int)(intptr_t)argument;
    for (int i = 0; !atomic_load(&load.ends); i++) {
        SaveOutcome outcome = SAVE_SAVED;
        /* Each has voters of its own, and all meet on the policies. */
        uint64_t voter = load.voters[self + SAVERS * (i % (VOTERS / SAVERS))];
        Status status =
            ledger_fixture_try_save(voter, load.policies[i % POLICIES], 100 + i % 3, &outcome);
        bool went = status == STATUS_OK && (outcome == SAVE_SAVED || outcome == SAVE_REFUSED);
        atomic_fetch_add(went ? &load.saves : &load.failures, 1);
        if (i % 50 == 0)
            test_world_pass(&fixture.own, 600 * US_PER_S);
    }
    return NULL;
}

static void *project_on(void *argument)
{
    (void)argument;
    while (!atomic_load(&load.ends)) {
        size_t taken;
        if (votes_project_waiting(fixture.votes, SIZE_MAX, &taken) != STATUS_OK)
            atomic_fetch_add(&load.failures, 1);
    }
    return NULL;
}

static void begin_load(void)
{
    ledger_fixture_begin();
    load = (Load){.ends = false};
    for (int i = 0; i < VOTERS; i++)
        load.voters[i] = ledger_fixture_voter(
            arena_text(fixture.arena, arena_print(fixture.arena, "voter%d", i)));
    ledger_fixture_pass_days(70);
    for (int i = 0; i < POLICIES; i++)
        load.policies[i] = ledger_fixture_policy(
            load.voters[i], arena_text(fixture.arena, arena_print(fixture.arena, "Policy %d", i)));
    for (intptr_t i = 0; i < SAVERS; i++)
        CHECK(pthread_create(&load.threads[i], NULL, save_on, (void *)i) == 0);
    CHECK(pthread_create(&load.threads[SAVERS], NULL, project_on, NULL) == 0);
}

static void end_load(void)
{
    atomic_store(&load.ends, true);
    for (int i = 0; i <= SAVERS; i++)
        CHECK(pthread_join(load.threads[i], NULL) == 0);
}

static VerifyOptions options(void)
{
    return (VerifyOptions){.store = fixture.store,
                           .world = fixture.world,
                           .accounts = fixture.accounts,
                           .policies = fixture.policies,
                           .votes = fixture.votes,
                           .settle_s = 1,
                           .fault = hear};
}

TEST(verify_beside_saves_finds_nothing)
{
    VerifyReport report = {0};
    begin_load();
    VerifyOptions with = options();
    words[0] = '\0';
    /* As often as it takes to meet many of them. */
    for (int i = 0; i < RUNS || atomic_load(&load.saves) < SAVES; i++) {
        Status status = verify_run(&with, &report);
        if (status != STATUS_OK || verify_faults(&report) > 0) {
            end_load();
            test_fail(__FILE__, __LINE__, "%s, %s", status_name(status), words);
        }
    }
    end_load();
    EXPECT_I64(load.failures, 0);
    EXPECT(load.saves >= SAVES);
    EXPECT_STATUS(verify_run(&with, &report), STATUS_OK);
    EXPECT_I64(verify_faults(&report), 0);
    EXPECT_I64(report.busy, 0);
    ledger_fixture_end();
}

TEST(a_rebuild_beside_saves_loses_nothing)
{
    VerifyReport report = {0};
    VerifyReport broken = {.faults = {[VERIFY_POLICY_TOTALS] = 1}};
    begin_load();
    VerifyOptions with = options();
    words[0] = '\0';
    Status status = STATUS_OK;
    for (int i = 0; i < 3 && status == STATUS_OK; i++)
        status = verify_repair(&with, &broken);
    end_load();
    EXPECT_STATUS(status, STATUS_OK);
    EXPECT_I64(votes_generation(fixture.votes), 3);
    EXPECT_I64(load.failures, 0);
    EXPECT_STATUS(verify_run(&with, &report), STATUS_OK);
    if (verify_faults(&report) > 0)
        test_fail(__FILE__, __LINE__, "%s", words);
    ledger_fixture_end();
}
