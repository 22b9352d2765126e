/* json_test.c -- JSON in and out, and everything that is not JSON. */
#include "base/json.h"

#include <math.h>

#include "test.h"

static Slice quoted(Buffer *out, Slice text)
{
    JsonWriter writer = json_writer(out);
    buffer_clear(out);
    json_put_string(&writer, text);
    return buffer_slice(out);
}

TEST(commas_stand_where_they_belong)
{
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter writer = json_writer(&out);
    json_object_begin(&writer);
    json_member_i64(&writer, "a", INT64_MIN);
    json_key(&writer, "b");
    json_array_begin(&writer);
    json_put_bool(&writer, true);
    json_put_null(&writer);
    json_object_begin(&writer);
    json_object_end(&writer);
    json_array_begin(&writer);
    json_array_end(&writer);
    json_array_end(&writer);
    json_member_text(&writer, "c", "d");
    json_member_bool(&writer, "e", false);
    json_object_end(&writer);
    EXPECT_SLICE(
        buffer_slice(&out),
        SLICE("{\"a\":-9223372036854775808,\"b\":[true,null,{},[]],\"c\":\"d\",\"e\":false}"));
}

TEST(strings_are_escaped)
{
    BUFFER_SCOPE Buffer out = {0};
    EXPECT_SLICE(quoted(&out, SLICE("")), SLICE("\"\""));
    EXPECT_SLICE(quoted(&out, SLICE("plain / text\x7F")), SLICE("\"plain / text\x7F\""));
    EXPECT_SLICE(quoted(&out, SLICE("\"\\\n\r\t")), SLICE("\"\\\"\\\\\\n\\r\\t\""));
    EXPECT_SLICE(quoted(&out, SLICE("\0\x01\x1F")), SLICE("\"\\u0000\\u0001\\u001f\""));
}

