/* my_policy.c -- see my_policy.h. */
#include "operations/my_policy.h"

#include "operations/schema_macros.h"

/* clang-format off */
static const ApiMember MY_POLICY[] = {
    FIELD("policy", MyPolicy, id, .help = "The policy."),
    FIELD("name", MyPolicy, name, .help = "What it is called."),
    FIELD("address", MyPolicy, address, .help = "Its page."),
    MY_STATE(MyPolicy, state),
};
SCHEMA(MY_POLICY, "MyPolicy", MyPolicy, MY_POLICY, .help = "A policy as it is called to this voter.");
/* clang-format on */

static MyPolicy by_number(uint64_t policy, PolicyState state, Arena *arena)
{
    return (MyPolicy){.id = policy,
                      .name = arena_print(arena, "Policy %llu", (unsigned long long)policy),
                      .address = arena_print(arena, "/policies/%llu", (unsigned long long)policy),
                      .state = state};
}

Status my_policy(Operations *ops, uint64_t policy, uint64_t voter, Arena *arena,
                 MyPolicy *ret_policy)
{
    PolicySummary summary = {.state = POLICY_DELETED}; /* when there is no text any more */
    Status status = policy_summary_name(ops->summaries, policy, arena, &summary);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    bool is_hidden = summary.state == POLICY_PENDING_DELETION && summary.owner != voter;
    *ret_policy = status == STATUS_NOT_FOUND || is_hidden
                      ? by_number(policy, summary.state, arena)
                      : (MyPolicy){policy, summary.name, summary.address, summary.state};
    return STATUS_OK;
}

MyPolicy my_policy_or_number(Operations *ops, uint64_t policy, uint64_t voter, Arena *arena)
{
    MyPolicy named;
    if (my_policy(ops, policy, voter, arena, &named) != STATUS_OK)
        named = by_number(policy, POLICY_ACTIVE, arena);
    return named;
}

const char *my_state_reason(PolicyState state)
{
    static const char *const REASONS[POLICY_STATE_COUNT] = {
        [POLICY_PENDING] = "It is being created. In a moment it can be voted on.",
        [POLICY_MERGING] = "It is being merged into another policy. In a moment you can go on.",
        [POLICY_MERGED] = "It was merged. Your votes on it stand on the policy that it leads to.",
        [POLICY_RETIRED] =
            "It was retired. Voters have their pollies back; its owner paid the usual price.",
        [POLICY_PENDING_DELETION] = "It is hidden, and its deletion can be appealed. Your pollies "
                                    "stay on it until that is decided.",
        [POLICY_DELETED] = "It was deleted. Voters have their pollies back.",
        [POLICY_VOID] = "It never came to be. Voters have their pollies back.",
    };
    return REASONS[state];
}
