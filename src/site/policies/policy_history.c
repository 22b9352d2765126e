/* policy_history.c -- the past of a policy: votes by day or hour and its rank, as pictures, as a table and as open data. */
#include "base/time_text.h"
#include "site/cached/rank_cache.h"
#include "site/pages.h"
#include "site/policies/policy_views.h"

/* ---- The figures ------------------------------------------------------------------------------------------------------- */

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

static Status read_pasts(Site *site, const HistoryQuery *want, Pasts *pasts)
{
    RankHistoryQuery question = {{.days = want->window}, want->policy, pasts->hours, pasts->count};
    if (pasts->count == 0)
        return STATUS_OK;
    TRY(rank_cache_history(site->rank_cache, &question, pasts->ranks));
    question.query.days = 1;
    return rank_cache_history(site->rank_cache, &question, pasts->days);
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

static Status fill_points(Site *site, HistoryView *view)
{
    Pasts *pasts = ARENA_NEW(view->arena, Pasts);
    const HistoryQuery *want = &view->want;
    pasts->count = hours_of(want, view->head.policy.created_us, pasts->hours);
    TRY(read_pasts(site, want, pasts));
    view->points = ARENA_ARRAY(view->arena, pasts->count, HistoryPoint);
    size_t first = want->by_hour && pasts->count > 0 ? 1 : 0;
    while (first < pasts->count && pasts->ranks[first].rank == 0)
        first++;
    for (size_t i = first; i < pasts->count; i++)
        view->points[view->count++] = point_of(pasts, i, want->by_hour);
    return STATUS_OK;
}

static void draw_charts(HistoryView *view)
{
    ChartPoint *votes = ARENA_ARRAY(view->arena, view->count, ChartPoint);
    ChartPoint *ranks = ARENA_ARRAY(view->arena, view->count, ChartPoint);
    bool by_hour = view->want.by_hour;
    for (size_t i = 0; i < view->count; i++) {
        const HistoryPoint *point = &view->points[i];
        votes[i] = (ChartPoint){point->time_us, point->votes, !point->is_there};
        ranks[i] = (ChartPoint){point->time_us, (int64_t)point->rank, !point->is_there};
    }
    Chart chart = {
        by_hour ? "Votes by hour" : "Votes by day", "vote", "votes", by_hour, votes, view->count};
    view->votes_chart = chart_area(&chart, view->arena);
    chart = (Chart){
        by_hour ? "Rank by hour" : "Rank by day", "rank", "ranks", by_hour, ranks, view->count};
    view->ranks_chart = chart_ranks(&chart, view->arena);
}

/* ---- The ways to see it ------------------------------------------------------------------------------------------------ */

static Slice address_of(const HistoryView *view, const HistoryQuery *want, const char *form)
{
    Slice base = view->head.address;
    Slice until = view->until;
    return arena_print(view->arena, "%.*s/history%s?by=%s&count=%zu&window=%u%s%.*s",
                       SLICE_ARG(base), form, want->by_hour ? "hour" : "day", want->count,
                       want->window, until.size > 0 ? "&until=" : "", SLICE_ARG(until));
}

static void fill_spans(HistoryView *view)
{
    static const struct {
        const char *text;
        bool by_hour;
        size_t count;
    } SPANS[] = {{"30 days", false, 30}, {"90 days", false, 90},   {"A year", false, 366},
                 {"48 hours", true, 48}, {"168 hours", true, 168}, {"744 hours", true, 744}};
    enum { COUNT = sizeof SPANS / sizeof SPANS[0] };
    view->spans = (Chooser){"Show", ARENA_ARRAY(view->arena, COUNT, Choice), COUNT};
    for (size_t i = 0; i < COUNT; i++) {
        HistoryQuery want = view->want;
        want.by_hour = SPANS[i].by_hour;
        want.count = SPANS[i].count;
        view->spans.choices[i] =
            (Choice){slice_from(SPANS[i].text), address_of(view, &want, ""),
                     want.by_hour == view->want.by_hour && want.count == view->want.count};
    }
}

static void fill_windows(HistoryView *view)
{
    static const uint32_t WINDOWS[] = {0, 1, 3, 7, 14, 31};
    enum { COUNT = sizeof WINDOWS / sizeof WINDOWS[0] };
    view->windows =
        (Chooser){"Ranks by the votes of", ARENA_ARRAY(view->arena, COUNT, Choice), COUNT};
    for (size_t i = 0; i < COUNT; i++) {
        HistoryQuery want = view->want;
        want.window = WINDOWS[i];
        Slice text = WINDOWS[i] == 0   ? SLICE("All time")
                     : WINDOWS[i] == 1 ? SLICE("1 day")
                                       : arena_print(view->arena, "%u days", WINDOWS[i]);
        view->windows.choices[i] =
            (Choice){text, address_of(view, &want, ""), want.window == view->want.window};
    }
}

/* The moment that was asked for, as the field takes it. */
static Slice until_text(uint32_t last, Arena *arena)
{
    Utc utc = utc_of(((int64_t)last + 1) * 3600 * US_PER_S);
    return arena_print(arena, "%04d-%02d-%02dT%02d:00", utc.year, utc.month, utc.day, utc.hour);
}

Status history_view(Site *site, const HistoryQuery *want, const Actor *viewer, Arena *arena,
                    HistoryView *ret_view)
{
    HistoryView view = {.arena = arena, .want = *want};
    TRY(policy_head(site->ops, want->policy, viewer, arena, &view.head));
    if (view.head.is_hidden)
        return STATUS_NOT_FOUND;
    complete_wish(&view.want, view.head.now_us);
    view.until = want->last != 0 ? until_text(view.want.last, arena) : SLICE_EMPTY;
    TRY(fill_points(site, &view));
    draw_charts(&view);
    fill_spans(&view);
    fill_windows(&view);
    view.csv = address_of(&view, &view.want, ".csv");
    view.json = address_of(&view, &view.want, ".json");
    *ret_view = view;
    return STATUS_OK;
}

/* ---- Requests ---------------------------------------------------------------------------------------------------------- */

enum { P_POLICY, P_BY, P_COUNT, P_WINDOW, P_UNTIL };

static Status wish_of(WebRequest *request, HistoryQuery *ret_wanted, Reason *reason)
{
    VotingSettings settings;
    TRY(operations_settings(site_of(request)->ops, web_arena(request), &settings));
    *ret_wanted = (HistoryQuery){.policy = web_id(request, P_POLICY),
                                 .by_hour = web_word(request, P_BY) == 1,
                                 .count = (size_t)web_number(request, P_COUNT),
                                 .window = (uint32_t)(web_has(request, P_WINDOW)
                                                          ? web_number(request, P_WINDOW)
                                                          : settings.window_days)};
    Slice until = web_text(request, P_UNTIL);
    return until.size > 0 ? history_hour("until", until, &ret_wanted->last, reason) : STATUS_OK;
}

/* A moment that cannot be read is told at its field, over the usual page. */
static Status show_history(WebRequest *request)
{
    HistoryView view;
    HistoryQuery want;
    Reason reason = {0};
    Arena *arena = web_arena(request);
    Status read = wish_of(request, &want, &reason);
    if (read != STATUS_OK && read != STATUS_INVALID)
        return read;
    TRY(history_view(site_of(request), &want, site_actor(request), arena, &view));
    if (read == STATUS_INVALID) {
        view.fault = form_fault(&reason);
        view.until = web_text(request, P_UNTIL);
        web_code(request, 400);
    }
    Frame frame = {.title =
                       arena_print(arena, "%.*s: history", SLICE_ARG(view.head.policy.text.name)),
                   .address = policy_path(&view.head, "/history", arena)};
    Buffer *out = page_begin(request, &frame);
    history_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

static Status data_view(WebRequest *request, HistoryView *ret_view)
{
    HistoryQuery want;
    TRY(wish_of(request, &want, web_reason(request)));
    TRY(history_view(site_of(request), &want, NULL, web_arena(request), ret_view));
    web_header(request, "Access-Control-Allow-Origin", "*");
    return STATUS_OK;
}

/* A moment without a rank has empty cells. */
static Status give_csv(WebRequest *request)
{
    HistoryView view;
    TRY(data_view(request, &view));
    Buffer *out = web_out(request, "text/csv; charset=utf-8");
    buffer_text(out, "from,to,votes,rank,window_votes,total\r\n");
    for (size_t i = 0; i < view.count; i++) {
        const HistoryPoint *point = &view.points[i];
        attribute_put_moment(out, (Moment){point->time_us, 0});
        buffer_u8(out, ',');
        attribute_put_moment(out, (Moment){point->end_us, 0});
        if (point->is_there)
            buffer_print(out, ",%lld,%llu,%lld,%lld\r\n", (long long)point->votes,
                         (unsigned long long)point->rank, (long long)point->window_votes,
                         (long long)point->total);
        else
            buffer_text(out, ",,,,\r\n");
    }
    return STATUS_OK;
}

static void put_json_point(JsonWriter *json, const HistoryPoint *point, Arena *arena)
{
    json_object_begin(json);
    json_member_string(json, "from", stamp_text(point->time_us, arena));
    json_member_string(json, "to", stamp_text(point->end_us, arena));
    if (point->is_there) {
        json_member_i64(json, "votes", point->votes);
        json_member_i64(json, "rank", (int64_t)point->rank);
        json_member_i64(json, "window_votes", point->window_votes);
        json_member_i64(json, "total", point->total);
    }
    json_object_end(json);
}

static Status give_json(WebRequest *request)
{
    HistoryView view;
    TRY(data_view(request, &view));
    JsonWriter json = web_write_json(request);
    json_object_begin(&json);
    json_member_i64(&json, "policy", (int64_t)view.head.policy.id);
    json_member_string(&json, "name", view.head.policy.text.name);
    json_member_text(&json, "by", view.want.by_hour ? "hour" : "day");
    json_member_i64(&json, "window_days", view.want.window);
    json_key(&json, "points");
    json_array_begin(&json);
    for (size_t i = 0; i < view.count; i++)
        put_json_point(&json, &view.points[i], view.arena);
    json_array_end(&json);
    json_object_end(&json);
    return STATUS_OK;
}

static const char *const BY[] = {"day", "hour", NULL};

#define HISTORY_PARAMS                                                                            \
    .cache_ms = 60000,                                                                            \
    .params = {                                                                                   \
        {"policy", WEB_PATH, WEB_SLUG, .help = "The policy."},                                    \
        {"by", WEB_QUERY, WEB_WORD, .words = BY, .fallback = "day",                               \
         .help = "One point a day or hour."},                                                     \
        {"count", WEB_QUERY, WEB_NUMBER, .optional = true, .least = 2, .most = HISTORY_HOURS_MAX, \
         .help = "How many points; at most 366 days or 744 hours."},                              \
        {"window", WEB_QUERY, WEB_NUMBER, .optional = true, .least = 0, .most = 31,               \
         .help = "Days of the ranking that ranks are of; 0: all votes."},                         \
        {"until", WEB_QUERY, WEB_LINE, .optional = true, .least = 0, .most = HISTORY_UNTIL_MAX,   \
         .help = "The last moment (UTC), as in 2026-01-31 or 2026-01-31T12:00."}}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/policies/{policy}/history", show_history,
     .help = "Votes and ranks of a policy in the past.", HISTORY_PARAMS},
    {WEB_GET, "/policies/{policy}/history.csv", give_csv,
     .help = "The same figures as comma-separated values.", HISTORY_PARAMS},
    {WEB_GET, "/policies/{policy}/history.json", give_json, .help = "The same figures as JSON.",
     HISTORY_PARAMS},
};
ROUTE_TABLE(HISTORY, ROUTES);
