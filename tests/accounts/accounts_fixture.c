/* accounts_fixture.c -- see accounts_fixture.h. */
#include "accounts_fixture.h"

#include "electorate/electorate.h"

AccountsFixture fixture;

static Status cheap_hash(void *self, Slice password, Arena *arena, Slice *ret_hash)
{
    AccountsFixture *on = self;
    atomic_fetch_add(&on->hashes, 1);
    *ret_hash = arena_print(arena, "hash of %.*s", SLICE_ARG(password));
    return STATUS_OK;
}

static bool cheap_check(void *self, Slice password, Slice hash)
{
    AccountsFixture *on = self;
    atomic_fetch_add(&on->checks, 1);
    return slice_equal(slice_after(hash, strlen("hash of ")), password);
}

/* What waits in the code under test waits in our time, but passes none of it. */
static void no_sleep(void *self, int64_t us)
{
    (void)self;
    (void)us;
}

AccountsOptions fixture_options(Store *store)
{
    return (AccountsOptions){.store = store,
                             .world = fixture.world,
                             .vault = test_vault(),
                             .hasher = {cheap_hash, cheap_check, &fixture},
                             .entry_rule = electorate_has_entries,
                             .return_days = FIXTURE_RETURN_DAYS,
                             .id_block = 1};
}

static void open_instances(void)
{
    AccountsOptions faulty, honest = fixture_options(fixture.store);
    faulty_init(&fixture.faulty, fixture.store, contract_arena());
    faulty = fixture_options(&fixture.faulty.store);
    fixture.accounts = accounts_new(&faulty);
    fixture.honest = accounts_new(&honest);
}

static void close_instances(void)
{
    accounts_free(fixture.accounts);
    accounts_free(fixture.honest);
    fixture.accounts = fixture.honest = NULL;
}

void fixture_begin(void)
{
    close_instances(); /* what a failed test left behind */
    fixture.store = contract_fresh_site();
    fixture.world = contract_world();
    CHECK(contract_has_clock());
    fixture.world.clock.steady_us = fixture.world.clock.now_us;
    fixture.world.clock.sleep_us = no_sleep;
    fixture.hashes = fixture.checks = 0;
    open_instances();
}

void fixture_end(void)
{
    close_instances();
    contract_end();
}

void fixture_restart(void)
{
    close_instances();
    fixture.store = contract_restart();
    open_instances();
}

void fixture_pass_days(int days)
{
    contract_pass_s(days * S_PER_DAY);
}

Registration fixture_person(const char *word)
{
    return (Registration){.name = arena_print(contract_arena(), "%s", word),
                          .email = arena_print(contract_arena(), "%s@example.org", word),
                          .password = SLICE("correct horse")};
}

static uint64_t registered(const char *word, bool confirmed)
{
    Registration person = fixture_person(word);
    Reason reason = {.rule = ""};
    uint64_t id = 0;
    person.confirmed = confirmed;
    Status status = accounts_register(fixture.honest, &person, &id, &reason);
    if (status != STATUS_OK)
        test_fail(__FILE__, __LINE__, "%s cannot register: %s, %s", word, status_name(status),
                  reason.rule);
    return id;
}

uint64_t fixture_pending(const char *word)
{
    return registered(word, false);
}

uint64_t fixture_confirmed(const char *word)
{
    return registered(word, true);
}

Account fixture_read(uint64_t id)
{
    Account account = {.id = 0};
    EXPECT_STATUS(accounts_read(fixture.honest, id, contract_arena(), &account), STATUS_OK);
    return account;
}

AccountState fixture_state(uint64_t id)
{
    return fixture_read(id).state;
}

uint64_t fixture_holder(const char *name_or_email)
{
    Account account = {.id = 0};
    Status status =
        accounts_find(fixture.honest, slice_from(name_or_email), contract_arena(), &account);
    if (status != STATUS_NOT_FOUND)
        EXPECT_STATUS(status, STATUS_OK);
    return account.id;
}

void fixture_check(uint64_t first, uint64_t last)
{
    for (uint64_t id = first; id <= last; id++) {
        Account account;
        Status status = accounts_read(fixture.honest, id, contract_arena(), &account);
        if (status == STATUS_NOT_FOUND)
            continue;
        EXPECT_STATUS(status, STATUS_OK);
        if (account.state != ACCOUNT_CONFIRMED)
            continue;
        EXPECT_I64(fixture_holder(arena_text(contract_arena(), account.name)), id);
        EXPECT_I64(fixture_holder(arena_text(contract_arena(), account.email)), id);
    }
}
