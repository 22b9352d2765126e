/* rank_commands.c -- the rank of a policy, hour by hour. */
#include "base/log.h"
#include "cli/arguments.h"
#include "cli/ledger_commands.h"

enum { HOUR_S = 3600 };

static Status query_of(Context *context, RankQuery *ret_query, Reason *reason)
{
    int64_t days;
    TRY(argument_number(context, "days", 0, COUNT_DAYS, 0, &days, reason));
    ret_query->days = (uint32_t)days;
    TRY(argument_group(context, "category", GROUP_CATEGORY, &ret_query->category, reason));
    return argument_group(context, "party", GROUP_PARTY, &ret_query->party, reason);
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
