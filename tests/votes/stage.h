/* stage.h -- the ledger on a real embedded store, with a clock of the test's own.
 *
 * A test begins with stage_begin and ends with stage_end. Let days pass for more salary. Short forms fail the test when
 * something is not OK, so they are for the test's own thread, except stage_try_save. */
#pragma once

#include "test.h"
#include "votes/inside.h"
#include "world.h"

enum { STAGE_CATEGORY = 1, STAGE_GRACE_S = 10 * 86400 };

typedef struct Stage {
    TestWorld own;
    World world;
    Store *store;
    Accounts *accounts;
    Policies *policies;
    Votes *votes;
    Arena *arena;
    const char *directory;
} Stage;

extern Stage stage;

void stage_begin(void);
void stage_end(void);
/* New handles on the same data, as after a restart of the process. */
void stage_restart(void);
/* Another handle, as another instance has; to be freed by the test. */
Votes *stage_instance(void);

/* Days of salary. */
void stage_pass_days(int days);
uint64_t stage_voter(const char *name);
/* A new policy of this voter, with the cost of creating as its first line. */
uint64_t stage_policy(uint64_t voter, const char *name);
/* The line on `policy` shall hold `held`; on whatever version stands. */
MUST_USE Status stage_try_save(uint64_t voter, uint64_t policy, int64_t held,
                               SaveOutcome *ret_outcome);
void stage_save(uint64_t voter, uint64_t policy, int64_t held);
/* All that waits is carried to the counts. */
void stage_project(void);
int64_t stage_total(uint64_t policy);
VoterState stage_show(uint64_t voter);
PolicyState stage_state(uint64_t policy);
void stage_move(uint64_t policy, PolicyState to);
