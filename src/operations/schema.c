/* schema.c -- writes a view by its schema, as JSON or for a terminal. See schema.h. */
#include <stdio.h>

#include "base/time_text.h"
#include "operations/schema.h"
#include "votes/votes.h"

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
    json_put_string(json, slice_from(word_of(spot->member->words, READ(unsigned, place_of(spot)))));
}

static void write_object(JsonWriter *json, const Spot *spot)
{
    schema_write(json, spot->member->schema, place_of(spot), spot->arena);
}

static void write_elements(JsonWriter *json, const Spot *spot, const char *elements)
{
    const ApiSchema *schema = spot->member->schema;
    json_array_begin(json);
    for (size_t i = 0; i < count_of(spot); i++)
        schema_write(json, schema, elements + i * schema->size, spot->arena);
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
    const MergedLine *lines = READ(MergedLine *, place_of(spot));
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

void schema_write(JsonWriter *json, const ApiSchema *schema, const void *view, Arena *arena)
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

/* ---- For a terminal ------------------------------------------------------------------------------------------------------- */

Slice stamp_text(int64_t us, Arena *arena)
{
    char text[UTC_TEXT];
    utc_text(utc_of(us), text);
    return arena_print(arena, "%sZ", text);
}

static bool is_nested(ApiKind kind)
{
    return kind == API_OBJECT || kind == API_LIST || kind == API_SOME;
}

static void join(Buffer *out, size_t index, Slice text)
{
    if (index > 0)
        buffer_text(out, ", ");
    buffer_bytes(out, text);
}

static void print_many(const Spot *spot, Buffer *out)
{
    const char *place = place_of(spot);
    ApiKind kind = spot->member->kind;
    size_t count = kind == API_NUMBERS ? spot->member->count : count_of(spot);
    for (size_t i = 0; i < count; i++) {
        if (kind == API_TEXTS)
            join(out, i, READ(Slice, place + i * sizeof(Slice)));
        else if (kind == API_LABELS)
            join(out, i, slice_from(READ(char *, place + i * sizeof(char *))));
        else if (kind == API_NUMBERS)
            join(out, i,
                 arena_print(spot->arena, "%lld",
                             (long long)READ(int64_t, place + i * sizeof(int64_t))));
        else
            join(out, i,
                 arena_print(spot->arena, "%llu=%lld",
                             (unsigned long long)READ(MergedLine *, place)[i].policy,
                             (long long)READ(MergedLine *, place)[i].held));
    }
}

/* One value as a person reads it: "-" for null, yes and no for switches. */
static Slice text_of(const Spot *spot)
{
    BUFFER_SCOPE Buffer out = {0};
    const char *place = place_of(spot);
    if (is_null(spot))
        return SLICE("-");
    switch (spot->member->kind) {
    case API_COUNT:
        return arena_print(spot->arena, "%llu", (unsigned long long)READ(uint64_t, place));
    case API_NUMBER:
        return arena_print(spot->arena, "%lld", (long long)READ(int64_t, place));
    case API_SMALL:
        return arena_print(spot->arena, "%u", READ(uint32_t, place));
    case API_SWITCH:
        return READ(bool, place) ? SLICE("yes") : SLICE("no");
    case API_TEXT:
        return READ(Slice, place);
    case API_WORDS:
        return slice_from(READ(char *, place));
    case API_ID:
        return id_text(READ(Id, place), spot->arena);
    case API_TIME:
        return stamp_text(READ(int64_t, place), spot->arena);
    case API_CHOICE:
        return slice_from(word_of(spot->member->words, READ(unsigned, place)));
    case API_TEXTS:
    case API_LABELS:
    case API_NUMBERS:
    case API_HOLDINGS:
        print_many(spot, &out);
        return arena_copy(spot->arena, buffer_slice(&out));
    case API_OBJECT:
    case API_LIST:
    case API_SOME:
        break;
    }
    return SLICE_EMPTY;
}

/* A terminal obeys control characters, and what people typed may hold some; only whole texts keep their line ends. */
static void put_plain(Buffer *out, Slice text, bool keeps_lines)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        bool is_control = c < ' ' || c == 0x7F;
        buffer_u8(out, is_control && !(keeps_lines && c == '\n') ? ' ' : c);
    }
}

/* Columns as wide as their widest value. */
static void print_rows(const Spot *spot, Buffer *out)
{
    const ApiSchema *schema = spot->member->schema;
    const char *elements =
        spot->member->kind == API_LIST ? READ(char *, place_of(spot)) : place_of(spot);
    size_t count = count_of(spot), columns = schema->count;
    size_t *widths = ARENA_ARRAY(spot->arena, columns, size_t);
    Slice *texts = ARENA_ARRAY(spot->arena, (count + 1) * columns, Slice);
    for (size_t i = 0; i <= count; i++)
        for (size_t j = 0; j < columns; j++) {
            const ApiMember *member = &schema->members[j];
            Spot value = {member, elements + (i > 0 ? i - 1 : 0) * schema->size, spot->arena};
            Slice *text = &texts[i * columns + j];
            if (is_nested(member->kind))
                *text = SLICE_EMPTY;
            else
                *text = i == 0 ? slice_from(member->name) : text_of(&value);
            widths[j] = text->size > widths[j] ? text->size : widths[j];
        }
    for (size_t i = 0; i <= count && count > 0; i++) {
        for (size_t j = 0; j < columns; j++) {
            Slice text = texts[i * columns + j];
            if (is_nested(schema->members[j].kind))
                continue;
            put_plain(out, text, false);
            for (size_t pad = text.size; pad < widths[j] + 2 && j + 1 < columns; pad++)
                buffer_u8(out, ' ');
        }
        buffer_text(out, "\n");
    }
}

void schema_print(const ApiSchema *schema, const void *view, Arena *arena, Buffer *out)
{
    for (size_t i = 0; i < schema->count; i++) {
        Spot spot = {&schema->members[i], view, arena};
        bool shown = !is_null(&spot);
        if (spot.member->kind == API_OBJECT && shown) {
            buffer_print(out, "%s:\n", spot.member->name);
            schema_print(spot.member->schema, place_of(&spot), arena, out);
        } else if (is_nested(spot.member->kind)) {
            if (schema->count > 1)
                buffer_print(out, "%s: %zu\n", spot.member->name, shown ? count_of(&spot) : 0);
            if (shown && spot.member->kind != API_OBJECT)
                print_rows(&spot, out);
        } else if (shown) {
            buffer_print(out, "%s: ", spot.member->name);
            put_plain(out, text_of(&spot), true);
            buffer_text(out, "\n");
        }
    }
}
