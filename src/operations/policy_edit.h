/* policy_edit.h -- changing the text of a policy. The operation is in policy_edit.c. */
#pragma once

#include "operations/policy_head.h"
#include "operations/policy_text.h"

typedef struct PolicyEditRequest {
    uint64_t policy;
    PolicyWords words;
    Id seen; /* the version that it is a change of; left out by a command: whatever is stored */
    bool has_seen;
} PolicyEditRequest;

typedef struct PolicyEdited {
    PolicyHead head; /* as it is now */
    bool is_changed; /* it was not like that before */
} PolicyEdited;

extern const Operation OPERATION_policy_edit;

/* DENIED: only its owner and editors may. REFUSED: a policy in this state cannot be edited. */
MUST_USE Status policy_check_edit(const PolicyHead *head, Reason *reason);
