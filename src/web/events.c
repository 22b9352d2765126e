/* events.c -- starting and stopping, places, handing over; see events.h. The thread itself is events_loop.c. */
#include "web/events.h"

#include <stdlib.h>

#include "base/threads.h"
#include "web/events_private.h"
#include "web/metrics.h"

enum { INTERVAL_MS = 2000, HEARTBEAT_MS = 25000, STUCK_MS = 60000, INTERVAL_MOST_S = 60 };

void events_count(_Atomic uint64_t *counter, uint64_t more)
{
    atomic_fetch_add_explicit(counter, more, memory_order_relaxed);
}

int64_t events_interval_us(int64_t base_us, int64_t took_us)
{
    int64_t stretched_us = took_us * 4;
    if (stretched_us > INTERVAL_MOST_S * US_PER_S)
        stretched_us = INTERVAL_MOST_S * US_PER_S;
    return stretched_us > base_us ? stretched_us : base_us;
}

static int64_t or_else(int64_t given, int64_t usual)
{
    return given != 0 ? given : usual;
}

Status events_start(const EventsOptions *options, Events **ret_events, Reason *reason)
{
    AddressRanges exempt;
    TRY(address_ranges_parse(slice_from(options->config->trusted_proxies), &exempt, reason));
    Events *events = calloc(1, sizeof *events);
    CHECK(events != NULL);
    events->options = *options;
    events->options.interval_ms = or_else(options->interval_ms, INTERVAL_MS);
    events->options.heartbeat_ms = or_else(options->heartbeat_ms, HEARTBEAT_MS);
    events->options.stuck_ms = or_else(options->stuck_ms, STUCK_MS);
    events->exempt = exempt;
    events->address_counts = address_counts_new();
    events->order.later = events->order.earlier = &events->order;
    /* Numbers that a restart does not use again. */
    events->next_id = (uint64_t)clock_now_us(options->world.clock);
    CHECK(pthread_mutex_init(&events->lock, NULL) == 0);
    net_loop_open(&events->loop, options->world.clock);
    events->thread = thread_start(THREAD_WEB_EVENTS, events_loop, events);
    *ret_events = events;
    return STATUS_OK;
}

/* Marked topics without watchers are still there. */
static void free_topics(Events *events)
{
    for (Topic *topic = topics_take_changed(events), *next; topic != NULL; topic = next) {
        next = topic->next_changed;
        topic_unmark(events, topic);
        topic_tidy(events, topic);
    }
    CHECK(events->topic_count == 0);
}

void events_stop(Events *events)
{
    if (events == NULL)
        return;
    atomic_store(&events->ends, true);
    net_loop_wake(&events->loop);
    pthread_join(events->thread, NULL);
    free_topics(events);
    CHECK(events->places == 0);
    address_counts_free(events->address_counts);
    net_loop_close(&events->loop);
    pthread_mutex_destroy(&events->lock);
    free(events);
}

/* ---- Places ---- */

/* Under the lock. */
static Status take_place(Events *events, Address client)
{
    const Config *config = events->options.config;
    if (events->places >= config->watchers)
        return STATUS_UNAVAILABLE;
    if (!address_is_exempt(client, &events->exempt) &&
        !address_counts_take(events->address_counts, client, config->watchers_per_address))
        return STATUS_THROTTLED;
    events->places++;
    return STATUS_OK;
}

Status events_reserve(Events *events, Address client, Reason *reason)
{
    pthread_mutex_lock(&events->lock);
    Status status = take_place(events, client);
    pthread_mutex_unlock(&events->lock);
    if (status == STATUS_OK)
        return STATUS_OK;
    events_count(&events->refused, 1);
    return reason_set(reason, status, NULL,
                      status == STATUS_THROTTLED ? "too many pages of your address watch already"
                                                 : "too many pages watch already");
}

void events_unreserve(Events *events, Address client)
{
    pthread_mutex_lock(&events->lock);
    events->places--;
    if (!address_is_exempt(client, &events->exempt))
        address_counts_remove(events->address_counts, client, 1);
    pthread_mutex_unlock(&events->lock);
}

void events_adopt(Events *events, const EventsWatcher *watcher)
{
    CHECK(watcher->topic.size <= EVENTS_TOPIC_MAX);
    Arrival *arrival = malloc(sizeof *arrival + watcher->topic.size + watcher->head.size);
    CHECK(arrival != NULL);
    char *texts = (char *)(arrival + 1);
    memcpy(texts, watcher->topic.data, watcher->topic.size);
    memcpy(texts + watcher->topic.size, watcher->head.data, watcher->head.size);
    *arrival = (Arrival){.post = {.run = events_take},
                         .events = events,
                         .fd = watcher->fd,
                         .client = watcher->client,
                         .topic = slice_of(texts, watcher->topic.size),
                         .head = slice_of(texts + watcher->topic.size, watcher->head.size)};
    net_loop_post(&events->loop, &arrival->post);
}

/* ---- Figures ---- */

EventsFigures events_figures(Events *events)
{
    return (EventsFigures){.watchers = atomic_load(&events->watcher_count),
                           .topics = atomic_load(&events->topic_count),
                           .events = atomic_load(&events->sent),
                           .builds = atomic_load(&events->builds),
                           .failures = atomic_load(&events->failures),
                           .refused = atomic_load(&events->refused),
                           .round_us = atomic_load(&events->round_us),
                           .interval_us = atomic_load(&events->interval_us)};
}

void events_print_metrics(Events *events, Buffer *out)
{
    EventsFigures figures = events_figures(events);
    const struct {
        const char *name, *help;
        bool counter;
        double value;
    } rows[] = {
        {"ostraka_events_watchers", "Pages that watch.", false, (double)figures.watchers},
        {"ostraka_events_topics", "What they watch.", false, (double)figures.topics},
        {"ostraka_events_sent_total", "Events that went out.", true, (double)figures.events},
        {"ostraka_events_builds_total", "States that were built.", true, (double)figures.builds},
        {"ostraka_events_failures_total", "States that could not be built.", true,
         (double)figures.failures},
        {"ostraka_events_refused_total", "Watchers over a limit.", true, (double)figures.refused},
        {"ostraka_events_round_seconds", "How long the last round took.", false,
         (double)figures.round_us / 1e6},
        {"ostraka_events_interval_seconds", "Time between rounds.", false,
         (double)figures.interval_us / 1e6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        metrics_print_one(out, rows[i].name, rows[i].help, rows[i].counter, rows[i].value);
}
