/* api_schemas.c -- what the answers of the interface hold: each member once, with its place in the view and its meaning. See api.h.
 *
 * The kind of a member comes from its C type, so that a table cannot say something else than the view; what a type does not tell (a time, a
 * list) has a macro of its own. */
#include "site/api_macros.h"

/* clang-format off */
static const char *state_word(unsigned state) { return policy_state_text((PolicyState)state); }
static const char *account_word(unsigned state) { return account_state_text((AccountState)state); }
static const char *digest_of(unsigned choice) { return digest_word((DigestChoice)choice); }
static const char *suppress_of(unsigned why) { return suppress_word((SuppressWhy)why); }
static const char *scope_word(unsigned scope) { return token_scope_text((TokenScope)scope); }
#define STATE(type, path) WORD("state", type, path, state_word, POLICY_STATE_COUNT, .help = "The state of the policy.")

/* ---- Rankings ---------------------------------------------------------------------------------------------------------- */

static const ApiMember CARD[] = {
    FIELD("id", PolicyCard, id, .help = "The policy."),
    FIELD("name", PolicyCard, name, .help = "What it is called."),
    FIELD("address", PolicyCard, address, .help = "Its page."),
    FIELD("summary", PolicyCard, summary, .help = "The first words of its description."),
    STATE(PolicyCard, state),
    FIELD("owner", PolicyCard, owner, OR_NULL, .help = "The account that owns it."),
    FIELD("category", PolicyCard, category, .help = "Its category."),
    FIELD("category_name", PolicyCard, category_name, .help = "What that is called."),
    FIELD("party", PolicyCard, party, OR_NULL, .help = "Its party."),
    FIELD("party_name", PolicyCard, party_name, OR_NULL, .help = "What that is called."),
    TIME("created", PolicyCard, created_us, .help = "When it was created."),
    FIELD("rank", PolicyCard, rank, OR_NULL, .help = "Its rank in the ranking asked for; null: it is in none."),
    FIELD("votes", PolicyCard, votes, .help = "Votes in the window asked for."),
    FIELD("total", PolicyCard, total, .help = "All votes."),
    FIELD("change", PolicyCard, change, WHEN(PolicyCard, has_change), .help = "Places won since a day ago, where that is known."),
    FIELD("is_new", PolicyCard, is_new, .help = "It was not in this ranking a day ago."),
    {.name = "days", .kind = API_NUMBERS, .offset = offsetof(PolicyCard, days), .count = CARD_DAYS,
     .help = "Votes by day, the oldest first and today last."},
};
SCHEMA(CARD, "Card", PolicyCard, CARD, .help = "A policy as lists show it.");

static const ApiMember RANKING[] = {
    FIELD("days", ApiRanking, query.days, .help = "The window; 0 is all time."),
    FIELD("category", ApiRanking, query.category, OR_NULL, .help = "Only of this category."),
    FIELD("party", ApiRanking, query.party, OR_NULL, .help = "Only of this party."),
    FIELD("count", ApiRanking, page.policies, .help = "Policies in the whole ranking."),
    TIME("as_of", ApiRanking, page.as_of_us, .help = "Everything that was saved up to here is in it."),
    LIST("policies", ApiRanking, page.cards, page.count, CARD, .help = "By rank."),
    NEXT(ApiRanking),
};
SCHEMA(RANKING, "Ranking", ApiRanking, RANKING, .help = "A page of a ranking.");

static const ApiMember PLACE[] = {
    FIELD("days", ApiPlace, days, .help = "The window; 0 is all time."),
    FIELD("rank", ApiPlace, place.self.rank, .help = "Its rank."),
    FIELD("votes", ApiPlace, place.self.votes, .help = "Votes in the window."),
    FIELD("count", ApiPlace, place.policies, .help = "Policies in the whole ranking."),
    FIELD("to_beat", ApiPlace, place.to_beat, .help = "Votes that would put it before the one above; 0 when it is first."),
    FIELD("above", ApiPlace, place.above.policy, WHEN(ApiPlace, place.has_above), .help = "The policy one rank above."),
    FIELD("below", ApiPlace, place.below.policy, WHEN(ApiPlace, place.has_below), .help = "The policy one rank below."),
    TIME("as_of", ApiPlace, place.as_of_us, .help = "Everything that was saved up to here is in it."),
};
SCHEMA(PLACE, "Place", ApiPlace, PLACE, .help = "A policy's place in a ranking.");

