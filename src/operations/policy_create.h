/* policy_create.h -- creating a policy with its first votes. The operation is in policy_create.c. */
#pragma once

#include "operations/policy_text.h"
#include "operations/votes.h"

typedef struct PolicyCreate {
    PolicyWords words;
    Id seen; /* the version of the votes that this is based on; left out by a command: whatever is stored */
    int64_t held; /* its first votes; left out: what creating costs */
    Id token;
    bool has_seen, has_held;
} PolicyCreate;
extern const Operation OPERATION_policy_create; /* answers VoteSaved */
