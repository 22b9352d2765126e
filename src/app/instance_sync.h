/* instance_sync.h -- the thread that follows other instances on a shared store; changes.h says who hears of what it finds. */
#pragma once

#include "app/changes.h"

struct InstanceSync *instance_sync_new(Ranking *ranking, Changes *changes, Clock clock);
void instance_sync_start(struct InstanceSync *sync);
/* Ends the thread when it runs. NULL is fine. */
void instance_sync_free(struct InstanceSync *sync);
