/* forms.c -- shown, refused, stale, unknown, done: one function for each, whatever the form. See forms.h. */
#include "site/forms.h"

#include <stdio.h>

#include "site/pages.h"

enum { TYPED_MAX = 100000, BEGINS_MAX = 1000 };

/* ---- What was typed ------------------------------------------------------------------------------------------------------------- */

static size_t input_at(const Form *form, const char *name)
{
    size_t count = operation_input_count(form->operation), at = 0;
    while (at < count && strcmp(form->operation->inputs[at].name, name) != 0)
        at++;
    return at;
}

Slice form_typed(const Form *form, const char *name)
{
    size_t at = input_at(form, name);
    return at < operation_input_count(form->operation) ? form->typed[at] : SLICE_EMPTY;
}

void form_type(Form *form, const char *name, Slice value)
{
    size_t at = input_at(form, name);
    CHECK(at < operation_input_count(form->operation));
    form->typed[at] = value;
}

bool form_has(const Form *form, const char *name, const char *value)
{
    Slice rest = form_typed(form, name), line;
    while (slice_split(&rest, '\n', &line))
        if (slice_equal(line, slice_from(value)))
            return true;
    return false;
}

Slice form_typed_at(const Form *form, const char *name, uint64_t id)
{
    char begin[24];
    Slice rest = form_typed(form, name), line;
    snprintf(begin, sizeof begin, "%llu=", (unsigned long long)id);
    while (slice_split(&rest, '\n', &line))
        if (slice_starts_with(line, slice_from(begin)))
            return slice_after(line, strlen(begin));
    return SLICE_EMPTY;
}

Status form_thing(WebRequest *request, const Form *form, const char *name, uint64_t *ret_id,
                  Reason *reason)
{
    const Input *input = operation_input(form->operation, name);
    Slice typed = form_typed(form, name);
    char *sent = arena_alloc(web_arena(request), form->operation->request_size);
    memset(sent, 0, form->operation->request_size);
    TRY(input_bind_texts(site_of(request)->ops, input, &typed, 1, web_arena(request), sent,
                         reason));
    *ret_id = *(const uint64_t *)(const void *)(sent + input->offset);
    return STATUS_OK;
}

/* Several fields of one name as lines, so that they come back as they were. */
static Slice joined_texts(WebRequest *request, size_t index)
{
    BUFFER_SCOPE Buffer out = {0};
    size_t count;
    const Slice *texts = web_texts(request, index, &count);
    for (size_t i = 0; i < count; i++)
        buffer_print(&out, "%s%.*s", i > 0 ? "\n" : "", SLICE_ARG(texts[i]));
    return arena_copy(web_arena(request), buffer_slice(&out));
}

static void read_typed(WebRequest *request, Form *form)
{
    const WebRoute *route = web_route(request);
    size_t input_count = operation_input_count(form->operation),
           param_count = route_param_count(route);
    for (size_t i = 0; i < input_count; i++) {
        form->typed[i] = SLICE_EMPTY;
        for (size_t j = 0; j < param_count; j++) {
            const WebParam *param = &route->params[j];
            if (strcmp(param->name, form->operation->inputs[i].name) != 0 || !web_has(request, j))
                continue;
            bool is_number =
                param->kind == WEB_SLUG || param->kind == WEB_ID || param->kind == WEB_NUMBER;
            form->typed[i] = is_number                  ? arena_print(web_arena(request), "%lld",
                                                                      (long long)web_value(request, j)->number)
                             : param->kind == WEB_TEXTS ? joined_texts(request, j)
                                                        : web_text(request, j);
        }
    }
}

Form form_begin(WebRequest *request, const Operation *operation)
{
    bool by_visitor = operation->access == WEB_PUBLIC || operation->access == WEB_GUEST;
    Form form = {.operation = operation,
                 .csrf = by_visitor ? site_form_token(request) : site_viewer(request)->csrf};
    for (size_t i = 0; i < OPERATION_INPUTS_MAX; i++)
        form.typed[i] = SLICE_EMPTY;
    return form;
}

Form form_beside(const Form *form, const Operation *operation)
{
    Form other = {.operation = operation, .csrf = form->csrf};
    if (form->operation == operation)
        return *form;
    for (size_t i = 0; i < OPERATION_INPUTS_MAX; i++)
        other.typed[i] = SLICE_EMPTY;
    return other;
}

