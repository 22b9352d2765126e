/* instance_sync.c -- see instance_sync.h.
 *
 * A look takes as long as it takes, and the next begins PAUSE_MS after it, so a slow store is not asked more than it can answer. A mark may
 * be visible before its change, so a thing is looked at again until a look began AGAIN_S after the mark's second. The task
 * `rankings` finds what comes later than that, or from a clock that is off by more than BACK_S. */
#include "app/instance_sync.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mutant.h"
#include "base/threads.h"
#include "news/news.h"
#include "ranking/map.h"

enum { PAUSE_MS = 250, STEP_MS = 50, BACK_S = 6, AGAIN_S = 3, FOLLOWED_MAX = 20000 };
/* How much longer than until the last look at a store that took writes a write can have been under way when its sync failed; and how far a
 * mark can be ahead of our clock, when somebody has set that back meanwhile. */
enum { REOPEN_BACK_S = 600 };

struct InstanceSync {
    InstanceSyncOptions options;
    pthread_t thread;
    bool started;
    _Atomic bool ends;

    /* Of the thread alone. */
    Map followed; /* policy -> second in which it was last read again */
    int64_t now_s;
    Map seen; /* policies of this look */
    uint64_t *policies;
    size_t count, room;
    bool changed[CHANGE_KINDS]; /* what else was marked in the last seconds */
    bool is_reopened;           /* this look is for what a reopen brought: all marks count */
    uint64_t generation;        /* of the store, whose writes are all known */
    ClockReading writable;      /* when it was last seen to take writes in that generation */
};

static void take_news(void *context, const News *news)
{
    struct InstanceSync *sync = context;
    int64_t again_s = MUTANT(move_looked_at_once) ? 0 : AGAIN_S;
    bool is_late = !sync->is_reopened && sync->now_s >= news->second + AGAIN_S;
    switch (news->kind) {
    case NEWS_FRONT:
        sync->changed[CHANGE_FRONT] |= !is_late;
        return;
    case NEWS_GROUPS:
        sync->changed[CHANGE_GROUPS] |= !is_late;
        return;
    case NEWS_TEXT:
        sync->changed[CHANGE_TEXT] |= !is_late;
        return;
    case NEWS_POLICY:
        if (map_get(&sync->seen, news->id) != 0 ||
            (!sync->is_reopened &&
             (int64_t)map_get(&sync->followed, news->id) >= news->second + again_s))
            return;
        map_put(&sync->seen, news->id, 1);
        if (sync->count == sync->room) {
            sync->room = 2 * sync->room + 64;
            sync->policies = realloc(sync->policies, sync->room * sizeof *sync->policies);
            CHECK(sync->policies != NULL);
        }
        sync->policies[sync->count++] = news->id;
        return;
    }
}

static Status follow_news(struct InstanceSync *sync, int64_t since_s, int64_t until_s)
{
    const InstanceSyncOptions *with = &sync->options;
    map_free(&sync->seen);
    sync->count = 0;
    memset(sync->changed, 0, sizeof sync->changed);
    TRY(news_read(with->store, since_s, until_s, take_news, sync));
    for (size_t i = 0; i < sync->count; i++) {
        policies_forget(with->policies, sync->policies[i]);
        Status status = ranking_policy_changed(with->ranking, sync->policies[i]);
        changes_notify(with->changes, CHANGE_POLICY, sync->policies[i]);
        if (status != STATUS_NOT_FOUND)
            TRY(status);
    }
    for (ChangeKind kind = 0; kind < CHANGE_KINDS; kind++)
        if (sync->changed[kind])
            changes_notify(with->changes, kind, 0);
    if (sync->followed.count > FOLLOWED_MAX)
        map_free(&sync->followed); /* costs some reads more */
    for (size_t i = 0; i < sync->count; i++)
        map_put(&sync->followed, sync->policies[i], (uint64_t)sync->now_s);
    return STATUS_OK;
}

/* What others did in the last seconds. */
static void follow_others(struct InstanceSync *sync)
{
    bool counts = false;
    int64_t began_us = clock_now_us(sync->options.clock);
    sync->now_s = began_us / US_PER_S;
    if (follow_news(sync, sync->now_s - BACK_S, sync->now_s + BACK_S) == STATUS_OK)
        (void)!ranking_follow(sync->options.ranking, began_us, &counts);
    if (counts || sync->count > 0)
        changes_notify(sync->options.changes, CHANGE_RANKING, 0);
}

void instance_sync_look(struct InstanceSync *sync)
{
    const InstanceSyncOptions *with = &sync->options;
    StoreHealth health;
    if (store_is_shared(with->store)) {
        follow_others(sync);
        return;
    }
    uint64_t generation = store_generation(with->store);
    store_health(with->store, &health);
    if (generation == sync->generation) {
        if (health.writable)
            sync->writable = clock_reading(with->clock);
        return;
    }
    sync->now_s = clock_now_us(with->clock) / US_PER_S;
    int64_t age_s = clock_age_us(with->clock, sync->writable) / US_PER_S;
    sync->is_reopened = true;
    if (follow_news(sync, sync->now_s - age_s - REOPEN_BACK_S, sync->now_s + REOPEN_BACK_S) ==
        STATUS_OK) {
        sync->generation = generation; /* else again at the next look */
        sync->writable = clock_reading(with->clock);
    }
    sync->is_reopened = false;
}

static void *follow(void *argument)
{
    struct InstanceSync *sync = argument;
    Clock clock = sync->options.clock;
    while (!atomic_load(&sync->ends)) {
        instance_sync_look(sync);
        for (int i = 0; i < PAUSE_MS / STEP_MS && !atomic_load(&sync->ends); i++)
            clock_sleep_us(clock, STEP_MS * US_PER_MS);
    }
    return NULL;
}

struct InstanceSync *instance_sync_new(const InstanceSyncOptions *options)
{
    struct InstanceSync *sync = calloc(1, sizeof *sync);
    CHECK(sync != NULL);
    sync->options = *options;
    sync->generation = store_generation(options->store);
    sync->writable = clock_reading(options->clock);
    return sync;
}

void instance_sync_start(struct InstanceSync *sync)
{
    sync->thread = thread_start(THREAD_INSTANCE_SYNC, follow, sync);
    sync->started = true;
}

void instance_sync_free(struct InstanceSync *sync)
{
    if (sync == NULL)
        return;
    atomic_store(&sync->ends, true);
    if (sync->started)
        pthread_join(sync->thread, NULL);
    map_free(&sync->followed);
    map_free(&sync->seen);
    free(sync->policies);
    free(sync);
}
