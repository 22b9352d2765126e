/* api_docs.c -- the OpenAPI document, printed from the routes and the schemas. See api.h.
 *
 * Everything in it comes from tables that the requests go through, too; only the words about log-in and the headers that a few routes read
 * are written here. */
#include <stdio.h>

#include "site/api/api_docs_private.h"

#define SAME_ACT                                                                              \
    "Up to 255 visible characters: the same key again is the same act; with another body or " \
    "address, within 7 days, it is refused (422)."

const ApiHeader API_HEADERS[] = {
    {WEB_PUT, API_PATH "me/votes", "Idempotency-Key", false,
     "Up to 255 visible characters, new for each save: the same key again, within 7 days, is the "
     "same save and gives the same answer; with another body or address it is refused (422)."},
    {WEB_POST, API_PATH "policies", "Idempotency-Key", false,
     "Up to 255 visible characters, new for each policy: the same key again, within 7 days, makes "
     "no second one; with another body or address it is refused (422)."},
    {WEB_POST, API_PATH "policies/{policy}/retire", "Idempotency-Key", false,
     "Up to 255 visible characters: the same key again is the same move; with another body or "
     "address, within 7 days, it is refused (422)."},
    {WEB_POST, API_PATH "moderation/policies/{policy}/merge", "Idempotency-Key", false, SAME_ACT},
    {WEB_POST, API_PATH "moderation/policies/{policy}/delete", "Idempotency-Key", false, SAME_ACT},
    {WEB_POST, API_PATH "moderation/policies/{policy}/restore", "Idempotency-Key", false, SAME_ACT},
    {WEB_POST, API_PATH "journals/{journal}/entries", "Idempotency-Key", false,
     "Up to 255 visible characters: the same request again under the same key puts nothing twice "
     "(outcome repeated), also where entries have no key; with another body it is refused (422)."},
    {WEB_PATCH, API_PATH "policies/{policy}", "If-Match", true,
     "The ETag of the policy, or the version of its text, that this is a change of."},
    {0},
};

bool api_is_documented(const WebRoute *route)
{
    return slice_starts_with(slice_from(route->path), SLICE(API_PATH));
}

static const ApiSchema *api_schema_of(const WebRoute *route)
{
    size_t i = 0;
    if (route->answers == NULL)
        return NULL;
    while (API_SCHEMAS[i] != NULL && strcmp(API_SCHEMAS[i]->name, route->answers) != 0)
        i++;
    CHECK(API_SCHEMAS[i] != NULL);
    return API_SCHEMAS[i];
}

static bool schema_holds(const ApiSchema *whole, const ApiSchema *part)
{
    for (size_t i = 0; whole != part && i < whole->count; i++)
        if (whole->members[i].schema != NULL && schema_holds(whole->members[i].schema, part))
            return true;
    return whole == part;
}

bool api_schema_is_used(const ApiSchema *schema)
{
    const WebRoute *route;
    for (size_t i = 0; (route = site_route(i)) != NULL; i++)
        if (api_is_documented(route) && api_schema_of(route) != NULL &&
            schema_holds(api_schema_of(route), schema))
            return true;
    return false;
}

static void put_ref(JsonWriter *json, const char *name)
{
    char path[128];
    size_t size = (size_t)snprintf(path, sizeof path, "#/components/schemas/%s", name);
    CHECK(size < sizeof path);
    json_object_begin(json);
    json_member_text(json, "$ref", path);
    json_object_end(json);
}

/* ---- Schemas --------------------------------------------------------------------------------------------------------------- */

/*    by ApiKind: JSON's type, format */
static const struct {
    const char *type, *format;
} TYPES[] = {
    [API_COUNT] = {"integer", NULL}, [API_NUMBER] = {"integer", NULL},
    [API_SMALL] = {"integer", NULL}, [API_SWITCH] = {"boolean", NULL},
    [API_TEXT] = {"string", NULL},   [API_WORDS] = {"string", NULL},
    [API_ID] = {"string", NULL},     [API_TIME] = {"string", "date-time"},
    [API_CHOICE] = {"string", NULL}, [API_OBJECT] = {"object", NULL},
    [API_LIST] = {"array", NULL},    [API_SOME] = {"array", NULL},
    [API_TEXTS] = {"array", NULL},   [API_LABELS] = {"array", NULL},
    [API_NUMBERS] = {"array", NULL}, [API_HOLDINGS] = {"object", NULL},
};