static void *new_view(WebRequest *request, const FormPage *page)
{
    Form *form = arena_alloc(web_arena(request), page->size);
    memset(form, 0, page->size);
    *form = form_begin(request, page->operation);
    form->is_sent = web_route(request)->method == WEB_POST;
    read_typed(request, form);
    return form;
}

/* Its address with the names in it filled in. */
static Slice sent_to(const FormPage *page, const Form *form, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    Slice rest = slice_from(form->operation->page.path), segment;
    while (slice_split(&rest, '/', &segment)) {
        char name[64];
        if (segment.size == 0)
            continue;
        buffer_text(&out, "/");
        if (segment.data[0] != '{') {
            buffer_bytes(&out, segment);
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)segment.size - 2, segment.data + 1);
        url_part_put(&out, form_typed(form, name));
    }
    for (size_t i = 0; page->by_link && i < operation_input_count(form->operation); i++) {
        buffer_print(&out, "%s%s=", i == 0 ? "?" : "&", form->operation->inputs[i].name);
        url_part_put(&out, form->typed[i]);
    }
    return arena_copy(arena, buffer_slice(&out));
}

/* ---- Shown ---------------------------------------------------------------------------------------------------------------------- */

Status form_draw(WebRequest *request, const FormPage *page, void *view, int code)
{
    Form *form = view;
    Frame frame = {.title = slice_from(page->title != NULL ? page->title : ""), .is_narrow = true};
    form->action = sent_to(page, form, web_arena(request));
    if (page->fill != NULL)
        TRY(page->fill(request, form, &frame));
    if (frame.title.size == 0)
        return STATUS_OK;
    Buffer *out = page_begin(request, &frame);
    page->draw(out, form);
    page_end(request, out);
    if (form->is_question)
        code = 200;
    else if (code == 200 && form->fault.is_set)
        code = status_http(STATUS_REFUSED);
    web_code(request, code);
    return STATUS_OK;
}

static void type_fallbacks(WebRequest *request, Form *form)
{
    const World *world = &site_of(request)->app->world;
    for (size_t i = 0; i < operation_input_count(form->operation); i++) {
        const Input *input = &form->operation->inputs[i];
        if (input->kind == INPUT_ONCE)
            form->typed[i] = id_text(id_new(world->clock, world->random), web_arena(request));
        else if (form->typed[i].size == 0 && input->fallback != NULL)
            form->typed[i] = slice_from(input->fallback);
    }
}

void *form_view(WebRequest *request, const FormPage *page)
{
    Form *form = new_view(request, page);
    type_fallbacks(request, form);
    return form;
}

Status form_show(WebRequest *request)
{
    const FormPage *page = web_route(request)->row;
    return form_draw(request, page, form_view(request, page), 200);
}

/* ---- Sent ----------------------------------------------------------------------------------------------------------------------- */

/* A form carries all its fields, so what is empty was emptied. Other kinds cannot be empty: they were left out. */
static void mark_emptied(const Input *input, void *sent)
{
    bool can_be_empty = input->kind == INPUT_LINE || input->kind == INPUT_TEXT ||
                        input->kind == INPUT_TEXTS || input->kind == INPUT_CATEGORY ||
                        input->kind == INPUT_PARTY;
    if (input->given != 0 && can_be_empty && !input->no_page)
        *((bool *)sent + input->given) = true;
}

/* What stands in the path is the number itself, whatever people may type for such a thing; NULL: it stands elsewhere. */
static const WebValue *path_value(WebRequest *request, const Input *input)
{
    const WebRoute *route = web_route(request);
    for (size_t i = 0; i < WEB_PARAMS_MAX && route->params[i].name != NULL; i++)
        if (route->params[i].from == WEB_PATH && strcmp(route->params[i].name, input->name) == 0)
            return web_value(request, i);
    return NULL;
}