static const ApiMember STANDING[] = {
    FIELD("policy", ApiStanding, policy, .help = "The policy."),
    FIELD("total", ApiStanding, total, .help = "All votes."),
    OBJECT("recent", ApiStanding, recent, PLACE, WHEN(ApiStanding, recent.is_there), .help = "In the window asked for."),
    OBJECT("ever", ApiStanding, ever, PLACE, WHEN(ApiStanding, ever.is_there), .help = "By all votes."),
};
SCHEMA(STANDING, "Standing", ApiStanding, STANDING, .help = "Where a policy stands; null: in no ranking.");

/* ---- Policies ---------------------------------------------------------------------------------------------------------- */

static const ApiMember POLICIES[] = {
    LIST("policies", ApiPolicies, cards, count, CARD, .help = "In the order asked for."),
    NEXT(ApiPolicies),
};
SCHEMA(POLICIES, "Policies", ApiPolicies, POLICIES, .help = "A page of all policies.");

#define TEXT_FIELDS(type, text)                                                                     \
    FIELD("name", type, text.name, OR_NULL, .help = "What it is called; null: it is not shown."),   \
    FIELD("description", type, text.description, .help = "What it says, in Markdown."),             \
    FIELD("rationale", type, text.rationale, .help = "Why, in Markdown."),                          \
    MANY("links", API_TEXTS, type, text.links, text.link_count, NULL, .help = "Addresses to read on."), \
    FIELD("category", type, text.category, .help = "Its category."),                                \
    FIELD("party", type, text.party, OR_NULL, .help = "Its party.")

static const ApiMember POLICY[] = {
    FIELD("id", PolicyHead, policy.id, .help = "The policy."),
    TEXT_FIELDS(PolicyHead, policy.text),
    FIELD("address", PolicyHead, address, .help = "Its page."),
    STATE(PolicyHead, state),
    FIELD("leads_to", PolicyHead, to.id, WHEN(PolicyHead, leads), .help = "What it was merged into or retired in favour of."),
    FIELD("category_name", PolicyHead, category_name, OR_NULL, .help = "What its category is called."),
    FIELD("party_name", PolicyHead, party_name, OR_NULL, .help = "What its party is called."),
    FIELD("owner", PolicyHead, policy.owner, OR_NULL, .help = "The account that owns it."),
    FIELD("owner_name", PolicyHead, owner_name, OR_NULL, .help = "What that is called."),
    TIME("created", PolicyHead, policy.created_us, .help = "When it was created."),
    TIME("edited", PolicyHead, policy.edited_us, OR_NULL, .help = "When its text was last changed."),
    FIELD("revision", PolicyHead, policy.revision, .help = "1 for the first text, 2 for the next."),
    FIELD("version", PolicyHead, policy.version, OR_NULL, .help = "Of the text, for If-Match."),
};
SCHEMA(POLICY, "Policy", PolicyHead, POLICY, .help = "A policy and its text.");

static const ApiMember REVISION_ENTRY[] = {
    FIELD("revision", RevisionEntry, revision, .help = "Its number."),
    TIME("time", RevisionEntry, time_us, .help = "When it was saved."),
    FIELD("editor", RevisionEntry, editor, .help = "By whom."),
    FIELD("name", RevisionEntry, name, .help = "What the policy was called."),
    MANY("changed", API_LABELS, RevisionEntry, changed, changed_count, NULL, .help = "Which parts differ from the one before."),
};
SCHEMA(REVISION_ENTRY, "RevisionEntry", RevisionEntry, REVISION_ENTRY, .help = "A revision in a list.");

static const ApiMember REVISIONS[] = {
    FIELD("policy", ApiRevisions, view.head.policy.id, .help = "The policy."),
    LIST("revisions", ApiRevisions, view.entries, view.count, REVISION_ENTRY, .help = "The newest first."),
    NEXT(ApiRevisions),
};
SCHEMA(REVISIONS, "Revisions", ApiRevisions, REVISIONS, .help = "How a text came to be what it is.");

static const ApiMember REVISION[] = {
    FIELD("policy", RevisionView, head.policy.id, .help = "The policy."),
    FIELD("revision", RevisionView, revision.revision, .help = "Its number."),
    FIELD("version", RevisionView, revision.version, .help = "Of this text."),
    TIME("time", RevisionView, revision.time_us, .help = "When it was saved."),
    FIELD("editor", RevisionView, editor, .help = "By whom."),
    TEXT_FIELDS(RevisionView, revision.text),
};
SCHEMA(REVISION, "Revision", RevisionView, REVISION, .help = "A text that stood once.");

