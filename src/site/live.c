/* live.c -- topics and their stream; see live.h. What an event says is in live_message.c. */
#include <sodium.h>
#include <stdlib.h>

#include "site/live_private.h"
#include "web/events.h"

enum { TOPIC_MAX = 64, TOLD_SLOTS = 4096, STAMP_MAX = 32, LOOK_S = 10 };
/* What another instance saved is told within two seconds, too, and it takes about one to hear of it. */
enum { SHARED_INTERVAL_MS = 500 };

/* What was last told of a topic, by hash of its name; another topic in the same place costs an event now and then. */
typedef struct Told {
    uint64_t topic, figures;
    char as_of[STAMP_MAX];
} Told;

struct Live {
    Site *site;
    Events *events;
    _Atomic bool is_changed;
    int64_t looked_us;
    Arena *arena; /* of the events' own thread, and so is what follows */
    Told told[TOLD_SLOTS];
};

static uint64_t hash_of(Slice text)
{
    static const unsigned char KEY[crypto_shorthash_KEYBYTES];
    unsigned char hash[crypto_shorthash_BYTES];
    uint64_t number;
    crypto_shorthash(hash, (const unsigned char *)text.data, text.size, KEY);
    memcpy(&number, hash, sizeof number);
    return number;
}

/* The time alone is no news: while the figures are the same, an event says the time of the first that had them, and so is the
 * same event. */
static void write_message(Live *live, Slice topic, const LiveMessage *message, Buffer *out)
{
    uint64_t name = hash_of(topic), figures = hash_of(message->figures);
    Told *told = &live->told[name % TOLD_SLOTS];
    if (told->topic != name || told->figures != figures) {
        *told = (Told){.topic = name, .figures = figures};
        memcpy(told->as_of, message->as_of.data, message->as_of.size);
    }
    buffer_bytes(out, message->figures);
    buffer_print(out, ",\"as_of\":\"%s\"}", told->as_of);
}

static Status build(void *self, Slice name, Buffer *out)
{
    Live *live = self;
    LiveTopic topic;
    LiveMessage message;
    CHECK(live_parse(name, &topic));
    arena_reset(live->arena);
    TRY(live_message(live->site, &topic, live->arena, &message));
    CHECK(message.as_of.size < STAMP_MAX);
    write_message(live, name, &message, out);
    return STATUS_OK;
}

Live *live_new(Site *site)
{
    Live *live = calloc(1, sizeof *live);
    Reason reason;
    CHECK(live != NULL);
    live->site = site;
    live->arena = arena_new();
    EventsOptions options = {.config = site->options.config,
                             .world = site->app->world,
                             .build = build,
                             .self = live,
                             .interval_ms =
                                 store_is_shared(site->app->store) ? SHARED_INTERVAL_MS : 0};
    CHECK(events_start(&options, &live->events, &reason) ==
          STATUS_OK); /* the proxies were checked */
    return live;
}

void live_stop(Live *live)
{
    events_stop(live->events);
    live->events = NULL;
}

void live_free(Live *live)
{
    if (live == NULL)
        return;
    arena_free(live->arena);
    free(live);
}

void live_changed(Live *live)
{
    atomic_store(&live->is_changed, true);
}

/* The end of a day and moves by tasks are not heard of: now and then everything is looked at. */
void live_tick(Live *live)
{
    int64_t now_us = clock_steady_us(live->site->app->world.clock);
    bool is_changed = atomic_exchange(&live->is_changed, false);
    if (!is_changed && now_us - live->looked_us < LOOK_S * US_PER_S)
        return;
    live->looked_us = now_us;
    events_all_changed(live->events);
}

void live_metrics(Live *live, Buffer *out)
{
    events_print_metrics(live->events, out);
}

enum { P_TOPIC };

static Status watch(WebRequest *request)
{
    Site *site = site_of(request);
    Slice name = web_text(request, P_TOPIC);
    LiveTopic topic;
    PolicySummary summary;
    if (!live_parse(name, &topic))
        return reason_set(web_reason(request), STATUS_INVALID, "topic",
                          "must be front, ranking/DAYS (with /category/ID or /party/ID), or "
                          "policy/ID");
    if (topic.kind == LIVE_POLICY)
        TRY(policy_summary_get(site->summaries, topic.policy, web_arena(request), &summary));
    return web_watch(request, site->live->events, name);
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/api/v1/events", watch, .tag = "rankings",
     .help = "A stream of server-sent events: the newest figures of a topic, at once and after "
             "each change.",
     .params = {[P_TOPIC] = {"topic", WEB_QUERY, WEB_LINE, .least = 1, .most = TOPIC_MAX,
                             .help = "front, ranking/DAYS[/category/ID|/party/ID] or policy/ID."}}},
};
ROUTE_TABLE(LIVE, ROUTES);
