/* stage.h -- policies on a real embedded store, with a clock of the test's own and calls that can go wrong.
 *
 * A test begins with stage_begin and ends with stage_end. Categories are there; category 1 is used throughout. The module
 * works on stage.faulty, which is honest until a plan is made. Short forms fail the test when something is not OK, so they
 * are for the test's own thread. */
#pragma once

#include "faulty.h"
#include "policies/policies.h"
#include "test.h"
#include "world.h"

enum { STAGE_CACHE_S = 60, STAGE_ACTOR = 7, STAGE_OWNER = 5, STAGE_PERCENT = 50 };

typedef struct Stage {
    TestWorld own;
    World world;
    Store *store; /* the real one */
    Faulty faulty;
    Policies *policies; /* on the faulty one */
    Arena *arena;
} Stage;

extern Stage stage;

void stage_begin(void);
void stage_end(void);
/* A new handle with an empty cache, as after a restart of the process; honest again. */
void stage_restart(void);
/* The same, and what is late stays under way. */
void stage_renew(void);
/* Another one beside it, as another instance has; to be freed by the test. */
Policies *stage_instance(void);

/* A text that passes every check; `name` needs 3 characters. */
PolicyText stage_text(const char *name);
Id stage_id(void);
uint64_t stage_next_id(void);
NewPolicy stage_new(const char *name);
/* A policy of STAGE_OWNER: pending; active. Returns its id. */
uint64_t stage_pending(const char *name);
uint64_t stage_active(const char *name);
/* From where it is now; the status of it. */
MUST_USE Status stage_move(uint64_t id, PolicyState to);
void stage_merge(uint64_t source, uint64_t target);
/* By serial read. */
Policy stage_read(uint64_t id);
PolicyState stage_state(uint64_t id);
/* The root now, by the book; 0 when there is no way to one. */
uint64_t stage_root(uint64_t id);

/* Runs `run` in `count` threads that start together. EXPECT must not be used inside. */
void stage_threads(int count, void (*run)(int index, void *context), void *context);

/* ---- Promises 1 to 3, over the policies `first` … `last` ------------------------------------------------------ */

/* All moves are moves of the rules, times increase; a merged policy leads to a root without a cycle and is among its
 * members; nothing else is. */
void stage_check(uint64_t first, uint64_t last);
