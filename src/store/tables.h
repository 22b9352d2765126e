/* tables.h -- every table of the store, declared once.
 *
 * The list says for each table: its number (part of the stored key, never reused), name, how it is written, whether cells
 * are deleted or expire, what the row key and the columns are, and who writes it. Engines create, check and interpret
 * tables by it; docs/tables.md is printed from it. Tests and benchmarks bring tables of their own, with numbers from
 * TABLE_FIRST_FOR_TESTS on. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum TableKind { TABLE_PLAIN, TABLE_CONDITIONAL } TableKind;

/* What a table keeps of a policy, which says what is done there when the policy is obliterated (app/obliterate.h). The functions
 * are called in this order.
 *    name, the function that removes it or NONE, what is kept */
#define TABLE_POLICY_LIST(X)                                                          \
    X(NOTHING, NONE, "nothing")                                                       \
    X(IDS, NONE, "ids, counts and times, which stay")                                 \
    X(BRIEFLY, NONE, "perhaps its name in an address, for minutes")                   \
    X(TEXTS, policies_obliterate, "texts, and the reasons of its moves")              \
    X(NAMES, policies_obliterate, "names it had, as keys")                            \
    X(ANSWER, policies_obliterate, "the official answer")                             \
    X(REPORTS, reports_obliterate, "words, e-mail addresses and moderators' reasons") \
    X(LETTERS, mail_obliterate, "e-mails about it, also to visitors who reported it") \
    X(REASONS, audit_obliterate, "reasons of what was done to it, and to reports about it")

typedef enum TablePolicy {
#define X(name, eraser, words) TABLE_POLICY_##name,
    TABLE_POLICY_LIST(X)
#undef X
        TABLE_POLICY_COUNT
} TablePolicy;

typedef struct TablePolicyRow {
    const char *words, *eraser; /* "policies_obliterate", or "NONE" */
} TablePolicyRow;
extern const TablePolicyRow TABLE_POLICY_ROWS[];

typedef struct Table {
    uint16_t number;
    const char *name; /* lower-case letters, digits and _, at most 40 */
    TableKind kind;
    bool repeats; /* whoever writes a cell writes the same value; plain tables that do not delete */
    bool
        notes; /* what stands there is nothing that anybody asked for: marks, logs, counters (store_effects) */
    bool deletes;
    bool expires;
    const char *row;
    const char *columns;
    const char *writer;
    TablePolicy policy;
} Table;

enum { TABLE_FIRST_FOR_TESTS = 60000 };

/*    id, number, name, kind, deletes, expires, row key, columns, who writes, what it keeps of a policy
 * The kind is PLAIN, CONDITIONAL, or REPEATED: plain, and it `repeats`; with NOTES_ before it the table `notes`. */
