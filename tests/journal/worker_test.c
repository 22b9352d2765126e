/* worker_test.c -- the promises of worker.h, with a log in memory. */
#include <pthread.h>
#include <stdlib.h>

#include "journal/worker.h"
#include "journal_fixture.h"

static const char OWN[] = "[journal j]\nprocess = earliest\ntimeouts = none\nsync = puts\n"
                          "lease_s = 3600\n";
static const JournalNext NOTHING = {.at_ms = JOURNAL_NEVER};
static Fixture fixture;

static JournalWorker *begin(void)
{
    fixture_open(&fixture, OWN);
    return journal_worker_new(fixture.journals, SLICE("j"));
}

static void end(JournalWorker *worker)
{
    journal_worker_free(worker);
    fixture_close(&fixture);
}

static Status claim_now(JournalWorker *worker, JournalWork *ret_work)
{
    return journal_worker_claim(worker, 0, ret_work);
}

static void expect_next(JournalWorker *worker, const char *key)
{
    JournalWork work;
    EXPECT_STATUS(claim_now(worker, &work), STATUS_OK);
    EXPECT_SLICE(journal_work_key(&work), slice_from(key));
    journal_worker_end(worker, &work, NOTHING);
}

TEST(the_most_urgent_comes_first_and_a_burst_is_one)
{
    JournalWorker *worker = begin();
    JournalWork work;
    for (int i = 0; i < 1000; i++)
        journal_worker_put(worker, SLICE("slow"), (JournalNext){0, PRIORITY_SLOW});
    journal_worker_put(worker, SLICE("new"), (JournalNext){0, PRIORITY_NEW});
    expect_next(worker, "new");
    expect_next(worker, "slow");
    EXPECT_STATUS(claim_now(worker, &work), STATUS_NOT_FOUND);
    EXPECT(!journal_worker_lost(worker));
    end(worker);
}

TEST(the_next_date_is_kept_and_a_put_makes_it_earlier)
{
    JournalWorker *worker = begin();
    JournalWork work;
    journal_worker_put(worker, SLICE("k"), (JournalNext){0, PRIORITY_NEW});
    EXPECT_STATUS(claim_now(worker, &work), STATUS_OK);
    JournalNext later = {fixture_now_ms(&fixture) + 60000, PRIORITY_UPDATES};
    journal_worker_end(worker, &work, later);
    fixture_pass(&fixture, 59999);
    EXPECT_STATUS(claim_now(worker, &work), STATUS_NOT_FOUND);
    fixture_pass(&fixture, 1);
    EXPECT_STATUS(claim_now(worker, &work), STATUS_OK);
    EXPECT_I64(work.priority, PRIORITY_UPDATES);
    later.at_ms += 60000;
    journal_worker_end(worker, &work, later);
    journal_worker_put(worker, SLICE("k"), (JournalNext){0, PRIORITY_IMPORTANT});
    EXPECT_STATUS(claim_now(worker, &work), STATUS_OK);
    EXPECT_I64(work.priority, PRIORITY_IMPORTANT);
    journal_worker_end(worker, &work, NOTHING);
    EXPECT_I64((int64_t)journal_worker_waiting(worker), 0);
    end(worker);
}

TEST(what_is_put_while_it_runs_comes_again_once)
{
    JournalWorker *worker = begin();
    JournalWork work;
    journal_worker_put(worker, SLICE("k"), (JournalNext){0, PRIORITY_NEW});
    EXPECT_STATUS(claim_now(worker, &work), STATUS_OK);
    for (int i = 0; i < 1000; i++)
        journal_worker_put(worker, SLICE("k"), (JournalNext){0, PRIORITY_IMPORTANT});
    journal_worker_end(worker, &work,
                       (JournalNext){fixture_now_ms(&fixture) + 60000, PRIORITY_NEW});
    expect_next(worker, "k");
    EXPECT_STATUS(claim_now(worker, &work), STATUS_NOT_FOUND);
    end(worker);
}

/* A process that is gone: nobody ends what its owner had claimed. Of the owner only the memory is left. */
static void claim_and_die(bool put_again, bool cut)
{
    const Slice name = SLICE("j");
    JournalOwner *owner = journal_owner_new(fixture.journals);
    JournalClaim claim = {
        .journals = &name, .journal_count = 1, .max_priority = UINT32_MAX, .owner = owner};
    JournalClaims claims;
    EXPECT_STATUS(journal_claim(fixture.journals, &claim, fixture.arena, &claims, NULL), STATUS_OK);
    EXPECT_I64((int64_t)claims.count, 1);
    if (put_again)
        (void)fixture_put(&fixture, "j", "k", "");
    fixture_pass(&fixture, 300); /* so that it is synced */
    fixture_restart(&fixture, cut);
    JournalStep step = {.token = claims.entries[0].token};
    EXPECT_STATUS(journal_done(fixture.journals, &step, 1, NULL), STATUS_CONFLICT);
    heap_free(&owner->runs[0]);
    free(owner);
}