TEST(utf8_passes_and_other_bytes_become_the_replacement_character)
{
    BUFFER_SCOPE Buffer out = {0};
    EXPECT_SLICE(quoted(&out, SLICE("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80")),
                 SLICE("\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\""));
    EXPECT_SLICE(quoted(&out, SLICE("a\xFFz")), SLICE("\"a\xEF\xBF\xBDz\""));
    EXPECT_SLICE(quoted(&out, SLICE("\xC3")), SLICE("\"\xEF\xBF\xBD\""));
    EXPECT_SLICE(quoted(&out, SLICE("\xC3\"")), SLICE("\"\xEF\xBF\xBD\\\"\""));
    EXPECT_SLICE(quoted(&out, SLICE("\xED\xA0\x80")),
                 SLICE("\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""));
}

/* Plain text is looked through in steps; wherever the odd byte stands, it is found. */
TEST(a_special_byte_is_found_at_every_place_of_a_text_of_any_length)
{
    static const unsigned char bytes[] = {0,    1,   '\n', 0x1F, ' ',  '!',  '"',  '#',  '[',
                                          '\\', ']', 0x7E, 0x7F, 0x80, 0xA0, 0xA2, 0xDC, 0xFF};
    for (size_t size = 1; size < 28; size++) {
        for (size_t at = 0; at < size * sizeof bytes; at++) {
            BUFFER_SCOPE Buffer out = {0}, expected = {0};
            char text[28];
            unsigned char byte = bytes[at / size];
            memset(text, 'x', sizeof text);
            text[at % size] = (char)byte;
            json_quote(&out, slice_of(text, size));
            buffer_print(&expected, "\"%.*s", (int)(at % size), "xxxxxxxxxxxxxxxxxxxxxxxxxxxx");
            if (byte == '\n')
                buffer_text(&expected, "\\n");
            else if (byte < 0x20)
                buffer_print(&expected, "\\u%04x", byte);
            else if (byte == '"' || byte == '\\')
                buffer_print(&expected, "\\%c", byte);
            else if (byte < 0x80)
                buffer_u8(&expected, byte);
            else
                buffer_text(&expected, "\xEF\xBF\xBD");
            buffer_print(&expected, "%.*s\"", (int)(size - at % size - 1),
                         "xxxxxxxxxxxxxxxxxxxxxxxxxxxx");
            EXPECT_SLICE(buffer_slice(&out), buffer_slice(&expected));
        }
    }
}

TEST(reals_read_back_as_the_same_number)
{
    static const double numbers[] = {0,     0.1,    1.0 / 3, -2.5,
                                     1e300, 5e-324, 1e21,    123456789.123456789};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        BUFFER_SCOPE Buffer out = {0};
        JsonWriter writer = json_writer(&out);
        json_put_f64(&writer, numbers[i]);
        buffer_u8(&out, '\0');
        EXPECT(strtod(out.data, NULL) == numbers[i]);
    }
}

TEST(a_real_takes_no_more_digits_than_it_needs_and_infinity_is_null)
{
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter writer = json_writer(&out);
    json_array_begin(&writer);
    json_put_f64(&writer, 0.1);
    json_put_f64(&writer, HUGE_VAL);
    json_put_f64(&writer, strtod("nan", NULL));
    json_put_f64(&writer, 3);
    json_array_end(&writer);
    EXPECT_SLICE(buffer_slice(&out), SLICE("[0.1,null,null,3]"));
}

static JsonWriter fresh(void)
{
    static Buffer out;
    return json_writer(&out);
}

static void value_without_key(void)
{
    JsonWriter writer = fresh();
    json_object_begin(&writer);
    json_put_i64(&writer, 1);
}

static void key_in_array(void)
{
    JsonWriter writer = fresh();
    json_array_begin(&writer);
    json_key(&writer, "a");
}

static void key_after_key(void)
{
    JsonWriter writer = fresh();
    json_object_begin(&writer);
    json_key(&writer, "a");
    json_key(&writer, "b");
}

static void key_without_value(void)
{
    JsonWriter writer = fresh();
    json_object_begin(&writer);
    json_key(&writer, "a");
    json_object_end(&writer);
}

static void wrong_end(void)
{
    JsonWriter writer = fresh();
    json_object_begin(&writer);
    json_array_end(&writer);
}

static void end_without_begin(void)
{
    JsonWriter writer = fresh();
    json_object_end(&writer);
}

static void two_values(void)
{
    JsonWriter writer = fresh();
    json_put_i64(&writer, 1);
    json_put_i64(&writer, 2);
}

static void nested(uint32_t depth)
{
    JsonWriter writer = fresh();
    for (uint32_t i = 0; i < depth; i++)
        json_array_begin(&writer);
}

static void nested_64(void)
{
    nested(64);
}

static void nested_65(void)
{
    nested(65);
}

TEST(what_would_not_be_json_is_a_bug)
{
    EXPECT(test_is_bug(value_without_key));
    EXPECT(test_is_bug(key_in_array));
    EXPECT(test_is_bug(key_after_key));
    EXPECT(test_is_bug(key_without_value));
    EXPECT(test_is_bug(wrong_end));
    EXPECT(test_is_bug(end_without_begin));
    EXPECT(test_is_bug(two_values));
    EXPECT(!test_is_bug(nested_64));
    EXPECT(test_is_bug(nested_65));
}

static Json *parsed(Slice text)
{
    Json *document = NULL;
    EXPECT_STATUS(json_parse(text, (JsonBounds){1 << 20, SIZE_MAX}, &document, NULL), STATUS_OK);
    return document;
}

TEST(text_that_is_not_json_is_refused_with_its_line)
{
    static const Slice bad[] = {
        {"", 0},
        {"{", 1},
        {"[1,]", 4},
        {"[1] x", 5},
        {"{\"a\":1}{}", 9},
        {"{'a':1}", 7},
        {"[01]", 4},
        {"[NaN]", 5},
        {"[\"\\u0000\"]", 10},
        {"[\"\0\"]", 5},
        {"[1]\0", 4},
        {"[\"\xFF\"]", 5},
        {"[\"\xED\xA0\x80\"]", 7},
        {"[\"\\ud800\"]", 10},
        {"[99999999999999999999]", 22},
        {"[1e999]", 7},
        {"1", 1},
        {"{\"a\":1,\"a\":2}", 13},
        {"{\"a\":1,\"\\u0061\":2}", 18},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Json *document = NULL;
        Reason reason;
        EXPECT_STATUS(json_parse(bad[i], (JsonBounds){100, SIZE_MAX}, &document, &reason),
                      STATUS_INVALID);
        EXPECT(document == NULL);
        EXPECT(strstr(reason.rule, "line 1") != NULL);
    }
}

TEST(the_line_of_an_error_is_counted)
{
    Json *document;
    Reason reason;
    EXPECT_STATUS(
        json_parse(SLICE("{\n\n\"a\" 1}"), (JsonBounds){100, SIZE_MAX}, &document, &reason),
        STATUS_INVALID);
    EXPECT(strstr(reason.rule, "line 3") != NULL);
}

TEST(a_document_over_its_limit_is_too_large)
{
    Json *document;
    Reason reason;
    EXPECT_STATUS(json_parse(SLICE("[10]"), (JsonBounds){3, SIZE_MAX}, &document, &reason),
                  STATUS_TOO_LARGE);
    EXPECT(strstr(reason.rule, "3 bytes") != NULL);
    EXPECT_STATUS(json_parse(SLICE("[10]"), (JsonBounds){4, SIZE_MAX}, &document, NULL), STATUS_OK);
    json_free(document);
}

/* A value of two bytes takes a hundred times as much when it is built: it is refused before. */
TEST(a_document_of_too_many_values_is_too_large)
{
    static const struct {
        const char *text;
        size_t values;
    } CASES[] = {
        {"[]", 1},
        {"[1]", 1},
        {"[1,2,3]", 3},
        {"{\"a\":1,\"b\":2}", 2},
        {"[{},{},{}]", 6},
        {"[\"a,b,[,{,\\\",\",2]", 2},
        {"{\"a\":[1,2],\"b\":{\"c\":3}}", 5},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        Json *document;
        Slice text = slice_from(CASES[i].text);
        Reason reason;
        JsonBounds bounds = {100, CASES[i].values};
        EXPECT_STATUS(json_parse(text, bounds, &document, NULL), STATUS_OK);
        json_free(document);
        bounds.values--;
        EXPECT_STATUS(json_parse(text, bounds, &document, &reason), STATUS_TOO_LARGE);
        EXPECT(strstr(reason.rule, "values") != NULL);
    }
}

static Status parse_nested(size_t depth, Reason *reason)
{
    BUFFER_SCOPE Buffer text = {0};
    Json *document;
    for (size_t i = 0; i < depth; i++)
        buffer_text(&text, i % 2 == 0 ? "{\"a[[\\\"[[\":" : "[");
    buffer_u8(&text, '1');
    for (size_t i = depth; i-- > 0;)
        buffer_u8(&text, i % 2 == 0 ? '}' : ']');
    TRY(json_parse(buffer_slice(&text), (JsonBounds){SIZE_MAX, SIZE_MAX}, &document, reason));
    json_free(document);
    return STATUS_OK;
}

TEST(thirty_two_levels_are_read_and_no_more)
{
    Reason reason;
    EXPECT_STATUS(parse_nested(32, &reason), STATUS_OK);
    EXPECT_STATUS(parse_nested(33, &reason), STATUS_INVALID);
    EXPECT(strstr(reason.rule, "32 levels") != NULL);
    EXPECT_STATUS(parse_nested(100000, &reason), STATUS_INVALID);
}

TEST(members_are_read_by_type)
{
    JSON_SCOPE Json *document =
        parsed(SLICE("{\"s\":\"\\u00e4\",\"i\":-7,\"b\":true,\"o\":{\"x\":1},\"a\":[1,\"two\"]}"));
    Slice text;
    int64_t number;
    bool value;
    const Json *object, *array;
    EXPECT_STATUS(json_get_string(document, "s", 2, &text, NULL), STATUS_OK);
    EXPECT_SLICE(text, SLICE("\xC3\xA4"));
    EXPECT_STATUS(json_get_i64(document, "i", -7, -7, &number, NULL), STATUS_OK);
    EXPECT_I64(number, -7);
    EXPECT_STATUS(json_get_bool(document, "b", &value, NULL), STATUS_OK);
    EXPECT(value);
    EXPECT_STATUS(json_get_object(document, "o", &object, NULL), STATUS_OK);
    EXPECT_STATUS(json_get_i64(object, "x", 0, 1, &number, NULL), STATUS_OK);
    EXPECT_I64(number, 1);
    EXPECT_STATUS(json_get_array(document, "a", 2, &array, NULL), STATUS_OK);
    EXPECT_I64(json_count(array), 2);
    EXPECT_STATUS(json_as_i64(json_at(array, 0), "a", 0, 9, &number, NULL), STATUS_OK);
    EXPECT_STATUS(json_as_string(json_at(array, 1), "a", 9, &text, NULL), STATUS_OK);
    EXPECT_SLICE(text, SLICE("two"));
}

TEST(a_missing_member_is_not_found_and_null_is_missing)
{
    JSON_SCOPE Json *document = parsed(SLICE("{\"n\":null}"));
    Reason reason;
    Slice text = SLICE("untouched");
    int64_t number = 7;
    EXPECT_STATUS(json_get_string(document, "n", 9, &text, &reason), STATUS_NOT_FOUND);
    EXPECT_SLICE(slice_from(reason.field), SLICE("n"));
    EXPECT_STATUS(json_get_i64(document, "m", 0, 9, &number, &reason), STATUS_NOT_FOUND);
    EXPECT_SLICE(slice_from(reason.field), SLICE("m"));
    EXPECT_SLICE(text, SLICE("untouched"));
    EXPECT_I64(number, 7);
}

/* All getters on a member whose type none of them but one takes. */
static void expect_refused(const Json *document, const char *key, int taken)
{
    Slice text;
    int64_t number;
    bool value;
    const Json *json;
    Reason reason = {0};
    Status results[] = {
        json_get_string(document, key, 99, &text, &reason),
        json_get_i64(document, key, INT64_MIN, INT64_MAX, &number, &reason),
        json_get_bool(document, key, &value, &reason),
        json_get_object(document, key, &json, &reason),
        json_get_array(document, key, 99, &json, &reason),
    };
    for (int i = 0; i < 5; i++)
        EXPECT_STATUS(results[i], i == taken ? STATUS_OK : STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), slice_from(key));
}

