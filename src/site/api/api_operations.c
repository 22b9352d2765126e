/* api_operations.c -- the JSON interface as a door to the operations: a route for each row, one handler for all.
 *
 * An input whose name stands in the path is read from there, others from the query of a GET or DELETE and from the JSON body of all else. What may
 * be done once (INPUT_ONCE) is named by the header Idempotency-Key. */
#include <stdio.h>
#include <stdlib.h>

#include "site/api/api.h"
#include "site/forms.h"
#include "web/errors.h"

Status api_answer(WebRequest *request, const ApiSchema *schema, const void *view)
{
    const WebRoute *route = web_route(request);
    CHECK(route->answers != NULL && strcmp(route->answers, schema->name) == 0);
    if (site_viewer(request)->known || route->access != WEB_PUBLIC || route->method != WEB_GET)
        web_private(request);
    /* What everybody may read, scripts of other sites may, too; "*" never comes with anybody's session. */
    if (route->access == WEB_PUBLIC && route->method == WEB_GET)
        web_header(request, "Access-Control-Allow-Origin", "*");
    JsonWriter json = web_write_json(request);
    schema_write(&json, schema, view, web_arena(request));
    return STATUS_OK;
}

Status api_answer_done(WebRequest *request)
{
    Done done = {true};
    return api_answer(request, &SCHEMA_DONE, &done);
}

/* An ETag that we gave, or the version that it begins with; quotes and W/ may be there or not. */
static Status read_if_match(WebRequest *request, WebValue *ret_value)
{
    Id version;
    Slice match = slice_trim(web_head(request, HEAD_IF_MATCH));
    if (slice_starts_with(match, SLICE("W/")))
        match = slice_after(match, 2);
    if (slice_starts_with(match, SLICE("\"")))
        match = slice_after(match, 1);
    match = slice_of(match.data, match.size < ID_TEXT ? match.size : ID_TEXT);
    *ret_value = (WebValue){.present = true, .text = match};
    if (id_from_text(match, &version) == STATUS_OK)
        return STATUS_OK;
    return reason_set(web_reason(request), STATUS_INVALID, "If-Match",
                      "must be the ETag of what this is a change of");
}

static bool has_if_match(const Operation *operation)
{
    bool found = false;
    for (size_t i = 0; i < operation_input_count(operation); i++)
        found |= operation->inputs[i].if_match;
    return found;
}

static Status bind_all(WebRequest *request, const Operation *operation, void *to)
{
    Operations *ops = site_of(request)->ops;
    const WebRoute *route = web_route(request);
    for (size_t i = 0; i < operation_input_count(operation); i++) {
        const Input *input = &operation->inputs[i];
        WebValue value = {.present = false};
        if (input->if_match)
            TRY(read_if_match(request, &value));
        if (input->no_api) {
            TRY(input_bind_left_out(ops, input, web_arena(request), to, web_reason(request)));
            continue;
        }
        for (size_t j = 0; j < route_param_count(route); j++)
            if (strcmp(route->params[j].name, input->name) == 0)
                value = *web_value(request, j);
        TRY(input_bind(ops, input, &value, web_arena(request), to, web_reason(request)));
        if (input->kind == INPUT_ONCE) {
            Id key;
            TRY(api_key(request, &key));
            if (!id_is_zero(key) && value.present)
                return reason_set(web_reason(request), STATUS_INVALID, input->name,
                                  "is not for requests that have an Idempotency-Key");
            if (!id_is_zero(key))
                *(Id *)(void *)((char *)to + input->offset) = key;
        }
    }
    return STATUS_OK;
}

void site_set_cookies(WebRequest *request, const Cookies *cookies)
{
    for (size_t i = 0; i < cookies->count; i++)
        web_set_cookie(request, cookies->list[i].kind, cookies->list[i].value,
                       cookies->list[i].life);
}

void operation_set_cookies(WebRequest *request, const Operation *operation, const void *answer)
{
    if (operation->cookies != 0)
        site_set_cookies(request, (const void *)((const char *)answer + operation->cookies));
}

/* It is done; a program reads again what it wanted to know. */
static Status answer_unread(WebRequest *request)
{
    web_private(request);
    JsonWriter json = web_write_json(request);
    json_object_begin(&json);
    json_member_bool(&json, "done", true);
    json_member_bool(&json, "read", false);
    json_object_end(&json);
    return STATUS_OK;
}

/* 204: there was nothing to hand out. */
static Status answer_nothing(WebRequest *request, Slice next_at)
{
    web_private(request);
    web_code(request, 204);
    if (next_at.size > 0)
        web_header(request, "X-Next-At", arena_text(web_arena(request), next_at));
    return STATUS_OK;
}

static Status answer_call(WebRequest *request, const OperationCall *call)
{
    const Operation *operation = call->operation;
    const void *answer = call->answer;
    Arena *arena = web_arena(request);
    Slice next_at;
    Status status = call->status, outcome = call->outcome;
    if (outcome == STATUS_OK || outcome == STATUS_UNKNOWN)
        api_key_used(request);
    if (status == STATUS_CONFLICT && has_if_match(operation))
        return web_fail(request, ERROR_PRECONDITION,
                        reason_set(web_reason(request), status, "If-Match",
                                   "it has changed meanwhile; read it again"));
    TRY(status);
    operation_set_cookies(request, operation, answer);
    if (call->is_unread)
        return answer_unread(request);
    if (operation->api.nothing != NULL && operation->api.nothing(answer, arena, &next_at))
        return answer_nothing(request, next_at);
    if (outcome == STATUS_UNKNOWN)
        web_header(request, "Retry-After", "5");
    if (outcome != STATUS_OK)
        web_code(request, status_http(outcome));
    else if (operation->api.code != 0)
        web_code(request, operation->api.code);
    if (operation->api.etag != NULL && web_etag(request, operation->api.etag(answer, arena)))
        return STATUS_OK;
    return operation->answers != NULL ? api_answer(request, operation->answers, answer)
                                      : api_answer_done(request);
}

