/* cached.c -- answers from the page cache, for visitors who are nobody in particular; see WebRoute.cache_ms.
 *
 * A request with a session or an authorization is admitted before it comes here, and does not when it is somebody's: nonsense in a cookie
 * costs a look into the store and no rendering. An answer that was made for somebody (the viewer is somebody, a cookie is set, it says
 * no-store) is never kept. So no one gets to see what was rendered for another. */
#include "web/server_private.h"

bool cached_is_for(const WebRequest *request)
{
    const WebRoute *route = request->match.route;
    return request->server->page_cache != NULL && route != NULL && route->cache_ms != 0;
}

bool cached_must_admit(const WebRequest *request)
{
    const char *name = request->server->options.session_cookie;
    if (request->head.present[HEAD_AUTHORIZATION])
        return true;
    if (!request->head.present[HEAD_COOKIE])
        return false;
    return name == NULL || web_cookie(request, name).size > 0;
}

/* What a parameter's value adds to the name of a page; with `to` NULL only how much. */
static size_t put_value(char *to, const WebParam *param, const WebValue *value)
{
    static const unsigned WITH_TEXT =
        1u << WEB_LINE | 1u << WEB_TEXT | 1u << WEB_OPAQUE | 1u << WEB_SLUG;
    Slice text = (WITH_TEXT & 1u << param->kind) != 0 ? value->text : SLICE_EMPTY;
    size_t size = 1 + 2 * sizeof(uint64_t) + text.size;
    if (!value->present)
        size = 1;
    if (to == NULL)
        return size;
    to[0] = value->present;
    if (!value->present)
        return size;
    bytes_put_u64(to + 1, (uint64_t)value->number);
    bytes_put_u64(to + 1 + sizeof(uint64_t), text.size);
    if (text.size > 0)
        memcpy(to + 1 + 2 * sizeof(uint64_t), text.data, text.size);
    return size;
}

/* The route and what its parameters hold, as they were read: however an address is spelled, and whatever else stands in it (but for
 * WebOptions.page_variant), it is the same page. */
static PageKey key_of(WebRequest *request)
{
    const WebRoute *route = request->match.route;
    const WebOptions *options = &request->server->options;
    size_t count = route_param_count(route), size = 2 * sizeof(uint64_t);
    for (size_t i = 0; i < count; i++)
        size += put_value(NULL, &route->params[i], &request->values[i]);
    char *name = arena_bytes(request->arena, size), *at = name + 2 * sizeof(uint64_t);
    bytes_put_u64(name, (uint64_t)(route - request->server->routes));
    bytes_put_u64(name + sizeof(uint64_t),
                  options->page_variant != NULL ? options->page_variant(request) : 0);
    for (size_t i = 0; i < count; i++)
        at += put_value(at, &route->params[i], &request->values[i]);
    return (PageKey){slice_of(name, size), web_wants_json(request)};
}

/* Browsers and proxies may keep it, but ask each time whether it is still so; that costs a 304. Whoever logs in gets
 * another page for the same address, and so does a program. */
static void put_page_headers(WebRequest *request, const CachedPage *page)
{
    size_t count;
    const PageHeader *headers = page_headers(page, &count);
    web_header(request, "Cache-Control", "no-cache");
    for (size_t i = 0; i < count; i++)
        web_header(request, headers[i].name, headers[i].value);
    web_header(request, "Vary", "Accept, Accept-Encoding, Authorization, Cookie");
    web_header(request, "ETag", page_etag(page));
}

static void show_page(WebRequest *request, CachedPage *page)
{
    WebAnswer *answer = &request->answer;
    Slice etag = slice_from(page_etag(page));
    answer_clear(request);
    if (http_etag_matches(web_head(request, HEAD_IF_NONE_MATCH), etag)) {
        put_page_headers(request, page);
        web_code(request, 304);
        return;
    }
    Slice body = page_encoded(page, web_head(request, HEAD_ACCEPT_ENCODING), &answer->encoding);
    web_static(request, page_content_type(page), body);
    answer->is_page = !answer->close;
    if (answer->is_page && page_head(page, answer->encoding).size > 0)
        return; /* which has the headers */
    put_page_headers(request, page);
    if (answer->encoding != HTTP_IDENTITY)
        web_header(request, "Content-Encoding", http_encoding_name(answer->encoding));
}

static int64_t age_us(const WebRequest *request)
{
    int64_t ms = request->match.route->cache_ms, most_ms = request->server->options.cache_most_ms;
    return (most_ms != 0 && ms > most_ms ? most_ms : ms) * US_PER_MS;
}

/* A cookie that admit set is not sent with a page that is everybody's; the next answer that is not from memory sets it. */
bool cached_answer(WebRequest *request)
{
    PageCache *cache = request->server->page_cache;
    const WebOptions *options = &request->server->options;
    int64_t since_us = options->pages_since != NULL ? options->pages_since(options->context) : 0;
    PageAge age = {age_us(request), since_us};
    request->cookie_count = 0;
    if (request->renders_page) {
        request->page = page_cache_find(cache, request->page_key, age);
    } else {
        request->page_key = key_of(request);
        request->page = page_cache_get(cache, request->page_key, age);
        request->renders_page = request->page == NULL;
    }
    if (request->page != NULL)
        show_page(request, request->page);
    return request->page != NULL;
}

static bool may_keep(const WebRequest *request)
{
    const WebAnswer *answer = &request->answer;
    size_t control = answer_header(answer, "Cache-Control");
    bool is_public = control == answer->header_count ||
                     strstr(answer->headers[control].value, "no-store") == NULL;
    return answer->code == 200 && answer->content_type != NULL && is_public &&
           !request->is_for_one && request->cookie_count == 0 &&
           answer->header_count + 4 <= PAGE_HEADERS_MAX; /* four are added when it is sent */
}

void cached_keep(WebRequest *request, Status status)
{
    PageCache *cache = request->server->page_cache;
    const WebAnswer *answer = &request->answer;
    PageHeader headers[WEB_HEADERS_MAX];
    if (!request->renders_page)
        return;
    if (status != STATUS_OK || !may_keep(request)) {
        page_cache_skip(cache, request->page_key);
        return;
    }
    for (size_t i = 0; i < answer->header_count; i++)
        headers[i] = (PageHeader){answer->headers[i].name, answer->headers[i].value};
    request->page = page_new(
        &(PageContent){.body = answer_body(request),
                       .made_us = request->made_us != 0 ? request->made_us : request->begun_us,
                       .content_type = answer->content_type,
                       .headers = headers,
                       .header_count = answer->header_count});
    page_cache_put(cache, request->page_key, request->page);
    show_page(request, request->page);
}
