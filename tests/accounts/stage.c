/* stage.c -- see stage.h. */
#include "stage.h"

Stage stage;

static Status cheap_hash(void *self, Slice password, Arena *arena, Slice *ret_hash)
{
    Stage *on = self;
    atomic_fetch_add(&on->hashes, 1);
    *ret_hash = arena_print(arena, "hash of %.*s", SLICE_ARG(password));
    return STATUS_OK;
}

static bool cheap_check(void *self, Slice password, Slice hash)
{
    Stage *on = self;
    atomic_fetch_add(&on->checks, 1);
    return slice_equal(slice_after(hash, strlen("hash of ")), password);
}

/* What waits in the code under test waits in our time, but passes none of it. */
static void no_sleep(void *self, int64_t us)
{
    (void)self;
    (void)us;
}

AccountsOptions stage_options(Store *store)
{
    return (AccountsOptions){.store = store,
                             .world = stage.world,
                             .vault = test_vault(),
                             .hasher = {cheap_hash, cheap_check, &stage},
                             .id_block = 1};
}

static void open_instances(void)
{
    AccountsOptions faulty, honest = stage_options(stage.store);
    faulty_init(&stage.faulty, stage.store, contract_arena());
    faulty = stage_options(&stage.faulty.store);
    stage.accounts = accounts_new(&faulty);
    stage.honest = accounts_new(&honest);
}

static void close_instances(void)
{
    accounts_free(stage.accounts);
    accounts_free(stage.honest);
    stage.accounts = stage.honest = NULL;
}

void stage_begin(void)
{
    close_instances(); /* what a failed test left behind */
    stage.store = contract_fresh_site();
    stage.world = contract_world();
    CHECK(contract_has_clock());
    stage.world.clock.steady_us = stage.world.clock.now_us;
    stage.world.clock.sleep_us = no_sleep;
    stage.hashes = stage.checks = 0;
    open_instances();
}

void stage_end(void)
{
    close_instances();
    contract_end();
}

void stage_restart(void)
{
    close_instances();
    stage.store = contract_restart();
    open_instances();
}

void stage_pass_days(int days)
{
    contract_pass_s(days * S_PER_DAY);
}

Registration stage_person(const char *word)
{
    return (Registration){.name = arena_print(contract_arena(), "%s", word),
                          .email = arena_print(contract_arena(), "%s@example.org", word),
                          .password = SLICE("correct horse")};
}

static uint64_t registered(const char *word, bool confirmed)
{
    Registration person = stage_person(word);
    Reason reason = {.rule = ""};
    uint64_t id = 0;
    person.confirmed = confirmed;
    Status status = accounts_register(stage.honest, &person, &id, &reason);
    if (status != STATUS_OK)
        test_fail(__FILE__, __LINE__, "%s cannot register: %s, %s", word, status_name(status),
                  reason.rule);
    return id;
}

uint64_t stage_pending(const char *word)
{
    return registered(word, false);
}

uint64_t stage_confirmed(const char *word)
{
    return registered(word, true);
}

Account stage_read(uint64_t id)
{
    Account account = {.id = 0};
    EXPECT_STATUS(accounts_read(stage.honest, id, contract_arena(), &account), STATUS_OK);
    return account;
}

AccountState stage_state(uint64_t id)
{
    return stage_read(id).state;
}

uint64_t stage_holder(const char *name_or_email)
{
    Account account = {.id = 0};
    Status status =
        accounts_find(stage.honest, slice_from(name_or_email), contract_arena(), &account);
    if (status != STATUS_NOT_FOUND)
        EXPECT_STATUS(status, STATUS_OK);
    return account.id;
}

void stage_check(uint64_t first, uint64_t last)
{
    for (uint64_t id = first; id <= last; id++) {
        Account account;
        Status status = accounts_read(stage.honest, id, contract_arena(), &account);
        if (status == STATUS_NOT_FOUND)
            continue;
        EXPECT_STATUS(status, STATUS_OK);
        if (account.state != ACCOUNT_CONFIRMED)
            continue;
        EXPECT_I64(stage_holder(arena_text(contract_arena(), account.name)), id);
        EXPECT_I64(stage_holder(arena_text(contract_arena(), account.email)), id);
    }
}
