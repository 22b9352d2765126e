/* live_message.c -- what an event says. See live.h for the form. */
#include "operations/policy_head.h"
#include "site/live_private.h"

static bool take(Slice *rest, Slice word)
{
    if (!slice_starts_with(*rest, word))
        return false;
    *rest = slice_after(*rest, word.size);
    return true;
}

static bool take_id(Slice rest, uint64_t *id)
{
    return slice_to_u64(rest, id) == STATUS_OK && *id >= 1 && *id <= INT64_MAX &&
           rest.data[0] != '0'; /* one name for a topic */
}

static bool parse_ranking(Slice rest, RankQuery *query)
{
    Slice days;
    uint64_t number;
    if (rest.size == 0 || rest.data[rest.size - 1] == '/')
        return false;
    if (!slice_split(&rest, '/', &days) || slice_to_u64(days, &number) != STATUS_OK ||
        number > 31 || (days.size > 1 && days.data[0] == '0'))
        return false;
    query->days = (uint32_t)number;
    if (rest.size == 0)
        return true;
    return take(&rest, SLICE("category/")) ? take_id(rest, &query->category)
           : take(&rest, SLICE("party/"))  ? take_id(rest, &query->party)
                                           : false;
}

bool live_parse(Slice text, LiveTopic *ret_topic)
{
    LiveTopic topic = {.kind = LIVE_FRONT};
    bool is_one = slice_equal(text, SLICE("front"));
    if (take(&text, SLICE("ranking/"))) {
        topic.kind = LIVE_RANKING;
        is_one = parse_ranking(text, &topic.query);
    } else if (take(&text, SLICE("policy/"))) {
        topic.kind = LIVE_POLICY;
        is_one = take_id(text, &topic.policy);
    }
    if (is_one)
        *ret_topic = topic;
    return is_one;
}

/* ---- Messages -------------------------------------------------------------------------------------------------------------- */

typedef struct Writing {
    Site *site;
    Arena *arena;
    JsonWriter json;
    int64_t as_of_us; /* the oldest of what was asked */
} Writing;

static void note_as_of(Writing *writing, int64_t as_of_us)
{
    if (writing->as_of_us == 0 || as_of_us < writing->as_of_us)
        writing->as_of_us = as_of_us;
}

static Status put_rows(Writing *writing, const char *key, const RankQuery *query, uint32_t limit)
{
    JsonWriter *json = &writing->json;
    RankPage page;
    TRY(ranking_page(writing->site->app->ranking, query, 0, limit, writing->arena, &page));
    note_as_of(writing, page.as_of_us);
    json_key(json, key);
    json_array_begin(json);
    for (size_t i = 0; i < page.count; i++) {
        json_object_begin(json);
        json_member_i64(json, "id", (int64_t)page.rows[i].policy);
        json_member_i64(json, "rank", (int64_t)page.rows[i].rank);
        json_member_i64(json, "votes", page.rows[i].votes);
        json_member_i64(json, "total", page.rows[i].total);
        json_object_end(json);
    }
    json_array_end(json);
    return STATUS_OK;
}

static void put_neighbour(Writing *writing, const char *key, const RankRow *row)
{
    JsonWriter *json = &writing->json;
    PolicySummary summary;
    if (policy_summary_get(writing->site->summaries, row->policy, writing->arena, &summary) !=
        STATUS_OK)
        return; /* gone meanwhile: the next event has another */
    json_key(json, key);
    json_object_begin(json);
    json_member_i64(json, "id", (int64_t)row->policy);
    json_member_string(json, "name", summary.name);
    json_member_string(json, "address", summary.address);
    json_member_i64(json, "rank", (int64_t)row->rank);
    json_member_i64(json, "votes", row->votes);
    json_object_end(json);
}

static Status put_place(Writing *writing, const char *key, uint32_t days, uint64_t policy)
{
    JsonWriter *json = &writing->json;
    RankPlace place;
    RankQuery query = {.days = days};
    TRY(ranking_place(writing->site->app->ranking, &query, policy, &place));
    note_as_of(writing, place.as_of_us);
    if (days == 0)
        json_member_i64(json, "total", place.self.total);
    json_key(json, key);
    json_object_begin(json);
    json_member_i64(json, "rank", (int64_t)place.self.rank);
    json_member_i64(json, "policies", (int64_t)place.policies);
    json_member_i64(json, "votes", place.self.votes);
    json_member_i64(json, "to_beat", place.to_beat);
    if (place.has_above)
        put_neighbour(writing, "above", &place.above);
    if (place.has_below)
        put_neighbour(writing, "below", &place.below);
    json_object_end(json);
    return STATUS_OK;
}

static Status put_policy(Writing *writing, uint64_t policy, uint32_t days)
{
    json_member_i64(&writing->json, "id", (int64_t)policy);
    Status status = put_place(writing, "ever", 0, policy);
    if (status == STATUS_OK)
        status = put_place(writing, "recent", days, policy);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status; /* retired: said by its absence */
}

Status live_message(Site *site, const LiveTopic *topic, Arena *arena, LiveMessage *ret_message)
{
    BUFFER_SCOPE Buffer out = {0};
    VotingSettings settings;
    Writing writing = {.site = site, .arena = arena, .json = json_writer(&out)};
    TRY(operations_settings(site->ops, arena, &settings));
    RankQuery recent = {.days = (uint32_t)settings.window_days};
    json_object_begin(&writing.json);
    if (topic->kind == LIVE_POLICY) {
        TRY(put_policy(&writing, topic->policy, recent.days));
    } else if (topic->kind == LIVE_RANKING) {
        TRY(put_rows(&writing, "rows", &topic->query, RANKING_ROWS));
    } else {
        TRY(put_rows(&writing, "rows", &recent, FRONT_ROWS));
        TRY(put_rows(&writing, "ever", &(RankQuery){0}, FRONT_ROWS));
    }
    if (writing.as_of_us == 0)
        writing.as_of_us = clock_now_us(site->app->world.clock);
    *ret_message = (LiveMessage){.figures = arena_copy(arena, buffer_slice(&out)),
                                 .as_of = stamp_text(writing.as_of_us, arena)};
    return STATUS_OK;
}
