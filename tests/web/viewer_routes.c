/* viewer_routes.c -- see viewer_routes.h. */
#include "viewer_routes.h"

#include "web/html.h"

typedef struct Viewer {
    Slice name;
} Viewer;

Status viewer_admit(WebRequest *request)
{
    Slice authorization = web_head(request, HEAD_AUTHORIZATION);
    Slice name = slice_starts_with(authorization, SLICE("Bearer "))
                     ? slice_after(authorization, 7)
                     : web_cookie(request, "session");
    static _Atomic int once;
    if (slice_equal(name, SLICE("nonsense"))) { /* as a session that is over: a visitor */
        web_set_cookie(request, COOKIE_SESSION, SLICE_EMPTY, COOKIE_GONE);
        web_set_visitor(request, NULL);
        name = SLICE_EMPTY;
    }
    if (slice_equal(name, SLICE("once")) && once++ > 0)
        name = SLICE("nobody"); /* logged out between two looks */
    if (slice_equal(name, SLICE("nobody"))) {
        web_set_cookie(request, COOKIE_SESSION, SLICE_EMPTY, COOKIE_GONE);
        return reason_set(web_reason(request), STATUS_DENIED, "session", "is nobody's");
    }
    if (name.size > 0) {
        Viewer *viewer = ARENA_NEW(web_arena(request), Viewer);
        viewer->name = name;
        web_set_viewer(request, viewer);
        return STATUS_OK;
    }
    if (web_route(request)->access == WEB_PUBLIC)
        return STATUS_OK;
    if (web_wants_json(request))
        return STATUS_LOGIN;
    web_redirect(request, 303,
                 arena_print(web_arena(request), "/login?next=%.*s", SLICE_ARG(web_path(request))));
    return STATUS_OK;
}

void viewer_error_page(WebRequest *request, const ErrorWords *words)
{
    Buffer *out = web_html(request);
    HTML(out, "<title>framed</title><h1>");
    html_text(out, slice_from(words->title));
    HTML(out, "</h1><p>");
    html_text(out, slice_from(web_reason(request)->rule));
    HTML(out, "</p>");
}

static Status who(WebRequest *request)
{
    const Viewer *viewer = web_viewer(request);
    char address[ADDRESS_TEXT];
    JsonWriter writer = web_write_json(request);
    address_format(web_client(request), address);
    web_private(request);
    json_object_begin(&writer);
    json_member_string(&writer, "viewer", viewer == NULL ? SLICE("-") : viewer->name);
    json_member_text(&writer, "address", address);
    json_member_string(&writer, "url", web_public_url(request));
    json_member_string(&writer, "agent", web_head(request, HEAD_USER_AGENT));
    json_member_string(&writer, "key", web_head(request, HEAD_IDEMPOTENCY_KEY));
    json_object_end(&writer);
    return STATUS_OK;
}

/* Sets it, and then answers with a redirect, an error or a page: it must arrive with all of them. */
static Status cookie(WebRequest *request)
{
    web_set_cookie(request, COOKIE_HALF, SLICE("replaced"), COOKIE_GONE);
    web_set_cookie(request, COOKIE_HALF, web_text(request, 0),
                   web_number(request, 1) != 0 ? COOKIE_KEPT : COOKIE_WHILE_OPEN);
    web_set_cookie(request, COOKIE_VISITOR, SLICE("x"), COOKIE_WHILE_OPEN);
    if (web_word(request, 2) == 0)
        web_redirect(request, 303, SLICE("/who"));
    return web_word(request, 2) == 1 ? STATUS_CONFLICT : STATUS_OK;
}

static Status lists(WebRequest *request)
{
    size_t held_count, link_count;
    const WebNumber *held = web_numbers(request, 0, &held_count);
    const Slice *links = web_texts(request, 1, &link_count);
    JsonWriter writer = web_write_json(request);
    json_object_begin(&writer);
    json_key(&writer, "held");
    json_array_begin(&writer);
    for (size_t i = 0; i < held_count; i++) {
        json_put_i64(&writer, (int64_t)held[i].id);
        json_put_i64(&writer, held[i].number);
    }
    json_array_end(&writer);
    json_key(&writer, "links");
    json_array_begin(&writer);
    for (size_t i = 0; i < link_count; i++)
        json_put_string(&writer, links[i]);
    json_array_end(&writer);
    json_object_end(&writer);
    return STATUS_OK;
}

static Status slug(WebRequest *request)
{
    if (!slice_equal(web_text(request, 0), SLICE("clean-rivers"))) {
        web_redirect(request, 308,
                     arena_print(web_arena(request), "/policies/%llu-clean-rivers",
                                 (unsigned long long)web_id(request, 0)));
        return STATUS_OK;
    }
    buffer_decimal(web_out(request, "text/plain"), (int64_t)web_id(request, 0));
    return STATUS_OK;
}

static Status opaque(WebRequest *request)
{
    buffer_bytes(web_out(request, "text/plain"), web_text(request, 0));
    return STATUS_OK;
}

static Status versioned(WebRequest *request)
{
    if (web_etag(request, SLICE("v7")))
        return STATUS_OK;
    buffer_text(web_out(request, "text/plain"), "seven");
    return STATUS_OK;
}

static Status embeddable(WebRequest *request)
{
    web_header(request, "content-security-policy", "default-src 'none'");
    web_header(request, "Content-Security-Policy", "default-src 'none'; frame-ancestors *");
    buffer_text(web_html(request), "<p>12</p>");
    return STATUS_OK;
}

/* Takes what somebody who is logged in sends. */
static Status take(WebRequest *request)
{
    buffer_decimal(web_out(request, "text/plain"), (int64_t)web_body(request).size);
    return STATUS_OK;
}

