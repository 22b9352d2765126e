/* role_holders.c -- see role_holders.h. */
#include "app/role_holders.h"

typedef struct Holders {
    Account *list;
    size_t count;
} Holders;

uint32_t app_roles(const App *app, const Account *account, bool second_shown, bool *ret_missing)
{
    uint32_t roles = account->state == ACCOUNT_CONFIRMED ? account->roles : 0;
    *ret_missing = !second_shown && (roles & app->second_roles) != 0;
    return *ret_missing ? 0 : roles;
}

static void add(Holders *holders, const Account *account, Arena *arena)
{
    if (holders->count < ROLE_HOLDERS_MAX)
        holders->list[holders->count++] = (Account){.id = account->id,
                                                    .name = arena_copy(arena, account->name),
                                                    .email = arena_copy(arena, account->email)};
}

Status app_find_holders(App *app, AccountRole role, Arena *arena, Account **ret_list,
                        size_t *ret_count)
{
    ARENA_SCOPE Arena *page = arena_new();
    Slice position = SLICE_EMPTY;
    Holders holders = {.list = ARENA_ARRAY(arena, ROLE_HOLDERS_MAX, Account)};
    Holders admins = {.list = ARENA_ARRAY(arena, ROLE_HOLDERS_MAX, Account)};
    for (bool more = true; more;) {
        Account *list;
        size_t count;
        arena_reset(page);
        TRY(accounts_list(app->accounts, position, page, &list, &count, &position, &more));
        position = arena_copy(arena, position);
        for (size_t i = 0; i < count; i++) {
            bool is_missing;
            uint32_t roles = app_roles(app, &list[i], list[i].second, &is_missing);
            if ((roles & 1u << role) != 0)
                add(&holders, &list[i], arena);
            if ((app_roles(app, &list[i], true, &is_missing) & 1u << ROLE_ADMIN) != 0)
                add(&admins, &list[i], arena);
        }
    }
    *ret_list = holders.count > 0 ? holders.list : admins.list;
    *ret_count = holders.count > 0 ? holders.count : admins.count;
    return STATUS_OK;
}
