/* policy_schemas.c -- a policy in lists, and with its text, as every answer has it. */
#include "operations/policy_head.h"
#include "operations/schema_macros.h"

/* clang-format off */
#define STATE(type, path) WORD("state", type, path, POLICY_STATE_WORDS, .help = "The state of the policy.")

static const ApiMember CARD[] = {
    FIELD("id", PolicySummary, id, .help = "The policy."),
    FIELD("name", PolicySummary, name, .help = "What it is called."),
    FIELD("address", PolicySummary, address, .help = "Its page."),
    FIELD("summary", PolicySummary, summary, .help = "The first words of its description."),
    STATE(PolicySummary, state),
    FIELD("owner", PolicySummary, owner, OR_NULL, .help = "The account that owns it."),
    FIELD("category", PolicySummary, category, .help = "Its category."),
    FIELD("category_name", PolicySummary, category_name, .help = "What that is called."),
    FIELD("party", PolicySummary, party, OR_NULL, .help = "Its party."),
    FIELD("party_name", PolicySummary, party_name, OR_NULL, .help = "What that is called."),
    TIME("created", PolicySummary, created_us, .help = "When it was created."),
    FIELD("rank", PolicySummary, rank, OR_NULL, .help = "Its rank in the ranking asked for; null: it is in none."),
    FIELD("votes", PolicySummary, votes, .help = "Votes in the window asked for."),
    FIELD("total", PolicySummary, total, .help = "All votes."),
    FIELD("change", PolicySummary, change, WHEN(PolicySummary, has_change), .help = "Places won since a day ago, where that is known."),
    FIELD("is_new", PolicySummary, is_new, .help = "It was not in this ranking a day ago."),
    {.name = "days", .kind = API_NUMBERS, .offset = offsetof(PolicySummary, days), .count = POLICY_SUMMARY_DAYS,
     .help = "Votes by day, the oldest first and today last."},
};
SCHEMA(CARD, "Card", PolicySummary, CARD, .help = "A policy as lists show it.");

#define HEAD_FIELDS(type, at) \
    FIELD("id", type, at policy.id, .help = "The policy."), \
    POLICY_TEXT_FIELDS(type, at policy.text), \
    FIELD("address", type, at address, .help = "Its page."), \
    STATE(type, at state), \
    FIELD("leads_to", type, at to.id, WHEN(type, at leads), .help = "What it was merged into or retired in favour of."), \
    FIELD("category_name", type, at category_name, OR_NULL, .help = "What its category is called."), \
    FIELD("party_name", type, at party_name, OR_NULL, .help = "What its party is called."), \
    FIELD("owner", type, at policy.owner, OR_NULL, .help = "The account that owns it."), \
    FIELD("owner_name", type, at owner.name, OR_NULL, .help = "What that is called."), \
    FIELD("owner_real_name", type, at owner.real_name, OR_NULL, .help = "Their real name, where they have it shown to everybody."), \
    TIME("created", type, at policy.created_us, .help = "When it was created."), \
    TIME("edited", type, at policy.edited_us, OR_NULL, .help = "When its text was last changed."), \
    FIELD("revision", type, at policy.revision, .help = "1 for the first text, 2 for the next."), \
    FIELD("version", type, at policy.version, OR_NULL, .help = "Of the text, for If-Match.")

static const ApiMember POLICY[] = {HEAD_FIELDS(PolicyHead, )};
SCHEMA(POLICY, "Policy", PolicyHead, POLICY, .help = "A policy and its text.");

static const ApiMember POLICY_SHOWN[] = {
    HEAD_FIELDS(PolicyShown, head.),
    FIELD("votes", PolicyShown, votes, .help = "All votes on it, and on what was merged into it."),
};
SCHEMA(POLICY_SHOWN, "PolicyShown", PolicyShown, POLICY_SHOWN, .help = "A policy, its text and its votes.");
/* clang-format on */
