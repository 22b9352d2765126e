/* in_name.h -- what a command does in somebody's name: the entry in the audit log, the notice, which is made of that entry
 * (votes/notices.h), and the e-mail where something of theirs is shown. */
#pragma once

#include "operations/operation.h"

/* Whether a command in somebody's name by this row is noted here, and not by an entry of its own. */
bool in_name_may(const Operation *operation);
/* Whether a call is a command in somebody's name that no entry of the operation's own would tell. */
bool in_name_is(const OperationCall *call);
/* Writes the entry, with the command's reason or that none was given, and tells the person. Anything but OK: do not do it. */
MUST_USE Status in_name_begin(Operations *ops, const OperationCall *call, Arena *arena, Id *ret_id,
                              Reason *reason);
