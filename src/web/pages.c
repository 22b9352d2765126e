/* pages.c -- the routes that every server has: what runs here, its health, its numbers, and the assets. */
#include <sodium.h>

#include "web/assets.h"
#include "web/layout.h"
#include "web/server_private.h"

static int64_t uptime_s(const WebServer *server)
{
    Clock clock = server->options.world.clock;
    return (clock_steady_us(clock) - server->started_steady_us) / US_PER_S;
}

static const char *state_of(const WebServer *server, const StoreHealth *health)
{
    if (atomic_load(&server->stopping))
        return "stopping";
    if (!health->writable)
        return "read_only";
    return atomic_load(&server->maintenance) ? "maintenance" : "ok";
}

/* ---- / ---- */

static void fact_begin(Buffer *out, const char *name, bool is_wide)
{
    if (is_wide)
        HTML(out, "<div class=\"wide\"><dt>");
    else
        HTML(out, "<div><dt>");
    html_text(out, slice_from(name));
    HTML(out, "</dt><dd>");
}

static void fact_end(Buffer *out)
{
    HTML(out, "</dd></div>\n");
}

static void text_fact(Buffer *out, const char *name, const char *value)
{
    fact_begin(out, name, false);
    html_text(out, slice_from(value));
    fact_end(out);
}

static void store_facts(Buffer *out, const StoreHealth *health)
{
    text_fact(out, "Storage engine", health->engine);
    text_fact(out, "Storage", health->writable ? "reads and writes" : "read-only");
    if (health->writable)
        return;
    fact_begin(out, "Why read-only", true);
    html_text(out, slice_from(health->reason));
    HTML(out, ", since ");
    html_time(out, health->since_us);
    fact_end(out);
}

static Status start_page(WebRequest *request)
{
    const WebServer *server = request->server;
    StoreHealth health = health_for_all(server);
    Buffer *out = web_html(request);
    web_header(request, "Cache-Control", "no-store");
    layout_begin(out, SLICE("What runs here"));
    HTML(
        out,
        "<h1>Ostraka is running</h1>\n<p class=\"lead\">People earn votes over time, spend them on "
        "policies, and watch the rankings move. This server has no site on it yet.</p>\n"
        "<dl class=\"facts\">\n");
    text_fact(out, "Version", OSTRAKA_VERSION);
    store_facts(out, &health);
    fact_begin(out, "Up for", false);
    html_duration(out, uptime_s(server));
    fact_end(out);
    fact_begin(out, "Since", false);
    html_time(out, server->started_us);
    fact_end(out);
    HTML(out, "</dl>\n<h2>For those who run it</h2>\n<ul class=\"links\">\n"
              "<li><a href=\"/healthz\">Health</a> \u2013 one JSON object; answers 503 when "
              "nothing can be "
              "saved</li>\n"
              "<li><a href=\"/metrics\">Metrics</a> \u2013 counters and durations for "
              "Prometheus</li>\n</ul>\n");
    layout_end(out);
    return STATUS_OK;
}

/* ---- /healthz and /metrics ---- */

static void write_store(JsonWriter *writer, const StoreHealth *health)
{
    json_key(writer, "store");
    json_object_begin(writer);
    json_member_text(writer, "engine", health->engine);
    json_member_bool(writer, "writable", health->writable);
    if (!health->writable) {
        char since[LOG_TIME_TEXT];
        log_format_time(health->since_us, since);
        json_member_text(writer, "reason", health->reason);
        json_member_text(writer, "since", since);
    }
    json_object_end(writer);
}

static Status healthz(WebRequest *request)
{
    const WebServer *server = request->server;
    StoreHealth health = health_for_all(server);
    JsonWriter writer = web_write_json(request);
    bool can_serve = health.writable && !atomic_load(&server->stopping);
    web_code(request, can_serve ? 200 : 503);
    web_header(request, "Cache-Control", "no-store");
    json_object_begin(&writer);
    json_member_text(&writer, "status", state_of(server, &health));
    write_store(&writer, &health);
    json_member_text(&writer, "version", OSTRAKA_VERSION);
    json_member_i64(&writer, "uptime_s", uptime_s(server));
    if (server->options.health != NULL)
        server->options.health(server->options.context, &writer);
    json_object_end(&writer);
    return STATUS_OK;
}

static void print_store_metric(void *out, const char *name, const char *help, bool counter,
                               double value)
{
    metrics_print_one(out, name, help, counter, value);
}

static void print_connections(const WebServer *server, Buffer *out)
{
    metrics_print_one(out, "ostraka_http_connections", "Open connections.", false,
                      (double)connections_open(server->connections));
    buffer_text(out, "# HELP ostraka_http_connections_cut_total Connections that we ended.\n"
                     "# TYPE ostraka_http_connections_cut_total counter\n");
    for (int cut = 0; cut < CONNECTION_CUTS; cut++)
        buffer_print(
            out, "ostraka_http_connections_cut_total{reason=\"%s\"} %llu\n",
            connection_cut_name((ConnectionCut)cut),
            (unsigned long long)connections_cut_count(server->connections, (ConnectionCut)cut));
}

static void print_bodies(const WebServer *server, Buffer *out)
{
    metrics_print_one(out, "ostraka_http_body_bytes", "Memory that bodies on their way count for.",
                      false, (double)shares_taken(server->bodies));
}

