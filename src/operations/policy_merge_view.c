/* policy_merge_view.c -- what a merge would do: votes, voters and ranks of both policies and of what they become. See policy_moves.h. */
#include "operations/policy_moves.h"
#include "operations/schema_macros.h"

/* clang-format off */
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
/* clang-format on */

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
static Status count_ahead(Operations *ops, const RankTry *attempt, Arena *arena,
                          uint64_t *ret_count)
{
    uint64_t low = 0, high = attempt->self.policies;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        RankPage page;
        TRY(ranking_page(ops->app->ranking, &attempt->query, middle, 1, arena, &page));
        if (page.count == 1 && is_ahead(&page.rows[0], attempt->votes, attempt->policy))
            low = middle + 1;
        else
            high = middle;
    }
    *ret_count = low;
    return STATUS_OK;
}

/* The rank that the result would have now; people vote meanwhile, so it is a forecast. */
static Status rank_after(Operations *ops, const RankTry *attempt, Arena *arena, uint64_t *ret_rank)
{
    uint64_t ahead;
    TRY(count_ahead(ops, attempt, arena, &ahead));
    ahead -= is_ahead(&attempt->self.self, attempt->votes, attempt->policy) && ahead > 0;
    ahead -= is_ahead(&attempt->other.self, attempt->votes, attempt->policy) && ahead > 0;
    *ret_rank = ahead + 1;
    return STATUS_OK;
}

/* ---- The view ------------------------------------------------------------------------------------------------------------- */

static Status place_of(Operations *ops, const RankQuery *query, uint64_t policy, RankPlace *place)
{
    *place = (RankPlace){0};
    Status status = ranking_place(ops->app->ranking, query, policy, place);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* One window of both; `days` 0: all votes. */
static Status fill_window(Operations *ops, uint32_t days, Arena *arena, MergeView *view)
{
    RankTry attempt = {.query = {.days = days}, .policy = view->other.policy};
    TRY(place_of(ops, &attempt.query, view->self.policy, &attempt.self));
    TRY(place_of(ops, &attempt.query, view->other.policy, &attempt.other));
    attempt.votes = attempt.self.self.votes + attempt.other.self.votes;
    uint64_t rank = 0;
    if (attempt.self.self.rank > 0 && attempt.other.self.rank > 0)
        TRY(rank_after(ops, &attempt, arena, &rank));
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
static Status fill_voters(Operations *ops, Arena *arena, MergeView *view)
{
    uint64_t *members[2];
    size_t counts[2];
    VoterCounts voters;
    TRY(policies_members(ops->app->policies, view->self.policy, arena, &members[0], &counts[0]));
    TRY(policies_members(ops->app->policies, view->other.policy, arena, &members[1], &counts[1]));
    Status status = votes_voters(ops->app->votes, &(VotersOf){members[0], counts[0]},
                                 &(VotersOf){members[1], counts[1]}, MERGE_VOTERS_MAX, &voters);
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

static Status side_of(Operations *ops, const Actor *actor, uint64_t policy, Arena *arena,
                      MergeSide *side, Reason *reason)
{
    PolicyHead head;
    TRY(policy_head(ops, policy, actor, arena, &head));
    TRY(policy_check_act(&head, AUDIT_POLICY_MERGE, reason));
    *side = (MergeSide){.policy = policy, .name = head.policy.text.name, .address = head.address};
    return STATUS_OK;
}

Status merge_view(Operations *ops, const Actor *actor, uint64_t policy, uint64_t other,
                  Arena *arena, MergeView *ret_view, Reason *reason)
{
    VotingSettings settings;
    MergeView view = {.result = {.name = SLICE_EMPTY, .address = SLICE_EMPTY}};
    if (policy == other)
        return reason_set(reason, STATUS_INVALID, "other", "must be another policy");
    TRY(operations_settings(ops, arena, &settings));
    view.window_days = (uint32_t)settings.window_days;
    view.percent = settings.withdrawal_percent;
    TRY(side_of(ops, actor, policy, arena, &view.self, reason));
    TRY(side_of(ops, actor, other, arena, &view.other, reason));
    TRY(fill_window(ops, 0, arena, &view));
    TRY(fill_window(ops, view.window_days, arena, &view));
    TRY(fill_voters(ops, arena, &view));
    *ret_view = view;
    return STATUS_OK;
}

/* ---- The operation ------------------------------------------------------------------------------------------------------- */

typedef struct MergeQuery {
    uint64_t policy, other;
} MergeQuery;

static Status policy_merge_preview(Operations *ops, const Actor *actor, const MergeQuery *query,
                                   Arena *arena, MergeView *ret_view, Reason *reason)
{
    return merge_view(ops, actor, query->policy, query->other, arena, ret_view, reason);
}

/* clang-format off */
OPERATION(policy_merge_preview, MergeQuery, MergeView,
    .help = "Show what merging two policies would do: votes, voters and ranks, before and after.",
    MODERATORS_ONLY, .asks = true, .answers = &SCHEMA_MERGE,
    .api = {WEB_GET, "moderation/policies/{policy}/merge", .tag = "moderation"}, .no_page = "the form for merging shows it",
    .command = {.words = "policy merge-preview"},
    .inputs = {INPUT("policy", MergeQuery, policy, POLICY, .operand = true, .help = "The policy."),
               INPUT("other", MergeQuery, other, POLICY, .operand = true, .help = "With which.")});
/* clang-format on */
