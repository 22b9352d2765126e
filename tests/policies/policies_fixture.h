/* policies_fixture.h -- policies on a real embedded store, with a clock of the test's own and calls that can go wrong.
 *
 * A test begins with policies_fixture_begin and ends with policies_fixture_end. Categories are there; category 1 is used throughout. The module
 * works on fixture.faulty, which is honest until a plan is made. Short forms fail the test when something is not OK, so they
 * are for the test's own thread. */
#pragma once

#include "faulty.h"
#include "policies/policies.h"
#include "test.h"
#include "world.h"

enum {
    POLICIES_FIXTURE_CACHE_S = 60,
    POLICIES_FIXTURE_ACTOR = 7,
    POLICIES_FIXTURE_OWNER = 5,
    POLICIES_FIXTURE_PERCENT = 50
};

typedef struct PoliciesFixture {
    TestWorld own;
    World world;
    Store *store; /* the real one */
    Faulty faulty;
    Policies *policies; /* on the faulty one */
    Arena *arena;
} PoliciesFixture;

extern PoliciesFixture fixture;

void policies_fixture_begin(void);
void policies_fixture_end(void);
/* A new handle with an empty cache, as after a restart of the process; honest again. */
void policies_fixture_restart(void);
/* The same, and what is late stays under way. */
void policies_fixture_renew(void);
/* Another one beside it, as another instance has; to be freed by the test. */
Policies *policies_fixture_instance(void);

/* A text that passes every check; `name` needs 3 characters. */
PolicyText policies_fixture_text(const char *name);
Id policies_fixture_id(void);
uint64_t policies_fixture_next_id(void);
NewPolicy policies_fixture_new(const char *name);
/* A policy of POLICIES_FIXTURE_OWNER: pending; active. Returns its id. */
uint64_t policies_fixture_pending(const char *name);
uint64_t policies_fixture_active(const char *name);
/* From where it is now; the status of it. */
MUST_USE Status policies_fixture_move(uint64_t id, PolicyState to);
void policies_fixture_merge(uint64_t source, uint64_t target);
/* By serial read. */
Policy policies_fixture_read(uint64_t id);
PolicyState policies_fixture_state(uint64_t id);
/* The root now, by the book; 0 when there is no way to one. */
uint64_t policies_fixture_root(uint64_t id);

/* Runs `run` in `count` threads that start together. EXPECT must not be used inside. */
void policies_fixture_threads(int count, void (*run)(int index, void *context), void *context);

/* ---- Promises 1 to 3, over the policies `first` … `last` ------------------------------------------------------ */

/* All moves are moves of the rules, times increase; a merged policy leads to a root without a cycle and is among its
 * members; nothing else is. */
void policies_fixture_check(uint64_t first, uint64_t last);
