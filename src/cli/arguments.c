/* arguments.c -- see arguments.h. */
#include "cli/arguments.h"

#include "base/time_text.h"

static Status account_named(Context *context, Slice name, Account *ret_account, Reason *reason)
{
    Status status = accounts_find(context->app->accounts, name, context->arena, ret_account);
    if (status == STATUS_NOT_FOUND)
        return reason_set(reason, status, "user", "there is no account \"%.*s\"", SLICE_ARG(name));
    return status;
}

Status argument_account(Context *context, const char *flag, Account *ret_account, Reason *reason)
{
    Slice name = command_flag(context, flag);
    if (name.data == NULL)
        return reason_set(reason, STATUS_INVALID, flag, "say who: --%s NAME", flag);
    return account_named(context, name, ret_account, reason);
}

Status argument_id(Slice text, uint64_t *ret_id, Reason *reason)
{
    if (slice_to_u64(text, ret_id) == STATUS_OK && *ret_id > 0)
        return STATUS_OK;
    return reason_set(reason, STATUS_INVALID, "id", "\"%.*s\" is not the number of a policy",
                      SLICE_ARG(text));
}

Status argument_number(Context *context, const char *flag, int64_t least, int64_t most,
                       int64_t fallback, int64_t *ret_number, Reason *reason)
{
    Slice text = command_flag(context, flag);
    *ret_number = fallback;
    if (text.data == NULL)
        return STATUS_OK;
    if (slice_to_i64(text, ret_number) == STATUS_OK && *ret_number >= least && *ret_number <= most)
        return STATUS_OK;
    return reason_set(reason, STATUS_INVALID, flag, "a whole number from %lld to %lld",
                      (long long)least, (long long)most);
}

Status argument_time(Context *context, const char *flag, int64_t fallback_us, int64_t *ret_us,
                     Reason *reason)
{
    Slice text = command_flag(context, flag);
    *ret_us = fallback_us;
    if (text.data == NULL || time_from_text(text, ret_us) == STATUS_OK)
        return STATUS_OK;
    return reason_set(reason, STATUS_INVALID, flag,
                      "a time like 2026-01-31T12:00:00Z, or seconds since 1970");
}

Status argument_group(Context *context, const char *flag, GroupKind kind, uint64_t *ret_id,
                      Reason *reason)
{
    Slice text = command_flag(context, flag);
    PolicyGroup *groups;
    size_t count;
    uint64_t id = 0;
    *ret_id = 0;
    if (text.data == NULL)
        return STATUS_OK;
    (void)!slice_to_u64(text, &id);
    TRY(policies_groups(context->app->policies, kind, context->arena, &groups, &count));
    for (size_t i = 0; i < count; i++)
        if (groups[i].id == id || slice_equal_ignoring_case(groups[i].name, text)) {
            *ret_id = groups[i].id;
            return STATUS_OK;
        }
    return reason_set(reason, STATUS_INVALID, flag, "there is no %s \"%.*s\"", flag,
                      SLICE_ARG(text));
}