static void print_page_cache(const WebServer *server, Buffer *out)
{
    if (server->page_cache == NULL)
        return;
    PageCacheFigures figures = page_cache_figures(server->page_cache);
    metrics_print_one(out, "ostraka_page_cache_hits_total", "Answers that were already there.",
                      true, (double)figures.hits);
    metrics_print_one(out, "ostraka_page_cache_renders_total", "Answers that had to be made.", true,
                      (double)figures.renders);
    metrics_print_one(out, "ostraka_page_cache_entries", "Pages that are kept.", false,
                      (double)figures.entries);
    metrics_print_one(out, "ostraka_page_cache_bytes", "Memory that they count for.", false,
                      (double)figures.bytes);
}

/* Without a token they are for this machine: not for what a proxy here passes on, nor for a page of another site in a browser here, whose name
 * was made to lead to loopback. */
static Status admit_to_metrics(WebRequest *request)
{
    static const Slice BEARER = {"Bearer ", 7};
    const WebServer *server = request->server;
    Slice sent = web_head(request, HEAD_AUTHORIZATION);
    if (server->metrics_token_size == 0)
        return address_is_loopback(connection_peer(request->connection)) &&
                       !request->head.present[HEAD_FORWARDED_FOR] &&
                       address_names_loopback(web_head(request, HEAD_HOST))
                   ? STATUS_OK
                   : reason_set(&request->reason, STATUS_DENIED, NULL,
                                "metrics are read on the server's own machine by the name "
                                "localhost, or with the token of the setting metrics_token_file");
    if (slice_starts_with(sent, BEARER) && sent.size - BEARER.size == server->metrics_token_size &&
        sodium_memcmp(sent.data + BEARER.size, server->metrics_token, server->metrics_token_size) ==
            0)
        return STATUS_OK;
    return reason_set(&request->reason, STATUS_LOGIN, "Authorization",
                      "must be Bearer and the token of the setting metrics_token_file");
}

static Status metrics_page(WebRequest *request)
{
    const WebServer *server = request->server;
    TRY(admit_to_metrics(request));
    Buffer *out = web_out(request, "text/plain; version=0.0.4; charset=utf-8");
    web_header(request, "Cache-Control", "no-store");
    buffer_text(out, "# HELP ostraka_build_info The version that runs.\n"
                     "# TYPE ostraka_build_info gauge\n"
                     "ostraka_build_info{version=\"" OSTRAKA_VERSION "\"} 1\n");
    metrics_print_one(out, "ostraka_uptime_seconds", "Since the server started.", false,
                      (double)uptime_s(server));
    metrics_print_one(out, "ostraka_maintenance", "1 in maintenance mode.", false,
                      atomic_load(&server->maintenance) ? 1 : 0);
    metrics_print(server->metrics, out);
    print_connections(server, out);
    print_bodies(server, out);
    print_page_cache(server, out);
    if (server->options.store.metrics != NULL)
        server->options.store.metrics(server->options.store.store, print_store_metric, out);
    if (server->options.metrics != NULL)
        server->options.metrics(server->options.context, out);
    return STATUS_OK;
}

/* ---- Assets ---- */

static void send_asset(WebRequest *request, const Asset *asset)
{
    Slice accepted = request->head.values[HEAD_ACCEPT_ENCODING];
    HttpEncoding encoding = http_choose_encoding(accepted, asset_encodings(asset));
    web_header(request, "ETag", asset->etag);
    web_header(request, "Vary", "Accept-Encoding");
    if (http_etag_matches(request->head.values[HEAD_IF_NONE_MATCH], slice_from(asset->etag))) {
        web_code(request, 304);
        return;
    }
    web_static(request, asset->type, asset->bodies[encoding]);
    if (http_encoding_name(encoding) != NULL)
        web_header(request, "Content-Encoding", http_encoding_name(encoding));
}

static Status asset_page(WebRequest *request)
{
    const Asset *asset = asset_at(web_path(request));
    if (asset == NULL)
        return STATUS_NOT_FOUND;
    web_header(request, "Cache-Control", "public, max-age=31536000, immutable");
    send_asset(request, asset);
    return STATUS_OK;
}

/* Files whose address is fixed by custom: an hour of caching, then a question with the ETag. */
static Status send_named(WebRequest *request, const char *name)
{
    const Asset *asset = asset_named(slice_from(name));
    CHECK(asset != NULL);
    web_header(request, "Cache-Control", "public, max-age=3600");
    send_asset(request, asset);
    return STATUS_OK;
}

static Status robots(WebRequest *request)
{
    return send_named(request, "robots.txt");
}

static Status favicon(WebRequest *request)
{
    return send_named(request, "mark.svg");
}

const WebRoute BUILT_IN_ROUTES[] = {
    {WEB_GET, "/", start_page, .help = "What runs here: version, engine, health, uptime."},
    {WEB_GET, "/healthz", healthz, .always = true,
     .help = "Health as JSON; 503 when nothing can be saved or the server stops."},
    {WEB_GET, "/metrics", metrics_page, .always = true,
     .help = "Numbers for Prometheus: on this machine, or with a token."},
    {WEB_GET, "/robots.txt", robots, .always = true, .help = "What search engines may read."},
    {WEB_GET, "/favicon.ico", favicon, .always = true, .help = "The mark."},
    {WEB_GET, "/assets/{name}", asset_page, .always = true,
     .help = "Style sheets and pictures, by hashed name.",
     .params = {{"name", WEB_PATH, WEB_LINE, .least = 1, .most = 100, .help = "With its hash."}}},
};
const size_t BUILT_IN_ROUTE_COUNT = sizeof BUILT_IN_ROUTES / sizeof BUILT_IN_ROUTES[0];
