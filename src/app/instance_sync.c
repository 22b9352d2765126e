/* instance_sync.c -- see instance_sync.h. A look takes as long as it takes, and the next begins PAUSE_MS after it, so a slow store is not asked
 * more than it can answer. What a look misses is found by the task `rankings`. */
#include "app/instance_sync.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { PAUSE_MS = 250, STEP_MS = 50 };

struct InstanceSync {
    Ranking *ranking;
    Changes *changes;
    Clock clock;
    pthread_t thread;
    bool started;
    _Atomic bool ends;
};

static void hear_policy(void *self, uint64_t policy)
{
    changes_notify(((struct InstanceSync *)self)->changes, CHANGE_POLICY, policy);
}

static void *follow(void *argument)
{
    struct InstanceSync *sync = argument;
    RankingHeard heard = {hear_policy, sync};
    while (!atomic_load(&sync->ends)) {
        bool changed = false;
        (void)!ranking_follow(sync->ranking, &heard, &changed);
        if (changed)
            changes_notify(sync->changes, CHANGE_RANKING, 0);
        for (int i = 0; i < PAUSE_MS / STEP_MS && !atomic_load(&sync->ends); i++)
            clock_sleep_us(sync->clock, STEP_MS * US_PER_MS);
    }
    return NULL;
}

struct InstanceSync *instance_sync_new(Ranking *ranking, Changes *changes, Clock clock)
{
    struct InstanceSync *sync = calloc(1, sizeof *sync);
    CHECK(sync != NULL);
    sync->ranking = ranking;
    sync->changes = changes;
    sync->clock = clock;
    return sync;
}

void instance_sync_start(struct InstanceSync *sync)
{
    CHECK(pthread_create(&sync->thread, NULL, follow, sync) == 0);
    sync->started = true;
}

void instance_sync_free(struct InstanceSync *sync)
{
    if (sync == NULL)
        return;
    atomic_store(&sync->ends, true);
    if (sync->started)
        pthread_join(sync->thread, NULL);
    free(sync);
}
