/* vote_rules.h -- what a save may do, what it costs, and what a balance is: pure.
 *
 * Words: a *line* is how many pollies a voter holds on one policy; a *save* changes lines; *held* is what is on a line;
 * *withdrawn_centi* is the sum over a line's withdrawals of pollies x percent, kept exactly. The penalty of a line is that
 * sum / 100, rounded up once over the whole, so taking 1 away a hundred times costs what taking 100 away once costs.
 *
 * Balance = salary due - the cost of all lines, where a line costs, by the effective state of its policy (a merged policy has
 * its root's, a policy that waits for deletion the state before):
 *     pending, active, merging    held + penalty
 *     retired                     nothing; but the owner pays, on the root's own line,
 *                                 (withdrawn_centi + held x percent) / 100, rounded up: the usual price of leaving
 *     void, deleted               nothing
 * So it does not matter whether a withdrawal came just before or just after a retirement.
 *
 * What holds for every accepted save (tests/votes/vote_rules_test.c):
 *   1. Balance >= 0 at the save's own time, by the moves and settings known then; no move made later lowers it.
 *   2. Only lines on active policies change; the voter sees one line for a policy and all that were merged into it.
 *   3. Taking away from that line takes from the members first, the oldest merge first, and free of charge: their voters
 *      never chose the target. Then from the policy's own line, at the percent in force.
 *   4. No line that the request does not name changes.
 * No sum overflows: see the bounds. */
#pragma once

#include "policies/policy_rules.h"
#include "settings/settings_rules.h"

enum {
    VOTE_LINES_MAX = 1024, /* lines of a voter that hold something */
    VOTE_KEPT_MAX = 8000,  /* all lines, with those that hold nothing any more but have a penalty */
    VOTE_CHANGES_MAX = 256, /* lines that one request may name */
    VOTE_SAVES_A_DAY = 500,
    VOTE_AHEAD_MOST_S = 600, /* how far an entry's time may be ahead of the clock */
};
#define VOTE_HELD_MAX INT64_C(2147483647)

typedef struct VoteLine {
    uint64_t policy;
    int64_t held;
    int64_t withdrawn_centi;
} VoteLine;

/* A voter's lines, ascending by policy. Lines that hold nothing stay: their penalty counts. */
typedef struct VoteLines {
    const VoteLine *lines;
    size_t count;
} VoteLines;

/* What the rules are judged by, apart from the lines. */
typedef struct VoteGround {
    uint64_t voter;
    int64_t registered_us;
    const SettingsHistory *settings;
    const PolicyLookup *policies;
} VoteGround;

/*    rule, name for scripts, sentence for the voter */
#define VOTE_RULE_LIST(X)                                                                       \
    X(NONE, "none", "")                                                                         \
    X(BALANCE, "balance", "you do not have that many pollies")                                  \
    X(HELD, "held", "a line holds from 0 to 2147483647 pollies")                                \
    X(TWICE, "twice", "each policy can stand in a save once")                                   \
    X(CREATE_COST, "create_cost", "creating a policy costs more than that")                     \
    X(CHANGES, "changes", "one save changes at most 256 lines")                                 \
    X(LINES, "lines", "a voter holds at most 1024 lines")                                       \
    X(NO_POLICY, "no_policy", "there is no such policy")                                        \
    X(MERGED, "merged", "this policy was merged; change your line on the one that it leads to") \
    X(NOT_ACTIVE, "not_active", "only active policies can be voted on")                         \
    X(TOO_OFTEN, "too_often", "at most 500 saves a day")                                        \
    X(CLOSED, "closed", "this account is closed")                                               \
    X(AHEAD, "ahead", "the clocks are too far apart; try again in some minutes")                \
    X(PRICE, "price", "taking back costs more than you agreed to")                              \
    X(SEEN, "seen", "a merge changed what this line holds since it was shown")

typedef enum VoteRule {
#define X(name, word, text) VOTE_RULE_##name,
    VOTE_RULE_LIST(X)
#undef X
} VoteRule;

/* "balance", for scripts; the sentence, for people. */
const char *vote_rule_name(VoteRule rule);
const char *vote_rule_text(VoteRule rule);

/* What a voter asks for: the line that they see on `policy` shall hold `held`. It means what it says only as long as the line is what the
 * voter saw: merges change that without a save. So a request says what was seen, and where that differs it is answered by the rule SEEN. */
typedef struct VoteRequest {
    uint64_t policy;
    int64_t held;
    bool has_seen; /* false: whatever it holds */
    int64_t seen;
} VoteRequest;

/* What a save does: the lines that change, with their new content, ascending by policy. Members of a merge may be
 * among them though no wish names them. */
typedef struct VotePlan {
    VoteLine *lines; /* room for VOTE_PLAN_MAX, given by the caller */
    int64_t time_us; /* the entry's time, given by the caller */
    uint64_t
        creates; /* a policy that comes to be with this save, or 0; given by the caller. It is in no lookup yet, and
                         its first line must hold what creating costs */
    size_t count;
    int64_t balance; /* after it */
    int64_t penalty; /* what this save costs beyond what is held */
    uint32_t setting_version;
    uint64_t refused_policy; /* which wish broke the rule, if it was one of them */
} VotePlan;

/* Wishes, and the members behind each. */
enum { VOTE_PLAN_MAX = VOTE_LINES_MAX + VOTE_CHANGES_MAX };

/* The cost of one line to its voter at a time. */
int64_t vote_line_cost(const VoteGround *ground, const VoteLine *line, int64_t time_us);
/* What the line will cost its voter instead when they own its policy and it is retired at this percent. */
int64_t vote_retire_cost(const VoteLine *line, int64_t percent);
/* Salary due less the cost of all lines. */
int64_t vote_balance(const VoteGround *ground, VoteLines lines, int64_t time_us);
/* What a voter sees as the line on `policy`: its own and, when it is a root, those of all members. */
int64_t vote_held_on(const VoteGround *ground, VoteLines lines, uint64_t policy, int64_t time_us);

/* The time that an entry must have: not before the clock, after the head's, not before any move that the judgement relies on:
 * those of all lines and of all wishes. */
int64_t vote_entry_time(const VoteGround *ground, VoteLines lines, const VoteRequest *vote_requests,
                        size_t vote_request_count, int64_t head_time_us, int64_t clock_us);

/* Judges the wishes and fills the rest of the plan; NONE when they may stand. The same function
 * answers "what would it cost". */
VoteRule vote_judge(const VoteGround *ground, VoteLines lines, const VoteRequest *vote_requests,
                    size_t vote_request_count, VotePlan *plan);
/* The plan of leaving: every line to zero, judged by nothing: what remains is of no use to anybody. */
void vote_plan_leave(VoteLines lines, VotePlan *plan);
