/* world.h -- a world of the test's choosing: a clock that moves when told to, and luck from a seed.
 *
 *     TestWorld own;
 *     World world = test_world(&own, 42);
 *     test_world_pass(&own, US_PER_S);
 *   1. Both clocks stand still but for the calls below and for sleeping.
 *   2. Sleeping returns at once and moves both clocks on by what was asked.
 *   3. The same seed gives the same bytes for the same calls (several threads: the same bytes in some order).
 *   4. The disk is the real one. */
#pragma once

#include <stdatomic.h>

#include "base/vault.h"
#include "base/world.h"

/* 2026-01-31T12:00:00Z */
#define TEST_WORLD_START_US INT64_C(1769860800000000)

typedef struct TestWorld {
    _Atomic int64_t now_us;
    _Atomic int64_t steady_us;
    _Atomic uint64_t luck;
} TestWorld;

/* Starts `own`, which must outlive the handles. */
World test_world(TestWorld *own, uint64_t seed);
/* Time passes: both clocks move on. `us` is not negative. */
void test_world_pass(TestWorld *own, int64_t us);
/* Somebody sets the wall clock, by this much in either direction; the steady one does not notice. */
void test_world_step(TestWorld *own, int64_t us);
/* The same, to a moment. */
void test_world_set(TestWorld *own, int64_t now_us);

/* A key for everybody who needs one; the same in every run, for as long as the program lives. */
const Vault *test_vault(void);
