/* names.c -- see names.h: what the clients do. */
#include "names.h"
#include "access/closing.h"

#include "base/bytes.h"
#include "base/ids.h"
#include "workloads.h"

enum { WORDS = 4, TRIES = 3 };

static const Mutant MUTANTS[] = {
    {"claim_freed_by_clean_up", "the clean-up frees the claims of an account before it is void", 40,
     8},
    {"unknown_is_no", "an unknown outcome of a registration is told as not done", 40, 3},
    {"claim_checked_then_written",
     "a claim that nobody seems to have is written without a condition", 40, 3},
};

static Status cheap_hash(void *self, Slice password, Arena *arena, Slice *ret_hash)
{
    (void)self;
    *ret_hash = arena_copy(arena, password);
    return STATUS_OK;
}

static bool cheap_check(void *self, Slice password, Slice hash)
{
    (void)self;
    return slice_equal(password, hash);
}

Accounts *names_accounts(Run *run, Store *store, World world)
{
    AccountsOptions options = {.store = store,
                               .world = world,
                               .vault = run_vault(run),
                               .hasher = {cheap_hash, cheap_check, NULL},
                               .id_block = 1};
    return accounts_new(&options);
}

static void *setup(Run *run, Store *store)
{
    (void)store;
    return ARENA_NEW(run_arena(run), Names);
}

/* A client with its accounts and the luck of one piece of work. */
typedef struct Actor {
    Run *run;
    SimClient *client;
    Store *store;
    Accounts *accounts;
    Arena *arena;
    World world;
} Actor;

static uint64_t draw(const Actor *actor, uint64_t below)
{
    return random_u64(actor->world.random) % below;
}

static Slice some_name(const Actor *actor)
{
    return arena_print(actor->arena, "name%d", (int)draw(actor, WORDS));
}

static Slice some_email(const Actor *actor)
{
    return arena_print(actor->arena, "name%d@example.org", (int)draw(actor, WORDS));
}

/* 0: nobody is known yet. */
static uint64_t somebody(const Actor *actor)
{
    const Names *names = run_state(actor->run);
    size_t latest = names->known_count < 8 ? names->known_count : 8;
    if (latest == 0)
        return 0;
    uint64_t id = names->known[names->known_count - 1 - draw(actor, latest)];
    return draw(actor, 4) == 0 ? id + 1 : id; /* perhaps one whose registration failed */
}

/* ---- Mistakes -------------------------------------------------------------------------------------------------- */

/* The mistake of writing a claim by what was seen a moment ago, whatever it is now. */
static void write_claim(Actor *actor, Slice row, uint64_t user)
{
    BUFFER_SCOPE Buffer value = {0};
    Id id = id_new(actor->world.clock, actor->world.random);
    buffer_u8(&value, 1);
    buffer_bytes(&value, id_slice(&id));
    buffer_u64(&value, user);
    Slice receipt = store_receipt(id_slice(&id), actor->arena);
    Condition condition = {SLICE("never"), SLICE_EMPTY, true};
    Change changes[] = {{.column = SLICE("claim"), .value = buffer_slice(&value)},
                        {.column = receipt, .value = id_slice(&id), .ttl_s = STORE_RECEIPT_TTL_S}};
    Update update = {.table = &TABLE_NAMES,
                     .row = row,
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = 2,
                     .proof = receipt};
    (void)!store_update(actor->store, &update, TRIES, actor->arena, NULL);
}

/* ---- Pieces of work ------------------------------------------------------------------------------------------ */

static void do_register(Actor *actor)
{
    Names *names = run_state(actor->run);
    NamesTry *try = ARENA_NEW(run_arena(actor->run), NamesTry);
    uint64_t id = 0;
    *try = (NamesTry){.number = ++names->last_number, .next = names->tries};
    names->tries = try;
    Registration registration = {.name = some_name(actor),
                                 .email = some_email(actor),
                                 .without_password = true,
                                 .confirmed = draw(actor, 2) == 0,
                                 .registered_us = try->number};
    Status status = accounts_register(actor->accounts, &registration, &id, NULL);
    if (status == STATUS_UNKNOWN && run_makes_mistake(actor->run, "unknown_is_no"))
        status = STATUS_UNAVAILABLE;
    try->answered = sim_client_alive(actor->client);
    try->told = status;
    if (!try->answered || status != STATUS_OK)
        return;
    try->id = id;
    if (names->known_count < NAMES_ACCOUNTS_MAX)
        names->known[names->known_count++] = id;
    if (registration.confirmed && id < NAMES_ACCOUNTS_MAX)
        names->seen[id].confirmed = true;
}