#define TABLE_LIST(X)                                                                              \
    X(SITE, 1, "site", CONDITIONAL, false, true, "the name of a fact about the whole site",        \
      "state: id of the write (16 bytes) and the value; ~/id: receipts",                           \
      "cli: maintenance mode, the id of the key", NOTHING)                                         \
    X(COUNTERS, 2, "counters", NOTES_CONDITIONAL, false, true, "the name of a kind of things",     \
      "next: id of the write (16 bytes) and the first id not taken (8 bytes); ~/id: receipts",     \
      "store: sequence.h", IDS)                                                                    \
    X(ACCOUNTS, 3, "accounts", CONDITIONAL, false, true, "account (8 bytes)",                      \
      "head: id of the write and all that is known, what is personal sealed; l/kind: id and a "    \
      "one-time link; connections: id and log-ins elsewhere, sealed; second: id and second "       \
      "factor, sealed; tokens: id and tokens, sealed; "                                            \
      "watch: id and policies; ~/id: receipts. Row 0: the link for the first admin",               \
      "accounts", IDS)                                                                             \
    X(NAMES, 4, "names", CONDITIONAL, false, true,                                                 \
      "n/ and a folded name, e/ and a keyed hash of a folded e-mail, or x/ and one of a "          \
      "provider and whom it knows",                                                                \
      "claim: id of the write and the account, 0 when it is free; ~/id: receipts",                 \
      "accounts: claims", NOTHING)                                                                 \
    X(SETTINGS, 5, "settings", CONDITIONAL, false, true, "voting",                                 \
      "head: id of the write, number of versions, plan; v/version: a version; ~/id: receipts",     \
      "accounts: settings", NOTHING)                                                               \
    X(SIGNALS, 6, "signals", PLAIN, false, true, "s/, kind and keyed hash; or a/ and account",     \
      "account, or kind and hash: time of registration; expires after a year",                     \
      "accounts: register", NOTHING)                                                               \
    X(SESSIONS, 7, "sessions", PLAIN, true, true,                                                  \
      "s/ and a keyed hash of the secret; or a/ and account",                                      \
      "begin: who, when, epoch, sealed origin; end; keep: epoch; second; seen: time; or "          \
      "session: its hash; all expire with the longest life of a session",                          \
      "accounts: sessions", NOTHING)                                                               \
    X(LOGINS, 8, "logins", NOTES_PLAIN, true, true, "account",                                     \
      "y/ or n/ and an id: time, sealed origin of a log-in that succeeded or failed; expires "     \
      "after 90 days",                                                                             \
      "accounts: sessions", NOTHING)                                                               \
    X(TOKEN_USES, 9, "token_uses", NOTES_PLAIN, true, true, "account",                             \
      "token: when it was last used; expires after 400 days", "accounts: tokens", NOTHING)         \
    X(NOTICES, 10, "notices", PLAIN, false, true, "account",                                       \
      "all: up to when all are dismissed; policy, kind, number: one that is; expire after 366 "    \
      "days",                                                                                      \
      "votes: notices", IDS)                                                                       \
    X(REQUEST_KEYS, 11, "request_keys", NOTES_PLAIN, true, true, "account",                        \
      "keyed hash of the key: keyed hash of the request; expires after 7 days",                    \
      "accounts: after a request with an Idempotency-Key", NOTHING)                                \
    X(JOURNEYS, 87, "journeys", NOTES_CONDITIONAL, false, true,                                    \
      "keyed hash of the state (32 bytes)",                                                        \
      "journey: id of the write, used or not, when, keyed hash of the browser's secret, what was " \
      "meant (sealed); ~/id: receipts; all of it expires, after 10 minutes until it is used",      \
      "accounts: while somebody logs in at another site", BRIEFLY)                                 \
    X(MAIL_SUPPRESSED, 90, "mail_suppressed", PLAIN, true, false,                                  \
      "keyed hash of an e-mail address (32 bytes)",                                                \
      "entry: why and when it was put here; no address is", "mail: suppress", NOTHING)             \
    X(DIGESTS, 91, "digests", PLAIN, true, false, "share of 16 (1 byte)",                          \
      "account: how often, since when, the last period seen to", "accounts: digests", NOTHING)     \
    X(VOTERS, 20, "voters", CONDITIONAL, false, true, "voter",                                     \
      "head; s/policy: a line; t/token: seq, expires after 7 days; z/seq: the log", "votes: save", \
      IDS)                                                                                         \
    X(POLICY_VOTERS, 21, "policy_voters", CONDITIONAL, false, false,                               \
      "generation, policy, bucket of 16",                                                          \
      "sum: ver, total, change by day; v/voter: held, seq; h/hour: change", "votes: project", IDS) \
    X(POLICY_TOTALS, 22, "policy_totals", PLAIN, false, false, "generation, policy",               \
      "bucket: as sum; the timestamp is ver", "votes: project", IDS)                               \
    X(HOUR_CHANGES, 23, "hour_changes", PLAIN, false, false, "generation, hour, shard of 16",      \
      "policy, bucket: change; the timestamp is ver", "votes: project", IDS)                       \
    X(POLICY_HISTORY, 24, "policy_history", REPEATED, false, false, "generation, policy, day",     \
      "version: voter, change, held; the timestamp is seq", "votes: project", IDS)                 \
    X(PROJECTED, 25, "projected", PLAIN, false, false, "generation, voter",                        \
      "seq: up to which entry; the timestamp is seq", "votes: project", NOTHING)                   \
    X(CHANGED, 26, "changed", NOTES_REPEATED, false, true, "minute, shard of 16",                  \
      "second, policy: its count changed; expires after an hour", "votes: project", IDS)           \
    X(DIRTY, 27, "dirty", NOTES_REPEATED, false, true, "hour, shard of 16",                        \
      "voter: may have something to project; expires after 40 days", "votes: save", NOTHING)       \
    X(GENERATIONS, 28, "generations", CONDITIONAL, false, true, "derived",                         \
      "state: id, current, next; ~/id: receipts", "votes: verify", NOTHING)                        \
    X(LATE_DAYS, 29, "late_days", PLAIN, false, false, "generation",                               \
      "day, writer: how many marks that writer has made; the timestamp is the same",               \
      "votes: project, when an entry is carried into a day that is over", NOTHING)                 \
    X(POLICIES, 30, "policies", CONDITIONAL, true, true, "policy",                                 \
      "f/merge: the new policy that it leads to; gone: nothing is left of it; l/source, merge: a " \
      "listed source; latest: "                                                                    \
      "number, editor and time of the text; m/number: a move; origin; owner; state: count and id " \
      "of the last move; text; v/revision: an older text; ~/id: receipts",                         \
      "policies", TEXTS)                                                                           \
    X(GROUPS, 31, "groups", CONDITIONAL, false, true, "categories or parties",                     \
      "d/id: a description; g/id: active, name; head: fresh id, last id; ~/id: receipts",          \
      "policies: categories and parties", NOTHING)                                                 \
    X(POLICY_INDEX, 32, "policy_index", PLAIN, true, false,                                        \
      "name, date, party/id, category/id, owner/id", "sort key, policy: the policy",               \
      "policies: after a change, and reindex", NAMES)                                              \
    X(RANK_CHECKPOINTS, 40, "rank_checkpoints", PLAIN, false, false,                               \
      "generation; or generation, day",                                                            \
      "day: digest of the late days it knew; or page of 1024 ids: that digest, then policy, "      \
      "total at the end of the day …",                                                             \
      "ranking: checkpoint", IDS)                                                                  \
    X(TASK_STATE, 50, "task_state", NOTES_PLAIN, false, false, "task, /, part",                    \
      "state: where the pass is, the last one, errors; the timestamp is the clock",                \
      "tasks: after a piece of work", IDS)                                                         \
    X(INSTANCES, 51, "instances", NOTES_PLAIN, false, true, "live",                                \
      "instance: when it started, its address; expires after 2 minutes", "tasks: heartbeats",      \
      NOTHING)                                                                                     \
    X(MAIL_QUEUE, 60, "mail_queue", CONDITIONAL, true, true, "message: a keyed hash (16 bytes)",   \
      "body: address, subject and text, sealed, until it is sent; about: policies that it names; " \
      "head: id of the write, state, "                                                             \
      "attempts, times, kind, what the server said (sealed); ~/id: receipts; all of it expires",   \
      "mail", LETTERS)                                                                             \
    X(MAIL_INDEX, 61, "mail_index", PLAIN, true, true, "w/ and hour, failed, or outbox",           \
      "time, message: waits, has failed, or is kept for a demo; expires after a month, or a week", \
      "mail: with the row that it announces", NOTHING)                                             \
    X(AUDIT, 70, "audit", NOTES_PLAIN, false, true, "act: its id (16 bytes)",                      \
      "act: who, what, when, why, and where from (sealed); end: when and how it ended; expire "    \
      "after two years, or as set",                                                                \
      "audit: before an act, and after it", REASONS)                                               \
    X(AUDIT_INDEX, 71, "audit_index", NOTES_REPEATED, false, true,                                 \
      "all, public, actor, object, kind or instance, and a piece of 100 days", "act: nothing",     \
      "audit: with the act that it names", IDS)                                                    \
    X(REPORTS, 74, "reports", CONDITIONAL, false, true, "report (8 bytes)",                        \
      "head: id of the write, kind, state, policy, who, times, moderator, reason; body: words "    \
      "and e-mail, sealed; ~/id: receipts; expire a year after it was closed",                     \
      "reports", REPORTS)                                                                          \
    X(REPORT_INDEX, 75, "report_index", PLAIN, true, true, "s/ and state, p/ and policy, letters", \
      "time, report; or report; or kind, report: nothing; expire with the report",                 \
      "reports: with the row that it announces, and reindex", IDS)                                 \
    X(FEATURED, 78, "featured", CONDITIONAL, false, true, "front",                                 \
      "list: id of the write, and policies in their order, each with from, until, who and when; "  \
      "~/id: receipts",                                                                            \
      "policies: featured", IDS)                                                                   \
    X(ANSWERS, 94, "answers", CONDITIONAL, true, true, "policy",                                   \
      "answer: version, revision, author, times, outcome, text; due: when and at how many votes "  \
      "one became due; latest: number, author and time; told: when letters about that had gone; "  \
      "v/revision: an older answer; ~/id: receipts",                                               \
      "policies: answers", ANSWER)                                                                 \
    X(ANSWER_NEWS, 95, "answer_news", REPEATED, false, true, "all",                                \
      "time, policy: an answer is about to be there; expires after 90 days",                       \
      "policies: with the answer that it announces", IDS)                                          \
    X(ELECTORATE, 80, "electorate", CONDITIONAL, false, true, "rule",                              \
      "state: id of the write, version, who may join, when changed, domains; ~/id: receipts",      \
      "accounts: electorate", NOTHING)                                                             \
    X(INVITATIONS, 81, "invitations", CONDITIONAL, false, true,                                    \
      "16 bytes of a keyed hash of a folded e-mail",                                               \
      "head: id of the write, id of its making, state, times, by whom, account, sealed e-mail; "   \
      "~/id: receipts; expires 30 days after its end",                                             \
      "accounts: invitations", NOTHING)                                                            \
    X(INVITATION_LIST, 82, "invitation_list", PLAIN, false, true, "all",                           \
      "time, row of the invitation; expires with it",                                              \
      "accounts: with the invitation that it announces", NOTHING)                                  \
    X(ROLL, 83, "roll", PLAIN, true, false, "keyed hash of a folded e-mail",                       \
      "on: keyed hash of the name, or nothing", "accounts: import of a roll", NOTHING)             \
    X(TEXTS, 84, "texts", CONDITIONAL, false, false, "privacy or terms",                           \
      "head: id of the write, last revision; v/number: when, who, the text", "texts", NOTHING)     \
    X(NODE_SERVICES, 110, "node_services", CONDITIONAL, false, true, "service",                    \
      "head: id of the write, rules; n/node: its URL, added, removed; u/hash of a URL: the node "  \
      "that has it; ~/id: receipts",                                                               \
      "nodes", NOTHING)                                                                            \
    X(NODES, 111, "nodes", CONDITIONAL, true, true, "node (8 bytes)",                              \
      "c: id of the write, capacity, load, available, state, takes, returns; d/return: one that "  \
      "is being given back; g/take: one that is not settled; ~/id: receipts",                      \
      "nodes: a turn", NOTHING)                                                                    \
    X(NODE_USERS, 112, "node_users", CONDITIONAL, true, true,                                      \
      "16 bytes of a keyed hash of the service and a folded e-mail",                               \
      "head: id of the write, state, uid, node, take, numbers, times, sealed e-mail; o/return: a " \
      "slot that is owed; r/uid: a record as it was made; s/state: a client state that was seen; " \
      "x/uid: when it was replaced; ~/id: receipts",                                               \
      "nodes: a turn", NOTHING)                                                                    \
    X(NODE_INDEX, 113, "node_index", PLAIN, true, false, "node, shard of 16",                      \
      "row of a user who is on the node, perhaps", "nodes: with the take that it announces",       \
      NOTHING)                                                                                     \
    X(NODE_PEOPLE, 114, "node_people", REPEATED, false, false,                                     \
      "16 bytes of a keyed hash of a folded e-mail", "service: the user is there, perhaps",        \
      "nodes: with the record that it announces", NOTHING)                                         \
    X(NODE_MARKS, 115, "node_marks", NOTES_REPEATED, false, true, "hour (8 bytes), shard of 16",   \
      "node, row of a user: something may be unsettled; expires after 40 days",                    \
      "nodes: with the update that it announces", NOTHING)                                         \
    X(NEWS, 100, "news", NOTES_REPEATED, false, true, "hour (4 bytes), shard (1 byte)",            \
      "second of the hour, kind, id: it is about to change; expires after 40 days",                \
      "news: with the update that it announces", IDS)

#define X(id, number, name, kind, deletes, expires, row, columns, writer, policy) \
    extern const Table TABLE_##id;
TABLE_LIST(X)
#undef X

/* All of the above, for engines that create or check them. */
typedef struct TableSet {
    const Table *const *tables;
    size_t count;
} TableSet;

extern const TableSet TABLES;
