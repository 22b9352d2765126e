/* votes.h -- what a voter holds, as every door shows it, and how it is saved.
 *
 *   1. What a voter holds is only ever in a view that was filled for that voter.
 *   2. Lines are those that the voter sees: a policy together with all that were merged into it.
 *   3. A save goes one way, whichever door it came by: vote_save_many, for one or for several people, whose saves are sent by one call
 *      of the store. It decides what of a request is a change, and what becomes of it; a door shows that.
 *   4. The outcome is known after it, and nothing that fails while it is shown makes another of it. */
#pragma once

#include "operations/my_policy.h"

/* ---- What is held (votes.c) ------------------------------------------------------------------------------------------- */

typedef struct MyLine {
    MyPolicy policy;
    PolicyState state; /* of what it counts for; only ACTIVE can be changed */
    int64_t held;
    int64_t free;            /* the part that came by merges: taken away first, and for nothing */
    int64_t withdrawn_centi; /* of the rest, so far (vote_rules.h) */
    bool has_place;
    RankPlace place;  /* in the window of the front page */
    Slice above_name; /* of the policy to beat; empty: none */

    Slice typed,
        was; /* what its field shows, and what the field began with; `held`, as text, until something was typed */
    const char *fault; /* the rule that it breaks, or NULL */
} MyLine;

typedef enum MyOrder { MY_BY_HELD, MY_BY_RANK, MY_ORDERS } MyOrder;

typedef struct MyVotes {
    Id version;
    uint64_t seq;
    int64_t balance;      /* unspent */
    MergedLine *holdings; /* all lines, ascending by policy */
    size_t holding_count;
    int64_t held;            /* on lines that can be changed */
    VotingSettings settings; /* in force */
    MyLine *lines; /* first those that can be changed, in the order asked for; then the others */
    size_t count, open_count;
} MyVotes;

/* `state` is the voter's own, as votes_show or a save gave it. */
typedef struct MyVotesQuery {
    uint64_t voter;
    const VoterState *state;
    MyOrder order;
} MyVotesQuery;
MUST_USE Status my_votes(Operations *ops, const MyVotesQuery *ask, Arena *arena,
                         MyVotes *ret_votes);
/* One line, also one that holds nothing. NOT_FOUND: there is no such policy. */
MUST_USE Status my_line(Operations *ops, const MyVotesQuery *ask, uint64_t policy, Arena *arena,
                        MyVotes *ret_votes);

typedef struct VoteCosts {
    CostAnswer answer;
    bool is_possible;
    const char *rule, *reason; /* when it is not */
} VoteCosts;

/* ---- Saving (vote_save.c) ---------------------------------------------------------------------------------------------- */

/* Numbers out of bounds are refused by a rule of the vote, as all that a voter may not do. */
#define VOTE_LINES(type)                                                                         \
    INPUT("lines", type, lines, NUMBERS, .operand = true, .least = INT64_MIN, .most = INT64_MAX, \
          .most_count = VOTE_LINES_MAX, .form_optional = true, .value = "ID=HELD…",              \
          .help = "What each line shall hold. Lines that are not named stay as they are.")

/* About all lines, or about one. */
typedef struct VoteSave {
    InputNumbers lines;
    InputNumbers was; /* what they held as they were seen: stale where a merge made that differ */
    WebNumber one, one_was; /* in place of these: one line */
    bool is_one, has_one_was;
    bool has_seen;
    Id seen; /* the version that this is a change of; left out by a command: whatever is stored */
    Id token;
    bool has_price;
    int64_t price; /* refused when taking back costs more */
} VoteSave;

typedef struct VoteSaved {
    SaveResult result;
    const char *outcome;
    bool is_saved;
    bool has_price;
    const char *rule;  /* that refused it, or NULL */
    Slice reason;      /* the same as a sentence */
    bool has_holdings; /* what is held now could be read */
    MergedLine *holdings;
    size_t holding_count;
    bool is_unchanged;    /* saved: there was nothing to change */
    VoteSave asked;       /* as `lines` and `was`, also where it was about one */
    VoteRequest *changes; /* what of it is a change */
    size_t change_count;
} VoteSaved;

/* The lines that shall hold something else than what they held as they were seen; those of which that is not said are changed whatever
 * they hold. */
VoteRequest *vote_requests_of(const InputNumbers *lines, const InputNumbers *was, Arena *arena,
                              size_t *ret_count);
/* Sets what every door tells of a result, without holdings. The reason is set unless it was saved. */
void vote_saved_set(VoteSaved *saved, const SaveResult *result, Arena *arena, Reason *reason);
/* What is held now, beside the outcome: when it cannot be read, has_holdings is false. */
void vote_saved_add_holdings(Operations *ops, Arena *arena, VoteSaved *saved);
/* OK, CONFLICT, REFUSED or UNKNOWN. */
MUST_USE Status vote_save_status(const VoteSaved *saved);

/* ---- Two tabs (vote_conflict.c) ------------------------------------------------------------------------------------------ */

typedef struct MyDifference {
    MyPolicy policy;
    bool is_open; /* can be changed */
    int64_t saw;  /* 0 when that is not known */
    int64_t now;
    bool is_changed; /* by the form that came too late: */
    int64_t wanted;
} MyDifference;

typedef struct MyConflict {
    Id version;     /* what is stored now */
    bool has_saw;   /* what the form was based on is known */
    bool is_merged; /* nobody saved in between: a merge changed what the lines hold */
    int64_t balance;
    VotingSettings settings;
    MyDifference *lines; /* those that differ, ascending by policy */
    size_t count, changed_count;
} MyConflict;

/* `saved` is stale. */
MUST_USE Status my_conflict(Operations *ops, uint64_t voter, const VoteSaved *saved, Arena *arena,
                            MyConflict *ret_conflict);
