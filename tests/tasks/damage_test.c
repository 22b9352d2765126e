/* damage_test.c -- one voter whose row or log cannot be read, and one who has left and is not closed: nobody else notices. */
#include "instance.h"

static Tasks *tasks;

static void begin(void)
{
    ledger_fixture_begin();
    tasks = instance();
}

/* As if the process had died and another were there. */
static void begin_again(void)
{
    tasks_free(tasks);
    ledger_fixture_restart();
    tasks = instance();
}

static void end(void)
{
    tasks_free(tasks);
    ledger_fixture_end();
}

static void run(const char *name)
{
    Reason reason = {.rule = ""};
    EXPECT_STATUS(tasks_run(tasks, slice_from(name), &reason), STATUS_OK);
}

/* ---- One voter's damage ------------------------------------------------------------------------------------------ */

enum { MANY = 40 }; /* more than there are shards: some share a row of marks with the damaged one */

static void damage_head(uint64_t voter)
{
    instance_damage(&TABLE_VOTERS, ledger_u64(fixture.arena, voter), SLICE("head"),
                    SLICE("nonsense"));
}

TEST(a_damaged_head_stops_no_start_no_sweep_and_no_pass)
{
    begin();
    uint64_t ann = ledger_fixture_voter("ann"), policy = ledger_fixture_policy(ann, "Trams");
    uint64_t voters[MANY], damaged[VOTES_DAMAGED_MAX];
    for (int i = 0; i < MANY; i++) {
        voters[i] = ledger_fixture_voter(
            arena_text(fixture.arena, arena_print(fixture.arena, "voter%d", i)));
        ledger_fixture_save(voters[i], policy, 1);
    }
    damage_head(voters[0]);
    begin_again(); /* nobody waits any more: only the marks say who is behind */
    EXPECT_STATUS(tasks_catch_up(tasks, &(Reason){0}), STATUS_OK);
    EXPECT_I64(ledger_fixture_total(policy), 100 + MANY); /* the damaged one's log can be read */
    EXPECT_I64(votes_damaged(fixture.votes, damaged), 1);
    EXPECT_I64(damaged[0], voters[0]);
    run("sweep");
    run("pass");
    EXPECT(instance_info(tasks, "pass", 0).whole_us > 0);
    EXPECT_STATUS(votes_mend(fixture.votes, voters[0]), STATUS_OK);
    EXPECT_I64(votes_damaged_count(fixture.votes), 0);
    EXPECT_I64(ledger_fixture_show(voters[0]).lines[0].held, 1);
    ledger_fixture_save(voters[0], policy, 2);
    end();
}

TEST(an_entry_that_cannot_be_read_stops_nobody_else)
{
    begin();
    uint64_t ann = ledger_fixture_voter("ann"), policy = ledger_fixture_policy(ann, "Trams");
    uint64_t bob = ledger_fixture_voter("bob"), eve = ledger_fixture_voter("eve");
    uint64_t damaged[VOTES_DAMAGED_MAX];
    ledger_fixture_save(bob, policy, 5);
    ledger_fixture_save(bob, policy, 6);
    ledger_fixture_save(eve, policy, 7);
    instance_damage(&TABLE_VOTERS, ledger_u64(fixture.arena, bob),
                    ledger_column(fixture.arena, 'z', 2), SLICE("nonsense"));
    begin_again();
    EXPECT_STATUS(tasks_catch_up(tasks, &(Reason){0}), STATUS_OK);
    EXPECT_I64(ledger_fixture_total(policy), 100 + 5 + 7); /* up to the damage */
    EXPECT_I64(votes_damaged(fixture.votes, damaged), 1);
    EXPECT_I64(damaged[0], bob);
    EXPECT_STATUS(votes_mend(fixture.votes, bob), STATUS_CORRUPT);
    run("sweep");
    run("pass");
    end();
}

/* ---- Leaving ----------------------------------------------------------------------------------------------------- */

TEST(who_has_left_is_closed_by_the_sweep)
{
    begin();
    Reason reason = {.rule = ""};
    bool gone = true;
    uint64_t ann = ledger_fixture_voter("ann"), policy = ledger_fixture_policy(ann, "Trams");
    EXPECT_STATUS(votes_leave(fixture.votes, ann, &reason), STATUS_OK);
    begin_again(); /* the process died behind the closing entry */
    EXPECT_STATUS(accounts_is_gone(fixture.accounts, ann, &gone), STATUS_OK);
    EXPECT(!gone);
    run("sweep");
    run("leaving");
    EXPECT_I64(instance_info(tasks, "leaving", 0).found, 1);
    EXPECT_STATUS(accounts_is_gone(fixture.accounts, ann, &gone), STATUS_OK);
    EXPECT(gone);
    Policy shown;
    EXPECT_STATUS(policies_fresh(fixture.policies, policy, fixture.arena, &shown), STATUS_OK);
    EXPECT_I64(shown.owner, 0);
    (void)ledger_fixture_voter("ann"); /* the name is free */
    run("sweep");
    run("leaving");
    EXPECT_I64(instance_info(tasks, "leaving", 0).found,
               0); /* those who are gone are not met again */
    end();
}
