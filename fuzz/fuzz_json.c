/* fuzz_json.c -- any bytes as a JSON document, and any bytes as a JSON string.
 *
 * A member has one type: at most one getter takes it. A document never has more values than it may. Whatever is written as a string is a document that can be read, and is
 * the same text when it was UTF-8. */
#include "base/json.h"

#include "fuzz.h"

static void check_one_type(const Json *object, const char *key)
{
    Slice text;
    int64_t number;
    bool value;
    const Json *inner;
    Reason reason = {0};
    int taken = 0;
    taken += json_get_string(object, key, SIZE_MAX, &text, &reason) == STATUS_OK;
    taken += json_get_i64(object, key, INT64_MIN, INT64_MAX, &number, &reason) == STATUS_OK;
    taken += json_get_bool(object, key, &value, &reason) == STATUS_OK;
    taken += json_get_object(object, key, &inner, &reason) == STATUS_OK;
    if (json_get_array(object, key, 1000, &inner, &reason) == STATUS_OK) {
        taken++;
        for (size_t i = 0; i < json_count(inner); i++)
            check_one_type(json_at(inner, i), key);
    }
    CHECK(taken <= 1);
    CHECK(slice_equal(slice_from(reason.field), slice_from(key)));
}

/* Members and elements; an empty object or array, and a single value, are one. */
static size_t values_in(const Json *value)
{
    void *place = NULL;
    Slice key;
    const Json *inner;
    size_t count = 0;
    for (size_t i = 0; i < json_count(value); i++)
        count += values_in(json_at(value, i));
    count += json_count(value);
    while (json_next(value, &place, &key, &inner))
        count += 1 + values_in(inner);
    return count;
}

/* The bound is of one more at each empty one, so it is never late. */
static void check_bound(Slice text)
{
    enum { FEW = 5 };
    Json *document;
    if (json_parse(text, (JsonBounds){1 << 20, FEW}, &document, NULL) != STATUS_OK)
        return;
    CHECK(values_in(document) <= FEW);
    json_free(document);
}

static void feed_parser(Slice text)
{
    static const char *const known[] = {"a", NULL};
    Json *document;
    Reason reason = {0};
    if (json_parse(text, (JsonBounds){1 << 20, SIZE_MAX}, &document, &reason) != STATUS_OK) {
        CHECK(reason.rule[0] != '\0');
        return;
    }
    check_bound(text);
    check_one_type(document, "a");
    for (size_t i = 0; i < json_count(document); i++)
        check_one_type(json_at(document, i), "a");
    if (json_only(document, known, &reason) != STATUS_OK)
        CHECK(reason.rule[0] != '\0');
    json_free(document);
}

static void check_string(Slice text)
{
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter writer = json_writer(&out);
    json_object_begin(&writer);
    json_member_string(&writer, "a", text);
    json_object_end(&writer);
    CHECK(slice_is_utf8(buffer_slice(&out)));
    if (slice_find(text, '\0') < text.size)
        return; /* written as \u0000, which the reader refuses on purpose */
    Json *document;
    Slice back;
    CHECK(json_parse(buffer_slice(&out), (JsonBounds){SIZE_MAX, SIZE_MAX}, &document, NULL) ==
          STATUS_OK);
    CHECK(json_get_string(document, "a", SIZE_MAX, &back, NULL) == STATUS_OK);
    CHECK(slice_is_utf8(back));
    CHECK(!slice_is_utf8(text) || slice_equal(back, text));
    json_free(document);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Slice text = slice_of(data, size);
    feed_parser(text);
    check_string(text);
    return 0;
}
