/* follower.c -- see follower.h. A look takes as long as it takes, and the next begins PAUSE_MS after it, so a slow store is not asked
 * more than it can answer. What a look misses is found by the task `rankings`. */
#include "app/follower.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { PAUSE_MS = 250, STEP_MS = 50 };

struct AppFollower {
    Ranking *ranking;
    Clock clock;
    pthread_t thread;
    bool started;
    _Atomic bool ends;
    pthread_mutex_t lock; /* held while the watcher is called */
    const AppWatcher *watcher;
};

static void tell_policy(void *self, uint64_t policy)
{
    struct AppFollower *follower = self;
    pthread_mutex_lock(&follower->lock);
    if (follower->watcher != NULL)
        follower->watcher->policy(follower->watcher->self, policy);
    pthread_mutex_unlock(&follower->lock);
}

static void tell_changed(struct AppFollower *follower)
{
    pthread_mutex_lock(&follower->lock);
    if (follower->watcher != NULL)
        follower->watcher->changed(follower->watcher->self);
    pthread_mutex_unlock(&follower->lock);
}

static void *follow(void *argument)
{
    struct AppFollower *follower = argument;
    RankingHeard heard = {tell_policy, follower};
    while (!atomic_load(&follower->ends)) {
        bool changed = false;
        (void)!ranking_follow(follower->ranking, &heard, &changed);
        if (changed)
            tell_changed(follower);
        for (int i = 0; i < PAUSE_MS / STEP_MS && !atomic_load(&follower->ends); i++)
            clock_sleep_us(follower->clock, STEP_MS * US_PER_MS);
    }
    return NULL;
}

struct AppFollower *app_follower_new(Ranking *ranking, Clock clock)
{
    struct AppFollower *follower = calloc(1, sizeof *follower);
    CHECK(follower != NULL);
    follower->ranking = ranking;
    follower->clock = clock;
    pthread_mutex_init(&follower->lock, NULL);
    return follower;
}

void app_follower_start(struct AppFollower *follower)
{
    CHECK(pthread_create(&follower->thread, NULL, follow, follower) == 0);
    follower->started = true;
}

void app_follower_watch(struct AppFollower *follower, const AppWatcher *watcher)
{
    pthread_mutex_lock(&follower->lock);
    follower->watcher = watcher;
    pthread_mutex_unlock(&follower->lock);
}

void app_follower_free(struct AppFollower *follower)
{
    if (follower == NULL)
        return;
    atomic_store(&follower->ends, true);
    if (follower->started)
        pthread_join(follower->thread, NULL);
    pthread_mutex_destroy(&follower->lock);
    free(follower);
}
