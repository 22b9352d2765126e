/* arguments.h -- from a command's words to what they mean: accounts by name, numbers, times. Each says what is wrong in `reason`. */
#pragma once

#include "cli/command.h"

/* The account that a flag names (by name or e-mail). */
MUST_USE Status argument_account(Context *context, const char *flag, Account *ret_account,
                                 Reason *reason);
/* A whole number from a flag, `fallback` when it was not given. */
MUST_USE Status argument_number(Context *context, const char *flag, int64_t least, int64_t most,
                                int64_t fallback, int64_t *ret_number, Reason *reason);
MUST_USE Status argument_time(Context *context, const char *flag, int64_t fallback_us,
                              int64_t *ret_us, Reason *reason);
