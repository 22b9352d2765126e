/* rank_commands.c -- rankings now and in the past. */
#include "base/log.h"
#include "cli/arguments.h"
#include "cli/ledger_commands.h"

enum { HOUR_S = 3600 };

static void put_row(JsonWriter *json, const RankRow *row)
{
    json_object_begin(json);
    json_member_i64(json, "rank", (int64_t)row->rank);
    json_member_i64(json, "policy", (int64_t)row->policy);
    json_member_i64(json, "votes", row->votes);
    json_member_i64(json, "total", row->total);
    json_object_end(json);
}

static void put_as_of(JsonWriter *json, int64_t as_of_us)
{
    char time[LOG_TIME_TEXT];
    log_format_time(as_of_us, time);
    json_member_text(json, "as_of", time);
}

/* The policy's name for people; rankings know numbers only. */
static Slice name_of(Context *context, uint64_t id)
{
    Policy policy;
    Status status = policies_read(context->app->policies, id, context->arena, &policy);
    return status == STATUS_OK ? policy.text.name : SLICE("?");
}

static void print_row(Context *context, const RankRow *row)
{
    Slice name = name_of(context, row->policy);
    command_print(context, "%6llu  %8lld  %8lld  %.*s (%llu)\n", (unsigned long long)row->rank,
                  (long long)row->votes, (long long)row->total, SLICE_ARG(name),
                  (unsigned long long)row->policy);
}

static Status query_of(Context *context, RankQuery *ret_query, Reason *reason)
{
    int64_t days;
    TRY(argument_number(context, "days", 0, COUNT_DAYS, 0, &days, reason));
    ret_query->days = (uint32_t)days;
    TRY(argument_group(context, "category", GROUP_CATEGORY, &ret_query->category, reason));
    return argument_group(context, "party", GROUP_PARTY, &ret_query->party, reason);
}

static Status top_page(Context *context, RankPage *ret_page, Reason *reason)
{
    RankQuery query = {0};
    Ranking *ranking;
    int64_t limit, offset, at_us;
    TRY(query_of(context, &query, reason));
    TRY(argument_number(context, "limit", 1, RANK_PAGE_MOST, 20, &limit, reason));
    TRY(argument_number(context, "offset", 0, INT64_MAX, 0, &offset, reason));
    TRY(argument_time(context, "at", -1, &at_us, reason));
    TRY(app_ranking(context->app, &ranking));
    if (at_us < 0)
        return ranking_page(ranking, &query, (uint64_t)offset, (uint32_t)limit, context->arena,
                            ret_page);
    int64_t hour = at_us / (HOUR_S * US_PER_S);
    if (hour >= clock_now_us(context->world.clock) / (HOUR_S * US_PER_S))
        return reason_set(reason, STATUS_INVALID, "at", "that hour is not over yet");
    return ranking_page_at(ranking, &query, (uint32_t)hour, (uint64_t)offset, (uint32_t)limit,
                           context->arena, ret_page);
}

int run_rank_top(Context *context)
{
    RankPage page;
    Reason reason = {0};
    Status status = top_page(context, &page, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    json_object_begin(&json);
    put_as_of(&json, page.as_of_us);
    json_member_i64(&json, "policies", (int64_t)page.policies);
    json_key(&json, "rows");
    json_array_begin(&json);
    for (size_t i = 0; i < page.count; i++) {
        put_row(&json, &page.rows[i]);
        if (!context->parsed.json)
            print_row(context, &page.rows[i]);
    }
    json_array_end(&json);
    json_object_end(&json);
    if (context->parsed.json)
        command_json(context, &out);
    return EXIT_DONE;
}

static Status place_of(Context *context, RankPlace *ret_place, Reason *reason)
{
    RankQuery query = {0};
    Ranking *ranking;
    uint64_t policy;
    TRY(argument_id(context->parsed.operands[0], &policy, reason));
    TRY(query_of(context, &query, reason));
    TRY(app_ranking(context->app, &ranking));
    Status status = ranking_place(ranking, &query, policy, ret_place);
    if (status == STATUS_NOT_FOUND)
        return reason_set(reason, status, "id", "policy %llu is not in this ranking",
                          (unsigned long long)policy);
    return status;
}

int run_rank_show(Context *context)
{
    RankPlace place;
    Reason reason = {0};
    Status status = place_of(context, &place, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    if (!context->parsed.json) {
        if (place.has_above)
            print_row(context, &place.above);
        print_row(context, &place.self);
        if (place.has_below)
            print_row(context, &place.below);
        if (place.has_above) {
            Slice name = name_of(context, place.above.policy);
            command_print(context, "%lld votes needed to beat %.*s\n", (long long)place.to_beat,
                          SLICE_ARG(name));
        }
        return EXIT_DONE;
    }
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    json_object_begin(&json);
    put_as_of(&json, place.as_of_us);
    json_member_i64(&json, "policies", (int64_t)place.policies);
    json_member_i64(&json, "to_beat", place.to_beat);
    json_key(&json, "self");
    put_row(&json, &place.self);
    if (place.has_above) {
        json_key(&json, "above");
        put_row(&json, &place.above);
    }
    if (place.has_below) {
        json_key(&json, "below");
        put_row(&json, &place.below);
    }
    json_object_end(&json);
    command_json(context, &out);
    return EXIT_DONE;
}

/* The last `count` hours that are over. */
static uint32_t *last_hours(Context *context, size_t count)
{
    uint32_t now = (uint32_t)(clock_now_us(context->world.clock) / (HOUR_S * US_PER_S));
    uint32_t *hours = ARENA_ARRAY(context->arena, count, uint32_t);
    for (size_t i = 0; i < count; i++)
        hours[i] = now - (uint32_t)(count - i);
    return hours;
}

int run_rank_history(Context *context)
{
    RankQuery query = {0};
    Reason reason = {0};
    Ranking *ranking;
    uint64_t policy;
    int64_t count = 24;
    RankMoment *moments = NULL;
    Status status = argument_id(context->parsed.operands[0], &policy, &reason);
    if (status == STATUS_OK)
        status = query_of(context, &query, &reason);
    if (status == STATUS_OK)
        status = argument_number(context, "hours", 1, 800, 24, &count, &reason);
    if (status == STATUS_OK)
        status = app_ranking(context->app, &ranking);
    if (status == STATUS_OK) {
        moments = ARENA_ARRAY(context->arena, (size_t)count, RankMoment);
        status = ranking_history(ranking, &query, policy, last_hours(context, (size_t)count),
                                 (size_t)count, moments);
    }
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    json_array_begin(&json);
    for (int64_t i = 0; i < count; i++) {
        char time[LOG_TIME_TEXT];
        log_format_time((int64_t)moments[i].hour * HOUR_S * US_PER_S, time);
        json_object_begin(&json);
        json_member_text(&json, "hour", time);
        json_member_i64(&json, "rank", (int64_t)moments[i].rank);
        json_member_i64(&json, "votes", moments[i].votes);
        json_member_i64(&json, "total", moments[i].total);
        json_object_end(&json);
        if (!context->parsed.json)
            command_print(context, "%s  rank %llu, %lld votes, %lld in all\n", time,
                          (unsigned long long)moments[i].rank, (long long)moments[i].votes,
                          (long long)moments[i].total);
    }
    json_array_end(&json);
    if (context->parsed.json)
        command_json(context, &out);
    return EXIT_DONE;
}
