/* merge_view.c -- what a merge would do: votes, voters and ranks of both policies and of what they become. See acts.h. */
#include "site/acts.h"

const char *const MERGE_INTO_WORDS[] = {
#define X(name, word) word,
    MERGE_INTO_LIST(X)
#undef X
        NULL};

/* ---- Ranks -------------------------------------------------------------------------------------------------------------- */

/* Whether a row stands before a policy with these votes: more votes first, the lower id on a tie. */
static bool is_ahead(const RankRow *row, int64_t votes, uint64_t policy)
{
    return row->votes > votes || (row->votes == votes && row->policy < policy);
}

typedef struct RankTry {
    RankQuery query;
    RankPlace self, other; /* of the two, which will stand there no more */
    int64_t votes;
    uint64_t policy; /* what they become, for ties */
} RankTry;

/* How many of the ranking stand before it: by halves, since it is sorted. */
static Status count_ahead(Site *site, const RankTry *attempt, Arena *arena, uint64_t *ret_count)
{
    uint64_t low = 0, high = attempt->self.policies;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        RankPage page;
        TRY(ranking_page(site->app->ranking, &attempt->query, middle, 1, arena, &page));
        if (page.count == 1 && is_ahead(&page.rows[0], attempt->votes, attempt->policy))
            low = middle + 1;
        else
            high = middle;
    }
    *ret_count = low;
    return STATUS_OK;
}

/* The rank that the result would have now; people vote meanwhile, so it is a forecast. */
static Status rank_after(Site *site, const RankTry *attempt, Arena *arena, uint64_t *ret_rank)
{
    uint64_t ahead;
    TRY(count_ahead(site, attempt, arena, &ahead));
    ahead -= is_ahead(&attempt->self.self, attempt->votes, attempt->policy) && ahead > 0;
    ahead -= is_ahead(&attempt->other.self, attempt->votes, attempt->policy) && ahead > 0;
    *ret_rank = ahead + 1;
    return STATUS_OK;
}

/* ---- The view ------------------------------------------------------------------------------------------------------------- */

static Status place_of(Site *site, const RankQuery *query, uint64_t policy, RankPlace *place)
{
    *place = (RankPlace){0};
    Status status = ranking_place(site->app->ranking, query, policy, place);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* One window of both; `days` 0: all votes. */
static Status fill_window(Site *site, uint32_t days, Arena *arena, MergeView *view)
{
    RankTry attempt = {.query = {.days = days}, .policy = view->other.policy};
    TRY(place_of(site, &attempt.query, view->self.policy, &attempt.self));
    TRY(place_of(site, &attempt.query, view->other.policy, &attempt.other));
    attempt.votes = attempt.self.self.votes + attempt.other.self.votes;
    uint64_t rank = 0;
    if (attempt.self.self.rank > 0 && attempt.other.self.rank > 0)
        TRY(rank_after(site, &attempt, arena, &rank));
    MergeSide *const sides[] = {&view->self, &view->other, &view->result};
    const int64_t votes[] = {attempt.self.self.votes, attempt.other.self.votes, attempt.votes};
    const uint64_t ranks[] = {attempt.self.self.rank, attempt.other.self.rank, rank};
    for (size_t i = 0; i < 3; i++) {
        *(days == 0 ? &sides[i]->total : &sides[i]->recent) = votes[i];
        *(days == 0 ? &sides[i]->rank : &sides[i]->recent_rank) = ranks[i];
    }
    view->as_of_us = attempt.self.as_of_us;
    return STATUS_OK;
}

/* More of them than can be counted in a moment: then the page says so. */
static Status fill_voters(Site *site, Arena *arena, MergeView *view)
{
    uint64_t *members[2];
    size_t counts[2];
    VoterCounts voters;
    TRY(policies_members(site->app->policies, view->self.policy, arena, &members[0], &counts[0]));
    TRY(policies_members(site->app->policies, view->other.policy, arena, &members[1], &counts[1]));
    Status status = votes_voters(site->app->votes, &(VotersOf){members[0], counts[0]},
                                 &(VotersOf){members[1], counts[1]}, ACT_VOTERS_MOST, &voters);
    if (status == STATUS_TOO_LARGE)
        return STATUS_OK;
    TRY(status);
    view->has_voters = true;
    view->self.voters = voters.first;
    view->other.voters = voters.second;
    view->both = voters.both;
    view->result.voters = voters.first + voters.second - voters.both;
    return STATUS_OK;
}

static Status side_of(Site *site, uint64_t policy, const Account *viewer, Arena *arena,
                      MergeSide *side, Reason *reason)
{
    PolicyHead head;
    TRY(policy_head(site, policy, viewer, arena, &head));
    if (head.state != POLICY_ACTIVE)
        return reason_set(reason, STATUS_REFUSED, "other", "a policy that is %s cannot be merged",
                          policy_state_text(head.state));
    *side = (MergeSide){.policy = policy, .name = head.policy.text.name, .address = head.address};
    return STATUS_OK;
}

Status merge_view(Site *site, uint64_t policy, uint64_t other, const Account *viewer, Arena *arena,
                  MergeView *ret_view, Reason *reason)
{
    VotingSettings settings;
    MergeView view = {.name = SLICE_EMPTY, .reason = SLICE_EMPTY, .token = SLICE_EMPTY};
    TRY(policy_head(site, policy, viewer, arena, &view.head));
    view.choice.except = policy;
    view.choice.typed = SLICE_EMPTY;
    view.result.name = view.result.address = SLICE_EMPTY;
    TRY(site_settings(site, arena, &settings));
    view.window_days = (uint32_t)settings.window_days;
    view.percent = settings.withdrawal_percent;
    if (other != 0) {
        TRY(side_of(site, policy, viewer, arena, &view.self, reason));
        TRY(side_of(site, other, viewer, arena, &view.other, reason));
        TRY(fill_window(site, 0, arena, &view));
        TRY(fill_window(site, view.window_days, arena, &view));
        TRY(fill_voters(site, arena, &view));
        view.has_other = true;
    }
    *ret_view = view;
    return STATUS_OK;
}
