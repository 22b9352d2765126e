/* api_page.c -- the interface for people: the page /api, and docs/api.md. See api.h. */
#include "site/api/api.h"
#include "site/pages.h"

const ApiTag API_TAGS[] = {
    {"rankings", "Rankings"}, {"policies", "Policies"},     {"me", "Your own"},
    {"accounts", "Accounts"}, {"moderation", "Moderation"}, {"admin", "For those who run the site"},
    {"journals", "Journals"}, {"other", "Other"},           {0},
};

const char *api_place(WebFrom from)
{
    static const char *const PLACES[] = {
        [WEB_PATH] = "path", [WEB_QUERY] = "query", [WEB_FORM] = "form", [WEB_JSON] = "body"};
    return PLACES[from];
}

bool api_header_is_of(const ApiHeader *header, const WebRoute *route)
{
    return header->method == route->method && strcmp(header->path, route->path) == 0;
}

bool api_takes_something(const WebRoute *route)
{
    bool takes = route_param_count(route) > 0;
    for (const ApiHeader *header = API_HEADERS; header->name != NULL; header++)
        takes |= api_header_is_of(header, route);
    return takes;
}

const char *api_who(const WebRoute *route)
{
    switch (route->access) {
    case WEB_PUBLIC:
    case WEB_GUEST:
        return "For everybody.";
    case WEB_LOGIN:
        return "For who is logged in, or has a token.";
    case WEB_VOTER:
        return "For voters.";
    case WEB_ROLE:
        return "For those who run the site.";
    }
    return "";
}

const char *api_type(const ApiMember *member)
{
    static const char *const TYPES[] = {
        [API_COUNT] = "number",
        [API_NUMBER] = "number",
        [API_SMALL] = "number",
        [API_SWITCH] = "true or false",
        [API_TEXT] = "text",
        [API_WORDS] = "text",
        [API_ID] = "32 digits",
        [API_TIME] = "time",
        [API_CHOICE] = "a word",
        [API_OBJECT] = "",
        [API_LIST] = "list of",
        [API_SOME] = "list of",
        [API_TEXTS] = "list of texts",
        [API_LABELS] = "list of texts",
        [API_NUMBERS] = "list of numbers",
        [API_HOLDINGS] = "numbers by policy",
    };
    return TYPES[member->kind];
}

static Status show_api(WebRequest *request)
{
    ApiPage page;
    page.routes = site_routes(&page.route_count);
    Frame frame = {.title = SLICE("For programs"),
                   .description = SLICE("The JSON interface: every request and every answer."),
                   .address = SLICE("/api")};
    Buffer *out = page_begin(request, &frame);
    api_page(out, &page);
    page_end(request, out);
    return STATUS_OK;
}

/* ---- docs/api.md --------------------------------------------------------------------------------------------------------- */

static void print_route(const WebRoute *route, Buffer *out)
{
    buffer_print(out, "\n### `%s %s`\n\n%s %s", route_method_name(route->method), route->path,
                 route->help, api_who(route));
    if (route->answers != NULL)
        buffer_print(out, " Answers %s.", route->answers);
    buffer_text(out, "\n");
    if (!api_takes_something(route))
        return;
    buffer_text(out, "\n| name | in | can be left out | what |\n|---|---|---|---|\n");
    for (size_t i = 0; i < route_param_count(route); i++) {
        const WebParam *param = &route->params[i];
        buffer_print(out, "| `%s` | %s | %s | %s |\n", param->name, api_place(param->from),
                     param->optional || param->fallback != NULL ? "yes" : "", param->help);
    }
    for (const ApiHeader *header = API_HEADERS; header->name != NULL; header++)
        if (api_header_is_of(header, route))
            buffer_print(out, "| `%s` | header | %s | %s |\n", header->name,
                         header->required ? "" : "yes", header->help);
}

static void print_schema(const ApiSchema *schema, Buffer *out)
{
    buffer_print(out, "\n### %s\n\n%s\n\n| member | type | what |\n|---|---|---|\n", schema->name,
                 schema->help);
    for (size_t i = 0; i < schema->count; i++) {
        const ApiMember *member = &schema->members[i];
        bool nullable = member->or_null || member->has_when;
        buffer_print(out, "| `%s` | %s%s%s%s | %s |\n", member->name, api_type(member),
                     member->kind == API_LIST || member->kind == API_SOME ? " " : "",
                     member->schema != NULL ? member->schema->name : "", nullable ? " or null" : "",
                     member->help);
    }
}

void api_markdown(Buffer *out)
{
    size_t count;
    const WebRoute *routes = site_routes(&count);
    buffer_text(out,
                "# The JSON interface\n\nPrinted by `ostraka api`; do not edit. The same stands on "
                "the page `/api` of every site, and for tools in `/api/v1/openapi.json`.\n");
    for (const ApiTag *tag = API_TAGS; tag->tag != NULL; tag++) {
        buffer_print(out, "\n## %s\n", tag->title);
        for (size_t i = 0; i < count; i++)
            if (api_is_documented(&routes[i]) && strcmp(routes[i].tag, tag->tag) == 0)
                print_route(&routes[i], out);
    }
    buffer_text(out, "\n## What answers hold\n\nEvery member is in every answer; what is not there "
                     "is null.\n");
    for (size_t i = 0; API_SCHEMAS[i] != NULL; i++)
        if (api_schema_is_used(API_SCHEMAS[i]))
            print_schema(API_SCHEMAS[i], out);
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/api", show_api, .cache_ms = 60000, .help = "The interface for programs, readable."},
};
ROUTE_TABLE(API_PAGE, ROUTES);
