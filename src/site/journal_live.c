/* journal_live.c -- see journal_live.h. A journal has one listener for all who watch it, for as long as somebody does. */
#include "site/journal_live.h"

#include <stdlib.h>

#include "operations/journals.h"
#include "site/site_private.h"
#include "web/events.h"

enum { INTERVAL_MS = 100 };

typedef struct Listened {
    struct Listened *next;
    JournalListener *listener;
    Slice name; /* its one journal */
    char text[];
} Listened;

struct JournalLive {
    Site *site;
    Events *events;
    Arena *arena; /* this and the next are of the events' own thread */
    Listened *first;
};

/* ---- What is told ---------------------------------------------------------------------------------------------------------- */

static Status build(void *self, Slice name, Buffer *out)
{
    JournalLive *live = self;
    Journals *journals = live->site->app->journals;
    JournalStats stats = {.next_ms = JOURNAL_NEVER};
    JournalView head;
    arena_reset(live->arena);
    Status status = journal_stats(journals, name, &stats, NULL);
    if (status != STATUS_NOT_FOUND) /* which it may have become since: then nothing is due */
        TRY(status);
    JsonWriter json = json_writer(out);
    json_object_begin(&json);
    json_member_string(&json, "journal", name);
    json_member_i64(&json, "count", (int64_t)stats.due);
    json_key(&json, "priority");
    if (stats.due > 0 &&
        journal_peek(journals, name, JOURNAL_PEEK_READY, live->arena, &head, NULL) == STATUS_OK)
        json_put_i64(&json, head.priority);
    else
        json_put_null(&json);
    json_key(&json, "next_at");
    Slice next = journal_moment(stats.next_ms, live->arena);
    if (next.size > 0)
        json_put_string(&json, next);
    else
        json_put_null(&json);
    json_object_end(&json);
    return STATUS_OK;
}

static void ring(void *self, Slice journal)
{
    events_changed(((JournalLive *)self)->events, journal);
}

/* ---- Listeners ------------------------------------------------------------------------------------------------------------- */

/* A journal that has vanished since it was asked for is not listened to: nothing will become due in it. */
static void begin_listening(void *self, Slice name)
{
    JournalLive *live = self;
    Listened *listened = calloc(1, sizeof *listened + name.size);
    CHECK(listened != NULL);
    memcpy(listened->text, name.data, name.size);
    listened->name = slice_of(listened->text, name.size);
    if (journal_listen(live->site->app->journals, &listened->name, 1, ring, live,
                       &listened->listener, NULL) != STATUS_OK) {
        free(listened);
        return;
    }
    journal_listen_edges(listened->listener);
    listened->next = live->first;
    live->first = listened;
}

/* So that a tube that is empty can vanish. */
static void end_listening(void *self, Slice name)
{
    JournalLive *live = self;
    Listened **link = &live->first;
    while (*link != NULL && !slice_equal((*link)->name, name))
        link = &(*link)->next;
    Listened *listened = *link;
    if (listened == NULL)
        return;
    *link = listened->next;
    journal_listen_end(listened->listener);
    free(listened);
}

JournalLive *journal_live_new(Site *site)
{
    JournalLive *live = calloc(1, sizeof *live);
    Reason reason;
    CHECK(live != NULL);
    live->site = site;
    live->arena = arena_new();
    EventsOptions options = {.config = site->options.config,
                             .world = site->app->world,
                             .build = build,
                             .watched = begin_listening,
                             .unwatched = end_listening,
                             .self = live,
                             .interval_ms = INTERVAL_MS};
    CHECK(events_start(&options, &live->events, &reason) ==
          STATUS_OK); /* the proxies were checked */
    return live;
}

void journal_live_stop(JournalLive *live)
{
    events_stop(live->events);
    live->events = NULL;
}

void journal_live_free(JournalLive *live)
{
    if (live == NULL)
        return;
    arena_free(live->arena);
    free(live);
}

/* ---- The route ------------------------------------------------------------------------------------------------------------- */

enum { P_JOURNAL };

static Status admits_listen(WebRequest *request)
{
    Slice journal;
    TRY(web_path_text(request, P_JOURNAL, &journal));
    return journal_admit(site_of(request)->ops, site_actor(request), journal, JOURNAL_RIGHT_CLAIM,
                         web_reason(request));
}

static Status journal_listen_route(WebRequest *request)
{
    Site *site = site_of(request);
    Slice name = web_text(request, P_JOURNAL);
    JournalShown shown;
    TRY(journal_shown(site->ops, name, web_arena(request), &shown, web_reason(request)));
    return web_watch(request, site->journal_live->events, name);
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/api/v1/journals/{journal}/listen", journal_listen_route, .by_program = true,
     .admits = admits_listen, .threads = WEB_SAVE, .tag = "journals",
     .help = "A stream of server-sent events: {journal, count, priority, next_at} at once, and "
             "whenever something has become due after nothing was. A hint; only a claim hands out.",
     .params = {[P_JOURNAL] = {"journal", WEB_PATH, WEB_LINE, .least = 1, .most = JOURNAL_NAME_MAX,
                               .help = "The journal."}}},
};
ROUTE_TABLE(JOURNAL_LIVE, ROUTES);
