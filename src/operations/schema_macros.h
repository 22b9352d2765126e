/* schema_macros.h -- how schemas are written down (schema.h): a line for each member.
 *
 * The kind of a member comes from its C type, so that a table cannot say something else than the view; what a type does not tell (a time, a
 * list) has a macro of its own. For the files that define schemas, and no others. */
#pragma once

#include "operations/schema_list.h"

/* clang-format off */
#define KIND_OF(value)                                                                              \
    _Generic((value), uint64_t: API_COUNT, int64_t: API_NUMBER, uint32_t: API_SMALL, bool: API_SWITCH, \
             Slice: API_TEXT, const char *: API_WORDS, Id: API_ID)
#define FIELD(key, type, path, ...)                                                                 \
    {.name = key, .kind = KIND_OF(((const type *)NULL)->path), .offset = offsetof(type, path), __VA_ARGS__}
#define TIME(key, type, path, ...)                                                                  \
    {.name = key, .kind = API_TIME, .offset = offsetof(type, path), __VA_ARGS__}
#define WORD(key, type, path, list, ...)                                                            \
    {.name = key, .kind = API_CHOICE, .offset = offsetof(type, path), .words = list, __VA_ARGS__}
#define OBJECT(key, type, path, of, ...)                                                            \
    {.name = key, .kind = API_OBJECT, .offset = offsetof(type, path), .schema = &SCHEMA_##of, __VA_ARGS__}
#define MANY(key, sort, type, path, number, of, ...)                                                \
    {.name = key, .kind = sort, .offset = offsetof(type, path), .count = offsetof(type, number),    \
     .schema = of, __VA_ARGS__}
#define LIST(key, type, path, number, of, ...) MANY(key, API_LIST, type, path, number, &SCHEMA_##of, __VA_ARGS__)
#define HOLDINGS(type)                                                                              \
    MANY("lines", API_HOLDINGS, type, holdings, holding_count, NULL,                                \
         .help = "Pollies by policy: a policy together with all that were merged into it.")
#define OR_NULL .or_null = true
#define WHEN(type, path) .has_when = true, .when = offsetof(type, path)
#define SCHEMA(id, word, type, table, ...)                                                          \
    const ApiSchema SCHEMA_##id = {.name = word, .size = sizeof(type), .members = table,            \
                                   .count = sizeof(table) / sizeof(table)[0], __VA_ARGS__}
#define NEXT(type) FIELD("next", type, next, OR_NULL, .help = "The address of the next page.")
/* The text of a policy; `text` is a PolicyText. */
#define POLICY_TEXT_FIELDS(type, text)                                                                     \
    FIELD("name", type, text.name, OR_NULL, .help = "What it is called; null: it is not shown."),   \
    FIELD("description", type, text.description, .help = "What it says, in Markdown."),             \
    FIELD("rationale", type, text.rationale, .help = "Why, in Markdown."),                          \
    MANY("links", API_TEXTS, type, text.links, text.link_count, NULL, .help = "Addresses to read on."), \
    FIELD("category", type, text.category, .help = "Its category."),                                \
    FIELD("party", type, text.party, OR_NULL, .help = "Its party.")
/* clang-format on */