TEST(a_wrong_type_is_refused_and_a_real_is_no_whole_number)
{
    JSON_SCOPE Json *document = parsed(SLICE(
        "{\"string\":\"1\",\"integer\":1,\"bool\":true,\"object\":{},\"array\":[],\"real\":1.0}"));
    expect_refused(document, "string", 0);
    expect_refused(document, "integer", 1);
    expect_refused(document, "bool", 2);
    expect_refused(document, "object", 3);
    expect_refused(document, "array", 4);
    expect_refused(document, "real", -1);
}

TEST(bounds_are_kept_and_named)
{
    JSON_SCOPE Json *document = parsed(SLICE("{\"s\":\"abc\",\"i\":5,\"a\":[1,2,3]}"));
    Reason reason;
    Slice text;
    int64_t number;
    const Json *array;
    EXPECT_STATUS(json_get_string(document, "s", 2, &text, &reason), STATUS_INVALID);
    EXPECT(strstr(reason.rule, "at most 2 bytes") != NULL);
    EXPECT_STATUS(json_get_i64(document, "i", 6, 9, &number, &reason), STATUS_INVALID);
    EXPECT(strstr(reason.rule, "between 6 and 9") != NULL);
    EXPECT_STATUS(json_get_i64(document, "i", 0, 4, &number, &reason), STATUS_INVALID);
    EXPECT_STATUS(json_get_array(document, "a", 2, &array, &reason), STATUS_INVALID);
    EXPECT(strstr(reason.rule, "at most 2 entries") != NULL);
}

