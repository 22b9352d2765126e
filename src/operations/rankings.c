/* rankings.c -- rankings, now and at any hour of the past, and the place of a policy in them. Nothing is changed. */
#include "operations/rankings.h"

#include <stdatomic.h>
#include <time.h>

#include "operations/policy_head.h"
#include "operations/schema_macros.h"
#include "web/put.h"

/* clang-format off */
static const ApiMember RANKING[] = {
    FIELD("days", RankingList, query.days, .help = "The window; 0 is all time."),
    FIELD("category", RankingList, query.category, OR_NULL, .help = "Only of this category."),
    FIELD("party", RankingList, query.party, OR_NULL, .help = "Only of this party."),
    FIELD("count", RankingList, page.policies, .help = "Policies in the whole ranking."),
    TIME("as_of", RankingList, page.as_of_us, .help = "Everything that was saved up to here is in it."),
    LIST("policies", RankingList, page.summaries, page.count, CARD, .help = "By rank."),
    NEXT(RankingList),
};
SCHEMA(RANKING, "Ranking", RankingList, RANKING, .help = "A page of a ranking.");

static const ApiMember PLACE[] = {
    FIELD("days", RankingPlace, days, .help = "The window; 0 is all time."),
    FIELD("rank", RankingPlace, place.self.rank, .help = "Its rank."),
    FIELD("votes", RankingPlace, place.self.votes, .help = "Votes in the window."),
    FIELD("count", RankingPlace, place.policies, .help = "Policies in the whole ranking."),
    FIELD("to_beat", RankingPlace, place.to_beat, .help = "Votes that would put it before the one above; 0 when it is first."),
    FIELD("above", RankingPlace, place.above.policy, WHEN(RankingPlace, place.has_above), .help = "The policy one rank above."),
    FIELD("below", RankingPlace, place.below.policy, WHEN(RankingPlace, place.has_below), .help = "The policy one rank below."),
    TIME("as_of", RankingPlace, place.as_of_us, .help = "Everything that was saved up to here is in it."),
};
SCHEMA(PLACE, "Place", RankingPlace, PLACE, .help = "A policy's place in a ranking.");

static const ApiMember STANDING[] = {
    FIELD("policy", RankingStanding, policy, .help = "The policy."),
    FIELD("total", RankingStanding, total, .help = "All votes."),
    OBJECT("recent", RankingStanding, recent, PLACE, WHEN(RankingStanding, recent.is_there), .help = "In the window asked for."),
    OBJECT("ever", RankingStanding, ever, PLACE, WHEN(RankingStanding, ever.is_there), .help = "By all votes."),
};
SCHEMA(STANDING, "Standing", RankingStanding, STANDING, .help = "Where a policy stands; null: in no ranking.");
/* clang-format on */

/* ---- A moment that somebody typed ------------------------------------------------------------------------------------- */

static bool digits(Slice text, size_t at, size_t count, int *ret_number)
{
    int number = 0;
    if (at + count > text.size)
        return false;
    for (size_t i = at; i < at + count; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        number = number * 10 + (text.data[i] - '0');
    }
    *ret_number = number;
    return true;
}

static bool has(Slice text, size_t at, char byte)
{
    return at < text.size && text.data[at] == byte;
}

/* The hour may be left out, then the day's end is meant; minutes and seconds are read over. */
static bool parse_moment(Slice text, struct tm *ret_time)
{
    struct tm utc = {.tm_hour = 24};
    int year, month, minute;
    if (!digits(text, 0, 4, &year) || !has(text, 4, '-') || !digits(text, 5, 2, &month) ||
        !has(text, 7, '-') || !digits(text, 8, 2, &utc.tm_mday))
        return false;
    bool hours = has(text, 10, 'T') || has(text, 10, ' ');
    if (text.size > 10 && (!hours || !digits(text, 11, 2, &utc.tm_hour) || !has(text, 13, ':') ||
                           !digits(text, 14, 2, &minute) || minute > 59 || utc.tm_hour > 23))
        return false;
    utc.tm_year = year - 1900;
    utc.tm_mon = month - 1;
    *ret_time = utc;
    return year >= 1970 && month >= 1 && month <= 12 && utc.tm_mday >= 1 && utc.tm_mday <= 31;
}

