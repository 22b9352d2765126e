/* follower.h -- the thread that follows other instances on a shared store; see app.h for who hears what. */
#pragma once

#include "app/app.h"

struct AppFollower *app_follower_new(Ranking *ranking, Clock clock);
void app_follower_start(struct AppFollower *follower);
void app_follower_watch(struct AppFollower *follower, const AppWatcher *watcher);
/* Ends the thread when it runs. NULL is fine. */
void app_follower_free(struct AppFollower *follower);
