/* role_holders.h -- to whom the site writes about what waits for a role.
 *
 * Roles are those that count (app_roles): who has one, but not the second factor that it asks for, does not work with it. Where nobody is left the
 * admins hear of it, who have every role, also those that have to set up their second factor first: so a site with an admin has always somebody. */
#pragma once

#include "app/app.h"

enum { ROLE_HOLDERS_MAX = 1000 };

/* The roles of an account that count: those that need a second factor (setting second_factor_roles) only where it was shown. The only place
 * that decides it. */
uint32_t app_roles(const App *app, const Account *account, bool second_shown, bool *ret_missing);

/* Id, name and e-mail of those who have the role and a second factor where it asks for one, else of the admins; at most ROLE_HOLDERS_MAX. All
 * accounts are looked at: there is no list by role, and what they are written about is rare. */
MUST_USE Status app_find_holders(App *app, AccountRole role, Arena *arena, Account **ret_list,
                                 size_t *ret_count);
