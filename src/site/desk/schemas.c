/* schemas.c -- what the answers about reports, featured policies and acts hold. See site/api.h. */
#include "site/api_macros.h"
#include "site/desk/desk.h"

/* clang-format off */
static const char *state_word(unsigned state) { return report_state_word((ReportState)state); }
static const char *kind_word(unsigned kind) { return report_kind_word((ReportKind)kind); }
static const char *outcome_word(unsigned outcome) { return audit_outcome_word((AuditOutcome)outcome); }

static const ApiMember REPORT[] = {
    FIELD("id", ReportView, report.id, .help = "The report."),
    WORD("kind", ReportView, report.kind, kind_word, REPORT_KIND_COUNT, .help = "What it is about."),
    FIELD("policy", ReportView, report.policy, WHEN(ReportView, has_policy), .help = "The policy."),
    FIELD("policy_name", ReportView, policy_name, WHEN(ReportView, has_policy), .help = "What that is called."),
    FIELD("reporter", ReportView, report.account, OR_NULL, .help = "The account that reported; null: a visitor."),
    FIELD("email", ReportView, report.email, OR_NULL, .help = "Where a visitor wants the answer."),
    FIELD("words", ReportView, report.words, .help = "What they wrote."),
    TIME("made", ReportView, report.made_us, .help = "When it was made."),
    WORD("state", ReportView, report.state, state_word, REPORT_STATE_COUNT, .help = "Where it stands."),
    TIME("since", ReportView, report.since_us, .help = "Since when."),
    FIELD("moderator", ReportView, report.moderator, OR_NULL, .help = "Who has taken or closed it; null: nobody, or the operator."),
    FIELD("moderator_name", ReportView, moderator, WHEN(ReportView, has_moderator), .help = "What they are called."),
    FIELD("reason", ReportView, report.reason, OR_NULL, .help = "Why it was closed."),
};
SCHEMA(REPORT, "Report", ReportView, REPORT, .help = "What somebody told the moderators.");

static const ApiMember REPORTS[] = {
    LIST("reports", ApiReports, reports, count, REPORT, .help = "Open and taken ones the oldest first, closed ones the newest first."),
    NEXT(ApiReports),
};
SCHEMA(REPORTS, "Reports", ApiReports, REPORTS, .help = "Reports in one state.");

static const ApiMember ACT[] = {
    FIELD("id", ActView, entry.id, .help = "Names it."),
    TIME("time", ActView, entry.time_us, .help = "When it was begun."),
    FIELD("kind", ActView, entry.word, .help = "What was done, as a word."),
    FIELD("sentence", ActView, sentence, .help = "The same for people."),
    FIELD("of", ActView, object_kind, .help = "What it was done to: policy, or empty."),
    FIELD("object", ActView, entry.act.object, OR_NULL, .help = "To which."),
    FIELD("other", ActView, entry.act.other, OR_NULL, .help = "And with which other, as in a merge."),
    FIELD("reason", ActView, entry.act.reason, OR_NULL, .help = "Why."),
    WORD("outcome", ActView, entry.outcome, outcome_word, AUDIT_OUTCOME_COUNT, .help = "What came of it; what was surely not done is not listed."),
};
SCHEMA(ACT, "Act", ActView, ACT, .help = "Something that was done by a role, as everybody may see it.");

static const ApiMember ACTS[] = {
    LIST("acts", ActsView, acts, count, ACT, .help = "The newest first."),
    NEXT(ActsView),
};
SCHEMA(ACTS, "Acts", ActsView, ACTS, .help = "The public log of moderation.");

static const ApiMember FEATURED[] = {
    FIELD("policy", FeaturedView, featured.policy, .help = "The policy."),
    FIELD("name", FeaturedView, name, .help = "What it is called."),
    FIELD("place", FeaturedView, place, .help = "1 for the first."),
    TIME("from", FeaturedView, featured.from_us, OR_NULL, .help = "From when; null: since it was set."),
    TIME("until", FeaturedView, featured.until_us, OR_NULL, .help = "Until when; null: without an end."),
    FIELD("shown", FeaturedView, is_shown, .help = "Whether the front page shows it now."),
};
SCHEMA(FEATURED, "Featured", FeaturedView, FEATURED, .help = "A policy that is featured.");

static const ApiMember FEATURED_LIST[] = {
    LIST("featured", FeaturedList, entries, count, FEATURED, .help = "In their order."),
};
SCHEMA(FEATURED_LIST, "FeaturedList", FeaturedList, FEATURED_LIST, .help = "All featured policies, also those that are not shown yet or any more.");
/* clang-format on */