static const ApiMember POINT[] = {
    TIME("from", HistoryPoint, time_us, .help = "The day or hour begins."),
    TIME("to", HistoryPoint, end_us, .help = "It ends."),
    FIELD("votes", HistoryPoint, votes, WHEN(HistoryPoint, is_there), .help = "Votes of this day or hour."),
    FIELD("rank", HistoryPoint, rank, WHEN(HistoryPoint, is_there), .help = "The rank at its end; null: it was in no ranking."),
    FIELD("window_votes", HistoryPoint, window_votes, WHEN(HistoryPoint, is_there), .help = "Votes in the window, at its end."),
    FIELD("total", HistoryPoint, total, WHEN(HistoryPoint, is_there), .help = "All votes, at its end."),
};
SCHEMA(POINT, "Point", HistoryPoint, POINT, .help = "A day or hour of the past.");

static const ApiMember HISTORY[] = {
    FIELD("policy", HistoryView, head.policy.id, .help = "The policy."),
    FIELD("by_hour", HistoryView, wish.by_hour, .help = "Whether points are hours; else days."),
    FIELD("window", HistoryView, wish.window, .help = "Days of the ranking that ranks are of; 0 is all time."),
    LIST("points", HistoryView, points, count, POINT, .help = "The oldest first."),
};
SCHEMA(HISTORY, "History", HistoryView, HISTORY, .help = "Votes and ranks of a policy in the past.");

static const char *outcome_word(unsigned outcome) { return OUTCOME_WORDS[outcome]; }

static const ApiMember ANSWER[] = {
    FIELD("policy", AnswerView, policy, .help = "The policy."),
    FIELD("answered", AnswerView, is_answered, .help = "Whether there is an official answer."),
    WORD("outcome", AnswerView, answer.outcome, outcome_word, OUTCOME_COUNT, WHEN(AnswerView, is_answered), .help = "What comes of it."),
    FIELD("text", AnswerView, answer.text, WHEN(AnswerView, is_answered), .help = "The answer, in Markdown."),
    FIELD("revision", AnswerView, answer.revision, WHEN(AnswerView, is_answered), .help = "1 for the first answer, 2 for the next."),
    FIELD("version", AnswerView, answer.version, WHEN(AnswerView, is_answered), .help = "What a change names as `seen`."),
    FIELD("author", AnswerView, author, WHEN(AnswerView, is_answered), .help = "By whom."),
    TIME("time", AnswerView, answer.time_us, WHEN(AnswerView, is_answered), .help = "When it was given."),
    TIME("first", AnswerView, answer.first_us, WHEN(AnswerView, is_answered), .help = "When the first one was given."),
    FIELD("due", AnswerView, is_due, .help = "There is none, and its votes have passed the setting answer_threshold."),
};
SCHEMA(ANSWER, "Answer", AnswerView, ANSWER, .help = "The official answer to a policy.");

static const ApiMember ANSWERS[] = {
    FIELD("policy", ApiAnswers, view.head.policy.id, .help = "The policy."),
    LIST("answers", ApiAnswers, view.answers, view.count, ANSWER, .help = "The newest first."),
    NEXT(ApiAnswers),
};
SCHEMA(ANSWERS, "Answers", ApiAnswers, ANSWERS, .help = "An official answer, and what it was before.");

static const ApiMember MERGE_SIDE[] = {
    FIELD("policy", MergeSide, policy, OR_NULL, .help = "The policy; null: what both become."),
    FIELD("total", MergeSide, total, .help = "All votes."),
    FIELD("votes", MergeSide, recent, .help = "Votes in the window."),
    FIELD("rank", MergeSide, rank, OR_NULL, .help = "By all votes."),
    FIELD("window_rank", MergeSide, recent_rank, OR_NULL, .help = "By the votes in the window."),
    FIELD("voters", MergeSide, voters, .help = "People who hold something on it; 0 where they were not counted."),
};
SCHEMA(MERGE_SIDE, "MergeSide", MergeSide, MERGE_SIDE, .help = "A policy before a merge, or what two become.");

