/* names_owner.c -- one owner: every confirmed account is found by its own name and e-mail, so no two have the same. And nothing
 * is stuck: what nobody has after the clean-up, the next registration gets. */
#include "names.h"

static void check_label(Run *run, Accounts *accounts, const Account *account, Slice label,
                        Arena *arena)
{
    Account found = {.id = 0};
    Status status = accounts_find(accounts, label, arena, &found);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        run_violated(run, "%.*s cannot be looked up: %s", SLICE_ARG(label), status_name(status));
    else if (found.id != account->id)
        run_violated(run, "%.*s is of the confirmed account %llu, and found for %llu",
                     SLICE_ARG(label), (unsigned long long)account->id,
                     (unsigned long long)found.id);
}

static void check_account(Run *run, Accounts *accounts, const Account *account, Arena *arena)
{
    if (account->state != ACCOUNT_CONFIRMED)
        return;
    check_label(run, accounts, account, account->name, arena);
    check_label(run, accounts, account, account->email, arena);
}

/* The clean-up, and then a newcomer for a name that nobody has. */
static void check_free(Run *run, Accounts *accounts, Arena *arena)
{
    static const char *const NAMES[] = {"name0", "name1", "name2", "name3"};
    for (size_t i = 0; i < 4; i++) {
        Account found;
        uint64_t id;
        Registration registration = {.name = slice_from(NAMES[i]),
                                     .email = arena_print(arena, "new%zu@example.org", i),
                                     .without_password = true};
        bool had = accounts_find(accounts, registration.name, arena, &found) == STATUS_OK;
        Status status = accounts_register(accounts, &registration, &id, NULL);
        if (status != (had ? STATUS_REFUSED : STATUS_OK))
            run_violated(run, "%s is %s, and registering for it is %s", NAMES[i],
                         had ? "had" : "free", status_name(status));
    }
}

static void check(Run *run, Store *store, Arena *arena)
{
    World world = {.clock = sim_world_clock(sim_world(run_sim(run))),
                   .random = world_real().random};
    Accounts *accounts = names_accounts(run, store, world);
    Slice position = SLICE_EMPTY;
    bool more = true;
    while (more) {
        Account *list;
        size_t count = 0;
        if (accounts_list(accounts, position, arena, &list, &count, &position, &more) !=
            STATUS_OK) {
            run_violated(run, "a healed cluster does not list its accounts");
            break;
        }
        for (size_t i = 0; i < count; i++) {
            check_account(run, accounts, &list[i], arena);
            if (accounts_expire(accounts, list[i].id) != STATUS_OK)
                run_violated(run, "the clean-up cannot work");
        }
    }
    check_free(run, accounts, arena);
    accounts_free(accounts);
}

const Checker CHECK_NAMES_OWNER = {"every name has one owner", check};
