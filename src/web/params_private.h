/* params_private.h -- the values of one request on their way, for the files that read parameters only.
 *
 * A parameter is named by its row in the route's table; `values` has the same rows. Whatever fails says in `reason` which field
 * breaks which rule. */
#pragma once

#include "web/route.h"

typedef struct ParamWork {
    const WebRoute *route;
    Arena *arena;
    Reason *reason;
    WebValue values[WEB_PARAMS_MAX];
} ParamWork;

/* param_kinds.c: decoded text as the value of row `index`; to a list of texts it is one more element. */
MUST_USE Status param_take(ParamWork *work, size_t index, Slice text);

/* param_lists.c: one more element of row `index`, a list. */
MUST_USE Status param_add_number(ParamWork *work, size_t index, Slice id, Slice number);
MUST_USE Status param_add_text(ParamWork *work, size_t index, Slice text);
/* The same from JSON: an object of numbers by id, an array of strings. */
MUST_USE Status param_json_numbers(ParamWork *work, size_t index, const Json *object);
MUST_USE Status param_json_texts(ParamWork *work, size_t index, const Json *array);
/* After the last element: brings numbers into order, and finds ids that came twice. */
MUST_USE Status param_lists_end(ParamWork *work);
