/* accounts_fixture.h -- accounts on a real store, with a clock of the test's own, calls that can go wrong, and a cheap hash.
 *
 * A test begins with fixture_begin and ends with fixture_end. `fixture.accounts` works on fixture.faulty, which is honest until a plan is
 * made; `fixture.honest` is another instance on the store itself. Short forms fail the test when something is not OK, so they are
 * for the test's own thread. */
#pragma once

#include <stdatomic.h>

#include "accounts/accounts.h"
#include "contract.h"
#include "faulty.h"
#include "world.h"

#define DAY_US (S_PER_DAY * US_PER_S)
enum { FIXTURE_RETURN_DAYS = 30 };

typedef struct AccountsFixture {
    World world;
    Store *store;
    Faulty faulty;
    Accounts *accounts, *honest;
    atomic_int hashes, checks; /* calls of the hasher */
} AccountsFixture;

extern AccountsFixture fixture;

void fixture_begin(void);
void fixture_end(void);
/* New instances on the same data, with nothing planned: a restart. */
void fixture_restart(void);
/* The world of the fixture, whose steady clock moves with the other; its hasher. */
AccountsOptions fixture_options(Store *store);
/* Lets days pass. */
void fixture_pass_days(int days);

/* A name and e-mail made of a word: "word" and "word@example.org". */
Registration fixture_person(const char *word);
uint64_t fixture_pending(const char *word);
uint64_t fixture_confirmed(const char *word);
Account fixture_read(uint64_t id);
AccountState fixture_state(uint64_t id);
/* Who has the name or e-mail; 0 when nobody has. */
uint64_t fixture_holder(const char *name_or_email);

/* Promise 1, over the accounts first … last: every confirmed one has its name and its e-mail. Since they are found by them, no
 * two have the same. */
void fixture_check(uint64_t first, uint64_t last);
