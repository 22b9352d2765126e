/* schema.h -- what an answer holds: a table of members bound to a C struct, from which its JSON, its lines on a terminal and its
 * documentation are made.
 *
 *   1. Every member of a schema is in every answer; what is not there is null.
 *   2. Times are RFC 3339 in UTC, ids of policies and people are numbers, versions and tokens are 32 hexadecimal digits.
 *   3. The kind of a member comes from its C type (schema_macros.h), so the table cannot disagree with the struct. */
#pragma once

#include "base/ids.h"
#include "base/json.h"
#include "base/words.h"

typedef enum ApiKind {
    API_COUNT,   /* uint64_t, size_t */
    API_NUMBER,  /* int64_t */
    API_SMALL,   /* uint32_t */
    API_SWITCH,  /* bool */
    API_TEXT,    /* Slice */
    API_WORDS,   /* const char * */
    API_ID,      /* Id */
    API_TIME,    /* int64_t, µs since 1970; 0 is "never" where it may be null */
    API_CHOICE,  /* an enum, told by `words` */
    API_OBJECT,  /* a struct inside the view, with `schema` */
    API_LIST,    /* a pointer to structs with `schema`, and at `count` the offset of how many */
    API_SOME,    /* the same for structs that stand in the view itself */
    API_TEXTS,   /* Slices that stand in the view itself, and at `count` the offset of how many */
    API_LABELS,  /* the same for const char * */
    API_NUMBERS, /* `count` int64_t that stand in the view itself */
    API_HOLDINGS, /* a pointer to SeenLines as {"POLICY": HELD}, and at `count` the offset of how many */
} ApiKind;

typedef struct ApiMember {
    const char *name;
    ApiKind kind;
    size_t offset, count;
    bool or_null;  /* zero, or empty, is null */
    bool has_when; /* null when the bool at `when` is false */
    size_t when;
    const struct ApiSchema *schema;
    const char *const *words; /* of the enum; ended by NULL */
    const char *help;
} ApiMember;

typedef struct ApiSchema {
    const char *name, *help;
    size_t size; /* of the view */
    const ApiMember *members;
    size_t count;
    bool tells_failure; /* answers 409, 422 and 503 have it, too: an outcome is no error */
} ApiSchema;

/* Writes one view as JSON. */
void schema_write(JsonWriter *json, const ApiSchema *schema, const void *view, Arena *arena);
/* The same for a terminal: an object as "name: value" lines, its lists as columns under a heading. */
void schema_print(const ApiSchema *schema, const void *view, Arena *arena, Buffer *out);
/* "2026-01-31T12:00:00Z" */
Slice stamp_text(int64_t us, Arena *arena);