/* Lines, of which empty ones do not count; none is an empty list, and not "left out". */
static Status bind_lines(WebRequest *request, const Input *input, Slice typed, void *sent,
                         Reason *reason)
{
    Arena *arena = web_arena(request);
    Slice *lines = ARENA_ARRAY(arena, (size_t)input->most_count + 1, Slice), line;
    size_t count = 0;
    while (count <= (size_t)input->most_count && slice_split(&typed, '\n', &line))
        if (slice_trim(line).size > 0)
            lines[count++] = slice_trim(line);
    TRY(input_bind_texts(site_of(request)->ops, input, lines, count, arena, sent, reason));
    if (input->given != 0)
        *((bool *)sent + input->given) = true;
    return STATUS_OK;
}

static Status bind_field(WebRequest *request, const Input *input, Slice typed, void *sent,
                         Reason *reason)
{
    Operations *ops = site_of(request)->ops;
    Arena *arena = web_arena(request);
    const WebValue *in_path = path_value(request, input);
    mark_emptied(input, sent);
    if (in_path != NULL)
        return input_bind(ops, input, in_path, arena, sent, reason);
    if (input->no_page)
        return input_bind_left_out(ops, input, arena, sent, reason);
    if (input->form_optional && typed.size == 0)
        return STATUS_OK;
    if (input->kind == INPUT_TEXTS || input->kind == INPUT_NUMBERS)
        return bind_lines(request, input, typed, sent, reason);
    if (input->form_fallback != NULL && typed.size == 0)
        typed = slice_from(input->form_fallback);
    if (input->kind == INPUT_SWITCH && typed.size == 0)
        typed = SLICE("off");
    return input_bind_texts(ops, input, &typed, typed.size > 0, arena, sent, reason);
}

/* All that is wrong at once: nobody should have to send a form once for each field. */
static Status read_request(WebRequest *request, Form *form, void *sent)
{
    Status first = STATUS_OK;
    for (size_t i = 0; i < operation_input_count(form->operation); i++) {
        Reason reason = {0};
        Status status =
            bind_field(request, &form->operation->inputs[i], form->typed[i], sent, &reason);
        if (status == STATUS_OK)
            continue;
        if (!form_can_be_corrected(status) && status != STATUS_NOT_FOUND)
            return status;
        if (first == STATUS_OK)
            *web_reason(request) = reason;
        form_fault_add(&form->fault, form_fault(&reason), web_arena(request));
        first = STATUS_INVALID;
    }
    return first;
}

static Status show_unknown(WebRequest *request, const Form *form)
{
    Frame frame = {.title = SLICE("We do not know whether it was done"), .is_narrow = true};
    Buffer *out = page_begin(request, &frame);
    form_unknown_page(out, form);
    page_end(request, out);
    web_code(request, status_http(STATUS_UNKNOWN));
    return STATUS_OK;
}

static Status show_unread(WebRequest *request, const Form *form)
{
    Frame frame = {.title = SLICE("It is done"), .is_narrow = true};
    Buffer *out = page_begin(request, &frame);
    form_unread_page(out, form);
    page_end(request, out);
    return STATUS_OK;
}

/* Secrets are typed again. Returns whether there are any. */
static bool forget_secrets(Form *form)
{
    bool any = false;
    for (size_t i = 0; i < operation_input_count(form->operation); i++)
        if (form->operation->inputs[i].kind == INPUT_SECRET) {
            form->typed[i] = SLICE_EMPTY;
            any = true;
        }
    return any;
}

/* The operation stops at the first fault. When it is about none of the fields, that is all there is to say. What could not be read has said
 * so already. Returns whether there are any. */
static bool add_faults(WebRequest *request, Form *form, const void *sent)
{
    Reason reasons[OPERATION_FAULTS_MAX] = {0};
    const Reason *first = web_reason(request);
    bool is_told = form->fault.is_set || first->rule[0] == '\0';
    size_t count = form->operation->faults == NULL
                       ? 0
                       : form->operation->faults(site_of(request)->ops, site_actor(request), sent,
                                                 web_arena(request), reasons);
    for (size_t i = 0; i < count; i++)
        is_told |= strcmp(reasons[i].field, first->field) == 0;
    for (size_t i = 0; is_told && i < count; i++)
        if (form_fault_at(&form->fault, reasons[i].field) == NULL)
            form_fault_add(&form->fault, form_fault(&reasons[i]), web_arena(request));
    return form->fault.is_set;
}

