/* param_lists.c -- parameters that hold many values: numbers by id, and lines.
 *
 * A list grows in the arena by doubling, so that a short one costs little and none costs more than twice its size. What was
 * outgrown stays behind until the request ends. */
#include "web/params_private.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST_ROOM = 16 };

/* The elements of `size` bytes, with room for one more behind the first `count`. */
static void *with_room(ParamWork *work, void *elements, size_t count, size_t size)
{
    bool is_power_of_two = (count & (count - 1)) == 0;
    if (count != 0 && (count < FIRST_ROOM || !is_power_of_two))
        return elements;
    void *larger = arena_alloc(work->arena, (count == 0 ? FIRST_ROOM : 2 * count) * size);
    if (count > 0)
        memcpy(larger, elements, count * size);
    return larger;
}

static Status check_count(ParamWork *work, size_t index)
{
    const WebParam *param = &work->route->params[index];
    if (work->values[index].count < (size_t)param->most_count)
        return STATUS_OK;
    return reason_set(work->reason, STATUS_INVALID, param->name, "must have at most %d entries",
                      param->most_count);
}

/* "held[12]", as the field is called in a form. A long id is no id, and is not repeated to whoever sent it. */
typedef struct FieldName {
    char text[64];
} FieldName;

static FieldName field_of(const WebParam *param, Slice id)
{
    enum { SHOWN = 20 };
    FieldName name;
    if (id.size > SHOWN)
        id = SLICE("...");
    snprintf(name.text, sizeof name.text, "%.40s[%.*s]", param->name, SLICE_ARG(id));
    return name;
}

static Status parse_id(ParamWork *work, const WebParam *param, Slice text, uint64_t *ret_id)
{
    int64_t id;
    if (slice_to_i64(text, &id) != STATUS_OK || id < 1)
        return reason_set(work->reason, STATUS_INVALID, field_of(param, text).text,
                          "must have a number from 1 on in its brackets");
    *ret_id = (uint64_t)id;
    return STATUS_OK;
}

static Status append_number(ParamWork *work, size_t index, WebNumber number)
{
    WebValue *value = &work->values[index];
    TRY(check_count(work, index));
    value->numbers = with_room(work, value->numbers, value->count, sizeof *value->numbers);
    value->numbers[value->count++] = number;
    value->present = true;
    return STATUS_OK;
}

Status param_add_number(ParamWork *work, size_t index, Slice id, Slice number)
{
    const WebParam *param = &work->route->params[index];
    WebNumber added;
    TRY(parse_id(work, param, id, &added.id));
    bool is_number = slice_to_i64(number, &added.number) == STATUS_OK;
    if (!is_number && param->least == INT64_MIN && param->most == INT64_MAX)
        return reason_set(work->reason, STATUS_INVALID, field_of(param, id).text,
                          "must be a whole number");
    if (!is_number || added.number < param->least || added.number > param->most)
        return reason_set(work->reason, STATUS_INVALID, field_of(param, id).text,
                          "must be a whole number from %lld to %lld", (long long)param->least,
                          (long long)param->most);
    return append_number(work, index, added);
}

Status param_add_text(ParamWork *work, size_t index, Slice text)
{
    WebValue *value = &work->values[index];
    TRY(check_count(work, index));
    value->texts = with_room(work, value->texts, value->count, sizeof *value->texts);
    value->texts[value->count++] = text;
    value->present = true;
    return STATUS_OK;
}

Status param_json_numbers(ParamWork *work, size_t index, const Json *object)
{
    const WebParam *param = &work->route->params[index];
    const Json *value;
    WebNumber added;
    Slice key;
    work->values[index].present = true;
    for (void *place = NULL; json_next(object, &place, &key, &value);) {
        TRY(parse_id(work, param, key, &added.id));
        TRY(json_as_i64(value, field_of(param, key).text, param->least, param->most, &added.number,
                        work->reason));
        TRY(append_number(work, index, added));
    }
    return STATUS_OK;
}

Status param_json_texts(ParamWork *work, size_t index, const Json *array)
{
    const WebParam *param = &work->route->params[index];
    Slice text;
    work->values[index].present = true;
    for (size_t i = 0; i < json_count(array); i++) {
        TRY(json_as_string(json_at(array, i), param->name, SIZE_MAX, &text, work->reason));
        TRY(param_take(work, index, text));
    }
    return STATUS_OK;
}

static int by_id(const void *a, const void *b)
{
    uint64_t first = ((const WebNumber *)a)->id, second = ((const WebNumber *)b)->id;
    return first < second ? -1 : first > second;
}

static Status order_numbers(ParamWork *work, size_t index)
{
    WebValue *value = &work->values[index];
    if (value->count < 2)
        return STATUS_OK;
    qsort(value->numbers, value->count, sizeof *value->numbers, by_id);
    for (size_t i = 1; i < value->count; i++)
        if (value->numbers[i].id == value->numbers[i - 1].id)
            return reason_set(work->reason, STATUS_INVALID, work->route->params[index].name,
                              "must not hold %llu twice", (unsigned long long)value->numbers[i].id);
    return STATUS_OK;
}

Status param_lists_end(ParamWork *work)
{
    for (size_t i = 0; i < route_param_count(work->route); i++)
        if (work->route->params[i].kind == WEB_NUMBERS)
            TRY(order_numbers(work, i));
    return STATUS_OK;
}
