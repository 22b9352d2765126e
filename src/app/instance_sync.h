/* instance_sync.h -- the thread that finds out what changed without this process's knowledge.
 *
 * On a shared store it reads several times a second the marks of what other instances are about to change (news.h) and of the counts that
 * they changed, drops what this process keeps of those things, and passes each on by the table that hears of this process's own changes
 * (changes.h). On a store that is not shared there is one way for that: a write whose sync failed, so that its outcome was not known, is there
 * after the store has opened again (store_generation). Then the marks since the store last took writes are followed. */
#pragma once

#include "app/changes.h"

typedef struct InstanceSyncOptions {
    Store *store;
    Ranking *ranking;
    Changes *changes;
    Clock clock;
} InstanceSyncOptions;

struct InstanceSync *instance_sync_new(const InstanceSyncOptions *options);
void instance_sync_start(struct InstanceSync *sync);
/* What the thread does, once; for tests. */
void instance_sync_look(struct InstanceSync *sync);
/* Ends the thread when it runs. NULL is fine. */
void instance_sync_free(struct InstanceSync *sync);
