/* policy_commands.h -- what the commands about policies share. */
#pragma once

#include "cli/command.h"

/* The policy that an operand or a flag names by its id; what stands now. */
MUST_USE Status argument_policy(Context *context, Slice text, Policy *ret_policy, Reason *reason);
/* The move into its state. */
const PolicyMove *last_move(const Policy *policy);
/* Who acts: the account that --as names, who must be the owner where `owner_may`, or have the role; nobody named is the operator, 0. */
MUST_USE Status policy_actor(Context *context, const Policy *policy, AccountRole role,
                             bool owner_may, uint64_t *ret_actor, Reason *reason);
/* What is done in an owner's or a voter's name. What they hold is not in it. */
Act policy_act_as(Context *context, uint64_t account);
void policy_tell_ranking(Context *context, uint64_t policy);
/* The end of a command that changed a policy: why not, or what it left, as `policy show --json` says it; else "policy 12 DONE". */
int policy_done(Context *context, uint64_t policy, Status status, const Reason *reason,
                const char *done);
