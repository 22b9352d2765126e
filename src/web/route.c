/* route.c -- finding a route, and checking the table. The search is a walk over the rows: nearly
 * all of them are dismissed by the number of their segments or by their first eight bytes, which stand side by side: rows are large, and
 * a few hundred of them would cost as much as a system call. */
#include "web/route.h"

#include <stdlib.h>

#include "web/http_rules.h"

static const char *const METHODS[WEB_METHODS] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

bool route_method(Slice text, WebMethod *ret_method)
{
    for (int method = 0; method < WEB_METHODS; method++) {
        if (slice_equal(text, slice_from(METHODS[method]))) {
            *ret_method = (WebMethod)method;
            return true;
        }
    }
    return false;
}

const char *route_method_name(WebMethod method)
{
    return METHODS[method];
}

const char *route_access_name(WebAccess access)
{
    static const char *const NAMES[] = {[WEB_PUBLIC] = "public",
                                        [WEB_GUEST] = "guest",
                                        [WEB_LOGIN] = "login",
                                        [WEB_VOTER] = "voter",
                                        [WEB_ROLE] = "role"};
    return NAMES[access];
}

/* The next segment of a path or pattern; the leading '/' is gone. False at the end. "a/" has a last, empty one. */
static bool next_segment(Slice *rest, bool *more, Slice *ret_segment)
{
    if (!*more)
        return false;
    size_t end = slice_find(*rest, '/');
    *more = end < rest->size;
    *ret_segment = slice_of(rest->data, end);
    *rest = slice_after(*rest, end + 1);
    return true;
}

static bool is_capture(Slice segment)
{
    return segment.size > 2 && segment.data[0] == '{';
}

static bool path_fits(const char *pattern, Slice path, Slice captures[WEB_CAPTURES_MAX])
{
    Slice pattern_rest = slice_from(pattern + 1), path_rest = slice_after(path, 1);
    Slice wanted, found;
    bool more_wanted = true, more_found = true;
    size_t captured = 0;
    while (next_segment(&pattern_rest, &more_wanted, &wanted)) {
        if (!next_segment(&path_rest, &more_found, &found))
            return false;
        if (is_capture(wanted) && found.size > 0)
            captures[captured++] = found;
        else if (!slice_equal(wanted, found))
            return false;
    }
    return !more_found;
}

/* What every path that fits begins with: `bytes` where `mask` is set. */
typedef struct RouteHead {
    uint64_t bytes, mask;
    const WebRoute *row;
} RouteHead;

static size_t segments_of(Slice path)
{
    size_t count = 0;
    for (size_t i = 0; i < path.size; i++)
        count += path.data[i] == '/';
    return count;
}

/* The first eight bytes; zeros behind a shorter text. */
static uint64_t first_bytes(const char *text, size_t size)
{
    uint64_t bytes = 0;
    memcpy(&bytes, text, size < sizeof bytes ? size : sizeof bytes);
    return bytes;
}

/* Up to the first name; of a short pattern without one also its end. */
static RouteHead head_of(const WebRoute *row)
{
    const char *pattern = row->path;
    size_t size = strlen(pattern), same = slice_find(slice_from(pattern), '{');
    char mask[sizeof(uint64_t)] = {0};
    memset(mask, 0xFF, same == size ? sizeof mask : same < sizeof mask ? same : sizeof mask);
    return (RouteHead){first_bytes(pattern, same), first_bytes(mask, sizeof mask), row};
}

Routes routes_of(const WebRoute *rows, size_t count)
{
    Routes routes = {.heads = calloc(count + 1, sizeof *routes.heads)};
    size_t filled = 0;
    CHECK(routes.heads != NULL);
    for (size_t segments = 0; segments <= WEB_SEGMENTS_MAX; segments++) {
        for (size_t i = 0; i < count; i++)
            if (segments_of(slice_from(rows[i].path)) == segments)
                routes.heads[filled++] = head_of(&rows[i]);
        routes.ends[segments] = filled;
    }
    CHECK(filled == count);
    return routes;
}

void routes_free(Routes *routes)
{
    free(routes->heads);
    routes->heads = NULL;
}

WebMatch routes_find(const Routes *routes, WebMethod method, Slice path)
{
    WebMatch match = {0};
    Slice captures[WEB_CAPTURES_MAX];
    uint64_t first = first_bytes(path.data, path.size);
    size_t segments = segments_of(path);
    if (segments == 0 || segments > WEB_SEGMENTS_MAX)
        return match;
    for (size_t i = routes->ends[segments - 1]; i < routes->ends[segments]; i++) {
        const RouteHead *head = &routes->heads[i];
        const WebRoute *row = head->row;
        if (((first ^ head->bytes) & head->mask) != 0 || !path_fits(row->path, path, captures))
            continue;
        match.allowed |= 1u << row->method;
        if (match.route == NULL && row->method == method) {
            match.route = row;
            memcpy(match.captures, captures, sizeof captures);
        }
    }
    return match;
}

size_t route_param_count(const WebRoute *route)
{
    size_t count = 0;
    while (count < WEB_PARAMS_MAX && route->params[count].name != NULL)
        count++;
    return count;
}

WebThreads route_threads(const WebRoute *route)
{
    if (route->threads != WEB_BY_METHOD)
        return route->threads;
    return route->method == WEB_GET ? WEB_ANSWER : WEB_SAVE;
}

bool route_takes(const WebRoute *route, WebFrom from)
{
    for (size_t i = 0; i < route_param_count(route); i++)
        if (route->params[i].from == from)
            return true;
    return false;
}