/* What the address tells one visitor; all other words are as none. */
uint64_t viewer_variant(WebRequest *request)
{
    return slice_equal(web_field(request, WEB_QUERY, "done"), SLICE("saved"));
}

/* A page with a number that grows with each rendering. */
static Status cached(WebRequest *request)
{
    static _Atomic int64_t count;
    enum { SAME = 1, SHORT, PRIVATE, COOKIE, MISSING };
    size_t how = web_word(request, 1);
    int64_t number = ++count;
    const Viewer *viewer = web_viewer(request);
    clock_sleep_us(world_real().clock, web_number(request, 2) * US_PER_MS);
    if (how == MISSING)
        return STATUS_NOT_FOUND;
    if (how == PRIVATE)
        web_private(request);
    if (how == COOKIE)
        web_set_cookie(request, COOKIE_VISITOR, SLICE("1"), COOKIE_WHILE_OPEN);
    Buffer *out = web_html(request);
    Slice text = arena_print(web_arena(request), "%lld", (long long)number);
    web_header(request, "X-Kept", "with it");
    if (how != SAME)
        web_header(request, "X-Count", arena_text(web_arena(request), text));
    html_text(out, how == SAME ? SLICE("0") : text);
    buffer_print(out, " for %.*s", SLICE_ARG(viewer == NULL ? SLICE("all") : viewer->name));
    for (int i = 0; i < 100 && how != SHORT; i++)
        HTML(out, " and once more");
    return STATUS_OK;
}

static const char *const HOWS[] = {"new", "same", "short", "private", "cookie", "missing", NULL};
static const char *const OUTCOMES[] = {"redirect", "conflict", "page", NULL};

#define LISTS(from)                                                                                \
    {"held", from, WEB_NUMBERS, .least = 0, .most = 1000, .most_count = 20, .help = "By policy."}, \
    {                                                                                              \
        "link", from, WEB_TEXTS, .least = 2, .most = 5, .most_count = 3, .optional = true,         \
                                 .help = "Lines."                                                  \
    }

const WebRoute VIEWER_ROUTES[] = {
    {WEB_GET, "/who", who, .help = "Who asks."},
    {WEB_GET, "/mine", who, .access = WEB_LOGIN, .help = "Who asks, logged in."},
    {WEB_GET, "/api/mine", who, .access = WEB_LOGIN, .help = "Who asks, logged in."},
    {WEB_GET, "/cookie", cookie, .help = "Sets a cookie.",
     .params = {{"value", WEB_QUERY, WEB_OPAQUE, .least = 0, .most = 20, .fallback = "",
                 .help = "Its value."},
                {"age", WEB_QUERY, WEB_NUMBER, .least = -1, .most = 100, .help = "In seconds."},
                {"then", WEB_QUERY, WEB_WORD, .words = OUTCOMES, .help = "How it goes on."}}},
    {WEB_POST, "/mine/body", take, .access = WEB_LOGIN, .help = "Takes much.",
     .body_bytes = 16 << 20, .seconds = 600},
    {WEB_PUT, "/api/mine/list", take, .access = WEB_LOGIN, .help = "Takes a list.",
     .body_bytes = 16 << 20, .seconds = 600,
     .params = {{"list", WEB_JSON, WEB_TEXTS, .least = 0, .most = 20, .most_count = 10,
                 .help = "Lines."}}},
    {WEB_POST, "/mine/slowly", take, .access = WEB_LOGIN, .threads = WEB_PASSWORD,
     .help = "Takes little, on a thread of its own.", .body_bytes = 1000},
    {WEB_POST, "/lists", lists, .help = "Lists.", .body_bytes = 9999, .params = {LISTS(WEB_FORM)}},
    {WEB_PUT, "/api/lists", lists, .help = "Lists.", .body_bytes = 9999,
     .params = {LISTS(WEB_JSON)}},
    {WEB_GET, "/policies/{policy}", slug, .help = "A slug.",
     .params = {{"policy", WEB_PATH, WEB_SLUG, .help = "Its number and name."}}},
    {WEB_GET, "/opaque", opaque, .help = "A token.",
     .params = {{"token", WEB_QUERY, WEB_OPAQUE, .least = 4, .most = 8, .help = "It."}}},
    {WEB_GET, "/cached", cached, .cache_ms = 500, .help = "A page that is kept.",
     .params = {{"name", WEB_QUERY, WEB_LINE, .least = 1, .most = 10, .help = "Its name."},
                {"how", WEB_QUERY, WEB_WORD, .words = HOWS, .fallback = "new",
                 .help = "What it is."},
                {"ms", WEB_QUERY, WEB_NUMBER, .least = 0, .most = 1000, .fallback = "0",
                 .help = "How long it takes."}}},
    {WEB_GET, "/computed", cached, .cache_ms = 60000, .threads = WEB_COMPUTE,
     .help = "A page that takes long to make, and is kept.",
     .params = {{"name", WEB_QUERY, WEB_LINE, .least = 1, .most = 10, .help = "Its name."},
                {"how", WEB_QUERY, WEB_WORD, .words = HOWS, .fallback = "new",
                 .help = "What it is."},
                {"ms", WEB_QUERY, WEB_NUMBER, .least = 0, .most = 1000, .fallback = "0",
                 .help = "How long it takes."}}},
    {WEB_GET, "/versioned", versioned, .help = "A version."},
    {WEB_GET, "/embeddable", embeddable, .help = "Its own policy."},
};
const size_t VIEWER_ROUTE_COUNT = sizeof VIEWER_ROUTES / sizeof VIEWER_ROUTES[0];
