/* closing.h -- the end of an account, with all of its ways in. */
#pragma once

#include "accounts/accounts.h"

/* confirmed -> closed, after the ledger has its closing entry; releases name and e-mail, and deletes sessions and log-ins. Repeating it is
 * fine. */
MUST_USE Status access_close_account(Accounts *accounts, uint64_t id, Reason *reason);