static const ApiMember MERGE[] = {
    OBJECT("policy", MergeView, self, MERGE_SIDE, .help = "The one."),
    OBJECT("other", MergeView, other, MERGE_SIDE, .help = "The other."),
    OBJECT("result", MergeView, result, MERGE_SIDE, .help = "What they become, as of now."),
    FIELD("voters_of_both", MergeView, both, WHEN(MergeView, has_voters), .help = "People who hold something on both; null: too many to count."),
    FIELD("days", MergeView, window_days, .help = "The window."),
    TIME("as_of", MergeView, as_of_us, .help = "Everything that was saved up to here is in it."),
};
SCHEMA(MERGE, "Merge", MergeView, MERGE, .help = "What a merge would do.");

static const ApiMember GROUP[] = {
    FIELD("id", GroupEntry, group.id, .help = "Its number."),
    FIELD("name", GroupEntry, group.name, .help = "What it is called."),
    FIELD("description", GroupEntry, group.description, .help = "What belongs to it."),
    FIELD("active", GroupEntry, group.active, .help = "Whether it takes new policies."),
    FIELD("address", GroupEntry, address, .help = "Its page."),
    FIELD("policies", GroupEntry, policies, .help = "How many policies it has in the ranking."),
    OBJECT("leader", GroupEntry, leader, CARD, WHEN(GroupEntry, has_leader), .help = "The one with most votes."),
};
SCHEMA(GROUP, "Group", GroupEntry, GROUP, .help = "A category or a party.");

static const ApiMember GROUPS[] = {
    LIST("groups", GroupsView, entries, count, GROUP, .help = "In the order in which they were added."),
};
SCHEMA(GROUPS, "Groups", GroupsView, GROUPS, .help = "All categories, or all parties.");

static const ApiMember SETTINGS[] = {
    FIELD("version", VotingSettings, version, .help = "Which version of the settings it is."),
#define X(name, fallback, least, most, text) FIELD(#name, VotingSettings, name, .help = text),
    SETTING_LIST(X)
#undef X
};
SCHEMA(SETTINGS, "Settings", VotingSettings, SETTINGS, .help = "The rules of the vote that are in force now.");

/* ---- One's own ----------------------------------------------------------------------------------------------------------- */

static const ApiMember ME[] = {
    FIELD("id", ApiMe, account.id, .help = "The account."),
    FIELD("name", ApiMe, account.name, .help = "Its name."),
    FIELD("email", ApiMe, account.email, .help = "Its e-mail address."),
    WORD("state", ApiMe, account.state, account_word, ACCOUNT_STATE_COUNT, .help = "Only a confirmed account votes."),
    TIME("registered", ApiMe, account.registered_us, .help = "Since when it earns pollies."),
    FIELD("balance", ApiMe, balance, .help = "Unspent pollies."),
    FIELD("by_token", ApiMe, by_token, .help = "Whether this request came with a personal token."),
    FIELD("csrf", ApiMe, csrf, OR_NULL, .help = "For the header X-CSRF-Token of requests that rely on the session's cookie."),
};
SCHEMA(ME, "Me", ApiMe, ME, .help = "Who is asking.");

static const ApiMember LINE[] = {
    FIELD("policy", MyLine, policy.id, .help = "The policy."),
    FIELD("name", MyLine, policy.name, .help = "What it is called."),
    FIELD("address", MyLine, policy.address, .help = "Its page."),
    STATE(MyLine, state),
    FIELD("held", MyLine, held, .help = "Pollies on it."),
    FIELD("free", MyLine, free, .help = "The part that came by merges, and can be taken back for nothing."),
    FIELD("rank", MyLine, place.self.rank, WHEN(MyLine, has_place), .help = "In the window of the front page."),
    FIELD("votes", MyLine, place.self.votes, WHEN(MyLine, has_place), .help = "In the same window."),
    FIELD("to_beat", MyLine, place.to_beat, WHEN(MyLine, has_place), .help = "Votes that would put it before the one above."),
};
SCHEMA(LINE, "Line", MyLine, LINE, .help = "What a voter holds on a policy.");

static const ApiMember VOTES[] = {
    FIELD("version", ApiVotes, version, .help = "What a save names as `seen`."),
    FIELD("seq", ApiVotes, seq, .help = "The number of the last save; 0: none yet."),
    FIELD("balance", ApiVotes, balance, .help = "Unspent pollies."),
    HOLDINGS(ApiVotes),
    LIST("policies", ApiVotes, votes.lines, votes.count, LINE, .help = "The same lines with what is known of the policies."),
};
SCHEMA(VOTES, "Votes", ApiVotes, VOTES, .help = "All that a voter holds.");