TEST(a_member_of_what_is_no_object_is_refused)
{
    JSON_SCOPE Json *document = parsed(SLICE("[1]"));
    int64_t number;
    Reason reason;
    EXPECT_STATUS(json_get_i64(document, "a", 0, 9, &number, &reason), STATUS_INVALID);
    EXPECT_STATUS(json_get_i64(json_at(document, 0), "a", 0, 9, &number, &reason), STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), SLICE("a"));
}

TEST(only_known_members_are_allowed)
{
    static const char *const known[] = {"a", "b", NULL}, *const less[] = {"a", NULL};
    JSON_SCOPE Json *document = parsed(SLICE("{\"a\":1,\"b\":2}"));
    JSON_SCOPE Json *array = parsed(SLICE("[1]"));
    Reason reason;
    EXPECT_STATUS(json_only(document, known, &reason), STATUS_OK);
    EXPECT_STATUS(json_only(document, less, &reason), STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), SLICE("b"));
    EXPECT_STATUS(json_only(array, known, &reason), STATUS_INVALID);
}

TEST(members_are_walked_once_each)
{
    JSON_SCOPE Json *document = parsed(SLICE("{\"a\":1,\"b\":20,\"\":300}"));
    JSON_SCOPE Json *array = parsed(SLICE("[1]"));
    Slice key;
    const Json *value;
    int64_t number, sum = 0, letters = 0;
    for (void *place = NULL; json_next(document, &place, &key, &value);) {
        EXPECT_STATUS(json_as_i64(value, "x", 0, 999, &number, NULL), STATUS_OK);
        sum += number;
        letters += (int64_t)key.size;
    }
    EXPECT_I64(sum, 321);
    EXPECT_I64(letters, 2);
    EXPECT(!json_next(array, &(void *){NULL}, &key, &value));
}

TEST(what_the_writer_writes_the_reader_reads)
{
    char bytes[127];
    for (int i = 0; i < 127; i++)
        bytes[i] = (char)(i + 1);
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter writer = json_writer(&out);
    json_object_begin(&writer);
    json_member_string(&writer, "s", slice_of(bytes, sizeof bytes));
    json_object_end(&writer);
    JSON_SCOPE Json *document = parsed(buffer_slice(&out));
    Slice text;
    EXPECT_STATUS(json_get_string(document, "s", sizeof bytes, &text, NULL), STATUS_OK);
    EXPECT_SLICE(text, slice_of(bytes, sizeof bytes));
}
