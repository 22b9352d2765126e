/* account_close.h -- the end of an account with everything that hangs on it, for those who leave and for those who run the site. */
#pragma once

#include "operations/operation.h"

/* Withdraws all votes, leaves the account's policies without an owner, closes the account and releases its names. The caller has seen to
 * it that this is allowed, and written the audit entry where one is due. OK: it is decided, and done, or will be by the task `leaving`.
 * REFUSED: the account is not confirmed. CONFLICT: a vote was saved in the same moment. UNKNOWN: it is perhaps decided; ask again. */
MUST_USE Status account_close(Operations *ops, uint64_t account, Reason *reason);
