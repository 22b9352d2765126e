/* api_inputs.c -- the part of the OpenAPI document that says what requests hold: from the parameters of the routes. See api.h. */
#include "site/api/api_docs_private.h"

static void put_bounds(JsonWriter *json, const char *least, const char *most, const WebParam *param)
{
    json_member_i64(json, least, param->least);
    json_member_i64(json, most, param->most);
}

static void put_line(JsonWriter *json, const WebParam *param)
{
    json_member_text(json, "type", "string");
    put_bounds(json, "minLength", "maxLength", param);
}

static void put_words(JsonWriter *json, const WebParam *param)
{
    json_member_text(json, "type", "string");
    put_array(json, "enum");
    for (size_t i = 0; param->words[i] != NULL; i++)
        json_put_string(json, slice_from(param->words[i]));
    json_array_end(json);
}

static void put_number(JsonWriter *json, const WebParam *param)
{
    bool is_id = param->kind == WEB_ID;
    WebParam bounds = {.least = is_id ? 1 : param->least, .most = is_id ? INT64_MAX : param->most};
    json_member_text(json, "type", "integer");
    put_bounds(json, "minimum", "maximum", &bounds);
}

static void put_numbers(JsonWriter *json, const WebParam *param)
{
    json_member_text(json, "type", "object");
    json_member_i64(json, "maxProperties", param->most_count);
    put_object(json, "propertyNames");
    json_member_text(json, "pattern", "^[1-9][0-9]{0,17}$");
    json_object_end(json);
    put_object(json, "additionalProperties");
    put_number(json, param);
    json_object_end(json);
}

static void put_texts(JsonWriter *json, const WebParam *param)
{
    json_member_text(json, "type", "array");
    json_member_i64(json, "maxItems", param->most_count);
    put_object(json, "items");
    put_line(json, param);
    json_object_end(json);
}

static void put_opaque(JsonWriter *json, const WebParam *param)
{
    put_line(json, param);
    json_member_text(json, "pattern", "^[A-Za-z0-9_-]*$");
}

static void put_switch(JsonWriter *json, const WebParam *param)
{
    (void)param;
    json_member_text(json, "type", "boolean");
}

static void put_param_schema(JsonWriter *json, const WebParam *param)
{
    static void (*const KINDS[WEB_KINDS])(JsonWriter *, const WebParam *) = {
        [WEB_ID] = put_number,     [WEB_NUMBER] = put_number, [WEB_LINE] = put_line,
        [WEB_TEXT] = put_line,     [WEB_WORD] = put_words,    [WEB_SWITCH] = put_switch,
        [WEB_OPAQUE] = put_opaque, [WEB_SLUG] = put_line,     [WEB_NUMBERS] = put_numbers,
        [WEB_TEXTS] = put_texts,
    };
    json_object_begin(json);
    json_member_text(json, "description", param->help);
    KINDS[param->kind](json, param);
    json_object_end(json);
}

static bool is_required(const WebParam *param)
{
    return !param->optional && param->fallback == NULL;
}

/* What may be left out may also be left empty. */
static void put_outer_param(JsonWriter *json, const WebParam *param)
{
    bool is_text = param->kind == WEB_LINE || param->kind == WEB_TEXT || param->kind == WEB_OPAQUE;
    WebParam shown = *param;
    if (is_text && !is_required(param))
        shown.least = 0;
    json_object_begin(json);
    json_member_text(json, "name", param->name);
    json_member_text(json, "in", param->from == WEB_PATH ? "path" : "query");
    json_member_bool(json, "required", is_required(param));
    if (param->from == WEB_QUERY && !is_required(param))
        json_member_bool(json, "allowEmptyValue", true);
    json_key(json, "schema");
    put_param_schema(json, &shown);
    json_object_end(json);
}

void api_put_params(JsonWriter *json, const WebRoute *route)
{
    put_array(json, "parameters");
    for (size_t i = 0; i < route_param_count(route); i++)
        if (route->params[i].from != WEB_JSON)
            put_outer_param(json, &route->params[i]);
    for (const ApiHeader *header = API_HEADERS; header->name != NULL; header++)
        if (api_header_is_of(header, route)) {
            json_object_begin(json);
            json_member_text(json, "name", header->name);
            json_member_text(json, "in", "header");
            json_member_bool(json, "required", header->required);
            put_object(json, "schema");
            json_member_text(json, "type", "string");
            json_member_text(json, "description", header->help);
            json_member_text(json, "pattern", "^[!-~]{1,255}$");
            json_object_end(json);
            json_object_end(json);
        }
    json_array_end(json);
}

/* null is the same as leaving it out. */
static void put_property(JsonWriter *json, const WebParam *param)
{
    json_key(json, param->name);
    if (is_required(param)) {
        put_param_schema(json, param);
        return;
    }
    json_object_begin(json);
    put_array(json, "anyOf");
    put_param_schema(json, param);
    json_object_begin(json);
    json_member_text(json, "type", "null");
    json_object_end(json);
    json_array_end(json);
    json_object_end(json);
}

void api_put_body(JsonWriter *json, const WebRoute *route)
{
    put_object(json, "requestBody");
    json_member_bool(json, "required", true);
    put_object(json, "content");
    put_object(json, "application/json");
    put_object(json, "schema");
    json_member_text(json, "type", "object");
    put_object(json, "properties");
    for (size_t i = 0; i < route_param_count(route); i++)
        if (route->params[i].from == WEB_JSON)
            put_property(json, &route->params[i]);
    json_object_end(json);
    put_array(json, "required");
    for (size_t i = 0; i < route_param_count(route); i++)
        if (route->params[i].from == WEB_JSON && is_required(&route->params[i]))
            json_put_string(json, slice_from(route->params[i].name));
    json_array_end(json);
    json_member_bool(json, "additionalProperties", false);
    json_object_end(json);
    json_object_end(json);
    json_object_end(json);
    json_object_end(json);
}