/* An answer that comes later. */
typedef struct ApiWork {
    OperationLater *later;
    OperationCall call;
} ApiWork;

static void ready(void *request)
{
    web_ready(request);
}

static void start_work(void *self)
{
    ApiWork *work = self;
    work->later->start(work->later->work);
}

static void cancel_work(void *self)
{
    ApiWork *work = self;
    work->later->cancel(work->later->work);
}

static Status end_work(WebRequest *request, void *self)
{
    ApiWork *work = self;
    work->call.outcome = work->call.status = work->later->end(
        work->later->work, web_is_gone(request), work->call.answer, web_reason(request));
    return answer_call(request, &work->call);
}

static Status begin_work(WebRequest *request, const OperationCall *call)
{
    ApiWork *work = ARENA_NEW(web_arena(request), ApiWork);
    work->call = *call;
    TRY(operation_admit(call->operation, call->actor, web_reason(request)));
    TRY(call->operation->begin(site_of(request)->ops, call->actor, call->request,
                               web_arena(request), &work->later, web_reason(request)));
    work->later->ready = ready;
    work->later->self = request;
    web_later(request, &(WebLater){start_work, cancel_work, end_work, work});
    return STATUS_OK;
}

static Status api_operation(WebRequest *request)
{
    const Operation *operation = web_route(request)->row;
    Arena *arena = web_arena(request);
    void *to = arena_alloc(arena, operation->request_size),
         *answer = arena_alloc(arena, operation->answer_size);
    memset(to, 0, operation->request_size);
    memset(answer, 0, operation->answer_size);
    TRY(bind_all(request, operation, to));
    OperationCall call = {.operation = operation,
                          .actor = site_actor(request),
                          .request = to,
                          .answer = answer,
                          .arena = arena,
                          .reason = web_reason(request)};
    if (operation->begin != NULL)
        return begin_work(request, &call);
    (void)!operation_run(site_of(request)->ops, &call);
    return answer_call(request, &call);
}

static Status admits(WebRequest *request)
{
    const Operation *operation = web_route(request)->row;
    Slice first = SLICE_EMPTY;
    if (web_route(request)->params[0].from == WEB_PATH)
        TRY(web_path_text(request, 0, &first));
    return operation->admits(site_of(request)->ops, site_actor(request), first,
                             web_reason(request));
}

/* ---- The routes ---------------------------------------------------------------------------------------------------------------- */

size_t operation_params(const Operation *operation, const char *path, WebFrom other,
                        WebParam *ret_params)
{
    size_t count = 0;
    Slice rest = slice_from(path), segment;
    while (slice_split(&rest, '/',
                       &segment)) { /* as `web` wants them: the path's own first, in its order */
        if (segment.size < 3 || segment.data[0] != '{')
            continue;
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)segment.size - 2, segment.data + 1);
        const Input *input = operation_input(operation, name);
        CHECK(input != NULL && "a name in the path is an input");
        ret_params[count++] = input_param(input, WEB_PATH);
    }
    size_t in_path = count;
    for (size_t i = 0; i < operation_input_count(operation); i++) {
        const Input *input = &operation->inputs[i];
        bool is_there = other == WEB_FORM ? input->no_page
                                          : input->no_api || input->if_match ||
                                                (input->kind == INPUT_ONCE && !input->in_body);
        for (size_t j = 0; j < in_path; j++)
            is_there |= strcmp(ret_params[j].name, input->name) == 0;
        if (!is_there)
            ret_params[count++] = input_param(input, other);
    }
    return count;
}

WebRoute operation_route(const Operation *operation)
{
    WebMethod method = operation->api.method;
    WebFrom from = method == WEB_GET || method == WEB_DELETE ? WEB_QUERY : WEB_JSON;
    char *path = NULL;
    CHECK(asprintf(&path, API_PATH "%s", operation->api.path) > 0);
    WebRoute route = {.method = operation->api.method,
                      .path = path,
                      .handler = api_operation,
                      .access = operation->access,
                      .whose = operation->whose,
                      .roles = operation->roles,
                      .needs = operation->needs,
                      .seconds = operation->seconds,
                      .asks = operation->asks,
                      .by_program = operation->by_program,
                      .always = operation->always,
                      .admits = operation->admits != NULL ? admits : NULL,
                      .threads = operation->threads,
                      .origin_rule = operation->origin_rule,
                      .cache_ms = operation->api.cache_ms,
                      .help = operation->help,
                      .answers = operation->answers != NULL ? operation->answers->name : "Done",
                      .tag = operation->api.tag,
                      .shows = operation->name,
                      .row = operation};
    size_t count = operation_params(operation, operation->api.path, from, route.params);
    for (size_t i = 0; i < count; i++) {
        if (route.params[i].kind == WEB_SLUG) /* programs name a policy by its number alone */
            route.params[i].kind = WEB_ID;
        if (route.params[i].from == WEB_JSON)
            route.body_bytes = site_body_bytes(operation);
    }
    return route;
}