static const ApiMember SAVE[] = {
    FIELD("outcome", ApiSave, outcome, .help = "saved; stale: somebody saved first, and this did not get in; refused: by `rule`; "
          "unknown: perhaps saved, the same request with the same Idempotency-Key finds out."),
    FIELD("version", ApiSave, version, .help = "What stands now, or was last seen when the outcome is unknown."),
    FIELD("seq", ApiSave, seq, .help = "The number of the last save."),
    FIELD("balance", ApiSave, balance, .help = "Unspent pollies."),
    HOLDINGS(ApiSave),
    FIELD("saved_seq", ApiSave, saved_seq, WHEN(ApiSave, is_saved), .help = "The number of this save."),
    FIELD("saved_version", ApiSave, saved_version, WHEN(ApiSave, is_saved), .help = "Of this save."),
    FIELD("penalty", ApiSave, price.penalty, WHEN(ApiSave, has_price), .help = "What taking back costs."),
    FIELD("given_back", ApiSave, price.given_back, WHEN(ApiSave, has_price), .help = "What it gives back."),
    FIELD("rule", ApiSave, rule, OR_NULL, .help = "The rule that refused it, as a word."),
    FIELD("reason", ApiSave, reason, OR_NULL, .help = "The same as a sentence."),
    FIELD("policy", ApiSave, policy, OR_NULL, .help = "The policy that the rule is about."),
    FIELD("created", ApiSave, created, OR_NULL, .help = "The policy that this save created."),
};
SCHEMA(SAVE, "Save", ApiSave, SAVE, .help = "What became of a save.", .tells_failure = true);

static const ApiMember COST[] = {
    FIELD("rule", ApiCost, rule, OR_NULL, .help = "The rule that would refuse it, as a word."),
    FIELD("reason", ApiCost, reason, OR_NULL, .help = "The same as a sentence."),
    FIELD("policy", ApiCost, answer.refused_policy, OR_NULL, .help = "The policy that the rule is about."),
    FIELD("balance", ApiCost, answer.balance, .help = "Unspent pollies afterwards; below 0: so many are missing."),
    FIELD("penalty", ApiCost, answer.penalty, .help = "What taking back costs."),
    FIELD("given_back", ApiCost, answer.given_back, .help = "What it gives back."),
};
SCHEMA(COST, "Cost", ApiCost, COST, .help = "What a save would do.");

static const ApiMember CHANGE[] = {
    FIELD("policy", MyChange, policy.id, .help = "The policy."),
    FIELD("name", MyChange, policy.name, .help = "What it is called."),
    FIELD("before", MyChange, before, .help = "What the line held."),
    FIELD("held", MyChange, held, .help = "What it held then."),
};
SCHEMA(CHANGE, "Change", MyChange, CHANGE, .help = "A line that a save changed.");

static const ApiMember EVENT[] = {
    TIME("time", MyEvent, time_us, .help = "When it was."),
    FIELD("is_salary", MyEvent, is_salary, .help = "Whether it is a salary; else a save."),
    FIELD("pollies", MyEvent, pollies, .help = "Of the salary."),
    FIELD("seq", MyEvent, seq, OR_NULL, .help = "The number of the save."),
    FIELD("version", MyEvent, version, OR_NULL, .help = "Of the save."),
    FIELD("closing", MyEvent, closing, .help = "Whether it is the last, when the account was closed."),
    FIELD("created", MyEvent, created, OR_NULL, .help = "The policy that it created."),
    LIST("changes", MyEvent, changes, change_count, CHANGE, .help = "The lines that it changed."),
};
SCHEMA(EVENT, "Event", MyEvent, EVENT, .help = "A save or a salary.");

static const ApiMember MY_HISTORY[] = {
    LIST("events", ApiHistory, history.events, history.count, EVENT, .help = "The newest first."),
    NEXT(ApiHistory),
};
SCHEMA(MY_HISTORY, "MyHistory", ApiHistory, MY_HISTORY, .help = "What somebody saved and earned.");

static const ApiMember MY_POLICY[] = {
    FIELD("policy", MyPolicy, id, .help = "The policy."),
    FIELD("name", MyPolicy, name, .help = "What it is called."),
    FIELD("address", MyPolicy, address, .help = "Its page."),
    STATE(MyPolicy, state),
};
SCHEMA(MY_POLICY, "MyPolicy", MyPolicy, MY_POLICY, .help = "A policy as it is called to this voter.");

