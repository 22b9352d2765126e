/* events.h -- live events: many watchers who are told when something changes (server-sent events).
 *
 * A watcher is a connection that is kept open for one topic, a short word of the application's ("ranking", "policy/12"). When the
 * application says that a topic has changed, its newest state is built once and the same bytes go to all its watchers. One
 * thread does all of it; a connection costs this process about 130 bytes, and no thread and no place among the connections of the HTTP
 * server. Promises:
 *   1. A watcher gets the state at once when it comes, and then at most one event each interval (2 s), whatever the number of
 *      changes. The first change after a quiet interval is told after 50 ms, so that what changes with it comes along. No change is lost: the last event that a watcher gets shows the state after the last change. A state that is the
 *      same as before gives no event.
 *   2. When a round of sending takes longer than a quarter of the interval, the interval grows to four rounds, and shrinks again.
 *   3. A watcher that reads slowly delays nobody and keeps at most one unfinished event; the ones it missed are left out, and it
 *      gets the newest when it can. One that takes nothing for a minute is closed.
 *   4. Each 25 s without an event a comment is sent, so that proxies and phones keep the connection and dead ones are found.
 *   5. Above `watchers` in all, or `watchers_per_address` (loopback and trusted proxies are exempt), new ones are refused.
 *   6. A stop closes all. Browsers come back by themselves, each after 2 to 5 s of its own, so that a restart is no stampede;
 *      since a newcomer gets the whole state, there is nothing to replay for a Last-Event-ID.
 * Not promised: that a watcher sees every state between two events. */
#pragma once

#include "base/config.h"
#include "net/address.h"

typedef struct Events Events;

enum { EVENTS_TOPIC_MAX = 200, EVENTS_DATA_MAX = 65536 };

typedef struct EventsOptions {
    const Config *config; /* watchers, watchers_per_address, trusted_proxies */
    World world;
    /* Writes the state of the topic: text, usually one line of JSON, at most EVENTS_DATA_MAX. Called by the thread of the events, once
     * for all watchers; it delays all of them. Any status but OK: no event now, and another try at the next round. */
    Status (*build)(void *self, Slice topic, Buffer *out);
    /* The first watcher of a topic has come, before its state is built; the last has gone. By the same thread; each may be NULL. */
    void (*watched)(void *self, Slice topic);
    void (*unwatched)(void *self, Slice topic);
    void *self;
    int64_t interval_ms, heartbeat_ms, stuck_ms; /* 0: 2 s, 25 s, 60 s */
} EventsOptions;

/* All that is pointed to must outlive it. INVALID: the proxies in the settings cannot be read. */
MUST_USE Status events_start(const EventsOptions *options, Events **ret_events, Reason *reason);
/* After the HTTP server has stopped, so that nobody hands over any more. NULL is fine. */
void events_stop(Events *events);

/* From any thread; cheap, also when nobody watches. At most EVENTS_TOPIC_MAX bytes. */
void events_changed(Events *events, Slice topic);

/* The same for all topics that somebody watches. Cheaper still: whoever changes what many of them show need not know which. */
void events_all_changed(Events *events);

typedef struct EventsFigures {
    uint64_t watchers, topics;
    uint64_t events;                /* sent to watchers, in all */
    uint64_t builds;                /* states built, in all */
    uint64_t failures;              /* builds that gave none */
    uint64_t refused;               /* watchers, over a limit */
    uint64_t round_us, interval_us; /* of the last round */
} EventsFigures;
EventsFigures events_figures(Events *events);
/* The same for /metrics (WebOptions.metrics). */
void events_print_metrics(Events *events, Buffer *out);

/* How long until the next round when the last one took this long. */
int64_t events_interval_us(int64_t base_us, int64_t took_us);

/* ---- For web_watch (request.h), which does this for a handler ---- */

/* A place for one more. UNAVAILABLE: too many in all; THROTTLED: too many from this address. */
MUST_USE Status events_reserve(Events *events, Address client, Reason *reason);
/* The place is not needed after all. */
void events_unreserve(Events *events, Address client);

typedef struct EventsWatcher {
    int fd; /* a connected socket, which now belongs to the events */
    Address client;
    Slice topic;
    Slice head; /* what is sent before everything else: the head of the answer */
} EventsWatcher;
/* After events_reserve, which it uses up. */
void events_adopt(Events *events, const EventsWatcher *watcher);