/* States go forward only: what a serial read says must fit with what was known when the read began. */
static void do_look(Actor *actor)
{
    Names *names = run_state(actor->run);
    uint64_t id = somebody(actor);
    Account account;
    if (id == 0 || id >= NAMES_ACCOUNTS_MAX)
        return;
    NamesSeen before = names->seen[id], *seen = &names->seen[id];
    Status status = accounts_read(actor->accounts, id, actor->arena, &account);
    if (!sim_client_alive(actor->client) || status != STATUS_OK)
        return;
    if ((before.confirmed && account.state != ACCOUNT_CONFIRMED &&
         account.state != ACCOUNT_CLOSED) ||
        (before.closed && account.state != ACCOUNT_CLOSED) ||
        (before.gone && account.state != ACCOUNT_VOID))
        run_violated(actor->run, "account %llu went back", (unsigned long long)id);
    seen->confirmed |= account.state == ACCOUNT_CONFIRMED;
    seen->closed |= account.state == ACCOUNT_CLOSED;
    seen->gone |= account.state == ACCOUNT_VOID;
}

static void do_confirm(Actor *actor)
{
    Names *names = run_state(actor->run);
    uint64_t id = somebody(actor);
    if (id == 0 || accounts_confirm(actor->accounts, id, NULL) != STATUS_OK ||
        !sim_client_alive(actor->client) || id >= NAMES_ACCOUNTS_MAX)
        return;
    names->seen[id].confirmed = true;
}

static void do_rename(Actor *actor)
{
    uint64_t id = somebody(actor);
    Slice name = some_name(actor);
    Account holder;
    if (id == 0)
        return;
    if (run_makes_mistake(actor->run, "claim_checked_then_written") &&
        accounts_find(actor->accounts, name, actor->arena, &holder) == STATUS_NOT_FOUND)
        write_claim(actor, arena_print(actor->arena, "n/%.*s", SLICE_ARG(name)), id);
    (void)!accounts_rename(actor->accounts, id, name, NULL);
}

static void do_change_email(Actor *actor)
{
    uint64_t id = somebody(actor);
    if (id != 0)
        (void)!accounts_change_email(actor->accounts, id, some_email(actor), NULL);
}

static void do_close(Actor *actor)
{
    Names *names = run_state(actor->run);
    uint64_t id = somebody(actor);
    if (id == 0 || access_close_account(actor->accounts, id, NULL) != STATUS_OK ||
        !sim_client_alive(actor->client) || id >= NAMES_ACCOUNTS_MAX)
        return;
    names->seen[id].closed = true;
}

static void do_clean_up(Actor *actor)
{
    uint64_t id = somebody(actor);
    Account account;
    if (id == 0)
        return;
    if (run_makes_mistake(actor->run, "claim_freed_by_clean_up") &&
        accounts_read(actor->accounts, id, actor->arena, &account) == STATUS_OK &&
        account.state == ACCOUNT_PENDING)
        write_claim(actor, arena_print(actor->arena, "n/%.*s", SLICE_ARG(account.name)), 0);
    (void)!accounts_expire(actor->accounts, id);
}

static void do_set_setting(Actor *actor)
{
    Slice value = arena_print(actor->arena, "%d", (int)draw(actor, 1000));
    (void)!settings_set(accounts_settings(actor->accounts), SLICE("salary"), value, 0, NULL);
}

/* Somebody judges by what is in force at their time; that must stay what was in force. */
static void do_judge(Actor *actor)
{
    Names *names = run_state(actor->run);
    SettingsHistory history;
    int64_t now_us = clock_now_us(actor->world.clock);
    if (settings_read(accounts_settings(actor->accounts), actor->arena, &history) != STATUS_OK ||
        !sim_client_alive(actor->client))
        return;
    NamesJudged *judged = ARENA_NEW(run_arena(actor->run), NamesJudged);
    *judged = (NamesJudged){now_us, settings_at(&history, now_us)->version, names->judged};
    names->judged = judged;
}

static void (*const WORK[])(Actor *actor) = {do_register, do_register,     do_register, do_look,
                                             do_look,     do_confirm,      do_rename,   do_rename,
                                             do_rename,   do_change_email, do_close,    do_clean_up,
                                             do_clean_up, do_set_setting,  do_judge,    do_judge};

static void client_work(Run *run, SimClient *client, Store *store, Arena *arena)
{
    World world = {.clock = sim_client_clock(client), .random = sim_client_random(client)};
    Actor actor = {run, client, store, names_accounts(run, store, world), arena, world};
    while (run_working(run, client)) {
        WORK[draw(&actor, sizeof WORK / sizeof WORK[0])](&actor);
        arena_reset(arena);
        run_pause(run, client);
    }
    accounts_free(actor.accounts);
}

static const Checker *const CHECKERS[] = {&CHECK_NAMES_TOLD, &CHECK_NAMES_OWNER,
                                          &CHECK_NAMES_SETTINGS, NULL};

/* The table set is a constant elsewhere, which C does not take for one here. */
static const Table *const TABLE_POINTERS[] = {&TABLE_COUNTERS, &TABLE_ACCOUNTS, &TABLE_NAMES,
                                              &TABLE_SETTINGS, &TABLE_SIGNALS};

const Workload WORKLOAD_NAMES = {
    .name = "names",
    .tables = {TABLE_POINTERS, sizeof TABLE_POINTERS / sizeof TABLE_POINTERS[0]},
    .mutants = MUTANTS,
    .mutant_count = sizeof MUTANTS / sizeof MUTANTS[0],
    .checkers = CHECKERS,
    .setup = setup,
    .client = client_work,
};