static const ApiMember SALARY[] = {
    TIME("time", SalaryEntry, time_us, .help = "When its period began."),
    FIELD("pollies", SalaryEntry, pollies, .help = "How many."),
};
SCHEMA(SALARY, "Salary", SalaryEntry, SALARY, .help = "A salary.");

static const ApiMember PROFILE[] = {
    FIELD("name", ApiProfile, account.name, .help = "The account's name."),
    FIELD("real_name", ApiProfile, account.real_name, OR_NULL, .help = "The person's name, where it was given."),
    FIELD("real_name_shown", ApiProfile, account.real_name_shown, .help = "Whether everybody may see it."),
    FIELD("balance", ApiProfile, profile.balance, .help = "Unspent pollies."),
    FIELD("voted_for", ApiProfile, profile.voted_for, .help = "How many policies they hold votes on."),
    FIELD("created", ApiProfile, profile.created, .help = "How many policies they created."),
    LIST("policies", ApiProfile, profile.policies, profile.policy_count, MY_POLICY, .help = "The newest of them."),
    MANY("salaries", API_SOME, ApiProfile, profile.salaries, profile.salary_count, &SCHEMA_SALARY, .help = "The newest first."),
    TIME("next_salary", ApiProfile, profile.next_salary_us, .help = "When the next one is due."),
    FIELD("next_pollies", ApiProfile, profile.next_salary, .help = "How many that will be."),
};
SCHEMA(PROFILE, "Profile", ApiProfile, PROFILE, .help = "What somebody has, created and voted for.");

static const ApiMember WATCHED[] = {
    FIELD("policy", MyWatched, policy.id, .help = "The policy."),
    FIELD("name", MyWatched, policy.name, .help = "What it is called."),
    FIELD("address", MyWatched, policy.address, .help = "Its page."),
    STATE(MyWatched, policy.state),
    FIELD("rank", MyWatched, place.self.rank, WHEN(MyWatched, has_place), .help = "In the window of the front page."),
    FIELD("votes", MyWatched, place.self.votes, WHEN(MyWatched, has_place), .help = "In the same window."),
    FIELD("total", MyWatched, place.self.total, WHEN(MyWatched, has_place), .help = "All votes."),
};
SCHEMA(WATCHED, "Watched", MyWatched, WATCHED, .help = "A policy on the watch list.");

static const ApiMember WATCHING[] = {
    FIELD("days", MyWatching, window_days, .help = "The window that ranks and votes are of."),
    LIST("policies", MyWatching, policies, count, WATCHED, .help = "The last added first."),
};
SCHEMA(WATCHING, "Watching", MyWatching, WATCHING, .help = "The watch list.");

static const char *notice_word(unsigned kind) { return notice_kind_name((NoticeKind)kind); }

static const ApiMember NOTICE[] = {
    FIELD("id", MyNotice, key, .help = "Names it, for dismissing it."),
    WORD("kind", MyNotice, kind, notice_word, NOTICE_KIND_COUNT, .help = "What happened."),
    TIME("time", MyNotice, time_us, .help = "When it happened."),
    FIELD("policy", MyNotice, policy.id, .help = "To which policy."),
    FIELD("name", MyNotice, policy.name, .help = "What that is called."),
    FIELD("other", MyNotice, other.id, WHEN(MyNotice, has_other), .help = "Where its votes went, or in favour of which it was retired."),
    FIELD("reason", MyNotice, reason, OR_NULL, .help = "Why."),
};
SCHEMA(NOTICE, "Notice", MyNotice, NOTICE, .help = "Something that happened to a policy.");

static const ApiMember NOTICES[] = {
    LIST("notices", MyNotices, notices, count, NOTICE, .help = "The newest first."),
};
SCHEMA(NOTICES, "Notices", MyNotices, NOTICES, .help = "What happened to the policies that somebody has to do with.");

static const ApiMember SESSION[] = {
    FIELD("id", Session, id, .help = "Names it; no secret."),
    TIME("begun", Session, begun_us, .help = "When somebody logged in."),
    TIME("seen", Session, seen_us, .help = "When it was last used, to five minutes."),
    FIELD("address", Session, origin.address, .help = "From which network address."),
    FIELD("agent", Session, origin.agent, .help = "With which program."),
    FIELD("remember", Session, origin.remember, .help = "Whether to stay logged in was asked for."),
    FIELD("second_factor", Session, origin.second, .help = "Whether it was begun with the second factor."),
};
SCHEMA(SESSION, "Session", Session, SESSION, .help = "A place where somebody is logged in.");

