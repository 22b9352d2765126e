/* policy_history.c -- the past of a policy: votes by day or hour, and its rank at their ends. Nothing is changed. */
#include "operations/policy_history.h"

#include "operations/rankings.h"
#include "operations/schema_macros.h"

/* clang-format off */
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
    FIELD("policy", PolicyPast, head.policy.id, .help = "The policy."),
    FIELD("by_hour", PolicyPast, want.by_hour, .help = "Whether points are hours; else days."),
    FIELD("window", PolicyPast, want.query.days, .help = "Days of the ranking that ranks are of; 0 is all time."),
    LIST("points", PolicyPast, points, count, POINT, .help = "The oldest first."),
};
SCHEMA(HISTORY, "History", PolicyPast, HISTORY, .help = "Votes and ranks of a policy in the past.");
/* clang-format on */

enum { USUAL_DAYS = 90, USUAL_HOURS = 48 };

static void complete_wish(HistoryQuery *want, int64_t now_us)
{
    uint32_t over = (uint32_t)(now_us / HOUR_US) - 1;
    size_t most = want->by_hour ? HISTORY_HOURS_MAX : HISTORY_DAYS_MAX;
    if (want->count == 0)
        want->count = want->by_hour ? USUAL_HOURS : USUAL_DAYS;
    if (want->count > most)
        want->count = most;
    if (want->last == 0 || want->last > over)
        want->last = over;
}

/* Not before the policy was there. By hour there is one more before the first: an hour's votes are those of the day up to it less
 * those up to the one before. */
static size_t hours_of(const HistoryQuery *want, int64_t created_us, uint32_t *hours)
{
    uint32_t created = created_us < 0 ? 0 : (uint32_t)(created_us / HOUR_US);
    size_t count, skip = 0;
    if (want->by_hour) {
        count = want->count + 1;
        for (size_t i = 0; i < count; i++)
            hours[i] = want->last - (uint32_t)(count - 1 - i);
    } else {
        count = rank_curve_days(want->last, want->count, hours);
    }
    while (skip < count && hours[skip] < created)
        skip++;
    skip -= want->by_hour && skip > 0 && skip < count ? 1 : 0;
    memmove(hours, hours + skip, (count - skip) * sizeof *hours);
    return count - skip;
}

/* Ranks in the window, and votes of the day so far, at the ends of the same hours. */
typedef struct Pasts {
    uint32_t hours[RANK_MOMENTS_MAX];
    RankMoment ranks[RANK_MOMENTS_MAX], days[RANK_MOMENTS_MAX];
    size_t count;
} Pasts;

static Status read_pasts(Operations *ops, const HistoryQuery *want, Pasts *pasts)
{
    RankHistoryQuery question = {want->query, want->policy, pasts->hours, pasts->count};
    if (pasts->count == 0)
        return STATUS_OK;
    TRY(rank_cache_history(ops->rank_cache, &question, pasts->ranks));
    question.query.days = 1;
    return rank_cache_history(ops->rank_cache, &question, pasts->days);
}

static HistoryPoint point_of(const Pasts *pasts, size_t i, bool by_hour)
{
    const RankMoment *rank = &pasts->ranks[i], *day = &pasts->days[i];
    int64_t hour = pasts->hours[i];
    HistoryPoint point = {.time_us = (by_hour ? hour : hour / DAY_HOURS * DAY_HOURS) * HOUR_US,
                          .end_us = (hour + 1) * HOUR_US,
                          .is_there = rank->rank > 0,
                          .votes = day->votes,
                          .rank = rank->rank,
                          .window_votes = rank->votes,
                          .total = rank->total};
    if (by_hour && i > 0 && hour % DAY_HOURS != 0)
        point.votes -= pasts->days[i - 1].votes;
    return point;
}

static Status fill_points(Operations *ops, Arena *arena, PolicyPast *past)
{
    Pasts *pasts = ARENA_NEW(arena, Pasts);
    const HistoryQuery *want = &past->want;
    pasts->count = hours_of(want, past->head.policy.created_us, pasts->hours);
    TRY(read_pasts(ops, want, pasts));
    past->points = ARENA_ARRAY(arena, pasts->count, HistoryPoint);
    size_t first = want->by_hour && pasts->count > 0 ? 1 : 0;
    while (first < pasts->count && pasts->ranks[first].rank == 0)
        first++;
    for (size_t i = first; i < pasts->count; i++)
        past->points[past->count++] = point_of(pasts, i, want->by_hour);
    return STATUS_OK;
}

Status policy_past(Operations *ops, const PolicyHistory *request, const Actor *viewer, Arena *arena,
                   PolicyPast *ret_past, Reason *reason)
{
    VotingSettings settings;
    Ranking *ranking;
    PolicyPast past = {.want = {.policy = request->policy,
                                .query = request->query,
                                .by_hour = request->by == 1,
                                .count = request->count}};
    TRY(operations_settings(ops, arena, &settings));
    TRY(app_ranking(ops->app, &ranking));
    if (!request->has_window)
        past.want.query.days = (uint32_t)settings.window_days;
    if (request->until.size > 0)
        TRY(history_hour("until", request->until, &past.want.last, reason));
    past.is_until = past.want.last != 0;
    TRY(policy_head(ops, request->policy, viewer, arena, &past.head));
    if (past.head.is_hidden)
        return STATUS_NOT_FOUND;
    complete_wish(&past.want, past.head.now_us);
    TRY(fill_points(ops, arena, &past));
    *ret_past = past;
    return STATUS_OK;
}

static Status policy_history(Operations *ops, const Actor *actor, const PolicyHistory *request,
                             Arena *arena, PolicyPast *ret_past, Reason *reason)
{
    return policy_past(ops, request, actor, arena, ret_past, reason);
}

const char *const HISTORY_BY[] = {"day", "hour", NULL};

/* clang-format off */
OPERATION(policy_history, PolicyHistory, PolicyPast, .help = "Show a policy's votes and ranks by day or hour.",
    .asks = true, .answers = &SCHEMA_HISTORY, .api = {WEB_GET, "policies/{policy}/history", .tag = "policies", .cache_ms = 60000},
    .threads = WEB_COMPUTE, .no_page = "/policies/{policy}/history shows it", .command = {.words = "rank history"},
    .inputs = {
        INPUT("policy", PolicyHistory, policy, POLICY, .operand = true, .help = "The policy."),
        INPUT("by", PolicyHistory, by, WORD, .words = HISTORY_BY, .fallback = "day", .help = "One point a day or hour."),
        INPUT("count", PolicyHistory, count, SMALL, .most = HISTORY_HOURS_MAX, .fallback = "0", .help = "How many points; at most 366 days or 744 hours. 0: as many as are usual."),
        INPUT("window", PolicyHistory, query.days, SMALL, .optional = true, .most = 31, GIVEN(PolicyHistory, has_window), .flag = "days", .help = "Days of the ranking that ranks are of; 0: all votes. Without it, the site's own."),
        INPUT("category", PolicyHistory, query.category, CATEGORY, .optional = true, .help = "Ranks among this category only."),
        INPUT("party", PolicyHistory, query.party, PARTY, .optional = true, .help = "Ranks among this party only."),
        INPUT("until", PolicyHistory, until, LINE, .optional = true, .most = HISTORY_UNTIL_MAX, .value = "TIME", .help = "The last moment (UTC), as in 2026-01-31 or 2026-01-31T12:00."),
    });
/* clang-format on */
