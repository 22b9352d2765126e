/* params.c -- from what a request brought to values that keep their kind and bounds (route_values in route.h).
 *
 * One walk over the query and one over the form find the named ones; each text then goes through the check of its
 * kind. JSON brings its own types, so it has its own readers, with the same bounds and words. */
#include "web/http_rules.h"
#include "web/params_private.h"

static Status decode(ParamWork *work, const WebParam *param, Slice encoded, Slice *ret_text)
{
    HttpDecode how = param->from == WEB_PATH ? HTTP_DECODE_PATH : HTTP_DECODE_FORM;
    if (http_decode(encoded, how, work->arena, ret_text) == STATUS_OK)
        return STATUS_OK;
    return reason_set(work->reason, STATUS_INVALID, param->name,
                      "must be UTF-8 text without NUL, with %% only before two hex digits");
}

/* Whether a pair of this name belongs to the parameter; numbers are called "held[12]", and the id is in the brackets. */
static bool is_named(const WebParam *param, Slice name, Slice *ret_id)
{
    Slice own = slice_from(param->name);
    if (param->kind != WEB_NUMBERS && !param->by_id)
        return slice_equal(name, own);
    if (!slice_starts_with(name, own) || name.size < own.size + 2 || name.data[own.size] != '[' ||
        name.data[name.size - 1] != ']')
        return false;
    *ret_id = slice_of(name.data + own.size + 1, name.size - own.size - 2);
    return true;
}

static Status take_pair(ParamWork *work, size_t index, Slice id, Slice encoded)
{
    const WebParam *param = &work->route->params[index];
    Slice text;
    bool may_be_empty = param->optional || param->fallback != NULL || param->kind == WEB_TEXTS;
    if (work->values[index].present && param->most_count == 0)
        return reason_set(work->reason, STATUS_INVALID, param->name, "must not come twice");
    if (encoded.size == 0 && may_be_empty && param->kind != WEB_NUMBERS && !param->by_id)
        return STATUS_OK; /* a field left empty in a form */
    TRY(decode(work, param, encoded, &text));
    if (param->kind == WEB_NUMBERS)
        return param_add_number(work, index, id, text);
    if (param->by_id)
        text = arena_print(work->arena, "%.*s=%.*s", SLICE_ARG(id), SLICE_ARG(text));
    return param_take(work, index, text);
}

/* Names are compared after decoding, because "%6eame" is "name". */
static Status read_pairs(ParamWork *work, WebFrom from, Slice rest)
{
    Slice encoded_name, name, id = SLICE_EMPTY, encoded;
    size_t count = route_param_count(work->route);
    while (http_next_pair(&rest, &encoded_name, &encoded)) {
        if (http_decode(encoded_name, HTTP_DECODE_FORM, work->arena, &name) != STATUS_OK)
            return reason_set(work->reason, STATUS_INVALID, NULL,
                              "a parameter's name is not UTF-8 text");
        for (size_t i = 0; i < count; i++) {
            const WebParam *param = &work->route->params[i];
            if (param->from == from && is_named(param, name, &id))
                TRY(take_pair(work, i, id, encoded));
        }
    }
    return STATUS_OK;
}

static Status read_json_number(ParamWork *work, size_t index, const Json *json)
{
    const WebParam *param = &work->route->params[index];
    bool is_id = param->kind == WEB_ID;
    WebValue value = {.present = true};
    TRY(json_get_i64(json, param->name, is_id ? 1 : param->least, is_id ? INT64_MAX : param->most,
                     &value.number, work->reason));
    work->values[index] = value;
    return STATUS_OK;
}

static Status read_json_switch(ParamWork *work, size_t index, const Json *json)
{
    bool is_on;
    TRY(json_get_bool(json, work->route->params[index].name, &is_on, work->reason));
    work->values[index] = (WebValue){.present = true, .number = is_on};
    return STATUS_OK;
}

/* Its length is judged in characters by its kind; the body bounds the bytes. */
static Status read_json_text(ParamWork *work, size_t index, const Json *json)
{
    Slice text;
    const WebParam *param = &work->route->params[index];
    int64_t number;
    if (param->or_number &&
        json_get_i64(json, param->name, 0, INT64_MAX, &number, NULL) == STATUS_OK)
        return param_take(work, index, arena_print(work->arena, "%lld", (long long)number));
    TRY(json_get_string(json, param->name, SIZE_MAX, &text, work->reason));
    return param_take(work, index, text);
}

static Status read_json_numbers(ParamWork *work, size_t index, const Json *json)
{
    const Json *object;
    TRY(json_get_object(json, work->route->params[index].name, &object, work->reason));
    return param_json_numbers(work, index, object);
}

