/* json.c -- a writer that goes straight into a buffer, and a reader with bounds over jansson.
 *
 * A Json is jansson's json_t under our name, so that no other file needs its header. */
#include "base/json.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WRITER_DEPTH = 64, READER_DEPTH = 32 };

/* Writer */

JsonWriter json_writer(Buffer *out)
{
    return (JsonWriter){.out = out};
}

static bool is_in_object(const JsonWriter *writer)
{
    return writer->depth > 0 && (writer->in_object >> (writer->depth - 1) & 1) != 0;
}

/* Every value passes here: it stands after its key, or in an array after a comma, or alone at the top. */
static void before_value(JsonWriter *writer)
{
    if (writer->after_key) {
        writer->after_key = false;
    } else {
        CHECK(!is_in_object(writer));
        CHECK(writer->depth > 0 || !writer->need_comma);
        if (writer->need_comma)
            buffer_u8(writer->out, ',');
    }
    writer->need_comma = true;
}

static void begin(JsonWriter *writer, bool object)
{
    before_value(writer);
    CHECK(writer->depth < WRITER_DEPTH);
    uint64_t bit = UINT64_C(1) << writer->depth;
    writer->in_object = object ? writer->in_object | bit : writer->in_object & ~bit;
    writer->depth++;
    writer->need_comma = false;
    buffer_u8(writer->out, object ? '{' : '[');
}

static void end(JsonWriter *writer, bool object)
{
    CHECK(writer->depth > 0 && is_in_object(writer) == object && !writer->after_key);
    writer->depth--;
    writer->need_comma = true;
    buffer_u8(writer->out, object ? '}' : ']');
}

void json_object_begin(JsonWriter *writer)
{
    begin(writer, true);
}

void json_object_end(JsonWriter *writer)
{
    end(writer, true);
}

void json_array_begin(JsonWriter *writer)
{
    begin(writer, false);
}

void json_array_end(JsonWriter *writer)
{
    end(writer, false);
}

