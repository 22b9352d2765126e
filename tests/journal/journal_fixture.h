/* journal_fixture.h -- journals on a log in memory, with a clock of the test's choosing. */
#pragma once

#include "journal/engine.h"
#include "memory_log.h"
#include "test.h"
#include "world.h"

typedef struct Fixture {
    TestWorld own;
    World world;
    MemoryLog *kept;
    Journals *journals;
    Arena *arena;
    const char *declaration;
    _Atomic unsigned alerts;
    Reason reason;
} Fixture;

void fixture_open(Fixture *fixture, const char *declaration);
/* Close, or a crash that loses what was not synced, and open again. */
void fixture_restart(Fixture *fixture, bool cut);
/* Checks the indexes first. */
void fixture_close(Fixture *fixture);
/* Both clocks go on, and the journals look at them. */
void fixture_pass(Fixture *fixture, int64_t ms);
int64_t fixture_now_ms(Fixture *fixture);

JournalAnswer fixture_put(Fixture *fixture, const char *journal, const char *key, const char *data);
JournalAnswer fixture_put_at(Fixture *fixture, const char *journal, const char *key,
                             int64_t wanted_ms);
/* The next entry of a journal; its id is 0 when there is none. */
JournalClaimed fixture_claim(Fixture *fixture, const char *journal);
MUST_USE Status fixture_done(Fixture *fixture, const JournalClaimed *claimed);
JournalStats fixture_stats(Fixture *fixture, const char *journal);
