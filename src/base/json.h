/* json.h -- JSON in and out.
 *
 * Out: a writer that appends to a Buffer and puts the commas itself. Unbalanced begin/end or a value without a
 * key is a bug (CHECK). Strings are escaped; bytes that are not UTF-8 come out as U+FFFD.
 * In: a bounded reader over jansson. It refuses duplicate keys, NUL in strings, depth over 32, more values than the caller allows, and
 * trailing text; depth and values are counted before anything is built. The getters refuse missing members, wrong types and numbers out of bounds, and name the field. */
#pragma once

#include "base/arena.h"
#include "base/bytes.h"

typedef struct JsonWriter {
    Buffer *out;
    uint32_t depth;
    uint64_t in_object; /* bit per depth */
    bool need_comma;
    bool after_key;
} JsonWriter;

/* A text alone, in its quotes. What is not UTF-8 becomes U+FFFD. */
void json_quote(Buffer *out, Slice text);

JsonWriter json_writer(Buffer *out);
void json_object_begin(JsonWriter *writer);
void json_object_end(JsonWriter *writer);
void json_array_begin(JsonWriter *writer);
void json_array_end(JsonWriter *writer);
void json_key(JsonWriter *writer, const char *key);
void json_put_string(JsonWriter *writer, Slice text);
void json_put_i64(JsonWriter *writer, int64_t number);
void json_put_f64(JsonWriter *writer, double number); /* not finite: null */
void json_put_bool(JsonWriter *writer, bool value);
void json_put_null(JsonWriter *writer);

/* key and value in one line, for objects */
void json_member_string(JsonWriter *writer, const char *key, Slice text);
void json_member_text(JsonWriter *writer, const char *key, const char *text);
void json_member_i64(JsonWriter *writer, const char *key, int64_t number);
void json_member_bool(JsonWriter *writer, const char *key, bool value);

typedef struct Json Json; /* one value inside a document */

/* What a document may be made of. A value takes some 200 bytes of memory, however short its text: {} is two bytes. */
typedef struct JsonBounds {
    size_t bytes;
    size_t
        values; /* members of objects and elements of arrays; an empty object or array counts as one */
} JsonBounds;
/* INVALID with the line and what is wrong, TOO_LARGE over the bounds. The document lives until json_free;
 * slices that the getters return point into it. */
MUST_USE Status json_parse(Slice text, JsonBounds bounds, Json **ret_document, Reason *reason);
void json_free(Json *document);
#define JSON_SCOPE __attribute__((cleanup(json_cleanup)))
void json_cleanup(Json **document);

/* Members of an object. `field` in the reason is the key. NOT_FOUND when it is absent (null counts as absent),
 * INVALID when the type is wrong or a bound is broken. */
MUST_USE Status json_get_string(const Json *object, const char *key, size_t most, Slice *ret_text,
                                Reason *reason);
MUST_USE Status json_get_i64(const Json *object, const char *key, int64_t least, int64_t most,
                             int64_t *ret_number, Reason *reason);
MUST_USE Status json_get_bool(const Json *object, const char *key, bool *ret_value, Reason *reason);
MUST_USE Status json_get_object(const Json *object, const char *key, const Json **ret_object,
                                Reason *reason);
MUST_USE Status json_get_array(const Json *object, const char *key, size_t most,
                               const Json **ret_array, Reason *reason);
/* INVALID, naming it, when the object has a member that is not in `known` (ended by NULL). */
MUST_USE Status json_only(const Json *object, const char *const *known, Reason *reason);

/* Walks the members of an object, in no order that means anything: `*place` is NULL before the first; false at the end, and at once
 * for what is no object. */
bool json_next(const Json *object, void **place, Slice *ret_key, const Json **ret_value);

size_t json_count(const Json *array);
const Json *json_at(const Json *array, size_t index);
/* The value itself, for elements of arrays; `field` names it in the reason. */
MUST_USE Status json_as_string(const Json *value, const char *field, size_t most, Slice *ret_text,
                               Reason *reason);
MUST_USE Status json_as_i64(const Json *value, const char *field, int64_t least, int64_t most,
                            int64_t *ret_number, Reason *reason);
