/* votes_fixture.h -- a small site on the store under test (OSTRAKA_TEST_STORE): voters, policies, and calls that can go wrong.
 *
 * A test begins with votes_fixture_begin and ends with votes_fixture_end. The modules work on fixture.faulty, which is honest until a plan is made.
 * Short forms fail the test when something is not OK, so they are for the test's own thread. */
#pragma once

#include "contract.h"
#include "faulty.h"
#include "votes/votes.h"
#include "world.h"

#define DAY_US (S_PER_DAY * US_PER_S)

typedef struct VotesFixture {
    World world;
    Faulty faulty;
    Accounts *accounts;
    Policies *policies;
    Votes *votes;
    uint64_t category;
} VotesFixture;

extern VotesFixture fixture;

void votes_fixture_begin(void);
void votes_fixture_end(void);
/* New instances on the same data, with nothing planned: what a crash of the process leaves. */
void votes_fixture_restart(void);

uint64_t votes_fixture_voter(const char *name);
/* An active policy of this owner, for 100 pollies. */
uint64_t votes_fixture_policy(uint64_t owner, const char *name);
VoterState votes_fixture_state(uint64_t voter);
/* One wish on top of what stands. */
SaveResult votes_fixture_save(uint64_t voter, uint64_t policy, int64_t held);
/* The same, judged by the caller; `seen` is the voter's version. */
MUST_USE Status votes_fixture_try(uint64_t voter, Id seen, VoteRequest want, Arena *arena,
                                  SaveResult *ret_result);
/* Projects what waits, then what the marks of the last hours name. */
void votes_fixture_sweep(void);
int64_t votes_fixture_total(uint64_t policy);
/* P2 and P5 for the voters 1 … last and the policies 1 … last: totals are the sums of lines, recounts agree, chains have no gaps. */
void votes_fixture_check(uint64_t last_voter, uint64_t last_policy);
