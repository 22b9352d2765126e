/* policy_history.c -- the past of a policy: votes by day or hour and its rank, as pictures, as a table and as open data. */
#include "operations/policy_history.h"
#include "base/time_text.h"
#include "site/pages.h"
#include "site/policies/policy_views.h"

/* ---- The figures ------------------------------------------------------------------------------------------------------- */

static void draw_charts(HistoryView *view)
{
    ChartPoint *votes = ARENA_ARRAY(view->arena, view->past.count, ChartPoint);
    ChartPoint *ranks = ARENA_ARRAY(view->arena, view->past.count, ChartPoint);
    bool by_hour = view->past.want.by_hour;
    for (size_t i = 0; i < view->past.count; i++) {
        const HistoryPoint *point = &view->past.points[i];
        votes[i] = (ChartPoint){point->time_us, point->votes, !point->is_there};
        ranks[i] = (ChartPoint){point->time_us, (int64_t)point->rank, !point->is_there};
    }
    Chart chart = {by_hour ? "Votes by hour" : "Votes by day",
                   "vote",
                   "votes",
                   by_hour,
                   votes,
                   view->past.count};
    view->votes_chart = chart_area(&chart, view->arena);
    chart = (Chart){by_hour ? "Rank by hour" : "Rank by day",
                    "rank",
                    "ranks",
                    by_hour,
                    ranks,
                    view->past.count};
    view->ranks_chart = chart_ranks(&chart, view->arena);
}

/* ---- The ways to see it ------------------------------------------------------------------------------------------------ */

static Slice address_of(const HistoryView *view, const HistoryQuery *want, const char *form)
{
    Slice base = view->past.head.address;
    Slice until = view->until;
    return arena_print(view->arena, "%.*s/history%s?by=%s&count=%zu&window=%u%s%.*s",
                       SLICE_ARG(base), form, want->by_hour ? "hour" : "day", want->count,
                       want->query.days, until.size > 0 ? "&until=" : "", SLICE_ARG(until));
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
        HistoryQuery want = view->past.want;
        want.by_hour = SPANS[i].by_hour;
        want.count = SPANS[i].count;
        view->spans.choices[i] = (Choice){slice_from(SPANS[i].text), address_of(view, &want, ""),
                                          want.by_hour == view->past.want.by_hour &&
                                              want.count == view->past.want.count};
    }
}

static void fill_windows(HistoryView *view)
{
    static const uint32_t WINDOWS[] = {0, 1, 3, 7, 14, 31};
    enum { COUNT = sizeof WINDOWS / sizeof WINDOWS[0] };
    view->windows =
        (Chooser){"Ranks by the votes of", ARENA_ARRAY(view->arena, COUNT, Choice), COUNT};
    for (size_t i = 0; i < COUNT; i++) {
        HistoryQuery want = view->past.want;
        want.query.days = WINDOWS[i];
        Slice text = WINDOWS[i] == 0   ? SLICE("All time")
                     : WINDOWS[i] == 1 ? SLICE("1 day")
                                       : arena_print(view->arena, "%u days", WINDOWS[i]);
        view->windows.choices[i] = (Choice){text, address_of(view, &want, ""),
                                            want.query.days == view->past.want.query.days};
    }
}

/* The moment that was asked for, as the field takes it. */
static Slice until_text(uint32_t last, Arena *arena)
{
    Utc utc = utc_of(((int64_t)last + 1) * 3600 * US_PER_S);
    return arena_print(arena, "%04d-%02d-%02dT%02d:00", utc.year, utc.month, utc.day, utc.hour);
}

static Status history_view(WebRequest *request, const PolicyHistory *want, const Actor *viewer,
                           HistoryView *ret_view)
{
    HistoryView view = {.arena = web_arena(request)};
    TRY(policy_past(site_of(request)->ops, want, viewer, view.arena, &view.past,
                    web_reason(request)));
    view.until = view.past.is_until ? until_text(view.past.want.last, view.arena) : SLICE_EMPTY;
    draw_charts(&view);
    fill_spans(&view);
    fill_windows(&view);
    view.csv = address_of(&view, &view.past.want, ".csv");
    view.json = address_of(&view, &view.past.want, ".json");
    *ret_view = view;
    return STATUS_OK;
}

/* ---- Requests ---------------------------------------------------------------------------------------------------------- */

enum { P_POLICY, P_BY, P_COUNT, P_WINDOW, P_UNTIL };

static PolicyHistory wish_of(WebRequest *request)
{
    return (PolicyHistory){.policy = web_id(request, P_POLICY),
                           .by = (unsigned)web_word(request, P_BY),
                           .count = (uint32_t)web_number(request, P_COUNT),
                           .query.days = (uint32_t)web_number(request, P_WINDOW),
                           .has_window = web_has(request, P_WINDOW),
                           .until = web_text(request, P_UNTIL)};
}

/* A moment that cannot be read is told at its field, over the usual page. */
static Status show_history(WebRequest *request)
{
    HistoryView view;
    Arena *arena = web_arena(request);
    PolicyHistory want = wish_of(request);
    Status status = history_view(request, &want, site_actor(request), &view);
    bool is_fault = status == STATUS_INVALID;
    if (is_fault) {
        want.until = SLICE_EMPTY;
        FormFault fault = form_fault(web_reason(request));
        status = history_view(request, &want, site_actor(request), &view);
        view.fault = fault;
        view.until = web_text(request, P_UNTIL);
    }
    TRY(status);
    Frame frame = {
        .title = arena_print(arena, "%.*s: history", SLICE_ARG(view.past.head.policy.text.name)),
        .address = policy_path(&view.past.head, "/history", arena)};
    Buffer *out = page_begin(request, &frame);
    history_page(out, &view);
    page_end(request, out);
    if (is_fault)
        web_code(request, 400);
    return STATUS_OK;
}

static Status data_view(WebRequest *request, HistoryView *ret_view)
{
    PolicyHistory want = wish_of(request);
    TRY(history_view(request, &want, NULL, ret_view));
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
    for (size_t i = 0; i < view.past.count; i++) {
        const HistoryPoint *point = &view.past.points[i];
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
    json_member_i64(&json, "policy", (int64_t)view.past.head.policy.id);
    json_member_string(&json, "name", view.past.head.policy.text.name);
    json_member_text(&json, "by", view.past.want.by_hour ? "hour" : "day");
    json_member_i64(&json, "window_days", view.past.want.query.days);
    json_key(&json, "points");
    json_array_begin(&json);
    for (size_t i = 0; i < view.past.count; i++)
        put_json_point(&json, &view.past.points[i], view.arena);
    json_array_end(&json);
    json_object_end(&json);
    return STATUS_OK;
}

#define HISTORY_PARAMS                                                                            \
    .cache_ms = 60000, .threads = WEB_COMPUTE, .shows = "policy_history",                         \
    .params = {                                                                                   \
        {"policy", WEB_PATH, WEB_SLUG, .help = "The policy."},                                    \
        {"by", WEB_QUERY, WEB_WORD, .words = HISTORY_BY, .fallback = "day",                       \
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