/* What a kind asks of its row in the table. */
static const struct {
    bool has_bounds, has_length, is_list;
} KINDS[WEB_KINDS] = {
    [WEB_NUMBER] = {.has_bounds = true},
    [WEB_LINE] = {.has_bounds = true, .has_length = true},
    [WEB_TEXT] = {.has_bounds = true, .has_length = true},
    [WEB_OPAQUE] = {.has_bounds = true, .has_length = true},
    [WEB_NUMBERS] = {.has_bounds = true, .is_list = true},
    [WEB_TEXTS] = {.has_bounds = true, .has_length = true, .is_list = true},
};

static const char *list_fault(const WebParam *param)
{
    if (KINDS[param->kind].is_list != (param->most_count > 0) || param->most_count > WEB_COUNT_MAX)
        return "has a most_count if and only if it is a list";
    if (param->most_count > 0 && (param->from == WEB_PATH || param->fallback != NULL))
        return "is a list, which has no fallback and does not stand in a path";
    return NULL;
}

static const char *param_fault(const WebParam *param)
{
    if (KINDS[param->kind].has_bounds && (param->least > param->most || param->most == 0))
        return "needs bounds";
    if (KINDS[param->kind].has_length && param->least < 0)
        return "has a negative length";
    if ((param->kind == WEB_WORD) != (param->words != NULL))
        return "has words if and only if it is a word";
    if (param->kind == WEB_SLUG && param->from != WEB_PATH)
        return "is a slug, which stands in a path";
    if (param->from == WEB_PATH && (param->optional || param->fallback != NULL))
        return "is part of the path and cannot be left out";
    return list_fault(param);
}

static const WebParam *param_named(const WebRoute *route, Slice name)
{
    for (size_t i = 0; i < route_param_count(route); i++)
        if (slice_equal(name, slice_from(route->params[i].name)))
            return &route->params[i];
    return NULL;
}

const WebParam *route_query_param(const WebRoute *route, Slice encoded, Arena *arena)
{
    Slice name;
    if (http_decode(encoded, HTTP_DECODE_FORM, arena, &name) != STATUS_OK)
        return NULL;
    const WebParam *param = param_named(route, name);
    return param != NULL && param->from == WEB_QUERY ? param : NULL;
}

WebThreads route_threads_with(const WebRoute *route, Slice query, Arena *arena)
{
    Slice name, value;
    while (http_next_pair(&query, &name, &value)) {
        const WebParam *param = route_query_param(route, name, arena);
        if (param != NULL && param->computes && value.size > 0)
            return WEB_COMPUTE;
    }
    return route_threads(route);
}

/* Captures are filled by their order, so the table must name them in that order and first. */
static const char *path_fault(const WebRoute *route)
{
    Slice rest, segment;
    bool more = true;
    size_t captured = 0, from_path = 0;
    if (route->path == NULL || route->path[0] != '/')
        return "has no path that starts with /";
    if (segments_of(slice_from(route->path)) > WEB_SEGMENTS_MAX)
        return "has too many segments in its path";
    rest = slice_from(route->path + 1);
    while (next_segment(&rest, &more, &segment)) {
        if (!is_capture(segment))
            continue;
        const WebParam *param = param_named(route, slice_of(segment.data + 1, segment.size - 2));
        if (captured == WEB_CAPTURES_MAX || param == NULL || param != &route->params[captured] ||
            param->from != WEB_PATH)
            return "must list the parameters of its path first, in the path's order";
        captured++;
    }
    for (size_t i = 0; i < route_param_count(route); i++)
        from_path += route->params[i].from == WEB_PATH;
    return from_path == captured ? NULL : "has a path parameter that is not in its path";
}

static const char *route_fault(const WebRoute *route)
{
    bool has_form = route_takes(route, WEB_FORM), has_json = route_takes(route, WEB_JSON);
    const char *fault = path_fault(route);
    if (fault != NULL)
        return fault;
    if ((route->handler == NULL) == (route->batch == NULL) || route->help == NULL)
        return "has no handler, or two, or no help";
    if ((route->roles != 0) != (route->access == WEB_ROLE || route->whose == WEB_OWN_OR_ROLE))
        return "names roles where none are asked for, or none where they are";
    if (route->access > WEB_GUEST && strchr(route->path, '{') != NULL && route->whose == WEB_UNSAID)
        return "does not say whose the thing in its path may be";
    if (has_form && has_json)
        return "takes either a form or JSON";
    if ((has_form || has_json) && route->body_bytes == 0)
        return "reads a body, so it needs body_bytes";
    if (route->method == WEB_GET && route->body_bytes != 0)
        return "is a GET, which has no body";
    if (route->cache_ms != 0 && (route->method != WEB_GET || route->access != WEB_PUBLIC))
        return "is cached, and so must be a GET for everybody";
    for (size_t i = 0; i < route_param_count(route); i++)
        if (route->cache_ms != 0 && route->params[i].most_count != 0)
            return "is cached, and so takes no lists";
    return NULL;
}

Status routes_check(const WebRoute *routes, size_t count, Reason *reason)
{
    for (size_t i = 0; i < count; i++) {
        const WebRoute *route = &routes[i];
        const char *fault = route_fault(route);
        if (fault != NULL)
            return reason_set(reason, STATUS_INVALID, route->path, "%s", fault);
        for (size_t j = 0; j < route_param_count(route); j++) {
            const WebParam *param = &route->params[j];
            fault = param_named(route, slice_from(param->name)) != param ? "is there twice"
                                                                         : param_fault(param);
            if (fault != NULL)
                return reason_set(reason, STATUS_INVALID, param->name, "%s (%s)", fault,
                                  route->path);
        }
    }
    return STATUS_OK;
}
