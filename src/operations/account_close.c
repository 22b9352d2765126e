/* account_close.c -- see account_close.h. What a crash between the steps leaves is told in tasks/leaving.h. */
#include "operations/account_close.h"

static void notify(void *self, uint64_t policy, uint64_t account)
{
    operations_notify(self, policy != 0 ? CHANGE_POLICY : CHANGE_ACCOUNT,
                      policy != 0 ? policy : account);
}

Status account_close(Operations *ops, uint64_t account, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    const Leaving leaving = {ops->app->accounts, ops->app->policies, {notify, ops}};
    Account known;
    TRY(accounts_read(ops->app->accounts, account, arena, &known));
    if (known.state != ACCOUNT_CONFIRMED)
        return leaving_finish(&leaving, account, reason);
    TRY(votes_leave(ops->app->votes, account, reason));
    (void)!leaving_finish(&leaving, account, reason); /* it is decided: else the task does it */
    return STATUS_OK;
}
