/* policy_show.c -- one policy with its text and votes, and the operator's list of all. Nothing is changed. */
#include "operations/policy_head.h"
#include "operations/schema_macros.h"

/* ---- One policy ----------------------------------------------------------------------------------------------------------------- */

typedef struct PolicyShow {
    uint64_t policy;
} PolicyShow;

/* Its own votes, and those of all that were merged into it. */
static Status count_votes(Operations *ops, uint64_t policy, Arena *arena, int64_t *ret_votes)
{
    uint64_t *members;
    size_t count;
    Count sum = {0};
    TRY(policies_members(ops->app->policies, policy, arena, &members, &count));
    for (size_t i = 0; i < count; i++) {
        Count own;
        TRY(votes_count(ops->app->votes, members[i], arena, &own));
        count_add(&sum, &own);
    }
    *ret_votes = sum.total;
    return STATUS_OK;
}

static Status policy_show(Operations *ops, const Actor *actor, const PolicyShow *request,
                          Arena *arena, PolicyShown *ret_shown, Reason *reason)
{
    Status status = policy_head(ops, request->policy, actor, arena, &ret_shown->head);
    if (status == STATUS_NOT_FOUND)
        return reason_set(reason, status, "policy", "there is no policy %llu",
                          (unsigned long long)request->policy);
    TRY(status);
    return count_votes(ops, request->policy, arena, &ret_shown->votes);
}

/* The text's version first: If-Match takes that alone. With the moves and votes it is all that the answer tells, but for names of
 * groups and people. */
static Slice etag_of(const void *answer, Arena *arena)
{
    const PolicyShown *shown = answer;
    Slice version = id_text(shown->head.policy.version, arena);
    return arena_print(arena, "%.*s-%zu-%lld%s", SLICE_ARG(version),
                       shown->head.policy.facts.move_count, (long long)shown->votes,
                       shown->head.is_hidden ? "-hidden" : "");
}

/* clang-format off */
OPERATION(policy_show, PolicyShow, PolicyShown, .help = "Show a policy with its text. Its ETag is what If-Match of a change takes.",
    .asks = true, .shows = SHOWS(NAME), .answers = &SCHEMA_POLICY_SHOWN, .api = {WEB_GET, "policies/{policy}", .tag = "policies", .etag = etag_of},
    .no_page = "the policy's page shows it", .command = {.words = "policy show"},
    .inputs = {INPUT("policy", PolicyShow, policy, POLICY, .operand = true, .help = "The policy.")});
/* clang-format on */

/* ---- All of them ---------------------------------------------------------------------------------------------------------------- */

typedef struct PolicyLine {
    Policy policy;
    PolicyState state;
} PolicyLine;

typedef struct PolicyLines {
    PolicyLine *policies;
    size_t count;
} PolicyLines;

/* clang-format off */
static const ApiMember POLICY_LINE[] = {
    FIELD("id", PolicyLine, policy.id, .help = "The policy."),
    WORD("state", PolicyLine, state, POLICY_STATE_WORDS, .help = "Its state."),
    FIELD("name", PolicyLine, policy.text.name, OR_NULL, .help = "What it is called; null: its text is gone."),
    FIELD("owner", PolicyLine, policy.owner, OR_NULL, .help = "The account that owns it."),
    FIELD("category", PolicyLine, policy.text.category, .help = "Its category."),
    FIELD("party", PolicyLine, policy.text.party, OR_NULL, .help = "Its party."),
    FIELD("revision", PolicyLine, policy.revision, .help = "1 for the first text, 2 for the next."),
    FIELD("version", PolicyLine, policy.version, OR_NULL, .help = "Of the text."),
    TIME("created", PolicyLine, policy.created_us, .help = "When it was created."),
};
SCHEMA(POLICY_LINE, "PolicyLine", PolicyLine, POLICY_LINE, .help = "A policy in any state.");

static const ApiMember POLICY_LINES[] = {LIST("policies", PolicyLines, policies, count, POLICY_LINE, .help = "In the store's order.")};
SCHEMA(POLICY_LINES, "PolicyLines", PolicyLines, POLICY_LINES, .help = "All policies, also those that are hidden or gone.");
/* clang-format on */

static Status policy_list(Operations *ops, const Actor *actor, const Nothing *request, Arena *arena,
                          PolicyLines *ret_lines, Reason *reason)
{
    PolicyLines lines = {0};
    Slice position = SLICE_EMPTY;
    (void)actor, (void)request, (void)reason;
    for (bool more = true; more;) {
        Policy *policies;
        size_t count;
        TRY(policies_list(ops->app->policies, position, arena, &policies, &count, &position,
                          &more));
        PolicyLine *grown = ARENA_ARRAY(arena, lines.count + count, PolicyLine);
        if (lines.count > 0)
            memcpy(grown, lines.policies, lines.count * sizeof *grown);
        for (size_t i = 0; i < count; i++) {
            const PolicyFacts *facts = &policies[i].facts;
            grown[lines.count + i] =
                (PolicyLine){policies[i], facts->moves[facts->move_count - 1].state};
        }
        lines = (PolicyLines){grown, lines.count + count};
    }
    *ret_lines = lines;
    return STATUS_OK;
}

OPERATION(policy_list, Nothing, PolicyLines, .help = "List all policies, in every state.",
          .asks = true, .access = WEB_ROLE, .roles = 1u << ROLE_ADMIN,
          .answers = &SCHEMA_POLICY_LINES,
          .no_api = "it is as long as the site is large; GET policies has pages",
          .no_page = "/policies has pages", .command = {.words = "policy list"});
