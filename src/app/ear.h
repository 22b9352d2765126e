/* ear.h -- the listener of the app: the ranking hears of each save, then whoever asked by app_listen. */
#pragma once

#include "ranking/ranking.h"

struct AppEar *app_ear_new(Ranking *ranking);
/* For VotesOptions.listener. Freed by free(), after the votes. */
VoteListener app_ear_listener(struct AppEar *ear);
