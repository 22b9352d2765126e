/* operations.c -- what all operations share, and who hears of changes. See operation.h. */
#include <stdlib.h>

#include "operations/operation.h"
#include "operations/operation_wait.h"
#include "operations/policy_summary.h"
#include "operations/rank_cache.h"

/* Whoever changed it: other instances, too. */
static void hear_change(void *self, ChangeKind kind, uint64_t id)
{
    Operations *ops = self;
    if (kind == CHANGE_POLICY)
        policy_summaries_forget(ops->summaries, id);
}

Operations *operations_new(const OperationsOptions *options)
{
    Operations *ops = calloc(1, sizeof *ops);
    CHECK(ops != NULL);
    *ops = (Operations){.app = options->app,
                        .config = options->config,
                        .summaries = policy_summaries_new(options->app),
                        .rank_cache = rank_cache_new(options->app, options->config),
                        .throttle = throttle_new(options->app->world),
                        .control = options->control,
                        .waits = operation_waits_new()};
    changes_listen(ops->app->changes, (ChangeListener){hear_change, ops});
    return ops;
}

void operations_free(Operations *ops)
{
    if (ops == NULL)
        return;
    policy_summaries_free(ops->summaries);
    rank_cache_free(ops->rank_cache);
    throttle_free(ops->throttle);
    operation_waits_free(ops->waits);
    free(ops);
}

void operations_notify(Operations *ops, ChangeKind kind, uint64_t id)
{
    changes_notify(ops->app->changes, kind, id);
}
