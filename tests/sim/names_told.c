/* names_told.c -- truth to the one who registers: told OK, the account is there for ever; told no, nobody can use it (names_owner.c cleans up, so this comes first). And what
 * was seen confirmed or closed is so at the end. */
#include "names.h"

typedef struct FoundAccount {
    uint64_t id;
    AccountState state;
} FoundAccount;

static void check_try(Run *run, const NamesTry *try, const FoundAccount *found)
{
    const Names *names = run_state(run);
    if (!try->answered || try->told == STATUS_UNKNOWN)
        return;
    /* Refused, it may stay pending without its claims until the clean-up. */
    bool usable =
        found->id != 0 && (found->state == ACCOUNT_CONFIRMED ||
                           (found->state == ACCOUNT_PENDING && try->told == STATUS_UNAVAILABLE));
    if (try->told != STATUS_OK && usable)
        run_violated(run, "registration %lld was told %s and is %s", (long long)try->number,
                     status_name(try->told), account_state_text(found->state));
    if (try->told != STATUS_OK)
        return;
    NamesSeen seen = try->id < NAMES_ACCOUNTS_MAX ? names->seen[try->id] : (NamesSeen){0};
    if (found->id != try->id)
        run_violated(run, "account %llu was made and is gone", (unsigned long long)try->id);
    else if (seen.closed ? found->state != ACCOUNT_CLOSED
                         : seen.confirmed && found->state != ACCOUNT_CONFIRMED &&
                               found->state != ACCOUNT_CLOSED)
        run_violated(run, "account %llu was seen %s and is %s", (unsigned long long)try->id,
                     seen.closed ? "closed" : "confirmed", account_state_text(found->state));
}

static void check(Run *run, Store *store, Arena *arena)
{
    const Names *names = run_state(run);
    World world = {.clock = sim_world_clock(sim_world(run_sim(run))),
                   .random = world_real().random};
    Accounts *accounts = names_accounts(run, store, world);
    FoundAccount *found = ARENA_ARRAY(arena, (size_t)names->last_number + 1, FoundAccount);
    Slice position = SLICE_EMPTY;
    bool more = true;
    while (more) {
        Account *list;
        size_t count = 0;
        if (accounts_list(accounts, position, arena, &list, &count, &position, &more) != STATUS_OK)
            break; /* told by names_owner.c */
        for (size_t i = 0; i < count; i++)
            if (list[i].registered_us <= names->last_number)
                found[list[i].registered_us] = (FoundAccount){list[i].id, list[i].state};
    }
    for (const NamesTry *try = names->tries; try != NULL; try = try->next)
        check_try(run, try, &found[try->number]);
    accounts_free(accounts);
}

const Checker CHECK_NAMES_TOLD = {"told the truth about registrations", check};