static bool is_plain(char c)
{
    unsigned char byte = (unsigned char)c;
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

static void write_escape(Buffer *out, char c)
{
    switch (c) {
    case '"':
        buffer_text(out, "\\\"");
        break;
    case '\\':
        buffer_text(out, "\\\\");
        break;
    case '\n':
        buffer_text(out, "\\n");
        break;
    case '\r':
        buffer_text(out, "\\r");
        break;
    case '\t':
        buffer_text(out, "\\t");
        break;
    default:
        buffer_print(out, "\\u%04x", (unsigned)(unsigned char)c);
    }
}

/* One character that is not plain: escaped, copied when it is UTF-8, replaced when it is not. Returns its bytes. */
static size_t write_special(Buffer *out, Slice text)
{
    if ((unsigned char)text.data[0] < 0x80) {
        write_escape(out, text.data[0]);
        return 1;
    }
    size_t length = slice_utf8_length(text);
    buffer_bytes(out, length == 0 ? SLICE("\xEF\xBF\xBD") : slice_of(text.data, length));
    return length == 0 ? 1 : length;
}

/* Eight bytes at once; a byte that falls below zero borrows, which is seen at its top bit. */
static bool are_plain(const char *eight)
{
    const uint64_t each = UINT64_C(0x0101010101010101), top = each << 7;
    uint64_t bytes;
    memcpy(&bytes, eight, sizeof bytes);
    uint64_t quotes = bytes ^ each * '"', slashes = bytes ^ each * '\\';
    return (((bytes - each * 0x20) | (quotes - each) | (slashes - each) | bytes) & top) == 0;
}

static size_t plain_size(Slice text)
{
    size_t size = 0;
    while (size + 8 <= text.size && are_plain(text.data + size))
        size += 8;
    if (size >= 8 && text.size - size < 8 && are_plain(text.data + text.size - 8))
        return text.size;
    while (size < text.size && is_plain(text.data[size]))
        size++;
    return size;
}

/* Most text is runs of plain characters; each run is copied at once. */
void json_quote(Buffer *out, Slice text)
{
    buffer_u8(out, '"');
    while (text.size > 0) {
        size_t run = plain_size(text);
        buffer_bytes(out, slice_of(text.data, run));
        text = slice_after(text, run);
        if (text.size > 0)
            text = slice_after(text, write_special(out, text));
    }
    buffer_u8(out, '"');
}

void json_key(JsonWriter *writer, const char *key)
{
    CHECK(is_in_object(writer) && !writer->after_key);
    if (writer->need_comma)
        buffer_u8(writer->out, ',');
    json_quote(writer->out, slice_from(key));
    buffer_u8(writer->out, ':');
    writer->after_key = true;
}

void json_put_string(JsonWriter *writer, Slice text)
{
    before_value(writer);
    json_quote(writer->out, text);
}

void json_put_i64(JsonWriter *writer, int64_t number)
{
    before_value(writer);
    buffer_decimal(writer->out, number);
}

/* The fewest digits that read back as the same number. */
void json_put_f64(JsonWriter *writer, double number)
{
    char text[32];
    if (!isfinite(number)) {
        json_put_null(writer);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    before_value(writer);
    buffer_text(writer->out, text);
}

void json_put_bool(JsonWriter *writer, bool value)
{
    before_value(writer);
    buffer_text(writer->out, value ? "true" : "false");
}

void json_put_null(JsonWriter *writer)
{
    before_value(writer);
    buffer_text(writer->out, "null");
}

void json_member_string(JsonWriter *writer, const char *key, Slice text)
{
    json_key(writer, key);
    json_put_string(writer, text);
}

void json_member_text(JsonWriter *writer, const char *key, const char *text)
{
    json_member_string(writer, key, slice_from(text));
}

void json_member_i64(JsonWriter *writer, const char *key, int64_t number)
{
    json_key(writer, key);
    json_put_i64(writer, number);
}

void json_member_bool(JsonWriter *writer, const char *key, bool value)
{
    json_key(writer, key);
    json_put_bool(writer, value);
}

/* Reader */

static const json_t *inside(const Json *value)
{
    return (const void *)value;
}

/* Brackets and commas outside of strings, up to a bound of each. Looked at before parsing, because the parser recurses, and takes a
 * hundred times the text's memory where that is made of short values; text that is not JSON may be judged either way, the parser refuses it
 * anyhow. A value comes after a bracket or a comma, so these are as many as there are values, and one for each that is empty. */
static Status check_shape(Slice text, size_t values_max, Reason *reason)
{
    size_t depth = 0, values = 0;
    bool in_string = false;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (c == '"')
            in_string = !in_string;
        else if (in_string)
            i += c == '\\';
        else if (c == '[' || c == '{')
            depth++;
        else if ((c == ']' || c == '}') && depth > 0)
            depth--;
        values += !in_string && (c == '[' || c == '{' || c == ',');
        if (depth > READER_DEPTH)
            return reason_set(reason, STATUS_INVALID, NULL, "JSON at most %d levels deep",
                              READER_DEPTH);
        if (values > values_max)
            return reason_set(reason, STATUS_TOO_LARGE, NULL, "JSON of at most %zu values",
                              values_max);
    }
    return STATUS_OK;
}

Status json_parse(Slice text, JsonBounds bounds, Json **ret_document, Reason *reason)
{
    json_error_t error;
    if (text.size > bounds.bytes)
        return reason_set(reason, STATUS_TOO_LARGE, NULL, "JSON of at most %zu bytes",
                          bounds.bytes);
    TRY(check_shape(text, bounds.values, reason));
    json_t *document = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, &error);
    if (document == NULL)
        return reason_set(reason, STATUS_INVALID, NULL, "not JSON, line %d: %s", error.line,
                          error.text);
    *ret_document = (void *)document;
    return STATUS_OK;
}

void json_free(Json *document)
{
    json_decref((void *)document);
}

void json_cleanup(Json **document)
{
    json_free(*document);
}

static Status member(const Json *object, const char *key, const Json **ret_value, Reason *reason)
{
    if (!json_is_object(inside(object)))
        return reason_set(reason, STATUS_INVALID, key,
                          "is looked for in something that is not an object");
    const json_t *value = json_object_get(inside(object), key);
    if (value == NULL || json_is_null(value))
        return reason_set(reason, STATUS_NOT_FOUND, key, "is missing");
    *ret_value = (const void *)value;
    return STATUS_OK;
}