static Status read_json_texts(ParamWork *work, size_t index, const Json *json)
{
    const WebParam *param = &work->route->params[index];
    const Json *array;
    TRY(json_get_array(json, param->name, (size_t)param->most_count, &array, work->reason));
    return param_json_texts(work, index, array);
}

/* NOT_FOUND when the member is absent. */
static Status read_json(ParamWork *work, size_t index, const Json *json)
{
    static Status (*const kinds[WEB_KINDS])(ParamWork * work, size_t index, const Json *json) = {
        [WEB_ID] = read_json_number,       [WEB_NUMBER] = read_json_number,
        [WEB_LINE] = read_json_text,       [WEB_TEXT] = read_json_text,
        [WEB_WORD] = read_json_text,       [WEB_SWITCH] = read_json_switch,
        [WEB_OPAQUE] = read_json_text,     [WEB_SLUG] = read_json_text,
        [WEB_NUMBERS] = read_json_numbers, [WEB_TEXTS] = read_json_texts,
    };
    return kinds[work->route->params[index].kind](work, index, json);
}

static Status read_json_members(ParamWork *work, const Json *json)
{
    const char *known[WEB_PARAMS_MAX + 1] = {NULL};
    size_t known_count = 0;
    for (size_t i = 0; i < route_param_count(work->route); i++) {
        const WebParam *param = &work->route->params[i];
        if (param->from != WEB_JSON)
            continue;
        known[known_count++] = param->name;
        Status status = read_json(work, i, json);
        if (status != STATUS_NOT_FOUND)
            TRY(status);
    }
    return json_only(json, known, work->reason);
}

static Status fill_absent(ParamWork *work)
{
    for (size_t i = 0; i < route_param_count(work->route); i++) {
        const WebParam *param = &work->route->params[i];
        if (work->values[i].present)
            continue;
        if (param->fallback != NULL)
            TRY(param_take(work, i, slice_from(param->fallback)));
        else if (!param->optional)
            return reason_set(work->reason, STATUS_INVALID, param->name, "is missing");
    }
    return STATUS_OK;
}

Status route_values(const WebRoute *route, const WebInput *input, Arena *arena,
                    WebValue *ret_values, Reason *reason)
{
    ParamWork work = {.route = route, .arena = arena, .reason = reason};
    size_t count = route_param_count(route);
    Slice text;
    for (size_t i = 0; i < count && route->params[i].from == WEB_PATH; i++) {
        TRY(decode(&work, &route->params[i], input->captures[i], &text));
        TRY(param_take(&work, i, text));
    }
    TRY(read_pairs(&work, WEB_QUERY, input->query));
    TRY(read_pairs(&work, WEB_FORM, input->form));
    if (input->json != NULL && route_takes(route, WEB_JSON))
        TRY(read_json_members(&work, input->json));
    TRY(param_lists_end(&work));
    TRY(fill_absent(&work));
    memcpy(ret_values, work.values, count * sizeof work.values[0]);
    return STATUS_OK;
}

/* A route of this parameter alone, so that forms, command lines and requests are judged by the same code and in the same words. Only the
 * first row is read, and only that is set: forms do this for each field. */
Status param_from_texts(const WebParam *param, const Slice *texts, size_t count, Arena *arena,
                        WebValue *ret_value, Reason *reason)
{
    WebRoute route;
    ParamWork work;
    route.params[0] = *param;
    route.params[1].name = NULL;
    work.route = &route;
    work.arena = arena;
    work.reason = reason;
    work.values[0] = (WebValue){.present = false};
    bool may_be_empty = param->optional || param->fallback != NULL || param->most_count > 0;
    for (size_t i = 0; i < count; i++) {
        size_t equals = slice_find(texts[i], '=');
        if (texts[i].size == 0 && may_be_empty)
            continue;
        if (param->kind == WEB_NUMBERS && equals == texts[i].size)
            return reason_set(reason, STATUS_INVALID, param->name,
                              "\"%.*s\" is not of the form ID=NUMBER", SLICE_ARG(texts[i]));
        if (param->kind == WEB_NUMBERS)
            TRY(param_add_number(&work, 0, slice_of(texts[i].data, equals),
                                 slice_after(texts[i], equals + 1)));
        else if (work.values[0].present && param->most_count == 0)
            return reason_set(reason, STATUS_INVALID, param->name, "must not come twice");
        else
            TRY(param_take(&work, 0, texts[i]));
    }
    TRY(param_lists_end(&work));
    TRY(fill_absent(&work));
    *ret_value = work.values[0];
    return STATUS_OK;
}
