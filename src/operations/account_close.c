/* account_close.c -- see account_close.h.
 *
 * Three steps, each of which can be repeated. The votes go first, because the closing entry of the ledger needs a confirmed account. The
 * policies come before the account, because nobody can ask for a closed account again: cut off anywhere in between, it still logs in, and
 * deleting it once more finishes the rest. */
#include "operations/account_close.h"

#include "access/closing.h"

static Status disown_all(Operations *ops, uint64_t account, Arena *arena)
{
    PolicyQuery query = {.order = POLICIES_BY_OWNER,
                         .group = account,
                         .prefix = SLICE_EMPTY,
                         .position = SLICE_EMPTY,
                         .limit = POLICIES_BROWSE_MAX};
    PolicyPage page = {.more = true};
    while (page.more) {
        TRY(policies_browse(ops->app->policies, &query, arena, &page));
        for (size_t i = 0; i < page.count; i++) {
            TRY(policies_disown(ops->app->policies, page.policies[i].id, account));
            operations_notify(ops, CHANGE_POLICY, page.policies[i].id);
        }
        query.position = page.position;
    }
    return STATUS_OK;
}

Status account_close(Operations *ops, uint64_t account, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Account known;
    TRY(accounts_read(ops->app->accounts, account, arena, &known));
    if (known.state == ACCOUNT_CONFIRMED) {
        TRY(votes_leave(ops->app->votes, account, reason));
        TRY(disown_all(ops, account, arena));
    }
    TRY(access_close_account(ops->app->accounts, account, reason));
    operations_notify(ops, CHANGE_ACCOUNT, account);
    return STATUS_OK;
}