static void put_items(JsonWriter *json, const ApiMember *member)
{
    json_key(json, "items");
    if (member->schema != NULL) {
        put_ref(json, member->schema->name);
        return;
    }
    json_object_begin(json);
    json_member_text(json, "type", member->kind == API_NUMBERS ? "integer" : "string");
    json_object_end(json);
}

/* What a kind says beyond its type. */
static void put_rest(JsonWriter *json, const ApiMember *member, bool nullable)
{
    if (TYPES[member->kind].format != NULL)
        json_member_text(json, "format", TYPES[member->kind].format);
    if (member->kind == API_COUNT || member->kind == API_SMALL)
        json_member_i64(json, "minimum", 0);
    if (member->kind == API_ID)
        json_member_text(json, "pattern", "^[0-9a-f]{32}$");
    if (strcmp(TYPES[member->kind].type, "array") == 0)
        put_items(json, member);
    if (member->kind == API_HOLDINGS) {
        put_object(json, "additionalProperties");
        json_member_text(json, "type", "integer");
        json_object_end(json);
    }
    if (member->words != NULL) {
        put_array(json, "enum");
        for (size_t i = 0; member->words[i] != NULL; i++)
            json_put_string(json, slice_from(member->words[i]));
        if (nullable)
            json_put_null(json);
        json_array_end(json);
    }
}

static void put_member(JsonWriter *json, const ApiMember *member)
{
    const char *type = TYPES[member->kind].type;
    bool nullable = member->or_null || member->has_when;
    put_object(json, member->name);
    json_member_text(json, "description", member->help);
    if (member->kind == API_OBJECT) {
        put_array(json, "anyOf");
        put_ref(json, member->schema->name);
        json_object_begin(json);
        json_member_text(json, "type", "null");
        json_object_end(json);
        json_array_end(json);
    } else if (nullable) {
        put_array(json, "type");
        json_put_string(json, slice_from(type));
        json_put_string(json, SLICE("null"));
        json_array_end(json);
    } else {
        json_member_text(json, "type", type);
    }
    if (member->kind != API_OBJECT)
        put_rest(json, member, nullable);
    json_object_end(json);
}

static void put_schema(JsonWriter *json, const ApiSchema *schema)
{
    put_object(json, schema->name);
    json_member_text(json, "type", "object");
    json_member_text(json, "description", schema->help);
    put_object(json, "properties");
    for (size_t i = 0; i < schema->count; i++)
        put_member(json, &schema->members[i]);
    json_object_end(json);
    put_array(json, "required");
    for (size_t i = 0; i < schema->count; i++)
        json_put_string(json, slice_from(schema->members[i].name));
    json_array_end(json);
    json_member_bool(json, "additionalProperties", false);
    json_object_end(json);
}

static void put_error_schema(JsonWriter *json)
{
    static const struct {
        const char *name, *help;
    } MEMBERS[] = {{"status", "A word for what happened."},
                   {"field", "Which part of the request it is about."},
                   {"rule", "Which rule that part breaks, as a sentence."},
                   {"request", "Names the request; also in the header X-Request-Id."}};
    put_object(json, "Error");
    json_member_text(json, "type", "object");
    json_member_text(json, "description", "Why a request failed.");
    put_object(json, "properties");
    put_object(json, "error");
    json_member_text(json, "type", "object");
    put_object(json, "properties");
    for (size_t i = 0; i < sizeof MEMBERS / sizeof MEMBERS[0]; i++) {
        put_object(json, MEMBERS[i].name);
        json_member_text(json, "type", "string");
        json_member_text(json, "description", MEMBERS[i].help);
        json_object_end(json);
    }
    json_object_end(json);
    put_array(json, "required");
    json_put_string(json, SLICE("status"));
    json_put_string(json, SLICE("request"));
    json_array_end(json);
    json_object_end(json);
    json_object_end(json);
    put_array(json, "required");
    json_put_string(json, SLICE("error"));
    json_array_end(json);
    json_object_end(json);
}