/* A thing that was typed is not there. Where the address names it, the page itself is not there. */
static bool is_typed_wrong(const Operation *operation, Status status, const char *field)
{
    char name[sizeof(((Reason *)NULL)->field) + 2];
    snprintf(name, sizeof name, "{%s}", field);
    return status == STATUS_NOT_FOUND && field[0] != '\0' &&
           strstr(operation->page.path, name) == NULL;
}

static Status answer(WebRequest *request, const FormPage *page, Form *form, Status status)
{
    bool has_code =
        status == STATUS_CONFLICT || status == STATUS_THROTTLED || status == STATUS_UNKNOWN;
    form->status = status;
    form->action = sent_to(page, form, web_arena(request));
    bool has_secrets = forget_secrets(form);
    bool is_sent_again = status == STATUS_UNKNOWN && !has_secrets;
    if (is_sent_again && (!page->draws_unknown || form->answer == NULL))
        return show_unknown(request, form);
    if (page->draw == NULL ||
        (status != STATUS_UNKNOWN && !form_can_be_corrected(status) &&
         !is_typed_wrong(page->operation, status, web_reason(request)->field)))
        return status;
    if (status == STATUS_UNKNOWN)
        (void)reason_set(web_reason(request), status, "",
                         "We do not know whether it was done. Send it again: what was done "
                         "already is not done twice.");
    if (!form->fault.is_set)
        form->fault = form_fault(web_reason(request));
    Status drawn = form_draw(request, page, form, status_http(has_code ? status : STATUS_REFUSED));
    if (drawn != STATUS_OK && is_sent_again)
        return show_unknown(request, form);
    /* An error page tells the same outcome. What was read wrongly did nothing, so the page's own reason says more. */
    return drawn == STATUS_OK || status == STATUS_INVALID ? drawn : status;
}

/* A form on its way from what was typed to what came of it. */
typedef struct SentForm {
    const FormPage *page;
    Form *form;
    OperationCall call;
    Status read;   /* whether all of it could be */
    bool is_shown; /* as it is, for a look or a change */
    bool is_called;
} SentForm;

static SentForm read_form(WebRequest *request)
{
    const FormPage *page = web_route(request)->row;
    const Operation *operation = page->operation;
    Arena *arena = web_arena(request);
    Form *form = new_view(request, page);
    void *sent = arena_alloc(arena, operation->request_size),
         *done = arena_alloc(arena, operation->answer_size);
    memset(sent, 0, operation->request_size);
    memset(done, 0, operation->answer_size);
    Slice act = page->previews ? web_field(request, WEB_FORM, "act") : SLICE_EMPTY;
    Status status = read_request(request, form, sent);
    if (status == STATUS_OK)
        form->sent = sent;
    else if (form->fault.is_set)
        (void)add_faults(request, form, sent);
    bool is_preview = status == STATUS_OK && slice_equal(act, SLICE("preview"));
    if (is_preview)
        form->is_preview = !add_faults(request, form, sent);
    bool is_shown = is_preview || slice_equal(act, SLICE("change"));
    return (SentForm){.page = page,
                      .form = form,
                      .call = {.operation = operation,
                               .actor = site_actor(request),
                               .request = sent,
                               .answer = done,
                               .arena = arena,
                               .reason = web_reason(request)},
                      .read = status,
                      .is_shown = is_shown,
                      .is_called = !is_shown && status == STATUS_OK};
}

/* It was done. */
static Status answer_done(WebRequest *request, const FormPage *page, Form *form,
                          const OperationCall *call)
{
    const Operation *operation = call->operation;
    operation_set_cookies(request, operation, call->answer);
    if (call->is_unread)
        return show_unread(request, form);
    if (page->sends != NULL)
        return page->sends(request, page, call->answer);
    if (page->shows_answer) {
        *form = form_begin(request, operation);
        type_fallbacks(request, form);
        form->answer = call->answer;
        if (form_draw(request, page, form, 200) == STATUS_OK)
            return STATUS_OK;
        return show_unread(request, form); /* it is done all the same */
    }
    Slice to = slice_from(page->to != NULL ? page->to : page->path != NULL ? page->path : "/");
    if (page->leads != NULL)
        to = page->leads(request, call->request, call->answer);
    if (operation->page.done != NULL && slice_find(to, '?') == to.size)
        site_done(request, to, operation->page.done, 0);
    else
        web_redirect(request, 303, to);
    return STATUS_OK;
}

