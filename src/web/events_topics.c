/* events_topics.c -- topics, their marks, and the messages that are built from their state. */
#include <stdlib.h>

#include "web/events_private.h"

/* Under the lock. */
static Topic **find(Events *events, Slice name)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < name.size; i++)
        hash = (hash ^ (unsigned char)name.data[i]) * 1099511628211u;
    Topic **place = &events->topics[hash % TOPIC_BUCKETS];
    while (*place != NULL && !slice_equal((*place)->name, name))
        place = &(*place)->next;
    return place;
}

/* The thread sleeps while nothing has changed; the first mark wakes it. */
static void mark(Events *events, Topic *topic)
{
    if (topic->is_changed)
        return;
    if (events->changed == NULL)
        net_loop_wake(&events->loop);
    topic->is_changed = true;
    topic->next_changed = events->changed;
    events->changed = topic;
}

/* Whoever comes to watch after this look gets a state that is built later. Adding nothing is a load that no earlier store of the
 * caller can be moved behind. */
static bool is_watched(Events *events)
{
    return atomic_fetch_add(&events->topic_count, 0) > 0;
}

void events_changed(Events *events, Slice topic)
{
    CHECK(topic.size <= EVENTS_TOPIC_MAX);
    if (!is_watched(events))
        return;
    pthread_mutex_lock(&events->lock);
    Topic *found = *find(events, topic);
    if (found != NULL)
        mark(events, found);
    pthread_mutex_unlock(&events->lock);
}

void events_all_changed(Events *events)
{
    if (is_watched(events) && !atomic_exchange(&events->all_changed, true))
        net_loop_wake(&events->loop);
}

/* Under the lock. */
static void mark_all(Events *events)
{
    for (size_t i = 0; i < TOPIC_BUCKETS; i++)
        for (Topic *topic = events->topics[i]; topic != NULL; topic = topic->next)
            mark(events, topic);
}

Topic *topic_get(Events *events, Slice name)
{
    pthread_mutex_lock(&events->lock);
    Topic **place = find(events, name);
    if (*place == NULL) {
        Topic *topic = calloc(1, sizeof *topic + name.size);
        CHECK(topic != NULL);
        topic->events = events;
        memcpy(topic + 1, name.data, name.size);
        topic->name = slice_of(topic + 1, name.size);
        *place = topic;
        atomic_fetch_add(&events->topic_count, 1);
    }
    Topic *topic = *place;
    pthread_mutex_unlock(&events->lock);
    return topic;
}

void topic_tidy(Events *events, Topic *topic)
{
    if (topic->watchers != NULL)
        return;
    pthread_mutex_lock(&events->lock);
    bool is_free = !topic->is_changed;
    if (is_free) {
        Topic **place = find(events, topic->name);
        *place = topic->next;
        atomic_fetch_sub(&events->topic_count, 1);
    }
    pthread_mutex_unlock(&events->lock);
    if (!is_free)
        return;
    if (topic->newest != NULL)
        message_release(topic->newest);
    free(topic);
}

bool topics_have_changed(Events *events)
{
    pthread_mutex_lock(&events->lock);
    bool have = events->changed != NULL || atomic_load(&events->all_changed);
    pthread_mutex_unlock(&events->lock);
    return have;
}

Topic *topics_take_changed(Events *events)
{
    pthread_mutex_lock(&events->lock);
    if (atomic_exchange(&events->all_changed, false))
        mark_all(events);
    Topic *changed = events->changed;
    events->changed = NULL;
    pthread_mutex_unlock(&events->lock);
    return changed;
}

void topic_unmark(Events *events, Topic *topic)
{
    pthread_mutex_lock(&events->lock);
    topic->is_changed = false;
    pthread_mutex_unlock(&events->lock);
}

/* ---- Messages ---- */

Message *message_hold(Message *message)
{
    message->references++;
    return message;
}

void message_release(Message *message)
{
    if (--message->references == 0)
        free(message);
}

/* A line break in the state would end the event, so each of its lines is a line of data. */
static void frame(Buffer *out, Slice state)
{
    Slice line;
    while (slice_split(&state, '\n', &line)) {
        buffer_bytes(out, SLICE("data: "));
        buffer_bytes(out, line);
        buffer_u8(out, '\n');
    }
    buffer_u8(out, '\n');
}

static Message *message_new(uint64_t id, Slice state)
{
    BUFFER_SCOPE Buffer out = {0};
    buffer_print(&out, "id: %llu\n", (unsigned long long)id);
    size_t data_at = out.size;
    frame(&out, state);
    Message *message = malloc(sizeof *message + out.size);
    CHECK(message != NULL);
    *message = (Message){
        .references = 1, .size = (uint32_t)out.size, .data_at = (uint32_t)data_at, .id = id};
    memcpy(message->bytes, out.data, out.size);
    return message;
}

static bool is_same(const Message *a, const Message *b)
{
    return slice_equal(slice_of(a->bytes + a->data_at, a->size - a->data_at),
                       slice_of(b->bytes + b->data_at, b->size - b->data_at));
}

bool topic_build(Events *events, Topic *topic)
{
    BUFFER_SCOPE Buffer state = {0};
    Status status = events->options.build(events->options.self, topic->name, &state);
    if (status != STATUS_OK || state.size > EVENTS_DATA_MAX) {
        events_count(&events->failures, 1);
        pthread_mutex_lock(&events->lock);
        mark(events, topic); /* the next round tries again */
        pthread_mutex_unlock(&events->lock);
        return false;
    }
    events_count(&events->builds, 1);
    Message *built = message_new(events->next_id, buffer_slice(&state));
    if (topic->newest != NULL && is_same(topic->newest, built)) {
        message_release(built);
        return false;
    }
    events->next_id++;
    if (topic->newest != NULL)
        message_release(topic->newest);
    topic->newest = built;
    return true;
}
