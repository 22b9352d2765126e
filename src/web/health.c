/* health.c -- see health.h. */
#include "web/health.h"

#include "web/server_private.h"

/* The word without what only punctuates behind it. */
static Slice bare(Slice word)
{
    while (word.size > 0 && strchr(":;,", word.data[word.size - 1]) != NULL)
        word.size--;
    return word;
}

void health_hide_paths(Slice text, Buffer *out)
{
    Slice word;
    for (bool is_first = true; slice_split(&text, ' ', &word); is_first = false) {
        Slice path = bare(word);
        bool is_hidden = slice_find(path, '/') < path.size &&
                         !slice_equal(path, SLICE("Input/output")); /* of "Input/output error" */
        if (!is_first)
            buffer_u8(out, ' ');
        if (is_hidden)
            buffer_bytes(out, SLICE("(path)"));
        buffer_bytes(out, is_hidden ? slice_after(word, path.size) : word);
    }
}

/* A server without a store is as healthy as one that can write. */
static StoreHealth ask(const WebServer *server)
{
    StoreHealth health = {.engine = "none", .writable = true};
    if (server->options.store.health != NULL)
        server->options.store.health(server->options.store.store, &health);
    return health;
}

StoreHealth health_for_all(const WebServer *server)
{
    BUFFER_SCOPE Buffer hidden = {0};
    StoreHealth health = ask(server);
    health_hide_paths(slice_from(health.reason), &hidden);
    size_t size = hidden.size < sizeof health.reason ? hidden.size : sizeof health.reason - 1;
    memcpy(health.reason, buffer_slice(&hidden).data, size);
    health.reason[size] = '\0';
    return health;
}

void health_log_changes(WebServer *server)
{
    StoreHealth health = ask(server);
    if (health.writable != server->is_read_only)
        return;
    server->is_read_only = !health.writable;
    LogLine line = log_line(server->options.log, health.writable ? LOG_INFO : LOG_ERROR,
                            health.writable ? "store_writable" : "store_read_only");
    if (!health.writable)
        log_text(&line, "reason", health.reason);
    log_end(&line);
}