Status json_get_string(const Json *object, const char *key, size_t most, Slice *ret_text,
                       Reason *reason)
{
    const Json *value = NULL;
    TRY(member(object, key, &value, reason));
    return json_as_string(value, key, most, ret_text, reason);
}

Status json_get_i64(const Json *object, const char *key, int64_t least, int64_t most,
                    int64_t *ret_number, Reason *reason)
{
    const Json *value = NULL;
    TRY(member(object, key, &value, reason));
    return json_as_i64(value, key, least, most, ret_number, reason);
}

Status json_get_bool(const Json *object, const char *key, bool *ret_value, Reason *reason)
{
    const Json *value = NULL;
    TRY(member(object, key, &value, reason));
    if (!json_is_boolean(inside(value)))
        return reason_set(reason, STATUS_INVALID, key, "must be true or false");
    *ret_value = json_is_true(inside(value));
    return STATUS_OK;
}

Status json_get_object(const Json *object, const char *key, const Json **ret_object, Reason *reason)
{
    const Json *value = NULL;
    TRY(member(object, key, &value, reason));
    if (!json_is_object(inside(value)))
        return reason_set(reason, STATUS_INVALID, key, "must be an object");
    *ret_object = value;
    return STATUS_OK;
}

Status json_get_array(const Json *object, const char *key, size_t most, const Json **ret_array,
                      Reason *reason)
{
    const Json *value = NULL;
    TRY(member(object, key, &value, reason));
    if (!json_is_array(inside(value)))
        return reason_set(reason, STATUS_INVALID, key, "must be an array");
    if (json_count(value) > most)
        return reason_set(reason, STATUS_INVALID, key, "must have at most %zu entries", most);
    *ret_array = value;
    return STATUS_OK;
}

static bool is_known(const char *key, const char *const *known)
{
    for (; *known != NULL; known++)
        if (strcmp(key, *known) == 0)
            return true;
    return false;
}

Status json_only(const Json *object, const char *const *known, Reason *reason)
{
    /* Iterating changes nothing, jansson merely does not say so in its types. */
    json_t *members = (json_t *)(uintptr_t)object;
    if (!json_is_object(members))
        return reason_set(reason, STATUS_INVALID, NULL, "must be an object");
    for (void *at = json_object_iter(members); at != NULL;
         at = json_object_iter_next(members, at)) {
        const char *key = json_object_iter_key(at);
        if (!is_known(key, known))
            return reason_set(reason, STATUS_INVALID, key, "is not known here");
    }
    return STATUS_OK;
}

bool json_next(const Json *object, void **place, Slice *ret_key, const Json **ret_value)
{
    json_t *members = (json_t *)(uintptr_t)object; /* as above */
    void *at = *place == NULL ? json_object_iter(members) : json_object_iter_next(members, *place);
    *place = at;
    if (at == NULL)
        return false;
    *ret_key = slice_from(json_object_iter_key(at));
    *ret_value = (const void *)json_object_iter_value(at);
    return true;
}

size_t json_count(const Json *array)
{
    return json_array_size(inside(array));
}

const Json *json_at(const Json *array, size_t index)
{
    CHECK(index < json_count(array));
    return (const void *)json_array_get(inside(array), index);
}

Status json_as_string(const Json *value, const char *field, size_t most, Slice *ret_text,
                      Reason *reason)
{
    if (!json_is_string(inside(value)))
        return reason_set(reason, STATUS_INVALID, field, "must be a string");
    if (json_string_length(inside(value)) > most)
        return reason_set(reason, STATUS_INVALID, field, "must have at most %zu bytes", most);
    *ret_text = slice_of(json_string_value(inside(value)), json_string_length(inside(value)));
    return STATUS_OK;
}

Status json_as_i64(const Json *value, const char *field, int64_t least, int64_t most,
                   int64_t *ret_number, Reason *reason)
{
    if (!json_is_integer(inside(value)))
        return reason_set(reason, STATUS_INVALID, field, "must be a whole number");
    int64_t number = json_integer_value(inside(value));
    if (number < least || number > most)
        return reason_set(reason, STATUS_INVALID, field, "must be between %" PRId64 " and %" PRId64,
                          least, most);
    *ret_number = number;
    return STATUS_OK;
}