static const ApiMember SESSIONS[] = {
    LIST("sessions", ApiSessions, sessions, count, SESSION, .help = "The newest first."),
};
SCHEMA(SESSIONS, "Sessions", ApiSessions, SESSIONS, .help = "Where somebody is logged in.");

static const ApiMember TOKEN[] = {
    FIELD("id", Token, id, .help = "Names it; no secret."),
    FIELD("name", Token, name, .help = "What its owner calls it."),
    WORD("scope", Token, scope, scope_word, TOKEN_SCOPE_COUNT, .help = "What it may do."),
    TIME("made", Token, made_us, .help = "When it was made."),
    TIME("ends", Token, ends_us, OR_NULL, .help = "When it ends; null: never, which only older ones have."),
    TIME("used", Token, used_us, OR_NULL, .help = "When it was last used, to five minutes."),
    FIELD("secret", Token, secret, OR_NULL, .help = "For the header Authorization; only in the answer that made it."),
};
SCHEMA(TOKEN, "Token", Token, TOKEN, .help = "A personal token.");

static const ApiMember TOKENS[] = {
    LIST("tokens", ApiTokens, tokens, count, TOKEN, .help = "In the order in which they were made."),
};
SCHEMA(TOKENS, "Tokens", ApiTokens, TOKENS, .help = "All personal tokens of an account.");

static const ApiMember SECOND[] = {
    FIELD("on", SecondView, factor.is_on, .help = "Whether logging in asks for a code."),
    FIELD("offered", SecondView, factor.is_offered, .help = "Whether a secret waits for the code that confirms it."),
    TIME("since", SecondView, factor.since_us, OR_NULL, .help = "When it was turned on, or offered."),
    FIELD("codes_left", SecondView, factor.codes_left, .help = "Codes on paper that were not used."),
    FIELD("required", SecondView, is_required, .help = "Whether a role of yours asks for it."),
    FIELD("secret", SecondView, secret, OR_NULL, .help = "What is offered, in base32; never by a token."),
    FIELD("link", SecondView, link, OR_NULL, .help = "The same as apps read it: otpauth://…"),
};
SCHEMA(SECOND, "SecondFactor", SecondView, SECOND, .help = "The second factor of an account.");

static const ApiMember CODES[] = {
    MANY("codes", API_TEXTS, ApiCodes, codes.codes, count, NULL, .help = "Each lets you in once, when your device is not at hand."),
};
SCHEMA(CODES, "RecoveryCodes", ApiCodes, CODES, .help = "Codes on paper; told only now.");

static const ApiMember CONNECTION[] = {
    FIELD("id", MyConnection, connection.id, .help = "Names it; no secret."),
    FIELD("provider", MyConnection, connection.provider, .help = "The other site, as the settings name it."),
    FIELD("title", MyConnection, title, .help = "What people call it."),
    FIELD("subject", MyConnection, connection.subject, .help = "Who you are there."),
    FIELD("label", MyConnection, connection.label, OR_NULL, .help = "What that site calls you."),
    TIME("made", MyConnection, connection.made_us, .help = "When it was connected."),
};
SCHEMA(CONNECTION, "Connection", MyConnection, CONNECTION, .help = "A log-in at another site.");

static const ApiMember CONNECTIONS[] = {
    LIST("connections", ConnectionsView, connections, count, CONNECTION, .help = "In the order in which they were made."),
    FIELD("has_password", ConnectionsView, has_password, .help = "Without one, the last connection cannot be ended."),
};
SCHEMA(CONNECTIONS, "Connections", ConnectionsView, CONNECTIONS, .help = "All log-ins at other sites.");

static const ApiMember LOGIN[] = {
    TIME("time", Login, time_us, .help = "When it was."),
    FIELD("success", Login, success, .help = "Whether it succeeded."),
    FIELD("address", Login, origin.address, .help = "From which network address."),
    FIELD("agent", Login, origin.agent, .help = "With which program."),
};
SCHEMA(LOGIN, "Login", Login, LOGIN, .help = "A log-in that succeeded or failed.");