/* ---- Operations ------------------------------------------------------------------------------------------------------------ */

static void put_content(JsonWriter *json, const char *type, const char *schema, const char *other)
{
    put_object(json, "content");
    put_object(json, type);
    if (schema != NULL && other != NULL) {
        put_object(json, "schema");
        put_array(json, "anyOf");
        put_ref(json, schema);
        put_ref(json, other);
        json_array_end(json);
        json_object_end(json);
    } else if (schema != NULL) {
        json_key(json, "schema");
        put_ref(json, schema);
    }
    json_object_end(json);
    json_object_end(json);
}

static void put_answer(JsonWriter *json, const WebRoute *route, const ApiSchema *schema)
{
    if (!route->answers_lists) {
        put_content(json, "application/json", schema->name, NULL);
        return;
    }
    put_object(json, "content");
    put_object(json, "application/json");
    put_object(json, "schema");
    put_array(json, "anyOf");
    put_ref(json, schema->name);
    json_object_begin(json);
    json_member_text(json, "type", "array");
    json_key(json, "items");
    put_ref(json, schema->name);
    json_object_end(json);
    json_array_end(json);
    for (int i = 0; i < 3; i++)
        json_object_end(json);
}

static void put_response(JsonWriter *json, const char *code, const char *help)
{
    put_object(json, code);
    json_member_text(json, "description", help);
}

static void put_responses(JsonWriter *json, const WebRoute *route)
{
    const ApiSchema *schema = api_schema_of(route);
    bool is_made = route->method == WEB_POST;
    put_object(json, "responses");
    put_response(json, "200", schema != NULL ? schema->help : "See above.");
    if (schema != NULL)
        put_answer(json, route, schema);
    json_object_end(json);
    if (schema != NULL && is_made) {
        put_response(json, "201", schema->help);
        put_answer(json, route, schema);
        json_object_end(json);
    }
    if (route->method == WEB_GET) {
        put_response(json, "304", "The version that If-None-Match names still stands.");
        json_object_end(json);
    }
    for (size_t i = 0; schema != NULL && schema->tells_failure && i < 3; i++) {
        static const char *const CODES[] = {"409", "422", "503"};
        put_response(json, CODES[i], "The outcome, or why the request failed.");
        put_content(json, "application/json", schema->name, "Error");
        json_object_end(json);
    }
    put_response(json, "default", "Why the request failed.");
    put_content(json, "application/json", "Error", NULL);
    json_object_end(json);
    json_object_end(json);
}

static void put_way(JsonWriter *json, const char *first, const char *second)
{
    json_object_begin(json);
    put_array(json, first);
    json_array_end(json);
    if (second != NULL) {
        put_array(json, second);
        json_array_end(json);
    }
    json_object_end(json);
}

static void put_operation(JsonWriter *json, const WebRoute *route)
{
    static const char *const NAMES[] = {[WEB_GET] = "get",
                                        [WEB_POST] = "post",
                                        [WEB_PUT] = "put",
                                        [WEB_PATCH] = "patch",
                                        [WEB_DELETE] = "delete"};
    put_object(json, NAMES[route->method]);
    json_member_text(json, "summary", route->help);
    put_array(json, "tags");
    json_put_string(json, slice_from(route->tag != NULL ? route->tag : "other"));
    json_array_end(json);
    bool is_change = route->method != WEB_GET;
    put_array(json, "security");
    if (route->access != WEB_PUBLIC && (route->access != WEB_GUEST || is_change)) {
        put_way(json, "token", NULL);
        put_way(json, route->access == WEB_GUEST ? "visitor" : "session",
                is_change ? "csrf" : NULL);
    }
    json_array_end(json);
    api_put_params(json, route);
    if (route_takes(route, WEB_JSON))
        api_put_body(json, route);
    put_responses(json, route);
    json_object_end(json);
}

