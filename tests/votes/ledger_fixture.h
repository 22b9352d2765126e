/* ledger_fixture.h -- the ledger on a real embedded store, with a clock of the test's own.
 *
 * A test begins with ledger_fixture_begin and ends with ledger_fixture_end. Let days pass for more salary. Short forms fail the test when
 * something is not OK, so they are for the test's own thread, except ledger_fixture_try_save. */
#pragma once

#include "test.h"
#include "votes/votes_private.h"
#include "world.h"

enum { LEDGER_FIXTURE_CATEGORY = 1, LEDGER_FIXTURE_GRACE_S = 10 * 86400 };

typedef struct LedgerFixture {
    TestWorld own;
    World world;
    Store *store;
    Accounts *accounts;
    Policies *policies;
    Votes *votes;
    Arena *arena;
    const char *directory;
} LedgerFixture;

extern LedgerFixture fixture;

void ledger_fixture_begin(void);
void ledger_fixture_end(void);
/* New handles on the same data, as after a restart of the process. */
void ledger_fixture_restart(void);
/* Another handle, as another instance has; to be freed by the test. */
Votes *ledger_fixture_instance(void);

/* Days of salary. */
void ledger_fixture_pass_days(int days);
uint64_t ledger_fixture_voter(const char *name);
/* A new policy of this voter, with the cost of creating as its first line. */
uint64_t ledger_fixture_policy(uint64_t voter, const char *name);
/* The line on `policy` shall hold `held`; on whatever version stands. */
MUST_USE Status ledger_fixture_try_save(uint64_t voter, uint64_t policy, int64_t held,
                                        SaveOutcome *ret_outcome);
void ledger_fixture_save(uint64_t voter, uint64_t policy, int64_t held);
/* All that waits is carried to the counts. */
void ledger_fixture_project(void);
int64_t ledger_fixture_total(uint64_t policy);
VoterState ledger_fixture_show(uint64_t voter);
PolicyState ledger_fixture_state(uint64_t policy);
void ledger_fixture_move(uint64_t policy, PolicyState to);
