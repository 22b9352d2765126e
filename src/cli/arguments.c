/* arguments.c -- see arguments.h. */
#include "cli/arguments.h"

#include "base/time_text.h"

Status argument_account(Context *context, const char *flag, Account *ret_account, Reason *reason)
{
    Slice name = command_flag(context, flag);
    if (name.data == NULL)
        return reason_set(reason, STATUS_INVALID, flag, "say who: --%s NAME", flag);
    Status status = accounts_find(context->app->accounts, name, context->arena, ret_account);
    if (status == STATUS_NOT_FOUND)
        return reason_set(reason, status, "user", "there is no account \"%.*s\"", SLICE_ARG(name));
    return status;
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
