/* projection_queue_test.c -- who carries saves to the counts sleeps until there are some, misses none, and gets its thread back. */
#include <pthread.h>

#include "ledger_fixture.h"

enum { SAVES = 80 };

static void *carry(void *argument)
{
    size_t *rounds = argument;
    while (votes_projection_await(fixture.votes)) {
        size_t taken;
        do {
            taken = 0;
            if (votes_project_waiting(fixture.votes, SIZE_MAX, &taken) != STATUS_OK)
                return NULL;
        } while (taken > 0);
        ++*rounds;
    }
    return rounds;
}

/* At most ten seconds. */
static void expect_total(uint64_t policy, int64_t total)
{
    World real = world_real();
    for (int i = 0; i < 10000 && ledger_fixture_total(policy) != total; i++)
        clock_sleep_us(real.clock, US_PER_MS);
    EXPECT_I64(ledger_fixture_total(policy), total);
}

TEST(each_save_is_carried_though_nobody_asks_again)
{
    pthread_t thread;
    size_t rounds = 0;
    void *ended;
    ledger_fixture_begin();
    uint64_t voter = ledger_fixture_voter("ann");
    ledger_fixture_pass_days(60);
    uint64_t policy = ledger_fixture_policy(voter, "One");
    EXPECT(pthread_create(&thread, NULL, carry, &rounds) == 0);
    for (int64_t held = 1; held <= SAVES; held++) {
        ledger_fixture_save(voter, policy, held);
        if (held % 3 == 0) /* else it comes while the one before is carried */
            expect_total(policy, held);
    }
    expect_total(policy, SAVES);
    votes_projection_end_await(fixture.votes);
    EXPECT(pthread_join(thread, &ended) == 0);
    EXPECT(ended == &rounds);
    EXPECT(rounds >= 1 && rounds <= SAVES + 2);
    ledger_fixture_end();
}

TEST(what_was_ended_does_not_wait_and_leaves_what_waits)
{
    size_t taken = 0;
    ledger_fixture_begin();
    uint64_t voter = ledger_fixture_voter("ann");
    ledger_fixture_pass_days(60);
    uint64_t policy = ledger_fixture_policy(voter, "One");
    ledger_fixture_save(voter, policy, 7);
    EXPECT(votes_projection_await(fixture.votes));
    votes_projection_end_await(fixture.votes);
    EXPECT(!votes_projection_await(fixture.votes));
    while (votes_project_waiting(fixture.votes, SIZE_MAX, &taken) == STATUS_OK && taken > 0)
        continue;
    EXPECT_I64(ledger_fixture_total(policy), 7);
    EXPECT(!votes_projection_await(fixture.votes));
    ledger_fixture_end();
}