Status history_hour(const char *field, Slice text, uint32_t *ret_hour, Reason *reason)
{
    struct tm utc;
    time_t seconds = parse_moment(slice_trim(text), &utc) ? timegm(&utc) : 0;
    if (seconds < 3600)
        return reason_set(reason, STATUS_INVALID, field,
                          "write a day or a moment (UTC) as in 2026-01-31 or 2026-01-31T12:00");
    *ret_hour = (uint32_t)(seconds / 3600) - 1;
    return STATUS_OK;
}

/* ---- A ranking ------------------------------------------------------------------------------------------------------------------ */

typedef struct RankTop {
    RankQuery query;
    bool has_days;
    int64_t offset;
    uint32_t limit;
    Slice at;
} RankTop;

/* The window is the site's own where none was given. */
static Status read_query(Operations *ops, const RankQuery *asked, bool has_days, Arena *arena,
                         RankQuery *ret_query, Reason *reason)
{
    VotingSettings settings;
    *ret_query = *asked;
    if (asked->category != 0 && asked->party != 0)
        return reason_set(reason, STATUS_INVALID, "party",
                          "choose a category or a party, not both");
    TRY(operations_settings(ops, arena, &settings));
    if (!has_days)
        ret_query->days = (uint32_t)settings.window_days;
    return STATUS_OK;
}

static Slice next_of(const RankTop *request, const RankingList *list, Arena *arena)
{
    BUFFER_SCOPE Buffer address = {0};
    uint64_t after = (uint64_t)request->offset + request->limit;
    if (after >= list->page.policies || after > (uint64_t)RANKING_OFFSET_MAX)
        return SLICE_EMPTY;
    buffer_print(&address, API_PATH "rankings?days=%u&limit=%u&offset=%llu", list->query.days,
                 request->limit, (unsigned long long)after);
    if (list->query.category != 0)
        buffer_print(&address, "&category=%llu", (unsigned long long)list->query.category);
    if (list->query.party != 0)
        buffer_print(&address, "&party=%llu", (unsigned long long)list->query.party);
    if (request->at.size > 0) {
        buffer_text(&address, "&at=");
        url_part_put(&address, request->at);
    }
    return arena_copy(arena, buffer_slice(&address));
}

/* It reads and sorts all policies, a million of them in a second: one at a time, so that many such questions hold up nothing but each
 * other. */
static Status past_page(Operations *ops, const RankQuery *query, uint32_t hour, uint64_t offset,
                        uint32_t limit, Arena *arena, RankPage *ret_page, Reason *reason)
{
    static _Atomic bool is_asked;
    if (atomic_exchange(&is_asked, true))
        return reason_set(reason, STATUS_UNAVAILABLE, "at",
                          "another question about the past is being answered; ask again");
    Status status = ranking_page_at(ops->app->ranking, query, hour, offset, limit, arena, ret_page);
    atomic_store(&is_asked, false);
    return status == STATUS_INVALID ? reason_set(reason, status, "at", "must be over") : status;
}

static Status fill_past(Operations *ops, const RankPage *page, Arena *arena,
                        PolicySummaryPage *ret_page)
{
    ret_page->summaries = ARENA_ARRAY(arena, page->count, PolicySummary);
    ret_page->policies = page->policies;
    for (size_t i = 0; i < page->count; i++) {
        PolicySummary *summary = &ret_page->summaries[ret_page->count];
        Status status = policy_summary_get(ops->summaries, page->rows[i].policy, arena, summary);
        if (status == STATUS_NOT_FOUND ||
            (status == STATUS_OK && summary->state == POLICY_PENDING_DELETION))
            continue;
        TRY(status);
        summary->rank = page->rows[i].rank;
        summary->votes = page->rows[i].votes;
        summary->total = page->rows[i].total;
        ret_page->count++;
    }
    return STATUS_OK;
}

Status ranking_past(Operations *ops, const RankQuery *query, Slice at, uint64_t offset,
                    uint32_t limit, Arena *arena, PolicySummaryPage *ret_page, Reason *reason)
{
    RankPage page;
    uint32_t hour;
    PolicySummaryPage past = {0};
    TRY(history_hour("at", at, &hour, reason));
    TRY(past_page(ops, query, hour, offset, limit, arena, &page, reason));
    TRY(fill_past(ops, &page, arena, &past));
    past.as_of_us = ((int64_t)hour + 1) * 3600 * US_PER_S;
    *ret_page = past;
    return STATUS_OK;
}

