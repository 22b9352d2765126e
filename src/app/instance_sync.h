/* instance_sync.h -- the thread that follows other instances on a shared store.
 *
 * Several times a second it reads the marks of what others are about to change (news.h) and of the counts that they changed, drops
 * what this process keeps of those things, and passes each on by the table that hears of this process's own changes (changes.h). */
#pragma once

#include "app/changes.h"

typedef struct InstanceSyncOptions {
    Store *store;
    Policies *policies;
    Ranking *ranking;
    Changes *changes;
    Clock clock;
} InstanceSyncOptions;

struct InstanceSync *instance_sync_new(const InstanceSyncOptions *options);
void instance_sync_start(struct InstanceSync *sync);
/* Ends the thread when it runs. NULL is fine. */
void instance_sync_free(struct InstanceSync *sync);