/* ---- The whole -------------------------------------------------------------------------------------------------------------- */

static void put_schemes(JsonWriter *json)
{
    static const struct {
        const char *name, *type, *in, *key, *help;
    } SCHEMES[] = {
        {"token", "http", NULL, NULL,
         "A personal token, made on the page /my/tokens: Authorization: Bearer ost_…"},
        {"session", "apiKey", "cookie", "session",
         "The session of a browser, for this site's own pages. Over https the cookie is called "
         "__Host-session."},
        {"visitor", "apiKey", "cookie", "visitor",
         "Of a browser before it has a session; GET /api/v1/session sets it."},
        {"csrf", "apiKey", "header", "X-CSRF-Token",
         "Beside a cookie, for requests that change something: `csrf` of GET /api/v1/session."}};
    put_object(json, "securitySchemes");
    for (size_t i = 0; i < sizeof SCHEMES / sizeof SCHEMES[0]; i++) {
        put_object(json, SCHEMES[i].name);
        json_member_text(json, "type", SCHEMES[i].type);
        json_member_text(json, "description", SCHEMES[i].help);
        if (SCHEMES[i].in != NULL) {
            json_member_text(json, "in", SCHEMES[i].in);
            json_member_text(json, "name", SCHEMES[i].key);
        } else {
            json_member_text(json, "scheme", "bearer");
        }
        json_object_end(json);
    }
    json_object_end(json);
}

static void put_info(JsonWriter *json, const Site *site, Slice server)
{
    put_object(json, "info");
    json_member_string(json, "title", slice_from(site->options.config->site_name));
    json_member_text(json, "version", "1");
    json_member_text(json, "description",
                     "Everything on the pages of this site, for programs. Public GET requests may "
                     "come from scripts of other sites, without a session; nothing else may. "
                     "Members that are not listed are refused in bodies and never come in answers; "
                     "query parameters that are not listed are ignored.");
    json_object_end(json);
    put_array(json, "servers");
    json_object_begin(json);
    json_member_string(json, "url", server);
    json_object_end(json);
    json_array_end(json);
}

/* OpenAPI 3.1. */
static void api_document(const Site *site, Slice server, Buffer *out)
{
    JsonWriter writer = json_writer(out), *json = &writer;
    json_object_begin(json);
    json_member_text(json, "openapi", "3.1.0");
    put_info(json, site, server);
    /* Rows of one path may stand apart; they are one entry, at the first of them. */
    size_t count;
    const WebRoute *routes = site_routes(&count);
    put_object(json, "paths");
    for (size_t i = 0; i < count; i++) {
        const char *path = routes[i].path;
        size_t first = 0;
        while (strcmp(routes[first].path, path) != 0)
            first++;
        if (!api_is_documented(&routes[i]) || first != i)
            continue;
        put_object(json, path);
        for (size_t k = i; k < count; k++)
            if (strcmp(routes[k].path, path) == 0)
                put_operation(json, &routes[k]);
        json_object_end(json);
    }
    json_object_end(json);
    put_object(json, "components");
    put_object(json, "schemas");
    for (size_t i = 0; API_SCHEMAS[i] != NULL; i++)
        if (api_schema_is_used(API_SCHEMAS[i]))
            put_schema(json, API_SCHEMAS[i]);
    put_error_schema(json);
    json_object_end(json);
    put_schemes(json);
    json_object_end(json);
    json_object_end(json);
}

static Status give_document(WebRequest *request)
{
    Buffer *out = web_out(request, "application/json");
    web_header(request, "Access-Control-Allow-Origin", "*");
    api_document(site_of(request), web_public_url(request), out);
    return STATUS_OK;
}

static const WebRoute ROUTES[] = {
    {WEB_GET, API_PATH "openapi.json", give_document, .cache_ms = 60000, .tag = "other",
     .help = "This document."},
};
ROUTE_TABLE(API_DOCS, ROUTES);
