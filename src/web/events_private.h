/* events_private.h -- the private twin of events.h: what the thread of the events works with.
 *
 * What several threads share (topics by name and their marks, places, newcomers) is under `lock`; watchers and messages are touched by
 * the events' own thread only. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "net/address_counts.h"
#include "net/loop.h"
#include "web/events.h"

enum { TOPIC_BUCKETS = 1024 };

/* One state as it is sent. Counted, because a slow watcher may still be reading an older one. */
typedef struct Message {
    uint32_t references;
    uint32_t size;
    uint32_t data_at; /* where the state itself begins; before it stands the id */
    uint64_t id;
    char bytes[];
} Message;

typedef struct Topic Topic;
typedef struct Watcher Watcher;

struct Topic {
    Events *events;
    Topic *next;         /* in its bucket; under the lock */
    Topic *next_changed; /* under the lock */
    bool is_changed; /* in the list of changed ones; under the lock. Such a topic is not freed */
    Slice name;
    Watcher *watchers;
    Message *newest; /* NULL until one was built */
};

struct Watcher {
    Watcher *next, *previous; /* of its topic */
    Watcher *later, *earlier; /* in the order of last sending */
    Topic *topic;
    Message *message; /* being sent, and not finished; or NULL */
    uint64_t sent_id; /* the newest that was begun */
    int64_t sent_us;
    uint32_t offset; /* in `message` */
    int fd;
    NetWatch watch;
    Address client;
};

/* A newcomer on the way from a web thread to ours. */
typedef struct Arrival {
    NetPost post;
    Events *events;
    int fd;
    Address client;
    Slice topic, head; /* behind this struct */
} Arrival;

struct Events {
    EventsOptions options;
    AddressRanges exempt;
    pthread_t thread;
    NetLoop loop;
    _Atomic bool ends;

    pthread_mutex_t lock;
    Topic *topics[TOPIC_BUCKETS];
    Topic *changed;
    _Atomic bool all_changed; /* as if every topic were marked */
    AddressCounts *address_counts;
    int64_t places; /* taken */

    Watcher
        order; /* a ring in the order of last sending: `later` of this one is the oldest; it is no watcher itself */
    uint64_t next_id;
    int64_t next_round_us; /* not earlier */
    int64_t gathered_us;   /* nor than this, 0 while nothing has changed */
    int64_t next_beat_us;  /* not earlier */
    _Atomic uint64_t watcher_count, topic_count, sent, builds, failures, refused, round_us,
        interval_us;
};

/* events.c */
void events_count(_Atomic uint64_t *counter, uint64_t more);
void *events_loop(void *events);
/* Takes a newcomer, by the events' thread. */
void events_take(NetPost *arrival);

/* events_topics.c */
/* The topic of this name, made when it is not there. */
Topic *topic_get(Events *events, Slice name);
/* Frees it when nobody watches it and it is not marked. */
void topic_tidy(Events *events, Topic *topic);
bool topics_have_changed(Events *events);
/* Takes the marked ones; each stays marked until topic_unmark. */
Topic *topics_take_changed(Events *events);
void topic_unmark(Events *events, Topic *topic);
/* Builds its state anew. True when there is one that differs from the last. */
bool topic_build(Events *events, Topic *topic);
Message *message_hold(Message *message);
void message_release(Message *message);