static Status answer_form(WebRequest *request, SentForm *sent)
{
    Form *form = sent->form;
    const OperationCall *call = &sent->call;
    if (sent->is_shown)
        return form_draw(request, sent->page, form, 200);
    Status status = sent->is_called ? call->outcome : sent->read;
    if (sent->is_called && form_can_be_corrected(call->status))
        (void)add_faults(request, form, call->request);
    if (status == STATUS_OK)
        return answer_done(request, sent->page, form, call);
    form->answer = sent->is_called && call->status == STATUS_OK ? call->answer : NULL;
    return answer(request, sent->page, form, status);
}

/* WebRoute.batch: what everybody wants is done before anybody's page is made. */
static void take_forms(WebRequest *const *requests, size_t count, Status *ret_statuses)
{
    SentForm sent[WEB_BATCH_MAX];
    OperationCall *calls[WEB_BATCH_MAX];
    size_t call_count = 0;
    for (size_t i = 0; i < count; i++) {
        sent[i] = read_form(requests[i]);
        if (sent[i].is_called)
            calls[call_count++] = &sent[i].call;
    }
    operation_run_many(site_of(requests[0])->ops, calls, call_count);
    for (size_t i = 0; i < count; i++)
        ret_statuses[i] = answer_form(requests[i], &sent[i]);
}

static Status take_form(WebRequest *request)
{
    Status status;
    take_forms(&request, 1, &status);
    return status;
}

/* ---- The routes ----------------------------------------------------------------------------------------------------------------- */

static WebRoute route_of(const FormPage *page)
{
    const Operation *operation = page->operation;
    return (WebRoute){.access = operation->access,
                      .whose = operation->whose,
                      .roles = operation->roles,
                      .needs = operation->needs,
                      .seconds = operation->seconds,
                      .always = operation->always,
                      .threads = operation->threads,
                      .help = operation->help,
                      .row = page};
}

/* Whatever was typed comes back: its kind and bounds are judged when it is bound, not before. */
static void as_typed(const Operation *operation, WebRoute *route, WebFrom from, int64_t most)
{
    for (size_t i = 0; i < route_param_count(route); i++) {
        const Input *input = operation_input(operation, route->params[i].name);
        bool by_id = input->kind == INPUT_NUMBERS;
        bool list = by_id || (route->params[i].kind == WEB_TEXTS && !input->lines);
        if (route->params[i].from != WEB_PATH)
            route->params[i] = (WebParam){.name = route->params[i].name,
                                          .from = from,
                                          .kind = list ? WEB_TEXTS : WEB_TEXT,
                                          .optional = list,
                                          .fallback = list ? NULL : "",
                                          .most = most,
                                          .most_count = list ? WEB_COUNT_MAX : 0,
                                          .by_id = by_id,
                                          .help = route->params[i].help};
    }
}

bool form_shown_route(const FormPage *page, WebRoute *ret_route)
{
    if (page->path == NULL)
        return false;
    WebRoute route = route_of(page);
    route.method = WEB_GET;
    if (route.threads == WEB_PASSWORD ||
        route.threads == WEB_OUTSIDE) /* which showing it does not need */
        route.threads = WEB_BY_METHOD;
    route.path = page->path;
    route.handler = form_show;
    route.help = page->help != NULL ? page->help : route.help;
    route.shows = page->shows;
    (void)operation_params(page->operation, page->path, WEB_FORM, route.params);
    as_typed(page->operation, &route, WEB_QUERY, BEGINS_MAX);
    *ret_route = route;
    return true;
}

WebRoute form_sent_route(const FormPage *page)
{
    WebRoute route = route_of(page);
    route.method = WEB_POST;
    route.path = page->operation->page.path;
    if (page->operation->run_many != NULL)
        route.batch = take_forms;
    else
        route.handler = take_form;
    route.files = page->operation->files;
    route.body_bytes = site_body_bytes(page->operation);
    route.origin_rule = page->operation->origin_rule;
    route.by_link = page->by_link;
    WebFrom from = page->by_link ? WEB_QUERY : WEB_FORM;
    (void)operation_params(page->operation, route.path, from, route.params);
    as_typed(page->operation, &route, from, route.files ? INT32_MAX : TYPED_MAX);
    return route;
}
