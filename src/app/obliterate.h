/* obliterate.h -- the end of a policy: whatever was written in it, about it or to somebody because of it is removed.
 *
 * A policy is obliterated when it is deleted for good, its time for appeals being over, and when it never came to be. What is removed is a
 * checklist over all tables: each says what it keeps of a policy, and by which function that goes (TABLE_POLICY_LIST of store/tables.h; the build refuses
 * a table that does not say it). Ids, counts, votes, times and the moves themselves stay.
 *   1. The task `moves` goes through the checklist as soon as it meets a policy that is deleted or void, and again until all of it succeeded an
 *      hour after the last move. Only then the policy is marked as gone (policies_note_gone). So a crash or a failure anywhere is made up for, and so is
 *      what a request wrote that had begun before.
 *   2. What fails does not keep the rest from being removed.
 *   3. A policy that was obliterated by an earlier version, with fewer tables on its checklist, is gone through again.
 * Not promised: that backups lack it, or that the engine has overwritten the bytes on the disk; docs/operating.md says how long both last. */
#pragma once

#include "app/app.h"

/* For TasksOptions.obliterator, with the app as `self`. The policy must be deleted or void (REFUSED otherwise). OK: everything is removed that there
 * was. */
MUST_USE Status app_obliterate(void *self, uint64_t policy, Reason *reason);