static Status rank_top(Operations *ops, const Actor *actor, const RankTop *request, Arena *arena,
                       RankingList *ret_list, Reason *reason)
{
    RankingList list = {.next = SLICE_EMPTY};
    Ranking *ranking;
    uint64_t offset = (uint64_t)request->offset;
    (void)actor;
    TRY(read_query(ops, &request->query, request->has_days, arena, &list.query, reason));
    TRY(app_ranking(ops->app, &ranking));
    if (request->at.size > 0)
        TRY(ranking_past(ops, &list.query, request->at, offset, request->limit, arena, &list.page,
                         reason));
    else
        TRY(policy_summaries_ranking(ops->summaries, &list.query, offset, request->limit, arena,
                                     &list.page));
    list.next = next_of(request, &list, arena);
    *ret_list = list;
    return STATUS_OK;
}

static void print_ranking(const void *answer, Arena *arena, Buffer *out)
{
    const PolicySummaryPage *page = &((const RankingList *)answer)->page;
    (void)arena;
    for (size_t i = 0; i < page->count; i++) {
        const PolicySummary *row = &page->summaries[i];
        buffer_print(out, "%6llu  %8lld  %8lld  %.*s (%llu)\n", (unsigned long long)row->rank,
                     (long long)row->votes, (long long)row->total, SLICE_ARG(row->name),
                     (unsigned long long)row->id);
    }
}

/* clang-format off */
#define RANKING_INPUTS(type)                                                                        \
    INPUT("days", type, query.days, SMALL, .optional = true, .least = 0, .most = 31, GIVEN(type, has_days), .help = "The window; 0 is all time. Left out: the site's own."), \
    INPUT("category", type, query.category, CATEGORY, .optional = true, .help = "Only this category."), \
    INPUT("party", type, query.party, PARTY, .optional = true, .help = "Only this party; not together with a category.")

OPERATION(rank_top, RankTop, RankingList, .help = "Show a ranking, page by page; now, or as it was.",
    .asks = true, .answers = &SCHEMA_RANKING, .api = {WEB_GET, "rankings", .tag = "rankings", .cache_ms = 1000},
    .no_page = "/ranking shows it", .command = {"rank top", .print = print_ranking},
    .inputs = {
        RANKING_INPUTS(RankTop),
        INPUT("offset", RankTop, offset, NUMBER, .least = 0, .most = RANKING_OFFSET_MAX, .fallback = "0", .help = "How many places to skip."),
        INPUT("limit", RankTop, limit, SMALL, .least = 1, .most = RANKING_LIMIT_MAX, .fallback = "50", .help = "How many to give."),
        INPUT("at", RankTop, at, LINE, .optional = true, .most = HISTORY_UNTIL_MAX, .computes = true, .value = "TIME", .help = "A moment that is over (UTC), as in 2026-01-31 (its end) or 2026-01-31T12:00; to the hour."),
    });
/* clang-format on */

/* ---- A place -------------------------------------------------------------------------------------------------------------------- */

typedef struct RankShow {
    RankQuery query;
    uint64_t policy;
    bool has_days;
} RankShow;

static Status fill_place(Operations *ops, uint64_t policy, RankQuery query, RankingPlace *place)
{
    Status status = ranking_place(ops->app->ranking, &query, policy, &place->place);
    place->days = query.days;
    place->is_there = status == STATUS_OK;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static Status rank_show(Operations *ops, const Actor *actor, const RankShow *request, Arena *arena,
                        RankingStanding *ret_standing, Reason *reason)
{
    PolicyHead head;
    Ranking *ranking;
    RankQuery query;
    RankingStanding standing = {.policy = request->policy};
    (void)actor;
    TRY(policy_head(ops, request->policy, NULL, arena, &head));
    TRY(read_query(ops, &request->query, request->has_days, arena, &query, reason));
    TRY(app_ranking(ops->app, &ranking));
    TRY(fill_place(ops, request->policy, query, &standing.recent));
    query.days = 0;
    TRY(fill_place(ops, request->policy, query, &standing.ever));
    standing.total = standing.ever.is_there ? standing.ever.place.self.total : 0;
    *ret_standing = standing;
    return STATUS_OK;
}

/* clang-format off */
OPERATION(rank_show, RankShow, RankingStanding, .help = "Show where a policy stands, and what it needs to rise.",
    .asks = true, .answers = &SCHEMA_STANDING, .api = {WEB_GET, "rankings/{policy}", .tag = "rankings", .cache_ms = 1000},
    .no_page = "the policy's page shows it", .command = {.words = "rank show"},
    .inputs = {INPUT("policy", RankShow, policy, POLICY, .operand = true, .help = "The policy."), RANKING_INPUTS(RankShow)});
/* clang-format on */
