/* api_docs_private.h -- what the files that print the OpenAPI document share. */
#pragma once

#include "site/api/api.h"

static inline void put_object(JsonWriter *json, const char *key)
{
    json_key(json, key);
    json_object_begin(json);
}

static inline void put_array(JsonWriter *json, const char *key)
{
    json_key(json, key);
    json_array_begin(json);
}

/* api_inputs.c: what a route takes in path, query and headers; and in its body. */
void api_put_params(JsonWriter *json, const WebRoute *route);
void api_put_body(JsonWriter *json, const WebRoute *route);