TEST(what_had_an_owner_is_due_again_after_a_restart)
{
    for (int i = 0; i < 4; i++) {
        JournalWork work;
        fixture_open(&fixture, OWN);
        (void)fixture_put(&fixture, "j", "k", "");
        claim_and_die(i % 2 == 1, i / 2 == 1);
        EXPECT(journals_check(fixture.journals) == NULL);
        JournalWorker *worker = journal_worker_new(fixture.journals, SLICE("j"));
        EXPECT_STATUS(claim_now(worker, &work), STATUS_OK);
        EXPECT_I64((int64_t)journal_worker_waiting(worker), 1);
        journal_worker_end(worker, &work, NOTHING);
        EXPECT_STATUS(claim_now(worker, &work), STATUS_NOT_FOUND);
        end(worker);
    }
}

TEST(what_was_removed_while_it_ran_does_not_come_back_by_a_restart)
{
    fixture_open(&fixture, OWN);
    JournalStep step = {.id = fixture_put(&fixture, "j", "k", "").id};
    const Slice name = SLICE("j");
    JournalOwner *owner = journal_owner_new(fixture.journals);
    JournalClaim claim = {
        .journals = &name, .journal_count = 1, .max_priority = UINT32_MAX, .owner = owner};
    JournalClaims claims;
    EXPECT_STATUS(journal_claim(fixture.journals, &claim, fixture.arena, &claims, NULL), STATUS_OK);
    EXPECT_STATUS(journal_remove(fixture.journals, &step, 1, NULL), STATUS_OK);
    fixture_restart(&fixture, false);
    heap_free(&owner->runs[0]);
    free(owner);
    EXPECT_I64((int64_t)fixture_claim(&fixture, "j").id, 0);
    fixture_pass(&fixture, 3600 * 1000);
    EXPECT_I64((int64_t)fixture_stats(&fixture, "j").processing, 0);
    EXPECT_I64((int64_t)fixture_claim(&fixture, "j").id, 0);
    fixture_close(&fixture);
}

TEST(a_journal_that_cannot_be_written_is_said_and_comes_back)
{
    JournalWorker *worker = begin();
    JournalWork work;
    memory_log_fail(fixture.kept, 1, MEMORY_FAILS);
    memory_log_break(fixture.kept, true);
    journal_worker_put(worker, SLICE("k"), (JournalNext){0, PRIORITY_NEW});
    journal_worker_sleep(worker, 60 * US_PER_S); /* it is woken by what was lost */
    EXPECT(journal_worker_lost(worker));
    EXPECT(!journal_worker_lost(worker));
    EXPECT_STATUS(claim_now(worker, &work), STATUS_UNAVAILABLE);
    EXPECT_I64((int64_t)journal_worker_waiting(worker), 0);
    memory_log_break(fixture.kept, false);
    EXPECT_STATUS(journals_reopen(fixture.journals, NULL), STATUS_OK);
    journal_worker_put(worker, SLICE("k"), (JournalNext){0, PRIORITY_NEW});
    expect_next(worker, "k");
    end(worker);
}

TEST(a_clock_that_was_set_back_holds_nothing_up)
{
    JournalWorker *worker = begin();
    JournalWork work;
    journal_worker_put(worker, SLICE("k"),
                       (JournalNext){fixture_now_ms(&fixture) + 60000, PRIORITY_NEW});
    EXPECT_STATUS(claim_now(worker, &work), STATUS_NOT_FOUND);
    test_world_step(&fixture.own, -3600 * US_PER_S);
    journals_tick(fixture.journals);
    expect_next(worker, "k");
    end(worker);
}

TEST(without_journals_nothing_is_claimed_and_every_put_is_lost)
{
    JournalWorker *worker = journal_worker_new(NULL, SLICE("j"));
    JournalWork work;
    EXPECT(!journal_worker_lost(worker));
    journal_worker_put(worker, SLICE("k"), (JournalNext){0, PRIORITY_NEW});
    journal_worker_sleep(worker, 60 * US_PER_S);
    EXPECT(journal_worker_lost(worker));
    EXPECT_STATUS(claim_now(worker, &work), STATUS_UNAVAILABLE);
    journal_worker_free(worker);
}

typedef struct Sleeper {
    JournalWorker *worker;
    _Atomic int claimed, ended;
} Sleeper;

static void *sleep_in_claims(void *context)
{
    Sleeper *sleeper = context;
    JournalWork work;
    Status status;
    while ((status = journal_worker_claim(sleeper->worker, 3600 * US_PER_S, &work)) == STATUS_OK) {
        journal_worker_end(sleeper->worker, &work, NOTHING);
        atomic_fetch_add(&sleeper->claimed, 1);
    }
    CHECK(status == STATUS_NOT_FOUND);
    atomic_store(&sleeper->ended, 1);
    return NULL;
}

TEST(a_claim_that_sleeps_is_woken_by_a_put_and_by_a_call)
{
    enum { PUTS = 100 };
    Sleeper sleeper = {.worker = begin()};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, sleep_in_claims, &sleeper) == 0);
    for (int i = 1; i <= PUTS; i++) {
        journal_worker_put(sleeper.worker, SLICE("k"), (JournalNext){0, PRIORITY_SLOW});
        while (atomic_load(&sleeper.claimed) < i)
            sched_yield();
    }
    EXPECT_I64(atomic_load(&sleeper.ended), 0);
    journal_worker_call(sleeper.worker);
    CHECK(pthread_join(thread, NULL) == 0);
    EXPECT_I64(atomic_load(&sleeper.claimed), PUTS);
    end(sleeper.worker);
}
