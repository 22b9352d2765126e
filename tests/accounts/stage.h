/* stage.h -- accounts on a real store, with a clock of the test's own, calls that can go wrong, and a cheap hash.
 *
 * A test begins with stage_begin and ends with stage_end. `stage.accounts` works on stage.faulty, which is honest until a plan is
 * made; `stage.honest` is another instance on the store itself. Short forms fail the test when something is not OK, so they are
 * for the test's own thread. */
#pragma once

#include <stdatomic.h>

#include "accounts/accounts.h"
#include "contract.h"
#include "faulty.h"
#include "world.h"

#define DAY_US (S_PER_DAY * US_PER_S)

typedef struct Stage {
    World world;
    Store *store;
    Faulty faulty;
    Accounts *accounts, *honest;
    atomic_int hashes, checks; /* calls of the hasher */
} Stage;

extern Stage stage;

void stage_begin(void);
void stage_end(void);
/* New instances on the same data, with nothing planned: a restart. */
void stage_restart(void);
/* The world of the stage, whose steady clock moves with the other; its hasher. */
AccountsOptions stage_options(Store *store);
/* Lets days pass. */
void stage_pass_days(int days);

/* A name and e-mail made of a word: "word" and "word@example.org". */
Registration stage_person(const char *word);
uint64_t stage_pending(const char *word);
uint64_t stage_confirmed(const char *word);
Account stage_read(uint64_t id);
AccountState stage_state(uint64_t id);
/* Who has the name or e-mail; 0 when nobody has. */
uint64_t stage_holder(const char *name_or_email);

/* Promise 1, over the accounts first … last: every confirmed one has its name and its e-mail. Since they are found by them, no
 * two have the same. */
void stage_check(uint64_t first, uint64_t last);