static const ApiMember DATA[] = {
    TIME("made", ApiData, made_us, .help = "When this was put together."),
    FIELD("id", ApiData, account.id, .help = "The account."),
    FIELD("name", ApiData, account.name, .help = "Its name."),
    FIELD("email", ApiData, account.email, .help = "Its e-mail address."),
    FIELD("real_name", ApiData, account.real_name, OR_NULL, .help = "The person's name, where it was given."),
    FIELD("real_name_shown", ApiData, account.real_name_shown, .help = "Whether everybody may see it."),
    WORD("state", ApiData, account.state, account_word, ACCOUNT_STATE_COUNT, .help = "The state of the account."),
    TIME("registered", ApiData, account.registered_us, .help = "Since when."),
    OBJECT("votes", ApiData, votes, VOTES, .help = "What you hold."),
    OBJECT("history", ApiData, history, MY_HISTORY, .help = "All that you saved and earned."),
    LIST("policies", ApiData, policies, policy_count, MY_POLICY, .help = "Those that you own."),
    OBJECT("watching", ApiData, watching, WATCHING, .help = "The policies that you watch."),
    OBJECT("notices", ApiData, notices, NOTICES, .help = "What you were told."),
    OBJECT("sessions", ApiData, sessions, SESSIONS, .help = "Where you are logged in."),
    LIST("logins", ApiData, logins, login_count, LOGIN, .help = "The last log-ins, the newest first."),
    OBJECT("tokens", ApiData, tokens, TOKENS, .help = "Your personal tokens, without their secrets."),
    OBJECT("connections", ApiData, connections, CONNECTIONS, .help = "Your log-ins at other sites."),
    OBJECT("second_factor", ApiData, second, SECOND, .help = "Your second factor, without its secret."),
};
SCHEMA(DATA, "Data", ApiData, DATA, .help = "All that is kept of somebody.");

static const ApiMember MAILBOX[] = {
    WORD("digest", MailboxView, choice, digest_of, DIGEST_CHOICES, .help = "How often a letter tells what happened to your policies."),
    FIELD("email", MailboxView, email, .help = "Where letters go."),
    FIELD("suppressed", MailboxView, is_suppressed, .help = "Whether this address gets only letters about your log-in."),
};
SCHEMA(MAILBOX, "Mailbox", MailboxView, MAILBOX, .help = "Which letters somebody gets.");

static const ApiMember FAILED_LETTER[] = {
    FIELD("id", MailEntry, id, .help = "Names it."),
    FIELD("kind", MailEntry, kind, .help = "What it is about."),
    FIELD("to", MailEntry, to, .help = "Where it should go."),
    TIME("made", MailEntry, made_us, .help = "When it was written."),
    FIELD("error", MailEntry, error, OR_NULL, .help = "Why it failed."),
};
SCHEMA(FAILED_LETTER, "FailedLetter", MailEntry, FAILED_LETTER, .help = "A letter that could not be sent.");

static const ApiMember SUPPRESSED[] = {
    FIELD("hash", Suppressed, tag, .help = "Of the address: tells two apart, and no more."),
    WORD("why", Suppressed, why, suppress_of, SUPPRESS_REASONS, .help = "Why it is here."),
    TIME("since", Suppressed, time_us, .help = "Since when."),
};
SCHEMA(SUPPRESSED, "Suppressed", Suppressed, SUPPRESSED, .help = "An address that gets only letters about its log-in.");

static const ApiMember ADMIN_MAIL[] = {
    FIELD("can_send", AdminMailView, can_mail, .help = "Whether this site sends letters."),
    FIELD("waiting", AdminMailView, waiting_count, .help = "Letters that wait to be sent."),
    LIST("failed", AdminMailView, failed, failed_count, FAILED_LETTER, .help = "The newest first."),
    LIST("suppressed", AdminMailView, suppressed, suppressed_count, SUPPRESSED, .help = "The newest first."),
};
SCHEMA(ADMIN_MAIL, "AdminMail", AdminMailView, ADMIN_MAIL, .help = "What became of letters.");

static const ApiMember VISIT[] = {
    FIELD("known", ApiVisit, known, .help = "Whether somebody is logged in."),
    FIELD("name", ApiVisit, name, OR_NULL, .help = "The account's name."),
    FIELD("csrf", ApiVisit, csrf, OR_NULL, .help = "For the header X-CSRF-Token of requests that rely on cookies."),
};
SCHEMA(VISIT, "Visit", ApiVisit, VISIT, .help = "Who this browser is.");

static const ApiMember DONE[] = {
    FIELD("done", ApiDone, done, .help = "Always true."),
};
SCHEMA(DONE, "Done", ApiDone, DONE, .help = "It is done.");
/* clang-format on */

const ApiSchema *const API_SCHEMAS[] = {
#define X(name) &SCHEMA_##name,
    API_SCHEMA_LIST(X)
#undef X
        NULL};
