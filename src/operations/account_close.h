/* account_close.h -- the end of an account with everything that hangs on it, for those who leave and for those who run the site. */
#pragma once

#include "operations/operation.h"

/* Withdraws all votes, leaves the account's policies without an owner, closes the account and releases its names. The caller has seen to
 * it that this is allowed, and written the audit entry where one is due. REFUSED: the account is not confirmed. Anything but OK: the
 * same call again goes on where this one stopped. */
MUST_USE Status account_close(Operations *ops, uint64_t account, Reason *reason);
