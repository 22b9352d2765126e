/* ranking.h -- who leads: by all votes and by the votes of the last N days, exact, from memory.
 *
 * Every listed policy (policy_state_listed) is a root with the sum of its own count and its members'. They stand in trees that know how
 * many are in each branch, so a rank, a policy's neighbours or any page of a million are found in steps of the tree's height; nothing is
 * sorted when somebody asks. Trees are kept for all time and for the default window, for all policies and for each category and
 * party; other windows are built when first asked for and dropped when nobody has asked for an hour.
 *   1. Order: more votes first, the lower id on a tie. A window includes today; its votes may be negative.
 *   2. Own saves are in before they are answered (ranking_listener hears of them). Saves of others come
 *      with ranking_follow and ranking_refresh, which read the marks in `changed`.
 *   3. Every answer says as of when: the time up to which everything that was saved here is in it.
 *   4. When a day ends (UTC), windows move on at the first question or save after it.
 *   5. A failed read leaves the ranking as it was, and older by its `as_of_us`.
 * Calls may come from any thread; a reader waits for a writer for as long as one change takes. Longer are only the first question
 * for another window and the first call of a day: with a million policies up to a second, in which others wait. */
#pragma once

#include "policies/policies.h"
#include "votes/votes.h"

typedef struct Ranking Ranking;

typedef struct RankingOptions {
    Store *store;
    World world;
    Policies *policies;
    uint32_t window_days; /* the default window */
    bool
        shared; /* others save into the same store: then answers are as of the last refresh or look at others */
} RankingOptions;

Ranking *ranking_new(const RankingOptions *options);
void ranking_free(Ranking *ranking);

/* Reads all policies and their counts; again at any time, also while saves go on. The old ranking answers until the new one is
 * whole. A policy whose row is damaged is in no ranking. CONFLICT: another load is under way. `votes` is given here, because its listener needs the ranking first. What is not
 * projected yet and was not saved by this instance is not in the counts: at start, project what was left behind, then load. */
MUST_USE Status ranking_load(Ranking *ranking, Votes *votes);
/* For VotesOptions.listener. */
VoteListener ranking_listener(Ranking *ranking);
/* After a move, an edit or a merge: reads this policy (and what it was merged into, if that is not known) again. */
MUST_USE Status ranking_policy_changed(Ranking *ranking, uint64_t policy);
/* Reads again what `changed` names since the last refresh that went well, the last ten minutes each time; and everything, as
 * ranking_load, when that is so long ago that marks may have gone, or when the counts come from another generation than before. For
 * clusters and after `votes_project` of others. */
MUST_USE Status ranking_refresh(Ranking *ranking);
/* Which generation of counts (votes_generation) the last load was from. */
uint32_t ranking_generation(Ranking *ranking);

/* For clusters, about once a second and by one thread: reads the counts again that others changed in the last seconds. Much less than a
 * refresh, and not as much: clocks may be 5 seconds off, and what comes later than 3 seconds after its mark waits for the next refresh.
 * The caller has handed over the policies that others moved or edited (ranking_policy_changed; app/instance_sync.h), as of `began_us`:
 * so are answers from then on. *ret_changed is set whatever is returned: something may be different from before. */
MUST_USE Status ranking_follow(Ranking *ranking, int64_t began_us, bool *ret_changed);

typedef struct RankQuery {
    uint32_t days;            /* 0: all votes; else 1 … 31 */
    uint64_t category, party; /* 0: all; at most one of the two */
} RankQuery;

typedef struct RankRow {
    uint64_t rank; /* 1 … */
    uint64_t policy;
    int64_t votes; /* in the window asked for */
    int64_t total; /* ever */
} RankRow;

typedef struct RankPage {
    RankRow *rows;
    size_t count;
    uint64_t policies; /* in this ranking */
    int64_t as_of_us;
} RankPage;

enum { RANK_PAGE_MAX = 1000 };

MUST_USE Status ranking_page(Ranking *ranking, const RankQuery *query, uint64_t offset,
                             uint32_t limit, Arena *arena, RankPage *ret_page);

typedef struct RankPlace {
    RankRow self;
    bool has_above, has_below;
    RankRow above, below;
    int64_t
        to_beat; /* votes that would put it before the one above: the gap + 1, or the gap where the lower id decides; 0 when first */
    uint64_t policies;
    int64_t as_of_us;
} RankPlace;

/* NOT_FOUND for a policy that is not in this ranking. */
MUST_USE Status ranking_place(Ranking *ranking, const RankQuery *query, uint64_t policy,
                              RankPlace *ret_place);

/* The ranks of several at once; 0 for a policy that is not in this ranking. */
MUST_USE Status ranking_ranks(Ranking *ranking, const RankQuery *query, const uint64_t *policies,
                              size_t count, uint64_t *ret_ranks);

/* The change of a policy's votes on each of the last `count` days (1 … 31), members included, the oldest first and today last. NOT_FOUND
 * for a policy that is not known. */
MUST_USE Status ranking_days(Ranking *ranking, uint64_t policy, int64_t *ret_days, uint32_t count);

/* ---- The past ------------------------------------------------------------------------------------------------ */

/* A ranking as it was at the end of an hour that is over (hours since 1970): a daily checkpoint and the hours after it, from the
 * ledger. Late entries change it, by their own time. States and merges are those of that moment, categories and parties those of
 * today. INVALID for an hour that is not over. It reads and sorts all policies: for a million count on a second. */
MUST_USE Status ranking_page_at(Ranking *ranking, const RankQuery *query, uint32_t hour,
                                uint64_t offset, uint32_t limit, Arena *arena, RankPage *ret_page);

typedef struct RankMoment {
    uint32_t hour;
    uint64_t rank; /* 0: not in the ranking */
    int64_t votes, total;
} RankMoment;

enum { RANK_MOMENTS_MAX = 800 };

/* One policy's rank at the ends of the given hours, ascending, at most RANK_MOMENTS_MAX. */
MUST_USE Status ranking_history(Ranking *ranking, const RankQuery *query, uint64_t policy,
                                const uint32_t *hours, size_t count, RankMoment *ret_moments);
/* Writes or rewrites the daily checkpoint of a day that has ended, when it is missing or marked as late. Checkpoints make
 * questions about the past fast; the answers are the same without them. */
MUST_USE Status ranking_checkpoint(Ranking *ranking, uint32_t day);
/* The same for all days since the first policy, oldest first, at most `most` of them; says how many were written. */
MUST_USE Status ranking_checkpoint_due(Ranking *ranking, uint32_t most, uint32_t *ret_written);
