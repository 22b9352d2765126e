/* api_schemas.c -- what the answers of the interface hold: each member once, with its place in the view and its meaning. See api.h.
 *
 * The kind of a member comes from its C type, so that a table cannot say something else than the view; what a type does not tell (a time, a
 * list) has a macro of its own. */
#include "operations/schema_macros.h"
#include "site/api/api.h"

/* clang-format off */

/* ---- Policies ---------------------------------------------------------------------------------------------------------- */

static const ApiMember POLICIES[] = {
    LIST("policies", ApiPolicies, summaries, count, CARD, .help = "In the order asked for."),
    NEXT(ApiPolicies),
};
SCHEMA(POLICIES, "Policies", ApiPolicies, POLICIES, .help = "A page of all policies.");

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
    POLICY_TEXT_FIELDS(RevisionView, revision.text),
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
    FIELD("by_hour", HistoryView, want.by_hour, .help = "Whether points are hours; else days."),
    FIELD("window", HistoryView, want.window, .help = "Days of the ranking that ranks are of; 0 is all time."),
    LIST("points", HistoryView, points, count, POINT, .help = "The oldest first."),
};
SCHEMA(HISTORY, "History", HistoryView, HISTORY, .help = "Votes and ranks of a policy in the past.");

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
    WORD("state", ApiMe, account.state, ACCOUNT_STATE_WORDS, .help = "Only a confirmed account votes."),
    TIME("registered", ApiMe, account.registered_us, .help = "Since when it earns pollies."),
    FIELD("balance", ApiMe, balance, .help = "Unspent pollies."),
    FIELD("by_token", ApiMe, by_token, .help = "Whether this request came with a personal token."),
    FIELD("csrf", ApiMe, csrf, OR_NULL, .help = "For the header X-CSRF-Token of requests that rely on the session's cookie."),
};
SCHEMA(ME, "Me", ApiMe, ME, .help = "Who is asking.");

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
    WORD("state", ApiData, account.state, ACCOUNT_STATE_WORDS, .help = "The state of the account."),
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

static const ApiMember VISIT[] = {
    FIELD("known", ApiVisit, known, .help = "Whether somebody is logged in."),
    FIELD("name", ApiVisit, name, OR_NULL, .help = "The account's name."),
    FIELD("csrf", ApiVisit, csrf, OR_NULL, .help = "For the header X-CSRF-Token of requests that rely on cookies."),
};
SCHEMA(VISIT, "Visit", ApiVisit, VISIT, .help = "Who this browser is.");

/* clang-format on */
