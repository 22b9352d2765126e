/* my_views.h -- what somebody sees of their own: votes, their history, profile, notices, watch list.
 *
 * Each is filled by one function, shown by a page, and written as JSON by the API.
 *   1. What a voter holds is only ever in a view that was filled for that voter.
 *   2. Lines are those that the voter sees: a policy together with all that were merged into it.
 *   3. A policy that waits for its deletion, or is deleted, has no name here ("Policy 12"), but for its owner as long as there is a text. */
#pragma once

#include "site/inside.h"
#include "site/parts.h"
#include "votes/notices.h"

/* How a policy is called, to this voter. */
typedef struct MyPolicy {
    uint64_t id;
    Slice name, address;
    PolicyState state; /* its own, also when it leads elsewhere */
} MyPolicy;
MUST_USE Status my_policy(Site *site, uint64_t policy, uint64_t voter, Arena *arena,
                          MyPolicy *ret_policy);

/* ---- Votes (my_views.c) ------------------------------------------------------------------------------------------------ */

typedef struct MyLine {
    MyPolicy policy;
    PolicyState state; /* of what it counts for; only ACTIVE can be changed */
    int64_t held;
    int64_t free;            /* the part that came by merges: taken away first, and for nothing */
    int64_t withdrawn_centi; /* of the rest, so far (vote_rules.h) */
    bool has_place;
    RankPlace place;  /* in the window of the front page */
    Slice above_name; /* of the policy to beat; empty: none */

    int64_t wanted;    /* what a form says; `held` until something was typed */
    const char *fault; /* the rule that it breaks, or NULL */
} MyLine;

typedef enum MyOrder { MY_BY_HELD, MY_BY_RANK, MY_ORDERS } MyOrder;

typedef struct MyVotes {
    int64_t now_us;
    Slice seen;              /* the version that this is */
    int64_t balance;         /* unspent */
    int64_t held;            /* on lines that can be changed */
    VotingSettings settings; /* in force */
    MyLine *lines; /* first those that can be changed, in the order asked for; then the others */
    size_t count, open_count;
} MyVotes;

/* `state` is the voter's own, as votes_show or a save gave it. */
typedef struct MyVotesAsk {
    uint64_t voter;
    const VoterState *state;
    MyOrder order;
} MyVotesAsk;
MUST_USE Status my_votes(Site *site, const MyVotesAsk *ask, Arena *arena, MyVotes *ret_votes);
/* One line, also one that holds nothing. NOT_FOUND: there is no such policy. */
MUST_USE Status my_line(Site *site, const MyVotesAsk *ask, uint64_t policy, Arena *arena,
                        MyVotes *ret_votes);
/* Why a line in this state cannot be changed, as a sentence; NULL for ACTIVE. */
const char *my_state_reason(PolicyState state);

/* ---- Two tabs (my_conflict.c) -------------------------------------------------------------------------------------------- */

typedef struct MyDifference {
    MyPolicy policy;
    bool is_open; /* can be changed */
    int64_t saw;  /* 0 when that is not known */
    int64_t now;
    bool is_changed; /* by the form that came too late: */
    int64_t wanted;
} MyDifference;

typedef struct MyConflict {
    Slice seen;   /* what stands now */
    bool has_saw; /* what the form was based on is known */
    int64_t balance;
    VotingSettings settings;
    MyDifference *lines; /* those that differ, ascending by policy */
    size_t count, changed_count;
} MyConflict;

typedef struct MyConflictAsk {
    uint64_t voter;
    const VoterState *state; /* what stands now */
    Id seen;                 /* what the form was based on */
    const VoteWish *wishes;
    size_t wish_count;
} MyConflictAsk;
MUST_USE Status my_conflict(Site *site, const MyConflictAsk *ask, Arena *arena,
                            MyConflict *ret_conflict);

/* ---- History (my_history.c) ------------------------------------------------------------------------------------------------ */

typedef struct MyChange {
    MyPolicy policy;
    int64_t before, held;
} MyChange;

/* A save, or a salary. */
typedef struct MyEvent {
    int64_t time_us;
    bool is_salary;
    int64_t pollies; /* of the salary */
    uint64_t seq;    /* of the save, as the next */
    Id version;
    bool closing;
    uint64_t created; /* policy, or 0 */
    MyChange *changes;
    size_t change_count;
} MyEvent;

enum { MY_HISTORY_PAGE = 20, MY_SALARIES_MOST = 400 };

typedef struct MyHistory {
    int64_t now_us;
    MyEvent *events; /* the newest first; a salary belongs to the page in whose time it falls */
    size_t count;
    uint64_t before; /* ask for the next page with this; 0: there is none */
} MyHistory;

/* Saves with seq < `before` (0: from the newest). */
MUST_USE Status my_history(Site *site, const Account *account, uint64_t before, Arena *arena,
                           MyHistory *ret_history);

/* ---- Profile (profile.c) ---------------------------------------------------------------------------------------------------- */

enum { PROFILE_POLICIES = 20, PROFILE_POLICIES_MOST = 1000, PROFILE_SALARIES = 10 };

typedef struct MyProfile {
    int64_t now_us;
    const Account *account;
    int64_t balance;
    size_t voted_for;
    size_t created;     /* at most PROFILE_POLICIES_MOST are counted */
    MyPolicy *policies; /* the newest of them */
    size_t policy_count;
    SalaryEntry salaries[PROFILE_SALARIES]; /* the newest first */
    size_t salary_count;
    int64_t next_salary_us, next_salary;
} MyProfile;

MUST_USE Status my_profile(Site *site, const Account *account, const VoterState *state,
                           Arena *arena, MyProfile *ret_profile);

/* ---- Watch list (watching.c) ------------------------------------------------------------------------------------------------- */

typedef struct MyWatched {
    MyPolicy policy;
    bool has_place;
    RankPlace place; /* in the window of the front page */
} MyWatched;

typedef struct MyWatching {
    MyWatched *policies; /* the last added first */
    size_t count;
    uint32_t window_days;
} MyWatching;

MUST_USE Status my_watching(Site *site, uint64_t account, Arena *arena, MyWatching *ret_watching);

/* ---- Notices (notices.c) ------------------------------------------------------------------------------------------------------- */

typedef struct MyNotice {
    Slice key; /* names it for dismissing */
    NoticeKind kind;
    MyPolicy policy;
    bool has_other;
    MyPolicy other; /* where its votes went, or in favour of which it was retired */
    int64_t time_us;
    Slice reason;    /* empty: none */
    bool may_appeal; /* it is the viewer's own policy, and is hidden still */
} MyNotice;

typedef struct MyNotices {
    int64_t now_us;
    MyNotice *notices; /* the newest first */
    size_t count;
    int64_t until_us; /* dismissing all of them goes up to here */
} MyNotices;

MUST_USE Status my_notices(Site *site, uint64_t account, Arena *arena, MyNotices *ret_notices);
