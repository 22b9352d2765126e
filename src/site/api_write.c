/* api_write.c -- writes a view as JSON by its schema. See api.h. */
#include <stdio.h>

#include "site/api.h"

/* ---- Values ------------------------------------------------------------------------------------------------------------- */

/* What is written: a member, and the view that it stands in. */
typedef struct Spot {
    const ApiMember *member;
    const char *view;
    Arena *arena;
} Spot;

/* The value there; the table's kind was made from the member's own type. */
#define READ(type, place) (*(type const *)(const void *)(place))

static const char *place_of(const Spot *spot)
{
    return spot->view + spot->member->offset;
}

static size_t count_of(const Spot *spot)
{
    return READ(size_t, spot->view + spot->member->count);
}

static void write_count(JsonWriter *json, const Spot *spot)
{
    json_put_i64(json, (int64_t)READ(uint64_t, place_of(spot)));
}

static void write_number(JsonWriter *json, const Spot *spot)
{
    json_put_i64(json, READ(int64_t, place_of(spot)));
}

static void write_small(JsonWriter *json, const Spot *spot)
{
    json_put_i64(json, READ(uint32_t, place_of(spot)));
}

static void write_switch(JsonWriter *json, const Spot *spot)
{
    json_put_bool(json, READ(bool, place_of(spot)));
}

static void write_text(JsonWriter *json, const Spot *spot)
{
    json_put_string(json, READ(Slice, place_of(spot)));
}

static void write_words(JsonWriter *json, const Spot *spot)
{
    json_put_string(json, slice_from(READ(char *, place_of(spot))));
}

static void write_id(JsonWriter *json, const Spot *spot)
{
    json_put_string(json, id_text(READ(Id, place_of(spot)), spot->arena));
}

static void write_time(JsonWriter *json, const Spot *spot)
{
    json_put_string(json, stamp_text(READ(int64_t, place_of(spot)), spot->arena));
}

static void write_choice(JsonWriter *json, const Spot *spot)
{
    json_put_string(json, slice_from(spot->member->word(READ(unsigned, place_of(spot)))));
}

static void write_object(JsonWriter *json, const Spot *spot)
{
    api_write(json, spot->member->schema, place_of(spot), spot->arena);
}

static void write_elements(JsonWriter *json, const Spot *spot, const char *elements)
{
    const ApiSchema *schema = spot->member->schema;
    json_array_begin(json);
    for (size_t i = 0; i < count_of(spot); i++)
        api_write(json, schema, elements + i * schema->size, spot->arena);
    json_array_end(json);
}

static void write_list(JsonWriter *json, const Spot *spot)
{
    write_elements(json, spot, READ(char *, place_of(spot)));
}

static void write_some(JsonWriter *json, const Spot *spot)
{
    write_elements(json, spot, place_of(spot));
}

static void write_texts(JsonWriter *json, const Spot *spot)
{
    json_array_begin(json);
    for (size_t i = 0; i < count_of(spot); i++)
        json_put_string(json, READ(Slice, place_of(spot) + i * sizeof(Slice)));
    json_array_end(json);
}

static void write_labels(JsonWriter *json, const Spot *spot)
{
    json_array_begin(json);
    for (size_t i = 0; i < count_of(spot); i++)
        json_put_string(json, slice_from(READ(char *, place_of(spot) + i * sizeof(char *))));
    json_array_end(json);
}

static void write_numbers(JsonWriter *json, const Spot *spot)
{
    json_array_begin(json);
    for (size_t i = 0; i < spot->member->count; i++)
        json_put_i64(json, READ(int64_t, place_of(spot) + i * sizeof(int64_t)));
    json_array_end(json);
}

static void write_holdings(JsonWriter *json, const Spot *spot)
{
    const SeenLine *lines = READ(SeenLine *, place_of(spot));
    json_object_begin(json);
    for (size_t i = 0; i < count_of(spot); i++) {
        char key[24];
        snprintf(key, sizeof key, "%llu", (unsigned long long)lines[i].policy);
        json_member_i64(json, key, lines[i].held);
    }
    json_object_end(json);
}

/*    how each kind is written, and the size of what may be null when it is all zeros */
static const struct {
    void (*write)(JsonWriter *json, const Spot *spot);
    size_t size;
} KINDS[] = {
    [API_COUNT] = {write_count, sizeof(uint64_t)},
    [API_NUMBER] = {write_number, sizeof(int64_t)},
    [API_SMALL] = {write_small, sizeof(uint32_t)},
    [API_SWITCH] = {write_switch, 0},
    [API_TEXT] = {write_text, 0},
    [API_WORDS] = {write_words, sizeof(char *)},
    [API_ID] = {write_id, sizeof(Id)},
    [API_TIME] = {write_time, sizeof(int64_t)},
    [API_CHOICE] = {write_choice, 0},
    [API_OBJECT] = {write_object, 0},
    [API_LIST] = {write_list, 0},
    [API_SOME] = {write_some, 0},
    [API_TEXTS] = {write_texts, 0},
    [API_LABELS] = {write_labels, 0},
    [API_NUMBERS] = {write_numbers, 0},
    [API_HOLDINGS] = {write_holdings, 0},
};

static bool is_null(const Spot *spot)
{
    static const char ZEROS[sizeof(Id)] = {0};
    const ApiMember *member = spot->member;
    size_t size = KINDS[member->kind].size;
    if (member->has_when && !READ(bool, spot->view + member->when))
        return true;
    if (!member->or_null)
        return false;
    if (member->kind == API_TEXT)
        return READ(Slice, place_of(spot)).size == 0;
    CHECK(size > 0 && size <= sizeof ZEROS);
    return memcmp(place_of(spot), ZEROS, size) == 0;
}

void api_write(JsonWriter *json, const ApiSchema *schema, const void *view, Arena *arena)
{
    json_object_begin(json);
    for (size_t i = 0; i < schema->count; i++) {
        Spot spot = {&schema->members[i], view, arena};
        json_key(json, spot.member->name);
        if (is_null(&spot))
            json_put_null(json);
        else
            KINDS[spot.member->kind].write(json, &spot);
    }
    json_object_end(json);
}

/* ---- Answers ------------------------------------------------------------------------------------------------------------ */

/* What everybody may read, scripts of other sites may, too; "*" never comes with anybody's session. */
Status api_answer(WebRequest *request, const ApiSchema *schema, const void *view)
{
    const WebRoute *route = web_route(request);
    CHECK(route->answers != NULL && strcmp(route->answers, schema->name) == 0);
    if (site_viewer(request)->known || route->access != WEB_PUBLIC || route->method != WEB_GET)
        web_private(request);
    if (route->access == WEB_PUBLIC && route->method == WEB_GET)
        web_header(request, "Access-Control-Allow-Origin", "*");
    JsonWriter json = web_write_json(request);
    api_write(&json, schema, view, web_arena(request));
    return STATUS_OK;
}

Status api_answer_done(WebRequest *request)
{
    ApiDone done = {true};
    return api_answer(request, &SCHEMA_DONE, &done);
}
